// SPDX-License-Identifier: Apache-2.0
// The converged staging memory in front of the DRAM port (memory.md section 7.2): one claimed burst at a time, round
// robin. Writes take a word a cycle, reads six cycles a word.

`include "ktpu_assert.svh"

module ktpu_memory_staging
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
#(
  // Words of 32 bytes; higher address bits alias.
  parameter int unsigned Words = 65536,
  localparam int unsigned IndexWidth = $clog2(Words)
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  // Requesters that present a burst that may be claimed.
  input  requester_mask_t reads_i,
  input  requester_mask_t writes_i,
  input  request_t [MaxRequesters-1:0] request_i,

  // A burst of this requester and direction runs: it must not be forwarded to the DRAM.
  output requester_mask_t runs_read_o,
  output requester_mask_t runs_write_o,
  // What happens in this cycle; one-hot or zero.
  output requester_mask_t read_grant_o,
  output requester_mask_t write_grant_o,
  output requester_mask_t w_taken_o,
  output requester_mask_t r_valid_o,
  output logic            r_last_o,
  output word_t           r_data_o,
  output requester_mask_t b_o
);

  typedef enum logic [1:0] {
    Idle,    // looks at the waiting requests
    Grant,   // ready to the winner
    Active,  // beats
    Respond  // write response
  } state_e;

  localparam int unsigned WaitWidth = $clog2(StagingRead);
  // The RAM is read this many cycles before the word is shown.
  localparam logic [WaitWidth-1:0] ReadAt = WaitWidth'(2);

  word_t mem [Words];

  state_e                state_d, state_q;
  logic                  write_d, write_q;
  requester_t            owner_d, owner_q;
  requester_t            pointer_d, pointer_q;
  beats_t                beats_d, beats_q;  // to come
  logic [IndexWidth-1:0] index_d, index_q;  // word of the next beat
  logic [WaitWidth-1:0]  wait_d, wait_q;    // cycles until the next read beat
  word_t                 data_q;
  requester_mask_t       owner, winner;
  logic                  take, give;

  assign owner         = requester_mask_t'(1) << owner_q;
  assign take          = state_q == Active && write_q && request_i[owner_q].w_valid;
  assign give          = state_q == Active && !write_q && wait_q == '0 && request_i[owner_q].r_ready;
  assign runs_read_o   = (state_q[1] && !write_q) ? owner : '0;  // Active or Respond
  assign runs_write_o  = (state_q[1] && write_q) ? owner : '0;
  assign read_grant_o  = (state_q == Grant && !write_q) ? owner : '0;
  assign write_grant_o = (state_q == Grant && write_q) ? owner : '0;
  assign w_taken_o     = take ? owner : '0;
  assign r_valid_o     = give ? owner : '0;
  assign r_last_o      = beats_q == beats_t'(1);
  assign r_data_o      = data_q;
  assign b_o           = (state_q == Respond) ? owner : '0;

  ktpu_arbiter #(
    .Requests (MaxRequesters)
  ) u_arbiter (
    .clk_i, .rst_ni,
    .request_i ((state_q == Idle) ? reads_i | writes_i : '0), .first_i (pointer_q), .grant_o (winner)
  );

  always_comb begin
    state_d   = state_q;
    write_d   = write_q;
    owner_d   = owner_q;
    pointer_d = pointer_q;
    beats_d   = beats_q;
    index_d   = index_q;
    wait_d    = (wait_q == '0) ? '0 : wait_q - WaitWidth'(1);
    unique case (state_q)
      Idle: begin
        if ((reads_i | writes_i) != '0) begin
          owner_d   = index_of(winner);
          pointer_d = after(owner_d);
          write_d   = writes_i[owner_d];
          state_d   = Grant;
        end
      end
      Grant: begin
        beats_d = write_q ? request_i[owner_q].aw_beats : request_i[owner_q].ar_beats;
        index_d = IndexWidth'((write_q ? request_i[owner_q].aw_addr : request_i[owner_q].ar_addr) >> 5);
        wait_d  = WaitWidth'(StagingRead - 1);
        state_d = Active;
      end
      Active: begin
        if (take || give) begin
          beats_d = beats_q - beats_t'(1);
          index_d = index_q + IndexWidth'(1);
          wait_d  = WaitWidth'(StagingRead - 1);
          if (beats_q == beats_t'(1)) state_d = write_q ? Respond : Idle;
        end
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      write_q   <= 1'b0;
      owner_q   <= '0;
      pointer_q <= '0;
      wait_q    <= '0;
    end else begin
      state_q   <= state_d;
      write_q   <= write_d;
      owner_q   <= owner_d;
      pointer_q <= pointer_d;
      wait_q    <= wait_d;
    end
  end

  always_ff @(posedge clk_i) begin : burst
    beats_q <= beats_d;
    index_q <= index_d;
  end

  always_ff @(posedge clk_i) begin : ram
    if (take) mem[index_q] <= request_i[owner_q].w_data;
    if (state_q == Active && !write_q && wait_q == ReadAt) data_q <= mem[index_q];
  end

  `KTPU_ASSERT(OwnerExists, owner_q < requester_t'(MaxRequesters))

endmodule
