// SPDX-License-Identifier: Apache-2.0
// Chain groups and reductions as beats (vector.md sections 7, 8, 12.3 and 12.4): one a cycle, the first when no register
// that the group names has writes pending.

`include "ktpu_assert.svh"

module ktpu_vector_issue
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic [QuirkV12:0] quirks_i,

  input  mode_e            mode_i,
  input  logic [7:0]       length_i,
  input  logic [3:0]       chunks_i,
  input  fields_t          word_i,

  // The word is stage 0 of a group, or the next one.
  input  logic             head_i,
  input  logic             take_i,
  output logic             taken_last_o,  // with it the group is whole
  output logic [1:0]       stage_group_o,
  output logic [1:0]       stage_at_o,

  // Beats of the group, from when the hazards are gone; the last one is decided.
  input  logic             issue_i,
  output logic             issue_done_o,

  // VRED of a tree kind: its execute cycle, its beats, and the one that combines the accumulators.
  input  logic             reduce_start_i,
  input  logic             reduce_i,
  output logic             reduce_done_o,
  input  logic             tail_i,
  output reduce_e          reduction_o,
  output logic             clear_o,        // the accumulators

  // ANY or ALL has read its predicate: which.
  input  logic             read_i,
  output logic [1:0]       read_pr_o,

  // Hazards.
  input  logic [VectorRegs-1:0] pending_i,
  input  logic             group_late_i,
  output logic [1:0]       group_pr_o,
  output logic             compare_o,      // the first beat of a compare
  output logic [5:0]       compare_beats_o,

  output beat_t            beat_o,
  output logic             beat_counts_o,
  output logic [3:0]       beat_va_o,
  output logic [3:0]       beat_vb_o,
  output logic [3:0]       beat_vc_o
);

  logic [1:0] group_d, group_q, stage_d, stage_q;
  logic [1:0] last_stage;
  logic [3:0] head_a_q, head_b_q, head_c_q;
  logic [3:0] vd_q;              // of the last word taken, as the next three
  logic [1:0] pr_q, pm_q;
  logic       is_compare_q;
  // Registers of the instruction before, which V4 and V5 are about.
  logic [1:0] last_pr_d, last_pr_q, last_pm_q;
  reduce_e    reduction_q;
  logic [1:0] reduce_pm_q;
  logic       clear_q;
  logic       open_d, open_q;    // the first beat is out
  logic       clear_of_hazards, go;
  logic [5:0] position_d, position_q, positions;

  assign last_stage    = (mode_i == ModeFlat) ? 2'd0 : (mode_i == ModeD2) ? 2'd1 : 2'd3;
  assign group_d       = head_i ? group_q + 2'd1 : group_q;
  assign stage_at_o    = head_i ? 2'd0 : stage_q;
  assign stage_d       = take_i ? stage_at_o + 2'd1 : stage_q;
  assign stage_group_o = group_d;
  assign taken_last_o  = stage_at_o == last_stage;
  assign group_pr_o    = pr_q;
  assign read_pr_o     = quirks_i[QuirkV4] ? last_pr_q : word_i.pr;
  assign reduction_o   = reduction_q;
  assign clear_o       = clear_q;

  // All four registers, read or not.
  assign clear_of_hazards = !pending_i[head_a_q] && !pending_i[head_b_q] && !pending_i[head_c_q] &&
                            !pending_i[vd_q] &&
                            (quirks_i[QuirkV3] || (pm_q == 2'd0) || is_compare_q || !group_late_i);
  assign go = issue_i && (open_q || clear_of_hazards);

  always_comb begin : count
    if (reduce_i) begin
      positions = halves(reduction_q) ? {1'b0, chunks_i, 1'b0} : {2'd0, chunks_i};
    end else begin
      case (last_stage)
        2'd0:    positions = {2'd0, chunks_i};
        2'd1:    positions = {1'b0, chunks_i, 1'b0};
        default: positions = {chunks_i, 2'd0};
      endcase
    end
    position_d    = position_q;
    open_d        = go;
    issue_done_o  = 1'b0;
    reduce_done_o = 1'b0;
    if (go || reduce_i) begin
      position_d = position_q + 6'd1;
      if (position_d == positions) begin
        position_d    = '0;
        open_d        = 1'b0;
        issue_done_o  = go;
        reduce_done_o = reduce_i;
      end
    end
  end

  // In TREE mode a group's results are discarded (section 14, Q9).
  assign compare_o       = go && !open_q && is_compare_q && (mode_i != ModeTree);
  assign compare_beats_o = positions;

  always_comb begin : beat
    beat_o         = '0;
    beat_o.valid   = go || reduce_i || tail_i;
    beat_o.group   = group_q;
    beat_o.vd      = vd_q;
    beat_o.pr      = pr_q;
    beat_o.pm      = pm_q;
    beat_o.length  = length_i;
    beat_o.writes  = mode_i != ModeTree;
    beat_o.compare = is_compare_q && (mode_i != ModeTree);
    beat_counts_o  = !is_compare_q;
    beat_va_o      = head_a_q;
    beat_vb_o      = head_b_q;
    beat_vc_o      = head_c_q;
    case (last_stage)
      2'd0: beat_o.chunk = position_q[2:0];
      2'd1: begin
        beat_o.chunk = position_q[3:1];
        beat_o.phase = {1'b0, position_q[0]};
      end
      default: begin
        beat_o.chunk = position_q[4:2];
        beat_o.phase = position_q[1:0];
      end
    endcase
    if (reduce_i || tail_i) begin
      beat_o.reduces = 1'b1;
      beat_o.tail    = tail_i;
      beat_o.writes  = (reduction_q == RedExpsum) && reduce_i;
      beat_o.compare = 1'b0;
      beat_o.vd      = word_i.vb;
      beat_o.pr      = word_i.pr;
      beat_o.pm      = reduce_pm_q;
      beat_o.length  = 8'd128;
      beat_o.chunk   = halves(reduction_q) ? position_q[3:1] : position_q[2:0];
      beat_o.phase   = {1'b0, halves(reduction_q) && position_q[0]};
      beat_counts_o  = beat_o.writes;
      beat_va_o      = word_i.va;
      beat_vb_o      = word_i.vb;
      beat_vc_o      = word_i.vb;
    end
  end

  always_comb begin : instruction_before
    last_pr_d = last_pr_q;
    if (take_i || reduce_start_i || read_i) last_pr_d = word_i.pr;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      group_q    <= '0;
      last_pr_q  <= '0;
      last_pm_q  <= '0;
      clear_q    <= 1'b0;
      open_q     <= 1'b0;
      position_q <= '0;
    end else begin
      group_q    <= group_d;
      last_pr_q  <= last_pr_d;
      clear_q    <= reduce_start_i;
      open_q     <= open_d;
      position_q <= position_d;
      if (take_i) last_pm_q <= word_i.pm;
    end
  end

  always_ff @(posedge clk_i) begin : words
    stage_q <= stage_d;
    if (head_i) begin
      head_a_q <= word_i.va;
      head_b_q <= word_i.vb;
      head_c_q <= word_i.vc;
    end
    if (take_i) begin
      vd_q         <= word_i.vd;
      pr_q         <= word_i.pr;
      pm_q         <= word_i.pm;
      is_compare_q <= is_compare(word_i.op);
    end
    if (reduce_start_i) begin
      reduction_q <= reduce_e'(word_i.vc[2:0]);
      reduce_pm_q <= quirks_i[QuirkV5] ? last_pm_q : 2'd0;
    end
  end

  `KTPU_ASSERT(HeadIsTaken, head_i |-> take_i)
  `KTPU_ASSERT(OneKindOfBeat, $onehot0({issue_i, reduce_i, tail_i}))

endmodule
