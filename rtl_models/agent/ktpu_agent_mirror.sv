// SPDX-License-Identifier: Apache-2.0
// The completion mirror (orchestrator.md section 7): NODE_STATUS of every coordinate, and SIG_DONE. The words are not
// reset: with quirk O1 they are seen after a reset as before it, without it they read 0 until the first signal.

`include "ktpu_assert.svh"

module ktpu_agent_mirror
  import ktpu_pkg::*;
  import ktpu_agent_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      quirk_o1_i,

  input  logic                      signal_i,  // in this cycle
  input  logic [7:0]                signal_node_i,
  input  logic [7:0]                signal_code_i,
  input  logic [31:0]               signal_arg_i,
  input  logic                      clear_done_i,
  output logic [15:0]               sig_done_o,

  input  logic [NumBuses-1:0][7:0]  node_i,
  output logic [NumBuses-1:0][63:0] node_status_o
);

  localparam int unsigned Nodes = 256;

  logic [63:0]      status [Nodes];
  logic [Nodes-1:0] fresh_q;  // written since reset
  logic [15:0]      sig_done_d, sig_done_q;
  logic [63:0]      new_word;
  logic [15:0]      count;

  function automatic logic [63:0] visible(logic [63:0] word, logic fresh, logic quirk);
    return (fresh || quirk) ? word : '0;
  endfunction

  assign count    = (fresh_q[signal_node_i] || quirk_o1_i) ? status[signal_node_i][23:8] : '0;
  assign new_word = {signal_code_i, signal_arg_i, count + 16'd1, 7'b0, 1'b1};

  for (genvar b = 0; b < NumBuses; b++) begin : gen_reads
    assign node_status_o[b] = visible(status[node_i[b]], fresh_q[node_i[b]], quirk_o1_i);
  end

  // A clear loses the signal of its cycle.
  always_comb begin
    sig_done_d = sig_done_q;
    if (clear_done_i) begin
      sig_done_d = '0;
    end else if (signal_i) begin
      sig_done_d = sig_done_q + 16'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sig_done_q <= '0;
      fresh_q    <= '0;
    end else begin
      sig_done_q <= sig_done_d;
      if (signal_i) fresh_q[signal_node_i] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (signal_i) status[signal_node_i] <= new_word;
  end

  assign sig_done_o = sig_done_q;

  `KTPU_ASSERT(QuirkIsStatic, $stable(quirk_o1_i))

endmodule
