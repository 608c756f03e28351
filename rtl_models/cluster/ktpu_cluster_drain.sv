// SPDX-License-Identifier: Apache-2.0
// Drain control and the register in front of the accumulator's command port (cluster.md sections 7, 9.1 and 9.4):
// the explicit drain's reads, the peer's adds, the count of results outstanding, and the barrier of a fused drain.

`include "ktpu_assert.svh"

module ktpu_cluster_drain
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
#(
  parameter int unsigned TileWidth = 12
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // Start pulses of the sequencer, with its instruction.
  input  logic                 gemm_start_i,
  input  logic                 drain_start_i,
  input  cluster_inst_t        inst_i,

  // An issue of an emitting sweep is counted in this cycle.
  input  logic                 counted_i,
  // Write port: a granule is taken in this cycle; taken since the last start pulse.
  input  logic                 taken_i,
  input  logic [15:0]          taken_count_i,
  // Pending peer sub-tile.
  input  logic                 peer_pending_i,
  input  logic                 peer_gate_i,
  input  logic [TileWidth-1:0] peer_tile_i,
  output logic                 peer_issued_o,

  // The command register, and whether the sweep's commands are lost in this cycle.
  output acc_op_e              command_op_o,
  output logic [TileWidth-1:0] command_tile_o,
  output logic                 owned_o,
  // A single command is in the accumulator: its cycle through + 11.
  output logic                 command_busy_o,

  output logic                 drain_busy_o,
  output logic                 stall_o,
  // An explicit drain still has tiles to read.
  output logic                 running_o
);

  localparam int unsigned CommandTail = 11;

  logic [15:0]          d_out_d, d_out_q;      // results issued and not taken, modulo 2^16
  logic                 run_d, run_q;          // explicit drain under way
  logic                 send_q, gap_d, gap_q;  // raw tiles take two cycles
  logic                 batch_d, batch_q;      // an emitting sweep's results count
  logic                 barrier_d, barrier_q;
  logic [15:0]          barrier_n_q, left_d, left_q;
  logic [TileWidth-1:0] tile_d, tile_q, command_tile_d, command_tile_q;
  acc_op_e              command_op_d, command_op_q;
  logic [3:0]           tail_d, tail_q;
  logic [1:0]           issued;
  logic [15:0]          n;

  assign n = (inst_i.n == 16'd0) ? 16'd1 : inst_i.n;

  assign stall_o        = d_out_q >= 16'(DrainLimit);
  assign drain_busy_o   = run_q || d_out_q != '0 || barrier_q;
  assign running_o      = run_q;
  assign owned_o        = command_op_q != AccNop || run_q || (!batch_q && d_out_q != '0);
  assign command_busy_o = command_op_q != AccNop || tail_q != '0;
  assign command_op_o   = command_op_q;
  assign command_tile_o = command_tile_q;

  always_comb begin
    run_d          = run_q;
    gap_d          = gap_q;
    batch_d        = batch_q;
    barrier_d      = barrier_q && taken_count_i < barrier_n_q;
    left_d         = left_q;
    tile_d         = tile_q;
    command_op_d   = AccNop;
    command_tile_d = command_tile_q;
    peer_issued_o  = 1'b0;
    issued         = 2'd0;
    if (run_q) begin
      if (gap_q) begin
        gap_d = 1'b0;
      end else if (!stall_o) begin
        command_op_d   = send_q ? AccSend : AccEmit;
        command_tile_d = tile_q;
        tile_d         = tile_q + TileWidth'(1);
        left_d         = left_q - 16'd1;
        issued         = send_q ? 2'd2 : 2'd1;
        gap_d          = send_q;
        if (left_q == 16'd1) run_d = 1'b0;
      end
    end else if (peer_pending_i && peer_gate_i && !drain_busy_o) begin
      command_op_d   = AccAddPeer;
      command_tile_d = peer_tile_i;
      peer_issued_o  = 1'b1;
    end
    d_out_d = d_out_q + 16'(issued) + 16'(counted_i && batch_q) - 16'(taken_i);

    // A start counts from 0, whatever is outstanding.
    if (gemm_start_i && inst_i.emit) begin
      batch_d = 1'b1;
      run_d   = 1'b0;
      d_out_d = '0;
    end
    if (drain_start_i && inst_i.fuse) barrier_d = taken_count_i < n;
    if (drain_start_i && !inst_i.fuse) begin
      batch_d = 1'b0;
      run_d   = 1'b1;
      gap_d   = 1'b0;
      left_d  = n;
      tile_d  = '0;
      d_out_d = '0;
    end
  end

  assign tail_d = (command_op_q != AccNop) ? 4'(CommandTail) : (tail_q == '0) ? '0 : tail_q - 4'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      d_out_q      <= '0;
      run_q        <= 1'b0;
      gap_q        <= 1'b0;
      batch_q      <= 1'b0;
      barrier_q    <= 1'b0;
      barrier_n_q  <= '0;
      command_op_q <= AccNop;
      tail_q       <= '0;
    end else begin
      d_out_q      <= d_out_d;
      run_q        <= run_d;
      gap_q        <= gap_d;
      batch_q      <= batch_d;
      barrier_q    <= barrier_d;
      command_op_q <= command_op_d;
      tail_q       <= tail_d;
      if (drain_start_i && inst_i.fuse) barrier_n_q <= n;
    end
  end

  always_ff @(posedge clk_i) begin
    left_q         <= left_d;
    tile_q         <= tile_d;
    command_tile_q <= command_tile_d;
    if (drain_start_i && !inst_i.fuse) send_q <= inst_i.dnode && inst_i.dbuf == 8'd2;
  end

  `KTPU_ASSERT(OneStartAtATime, !(gemm_start_i && drain_start_i))

endmodule
