// SPDX-License-Identifier: Apache-2.0
// The command engine (orchestrator.md section 8): executes a list of WRITE, POLL and DONE on the control agent's
// registers. A slave to the host, a master on one of the agent's register buses.

`include "ktpu_assert.svh"

module ktpu_command_engine
  import ktpu_pkg::*;
#(
  // Entries of the command RAM that are built.
  parameter int unsigned MaxCommands = 128,
  localparam int unsigned PcWidth = $clog2(MaxCommands)
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // Quasi-static: the last entry in use.
  input  logic [PcWidth-1:0] pc_last_i,

  // The host's register bus: at most one write beat and one read sample a cycle.
  input  logic               host_write_i,
  input  logic               host_read_i,
  input  logic [31:0]        host_write_offset_i,
  input  logic [31:0]        host_read_offset_i,
  input  logic [63:0]        host_data_i,
  output logic [63:0]        host_data_o,  // in the cycle after host_read_i

  // The agent's: a beat of one cycle.
  output logic               bus_write_o,
  output logic               bus_read_o,
  output logic [31:0]        bus_offset_o,
  output logic [63:0]        bus_data_o,
  input  logic [63:0]        bus_data_i,  // in the cycle after bus_read_o

  // Nothing will change without an input.
  output logic               quiet_o
);

  localparam logic [3:0] OpWrite = 4'd1, OpPoll = 4'd2, OpDone = 4'd3;
  localparam int unsigned CommandBytesLog2 = 5;  // four fields of eight bytes
  // From a failed read to the next: the wait, then issue, address, beat, response.
  localparam int unsigned WaitCycles = EnginePoll - 4;
  localparam int unsigned WaitWidth  = $clog2(WaitCycles);

  typedef enum logic [2:0] {
    Idle,
    Fetch,
    Issue,
    Address,
    Beat,
    Response,
    Wait
  } state_e;

  logic [MaxCommands-1:0][3:0] opcode_q;
  logic [63:0] address  [MaxCommands];
  logic [63:0] data     [MaxCommands];
  logic [63:0] mask     [MaxCommands];

  // `next`: as the command leaves it; `_d`: after a GO.
  state_e               state_next, state_d, state_q;
  logic [PcWidth-1:0]   pc_next, pc_d, pc_q;
  logic [63:0]          polls_next, polls_d, polls_q;
  logic                 done_next, done_d, done_q, error_next, error_d, error_q;
  logic [63:0]          code_d, code_q;
  logic [WaitWidth-1:0] wait_d, wait_q;
  logic                 go_d, go_q;
  logic [63:0]          read_value, read_q;

  logic [3:0]           opcode;
  logic                 met;
  logic                 ram_write;
  logic [31:0]          ram_offset;
  logic [PcWidth-1:0]   ram_command;
  logic [1:0]           ram_field;

  assign opcode = opcode_q[pc_q];
  assign met    = opcode != OpPoll || (bus_data_i & mask[pc_q]) == data[pc_q];

  always_comb begin : execute
    state_next = state_q;
    pc_next    = pc_q;
    polls_next = polls_q;
    done_next  = done_q;
    error_next = error_q;
    code_d     = code_q;
    wait_d     = wait_q;
    case (state_q)
      Fetch: begin
        if (opcode == OpWrite || opcode == OpPoll) begin
          state_next = Issue;
        end else begin
          state_next = Idle;
          done_next  = 1'b1;
          error_next = opcode != OpDone;
          if (opcode == OpDone) code_d = data[pc_q];
        end
      end
      Issue:   state_next = Address;
      Address: state_next = Beat;
      Beat:    state_next = Response;
      Response: begin
        if (opcode == OpPoll) polls_next = polls_q + 64'd1;
        wait_d = WaitWidth'(WaitCycles - 1);
        if (met) begin
          state_next = Fetch;
          pc_next    = (pc_q == pc_last_i) ? '0 : pc_q + PcWidth'(1);
        end else begin
          state_next = Wait;
        end
      end
      Wait: begin
        wait_d = wait_q - WaitWidth'(1);
        if (wait_q == '0) state_next = Issue;
      end
      default: ;
    endcase
  end

  // The host's access comes after the command's step of the same cycle.
  assign go_d = host_write_i && host_write_offset_i == 32'(EngineCtrl) && host_data_i[0] && state_next == Idle;

  always_comb begin : start
    state_d = state_next;
    pc_d    = pc_next;
    polls_d = polls_next;
    done_d  = done_next;
    error_d = error_next;
    if (go_q) begin
      state_d = Fetch;
      pc_d    = '0;
      polls_d = '0;
      done_d  = 1'b0;
      error_d = 1'b0;
    end
  end

  always_comb begin : read
    case (host_read_offset_i)
      32'(EngineCtrl):  read_value = {61'b0, error_next, done_next, state_next != Idle};
      32'(EnginePc):    read_value = 64'(pc_next);
      32'(EngineCode):  read_value = code_d;
      32'(EnginePolls): read_value = polls_next;
      default:          read_value = '0;
    endcase
  end

  assign ram_offset  = host_write_offset_i - 32'(EngineCmd);
  assign ram_command = ram_offset[CommandBytesLog2+:PcWidth];
  assign ram_field   = ram_offset[CommandBytesLog2-1-:2];
  assign ram_write   = host_write_i && host_write_offset_i >= 32'(EngineCmd) &&
                       ram_offset[31:CommandBytesLog2+PcWidth] == '0 && ram_command <= pc_last_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      pc_q    <= '0;
      polls_q <= '0;
      done_q  <= 1'b0;
      error_q <= 1'b0;
      code_q  <= '0;
      go_q    <= 1'b0;
    end else begin
      state_q <= state_d;
      pc_q    <= pc_d;
      polls_q <= polls_d;
      done_q  <= done_d;
      error_q <= error_d;
      code_q  <= code_d;
      go_q    <= go_d;
    end
  end

  // Of the command RAM only the opcodes are reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opcode_q <= '0;
    end else if (ram_write && ram_field == 2'd0) begin
      opcode_q[ram_command] <= host_data_i[3:0];
    end
  end
  always_ff @(posedge clk_i) begin
    if (ram_write && ram_field == 2'd1) address[ram_command] <= host_data_i;
    if (ram_write && ram_field == 2'd2) data[ram_command] <= host_data_i;
    if (ram_write && ram_field == 2'd3) mask[ram_command] <= host_data_i;
  end
  always_ff @(posedge clk_i) begin
    wait_q <= wait_d;
    if (host_read_i) read_q <= read_value;
  end

  assign host_data_o  = read_q;
  assign bus_write_o  = state_q == Beat && opcode == OpWrite;
  assign bus_read_o   = state_q == Beat && opcode != OpWrite;
  assign bus_offset_o = address[pc_q][31:0];
  assign bus_data_o   = data[pc_q];
  assign quiet_o      = state_q == Idle && !go_q;

  `KTPU_ASSERT(LastIsStatic, $stable(pc_last_i))
  `KTPU_ASSERT(CounterIsInRange, pc_q <= pc_last_i)
  `KTPU_ASSERT(OneBeatAtATime, !(bus_write_o && bus_read_o))

endmodule
