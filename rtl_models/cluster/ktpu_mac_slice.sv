// SPDX-License-Identifier: Apache-2.0
// One unit of the array: 16 dot products of 8 elements (one K slice), added to what comes from the unit before.
// Exact; two's complement throughout (number-formats.md section 6). Two cycles from slice to sum.

module ktpu_mac_slice #(
  localparam int unsigned SliceWidth = 224,
  localparam int unsigned PartWidth  = 19
) (
  input  logic                    clk_i,
  // A slice is there; the sums of the unit before come with it.
  input  logic                    valid_i,
  // Element (lane, k) at 7 * (8 * lane + k).
  input  logic [SliceWidth-1:0]   a_i,
  input  logic [SliceWidth-1:0]   b_i,
  input  logic [16*PartWidth-1:0] sums_i,
  // valid_i of the cycle before.
  input  logic                    add_i,
  output logic [16*PartWidth-1:0] sums_o
);

  localparam int unsigned DotWidth = 17;  // 8 products of -64..64

  logic [16*DotWidth-1:0]  dots_q;
  logic [16*PartWidth-1:0] before_q, sums_q;

  function automatic logic [DotWidth-1:0] dot8(logic [55:0] a, logic [55:0] b);
    logic signed [DotWidth-1:0] sum;
    logic signed [13:0]         product;
    sum = '0;
    for (int unsigned k = 0; k < 8; k++) begin
      product = $signed(a[7*k+:7]) * $signed(b[7*k+:7]);
      sum     = sum + DotWidth'(product);
    end
    dot8 = sum;
  endfunction

  function automatic logic [PartWidth-1:0] add(logic [PartWidth-1:0] sum, logic [DotWidth-1:0] dot);
    add = sum + {{(PartWidth - DotWidth){dot[DotWidth-1]}}, dot};
  endfunction

  always_ff @(posedge clk_i) begin : multiply
    if (valid_i) begin
      for (int unsigned lane = 0; lane < 16; lane++) begin
        dots_q[DotWidth*lane+:DotWidth] <= dot8(a_i[56*(lane/4)+:56], b_i[56*(lane%4)+:56]);
      end
      before_q <= sums_i;
    end
  end

  always_ff @(posedge clk_i) begin : accumulate
    if (add_i) begin
      for (int unsigned lane = 0; lane < 16; lane++) begin
        sums_q[PartWidth*lane+:PartWidth] <=
            add(before_q[PartWidth*lane+:PartWidth], dots_q[DotWidth*lane+:DotWidth]);
      end
    end
  end

  assign sums_o = sums_q;

endmodule
