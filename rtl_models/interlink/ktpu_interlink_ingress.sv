// SPDX-License-Identifier: Apache-2.0
// What arrives from other meshes and stops here: flits go into the mesh, words into the DRAM, doorbells into their
// counters (memory.md section 11.4). One packet at a time, from either link in turn.

`include "ktpu_assert.svh"

module ktpu_interlink_ingress
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
  import ktpu_interlink_pkg::*;
(
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  mesh_t                   mesh_id_i,  // quasi-static: where the words land

  // Beats that stop here, by link.
  input  logic  [Links-1:0]       readable_i,
  input  beat_t [Links-1:0]       head_i,
  output logic  [Links-1:0]       pop_o,

  // The injection register.
  output logic                    out_valid_o,
  output flit_t                   out_data_o,
  input  logic                    out_taken_i,

  // One word a write burst.
  output request_t                request_o,
  input  reply_t                  reply_i,

  input  logic                    clear_doorbells_i,
  output logic [Meshes-1:0][31:0] received_o,
  output logic [Meshes-1:0][7:0]  last_tag_o,
  output logic [31:0]             blocked_o,  // cycles in which a beat waited
  output logic                    resting_o
);

  logic                    busy_d, busy_q;  // a packet is being taken
  logic                    link_d, link_q;  // from here
  logic                    turn_d, turn_q;  // link that goes first
  beats_left_t             left_d, left_q;  // beats of it still to take
  interlink_header_t       header_d, header_q;
  logic                    out_valid_d, out_valid_q;
  flit_t                   out_q;
  logic                    aw_valid_d, aw_valid_q;
  logic [31:0]             aw_addr_q;
  logic                    w_valid_d, w_valid_q;
  word_t                   word_q;
  logic [3:0]              in_flight_d, in_flight_q;  // writes without a response
  logic [Meshes-1:0][31:0] received_q;
  logic [Meshes-1:0][7:0]  last_tag_q;
  logic [31:0]             blocked_q;

  flit_t beat;
  logic  present, take_flit, take_word, take_bell, take, begins, first_link;
  logic  unused;

  assign beat      = head_i[link_q].data;
  assign present   = busy_q && readable_i[link_q];
  assign take_flit = present && header_q.kind == InterlinkFlits && (!out_valid_q || out_taken_i);
  assign take_word = present && header_q.kind == InterlinkMemoryWrite && (!w_valid_q || reply_i.w_taken) &&
                     in_flight_q != 4'(InterlinkWrites);
  assign take_bell = present && header_q.kind != InterlinkFlits && header_q.kind != InterlinkMemoryWrite &&
                     in_flight_q == '0;
  assign take      = take_flit || take_word || take_bell;

  assign begins     = !busy_q && readable_i != '0;
  assign first_link = readable_i[turn_q] ? turn_q : !turn_q;

  always_comb begin : packets
    busy_d   = busy_q;
    link_d   = link_q;
    turn_d   = turn_q;
    left_d   = left_q;
    header_d = header_q;
    pop_o    = '0;
    if (begins) begin
      busy_d   = 1'b1;
      link_d   = first_link;
      turn_d   = !first_link;
      header_d = head_i[first_link].header;
      left_d   = 7'(header_d.len) + 7'd1;
    end else if (take) begin
      pop_o[link_q] = 1'b1;
      left_d        = left_q - 7'd1;
      busy_d        = left_q != 7'd1;
      if (take_word) header_d.address = header_q.address + 40'(WordBytes);
    end
  end

  assign out_valid_d = take_flit || (out_valid_q && !out_taken_i);
  assign aw_valid_d  = take_word || (aw_valid_q && !reply_i.aw_grant);
  assign w_valid_d   = take_word || (w_valid_q && !reply_i.w_taken);
  assign in_flight_d = in_flight_q + 4'(take_word) - 4'(reply_i.b);

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      turn_q      <= 1'b0;
      out_valid_q <= 1'b0;
      aw_valid_q  <= 1'b0;
      w_valid_q   <= 1'b0;
      in_flight_q <= '0;
      blocked_q   <= '0;
    end else begin
      busy_q      <= busy_d;
      turn_q      <= turn_d;
      out_valid_q <= out_valid_d;
      aw_valid_q  <= aw_valid_d;
      w_valid_q   <= w_valid_d;
      in_flight_q <= in_flight_d;
      blocked_q   <= blocked_q + 32'(present && !take);
    end
  end

  always_ff @(posedge clk_i) begin : data
    link_q   <= link_d;
    left_q   <= left_d;
    header_q <= header_d;
    if (take_flit) begin
      out_q       <= beat;
      out_q.dst_x <= header_q.txn[3:0];  // a node byte is {y, x}
      out_q.dst_y <= header_q.txn[7:4];
      out_q.txn   <= '0;
      out_q.rsvd  <= '0;
    end
    if (take_word) begin
      word_q    <= beat.payload;
      aw_addr_q <= header_q.address[31:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : doorbells
    if (!rst_ni) begin
      received_q <= '0;
      last_tag_q <= '0;
    end else begin
      if (clear_doorbells_i) begin
        received_q <= '0;
        last_tag_q <= '0;
      end
      if (take_bell) begin
        received_q[header_q.smesh] <= (clear_doorbells_i ? '0 : received_q[header_q.smesh]) + 32'd1;
        last_tag_q[header_q.smesh] <= header_q.txn;
      end
    end
  end

  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_q;
  assign received_o  = received_q;
  assign last_tag_o  = last_tag_q;
  assign blocked_o   = blocked_q;
  assign resting_o   = !busy_q && !out_valid_q && in_flight_q == '0;
  assign request_o   = '{ar_valid: 1'b0, ar_addr: '0, ar_beats: '0, aw_valid: aw_valid_q,
                         aw_addr: {2'b00, mesh_id_i, 4'h0, aw_addr_q}, aw_beats: beats_t'(1), w_valid: w_valid_q,
                         w_data: word_q, r_ready: 1'b1};
  assign unused      = &{1'b0, reply_i.ar_grant, reply_i.r_valid, reply_i.r_last, reply_i.r_data};

  `KTPU_ASSERT(RefusedFlitStays, out_valid_o && !out_taken_i |=> out_valid_o && $stable(out_data_o))
  `KTPU_ASSERT(ResponsesAreAwaited, reply_i.b |-> in_flight_q != '0)
  `KTPU_ASSERT(FewWritesInFlight, in_flight_q <= 4'(InterlinkWrites))

endmodule
