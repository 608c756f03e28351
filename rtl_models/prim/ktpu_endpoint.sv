// SPDX-License-Identifier: Apache-2.0
// What every compute unit has between the mesh and its own logic (fabric.md sections 8.1, 9 and 10): instruction,
// receive and completion FIFOs, the CU_CTRL registers, the output register and its priorities.
//
// Every output is a register or a function of registers, but in_busy_o of a unit that drops acknowledges:
// MEM_WR_ACK is taken and dropped even while the FIFOs are full (fabric.md section 8.2).

`include "ktpu_assert.svh"

module ktpu_endpoint
  import ktpu_pkg::*;
#(
  // Largest inst_depth_i and recv_depth_i; they size the storage.
  parameter int unsigned MaxInstDepth = 512,
  parameter int unsigned MaxRecvDepth = 512,
  // Whether MEM_WR_ACK ends here instead of in the receive FIFO.
  parameter bit          DropsAcks    = 1'b0,
  // For the capability word (CU_CTRL register 0).
  parameter logic [15:0] UnitType     = 16'd0,
  parameter logic [7:0]  UnitVersion  = 8'd0,
  parameter logic [3:0]  UnitBuffers  = 4'd0,
  localparam int unsigned InstDepthWidth = $clog2(MaxInstDepth + 1),
  localparam int unsigned RecvDepthWidth = $clog2(MaxRecvDepth + 1)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // Quasi-static: own coordinate, and the depths in use.
  input  pos_t                      x_i,
  input  pos_t                      y_i,
  input  logic [InstDepthWidth-1:0] inst_depth_i,
  input  logic [RecvDepthWidth-1:0] recv_depth_i,

  // Mesh.
  input  flit_t                     in_data_i,
  input  logic                      in_valid_i,
  output logic                      in_busy_o,
  // in_busy_o without a look at the input.
  output logic                      in_full_o,
  output flit_t                     out_data_o,
  output logic                      out_valid_o,
  input  logic                      out_busy_i,

  // An instruction may start: none is in flight, and there is room for its completion. It stays at the head until
  // the cycle after inst_accept_i.
  output logic                      inst_valid_o,
  output flit_t                     inst_o,
  input  logic                      inst_accept_i,
  // Retires the instruction in flight.
  input  logic                      done_i,
  input  logic                      done_fault_i,
  input  logic [31:0]               done_result_i,

  // Everything that is neither instruction nor CU_CTRL request.
  output logic                      recv_valid_o,
  output flit_t                     recv_o,
  input  logic                      recv_pop_i,
  // Nothing in the receive FIFO, not even on its way through.
  output logic                      recv_empty_o,

  // A flit offered while send_ready_o is high is on the output in the next cycle.
  output logic                      send_ready_o,
  input  logic                      send_valid_i,
  input  flit_t                     send_i,

  // CU_CTRL register 3.
  input  logic [63:0]               debug_i,

  // Nothing will happen here without an input.
  output logic                      quiet_o
);

  localparam int unsigned SignalDepthWidth = $clog2(SignalDepth + 1);

  // Input.
  logic    transfer, is_ack, is_inst, is_ctrl, to_recv;
  logic    inst_full, recv_full, signal_full;

  // FIFO heads.
  logic    inst_ready, signal_ready;
  flit_t   inst_head, signal_head, completion;

  // Instruction in flight.
  logic        in_flight_d, in_flight_q;
  logic        inst_pop_q;
  pos_t        inst_x_q, inst_y_q;
  logic [7:0]  inst_txn_q;
  logic        inst_last_q;

  // Words held.
  logic [15:0] inst_used_q, recv_used_q;
  logic [7:0]  signal_used_q;

  // CU_CTRL.
  logic        reply_valid_d, reply_valid_q, reply_load, reply_leaves;
  pos_t        reply_x_q, reply_y_q;
  logic [7:0]  reply_txn_q, reply_index_q;
  logic [63:0] reply_value_q;
  logic [63:0] ctrl_word;
  logic [31:0] retired_q, busy_cycles_q;
  logic        working;
  ctrl_t       request, reply;
  signal_t     signal;

  // Output register.
  logic    free, load;
  flit_t   next_out, out_q;
  logic    out_valid_d, out_valid_q;

  assign is_ack    = in_data_i.kind == FlitMemWrAck;
  assign is_inst   = in_data_i.kind == FlitCuInst;
  assign is_ctrl   = in_data_i.kind == FlitCuCtrl;
  assign to_recv   = !is_inst && !is_ctrl && !(DropsAcks && is_ack);
  assign in_full_o = inst_full || recv_full;
  assign in_busy_o = in_full_o && !(DropsAcks && in_valid_i && is_ack);
  assign transfer  = in_valid_i && !in_busy_o;

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (MaxInstDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (FifoReset)
  ) u_inst_fifo (
    .clk_i, .rst_ni,
    .depth_i (inst_depth_i),
    .wvalid_i (transfer && is_inst), .wdata_i (in_data_i), .busy_o (inst_full),
    .rvalid_o (inst_ready), .rdata_o (inst_head), .rready_i (inst_pop_q)
  );

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (MaxRecvDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (FifoReset)
  ) u_recv_fifo (
    .clk_i, .rst_ni,
    .depth_i (recv_depth_i),
    .wvalid_i (transfer && to_recv), .wdata_i (in_data_i), .busy_o (recv_full),
    .rvalid_o (recv_valid_o), .rdata_o (recv_o), .rready_i (recv_pop_i)
  );

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (SignalDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (FifoReset)
  ) u_signal_fifo (
    .clk_i, .rst_ni,
    .depth_i (SignalDepthWidth'(SignalDepth)),
    .wvalid_i (done_i && in_flight_q), .wdata_i (completion), .busy_o (signal_full),
    .rvalid_o (signal_ready), .rdata_o (signal_head), .rready_i (free)
  );

  assign inst_valid_o = inst_ready && !in_flight_q && !signal_full;
  assign inst_o       = inst_head;

  always_comb begin
    in_flight_d = in_flight_q;
    if (done_i) in_flight_d = 1'b0;
    if (inst_accept_i) in_flight_d = 1'b1;
  end

  // Completion (fabric.md section 9).
  always_comb begin
    signal          = '0;
    signal.code     = done_fault_i ? SignalFault : inst_last_q ? SignalBatchComplete : SignalInstComplete;
    signal.arg      = (!done_fault_i && inst_last_q) ? 32'(inst_txn_q) : done_result_i;
    completion         = '0;
    completion.dst_x   = inst_x_q;
    completion.dst_y   = inst_y_q;
    completion.src_x   = x_i;
    completion.src_y   = y_i;
    completion.kind    = FlitCuSignal;
    completion.txn     = inst_txn_q;
    completion.last    = 1'b1;
    completion.payload = signal;
  end

  // CU_CTRL (fabric.md section 10). One reply may be pending; a request that meets it is lost, also in the cycle in
  // which the reply leaves.
  assign working      = in_flight_q || inst_ready || signal_ready;
  assign request      = in_data_i.payload;
  assign reply_load   = transfer && is_ctrl && !reply_valid_q;
  assign reply_leaves = free && !signal_ready && reply_valid_q;

  always_comb begin
    ctrl_word = '0;
    case (request.index)
      CtrlCuCaps: begin
        ctrl_word[CuCapsCuTypeLsb+:CuCapsCuTypeWidth]       = UnitType;
        ctrl_word[CuCapsCuVersionLsb+:CuCapsCuVersionWidth] = UnitVersion;
        ctrl_word[CuCapsNBuffersLsb+:CuCapsNBuffersWidth]   = UnitBuffers;
        ctrl_word[CuCapsInstDepthLsb+:CuCapsInstDepthWidth] = 16'(inst_depth_i);
      end
      CtrlCuStatus: begin
        ctrl_word[CuStatusBusyLsb] = working;
        ctrl_word[CuStatusInstSpaceLsb+:CuStatusInstSpaceWidth] = 16'(inst_depth_i) - inst_used_q;
      end
      CtrlCuCounters: ctrl_word = {retired_q, busy_cycles_q};
      CtrlCuDbg:      ctrl_word = debug_i;
      default:        ctrl_word = '0;
    endcase
  end

  always_comb begin
    reply_valid_d = reply_valid_q;
    if (reply_leaves) reply_valid_d = 1'b0;
    if (reply_load) reply_valid_d = 1'b1;
  end

  always_comb begin
    reply       = '0;
    reply.op    = 8'd2;
    reply.index = reply_index_q;
    reply.value = reply_value_q;
  end

  // Output: completions, then replies, then the unit.
  assign free         = !out_valid_q || !out_busy_i;
  assign send_ready_o = free && !signal_ready && !reply_valid_q;
  assign load         = signal_ready || reply_valid_q || send_valid_i;
  assign out_valid_d  = free ? load : out_valid_q;

  always_comb begin
    next_out = send_i;
    if (signal_ready) begin
      next_out = signal_head;
    end else if (reply_valid_q) begin
      next_out         = '0;
      next_out.dst_x   = reply_x_q;
      next_out.dst_y   = reply_y_q;
      next_out.src_x   = x_i;
      next_out.src_y   = y_i;
      next_out.kind    = FlitCuCtrl;
      next_out.txn     = reply_txn_q;
      next_out.last    = 1'b1;
      next_out.payload = reply;
    end
  end

  assign out_data_o  = out_q;
  assign out_valid_o = out_valid_q;

  assign recv_empty_o = recv_used_q == '0;
  assign quiet_o      = !out_valid_q && !reply_valid_q && !inst_pop_q && (signal_used_q == '0) &&
                        ((inst_used_q == '0) || in_flight_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      in_flight_q   <= 1'b0;
      inst_pop_q    <= 1'b0;
      reply_valid_q <= 1'b0;
      out_valid_q   <= 1'b0;
      inst_used_q   <= '0;
      recv_used_q   <= '0;
      signal_used_q <= '0;
      retired_q     <= '0;
      busy_cycles_q <= '0;
    end else begin
      in_flight_q   <= in_flight_d;
      inst_pop_q    <= inst_accept_i;
      reply_valid_q <= reply_valid_d;
      out_valid_q   <= out_valid_d;
      inst_used_q   <= inst_used_q + 16'(transfer && is_inst) - 16'(inst_pop_q);
      recv_used_q   <= recv_used_q + 16'(transfer && to_recv) - 16'(recv_pop_i);
      signal_used_q <= signal_used_q + 8'(done_i && in_flight_q) - 8'(free && signal_ready);
      retired_q     <= retired_q + 32'(done_i);
      busy_cycles_q <= busy_cycles_q + 32'(working);
    end
  end

  always_ff @(posedge clk_i) begin : data
    if (inst_accept_i) begin
      inst_x_q    <= inst_head.src_x;
      inst_y_q    <= inst_head.src_y;
      inst_txn_q  <= inst_head.txn;
      inst_last_q <= inst_head.last;
    end
    if (reply_load) begin
      reply_x_q     <= in_data_i.src_x;
      reply_y_q     <= in_data_i.src_y;
      reply_txn_q   <= in_data_i.txn;
      reply_index_q <= request.index;
      reply_value_q <= ctrl_word;
    end
    if (free && load) out_q <= next_out;
  end

  // The sender keeps a refused flit on the wires, and so does this unit (fabric.md section 5, L1).
  `KTPU_ASSERT(RefusedInputStays, in_valid_i && in_busy_o |=> in_valid_i && $stable(in_data_i))
  `KTPU_ASSERT(RefusedOutputStays, out_valid_o && out_busy_i |=> out_valid_o && $stable(out_data_o))
  `KTPU_ASSERT(AcceptsOnlyWhatIsThere, inst_accept_i |-> inst_ready && !in_flight_q)
  `KTPU_ASSERT(PopsOnlyWhatIsThere, recv_pop_i |-> recv_valid_o)
  `KTPU_ASSERT(SendsOnlyWhenReady, send_valid_i |-> send_ready_o)
  `KTPU_ASSERT(NoCompletionIsLost, done_i && in_flight_q |-> !signal_full)

endmodule
