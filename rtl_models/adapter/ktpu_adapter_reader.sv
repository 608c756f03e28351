// SPDX-License-Identifier: Apache-2.0
// The way of a staging adapter's own answers to its endpoint (fabric.md section 12, Read hit and Writes): the run of a
// read, the RAM with a latency of 2, and the 16-deep queue that read responses and acknowledgements share.
//
//   t    t+1       t+2    t+3      t+4, t+5   t+5    t+8
//   read register  run    address  RAM        queue  offered
//   beat register = run of the acknowledge, so it is offered at t+7

`include "ktpu_assert.svh"

module ktpu_adapter_reader
  import ktpu_pkg::*;
#(
  // Lines of 256 bits, a power of two.
  parameter int unsigned MaxLines = 8192,
  localparam int unsigned LineWidth = $clog2(MaxLines)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // A read begins; only while not running_o.
  input  logic                 start_i,
  input  flit_t                request_i,
  input  logic [LineWidth-1:0] line_i,         // the first one
  input  logic [9:0]           words_i,        // one line each
  input  logic [2:0]           entry_words_i,  // of a stream; 0: a plain read
  output logic                 running_o,

  // An acknowledgement, before the run's next word; only with room_o.
  input  logic                 ack_i,
  input  flit_t                ack_flit_i,
  output logic                 room_o,

  // A word written; a read of the same cycle sees the old one.
  input  logic                 write_i,
  input  logic [LineWidth-1:0] write_line_i,
  input  logic [PayloadWidth-1:0] write_word_i,

  output logic                 answer_valid_o,
  output flit_t                answer_o,
  input  logic                 answer_taken_i,
  output logic                 quiet_o
);

  localparam int unsigned Outstanding = 13;  // answers made and not taken by the endpoint
  localparam int unsigned QueueDepth  = 16;

  typedef struct packed {
    flit_t                flit;  // the payload of a read comes with the RAM
    logic [LineWidth-1:0] line;
    logic                 read;
  } stage_t;

  logic [PayloadWidth-1:0] mem [MaxLines];

  pos_t                    to_x_q, to_y_q, from_x_q, from_y_q;
  logic [LineWidth-1:0]    line_q;
  logic [9:0]              words_d, words_q;  // left of the run
  logic [2:0]              entry_words_q;
  logic [1:0]              word_d, word_q;
  logic [7:0]              txn_d, txn_q;
  stage_t                  address_d, address_q;
  flit_t                   ram_q, data_q;
  logic                    address_valid_d, address_valid_q, ram_valid_q, data_valid_q;
  logic [3:0]              outstanding_d, outstanding_q;
  logic                    next_word, stream, last, unused_full, unused;

  assign running_o       = words_q != '0;
  assign room_o          = outstanding_q < 4'(Outstanding);
  assign quiet_o         = words_q == '0 && outstanding_q == '0;
  assign stream          = entry_words_q != '0;
  assign last            = stream ? 3'(word_q) + 3'd1 == entry_words_q : words_q == 10'd1;
  assign next_word       = running_o && room_o && !ack_i;
  assign address_valid_d = ack_i || next_word;
  assign outstanding_d   = outstanding_q + 4'(address_valid_d) - 4'(answer_taken_i);

  // The tags of memory: a word of a stream names its entry and its place in it, a plain one nothing (memory.md sections
  // 4.3 and 4.4).
  always_comb begin : address
    address_d      = '0;
    address_d.flit = ack_flit_i;
    if (!ack_i) begin
      address_d.read       = 1'b1;
      address_d.line       = line_q;
      address_d.flit       = '0;
      address_d.flit.dst_x = to_x_q;
      address_d.flit.dst_y = to_y_q;
      address_d.flit.src_x = from_x_q;
      address_d.flit.src_y = from_y_q;
      address_d.flit.kind  = FlitMemRdResp;
      address_d.flit.txn   = txn_q;
      address_d.flit.last  = last;
      address_d.flit.rsvd  = {1'b0, word_q};
    end
  end

  always_comb begin : run
    words_d = words_q;
    word_d  = word_q;
    txn_d   = txn_q;
    if (next_word) begin
      words_d = words_q - 10'd1;
      if (stream) begin
        word_d = last ? '0 : word_q + 2'd1;
        txn_d  = txn_q + 8'(last);
      end
    end
    if (start_i) begin
      words_d = words_i;
      word_d  = '0;
      txn_d   = request_i.txn;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      words_q         <= '0;
      outstanding_q   <= '0;
      address_valid_q <= 1'b0;
      ram_valid_q     <= 1'b0;
      data_valid_q    <= 1'b0;
    end else begin
      words_q         <= words_d;
      outstanding_q   <= outstanding_d;
      address_valid_q <= address_valid_d;
      ram_valid_q     <= address_valid_q;
      data_valid_q    <= ram_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin : data
    word_q <= word_d;
    txn_q  <= txn_d;
    if (start_i) begin
      to_x_q        <= request_i.src_x;
      to_y_q        <= request_i.src_y;
      from_x_q      <= request_i.dst_x;  // the memory port that was addressed
      from_y_q      <= request_i.dst_y;
      entry_words_q <= entry_words_i;
      line_q        <= line_i;
    end else if (next_word) begin
      line_q        <= line_q + LineWidth'(1);
    end
    if (address_valid_d) address_q <= address_d;
    if (address_valid_q) begin
      ram_q <= address_q.flit;
      if (address_q.read) ram_q.payload <= mem[address_q.line];
    end
    if (ram_valid_q) data_q <= ram_q;
  end

  always_ff @(posedge clk_i) begin : ram
    if (write_i) mem[write_line_i] <= write_word_i;
  end

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (QueueDepth), .Latency (FifoLatency), .Extra (FifoExtra), .ResetCycles (0)
  ) u_queue (
    .clk_i, .rst_ni, .depth_i (($clog2(QueueDepth + 1))'(QueueDepth)),
    .wvalid_i (data_valid_q), .wdata_i (data_q), .busy_o (unused_full),
    .rvalid_o (answer_valid_o), .rdata_o (answer_o), .rready_i (answer_taken_i)
  );

  assign unused = &{1'b0, request_i.kind, request_i.last, request_i.rsvd, request_i.payload};

  `KTPU_ASSERT(StartsWhenFree, start_i |-> !running_o)
  `KTPU_ASSERT(AcknowledgesWithRoom, ack_i |-> room_o)
  `KTPU_ASSERT(QueueHasRoom, data_valid_q |-> !unused_full)

endmodule
