// SPDX-License-Identifier: Apache-2.0
// Address descriptors and the walk over one (vector.md section 5.1). Dimension 0 is innermost; at its last index the
// walk stays.

`include "ktpu_assert.svh"

module ktpu_vector_walk
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // Field 0 of descriptor `write_at_i` is its base, 1 to 4 are its dimensions (section 2.1), others nothing.
  input  logic        write_i,
  input  logic [2:0]  write_at_i,
  input  logic [2:0]  write_field_i,
  input  addr_t       write_value_i,

  // `at_i` is the descriptor of the walk from its start to its last step.
  input  logic [2:0]  at_i,
  input  logic        start_i,
  input  addr_t       offset_i,   // in two's complement
  input  logic        step_i,
  output addr_t       address_o,  // from the cycle after start_i or step_i on

  // Of descriptor at_i.
  output addr_t       base_o,
  output logic [8:0]  total_o,    // words of the whole walk, unless
  output logic        too_long_o  // these are more than 256
);

  typedef struct packed {
    logic [17:0] stride;  // in two's complement
    logic [15:0] bound;
  } dimension_t;

  typedef struct packed {
    addr_t                       base;
    dimension_t [Dimensions-1:0] dim;
  } descriptor_t;

  localparam int unsigned MaxWords = 256;

  descriptor_t                   table_q [Descriptors];
  descriptor_t                   walked;
  addr_t                         address_d, address_q;
  logic  [Dimensions-1:0][15:0]  index_d, index_q;
  addr_t [Dimensions-1:0]        moved_d, moved_q;  // index times stride

  assign walked    = table_q[at_i];
  assign base_o    = walked.base;
  assign address_o = address_q;

  // A bound of 0 acts as 1.
  function automatic logic [15:0] steps(dimension_t d);
    steps = (d.bound == 16'd0) ? 16'd1 : d.bound;
  endfunction

  function automatic logic [15:0] saturated(logic [31:0] product);
    saturated = (product[31:16] != 16'd0) ? 16'hFFFF : product[15:0];
  endfunction

  always_comb begin : total
    logic [15:0] low, high;
    logic [31:0] words;
    low        = saturated(32'(steps(walked.dim[0])) * 32'(steps(walked.dim[1])));
    high       = saturated(32'(steps(walked.dim[2])) * 32'(steps(walked.dim[3])));
    words      = 32'(low) * 32'(high);
    too_long_o = words > 32'(MaxWords);
    total_o    = words[8:0];
  end

  always_comb begin : step
    logic  carry;
    addr_t stride;
    address_d = address_q;
    index_d   = index_q;
    moved_d   = moved_q;
    carry     = 1'b1;
    stride    = '0;
    if (start_i) begin
      address_d = walked.base + offset_i;
      index_d   = '0;
      moved_d   = '0;
    end else if (step_i) begin
      for (int unsigned d = 0; d < Dimensions; d++) begin
        stride = {{22{walked.dim[d].stride[17]}}, walked.dim[d].stride};
        if (carry) begin
          if (index_q[d] + 16'd1 < steps(walked.dim[d])) begin
            index_d[d] = index_q[d] + 16'd1;
            moved_d[d] = moved_q[d] + stride;
            address_d  = address_d + stride;
            carry      = 1'b0;
          end else begin
            index_d[d] = '0;
            moved_d[d] = '0;
            address_d  = address_d - moved_q[d];
          end
        end
      end
      if (carry) begin  // past the last index
        address_d = address_q;
        index_d   = index_q;
        moved_d   = moved_q;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Descriptors; i++) table_q[i] <= {40'd0, {Dimensions{34'd1}}};
    end else if (write_i) begin
      if (write_field_i == 3'd0) begin
        table_q[write_at_i].base <= write_value_i;
      end else if (write_field_i <= 3'd4) begin
        table_q[write_at_i].dim[2'(write_field_i - 3'd1)] <= write_value_i[33:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i || step_i) begin
      address_q <= address_d;
      index_q   <= index_d;
      moved_q   <= moved_d;
    end
  end

  `KTPU_ASSERT(WritesBetweenWalks, write_i |-> !start_i && !step_i)

endmodule
