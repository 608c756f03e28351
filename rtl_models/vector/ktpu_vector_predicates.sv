// SPDX-License-Identifier: Apache-2.0
// ANY and ALL (vector.md section 8), and whether bits of a predicate are still on their way (section 14, Q3): a
// compare's beats and those that read its bits come in the same order, so the first ones decide; for ANY and ALL the
// last one below VL does.

module ktpu_vector_predicates
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,

  input  mode_e        mode_i,
  input  logic [7:0]   length_i,
  input  logic [3:0]   chunks_i,

  // The first beat of a compare into predicate `group_pr_i`, which has `beats_i`.
  input  logic         compare_i,
  input  logic [5:0]   beats_i,
  // A group that is predicated by it would read too early.
  input  logic [1:0]   group_pr_i,
  output logic         group_late_o,

  // ANY or ALL would read `read_pr_i` too early; what they read.
  input  logic [1:0]   read_pr_i,
  output logic         read_late_o,
  input  logic         all_i,
  input  logic [127:0] bits_i,
  output logic         value_o,

  output logic         idle_o
);

  // Cycles since the first beat of the last compare of each predicate, and its beats.
  logic [6:0] age_d   [Predicates];
  logic [6:0] age_q   [Predicates];
  logic [5:0] beats_d [Predicates];
  logic [5:0] beats_q [Predicates];

  always_comb begin : read
    logic [127:0] below;
    below   = (length_i >= 8'd128) ? '1 : (128'd1 << length_i[6:0]) - 128'd1;
    value_o = all_i ? ((bits_i | ~below) == '1) : ((bits_i & below) != '0);
  end

  always_comb begin : hazard
    logic [6:0] latency;
    logic [5:0] beats;
    case (mode_i)
      ModeD2: begin
        latency = 7'(2 * LaneAlu);
        beats   = 6'((length_i + 8'd7) >> 3);
      end
      ModeD4: begin
        latency = 7'(4 * LaneAlu);
        beats   = 6'((length_i + 8'd3) >> 2);
      end
      default: begin
        latency = 7'(LaneAlu);
        beats   = 6'(chunks_i);
      end
    endcase
    if (beats_q[read_pr_i] < beats) beats = beats_q[read_pr_i];
    group_late_o = age_q[group_pr_i] <= latency;
    read_late_o  = age_q[read_pr_i] <= latency + 7'(beats) + 7'd1;
  end

  always_comb begin : ages
    idle_o = 1'b1;
    for (int unsigned p = 0; p < Predicates; p++) begin
      age_d[p]   = (age_q[p] == '1) ? '1 : age_q[p] + 7'd1;
      beats_d[p] = beats_q[p];
      if (compare_i && (group_pr_i == 2'(p))) begin
        age_d[p]   = 7'd1;
        beats_d[p] = beats_i;
      end
      idle_o = idle_o && (age_q[p] == '1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      for (int unsigned p = 0; p < Predicates; p++) age_q[p] <= '1;
    end else begin
      for (int unsigned p = 0; p < Predicates; p++) age_q[p] <= age_d[p];
    end
  end

  always_ff @(posedge clk_i) begin : counts
    for (int unsigned p = 0; p < Predicates; p++) beats_q[p] <= beats_d[p];
  end

endmodule
