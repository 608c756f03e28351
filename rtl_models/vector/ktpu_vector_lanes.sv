// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes with their registers (vector.md sections 4, 7, 8 and 12.2). A beat decided in cycle c has its
// addresses in c+1 and its operands in c+2; stage t of a chain gets its operands in c+2+15t; the result of the last of
// D stages is written at the end of c+2+15D. In TREE mode lanes 0 to 7 are the leaves, 8 to 11, 12 and 13, and 14 the
// levels above them, and 15 adds to the accumulators.

`include "ktpu_assert.svh"

module ktpu_vector_lanes
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // Quasi-static: quirks V6 and V7 as in the reference machine.
  input  logic             quirk_v6_i,
  input  logic             quirk_v7_i,

  // Changes only while empty_o.
  input  mode_e            mode_i,

  // A word of a chain group: stage `stage_at_i` of group `stage_group_i`.
  input  logic             stage_we_i,
  input  logic [1:0]       stage_group_i,
  input  logic [1:0]       stage_at_i,
  input  stage_t           stage_i,

  // The beat decided in this cycle, the registers of its three operands, and whether it counts as a pending write of
  // its destination.
  input  beat_t            beat_i,
  input  logic             beat_counts_i,
  input  logic [3:0]       va_i,
  input  logic [3:0]       vb_i,
  input  logic [3:0]       vc_i,

  // Stays while a reduction is under way; `reduce_start_i`: before its first sum arrives.
  input  reduce_e          reduction_i,
  input  logic             reduce_start_i,
  output logic             sum_valid_o,
  output num_t             sum_o,

  // Whole chunks, while empty_o. `move_row_o` from the cycle after move_re_i on.
  input  logic             move_re_i,
  input  logic [6:0]       move_raddr_i,
  output row_t             move_row_o,
  input  logic             move_we_i,
  input  logic [6:0]       move_waddr_i,
  input  logic [Lanes-1:0] move_mask_i,
  input  row_t             move_data_i,
  // The entry a beat read last as operand a (section 14, Q2).
  output logic [6:0]       last_read_o,

  // Registers with pending writes.
  output logic [VectorRegs-1:0] pending_o,
  // LanesEmpty cycles since the last beat.
  output logic             empty_o,

  input  logic [1:0]       predicate_at_i,
  output logic [127:0]     predicate_o
);

  localparam int unsigned In0    = 2;             // cycles from the decision to the operands of stage 0
  localparam int unsigned In1    = In0 + LaneAlu;
  localparam int unsigned In2    = In1 + LaneAlu;
  localparam int unsigned In3    = In2 + LaneAlu;
  localparam int unsigned In4    = In3 + LaneAlu;
  localparam int unsigned Last   = In4 + LaneAlu;
  localparam int unsigned DrainWidth = $clog2(LanesEmpty);

  beat_t [Last:1]        pipe_d, pipe_q;   // beats by cycles since their decision
  logic [DrainWidth-1:0] drain_q;
  logic [3:0]            va_q, vb_q, vc_q;
  logic [2:0]            chunk_q;
  stage_t                stage_q [4*ChainDepth];
  num_t                  accumulator_q [Lanes];
  logic [127:0]          predicate_q [Predicates];
  logic [6:0]            pending_d [VectorRegs];
  logic [6:0]            pending_q [VectorRegs];

  logic                  run;
  row_t                  row_a, row_b, row_c;
  logic [15:0]           predicate_chunk, mask;

  logic [Lanes-1:0]      alu_valid;
  vector_opcode_e        alu_op [Lanes];
  num_t                  alu_a  [Lanes];
  num_t                  alu_b  [Lanes];
  num_t                  alu_c  [Lanes];
  num_t                  result [Lanes];

  beat_t                 retired;
  row_t                  retired_row;
  logic [15:0]           retired_bits;
  logic                  write_row, write_predicate;

  assign run     = (drain_q != '0) || beat_i.valid;
  assign empty_o = drain_q == '0;

  // ------------------------------------------------------------------------------------------------- registers
  ktpu_vector_regfile u_regfile (
    .clk_i,
    .re_i      (pipe_q[1].valid || move_re_i),
    .raddr_a_i (move_re_i ? move_raddr_i : {va_q, chunk_q}),
    .raddr_b_i ({vb_q, chunk_q}),
    .raddr_c_i ({vc_q, chunk_q}),
    .a_o       (row_a),
    .b_o       (row_b),
    .c_o       (row_c),
    .we_i      (write_row || move_we_i),
    .waddr_i   (move_we_i ? move_waddr_i : {retired.vd, retired.chunk}),
    .wmask_i   (move_we_i ? move_mask_i : retired.mask),
    .wdata_i   (move_we_i ? move_data_i : retired_row)
  );

  assign move_row_o  = row_a;
  assign last_read_o = {va_q, chunk_q};

  // ------------------------------------------------------------------------------------------------- operands
  function automatic num_t pick(stage_t stage, logic [1:0] slot, num_t element, num_t chain);
    /* verilator no_inline_task */
    case (stage.source[slot])
      SrcVector: pick = element;
      SrcChain:  pick = chain;
      default:   pick = stage.constant[slot];
    endcase
  endfunction

  function automatic logic [3:0] accumulator_at(beat_t beat, reduce_e kind);
    accumulator_at = halves(kind) ? {beat.chunk, beat.phase[0]} : {1'b0, beat.chunk};
  endfunction

  // Lane l is stage `at` of its group; `element` of the chunk goes into stage 0.
  always_comb begin : operands
    stage_t     stage;
    logic [3:0] element;
    alu_valid = '0;
    element   = '0;
    stage     = stage_q[{pipe_q[In0].group, 2'd0}];
    for (int unsigned l = 0; l < Lanes; l++) begin
      alu_op[l] = OpMov;
      alu_a[l]  = '0;
      alu_b[l]  = '0;
      alu_c[l]  = '0;
    end
    if (run) begin
      case (mode_i)
        ModeFlat: begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            alu_valid[l] = pipe_q[In0].valid;
            alu_op[l]    = stage.op;
            alu_a[l]     = pick(stage, 2'd0, row_a[l], '0);
            alu_b[l]     = pick(stage, 2'd1, row_b[l], '0);
            alu_c[l]     = pick(stage, 2'd2, row_c[l], '0);
          end
        end
        ModeD2: begin
          for (int unsigned l = 0; l < Lanes; l += 2) begin
            stage        = stage_q[{pipe_q[In0].group, 2'd0}];
            element      = {pipe_q[In0].phase[0], 3'(l / 2)};
            alu_valid[l] = pipe_q[In0].valid;
            alu_op[l]    = stage.op;
            alu_a[l]     = pick(stage, 2'd0, row_a[element], '0);
            alu_b[l]     = pick(stage, 2'd1, row_b[element], '0);
            alu_c[l]     = pick(stage, 2'd2, row_c[element], '0);
            stage          = stage_q[{pipe_q[In1].group, 2'd1}];
            alu_valid[l+1] = pipe_q[In1].valid;
            alu_op[l+1]    = stage.op;
            alu_a[l+1]     = pick(stage, 2'd0, '0, result[l]);
            alu_b[l+1]     = pick(stage, 2'd1, '0, result[l]);
            alu_c[l+1]     = pick(stage, 2'd2, '0, result[l]);
          end
        end
        ModeD4: begin
          for (int unsigned l = 0; l < Lanes; l += 4) begin
            stage        = stage_q[{pipe_q[In0].group, 2'd0}];
            element      = {pipe_q[In0].phase, 2'(l / 4)};
            alu_valid[l] = pipe_q[In0].valid;
            alu_op[l]    = stage.op;
            alu_a[l]     = pick(stage, 2'd0, row_a[element], '0);
            alu_b[l]     = pick(stage, 2'd1, row_b[element], '0);
            alu_c[l]     = pick(stage, 2'd2, row_c[element], '0);
            for (int unsigned t = 1; t < 4; t++) begin
              stage          = stage_q[{pipe_q[In0+t*LaneAlu].group, 2'(t)}];
              alu_valid[l+t] = pipe_q[In0+t*LaneAlu].valid;
              alu_op[l+t]    = stage.op;
              alu_a[l+t]     = pick(stage, 2'd0, '0, result[l+t-1]);
              alu_b[l+t]     = pick(stage, 2'd1, '0, result[l+t-1]);
              alu_c[l+t]     = pick(stage, 2'd2, '0, result[l+t-1]);
            end
          end
        end
        default: begin
          // Leaves: pairs of elements or accumulators, or products and powers of half a chunk.
          for (int unsigned l = 0; l < 8; l++) begin
            element      = {pipe_q[In0].phase[0], 3'(l)};
            alu_valid[l] = pipe_q[In0].valid && pipe_q[In0].reduces;
            alu_op[l]    = combine(reduction_i);
            if (pipe_q[In0].tail) begin
              alu_a[l] = accumulator_q[2*l];
              alu_b[l] = accumulator_q[2*l+1];
              alu_c[l] = accumulator_q[2*l+1];
            end else if (halves(reduction_i)) begin
              alu_op[l] = (reduction_i == RedExpsum) ? OpExp2 : OpMul;
              alu_a[l]  = row_a[element];
              alu_b[l]  = row_b[element];
            end else begin
              alu_a[l] = row_a[2*l];
              alu_b[l] = row_a[2*l+1];
              alu_c[l] = row_a[2*l+1];
            end
          end
          for (int unsigned l = 0; l < 7; l++) begin
            alu_valid[8+l] = (l < 4) ? pipe_q[In1].valid && pipe_q[In1].reduces
                           : (l < 6) ? pipe_q[In2].valid && pipe_q[In2].reduces
                                     : pipe_q[In3].valid && pipe_q[In3].reduces;
            alu_op[8+l]    = combine(reduction_i);
            alu_a[8+l]     = result[2*l];
            alu_b[8+l]     = result[2*l+1];
            alu_c[8+l]     = result[2*l+1];
          end
          alu_valid[15] = pipe_q[In4].valid && pipe_q[In4].reduces && !pipe_q[In4].tail;
          alu_op[15]    = combine(reduction_i);
          alu_a[15]     = result[14];
          alu_b[15]     = accumulator_q[accumulator_at(pipe_q[In4], reduction_i)];
          alu_c[15]     = accumulator_q[accumulator_at(pipe_q[In4], reduction_i)];
        end
      endcase
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_alu
    ktpu_vector_alu u_alu (
      .clk_i,
      .rst_ni,
      .wrap_i   (quirk_v7_i),
      .valid_i  (alu_valid[l]),
      .op_i     (alu_op[l]),
      .a_i      (alu_a[l]),
      .b_i      (alu_b[l]),
      .c_i      (alu_c[l]),
      .result_o (result[l])
    );
  end

  assign sum_valid_o = pipe_q[In4].valid && pipe_q[In4].tail;
  assign sum_o       = result[14];

  // ------------------------------------------------------------------------------------------------- results
  // Predication: the bits of the third cycle of a beat.
  always_comb begin : sample_mask
    logic [15:0] width, below;
    logic [7:0]  start;
    predicate_chunk = predicate_q[pipe_q[In0].pr][{pipe_q[In0].chunk, 4'd0}+:16];
    start           = {1'b0, pipe_q[In0].chunk, 4'd0};
    case (mode_i)
      ModeFlat: width = 16'hFFFF;
      ModeD4:   width = 16'h000F << {pipe_q[In0].phase, 2'd0};
      default:  width = 16'h00FF << {pipe_q[In0].phase[0], 3'd0};
    endcase
    below = 16'hFFFF;
    if (pipe_q[In0].length < start + 8'd16) begin
      below = (pipe_q[In0].length <= start) ? 16'd0 : (16'd1 << 4'(pipe_q[In0].length - start)) - 16'd1;
    end
    mask = width & below;
    if ((pipe_q[In0].pm != 2'd0) && !pipe_q[In0].compare) begin
      mask &= (pipe_q[In0].pm == 2'd1) ? predicate_chunk : ~predicate_chunk;
    end
  end

  always_comb begin : retire
    case (mode_i)
      ModeD2:  retired = pipe_q[In2];
      ModeD4:  retired = pipe_q[In4];
      default: retired = pipe_q[In1];
    endcase
    write_row       = retired.valid && retired.writes && !retired.compare;
    write_predicate = retired.valid && retired.writes && retired.compare;
    retired_row     = '0;
    retired_bits    = '0;
    if (retired.valid) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        // The same result goes to every element it may be of; the mask chooses.
        case (mode_i)
          ModeFlat: retired_row[l] = result[l];
          ModeD2:   retired_row[l] = result[2*(l%8)+1];
          ModeD4:   retired_row[l] = result[4*(l%4)+3];
          default:  retired_row[l] = result[l%8];
        endcase
        retired_bits[l] = retired_row[l] != '0;
      end
    end
  end

  always_comb begin : advance
    pipe_d = pipe_q;
    if (run) begin
      pipe_d             = {pipe_q[Last-1:1], beat_i};
      pipe_d[In0+1].mask = mask;
    end
  end

  // Section 12.4. The reference counts with five bits (section 14, Q6).
  always_comb begin : scoreboard
    for (int unsigned r = 0; r < VectorRegs; r++) begin
      pending_d[r] = pending_q[r];
      if (beat_i.valid && beat_counts_i && (beat_i.vd == 4'(r))) begin
        pending_d[r] = pending_q[r] + 7'd1;
        if (quirk_v6_i) pending_d[r][6:5] = 2'd0;
      end
      if (write_row && (retired.vd == 4'(r)) && (pending_d[r] != '0)) pending_d[r] = pending_d[r] - 7'd1;
      pending_o[r] = pending_q[r] != '0;
    end
  end

  assign predicate_o = predicate_q[predicate_at_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      pipe_q  <= '0;
      drain_q <= '0;
      va_q    <= '0;
      chunk_q <= '0;
      for (int unsigned r = 0; r < VectorRegs; r++) pending_q[r] <= '0;
    end else begin
      if (run) begin
        pipe_q <= pipe_d;
        for (int unsigned r = 0; r < VectorRegs; r++) pending_q[r] <= pending_d[r];
      end
      if (beat_i.valid) begin
        drain_q <= DrainWidth'(LanesEmpty - 1);
        va_q    <= va_i;
        chunk_q <= beat_i.chunk;
      end else if (drain_q != '0) begin
        drain_q <= drain_q - DrainWidth'(1);
      end
    end
  end

  always_ff @(posedge clk_i) begin : data
    if (beat_i.valid) begin
      vb_q <= vb_i;
      vc_q <= vc_i;
    end
    if (stage_we_i) stage_q[{stage_group_i, stage_at_i}] <= stage_i;
    if (write_predicate) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (retired.mask[l]) predicate_q[retired.pr][{retired.chunk, 4'(l)}] <= retired_bits[l];
      end
    end
    if (reduce_start_i) begin
      for (int unsigned i = 0; i < Lanes; i++) accumulator_q[i] <= initial_of(reduction_i);
    end else if (pipe_q[Last].valid && pipe_q[Last].reduces && !pipe_q[Last].tail) begin
      accumulator_q[accumulator_at(pipe_q[Last], reduction_i)] <= result[15];
    end
  end

  `KTPU_ASSERT(ModeChangesWhenEmpty, run |-> $stable(mode_i))
  `KTPU_ASSERT(MovesWhenEmpty, move_re_i || move_we_i |-> empty_o)

endmodule
