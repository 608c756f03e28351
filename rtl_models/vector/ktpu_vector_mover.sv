// SPDX-License-Identifier: Apache-2.0
// The instructions that move whole words and chunks (vector.md sections 4, 5 and 12.3): VLD, VST, VCVT, VSHUF, VBCAST
// from their cycle W on, VFILL and VDRAIN from their length check on. A state acts in its last cycle; the distances
// between them are those of section 12.3.

`include "ktpu_assert.svh"

module ktpu_vector_mover
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  // Quasi-static: VST moves its walk a cycle late (quirk V1).
  input  logic       quirk_v1_i,

  // The instruction stays until done_o, the cycle before the next F.
  input  logic       start_i,
  output logic       done_o,
  input  fields_t    word_i,
  input  logic [3:0] chunks_i,

  // Walk.
  input  logic [8:0] total_i,
  output logic       step_o,
  input  logic [8:0] address_i,

  // Registers.
  output logic       row_re_o,
  output logic [6:0] row_at_o,
  input  logic [6:0] last_read_i,
  output logic       extract_o,      // the row's first number goes to a scalar
  // Orders for ktpu_vector_moves.
  output logic       load_o,
  output logic       chunk_o,
  output logic       chunk_before_o,
  output logic       high_o,
  output logic [6:0] to_o,

  // L1.
  output logic       l1_re_o,
  output logic [8:0] l1_at_o,
  output logic       store_o,
  input  logic       landing_i,

  // Send register.
  input  logic       send_open_i,
  output logic       fill_o,
  output logic       drain_o,
  output logic       peer_o,
  output logic [8:0] target_o,
  output logic       first_o,
  output logic       last_o,
  output logic [7:0] len_o
);

  typedef enum logic [3:0] {
    Rest,
    Load,         // one L1 word
    Store,        // a write cycle
    Move,         // three cycles a chunk
    Extract,      // VBCAST to a scalar
    FillRequest,  // a request is decided
    FillHand,     // it is handed over
    DrainRead,    // an L1 word is read
    DrainHand,    // it is handed over
    Leave
  } state_e;

  // _next: of the instruction under way.
  state_e           state_next, state_d, state_q;
  logic [2:0]       wait_next, wait_d, wait_q;  // cycles until the state acts
  logic             act;
  logic [8:0]       position_next, position_d, position_q, positions_d, positions_q;
  logic [1:0]       sub_next, sub_d, sub_q;
  logic             row_re;
  logic [6:0]       row_at;
  logic             high_next, high_d, high_q;        // second half of a VST FP32 word
  logic             stepped_d, stepped_q;  // the walk moves a cycle late (V1)
  vector_opcode_e   op;
  memory_fields_t   fields;
  logic             wide, more;
  logic [2:0]       leave;                 // cycles to the next F; 0: not yet

  assign act    = wait_q == '0;
  assign op     = word_i.op;
  assign fields = word_i;
  assign wide   = fields.dtype[0];
  assign more   = position_q + 9'd1 != positions_q;

  always_comb begin : control
    leave          = '0;
    state_next     = state_q;
    wait_next      = act ? '0 : wait_q - 3'd1;
    position_next  = position_q;
    sub_next       = sub_q;
    high_next      = high_q;
    stepped_d      = 1'b0;
    done_o         = 1'b0;
    step_o         = stepped_q;
    row_re         = 1'b0;
    row_at         = {word_i.vd, position_q[2:0]};
    extract_o      = 1'b0;
    load_o         = 1'b0;
    chunk_o        = 1'b0;
    chunk_before_o = 1'b0;
    l1_re_o        = 1'b0;
    l1_at_o        = address_i;
    store_o        = 1'b0;
    fill_o         = 1'b0;
    drain_o        = 1'b0;
    peer_o         = 1'b0;

    case (state_q)
      Load: if (act) begin
        l1_re_o    = 1'b1;
        load_o        = 1'b1;
        step_o        = 1'b1;
        position_next = position_q + 9'd1;
        wait_next     = 3'd3;
        if (!more) leave = 3'd3;
      end

      Store: begin
        row_re = 1'b1;
        if (act && !landing_i) begin
          store_o   = 1'b1;
          stepped_d = quirk_v1_i;
          if (!quirk_v1_i) step_o = 1'b1;
          if (wide && !high_q) begin
            high_next = 1'b1;
          end else begin
            high_next     = 1'b0;
            position_next = position_q + 9'd1;
            wait_next     = 3'd2;
            if (!more) leave = 3'd1;
          end
        end
      end

      // Cycle 0 of a chunk reads it, cycle 1 has it and writes.
      Move: begin
        row_at   = {word_i.va, position_q[2:0]};
        sub_next = sub_q + 2'd1;
        case (sub_q)
          2'd0: begin
            row_re         = 1'b1;
            chunk_before_o = 1'b1;
          end
          2'd1: chunk_o = 1'b1;
          default: begin
            sub_next      = 2'd0;
            position_next = position_q + 9'd1;
            if (!more) leave = 3'd2;
          end
        endcase
      end

      Extract: begin
        extract_o = 1'b1;
        leave     = 3'd4;
      end

      FillRequest: if (act) state_next = FillHand;

      FillHand: if (send_open_i) begin
        fill_o        = 1'b1;
        step_o        = 1'b1;
        position_next = position_q + 9'd1;
        state_next    = FillRequest;
        wait_next     = 3'd1;
        if (!more) leave = 3'd1;
      end

      DrainRead: if (act) begin
        l1_re_o = 1'b1;
        l1_at_o = target_o;
        state_next = DrainHand;
        wait_next  = 3'd1;
      end

      DrainHand: if (act && send_open_i) begin
        drain_o       = !fields.peer;
        peer_o        = fields.peer;
        step_o        = 1'b1;
        position_next = position_q + 9'd1;
        state_next    = DrainRead;
        wait_next     = 3'd0;
        if (!more) leave = 3'd1;
      end

      Leave: if (act) begin
        done_o     = 1'b1;
        state_next = Rest;
      end

      default: ;
    endcase

    if (leave == 3'd1) begin
      done_o     = 1'b1;
      state_next = Rest;
    end else if (leave != '0) begin
      state_next = Leave;
      wait_next  = leave - 3'd2;
    end
  end

  // A new instruction; the one before has left.
  always_comb begin : begin_instruction
    state_d     = state_next;
    wait_d      = wait_next;
    position_d  = position_next;
    positions_d = positions_q;
    high_d      = high_next;
    sub_d       = sub_next;
    row_re_o    = row_re;
    row_at_o    = row_at;
    if (start_i) begin
      position_d  = '0;
      positions_d = 9'(chunks_i);
      high_d      = 1'b0;
      sub_d       = 2'd0;
      case (op)
        OpLd: begin
          state_d = Load;
          wait_d  = 3'd2;
          if (wide) positions_d = {4'd0, chunks_i, 1'b0};
        end
        OpSt: begin
          state_d = Store;
          wait_d  = 3'd3;
        end
        OpFill: begin
          state_d     = FillRequest;
          wait_d      = 3'd0;
          positions_d = total_i;
        end
        OpDrain: begin
          state_d     = DrainRead;
          wait_d      = 3'd1;
          positions_d = total_i;
        end
        default: begin
          row_re_o = 1'b1;
          wait_d   = 3'd0;
          if ((op == OpBcast) && (word_i.sa != SrcScalar)) begin
            row_at_o = {word_i.va, 3'd0};
            state_d  = Extract;
          end else begin
            row_at_o = last_read_i;
            state_d  = Move;
          end
        end
      endcase
    end
  end

  assign high_o   = (state_q == Load) ? wide && position_q[0] : high_q;
  assign to_o     = {word_i.vd, ((state_q == Load) && wide) ? position_q[3:1] : position_q[2:0]};
  assign target_o = fields.offset[8:0] + position_q;
  assign first_o  = position_q == '0;
  assign last_o   = !more;
  assign len_o    = 8'(positions_q - 9'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin : registers
    if (!rst_ni) begin
      state_q   <= Rest;
      wait_q    <= '0;
      stepped_q <= 1'b0;
    end else begin
      state_q   <= state_d;
      wait_q    <= wait_d;
      stepped_q <= stepped_d;
    end
  end

  always_ff @(posedge clk_i) begin : places
    position_q  <= position_d;
    positions_q <= positions_d;
    sub_q       <= sub_d;
    high_q      <= high_d;
  end

  `KTPU_ASSERT(OneInstructionAtATime, start_i |-> state_q == Rest)

endmodule
