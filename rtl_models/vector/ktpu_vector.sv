// SPDX-License-Identifier: Apache-2.0
// The vector core (vector.md). One mesh port; every output is a register or a function of registers.

`include "ktpu_assert.svh"

module ktpu_vector
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
#(
  // Largest inst_depth_i and recv_depth_i; they size the FIFOs.
  parameter int unsigned MaxInstDepth = 512,
  parameter int unsigned MaxRecvDepth = 512,
  localparam int unsigned InstDepthWidth = $clog2(MaxInstDepth + 1),
  localparam int unsigned RecvDepthWidth = $clog2(MaxRecvDepth + 1)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // Quasi-static: change only while rst_ni is low. Tied to constants in a chip.
  input  pos_t                      x_i,
  input  pos_t                      y_i,
  input  pos_t                      memory_x_i,   // where fills and drains to memory go
  input  pos_t                      memory_y_i,
  input  logic [InstDepthWidth-1:0] inst_depth_i,
  input  logic [RecvDepthWidth-1:0] recv_depth_i,
  input  logic [8:0]                l1_last_i,    // L1 words in use, a power of two, minus 1
  input  logic [QuirkV12:0]         quirks_i,     // bit QuirkV<n>: as the reference machine

  input  flit_t                     in_data_i,
  input  logic                      in_valid_i,
  output logic                      in_busy_o,
  output flit_t                     out_data_o,
  output logic                      out_valid_o,
  input  logic                      out_busy_i,

  output vector_events_t            events_o,
  // Nothing changes here without a flit coming in: the clock can stop.
  output logic                      idle_o
);

  localparam logic [7:0] Version = 8'h04;
  localparam logic [3:0] Buffers = 4'd2;

  // Endpoint.
  logic        inst_valid, inst_accept, done, done_fault;
  logic        recv_valid, recv_pop, send_ready, send_valid;
  flit_t       inst, received, sent;
  logic [31:0] done_result, cycles;
  logic        unused_full, recv_empty, quiet;
  logic        sequencer_idle, l1_idle, send_idle;

  // Instruction memory.
  logic        imem_we, imem_re;
  logic [8:0]  imem_at;
  logic [31:0] imem_word;

  // Descriptors and walk.
  logic        desc_write, walk_start, walk_step, walk_too_long;
  logic [2:0]  walk_at;
  addr_t       walk_offset, walk_address, walk_base;
  logic [8:0]  walk_total;

  // The instruction in execution.
  fields_t     word;
  logic [3:0]  chunks;
  logic [7:0]  length;
  mode_e       mode;

  // Groups and reductions.
  logic        head, take, taken_last, issue, issue_done, reduce_start, reduce, reduce_done, tail, clear;
  logic [1:0]  stage_group, stage_at, group_pr, read_pr;
  stage_t      stage;
  beat_t       beat;
  logic        beat_counts;
  logic [3:0]  beat_va, beat_vb, beat_vc;
  reduce_e     reduction;

  // Lanes.
  logic        sum_valid, empty;
  num_t        sum;
  logic [VectorRegs-1:0] pending;
  logic [127:0] predicate;
  logic        compare, group_late, read_late, read_value, read_all, read, predicates_idle;
  logic [5:0]  compare_beats;

  // Scalars.
  num_t        s_a, s_b, s_data, k3;
  logic        s_we, k3_we;
  logic [3:0]  s_at;

  // Whole chunks.
  logic        move_start, move_done, move_extract, move_re, move_we, load, chunk, chunk_before, move_high;
  logic [6:0]  move_raddr, move_waddr, move_to, last_read;
  logic [Lanes-1:0] move_mask;
  row_t        move_row, move_data;

  // L1.
  logic        l1_re, store, landing, complete, burst_error, burst_error_clear;
  logic [8:0]  l1_at, target;
  word_t       l1_word, store_data;
  logic        ack_valid, ack_sent;
  flit_t       ack;

  // Send register.
  logic        send_open, fill, drain, peer, first, last;
  logic [7:0]  len;

  ktpu_endpoint #(
    .MaxInstDepth (MaxInstDepth),
    .MaxRecvDepth (MaxRecvDepth),
    .UnitType     (UnitVc),
    .UnitVersion  (Version),
    .UnitBuffers  (Buffers)
  ) u_endpoint (
    .clk_i,
    .rst_ni,
    .x_i,
    .y_i,
    .inst_depth_i,
    .recv_depth_i,
    .in_data_i,
    .in_valid_i,
    .in_busy_o,
    .in_full_o     (unused_full),
    .out_data_o,
    .out_valid_o,
    .out_busy_i,
    .inst_valid_o  (inst_valid),
    .inst_o        (inst),
    .inst_accept_i (inst_accept),
    .done_i        (done),
    .done_fault_i  (done_fault),
    .done_result_i (done_result),
    .recv_valid_o  (recv_valid),
    .recv_o        (received),
    .recv_pop_i    (recv_pop),
    .recv_empty_o  (recv_empty),
    .send_ready_o  (send_ready),
    .send_valid_i  (send_valid),
    .send_i        (sent),
    .debug_i       ({32'd0, cycles}),
    .quiet_o       (quiet)
  );

  ktpu_vector_imem u_imem (
    .clk_i,
    .we_i    (imem_we),
    .waddr_i (imem_at),
    .wdata_i (inst.payload[VectorInstWordLsb+:VectorInstWordWidth]),
    .re_i    (imem_re),
    .raddr_i (imem_at),
    .rdata_o (imem_word)
  );

  ktpu_vector_walk u_walk (
    .clk_i,
    .rst_ni,
    .write_i       (desc_write),
    .write_at_i    (walk_at),
    .write_field_i (inst.payload[VectorInstFldLsb+:VectorInstFldWidth]),
    .write_value_i ({inst.payload[VectorInstValueHiLsb+:VectorInstValueHiWidth],
                     inst.payload[VectorInstValueLsb+:VectorInstValueWidth]}),
    .at_i          (walk_at),
    .start_i       (walk_start),
    .offset_i      (walk_offset),
    .step_i        (walk_step),
    .address_o     (walk_address),
    .base_o        (walk_base),
    .total_o       (walk_total),
    .too_long_o    (walk_too_long)
  );

  ktpu_vector_sequencer u_sequencer (
    .clk_i,
    .rst_ni,
    .quirks_i,
    .inst_valid_i        (inst_valid),
    .inst_i              (inst.payload),
    .inst_accept_o       (inst_accept),
    .idle_o              (sequencer_idle),
    .done_o              (done),
    .done_fault_o        (done_fault),
    .done_result_o       (done_result),
    .cycles_o            (cycles),
    .events_o,
    .imem_we_o           (imem_we),
    .imem_re_o           (imem_re),
    .imem_at_o           (imem_at),
    .imem_word_i         (imem_word),
    .desc_write_o        (desc_write),
    .walk_at_o           (walk_at),
    .walk_start_o        (walk_start),
    .walk_offset_o       (walk_offset),
    .walk_too_long_i     (walk_too_long),
    .mode_o              (mode),
    .length_o            (length),
    .chunks_o            (chunks),
    .word_o              (word),
    .empty_i             (empty),
    .sum_valid_i         (sum_valid),
    .sum_i               (sum),
    .head_o              (head),
    .take_o              (take),
    .taken_last_i        (taken_last),
    .issue_o             (issue),
    .issue_done_i        (issue_done),
    .reduce_start_o      (reduce_start),
    .reduce_o            (reduce),
    .reduce_done_i       (reduce_done),
    .tail_o              (tail),
    .s_a_i               (s_a),
    .s_we_o              (s_we),
    .s_at_o              (s_at),
    .s_data_o            (s_data),
    .k3_we_o             (k3_we),
    .k3_o                (k3),
    .read_o              (read),
    .read_all_o          (read_all),
    .read_late_i         (read_late),
    .read_value_i        (read_value),
    .move_start_o        (move_start),
    .move_done_i         (move_done),
    .move_extract_i      (move_extract),
    .move_number_i       (move_row[0]),
    .complete_i          (complete),
    .burst_error_i       (burst_error),
    .burst_error_clear_o (burst_error_clear)
  );

  ktpu_vector_issue u_issue (
    .clk_i,
    .rst_ni,
    .quirks_i,
    .mode_i          (mode),
    .length_i        (length),
    .chunks_i        (chunks),
    .word_i          (word),
    .head_i          (head),
    .take_i          (take),
    .taken_last_o    (taken_last),
    .stage_group_o   (stage_group),
    .stage_at_o      (stage_at),
    .issue_i         (issue),
    .issue_done_o    (issue_done),
    .reduce_start_i  (reduce_start),
    .reduce_i        (reduce),
    .reduce_done_o   (reduce_done),
    .tail_i          (tail),
    .reduction_o     (reduction),
    .clear_o         (clear),
    .read_i          (read),
    .read_pr_o       (read_pr),
    .pending_i       (pending),
    .group_late_i    (group_late),
    .group_pr_o      (group_pr),
    .compare_o       (compare),
    .compare_beats_o (compare_beats),
    .beat_o          (beat),
    .beat_counts_o   (beat_counts),
    .beat_va_o       (beat_va),
    .beat_vb_o       (beat_vb),
    .beat_vc_o       (beat_vc)
  );

  ktpu_vector_scalars u_scalars (
    .clk_i,
    .rst_ni,
    .word_i  (word),
    .a_o     (s_a),
    .b_o     (s_b),
    .stage_o (stage),
    .we_i    (s_we),
    .at_i    (s_at),
    .data_i  (s_data),
    .k3_we_i (k3_we),
    .k3_i    (k3)
  );

  ktpu_vector_predicates u_predicates (
    .clk_i,
    .rst_ni,
    .mode_i       (mode),
    .length_i     (length),
    .chunks_i     (chunks),
    .compare_i    (compare),
    .beats_i      (compare_beats),
    .group_pr_i   (group_pr),
    .group_late_o (group_late),
    .read_pr_i    (read_pr),
    .read_late_o  (read_late),
    .all_i        (read_all),
    .bits_i       (predicate),
    .value_o      (read_value),
    .idle_o       (predicates_idle)
  );

  ktpu_vector_lanes u_lanes (
    .clk_i,
    .rst_ni,
    .quirk_v6_i     (quirks_i[QuirkV6]),
    .quirk_v7_i     (quirks_i[QuirkV7]),
    .mode_i         (mode),
    .stage_we_i     (take),
    .stage_group_i  (stage_group),
    .stage_at_i     (stage_at),
    .stage_i        (stage),
    .beat_i         (beat),
    .beat_counts_i  (beat_counts),
    .va_i           (beat_va),
    .vb_i           (beat_vb),
    .vc_i           (beat_vc),
    .reduction_i    (reduction),
    .reduce_start_i (clear),
    .sum_valid_o    (sum_valid),
    .sum_o          (sum),
    .move_re_i      (move_re),
    .move_raddr_i   (move_raddr),
    .move_row_o     (move_row),
    .move_we_i      (move_we),
    .move_waddr_i   (move_waddr),
    .move_mask_i    (move_mask),
    .move_data_i    (move_data),
    .last_read_o    (last_read),
    .pending_o      (pending),
    .empty_o        (empty),
    .predicate_at_i (read_pr),
    .predicate_o    (predicate)
  );

  ktpu_vector_mover u_mover (
    .clk_i,
    .rst_ni,
    .quirk_v1_i     (quirks_i[QuirkV1]),
    .start_i        (move_start),
    .done_o         (move_done),
    .word_i         (word),
    .chunks_i       (chunks),
    .total_i        (walk_total),
    .step_o         (walk_step),
    .address_i      (walk_address[8:0]),
    .row_re_o       (move_re),
    .row_at_o       (move_raddr),
    .last_read_i    (last_read),
    .extract_o      (move_extract),
    .load_o         (load),
    .chunk_o        (chunk),
    .chunk_before_o (chunk_before),
    .high_o         (move_high),
    .to_o           (move_to),
    .l1_re_o        (l1_re),
    .l1_at_o        (l1_at),
    .store_o        (store),
    .landing_i      (landing),
    .send_open_i    (send_open),
    .fill_o         (fill),
    .drain_o        (drain),
    .peer_o         (peer),
    .target_o       (target),
    .first_o        (first),
    .last_o         (last),
    .len_o          (len)
  );

  ktpu_vector_moves u_moves (
    .clk_i,
    .rst_ni,
    .quirk_v2_i     (quirks_i[QuirkV2]),
    .load_i         (load),
    .chunk_i        (chunk),
    .chunk_before_i (chunk_before),
    .store_i        (store),
    .word_i         (word),
    .high_i         (move_high),
    .to_i           (move_to),
    .s_a_i          (s_a),
    .s_b_i          (s_b),
    .l1_word_i      (l1_word),
    .row_i          (move_row),
    .we_o           (move_we),
    .at_o           (move_waddr),
    .mask_o         (move_mask),
    .data_o         (move_data),
    .store_data_o   (store_data)
  );

  ktpu_vector_l1 u_l1 (
    .clk_i,
    .rst_ni,
    .x_i,
    .y_i,
    .last_word_i         (l1_last_i),
    .idle_o              (l1_idle),
    .recv_valid_i        (recv_valid),
    .recv_i              (received),
    .recv_pop_o          (recv_pop),
    .ack_valid_o         (ack_valid),
    .ack_o               (ack),
    .ack_sent_i          (ack_sent),
    .re_i                (l1_re),
    .raddr_i             (l1_at),
    .rdata_o             (l1_word),
    .store_i             (store),
    .store_at_i          (walk_address[8:0]),
    .store_data_i        (store_data),
    .landing_o           (landing),
    .expect_i            (fill),
    .expect_at_i         (target),
    .complete_o          (complete),
    .burst_error_o       (burst_error),
    .burst_error_clear_i (burst_error_clear)
  );

  ktpu_vector_send u_send (
    .clk_i,
    .rst_ni,
    .x_i,
    .y_i,
    .memory_x_i,
    .memory_y_i,
    .ack_valid_i   (ack_valid),
    .ack_i         (ack),
    .ack_sent_o    (ack_sent),
    .open_o        (send_open),
    .fill_i        (fill),
    .drain_i       (drain),
    .peer_i        (peer),
    .address_i     (walk_address),
    .target_i      (target[7:0]),
    .data_i        (l1_word),
    .peer_x_i      (word[VectorWordPeerXLsb+:VectorWordPeerXWidth]),
    .peer_y_i      (word[VectorWordPeerYLsb+:VectorWordPeerYWidth]),
    .peer_buf_i    (word[VectorWordBufLsb+:VectorWordBufWidth]),
    .peer_signal_i (word[VectorWordSignalLsb]),
    .peer_record_i (walk_base),
    .peer_first_i  (first),
    .peer_last_i   (last),
    .peer_len_i    (len),
    .idle_o        (send_idle),
    .send_valid_o  (send_valid),
    .send_o        (sent),
    .send_ready_i  (send_ready)
  );

  assign idle_o = quiet && recv_empty && sequencer_idle && predicates_idle && empty && l1_idle && send_idle && !in_busy_o;

  `KTPU_ASSERT(PlaceIsStatic, $stable({x_i, y_i, memory_x_i, memory_y_i, inst_depth_i, recv_depth_i, l1_last_i,
                                       quirks_i}))

endmodule
