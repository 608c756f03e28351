// SPDX-License-Identifier: Apache-2.0
// The matmul cluster (cluster.md, single-clock build, accumulator mantissa of 14 bits).

`include "ktpu_assert.svh"

module ktpu_cluster
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
#(
  // Sizes of the storage. What is in use is set by the quasi-static inputs.
  parameter int unsigned MaxTiles     = 4096,
  parameter int unsigned MaxEntries   = 512,
  parameter int unsigned MaxInstDepth = 512,
  parameter int unsigned MaxRecvDepth = 512,
  localparam int unsigned TileWidth      = $clog2(MaxTiles),
  localparam int unsigned IndexWidth     = $clog2(MaxEntries),
  localparam int unsigned InstDepthWidth = $clog2(MaxInstDepth + 1),
  localparam int unsigned RecvDepthWidth = $clog2(MaxRecvDepth + 1)
) (
  input  logic                      clk_i,
  // Asynchronous assert, low.
  input  logic                      rst_ni,

  // Quasi-static: change only while rst_ni is low.
  input  pos_t                      x_i,
  input  pos_t                      y_i,
  input  pos_t                      memory_x_i,
  input  pos_t                      memory_y_i,
  input  logic [TileWidth-1:0]      tile_mask_i,  // sub-tiles - 1; all masks are powers of two - 1
  input  logic [IndexWidth-1:0]     a_mask_i,     // L1 entries - 1
  input  logic [IndexWidth-1:0]     b_mask_i,
  input  logic [InstDepthWidth-1:0] inst_depth_i,
  input  logic [RecvDepthWidth-1:0] recv_depth_i,
  input  logic                      quirk_c1_i,   // 1: as the reference machine

  input  flit_t                     in_data_i,
  input  logic                      in_valid_i,
  output logic                      in_busy_o,
  // in_busy_o without a look at the input: low for no input's sake.
  output logic                      in_full_o,
  output flit_t                     out_data_o,
  output logic                      out_valid_o,
  input  logic                      out_busy_i,

  // For the simulator; a chip leaves them open. Nothing will happen without an input; what happens inside.
  output logic                      quiet_o,
  output cluster_events_t           events_o
);

  // Endpoint.
  logic        inst_valid, inst_accept, done, done_fault, recv_valid, recv_pop, recv_empty, send_ready, send_valid;
  logic [31:0] done_result;
  flit_t       inst, recv, send;
  logic        endpoint_quiet, seq_quiet, receive_quiet, writeback_quiet;
  logic [31:0] compute_cycles_q, fill_cycles_q;

  // Sequencer.
  cluster_inst_t current;
  destination_t  destination;
  logic          filling, request_valid, request_sent, gemm_start, drain_start, capture, restart;
  flit_t         request;

  // Receiver.
  logic                    entry, word_valid, word_side;
  logic [IndexWidth-1:0]   word_entry;
  logic [1:0]              word_index;
  logic [PayloadWidth-1:0] word;
  logic                    peer_pending, peer_gate, peer_issued, peer_stream, peer_open, reject;
  logic [TileWidth-1:0]    peer_tile;
  logic [SubTileWidth-1:0] peer_value;
  logic                    ack_valid, ack_sent;
  flit_t                   ack;

  // Sweep and array.
  logic                   issue, counted, running, sweep_busy, sweep_gemm_busy, gemm_busy;
  logic [IndexWidth-1:0]  a_entry, b_entry;
  logic [TileWidth-1:0]   issue_tile, sweep_tile;
  acc_op_e                issue_op;
  logic [2:0]             sweep_op;
  logic [6:0]             anchor;
  logic                   operands_valid, parts_valid;
  logic [EntryWidth-1:0]  a, b;
  logic [PartsWidth-1:0]  parts;
  logic [ScalesWidth-1:0] a_scales, b_scales;

  // Drain and write-back.
  acc_op_e                 command_op;
  logic [TileWidth-1:0]    command_tile;
  acc_op_e                 port_op;
  logic [TileWidth-1:0]    port_tile;
  logic                    l1_write;
  logic                    owned, command_busy, drain_busy, stall, drain_running;
  logic                    push, taken, flit_valid, flit_sent, write_back_idle;
  logic [PayloadWidth-1:0] push_data;
  logic [15:0]             taken_count;
  flit_t                   flit;

  ktpu_endpoint #(
    .MaxInstDepth (MaxInstDepth), .MaxRecvDepth (MaxRecvDepth), .DropsAcks (1'b1),
    .UnitType (UnitMg), .UnitVersion (8'd4), .UnitBuffers (4'd2)
  ) u_endpoint (
    .clk_i, .rst_ni, .x_i, .y_i, .inst_depth_i, .recv_depth_i,
    .in_data_i, .in_valid_i, .in_busy_o, .in_full_o, .out_data_o, .out_valid_o, .out_busy_i,
    .inst_valid_o (inst_valid), .inst_o (inst), .inst_accept_i (inst_accept),
    .done_i (done), .done_fault_i (done_fault), .done_result_i (done_result),
    .recv_valid_o (recv_valid), .recv_o (recv), .recv_pop_i (recv_pop), .recv_empty_o (recv_empty),
    .send_ready_o (send_ready), .send_valid_i (send_valid), .send_i (send),
    .debug_i ({compute_cycles_q, fill_cycles_q}),
    .quiet_o (endpoint_quiet)
  );

  // Datapath priorities: acknowledge, FILL request, write-back (section 10).
  assign ack_sent     = send_ready && ack_valid;
  assign request_sent = send_ready && !ack_valid && request_valid;
  assign flit_sent    = send_ready && !ack_valid && !request_valid && flit_valid;
  assign send_valid   = ack_sent || request_sent || flit_sent;
  assign send         = ack_valid ? ack : request_valid ? request : flit;

  ktpu_cluster_seq u_seq (
    .clk_i, .rst_ni, .x_i, .y_i, .memory_x_i, .memory_y_i, .quirk_c1_i,
    .inst_valid_i (inst_valid), .inst_i (inst), .inst_accept_o (inst_accept),
    .done_o (done), .done_fault_o (done_fault), .done_result_o (done_result),
    .inst_o (current), .filling_o (filling), .entry_i (entry),
    .request_valid_o (request_valid), .request_o (request), .request_sent_i (request_sent),
    .gemm_start_o (gemm_start), .drain_start_o (drain_start), .capture_o (capture),
    .sweep_busy_i (sweep_busy), .gemm_busy_i (gemm_busy), .drain_busy_i (drain_busy),
    .write_back_idle_i (write_back_idle), .peer_open_i (peer_open), .peer_stream_i (peer_stream),
    .reject_i (reject), .quiet_o (seq_quiet)
  );

  ktpu_cluster_receive #(.IndexWidth (IndexWidth), .TileWidth (TileWidth)) u_receive (
    .clk_i, .rst_ni, .x_i, .y_i, .a_mask_i, .b_mask_i, .tile_mask_i,
    .recv_valid_i (recv_valid), .recv_i (recv), .recv_pop_o (recv_pop),
    .filling_i (filling), .fill_side_i (current.sel), .fill_bank_i (current.fbank), .entry_o (entry),
    .word_valid_o (word_valid), .word_side_o (word_side), .word_entry_o (word_entry),
    .word_index_o (word_index), .word_o (word),
    .gemm_busy_i (gemm_busy), .pending_o (peer_pending), .gate_o (peer_gate), .pending_tile_o (peer_tile),
    .issued_i (peer_issued), .value_o (peer_value), .peer_stream_o (peer_stream), .peer_open_o (peer_open),
    .reject_o (reject), .ack_valid_o (ack_valid), .ack_o (ack), .ack_sent_i (ack_sent),
    .quiet_o (receive_quiet)
  );

  ktpu_cluster_sweep #(.TileWidth (TileWidth), .EntryIndex (IndexWidth)) u_sweep (
    .clk_i, .rst_ni, .start_i (gemm_start), .inst_i (current), .stall_i (stall),
    .issue_o (issue), .a_entry_o (a_entry), .b_entry_o (b_entry), .tile_o (issue_tile), .op_o (issue_op),
    .counted_o (counted), .anchor_o (anchor), .running_o (running),
    .sweep_busy_o (sweep_busy), .gemm_busy_o (sweep_gemm_busy)
  );

  ktpu_cluster_l1 #(.MaxEntries (MaxEntries)) u_l1 (
    .clk_i, .rst_ni, .a_mask_i, .b_mask_i,
    .word_valid_i (word_valid), .word_side_i (word_side), .word_entry_i (word_entry),
    .word_index_i (word_index), .word_i (word),
    .write_o (l1_write),
    .read_i (issue), .a_entry_i (a_entry), .b_entry_i (b_entry),
    .valid_o (operands_valid), .a_o (a), .b_o (b)
  );

  ktpu_mac_array u_array (
    .clk_i, .rst_ni, .valid_i (operands_valid), .a_i (a), .b_i (b),
    .valid_o (parts_valid), .parts_o (parts), .a_scales_o (a_scales), .b_scales_o (b_scales)
  );

  // The command travels beside the operands.
  ktpu_delay #(.Width (3 + TileWidth), .Cycles (IssueToCommand)) u_command (
    .clk_i, .rst_ni, .valid_i (issue),
    .data_i ({issue_op, issue_tile}),
    .data_o ({sweep_op, sweep_tile})
  );

  ktpu_acu #(.MaxTiles (MaxTiles)) u_acu (
    .clk_i, .rst_ni, .tile_mask_i,
    .sweep_valid_i (parts_valid), .sweep_op_i (acc_op_e'(sweep_op)), .sweep_tile_i (sweep_tile),
    .parts_i (parts), .a_scales_i (a_scales), .b_scales_i (b_scales), .anchor_i (anchor),
    .owned_i (owned), .command_op_i (command_op), .command_tile_i (command_tile), .peer_i (peer_value),
    .op_o (port_op), .tile_o (port_tile), .push_o (push), .push_data_o (push_data)
  );

  ktpu_cluster_drain #(.TileWidth (TileWidth)) u_drain (
    .clk_i, .rst_ni, .gemm_start_i (gemm_start), .drain_start_i (drain_start), .inst_i (current),
    .counted_i (counted), .taken_i (taken), .taken_count_i (taken_count),
    .peer_pending_i (peer_pending), .peer_gate_i (peer_gate), .peer_tile_i (peer_tile),
    .peer_issued_o (peer_issued),
    .command_op_o (command_op), .command_tile_o (command_tile), .owned_o (owned),
    .command_busy_o (command_busy), .drain_busy_o (drain_busy), .stall_o (stall), .running_o (drain_running)
  );

  assign gemm_busy = sweep_gemm_busy || command_busy;
  assign restart   = (gemm_start && current.emit) || (drain_start && !current.fuse);

  always_comb begin
    destination.addr   = {current.addr_hi, current.addr};
    destination.node   = current.dnode;
    destination.dst_x  = current.dst_x;
    destination.dst_y  = current.dst_y;
    destination.buf_id = current.dbuf;
    destination.flags  = current.dflags;
    destination.ack_y  = current.dack_y;
    destination.ack_x  = current.dack_x;
    destination.mesh   = current.dmesh;
    destination.fin    = current.dfin;
  end

  ktpu_cluster_writeback u_writeback (
    .clk_i, .rst_ni, .x_i, .y_i, .memory_x_i, .memory_y_i,
    .push_i (push), .push_data_i (push_data), .restart_i (restart),
    .capture_i (capture), .destination_i (destination), .drain_busy_i (drain_busy),
    .taken_o (taken), .taken_count_o (taken_count),
    .flit_valid_o (flit_valid), .flit_o (flit), .flit_sent_i (flit_sent),
    .idle_o (write_back_idle), .quiet_o (writeback_quiet)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : counters
    if (!rst_ni) begin
      compute_cycles_q <= '0;
      fill_cycles_q    <= '0;
    end else begin
      compute_cycles_q <= compute_cycles_q + 32'(gemm_busy);
      fill_cycles_q    <= fill_cycles_q + 32'(filling);
    end
  end

  // A sweep that is stalled for ever counts as quiet.
  assign quiet_o = endpoint_quiet && seq_quiet && receive_quiet && writeback_quiet &&
                   (recv_empty || recv_valid) && !drain_running && !command_busy &&
                   (running ? stall : !sweep_gemm_busy);

  always_comb begin
    events_o             = '0;
    events_o.tile        = 16'(port_tile);
    events_o.command     = port_op;
    events_o.lost        = (owned && parts_valid) ? acc_op_e'(sweep_op) : AccNop;
    events_o.l1_write    = l1_write;
    events_o.push        = push;
    events_o.drain_busy  = drain_busy;
    events_o.gemm_busy   = gemm_busy;
    events_o.sweep_busy  = sweep_busy;
    events_o.drain_start = drain_start;
    events_o.gemm_start  = gemm_start;
    events_o.fault       = done_fault;
    events_o.retire      = done;
    events_o.issue       = inst_accept;
  end

  `KTPU_ASSERT(SettingsAreStatic, $stable({x_i, y_i, memory_x_i, memory_y_i, tile_mask_i, a_mask_i, b_mask_i,
                                           inst_depth_i, recv_depth_i, quirk_c1_i}))
  `KTPU_ASSERT(MasksArePowersOfTwo, (tile_mask_i & (tile_mask_i + TileWidth'(1))) == '0 &&
                                    (a_mask_i & (a_mask_i + IndexWidth'(1))) == '0 &&
                                    (b_mask_i & (b_mask_i + IndexWidth'(1))) == '0)
  `KTPU_ASSERT(PartsComeWithTheirCommand, parts_valid |-> sweep_op != AccNop)

endmodule
