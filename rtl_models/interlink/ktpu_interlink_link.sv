// SPDX-License-Identifier: Apache-2.0
// One end of an interlink (memory.md sections 11.2 and 11.6): an output register with credits of the far receiver, an
// input register with a buffer a class, and the credits this end owes.
//
// A packet asks with its header, is granted when the link rests and the far end has room for all of it, and then moves
// a beat a cycle: a grant in c puts beat k on the link in c + 2 + k. A credit packet likewise.

`include "ktpu_assert.svh"

module ktpu_interlink_link
  import ktpu_pkg::*;
  import ktpu_interlink_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                connected_i,  // quasi-static: there is a mesh at the other end

  output logic                out_valid_o,
  output beat_t               out_data_o,
  input  logic                in_valid_i,
  input  beat_t               in_data_i,

  // Packets that ask for the link: [0] of this mesh, [1] passing through. What is granted moves from the next cycle on.
  input  link_request_t [1:0] request_i,
  output logic [1:0]          grant_o,
  // A packet of this mesh moves: its beat is taken in this cycle.
  output logic                move_local_o,
  input  beat_t               local_beat_i,
  // One that passes through moves, and is taken where its beat can be read.
  output logic                move_transit_o,
  input  logic                transit_valid_i,
  input  beat_t               transit_beat_i,
  // In the next cycle it moves.
  output logic                transit_next_o,

  // Received beats by class. `own_mesh_i` tells what stops here.
  input  mesh_t               own_mesh_i,
  output logic [1:0]          readable_o,
  output beat_t [1:0]         head_o,
  input  logic [1:0]          pop_i,

  output link_status_t        status_o,
  // Nothing queued or on its way.
  output logic                resting_o
);

  typedef enum logic [1:0] {
    Rest,
    Data,   // a packet moves
    Credit  // a credit packet goes into the output register
  } state_e;

  localparam int unsigned DepthWidth = $clog2(InterlinkCredits + 1);

  state_e              state_d, state_q;
  logic                transit_d, transit_q;  // the packet that moves passes through
  beats_left_t         left_d, left_q;        // beats of it still to move
  logic                turn_d, turn_q;        // source that goes first among equals
  logic                credit_class_d, credit_class_q;
  logic [7:0]          credit_txn_d, credit_txn_q;
  logic                out_valid_d, out_valid_q;
  beat_t               out_d, out_q;
  beat_t               moving, credit_beat;
  logic                in_valid_q;
  beat_t               in_q;
  logic                in_class_d, in_class_q;  // of the packet that arrives
  logic [1:0][7:0]     credit_d, credit_q;
  logic [1:0][7:0]     owed_d, owed_q;
  beats_left_t [1:0]   held_q;                  // beats in the buffers
  logic                moves, short_of_credit, pays;
  logic                in_is_credit;
  logic [1:0]          push, unused_full;

  // --- Out
  assign moves          = state_q == Data && (!transit_q || transit_valid_i);
  assign move_local_o   = state_q == Data && !transit_q;
  assign move_transit_o = state_q == Data && transit_q;
  assign transit_next_o = state_d == Data && transit_d;
  assign moving         = transit_q ? transit_beat_i : local_beat_i;
  assign out_valid_d    = moves || state_q == Credit;
  assign out_d          = (state_q == Credit) ? credit_beat : moving;
  assign out_valid_o    = out_valid_q;
  assign out_data_o     = out_q;

  always_comb begin : credit_packet
    credit_beat                = '0;
    credit_beat.header.kind    = InterlinkCredit;
    credit_beat.header.txn     = credit_txn_q;
    credit_beat.header.address = 40'(credit_class_q);
    credit_beat.header.odd     = 1'b1;
  end

  always_comb begin : arbitrate
    logic urgent, any_owed, winner, found;
    state_d         = state_q;
    transit_d       = transit_q;
    left_d          = left_q;
    turn_d          = turn_q;
    credit_class_d  = credit_class_q;
    credit_txn_d    = credit_txn_q;
    grant_o         = '0;
    short_of_credit = 1'b0;
    pays            = 1'b0;
    winner          = 1'b0;
    found           = 1'b0;
    urgent          = owed_q[0] >= 8'(InterlinkCreditReturn) || owed_q[1] >= 8'(InterlinkCreditReturn);
    any_owed        = owed_q[0] != '0 || owed_q[1] != '0;
    // Class 0 first, and of equals the one whose turn it is; who lacks credit is passed over.
    for (int unsigned k = 0; k < 4; k++) begin
      logic s;
      s = turn_q ^ k[0];
      if (!found && request_i[s].valid && request_i[s].traffic_class == k[1] &&
          8'(request_i[s].beats) <= credit_q[k[1]]) begin
        found  = 1'b1;
        winner = s;
      end
    end
    unique case (state_q)
      Rest: begin
        if (connected_i) begin
          if (!urgent && found) begin
            grant_o[winner] = 1'b1;
            state_d         = Data;
            transit_d       = winner;
            left_d          = request_i[winner].beats;
            turn_d          = !winner;
          end else if (any_owed) begin
            pays            = 1'b1;
            state_d         = Credit;
            credit_class_d  = urgent ? owed_q[0] < 8'(InterlinkCreditReturn) : owed_q[0] == '0;
            credit_txn_d    = owed_q[credit_class_d];
          end
          short_of_credit   = !urgent && !found && (request_i[0].valid || request_i[1].valid);
        end
      end
      Data: begin
        if (moves) begin
          left_d = left_q - 7'd1;
          if (left_q == 7'd1) state_d = Rest;
        end
      end
      default: state_d = Rest;
    endcase
  end

  // --- In
  assign in_is_credit = is_first(in_q.header.kind) && in_q.header.kind == InterlinkCredit;
  assign in_class_d   = (in_valid_q && is_first(in_q.header.kind) && !in_is_credit) ? in_q.header.dmesh != own_mesh_i
                                                                               : in_class_q;

  always_comb begin : account
    for (int unsigned c = 0; c < Classes; c++) begin
      push[c]     = in_valid_q && !in_is_credit && in_class_d == c[0];
      credit_d[c] = credit_q[c];
      owed_d[c]   = owed_q[c] + 8'(pop_i[c]);
      if (grant_o[0] && request_i[0].traffic_class == c[0]) credit_d[c] = credit_d[c] - 8'(request_i[0].beats);
      if (grant_o[1] && request_i[1].traffic_class == c[0]) credit_d[c] = credit_d[c] - 8'(request_i[1].beats);
      if (in_valid_q && in_is_credit && in_q.header.address[0] == c[0]) credit_d[c] = credit_d[c] + in_q.header.txn;
      if (pays && credit_class_d == c[0]) owed_d[c] = owed_d[c] - credit_txn_d;
    end
  end

  for (genvar c = 0; c < Classes; c++) begin : gen_buffer
    ktpu_fifo #(
      .Width ($bits(beat_t)), .MaxDepth (InterlinkCredits), .Latency (FifoLatency), .Extra (FifoExtra),
      .ResetCycles (0)
    ) u_buffer (
      .clk_i, .rst_ni, .depth_i (DepthWidth'(InterlinkCredits)),
      .wvalid_i (push[c]), .wdata_i (in_q), .busy_o (unused_full[c]),
      .rvalid_o (readable_o[c]), .rdata_o (head_o[c]), .rready_i (pop_i[c])
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      state_q     <= Rest;
      turn_q      <= 1'b0;
      out_valid_q <= 1'b0;
      in_valid_q  <= 1'b0;
      in_class_q  <= 1'b0;
      credit_q    <= {2{8'(InterlinkCredits)}};
      owed_q      <= '0;
      held_q      <= '0;
    end else begin
      state_q     <= state_d;
      turn_q      <= turn_d;
      out_valid_q <= out_valid_d;
      in_valid_q  <= in_valid_i;
      in_class_q  <= in_class_d;
      credit_q    <= credit_d;
      owed_q      <= owed_d;
      for (int unsigned c = 0; c < Classes; c++) begin
        held_q[c] <= held_q[c] + 7'(push[c]) - 7'(pop_i[c]);
      end
    end
  end

  always_ff @(posedge clk_i) begin : data
    transit_q      <= transit_d;
    left_q         <= left_d;
    credit_class_q <= credit_class_d;
    credit_txn_q   <= credit_txn_d;
    if (out_valid_d) out_q <= out_d;
    if (in_valid_i) in_q <= in_data_i;
  end

  // --- Counts, since reset
  logic [31:0] beats_sent_q, packets_sent_q, beats_received_q, packets_received_q, credits_sent_q, stalled_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : counts
    if (!rst_ni) begin
      beats_sent_q       <= '0;
      packets_sent_q     <= '0;
      beats_received_q   <= '0;
      packets_received_q <= '0;
      credits_sent_q     <= '0;
      stalled_q          <= '0;
    end else begin
      beats_sent_q       <= beats_sent_q + 32'(moves);
      packets_sent_q     <= packets_sent_q + 32'(moves && is_first(moving.header.kind));
      beats_received_q   <= beats_received_q + 32'(push != '0);
      packets_received_q <= packets_received_q + 32'(push != '0 && is_first(in_q.header.kind));
      credits_sent_q     <= credits_sent_q + 32'(state_q == Credit);
      stalled_q          <= stalled_q + 32'(short_of_credit);
    end
  end

  assign status_o  = '{credit: credit_q, owed: owed_q, beats_sent: beats_sent_q, packets_sent: packets_sent_q,
                       beats_received: beats_received_q, packets_received: packets_received_q,
                       credits_sent: credits_sent_q, stalled: stalled_q};
  assign resting_o = state_q == Rest && !out_valid_q && !in_valid_q && owed_q == '0 && held_q == '0;

  `KTPU_ASSERT(ConnectionIsStatic, $stable(connected_i))
  `KTPU_ASSERT(NothingComesUnconnected, in_valid_i |-> connected_i)
  `KTPU_ASSERT(CreditIsInRange, credit_q[0] <= 8'(InterlinkCredits) && credit_q[1] <= 8'(InterlinkCredits))
  `KTPU_ASSERT(BeatsFit, !(push[0] && unused_full[0]) && !(push[1] && unused_full[1]))
  `KTPU_ASSERT(PopsOnlyWhatIsThere, (pop_i & ~readable_o) == '0)

endmodule
