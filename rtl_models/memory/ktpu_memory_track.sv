// SPDX-License-Identifier: Apache-2.0
// The reads that one requester has at the DRAM, oldest first (memory.md section 7.3): how many internal beats of them
// are still to come, and where the next one is in its beat of the bus.

`include "ktpu_assert.svh"

module ktpu_memory_track
  import ktpu_memory_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  lane_t  last_lane_i,  // quasi-static: of the bus

  // One more read; it begins at `lane_i` of its first beat.
  input  logic   grant_i,
  input  beats_t beats_i,
  input  lane_t  lane_i,
  // An internal beat of the oldest is handed over.
  input  logic   give_i,
  output lane_t  lane_o,
  output logic   last_o,  // it is the read's last one
  output logic   done_o,  // nothing of the bus beat is left after it

  output reads_t count_o  // reads under way
);

  localparam int unsigned IndexWidth = $clog2(MaxReads);

  typedef struct packed {
    beats_t beats;
    lane_t  lane;
  } read_t;

  read_t                 read_q [MaxReads];
  read_t                 oldest;
  logic [IndexWidth-1:0] head_q, tail_q;
  reads_t                count_q;
  beats_t                given_q;  // beats of the oldest handed over
  lane_t                 lane_q;   // of the next one, unless it is the first

  assign oldest  = read_q[head_q];
  assign lane_o  = (given_q == '0) ? oldest.lane : lane_q;
  assign last_o  = given_q + beats_t'(1) == oldest.beats;
  assign done_o  = last_o || lane_o == last_lane_i;
  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      count_q <= '0;
      given_q <= '0;
    end else begin
      count_q <= count_q + reads_t'(grant_i) - reads_t'(give_i && last_o);
      if (grant_i) tail_q <= tail_q + IndexWidth'(1);
      if (give_i) begin
        given_q <= last_o ? '0 : given_q + beats_t'(1);
        if (last_o) head_q <= head_q + IndexWidth'(1);
      end
    end
  end

  always_ff @(posedge clk_i) begin : reads
    if (grant_i) read_q[tail_q] <= '{beats: beats_i, lane: lane_i};
    if (give_i) lane_q <= done_o ? '0 : lane_o + lane_t'(1);
  end

  `KTPU_ASSERT_INIT(ReadsAreAPowerOfTwo, MaxReads == 1 << IndexWidth)
  `KTPU_ASSERT(GivesWhatIsAwaited, give_i |-> count_q != '0)
  `KTPU_ASSERT(ReadsFit, count_q <= reads_t'(MaxReads))

endmodule
