// SPDX-License-Identifier: Apache-2.0
// One input of my_router: two delay stages and a ring of words, which together are the FIFO, then one flit that
// waits for its output.
module my_router_input #(
  parameter int unsigned MaxFifoDepth = 512,
  localparam int unsigned DepthBits = $clog2(MaxFifoDepth + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [DepthBits-1:0] depth_i,

  input  logic [287:0]         data_i,
  input  logic                 valid_i,
  output logic                 busy_o,

  // The flit that waits; taken in the cycles with take_i.
  output logic [287:0]         flit_o,
  output logic                 waiting_o,
  input  logic                 take_i
);

  localparam int unsigned Words = MaxFifoDepth + 2;
  localparam int unsigned IndexBits = $clog2(Words);
  localparam int unsigned CountBits = $clog2(Words + 1);

  logic [287:0]         ring [Words];
  logic [IndexBits-1:0] head_q, tail_q;
  logic [CountBits-1:0] ring_words_q;  // in the ring
  logic [CountBits-1:0] words_q;       // in the ring and in the delay stages
  logic [287:0]         stage1_q, stage2_q;
  logic                 valid1_q, valid2_q;
  logic [2:0]           closed_q;      // cycles until the input opens after reset

  logic accept, load;

  function automatic logic [IndexBits-1:0] next(logic [IndexBits-1:0] index);
    return (index == IndexBits'(Words - 1)) ? '0 : index + IndexBits'(1);
  endfunction

  assign busy_o = (closed_q != 3'd0) || (words_q == CountBits'(depth_i) + CountBits'(2));
  assign accept = valid_i && !busy_o;
  assign load   = (ring_words_q != '0) && (!waiting_o || take_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q       <= '0;
      tail_q       <= '0;
      ring_words_q <= '0;
      words_q      <= '0;
      valid1_q     <= 1'b0;
      valid2_q     <= 1'b0;
      closed_q     <= 3'd5;
      waiting_o    <= 1'b0;
    end else begin
      if (closed_q != 3'd0) closed_q <= closed_q - 3'd1;
      valid1_q     <= accept;
      valid2_q     <= valid1_q;
      words_q      <= words_q + CountBits'(accept) - CountBits'(load);
      ring_words_q <= ring_words_q + CountBits'(valid2_q) - CountBits'(load);
      if (valid2_q) tail_q <= next(tail_q);
      if (load) head_q <= next(head_q);
      if (load) waiting_o <= 1'b1;
      else if (take_i) waiting_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    stage1_q <= data_i;
    stage2_q <= stage1_q;
    if (valid2_q) ring[tail_q] <= stage2_q;
    if (load) flit_o <= ring[head_q];
  end

endmodule
