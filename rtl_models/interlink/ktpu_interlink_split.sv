// SPDX-License-Identifier: Apache-2.0
// Between the mover and the DRAM path where there is an interlink, used or not (memory.md sections 11.4 and 11.6): write
// addresses pass a register, one cycle more; words for other meshes leave as packets of one word and are answered at
// once. Without an interlink: wires.
//
// A write address valid at A is in the register in A + 1. A word for another mesh then asks to be sent in A + 2 and
// leaves the mover in A + 3.

`include "ktpu_assert.svh"

module ktpu_interlink_split
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // Quasi-static: there is an interlink; it is used.
  input  logic       enable_i,
  input  logic       used_i,
  input  logic [1:0] mesh_id_i,

  input  request_t   up_i,      // of the mover
  output reply_t     up_o,
  output request_t   down_o,    // to the DRAM path
  input  reply_t     down_i,

  // A word for another mesh, and its address.
  output logic       remote_valid_o,
  output addr_t      remote_addr_o,
  input  logic       remote_accepted_i,
  output logic       word_valid_o,
  output word_t      word_o,
  input  logic       word_taken_i,

  output logic       resting_o
);

  typedef enum logic [2:0] {
    Free,
    Decode,   // the address is in the register
    Local,    // its burst runs on the DRAM path
    Request,  // a word for another mesh waits to be sent
    Word      // it is fetched
  } state_e;

  state_e      state_d, state_q;
  logic        aw_valid_d, aw_valid_q;
  addr_t       addr_d, addr_q;
  beats_t      beats_q;
  beats_t      left_d, left_q;
  logic [15:0] posted_d, posted_q;  // answers still to give
  logic        take, answer;

  assign take   = enable_i && state_q == Free && up_i.aw_valid;
  assign answer = posted_q != '0 && !down_i.b;

  always_comb begin
    state_d    = state_q;
    aw_valid_d = aw_valid_q && !down_i.aw_grant;
    addr_d     = addr_q;
    left_d     = left_q;
    posted_d   = posted_q - 16'(answer);
    unique case (state_q)
      Free: begin
        if (take) begin
          addr_d     = up_i.aw_addr;
          left_d     = up_i.aw_beats;
          state_d    = (used_i && addr_d[37:36] != mesh_id_i) ? Decode : Local;
          aw_valid_d = state_d == Local;
        end
      end
      Decode: state_d = Request;
      Local: begin
        if (down_i.w_taken) begin
          left_d = left_q - beats_t'(1);
          if (left_q == beats_t'(1)) state_d = Free;
        end
      end
      Request: if (remote_accepted_i) state_d = Word;
      default: begin
        if (word_taken_i) begin
          addr_d  = addr_q + addr_t'(WordBytes);
          left_d  = left_q - beats_t'(1);
          state_d = Request;
          if (left_q == beats_t'(1)) begin
            state_d  = Free;
            posted_d = posted_d + 16'd1;
          end
        end
      end
    endcase
  end

  always_comb begin : wires
    up_o   = down_i;
    down_o = up_i;
    if (enable_i) begin
      up_o.aw_grant   = take;
      up_o.w_taken    = down_i.w_taken || word_taken_i;
      up_o.b          = down_i.b || answer;
      down_o.aw_valid = aw_valid_q;
      down_o.aw_addr  = addr_q;
      down_o.aw_beats = beats_q;
      down_o.w_valid  = up_i.w_valid && state_q == Local;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Free;
      aw_valid_q <= 1'b0;
      posted_q   <= '0;
    end else begin
      state_q    <= state_d;
      aw_valid_q <= aw_valid_d;
      posted_q   <= posted_d;
    end
  end

  always_ff @(posedge clk_i) begin : burst
    left_q <= left_d;
    addr_q <= addr_d;
    if (take) beats_q <= up_i.aw_beats;
  end

  assign remote_valid_o = state_q == Request;
  assign remote_addr_o  = addr_q;
  assign word_valid_o   = up_i.w_valid;
  assign word_o         = up_i.w_data;
  assign resting_o      = state_q == Free && posted_q == '0;

  `KTPU_ASSERT(EnableIsStatic, $stable(enable_i) && $stable(used_i))
  `KTPU_ASSERT(AcceptsARequest, remote_accepted_i |-> state_q == Request)
  `KTPU_ASSERT(TakesAWord, word_taken_i |-> state_q == Word && up_i.w_valid)

endmodule
