// SPDX-License-Identifier: Apache-2.0
// The L1 scratchpad with its one write port, and what comes in for it: fill responses and CU_DATA bursts at the head of
// the receive FIFO (vector.md sections 2.3, 2.4 and 12.5).
//
// A flit popped in p lands in p+1 and is in the memory at the end of p+2. A VST word handed over in x is there at the
// end of x+1. The memory is not reset.

`include "ktpu_assert.svh"

module ktpu_vector_l1
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
#(
  localparam int unsigned Words = 512
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // Quasi-static: own coordinate, and words in use (a power of two) minus 1.
  input  pos_t       x_i,
  input  pos_t       y_i,
  input  logic [8:0] last_word_i,

  output logic       idle_o,

  input  logic       recv_valid_i,
  input  flit_t      recv_i,
  output logic       recv_pop_o,

  // DATA_RECEIVED: while it waits, nothing is popped.
  output logic       ack_valid_o,
  output flit_t      ack_o,
  input  logic       ack_sent_i,

  input  logic       re_i,
  input  logic [8:0] raddr_i,
  output word_t      rdata_o,   // from the next cycle on, until the next read

  input  logic       store_i,   // not while landing_o
  input  logic [8:0] store_at_i,
  input  word_t      store_data_i,
  output logic       landing_o,

  // A fill request for this word is on its way.
  input  logic       expect_i,
  input  logic [8:0] expect_at_i,
  output logic       complete_o,  // no response is missing

  output logic       burst_error_o,
  input  logic       burst_error_clear_i
);

  word_t       mem [Words];
  logic        ninth_q [256];       // of the word that a fill's txn stands for
  logic [9:0]  outstanding_d, outstanding_q;

  logic        take, response, data;
  cu_data_t    desc;

  // Landing and, a cycle later, writing.
  logic        landing_d, landing_q, landing_response_q, writing_q, storing_q;
  logic [8:0]  landing_at_d, landing_at_q, writing_at_q, storing_at_q;
  word_t       landing_word_q, writing_word_q, storing_word_q;

  // The open burst.
  logic        stream_d, stream_q, bad_d, bad_q, error_d, error_q;
  logic [15:0] offset_d, offset_q;
  logic [8:0]  left_d, left_q;
  logic        signal_d, signal_q;
  logic [7:0]  buf_id_d, buf_id_q;
  pos_t        ack_x_d, ack_x_q, ack_y_d, ack_y_q, src_x_d, src_x_q, src_y_d, src_y_q;
  logic        ack_valid_d, ack_valid_q;
  signal_t     signal;

  assign take       = recv_valid_i && !ack_valid_q;
  assign recv_pop_o = take;
  assign response   = take && (recv_i.kind == FlitMemRdResp);
  assign data       = take && (recv_i.kind == FlitCuData);
  assign desc       = recv_i.payload;

  always_comb begin : receive
    logic foreign;
    stream_d     = stream_q;
    bad_d        = bad_q;
    error_d      = error_q && !burst_error_clear_i;
    offset_d     = offset_q;
    left_d       = left_q;
    signal_d     = signal_q;
    buf_id_d     = buf_id_q;
    ack_x_d      = ack_x_q;
    ack_y_d      = ack_y_q;
    src_x_d      = src_x_q;
    src_y_d      = src_y_q;
    ack_valid_d  = ack_valid_q && !ack_sent_i;
    landing_d    = response;
    landing_at_d = {ninth_q[recv_i.txn], recv_i.txn} & last_word_i;
    foreign      = (recv_i.src_x != src_x_q) || (recv_i.src_y != src_y_q);
    if (data && !stream_q) begin
      stream_d = 1'b1;
      bad_d    = (desc.buf_id != 8'd0) || (17'(desc.offset) + 17'(desc.len) > 17'(last_word_i));
      error_d  = error_d || bad_d;
      offset_d = desc.offset;
      left_d   = 9'(desc.len) + 9'd1;
      signal_d = desc.flags[0];
      buf_id_d = desc.buf_id;
      src_x_d  = recv_i.src_x;
      src_y_d  = recv_i.src_y;
      // An acknowledge destination of 0 means the source.
      ack_x_d  = ({desc.ack_y, desc.ack_x} == 8'd0) ? recv_i.src_x : desc.ack_x;
      ack_y_d  = ({desc.ack_y, desc.ack_x} == 8'd0) ? recv_i.src_y : desc.ack_y;
    end else if (data) begin
      if (foreign) begin
        bad_d   = 1'b1;
        error_d = 1'b1;
      end
      landing_d    = !bad_d;
      landing_at_d = offset_q[8:0] & last_word_i;
      offset_d     = offset_q + 16'd1;
      left_d       = left_q - 9'd1;
      if (left_q == 9'd1) begin
        stream_d    = 1'b0;
        ack_valid_d = signal_q && !bad_d;
      end
    end
  end

  always_comb begin : acknowledgement
    signal        = '0;
    signal.code   = SignalDataReceived;
    signal.arg    = 32'(buf_id_q);
    ack_o         = '0;
    ack_o.dst_x   = ack_x_q;
    ack_o.dst_y   = ack_y_q;
    ack_o.src_x   = x_i;
    ack_o.src_y   = y_i;
    ack_o.kind    = FlitCuSignal;
    ack_o.last    = 1'b1;
    ack_o.payload = signal;
  end

  // Ten bits: a response nobody asked for makes it wrap.
  assign outstanding_d = outstanding_q + 10'(expect_i) - 10'(landing_q && landing_response_q);
  assign complete_o    = outstanding_q == '0;
  assign landing_o     = landing_q;
  assign burst_error_o = error_q;
  assign ack_valid_o   = ack_valid_q;
  assign idle_o        = !landing_q && !writing_q && !storing_q && !ack_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      outstanding_q <= '0;
      landing_q     <= 1'b0;
      writing_q     <= 1'b0;
      storing_q     <= 1'b0;
      stream_q      <= 1'b0;
      bad_q         <= 1'b0;
      error_q       <= 1'b0;
      ack_valid_q   <= 1'b0;
    end else begin
      outstanding_q <= outstanding_d;
      landing_q     <= landing_d;
      writing_q     <= landing_q;
      storing_q     <= store_i;
      stream_q      <= stream_d;
      bad_q         <= bad_d;
      error_q       <= error_d;
      ack_valid_q   <= ack_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin : burst
    if (data) begin
      offset_q <= offset_d;
      left_q   <= left_d;
      signal_q <= signal_d;
      buf_id_q <= buf_id_d;
      ack_x_q  <= ack_x_d;
      ack_y_q  <= ack_y_d;
      src_x_q  <= src_x_d;
      src_y_q  <= src_y_d;
    end
  end

  always_ff @(posedge clk_i) begin : port
    if (landing_d) begin
      landing_at_q       <= landing_at_d;
      landing_word_q     <= recv_i.payload;
      landing_response_q <= response;
    end
    if (landing_q) begin
      writing_at_q   <= landing_at_q;
      writing_word_q <= landing_word_q;
    end
    if (store_i) begin
      storing_at_q   <= store_at_i & last_word_i;
      storing_word_q <= store_data_i;
    end
  end

  always_ff @(posedge clk_i) begin : memory
    if (expect_i) ninth_q[expect_at_i[7:0]] <= expect_at_i[8];
    if (writing_q) begin
      mem[writing_at_q] <= writing_word_q;
    end else if (storing_q) begin
      mem[storing_at_q] <= storing_word_q;
    end
    if (re_i) rdata_o <= mem[raddr_i & last_word_i];
  end

  `KTPU_ASSERT(OneWriteACycle, !(writing_q && storing_q))
  `KTPU_ASSERT(StoreWaitsForLanding, store_i |-> !landing_o)

endmodule
