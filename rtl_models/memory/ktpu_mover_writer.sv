// SPDX-License-Identifier: Apache-2.0
// The mover's write engine with its command and data FIFO (memory.md section 10.4): takes write commands in order,
// waits until the data of one is resident, and sends it as a burst.

`include "ktpu_assert.svh"

module ktpu_mover_writer
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_ni,

  input  logic           push_i,
  input  mover_command_t command_i,
  output logic           full_o,
  input  logic           data_i,  // a word of read data comes
  input  word_t          r_data_i,

  // Registers as they stand.
  input  word_t          fill_i,
  input  logic [63:0]    seed_i,

  output logic           aw_valid_o,
  output addr_t          aw_addr_o,
  output beats_t         aw_beats_o,
  output logic           w_valid_o,
  output word_t          w_data_o,
  input  logic           aw_grant_i,
  input  logic           w_taken_i,
  input  logic           b_i,

  output logic           starved_o,     // waits for data of its command; one cycle old
  output logic           looks_idle_o,  // no command in sight, no response to come
  output logic           unfinished_o,  // a command in the FIFO, in sight or not
  output logic           released_o     // a word of read data leaves for memory
);

  typedef enum logic [1:0] {
    Idle,
    Arm,       // command held, data missing
    Generate,  // the generator works on the word
    Data       // burst presented, up to its last beat
  } state_e;

  localparam int unsigned CommandWidth  = $clog2(MoverCommandDepth + FifoExtra + 1);
  localparam int unsigned ArrivedWidth  = $clog2(MoverDataDepth + FifoExtra + 1);
  localparam int unsigned ResponseWidth = $clog2(MoverResponses + 2);
  localparam int unsigned TimerWidth    = $clog2(2 * MoverGenerate);

  logic                     command_valid, command_pop;
  mover_command_t           head;
  logic                     data_valid, data_pop;
  word_t                    data_head;
  logic [CommandWidth-1:0]  commands_d, commands_q;  // in the FIFO
  logic [ArrivedWidth-1:0]  arrived_d, arrived_q;    // words in the data FIFO
  state_e                   state_d, state_q;
  mover_command_t           command_d, command_q;
  logic [7:0]               beat_d, beat_q;
  logic [ResponseWidth-1:0] responses_d, responses_q;  // bursts presented and not answered
  logic [TimerWidth-1:0]    timer_d, timer_q;          // cycles left in Generate
  logic                     starved_d, starved_q;
  logic                     aw_valid_d, aw_valid_q;
  logic                     burst_done, present, take;
  logic                     start_half;
  logic                     half;
  logic [127:0]             generated;
  logic [127:0]             lower_q;
  logic                     unused_data_full;

  logic full;  // of commands

  // The FIFO must show a word, and be it the leaving one.
  function automatic logic resident(mover_kind_e kind, logic [7:0] count, logic shows,
                                    logic [ArrivedWidth-1:0] words);
    return kind != MoverData || (shows && words >= ArrivedWidth'(count));
  endfunction

  assign released_o   = w_taken_i && command_q.kind == MoverData;
  assign data_pop     = released_o;
  assign burst_done   = w_taken_i && beat_q + 8'd1 == command_q.count;
  assign full_o       = full;
  assign starved_o    = starved_q;
  assign unfinished_o = commands_q != '0;
  assign looks_idle_o = state_q == Idle && responses_q == '0 && !command_valid;
  assign commands_d   = commands_q + CommandWidth'(push_i) - CommandWidth'(command_pop);
  assign arrived_d    = arrived_q + ArrivedWidth'(data_i) - ArrivedWidth'(released_o);

  ktpu_fifo #(
    .Width ($bits(mover_command_t)), .MaxDepth (MoverCommandDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (0)
  ) u_commands (
    .clk_i, .rst_ni, .depth_i (($clog2(MoverCommandDepth + 1))'(MoverCommandDepth)),
    .wvalid_i (push_i), .wdata_i (command_i), .busy_o (full),
    .rvalid_o (command_valid), .rdata_o (head), .rready_i (command_pop)
  );

  ktpu_fifo #(
    .Width (PayloadWidth), .MaxDepth (MoverDataDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (0)
  ) u_data (
    .clk_i, .rst_ni, .depth_i (($clog2(MoverDataDepth + 1))'(MoverDataDepth)),
    .wvalid_i (data_i), .wdata_i (r_data_i), .busy_o (unused_data_full),
    .rvalid_o (data_valid), .rdata_o (data_head), .rready_i (data_pop)
  );

  always_comb begin : engine
    state_d     = state_q;
    command_d   = command_q;
    beat_d      = beat_q + 8'(w_taken_i);
    timer_d     = timer_q - TimerWidth'(1);
    aw_valid_d  = aw_valid_q && !aw_grant_i;
    starved_d   = 1'b0;
    present     = 1'b0;
    take        = 1'b0;
    command_pop = 1'b0;
    start_half  = 1'b0;
    unique case (state_q)
      Idle: begin
        starved_d = command_valid && !resident(head.kind, head.count, data_valid, arrived_q);
        take      = 1'b1;
      end
      Arm: begin
        present   = resident(command_q.kind, command_q.count, data_valid, arrived_q);
        starved_d = !present;
      end
      Generate: begin
        present    = timer_q == '0;
        start_half = timer_q == TimerWidth'(MoverGenerate - 1);
      end
      default: take = burst_done;
    endcase
    if (take) begin
      state_d = Idle;
      if (command_valid && responses_q < ResponseWidth'(MoverResponses)) begin
        command_pop = 1'b1;
        command_d   = head;
        if (head.kind == MoverRandom) begin
          state_d    = Generate;
          timer_d    = TimerWidth'(2 * MoverGenerate - 2);
          start_half = 1'b1;
        end else if (resident(head.kind, head.count, data_valid, arrived_q - ArrivedWidth'(released_o))) begin
          present = 1'b1;
        end else begin
          state_d = Arm;
        end
      end
    end
    if (present) begin
      state_d    = Data;
      beat_d     = '0;
      aw_valid_d = 1'b1;
    end
    responses_d = responses_q + ResponseWidth'(present) - ResponseWidth'(b_i);
  end

  // --- The generator: the lower half of the word first
  assign half = state_q == Generate;

  ktpu_mover_generator u_generator (
    .clk_i,
    .rst_ni,
    .start_i   (start_half),
    .counter_i ({28'd0, half ? command_q.addr[39:37] : head.addr[39:37], half,
                 half ? command_q.addr[36:5] : head.addr[36:5]}),
    .key_i     (seed_i),
    .result_o  (generated)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      commands_q  <= '0;
      arrived_q   <= '0;
      responses_q <= '0;
      starved_q   <= 1'b0;
      aw_valid_q  <= 1'b0;
    end else begin
      state_q     <= state_d;
      commands_q  <= commands_d;
      arrived_q   <= arrived_d;
      responses_q <= responses_d;
      starved_q   <= starved_d;
      aw_valid_q  <= aw_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin : burst
    command_q <= command_d;
    beat_q    <= beat_d;
    timer_q   <= timer_d;
    if (half && start_half) lower_q <= generated;
  end

  assign aw_valid_o = aw_valid_q;
  assign aw_addr_o  = command_q.addr;
  assign aw_beats_o = beats_t'(command_q.count);
  assign w_valid_o  = state_q == Data && (command_q.kind != MoverData || data_valid);

  always_comb begin : word
    unique case (command_q.kind)
      MoverData: w_data_o = data_head;
      MoverFill: w_data_o = fill_i;
      default:   w_data_o = {generated, lower_q};
    endcase
  end

  `KTPU_ASSERT(TakesOnlyWhatIsOffered, w_taken_i |-> w_valid_o)
  `KTPU_ASSERT(ResponseIsExpected, b_i |-> responses_q != '0)

endmodule
