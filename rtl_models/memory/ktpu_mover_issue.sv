// SPDX-License-Identifier: Apache-2.0
// The mover's issue engine (memory.md section 10.4): walks the descriptors, one element a cycle, and turns them into
// read requests and write commands.

`include "ktpu_assert.svh"

module ktpu_mover_issue
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           early_done_i,  // quasi-static, quirk M1

  // Registers as they stand.
  input  logic           go_i,          // a GO write in this cycle; ignored unless idle then
  input  logic [2:0]     mode_i,
  input  logic [1:0]     width_i,
  input  logic           coalesce_i,
  input  logic [2:0]     cap_i,
  input  addr_t          index_address_i,
  input  logic [15:0]    index_count_i,
  input  logic [31:0]    pitch_i,
  input  logic [15:0]    row_words_i,

  // Walkers.
  output logic           restart_o,
  output logic           step_source_o,
  output logic           step_destination_o,
  input  addr_t          source_i,
  input  addr_t          source_base_i,
  input  logic           source_valid_i,
  input  addr_t          destination_i,
  input  logic           destination_valid_i,
  input  logic           destination_last_i,

  // Read channel and what comes back.
  output logic           ar_valid_o,
  output addr_t          ar_addr_o,
  output beats_t         ar_beats_o,
  input  logic           ar_grant_i,
  input  logic           r_valid_i,
  input  logic           r_last_i,
  input  word_t          r_data_i,
  output logic           data_o,        // the word that comes is data, not indices

  // Write engine.
  output logic           push_o,
  output mover_command_t command_o,
  input  logic           full_i,
  input  logic           starved_i,
  input  logic           looks_idle_i,  // no command in sight, no response to come
  input  logic           unfinished_i,  // a command out of sight
  input  logic           released_i,    // a word of read data leaves for memory

  output logic           idle_o,
  output logic [23:0]    moves_o,       // completed without a fault
  output logic [3:0]     fault_o
);

  localparam logic [3:0] FaultNone        = 4'd0;
  localparam logic [3:0] FaultIndexLength = 4'd1;
  localparam logic [3:0] FaultMode        = 4'd4;
  localparam logic [3:0] FaultWidth       = 4'd5;
  localparam logic [3:0] FaultAlignment   = 4'd6;

  localparam logic [2:0] ModeTranspose = 3'd1;  // not built
  localparam logic [2:0] ModeGather    = 3'd2;
  localparam logic [2:0] ModeGenerate  = 3'd3;
  localparam logic [2:0] ModeFill      = 3'd4;

  localparam int unsigned IndicesPerWord  = PayloadWidth / 32;
  localparam int unsigned IndexWords      = MoverMaxIndices / IndicesPerWord;
  localparam int unsigned IndexWordWidth  = $clog2(IndexWords);
  localparam int unsigned OutWidth        = $clog2(MoverReads + 1);
  localparam int unsigned ReservedWidth   = $clog2(MoverDataDepth + 1);

  typedef enum logic [2:0] {
    Idle,
    Start,
    Indices,  // loads the index vector of a gather
    Walk,
    CloseRead,
    CloseWrite,
    Drain,
    Done
  } state_e;

  // One step of the walk on its way to the examination.
  typedef struct packed {
    logic  present;
    logic  last;
    logic  source_valid;
    logic  destination_valid;
    addr_t source;
    addr_t destination;
  } element_t;

  typedef struct packed {
    logic        open;
    mover_kind_e kind;
    addr_t       base;
    addr_t       next;
    logic [7:0]  count;
    logic [6:0]  room;  // words it may still grow by
  } run_t;

  typedef struct packed {
    logic       valid;
    addr_t      addr;
    logic [7:0] beats;
  } address_t;

  // Never leaves its 4 KB page and never exceeds the cap.
  function automatic run_t start_run(addr_t addr, mover_kind_e kind, logic [6:0] cap_less_1);
    run_t       run;
    logic [6:0] page;
    page      = ~addr[11:5];
    run.open  = 1'b1;
    run.kind  = kind;
    run.base  = addr;
    run.next  = addr + addr_t'(WordBytes);
    run.count = 8'd1;
    run.room  = (page < cap_less_1) ? page : cap_less_1;
    return run;
  endfunction

  function automatic run_t extend_run(run_t old);
    run_t run;
    run       = old;
    run.next  = old.next + addr_t'(WordBytes);
    run.count = old.count + 8'd1;
    run.room  = old.room - 7'd1;
    return run;
  endfunction

  state_e                   state_d, state_q;
  logic [3:0]               fault_d, fault_q;
  logic [23:0]              moves_d, moves_q;
  logic                     produced_last_d, produced_last_q;
  element_t                 first_d, first_q;    // just produced
  element_t                 second_d, second_q;  // examined
  run_t                     read_d, read_q;
  run_t                     write_d, write_q;
  address_t                 request_d, request_q;
  address_t                 skid0_d, skid0_q, skid1_d, skid1_q;  // on the read channel, skid0 first
  logic [OutWidth-1:0]      outstanding_d, outstanding_q;        // read bursts
  logic [ReservedWidth-1:0] reserved_d, reserved_q;              // words of the data FIFO

  word_t                    indices_q [IndexWords];
  logic [IndexWordWidth:0]  loaded_d, loaded_q;                  // index words
  logic [2:0]               phase_d, phase_q;
  logic [31:0]              row_d, row_q;
  logic [15:0]              word_d, word_q;
  logic [31:0]              index;
  logic [6:0]               cap_less_1;

  logic                     can_request, close_read, load_index, advance, produce;

  assign can_request = !request_q.valid && outstanding_q != OutWidth'(MoverReads);
  assign cap_less_1  = (cap_i == '0) ? 7'd127 : 7'((8'd1 << (cap_i - 3'd1)) - 8'd1);
  assign idle_o      = state_q == Idle;
  assign moves_o     = moves_q;
  assign fault_o     = fault_q;
  assign data_o      = r_valid_i && state_q != Indices;
  assign ar_valid_o  = skid0_q.valid;
  assign ar_addr_o   = skid0_q.addr;
  assign ar_beats_o  = beats_t'(skid0_q.beats);

  // --- Examination of the element in the second stage
  logic        misaligned, writes, reads;
  mover_kind_e kind;
  logic        extend_read, extend_write, read_closes, write_closes;
  logic        no_request, no_command, no_room, stalls;

  always_comb begin : examine
    misaligned = second_q.destination_valid && second_q.destination[4:0] != '0;
    writes     = second_q.destination_valid && !misaligned;
    kind       = MoverData;
    if (mode_i == ModeFill)              kind = MoverFill;
    else if (mode_i == ModeGenerate)     kind = MoverRandom;
    else if (!second_q.source_valid)     kind = MoverFill;
    reads        = writes && kind == MoverData;
    extend_read  = reads && read_q.open && second_q.source == read_q.next && read_q.room != '0;
    extend_write = writes && kind != MoverRandom && write_q.open && write_q.kind == kind &&
                   second_q.destination == write_q.next && write_q.room != '0;
    read_closes  = read_q.open && !extend_read;
    write_closes = write_q.open && !extend_write;
    no_request   = read_closes && !can_request;
    no_command   = write_closes && full_i;
    no_room      = reads && reserved_q >= ReservedWidth'(MoverDataDepth);
    stalls       = no_request || no_command || no_room;
  end

  always_comb begin : step
    state_d    = state_q;
    fault_d    = fault_q;
    moves_d    = moves_q;
    read_d     = read_q;
    write_d    = write_q;
    reserved_d = reserved_q - ReservedWidth'(released_i);
    restart_o  = 1'b0;
    close_read = 1'b0;
    load_index = 1'b0;
    push_o     = 1'b0;
    advance    = 1'b0;
    unique case (state_q)
      Start: begin
        state_d = Idle;
        if (mode_i == ModeTranspose || mode_i > ModeFill) begin
          fault_d = FaultMode;
        end else if (width_i == 2'd3) begin
          fault_d = FaultWidth;
        end else if (mode_i == ModeGather &&
                     (index_count_i == '0 || index_count_i > 16'(MoverMaxIndices))) begin
          fault_d = FaultIndexLength;
        end else begin
          state_d      = (mode_i == ModeGather) ? Indices : Walk;
          restart_o    = 1'b1;
          read_d.open  = 1'b0;
          write_d.open = 1'b0;
        end
      end
      Indices: begin
        if (outstanding_q == '0) begin
          if (17'({loaded_q, 3'd0}) >= 17'(index_count_i)) state_d = Walk;
          else load_index = 1'b1;
        end
      end
      Walk: begin
        advance = !second_q.present || !stalls;
        if (second_q.present && stalls) begin
          // The run that holds the data of the waiting commands could never close otherwise.
          close_read = no_command && read_q.open && can_request && starved_i;
        end else if (second_q.present) begin
          close_read = read_closes;
          push_o     = write_closes;
          if (read_closes)  read_d.open  = 1'b0;
          if (write_closes) write_d.open = 1'b0;
          if (reads) begin
            read_d     = extend_read ? extend_run(read_q) : start_run(second_q.source, kind, cap_less_1);
            reserved_d = reserved_d + ReservedWidth'(1);
          end
          if (writes) begin
            write_d = extend_write ? extend_run(write_q)
                                   : start_run(second_q.destination, kind, coalesce_i ? cap_less_1 : 7'd0);
          end
          if (misaligned) fault_d = FaultAlignment;
          if (misaligned || second_q.last) state_d = CloseRead;
        end
        if (stalls && close_read) read_d.open = 1'b0;
      end
      CloseRead: begin
        if (!read_q.open || can_request) begin
          close_read  = read_q.open;
          read_d.open = 1'b0;
          state_d     = CloseWrite;
        end
      end
      CloseWrite: begin
        if (!write_q.open || !full_i) begin
          push_o       = write_q.open;
          write_d.open = 1'b0;
          state_d      = Drain;
        end
      end
      Drain: begin
        if (outstanding_q == '0 && looks_idle_i && (!unfinished_i || early_done_i)) state_d = Done;
      end
      Done: begin
        if (fault_q == FaultNone) moves_d = moves_q + 24'd1;
        state_d = Idle;
      end
      default: ;
    endcase
    if (go_i && state_d == Idle) begin
      state_d = Start;
      fault_d = FaultNone;
    end
  end

  assign command_o = '{addr: write_q.base, count: write_q.count, kind: write_q.kind};

  // --- Production: the present position of the walkers goes into the first stage
  assign index = indices_q[row_q[IndexWordWidth+2:3]][32*row_q[2:0]+:32];

  always_comb begin : production
    logic [31:0] offset;
    logic        loaded;
    first_d            = first_q;
    second_d           = second_q;
    produced_last_d    = produced_last_q;
    phase_d            = phase_q;
    row_d              = row_q;
    word_d             = word_q;
    produce            = 1'b0;
    offset             = '0;
    loaded             = row_q < 32'({loaded_q, 3'd0});
    step_source_o      = 1'b0;
    step_destination_o = 1'b0;
    if (advance) begin
      second_d        = first_q;
      first_d.present = 1'b0;
      if (!produced_last_q) begin
        produce = mode_i != ModeGather || phase_q >= 3'(MoverGather - 1);
        phase_d = produce ? '0 : phase_q + 3'd1;
      end
      if (produce) begin
        offset                    = loaded ? index * pitch_i : '0;
        first_d.present           = 1'b1;
        first_d.destination       = destination_i;
        first_d.destination_valid = destination_valid_i;
        first_d.last              = destination_last_i;
        produced_last_d           = destination_last_i;
        step_destination_o        = 1'b1;
        if (mode_i == ModeGather) begin
          first_d.source       = source_base_i + addr_t'(offset) + (addr_t'(word_q) << 5);
          first_d.source_valid = 1'b1;
          word_d               = word_q + 16'd1;
          if (17'(word_q) + 17'd1 >= 17'(row_words_i)) begin
            word_d = '0;
            row_d  = row_q + 32'd1;
          end
        end else begin
          first_d.source       = source_i;
          first_d.source_valid = source_valid_i;
          step_source_o        = 1'b1;
        end
      end
    end
    if (restart_o) begin
      first_d.present  = 1'b0;
      second_d.present = 1'b0;
      produced_last_d  = 1'b0;
      phase_d          = '0;
      row_d            = '0;
      word_d           = '0;
    end
  end

  // --- Request register, and the skid behind it, whose registers are the read channel
  always_comb begin : requests
    logic move;
    move      = request_q.valid && !skid1_q.valid;
    request_d = request_q;
    skid0_d   = ar_grant_i ? skid1_q : skid0_q;
    skid1_d   = skid1_q;
    if (ar_grant_i) skid1_d.valid = 1'b0;
    if (move) begin
      if (skid0_d.valid) skid1_d = request_q;
      else               skid0_d = request_q;
      request_d.valid = 1'b0;
    end
    if (close_read) begin
      request_d = '{valid: 1'b1, addr: read_q.base, beats: read_q.count};
    end else if (load_index) begin
      request_d = '{valid: 1'b1, addr: index_address_i + (addr_t'(loaded_q) << 5), beats: 8'd1};
    end
    outstanding_d = outstanding_q + OutWidth'(close_read || load_index) - OutWidth'(r_valid_i && r_last_i);
    loaded_d      = loaded_q;
    if (restart_o)                            loaded_d = '0;
    else if (r_valid_i && state_q == Indices) loaded_d = loaded_q + (IndexWordWidth + 1)'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      fault_q       <= FaultNone;
      moves_q       <= '0;
      read_q        <= '0;
      write_q       <= '0;
      request_q     <= '0;
      skid0_q       <= '0;
      skid1_q       <= '0;
      outstanding_q <= '0;
      reserved_q    <= '0;
    end else begin
      state_q       <= state_d;
      fault_q       <= fault_d;
      moves_q       <= moves_d;
      read_q        <= read_d;
      write_q       <= write_d;
      request_q     <= request_d;
      skid0_q       <= skid0_d;
      skid1_q       <= skid1_d;
      outstanding_q <= outstanding_d;
      reserved_q    <= reserved_d;
    end
  end

  always_ff @(posedge clk_i) begin : walk
    produced_last_q <= produced_last_d;
    first_q         <= first_d;
    second_q        <= second_d;
    phase_q         <= phase_d;
    row_q           <= row_d;
    word_q          <= word_d;
    loaded_q        <= loaded_d;
  end

  always_ff @(posedge clk_i) begin : index_ram
    if (r_valid_i && state_q == Indices) indices_q[loaded_q[IndexWordWidth-1:0]] <= r_data_i;
  end

  `KTPU_ASSERT(RequestRegisterIsFree, close_read || load_index |-> !request_q.valid)
  `KTPU_ASSERT(CommandFits, push_o |-> !full_i)

endmodule
