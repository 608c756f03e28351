// SPDX-License-Identifier: Apache-2.0
// Collects remote flits of one burst into a packet, then has it sent; nothing overlaps (memory.md sections 11.3 and
// 11.6). The FIFO needs 3 cycles, but the first word is read 2 cycles after the packet closed at the earliest: a packet
// of one flit finds nothing there, which is quirk I1.

`include "ktpu_assert.svh"

module ktpu_interlink_encapsulator
  import ktpu_pkg::*;
  import ktpu_interlink_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,

  // A flit of the packet, or of the next one.
  input  logic              take_i,
  input  flit_t             flit_i,
  // Sends what is there although the burst goes on.
  input  logic              close_i,

  // What a flit must have in common with the open packet: source, txn and rsvd.
  output logic              empty_o,
  output logic              closed_o,
  output pos_t              src_x_o,
  output pos_t              src_y_o,
  output logic [7:0]        txn_o,
  output logic [2:0]        rsvd_o,
  output logic [5:0]        count_o,  // flits in it

  // Reads the next word, if there is one. `word_o` keeps the one read last.
  input  logic              load_i,
  output logic              readable_o,
  output flit_t             head_o,
  output flit_t             word_o,
  // The packet's last beat left; a flit is taken from the next cycle on.
  input  logic              sent_i
);

  localparam int unsigned DepthWidth = $clog2(InterlinkMaxBeats + 1);

  logic [5:0] count_d, count_q;
  logic       closed_d, closed_q;
  pos_t       src_x_q, src_y_q;
  logic [7:0] txn_q;
  logic [2:0] rsvd_q;
  flit_t      word_q;
  logic       begins, full;

  assign begins = take_i && (count_q == '0 || sent_i);

  always_comb begin
    count_d  = sent_i ? '0 : count_q;
    closed_d = closed_q && !sent_i;
    if (take_i) begin
      count_d  = count_d + 6'd1;
      closed_d = flit_i.last || count_d == 6'(InterlinkMaxBeats);
    end else if (close_i) begin
      closed_d = count_d != '0;
    end
  end

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (InterlinkMaxBeats), .Latency (FifoLatency), .Extra (FifoExtra), .ResetCycles (0)
  ) u_fifo (
    .clk_i, .rst_ni, .depth_i (DepthWidth'(InterlinkMaxBeats)),
    .wvalid_i (take_i), .wdata_i (flit_i), .busy_o (full),
    .rvalid_o (readable_o), .rdata_o (head_o), .rready_i (load_i)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      count_q  <= '0;
      closed_q <= 1'b0;
      word_q   <= '0;
    end else begin
      count_q  <= count_d;
      closed_q <= closed_d;
      if (load_i && readable_o) word_q <= head_o;
    end
  end

  always_ff @(posedge clk_i) begin : key
    if (begins) begin
      src_x_q <= flit_i.src_x;
      src_y_q <= flit_i.src_y;
      txn_q   <= flit_i.txn;
      rsvd_q  <= flit_i.rsvd;
    end
  end

  assign empty_o  = count_q == '0;
  assign closed_o = closed_q;
  assign src_x_o  = src_x_q;
  assign src_y_o  = src_y_q;
  assign txn_o    = txn_q;
  assign rsvd_o   = rsvd_q;
  assign count_o  = count_q;
  assign word_o   = word_q;

  `KTPU_ASSERT(FlitsFit, take_i |-> !full)
  `KTPU_ASSERT(SendsWhatIsClosed, sent_i |-> closed_q)

endmodule
