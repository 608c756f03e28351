// SPDX-License-Identifier: Apache-2.0
// The accumulator: command port, tile memory and 16 lanes (cluster.md section 7). One command a cycle; a command
// reads its tile at the end of its cycle + 2 and writes it at the end of its cycle + 6. Nothing stalls on a command
// that comes too early (REUSE_MIN).

`include "ktpu_assert.svh"

module ktpu_acu
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
#(
  parameter int unsigned MaxTiles = 4096,
  localparam int unsigned TileWidth = $clog2(MaxTiles)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // Quasi-static: sub-tiles in use - 1.
  input  logic [TileWidth-1:0]    tile_mask_i,

  // The sweep's command. Lost while the drain sequencer owns the port.
  input  logic                    sweep_valid_i,
  input  acc_op_e                 sweep_op_i,
  input  logic [TileWidth-1:0]    sweep_tile_i,
  input  logic [PartsWidth-1:0]   parts_i,
  input  logic [ScalesWidth-1:0]  a_scales_i,
  input  logic [ScalesWidth-1:0]  b_scales_i,
  input  logic [6:0]              anchor_i,

  // Single commands: EMIT, SEND, ADD_PEER, or NOP.
  input  logic                    owned_i,
  input  acc_op_e                 command_op_i,
  input  logic [TileWidth-1:0]    command_tile_i,
  input  logic [SubTileWidth-1:0] peer_i,

  // What is at the port.
  output acc_op_e                 op_o,
  output logic [TileWidth-1:0]    tile_o,
  // Results for the drain queue.
  output logic                    push_o,
  output logic [PayloadWidth-1:0] push_data_o
);

  logic [SubTileWidth-1:0] mem [MaxTiles];

  acc_op_e                 op0;
  logic [TileWidth-1:0]    tile0;
  // Index n - 1: stage n.
  logic [AcuEmit:1][2:0]   op_q;
  logic [AcuEmit:0][2:0]   op;
  logic [TileWidth-1:0]    tile_q [AcuWrite];

  logic [AcuSend:2]        any;
  logic [AcuWrite:0]       chain;
  logic [SubTileWidth-1:0] read3_q, read4_q, peer_q, result, stored;
  logic [HighWidth-1:0]    high_q;
  logic [PayloadWidth-1:0] fp16;
  logic                    write;

  assign op0   = owned_i ? command_op_i : sweep_valid_i ? sweep_op_i : AccNop;
  assign tile0 = (owned_i ? command_tile_i : sweep_tile_i) & tile_mask_i;
  assign op    = {op_q, op0};

  assign op_o   = op0;
  assign tile_o = tile0;

  always_comb begin
    for (int unsigned n = 2; n <= AcuSend; n++) any[n] = op[n] != AccNop;
    for (int unsigned n = 0; n <= AcuWrite; n++) begin
      chain[n] = op[n] == AccLoad || op[n] == AccAdd || op[n] == AccAddEmit;
    end
  end

  assign write = chain[AcuWrite] || op[AcuWrite] == AccAddPeer;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      op_q <= '0;
    end else begin
      op_q <= op[AcuEmit-1:0];
    end
  end

  always_ff @(posedge clk_i) begin : tiles
    tile_q[0] <= tile0;
    for (int unsigned n = 1; n < AcuWrite; n++) tile_q[n] <= tile_q[n-1];
    if (any[2]) read3_q <= mem[tile_q[1]];
    if (any[3]) read4_q <= read3_q;
    if (write) mem[tile_q[AcuWrite-1]] <= result;
    // Peer sub-tiles are at least three cycles apart, so one register holds them until stage 3.
    if (op[0] == AccAddPeer) peer_q <= peer_i;
    if (op[AcuSend] == AccSend) high_q <= stored[PayloadWidth+:HighWidth];
  end

  for (genvar lane = 0; lane < NumLanes; lane++) begin : gen_lane
    ktpu_acu_lane u_lane (
      .clk_i,
      .chain_i      (chain[3:0]),
      .peer_i       (op[3] == AccAddPeer),
      .stage_i      (any[7:4]),
      .part_i       (parts_i[PartWidth*lane+:PartWidth]),
      .scale_a_i    (a_scales_i[8*(lane/4)+:8]),
      .scale_b_i    (b_scales_i[8*(lane%4)+:8]),
      .anchor_i     (anchor_i),
      .peer_value_i (peer_q[AccWidth*lane+:AccWidth]),
      .tile_i       (read4_q[AccWidth*lane+:AccWidth]),
      .zero_tile_i  (op[4] == AccLoad),
      .zero_other_i (op[4] == AccEmit || op[4] == AccSend),
      .result_o     (result[AccWidth*lane+:AccWidth]),
      .stored_o     (stored[AccWidth*lane+:AccWidth]),
      .fp16_o       (fp16[16*lane+:16])
    );
  end

  // SEND: low half in stage 7, high half in stage 8.
  always_comb begin
    push_o      = 1'b1;
    push_data_o = fp16;
    if (op[AcuSend] == AccSend) begin
      push_data_o = stored[PayloadWidth-1:0];
    end else if (op[AcuEmit] == AccSend) begin
      push_data_o = PayloadWidth'(high_q);
    end else begin
      push_o = op[AcuEmit] == AccEmit || op[AcuEmit] == AccAddEmit;
    end
  end

  `KTPU_ASSERT(OneResultACycle, op[AcuSend] == AccSend |->
                                !(op[AcuEmit] inside {AccSend, AccEmit, AccAddEmit}))
  `KTPU_ASSERT_INIT(PipelineIsAsSpecified, AcuWrite == 6 && AcuSend == 7 && AcuEmit == 8 && TileRead == 2)

endmodule
