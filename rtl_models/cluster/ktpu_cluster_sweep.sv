// SPDX-License-Identifier: Apache-2.0
// The sweep of a GEMM: which operands and which sub-tile in which cycle (cluster.md sections 5.2, 8 and 9.1).

`include "ktpu_assert.svh"

module ktpu_cluster_sweep
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
#(
  parameter int unsigned TileWidth  = 12,
  parameter int unsigned EntryIndex = 9
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // The first issue is in the cycle after the start unless stalled.
  input  logic                  start_i,
  input  cluster_inst_t         inst_i,
  // Freezes issue and pace alike.
  input  logic                  stall_i,

  output logic                  issue_o,
  output logic [EntryIndex-1:0] a_entry_o,
  output logic [EntryIndex-1:0] b_entry_o,
  output logic [TileWidth-1:0]  tile_o,
  output acc_op_e               op_o,
  // The issue of IssueToOperands cycles ago belongs to the last K block of an emitting GEMM.
  output logic                  counted_o,
  output logic [6:0]            anchor_o,

  output logic                  running_o,
  // High through the last issue + 20, + 31 (section 11).
  output logic                  sweep_busy_o,
  output logic                  gemm_busy_o
);

  localparam int unsigned SweepTail = IssueToCommand;
  localparam int unsigned GemmTail  = IssueToCommand + 11;

  // The job.
  logic [7:0] gm_q, gn_q, nk_q, aoff_q, boff_q;
  logic [6:0] anchor_q;  // exponents are modulo 128
  logic       abank_q, bbank_q, acc_q, emit_q;
  logic [2:0] idle_q;  // cycles after an issue

  // Where it is.
  logic                 running_d, running_q;
  logic [7:0]           kb_d, kb_q, g_d, g_q, h_d, h_q;
  logic [7:0]           a_row_d, a_row_q;  // aoff + g * nk + kb
  logic [7:0]           b_col_d, b_col_q;  // boff + h * nk + kb
  logic [TileWidth-1:0] tile_d, tile_q;
  logic [2:0]           pace_d, pace_q;
  logic [5:0]           tail_d, tail_q;
  logic [IssueToOperands-1:0] counts_q;

  logic [7:0] gm, gn, nk;
  logic [2:0] idle;
  logic       last_h, last_g, last_kb;

  assign gm = at_least_1(inst_i.gm);
  assign gn = at_least_1(inst_i.gn);
  assign nk = at_least_1(inst_i.nk);

  // Pacing (section 8), chosen once.
  always_comb begin
    idle = 3'd0;
    if (nk >= 8'd2) begin
      if (gm == 8'd1 && gn == 8'd1) idle = 3'd4;
      else if ((gm == 8'd1 && gn == 8'd2) || (gm == 8'd2 && gn == 8'd1)) idle = 3'd2;
      else if ((gm == 8'd1 && gn <= 8'd4) || (gn == 8'd1 && gm <= 8'd4) || (gm == 8'd2 && gn == 8'd2)) idle = 3'd1;
    end
  end

  assign issue_o = running_q && !stall_i && pace_q == 3'd0;
  assign last_h  = h_q == gn_q - 8'd1;
  assign last_g  = g_q == gm_q - 8'd1;
  assign last_kb = kb_q == nk_q - 8'd1;

  always_comb begin
    running_d = running_q;
    kb_d      = kb_q;
    g_d       = g_q;
    h_d       = h_q;
    a_row_d   = a_row_q;
    b_col_d   = b_col_q;
    tile_d    = tile_q;
    pace_d    = pace_q;
    if (start_i) begin
      running_d = 1'b1;
      kb_d      = '0;
      g_d       = '0;
      h_d       = '0;
      a_row_d   = inst_i.aoff;
      b_col_d   = inst_i.boff;
      tile_d    = '0;
      pace_d    = '0;
    end else if (issue_o) begin
      pace_d  = idle_q;
      h_d     = h_q + 8'd1;
      b_col_d = b_col_q + nk_q;
      tile_d  = tile_q + TileWidth'(1);
      if (last_h) begin
        h_d     = '0;
        b_col_d = boff_q + kb_q;
        g_d     = g_q + 8'd1;
        a_row_d = a_row_q + nk_q;
        if (last_g) begin
          g_d       = '0;
          kb_d      = kb_q + 8'd1;
          a_row_d   = aoff_q + kb_q + 8'd1;
          b_col_d   = boff_q + kb_q + 8'd1;
          tile_d    = '0;
          running_d = !last_kb;
        end
      end
    end else if (running_q && !stall_i) begin
      pace_d = pace_q - 3'd1;
    end
  end

  // Counts down from the last issue.
  assign tail_d = issue_o ? 6'(GemmTail) : (tail_q == '0) ? '0 : tail_q - 6'd1;

  assign a_entry_o = EntryIndex'({abank_q, a_row_q});
  assign b_entry_o = EntryIndex'({bbank_q, b_col_q});
  assign tile_o    = tile_q;
  assign anchor_o  = anchor_q;
  assign op_o      = (kb_q == '0 && !acc_q) ? AccLoad : (emit_q && last_kb) ? AccAddEmit : AccAdd;
  assign counted_o = counts_q[IssueToOperands-1];

  assign running_o    = running_q;
  assign sweep_busy_o = running_q || tail_q > 6'(GemmTail - SweepTail);
  assign gemm_busy_o  = running_q || tail_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      pace_q    <= '0;
      tail_q    <= '0;
      counts_q  <= '0;
    end else begin
      running_q <= running_d;
      pace_q    <= pace_d;
      tail_q    <= tail_d;
      counts_q  <= IssueToOperands'({counts_q, issue_o && emit_q && last_kb});
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      gm_q     <= gm;
      gn_q     <= gn;
      nk_q     <= nk;
      aoff_q   <= inst_i.aoff;
      boff_q   <= inst_i.boff;
      abank_q  <= inst_i.abank;
      bbank_q  <= inst_i.bbank;
      anchor_q <= inst_i.anchor[6:0];
      acc_q    <= inst_i.acc;
      emit_q   <= inst_i.emit;
      idle_q   <= idle;
    end
    if (start_i || issue_o) begin
      kb_q    <= kb_d;
      g_q     <= g_d;
      h_q     <= h_d;
      a_row_q <= a_row_d;
      b_col_q <= b_col_d;
      tile_q  <= tile_d;
    end
  end

  `KTPU_ASSERT(StartsWhenIdle, start_i |-> !sweep_busy_o)
  `KTPU_ASSERT(PaceIsShort, pace_q <= 3'd4)

endmodule
