// SPDX-License-Identifier: Apache-2.0
// The register between the core and the endpoint's output: one request or acknowledgement, or a pair of flits (write
// request and data, descriptor and first data flit) that leaves in two cycles (vector.md sections 2.3, 5.5 and 12.5).

`include "ktpu_assert.svh"

module ktpu_vector_send
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  // Quasi-static: own coordinate and the memory port's.
  input  pos_t       x_i,
  input  pos_t       y_i,
  input  pos_t       memory_x_i,
  input  pos_t       memory_y_i,

  // DATA_RECEIVED goes before the core's requests.
  input  logic       ack_valid_i,
  input  flit_t      ack_i,
  output logic       ack_sent_o,

  // A word can be handed over.
  output logic       open_o,
  input  logic       fill_i,      // a read of `address_i` for L1 word `target_i`
  input  logic       drain_i,     // `data_i` to `address_i`
  input  logic       peer_i,      // `data_i` to a node
  input  addr_t      address_i,
  input  logic [7:0] target_i,
  input  word_t      data_i,
  // To a node: which, and the record of the destination (section 5.5).
  input  pos_t       peer_x_i,
  input  pos_t       peer_y_i,
  input  logic [3:0] peer_buf_i,
  input  logic       peer_signal_i,
  input  addr_t      peer_record_i,
  input  logic       peer_first_i,  // the burst begins
  input  logic       peer_last_i,   // and ends
  input  logic [7:0] peer_len_i,    // data flits minus 1

  output logic       idle_o,

  // To the endpoint.
  output logic       send_valid_o,
  output flit_t      send_o,
  input  logic       send_ready_i
);

  // The peer record: a descriptor's base.
  typedef struct packed {
    logic [5:0]  unused;
    logic [7:0]  final_node;
    logic [1:0]  mesh;
    pos_t        ack_y;
    pos_t        ack_x;
    logic [15:0] offset;
  } record_t;

  localparam logic [7:0] DrainTxn = 8'd1;

  logic [1:0] left_d, left_q;  // flits to send
  logic       gap_d, gap_q;    // closed for one cycle behind a descriptor's pair
  logic       pair_gap_d, pair_gap_q;
  flit_t      first_d, first_q, second_d, second_q;
  logic       is_free, taken, load;
  record_t    peer;
  mem_req_t   request;
  cu_data_t   descriptor;

  assign is_free      = (left_q == 2'd0) && !gap_q;
  assign open_o       = is_free && !ack_valid_i;
  assign ack_sent_o   = is_free && ack_valid_i;
  assign send_valid_o = (left_q != 2'd0) && send_ready_i;
  assign send_o       = (left_q == 2'd2) ? first_q : second_q;
  assign taken        = send_valid_o;
  assign idle_o       = is_free;
  assign load         = ack_sent_o || fill_i || drain_i || peer_i;
  assign peer         = peer_record_i;

  function automatic flit_t header(pos_t dst_x, pos_t dst_y, flit_kind_e kind, logic [7:0] txn, logic last);
    header       = '0;
    header.dst_x = dst_x;
    header.dst_y = dst_y;
    header.kind  = kind;
    header.txn   = txn;
    header.last  = last;
  endfunction

  always_comb begin : compose
    first_d         = first_q;
    second_d        = second_q;
    request         = '0;
    request.addr    = address_i;
    descriptor      = '0;
    if (ack_sent_o) begin
      second_d = ack_i;
    end else if (fill_i) begin
      second_d         = header(memory_x_i, memory_y_i, FlitMemRdReq, target_i, 1'b1);
      second_d.payload = request;
      second_d.src_x   = x_i;
      second_d.src_y   = y_i;
    end else if (drain_i) begin
      first_d          = header(memory_x_i, memory_y_i, FlitMemWrReq, DrainTxn, 1'b0);
      first_d.payload  = request;
      second_d         = header(memory_x_i, memory_y_i, FlitMemWrData, DrainTxn, 1'b1);
      second_d.payload = data_i;
      first_d.src_x    = x_i;
      first_d.src_y    = y_i;
      second_d.src_x   = x_i;
      second_d.src_y   = y_i;
    end else if (peer_i) begin
      descriptor.buf_id = 8'(peer_buf_i);
      descriptor.offset = peer.offset;
      descriptor.len    = peer_len_i;
      descriptor.flags  = {7'd0, peer_signal_i};
      descriptor.ack_x  = peer.ack_x;
      descriptor.ack_y  = peer.ack_y;
      second_d          = header(peer_x_i, peer_y_i, FlitCuData, peer.final_node, peer_last_i);
      second_d.src_x    = x_i;
      second_d.src_y    = y_i;
      second_d.rsvd     = (peer.final_node != 8'd0) ? {1'b1, peer.mesh} : 3'd0;
      first_d           = second_d;
      first_d.last      = 1'b0;
      first_d.payload   = descriptor;
      second_d.payload  = data_i;
    end
  end

  always_comb begin : count
    left_d     = left_q;
    gap_d      = 1'b0;
    pair_gap_d = pair_gap_q;
    if (taken) begin
      left_d = left_q - 2'd1;
      if (left_q == 2'd1) begin
        gap_d      = pair_gap_q;
        pair_gap_d = 1'b0;
      end
    end
    if (load) begin
      left_d     = (drain_i || (peer_i && peer_first_i)) ? 2'd2 : 2'd1;
      pair_gap_d = peer_i && peer_first_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      left_q     <= '0;
      gap_q      <= 1'b0;
      pair_gap_q <= 1'b0;
    end else begin
      left_q     <= left_d;
      gap_q      <= gap_d;
      pair_gap_q <= pair_gap_d;
    end
  end

  always_ff @(posedge clk_i) begin : flits
    if (load) begin
      first_q  <= first_d;
      second_q <= second_d;
    end
  end

  `KTPU_ASSERT(OneAtATime, $onehot0({ack_sent_o, fill_i, drain_i, peer_i}))
  `KTPU_ASSERT(HandedOverWhenOpen, fill_i || drain_i || peer_i |-> open_o)

endmodule
