// SPDX-License-Identifier: Apache-2.0
// The mover's number generator (memory.md section 10.3): Philox4x32 with ten rounds, four cycles a round, 128 bits in
// 40 cycles.
//
// Started in cycle t, the result is there from t + 40 on and stays until the next start. The key is the one of the
// start.

`include "ktpu_assert.svh"

module ktpu_mover_generator
  import ktpu_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,
  input  logic [63:0]  counter_i,  // the upper half of the counter is 0
  input  logic [63:0]  key_i,
  output logic [127:0] result_o    // word 0 lowest
);

  localparam int unsigned Rounds      = 10;
  localparam int unsigned RoundCycles = MoverGenerate / Rounds;
  localparam logic [31:0] Multiplier0 = 32'hD2511F53;
  localparam logic [31:0] Multiplier1 = 32'hCD9E8D57;
  localparam logic [31:0] Weyl0       = 32'h9E3779B9;
  localparam logic [31:0] Weyl1       = 32'hBB67AE85;

  localparam int unsigned RoundWidth = $clog2(Rounds + 1);
  localparam int unsigned PhaseWidth = $clog2(RoundCycles);

  logic [RoundWidth-1:0] left_d, left_q;  // rounds to do
  logic [PhaseWidth-1:0] phase_d, phase_q;
  logic [3:0][31:0]      counter_q;
  logic [1:0][31:0]      key_q;
  logic [63:0]           product0_q, product1_q;
  logic                  round;

  assign round    = left_q != '0 && phase_q == PhaseWidth'(RoundCycles - 2);
  assign result_o = counter_q;

  always_comb begin
    left_d  = left_q;
    phase_d = (left_q == '0 || phase_q == PhaseWidth'(RoundCycles - 1)) ? '0 : phase_q + PhaseWidth'(1);
    if (round) left_d = left_q - RoundWidth'(1);
    if (start_i) begin
      left_d  = RoundWidth'(Rounds);
      phase_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      phase_q <= '0;
    end else begin
      left_q  <= left_d;
      phase_q <= phase_d;
    end
  end

  always_ff @(posedge clk_i) begin : rounds
    if (left_q != '0) begin
      product0_q <= Multiplier0 * 64'(counter_q[0]);
      product1_q <= Multiplier1 * 64'(counter_q[2]);
    end
    if (start_i) begin
      counter_q <= {64'd0, counter_i};
      key_q     <= key_i;
    end else if (round) begin
      counter_q <= {product0_q[31:0], product0_q[63:32] ^ counter_q[3] ^ key_q[1], product1_q[31:0],
                    product1_q[63:32] ^ counter_q[1] ^ key_q[0]};
      key_q[0]  <= key_q[0] + Weyl0;
      key_q[1]  <= key_q[1] + Weyl1;
    end
  end

endmodule
