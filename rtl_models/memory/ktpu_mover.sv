// SPDX-License-Identifier: Apache-2.0
// The memory mover (memory.md section 10): copies, gathers, fills or generates 32-byte words between two affine
// descriptors. A requester of its own at the DRAM port, commanded by register writes. No register is buffered: a
// running move sees every write from the cycle after it on.

`include "ktpu_assert.svh"

module ktpu_mover
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  early_done_i,  // quasi-static, quirk M1

  input  register_write_t [1:0] write_i,

  output request_t              request_o,
  input  reply_t                reply_i,

  // As AUX_STAT shows them.
  output logic                  busy_o,
  output logic [23:0]           moves_o,
  output logic [3:0]            fault_o,
  output logic                  resting_o
);

  // Registers.
  logic [2:0]       mode_q;
  logic [1:0]       width_q;
  logic             coalesce_q;
  logic [2:0]       cap_q;
  addr_t            index_address_q;
  logic [15:0]      index_count_q;
  logic [63:0]      seed_q;
  logic [31:0]      immediate_q;
  logic [31:0]      pitch_q;
  logic [15:0]      row_words_q;
  logic [63:0]      dimension_q;  // latched; the axis register commits it
  logic [1:0][63:0] dimension;    // as each of the two writes finds it
  logic             go;
  word_t            fill;

  assign dimension[0] = dimension_q;
  assign dimension[1] = (write_i[0].valid && write_i[0].offset == MoverDimensionOffset) ? write_i[0].data
                                                                                        : dimension_q;

  always_comb begin : start
    go = 1'b0;
    for (int unsigned w = 0; w < 2; w++) begin
      if (write_i[w].valid && write_i[w].offset == MoverControlOffset && write_i[w].data[MoverControlGoLsb]) go = 1'b1;
    end
  end

  // The immediate at every element of a word.
  always_comb begin : fill_word
    unique case (width_q)
      2'd0:    fill = {32{immediate_q[7:0]}};
      2'd1:    fill = {16{immediate_q[15:0]}};
      default: fill = {8{immediate_q}};
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : registers
    if (!rst_ni) begin
      mode_q          <= '0;
      width_q         <= '0;
      coalesce_q      <= 1'b0;
      cap_q           <= '0;
      index_address_q <= '0;
      index_count_q   <= '0;
      seed_q          <= '0;
      immediate_q     <= '0;
      pitch_q         <= '0;
      row_words_q     <= '0;
      dimension_q     <= '0;
    end else begin
      for (int unsigned w = 0; w < 2; w++) begin
        if (write_i[w].valid) begin
          unique case (write_i[w].offset)
            MoverControlOffset: begin
              mode_q     <= write_i[w].data[MoverControlModeLsb+:MoverControlModeWidth];
              width_q    <= write_i[w].data[MoverControlWidthLsb+:MoverControlWidthWidth];
              coalesce_q <= write_i[w].data[MoverControlCoalesceLsb];
              cap_q      <= write_i[w].data[MoverControlCapLsb+:MoverControlCapWidth];
            end
            MoverDimensionOffset: dimension_q <= write_i[w].data;
            MoverIndexOffset: begin
              index_address_q <= write_i[w].data[MoverIndexAddressLsb+:MoverIndexAddressWidth];
              index_count_q   <= write_i[w].data[MoverIndexCountLsb+:MoverIndexCountWidth];
            end
            MoverSeedOffset:      seed_q      <= write_i[w].data;
            MoverImmediateOffset: immediate_q <= write_i[w].data[31:0];
            MoverGatherOffset: begin
              pitch_q     <= write_i[w].data[MoverGatherPitchLsb+:MoverGatherPitchWidth];
              row_words_q <= write_i[w].data[MoverGatherWordsLsb+:MoverGatherWordsWidth];
            end
            default: ;
          endcase
        end
      end
    end
  end

  logic           restart, step_source, step_destination;
  addr_t          source, source_base, destination, unused_destination_base;
  logic           source_valid, destination_valid, destination_last, unused_source_last;
  logic           push, full, starved, looks_idle, unfinished, released, data;
  mover_command_t command;
  logic           idle, busy_q;
  logic [23:0]    moves, moves_q;
  logic           ar_valid, aw_valid, w_valid;
  addr_t          ar_addr, aw_addr;
  beats_t         ar_beats, aw_beats;
  word_t          w_data;

  ktpu_mover_walker #(.Destination (1'b0)) u_source (
    .clk_i, .rst_ni, .write_i, .dimension_i (dimension), .restart_i (restart), .step_i (step_source),
    .address_o (source), .base_o (source_base), .valid_o (source_valid), .at_last_o (unused_source_last)
  );

  ktpu_mover_walker #(.Destination (1'b1)) u_destination (
    .clk_i, .rst_ni, .write_i, .dimension_i (dimension), .restart_i (restart), .step_i (step_destination),
    .address_o (destination), .base_o (unused_destination_base), .valid_o (destination_valid),
    .at_last_o (destination_last)
  );

  ktpu_mover_issue u_issue (
    .clk_i,
    .rst_ni,
    .early_done_i,
    .go_i                (go),
    .mode_i              (mode_q),
    .width_i             (width_q),
    .coalesce_i          (coalesce_q),
    .cap_i               (cap_q),
    .index_address_i     (index_address_q),
    .index_count_i       (index_count_q),
    .pitch_i             (pitch_q),
    .row_words_i         (row_words_q),
    .restart_o           (restart),
    .step_source_o       (step_source),
    .step_destination_o  (step_destination),
    .source_i            (source),
    .source_base_i       (source_base),
    .source_valid_i      (source_valid),
    .destination_i       (destination),
    .destination_valid_i (destination_valid),
    .destination_last_i  (destination_last),
    .ar_valid_o          (ar_valid),
    .ar_addr_o           (ar_addr),
    .ar_beats_o          (ar_beats),
    .ar_grant_i          (reply_i.ar_grant),
    .r_valid_i           (reply_i.r_valid),
    .r_last_i            (reply_i.r_last),
    .r_data_i            (reply_i.r_data),
    .data_o              (data),
    .push_o              (push),
    .command_o           (command),
    .full_i              (full),
    .starved_i           (starved),
    .looks_idle_i        (looks_idle),
    .unfinished_i        (unfinished),
    .released_i          (released),
    .idle_o              (idle),
    .moves_o             (moves),
    .fault_o
  );

  ktpu_mover_writer u_writer (
    .clk_i,
    .rst_ni,
    .push_i       (push),
    .command_i    (command),
    .full_o       (full),
    .data_i       (data),
    .r_data_i     (reply_i.r_data),
    .fill_i       (fill),
    .seed_i       (seed_q),
    .aw_valid_o   (aw_valid),
    .aw_addr_o    (aw_addr),
    .aw_beats_o   (aw_beats),
    .w_valid_o    (w_valid),
    .w_data_o     (w_data),
    .aw_grant_i   (reply_i.aw_grant),
    .w_taken_i    (reply_i.w_taken),
    .b_i          (reply_i.b),
    .starved_o    (starved),
    .looks_idle_o (looks_idle),
    .unfinished_o (unfinished),
    .released_o   (released)
  );

  // The status is one cycle behind.
  always_ff @(posedge clk_i or negedge rst_ni) begin : status
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      moves_q <= '0;
    end else begin
      busy_q  <= !idle;
      moves_q <= moves;
    end
  end

  assign busy_o    = busy_q;
  assign moves_o   = moves_q;
  assign resting_o = idle && !busy_q && looks_idle && !unfinished && !ar_valid && !starved;
  assign request_o = '{ar_valid: ar_valid, ar_addr: ar_addr, ar_beats: ar_beats, aw_valid: aw_valid,
                       aw_addr: aw_addr, aw_beats: aw_beats, w_valid: w_valid, w_data: w_data, r_ready: 1'b1};

endmodule
