// SPDX-License-Identifier: Apache-2.0
// The first-word-fall-through FIFO that every latency of the machine is built from (fabric.md section 1.2).
//
// * A word written in cycle w is the head from max(w + Latency, cycle of the previous pop + 1) on.
// * Holds depth_i + Extra words; busy_o is a register's function and never looks at wvalid_i.
// * Leaves reset late: busy_o stays high for ResetCycles cycles after reset falls. Words offered while it is
//   high are not taken.
// Storage is not reset.

`include "ktpu_assert.svh"

module ktpu_fifo #(
  // Bits of a word.
  parameter int unsigned Width = 288,
  // Largest depth_i that may be asked for; sizes the storage.
  parameter int unsigned MaxDepth = 32,
  // Cycles from write to readable, at least 2.
  parameter int unsigned Latency = 3,
  // Words held beyond the depth.
  parameter int unsigned Extra = 2,
  // Cycles after reset in which nothing is taken; may be 0.
  parameter int unsigned ResetCycles = 5,
  localparam int unsigned DepthWidth = $clog2(MaxDepth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Depth in use, 1..MaxDepth. Quasi-static: changes only while rst_ni is low.
  input  logic [DepthWidth-1:0] depth_i,

  input  logic                  wvalid_i,
  input  logic [Width-1:0]      wdata_i,
  output logic                  busy_o,

  output logic                  rvalid_o,
  output logic [Width-1:0]      rdata_o,
  input  logic                  rready_i
);

  localparam int unsigned Words      = MaxDepth + Extra;
  localparam int unsigned PtrWidth   = $clog2(Words);
  localparam int unsigned CountWidth = $clog2(Words + 1);
  localparam int unsigned ResetWidth = (ResetCycles == 0) ? 1 : $clog2(ResetCycles + 1);

  logic [Width-1:0] mem [Words];

  logic [PtrWidth-1:0]   wptr_d, wptr_q;
  logic [PtrWidth-1:0]   rptr_d, rptr_q;
  logic [CountWidth-1:0] used_d, used_q;        // words held
  logic [CountWidth-1:0] visible_d, visible_q;  // of these, old enough to be read
  logic [Latency-2:0]    pending_d, pending_q;  // bit k: a word was written k+1 cycles ago
  logic [ResetWidth-1:0] settle_d, settle_q;    // cycles left in which the FIFO leaves reset

  logic push, pop;

  assign busy_o   = (used_q == CountWidth'(depth_i) + CountWidth'(Extra)) || (settle_q != '0);
  assign push     = wvalid_i && !busy_o;
  assign rvalid_o = (visible_q != '0);
  assign pop      = rvalid_o && rready_i;
  assign rdata_o  = mem[rptr_q];

  assign pending_d = (Latency - 1)'({pending_q, push});
  assign used_d    = used_q + CountWidth'(push) - CountWidth'(pop);
  assign visible_d = visible_q + CountWidth'(pending_q[Latency-2]) - CountWidth'(pop);
  assign settle_d  = (settle_q == '0) ? '0 : settle_q - ResetWidth'(1);

  always_comb begin
    wptr_d = wptr_q;
    rptr_d = rptr_q;
    if (push) wptr_d = (wptr_q == PtrWidth'(Words - 1)) ? '0 : wptr_q + PtrWidth'(1);
    if (pop)  rptr_d = (rptr_q == PtrWidth'(Words - 1)) ? '0 : rptr_q + PtrWidth'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q    <= '0;
      rptr_q    <= '0;
      used_q    <= '0;
      visible_q <= '0;
      pending_q <= '0;
      settle_q  <= ResetWidth'(ResetCycles);
    end else begin
      wptr_q    <= wptr_d;
      rptr_q    <= rptr_d;
      used_q    <= used_d;
      visible_q <= visible_d;
      pending_q <= pending_d;
      settle_q  <= settle_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[wptr_q] <= wdata_i;
  end

  `KTPU_ASSERT_INIT(LatencyIsSupported, Latency >= 2)
  `KTPU_ASSERT_INIT(MaxDepthIsSupported, MaxDepth >= 1)
  `KTPU_ASSERT(DepthIsInRange, depth_i != '0 && depth_i <= DepthWidth'(MaxDepth))
  `KTPU_ASSERT(NeverOverfull, used_q <= CountWidth'(depth_i) + CountWidth'(Extra))
  `KTPU_ASSERT(VisibleIsHeld, visible_q <= used_q)

endmodule
