// SPDX-License-Identifier: Apache-2.0
// The cluster's sequencer: one instruction at a time (cluster.md sections 5 and 11).

`include "ktpu_assert.svh"

module ktpu_cluster_seq
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,

  // Quasi-static.
  input  pos_t          x_i,
  input  pos_t          y_i,
  input  pos_t          memory_x_i,
  input  pos_t          memory_y_i,
  // Bit QuirkC1: a GEMM may start in the cycle between a peer stream's descriptor and peer_open_i.
  input  logic          quirk_c1_i,

  // Endpoint.
  input  logic          inst_valid_i,
  input  flit_t         inst_i,
  output logic          inst_accept_o,
  output logic          done_o,
  output logic          done_fault_o,
  output logic [31:0]   done_result_o,

  // The current or last instruction.
  output cluster_inst_t inst_o,
  // In the FILL state; the last word of an entry was taken in this cycle.
  output logic          filling_o,
  input  logic          entry_i,
  output logic          request_valid_o,
  output flit_t         request_o,
  input  logic          request_sent_i,

  // Pulses: a sweep or a drain starts; the destination is to be captured.
  output logic          gemm_start_o,
  output logic          drain_start_o,
  output logic          capture_o,

  // Levels that starts and ends wait for.
  input  logic          sweep_busy_i,
  input  logic          gemm_busy_i,
  input  logic          drain_busy_i,
  input  logic          write_back_idle_i,
  input  logic          peer_open_i,
  input  logic          peer_stream_i,
  // A CU_DATA stream is rejected in this cycle.
  input  logic          reject_i,

  // Waits for something that is not the passage of time.
  output logic          quiet_o
);

  typedef enum logic [3:0] {
    Idle,
    Fill,
    GemmStart,
    GemmPulse,
    GemmRetire,
    DrainStart,
    DrainPulse,
    DrainWait,
    Done
  } state_e;

  state_e        state_d, state_q;
  logic          entered_d, entered_q;  // first cycle after the decode: inst_ready
  logic          exec_done_q, exec_fault_q;
  logic          fault_d, fault_q;      // a stream was rejected since the last retirement
  cluster_inst_t inst_q;
  logic [7:0]    received_q;
  logic [15:0]   done_count_q;
  logic          request_valid_d, request_valid_q;
  flit_t         request_d, request_q;

  logic          decode, counts, leads;
  logic [7:0]    node, gm, gn;
  logic          wide, gemm_may_start, drain_may_start, fill_complete;
  cluster_inst_t inst_in;
  mem_req_t      mem_req;

  assign inst_in = inst_i.payload;
  assign decode  = state_q == Idle && inst_valid_i;
  assign counts  = inst_q.op == ClusterFill || inst_q.op == ClusterGemm || inst_q.op == ClusterDrain;

  // The lowest node id asks for all (section 5.1).
  assign node  = {y_i, x_i};
  assign leads = !((inst_q.npeer > 2'd0 && node >= inst_q.peer0) ||
                   (inst_q.npeer > 2'd1 && node >= inst_q.peer1) ||
                   (inst_q.npeer > 2'd2 && node >= inst_q.peer2));

  assign fill_complete = 16'(received_q) == ((inst_q.n == 16'd0) ? 16'd1 : inst_q.n);

  // Start conditions (sections 5.2 to 5.4). A sweep of five sub-tiles or more does not wait for the accumulator.
  assign gm   = at_least_1(inst_q.gm);
  assign gn   = at_least_1(inst_q.gn);
  assign wide = !((gm == 8'd1 && gn <= 8'd4) || (gn == 8'd1 && gm <= 8'd4) || (gm == 8'd2 && gn == 8'd2));
  assign gemm_may_start  = !(wide ? sweep_busy_i : gemm_busy_i) && !(inst_q.emit && drain_busy_i) &&
                           !peer_open_i && (quirk_c1_i || !peer_stream_i);
  assign drain_may_start = !peer_open_i && (inst_q.fuse || !gemm_busy_i);

  always_comb begin
    state_d   = state_q;
    entered_d = 1'b0;
    unique case (state_q)
      Idle: begin
        if (inst_valid_i) begin
          entered_d = 1'b1;
          unique case (inst_in.op)
            ClusterFill:  state_d = Fill;
            ClusterGemm:  state_d = GemmStart;
            ClusterDrain: state_d = DrainStart;
            default:      state_d = Done;
          endcase
        end
      end
      Fill:       if (fill_complete) state_d = Done;
      GemmStart:  if (gemm_may_start) state_d = GemmPulse;
      GemmPulse:  state_d = GemmRetire;
      GemmRetire: state_d = Done;
      DrainStart: if (drain_may_start) state_d = DrainPulse;
      DrainPulse: state_d = DrainWait;
      DrainWait:  if (!drain_busy_i && write_back_idle_i) state_d = Done;
      Done:       state_d = Idle;
      default:    state_d = Idle;
    endcase
  end

  always_comb begin
    fault_d = fault_q;
    if (state_q == Done) fault_d = 1'b0;
    if (reject_i) fault_d = 1'b1;
  end

  always_comb begin
    mem_req        = '0;
    mem_req.addr   = {inst_q.addr_hi, inst_q.addr};
    mem_req.len    = 8'd3;
    mem_req.flags[MemFlagStream]  = 1'b1;
    mem_req.flags[MemFlagBLayout] = inst_q.sel;
    mem_req.flags[MemFlagQuant]   = !inst_q.preq;
    mem_req.count  = inst_q.n[7:0];
    mem_req.peer0  = inst_q.peer0;
    mem_req.peer1  = inst_q.peer1;
    mem_req.peer2  = inst_q.peer2;
    mem_req.n_peer = inst_q.npeer;
    request_d         = '0;
    request_d.dst_x   = memory_x_i;
    request_d.dst_y   = memory_y_i;
    request_d.src_x   = x_i;
    request_d.src_y   = y_i;
    request_d.kind    = FlitMemRdReq;
    request_d.txn     = inst_q.eoff;
    request_d.last    = 1'b1;
    request_d.payload = mem_req;
  end

  always_comb begin
    request_valid_d = request_valid_q;
    if (request_sent_i) request_valid_d = 1'b0;
    if (state_q == Fill && entered_q && leads) request_valid_d = 1'b1;
  end

  assign inst_accept_o   = entered_q;
  assign done_o          = exec_done_q;
  assign done_fault_o    = exec_fault_q;
  assign done_result_o   = 32'(done_count_q);
  assign inst_o          = inst_q;
  assign filling_o       = state_q == Fill;
  assign request_valid_o = request_valid_q;
  assign request_o       = request_q;
  assign gemm_start_o    = state_q == GemmPulse;
  assign drain_start_o   = state_q == DrainPulse;
  // Also in every cycle of the wait: a trap for programs, and the machine's way (section 5.5).
  assign capture_o       = state_q == DrainStart || (state_q == GemmStart && inst_q.emit);

  always_comb begin
    quiet_o = !entered_q && !exec_done_q && !request_valid_q;
    unique case (state_q)
      Idle:       ;
      Fill:       quiet_o &= !fill_complete;
      GemmStart:  quiet_o &= !gemm_may_start;
      DrainStart: quiet_o &= !drain_may_start;
      DrainWait:  quiet_o &= drain_busy_i || !write_back_idle_i;
      default:    quiet_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= Idle;
      entered_q       <= 1'b0;
      exec_done_q     <= 1'b0;
      exec_fault_q    <= 1'b0;
      fault_q         <= 1'b0;
      inst_q          <= '0;
      received_q      <= '0;
      done_count_q    <= '0;
      request_valid_q <= 1'b0;
    end else begin
      state_q         <= state_d;
      entered_q       <= entered_d;
      exec_done_q     <= state_q == Done;
      fault_q         <= fault_d;
      request_valid_q <= request_valid_d;
      if (state_q == Done) begin
        exec_fault_q <= fault_q;
        done_count_q <= done_count_q + 16'(counts);
      end
      if (decode) begin
        inst_q     <= inst_in;
        received_q <= '0;
      end else begin
        received_q <= received_q + 8'(entry_i);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Fill && entered_q && leads) request_q <= request_d;
  end

  `KTPU_ASSERT(EntriesOnlyInFill, entry_i |-> filling_o)
  `KTPU_ASSERT(StateIsKnown, state_q <= Done)

endmodule
