// SPDX-License-Identifier: Apache-2.0
// Fetch, decode and control of everything (vector.md sections 10, 12 and 13). A state acts in its last cycle, `now`;
// the distances between the states are those of section 12.3. Cycle names F, E and W are the specification's.

`include "ktpu_assert.svh"

module ktpu_vector_sequencer
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // Quasi-static: bit QuirkV<n> is 1 where the core is as the reference machine.
  input  logic [QuirkV12:0] quirks_i,

  // Envelopes (section 2.1).
  input  logic             inst_valid_i,
  input  word_t            inst_i,
  output logic             inst_accept_o,
  output logic             idle_o,
  output logic             done_o,
  output logic             done_fault_o,
  output logic [31:0]      done_result_o,
  output logic [31:0]      cycles_o,      // CU_CTRL register 3
  output vector_events_t   events_o,

  output logic             imem_we_o,
  output logic             imem_re_o,
  output logic [8:0]       imem_at_o,     // both ways
  input  logic [31:0]      imem_word_i,

  // Descriptors and walk.
  output logic             desc_write_o,
  output logic [2:0]       walk_at_o,
  output logic             walk_start_o,
  output addr_t            walk_offset_o,
  input  logic             walk_too_long_i,

  // Lanes.
  output mode_e            mode_o,
  input  logic             empty_i,
  input  logic             sum_valid_i,
  input  num_t             sum_i,

  // Groups and reductions (ktpu_vector_issue).
  output logic             head_o,
  output logic             take_o,
  input  logic             taken_last_i,
  output logic             issue_o,
  input  logic             issue_done_i,
  output logic             reduce_start_o,
  output logic             reduce_o,
  input  logic             reduce_done_i,
  output logic             tail_o,

  // Scalars (ktpu_vector_scalars).
  input  num_t             s_a_i,
  output logic             s_we_o,
  output logic [3:0]       s_at_o,
  output num_t             s_data_o,
  output logic             k3_we_o,
  output num_t             k3_o,

  // Predicates (ktpu_vector_predicates).
  output logic [7:0]       length_o,
  output logic             read_o,        // ANY or ALL reads
  output logic             read_all_o,
  input  logic             read_late_i,
  input  logic             read_value_i,

  // ktpu_vector_mover.
  output logic             move_start_o,
  input  logic             move_done_i,
  input  logic             move_extract_i,
  input  num_t             move_number_i,
  output fields_t          word_o,
  output logic [3:0]       chunks_o,

  // L1.
  input  logic             complete_i,
  input  logic             burst_error_i,
  output logic             burst_error_clear_o
);

  typedef enum logic [4:0] {
    Idle,
    Fetch,          // F
    Execute,        // E
    Immediate,      // second word of VSETI
    Gather,         // further words of a chain group
    Issue,          // beats, behind the hazards
    Pipe,           // W: the pipe is empty
    Moving,         // ktpu_vector_mover is at work
    Reduce,         // VRED: beats
    ReduceTail,     // the accumulators
    PredicateRead,  // ANY, ALL
    FillWait,       // VFILL behind the one before
    LengthCheck,
    Barrier,
    Halt,
    Done
  } state_e;

  localparam int unsigned MaxLength = 128;

  // Envelopes.
  vector_opcode_e   op;
  logic [3:0]       envelope;
  logic             accept;
  logic             entered_d, entered_q;

  state_e           state_d, state_q;
  logic [6:0]       wait_d, wait_q;          // cycles until the state acts
  logic             act;
  logic             running_d, running_q;
  logic [31:0]      run_d, run_q;            // kernel cycle
  logic [31:0]      cycles_d, cycles_q;
  logic [31:0]      result_d, result_q;
  logic             faulted_d, faulted_q;
  logic [8:0]       pc_d, pc_q;
  logic [31:0]      word_d, word_q, word;
  fields_t          f;

  logic [7:0]       vl_d, vl_q;
  mode_e            mode_d, mode_q;

  logic             loop_d, loop_q;
  logic [8:0]       loop_top_d, loop_top_q, loop_end_d, loop_end_q;
  logic [23:0]      loop_count_d, loop_count_q;

  logic [3:0]       chunks;
  logic             reads_bits;              // ANY or ALL

  assign act      = wait_q == '0;
  assign word     = ((state_q == Execute) || (state_q == Gather)) ? imem_word_i : word_q;
  assign f        = word;
  assign op       = f.op;
  assign envelope = inst_i[VectorInstOpLsb+:VectorInstOpWidth];
  assign chunks   = vl_q[7:4] + 4'(vl_q[3:0] != 4'd0);

  assign reads_bits = (op == OpRed) && (f.vc[2:0] >= RedAny);

  // ------------------------------------------------------------------------------------------------- control
  `define GO(next, cycles) begin state_d = next; wait_d = 7'((cycles) - 1); end

  always_comb begin : control
    logic [31:0] fault;       // 0: none
    logic        typed, start;
    fault           = '0;
    start           = 1'b0;   // of an instruction that needs the pipe empty
    typed           = (word[26:24] == 3'd1) || (word[26:24] == 3'd2);
    state_d         = state_q;
    wait_d          = act ? '0 : wait_q - 7'd1;
    entered_d       = entered_q;
    running_d       = running_q;
    run_d           = run_q + 32'd1;
    cycles_d        = cycles_q;
    result_d        = result_q;
    faulted_d       = faulted_q;
    pc_d            = pc_q;
    word_d          = word_q;
    s_we_o          = sum_valid_i || move_extract_i;
    s_data_o        = move_extract_i ? move_number_i : sum_i;
    k3_we_o         = 1'b0;
    vl_d            = vl_q;
    mode_d          = mode_q;
    loop_d          = loop_q;
    loop_top_d      = loop_top_q;
    loop_end_d      = loop_end_q;
    loop_count_d    = loop_count_q;
    move_start_o    = 1'b0;

    accept              = 1'b0;
    done_o              = 1'b0;
    imem_we_o           = 1'b0;
    desc_write_o        = 1'b0;
    walk_start_o        = 1'b0;
    head_o              = 1'b0;
    take_o              = 1'b0;
    reduce_start_o      = 1'b0;
    tail_o              = 1'b0;
    read_o              = 1'b0;
    burst_error_clear_o = 1'b0;

    case (state_q)
      // Section 12.6: an envelope visible in v is accepted in v+1 and retires in v+2; a kernel's cycle 0 is v+2.
      Idle: begin
        if (!entered_q) begin
          entered_d = inst_valid_i;
        end else begin
          entered_d = 1'b0;
          accept    = 1'b1;
          result_d  = '0;
          faulted_d = 1'b0;
          `GO(Done, 1)
          case (envelope)
            4'd1: imem_we_o    = 1'b1;
            4'd2: desc_write_o = 1'b1;
            4'd3: begin
              running_d = 1'b1;
              run_d     = '0;
              pc_d      = inst_i[VectorInstAddrLsb+:VectorInstAddrWidth];
              loop_d    = 1'b0;
              `GO(Execute, 3)
              if (burst_error_i) begin
                burst_error_clear_o = 1'b1;
                fault               = 32'(VectorFCudata);
              end
            end
            default: ;
          endcase
        end
      end

      Fetch: if (act) begin
        `GO(Execute, 3)
        if (burst_error_i) begin
          burst_error_clear_o = 1'b1;
          fault               = 32'(VectorFCudata);
        end else if (loop_q && (pc_q == loop_end_q)) begin
          if (loop_count_q > 24'd1) begin
            loop_count_d = loop_count_q - 24'd1;
            pc_d         = loop_top_q;
          end else begin
            loop_d = 1'b0;
          end
        end
      end

      Execute: if (act) begin
        word_d = word;
        pc_d   = pc_q + 9'd1;
        if (op <= OpRsqrt) begin
          if (mode_q == ModeFlat) begin
            `GO(Issue, 1)
          end else begin
            `GO(Gather, 4)
          end
          if ((mode_q == ModeTree) && !quirks_i[QuirkV9]) begin
            fault = 32'(VectorFOpcode);
          end else if ((f.sa == SrcChain) || (f.sb == SrcChain) || (f.sc == SrcChain)) begin
            fault = 32'(VectorFChain);
          end else begin
            head_o = 1'b1;
            take_o = 1'b1;
          end
        end else begin
          case (op)
            OpCvt: begin
              start = 1'b1;
              if (!typed) fault = 32'(VectorFDtype);
            end
            OpLd, OpSt: begin
              start        = 1'b1;
              walk_start_o = 1'b1;
              if (!typed) fault = 32'(VectorFDtype);
            end
            OpBcast, OpShuf, OpSetmode: start = 1'b1;
            OpRed: begin
              if (reads_bits) begin
                `GO(PredicateRead, 1)  // unless it reads in this very cycle
              end else if (vl_q[3:0] != 4'd0) begin
                fault = 32'(VectorFReduce);
              end else if (mode_q != ModeTree) begin
                fault = 32'(VectorFOpcode);
              end else begin
                reduce_start_o = 1'b1;
                `GO(Reduce, 1)
              end
            end
            OpSetvl: begin
              vl_d = s_a_i[7:0];
              `GO(Fetch, 1)
              if ((s_a_i == '0) || (s_a_i > 24'(MaxLength))) begin
                vl_d  = vl_q;
                fault = 32'(VectorFVl);
              end
            end
            OpSeti: `GO(Immediate, 2)
            OpLoop: begin
              `GO(Fetch, 1)
              if (loop_q) begin
                fault = 32'(VectorFLoop);
              end else begin
                loop_d       = 1'b1;
                loop_top_d   = pc_q + 9'd1;
                loop_end_d   = pc_q + 9'd1 + 9'(f.vb);
                loop_count_d = s_a_i;
              end
            end
            OpBar:   `GO(Barrier, 1)
            OpFill: begin
              if (complete_i) begin
                `GO(LengthCheck, 5)
              end else begin
                `GO(FillWait, 1)
              end
            end
            OpDrain: `GO(LengthCheck, 5)
            default: `GO(Halt, 1)
          endcase
        end
      end

      Immediate: if (act) begin
        pc_d = pc_q + 9'd1;
        if (f.sa == SrcConstant) begin
          k3_we_o = 1'b1;
        end else begin
          s_we_o   = 1'b1;
          s_data_o = imem_word_i[23:0];
        end
        `GO(Fetch, 1)
      end

      Gather: if (act) begin
        pc_d = pc_q + 9'd1;
        `GO(Gather, 4)
        if (loop_q && (pc_q == loop_end_q) && !quirks_i[QuirkV12]) begin
          fault = 32'(VectorFLoop);
        end else if ((op > OpRsqrt) && !quirks_i[QuirkV10]) begin
          fault = 32'(VectorFOpcode);
        end else if ((f.sa == SrcVector) || (f.sb == SrcVector) || (f.sc == SrcVector)) begin
          fault = 32'(VectorFVsrc);
        end else begin
          take_o = 1'b1;
          if (taken_last_i) `GO(Issue, 1)
        end
      end

      Issue: if (issue_done_i) `GO(Fetch, 2)

      Pipe: start = 1'b1;

      Moving: if (move_done_i) `GO(Fetch, 1)

      Reduce: if (reduce_done_i) `GO(ReduceTail, LanesEmpty)

      ReduceTail: if (act) begin
        tail_o = 1'b1;
        `GO(Fetch, 63)
      end

      FillWait: if (complete_i) `GO(LengthCheck, 5)

      LengthCheck: if (act) begin
        walk_start_o = 1'b1;
        `GO(Moving, 1)
        if (walk_too_long_i) begin
          fault = 32'(VectorFLength);
        end else begin
          move_start_o = 1'b1;
        end
      end

      Barrier: if (complete_i) `GO(Fetch, 1)

      Halt: if (empty_i && complete_i) begin
        cycles_d = run_q + 32'd2;
        result_d = cycles_d;
        `GO(Done, 3)
      end

      Done: if (act) begin
        done_o    = 1'b1;
        running_d = 1'b0;
        state_d   = Idle;
      end

      default: ;
    endcase

    // ANY and ALL read in their execute cycle, or as soon as the interlock lets them.
    if (act && ((state_q == PredicateRead) || ((state_q == Execute) && reads_bits))) begin
      if (quirks_i[QuirkV3] || !read_late_i) begin
        s_we_o    = 1'b1;
        s_data_o  = read_value_i ? One : '0;
        read_o   = 1'b1;
        `GO(Fetch, 1)
      end
    end

    // What starts when the pipe is empty.
    if (start && (fault == '0)) begin
      state_d = Pipe;
      wait_d  = '0;
      if (empty_i) begin
        if (op == OpSetmode) begin
          mode_d = mode_e'(f.va[1:0]);
          `GO(Fetch, 1)
        end else begin
          move_start_o = 1'b1;
          `GO(Moving, 1)
        end
      end
    end

    if (fault != '0) begin
      result_d  = fault;
      faulted_d = 1'b1;
      cycles_d  = (state_q == Idle) ? 32'd1 : run_q + 32'd2;
      loop_d    = 1'b0;
      `GO(Done, 3)
    end
  end

  `undef GO

  // ------------------------------------------------------------------------------------------------- outputs
  assign inst_accept_o  = accept;
  assign idle_o         = (state_q == Idle) && !entered_q;
  assign done_fault_o   = faulted_q;
  assign done_result_o  = result_q;
  assign cycles_o       = (running_q && ((state_q != Done) || (run_q < cycles_q))) ? run_q : cycles_q;
  assign imem_re_o      = running_q;
  assign imem_at_o      = imem_we_o ? inst_i[VectorInstAddrLsb+:VectorInstAddrWidth] : pc_q;
  assign walk_at_o      = desc_write_o ? inst_i[VectorInstAdLsb+:VectorInstAdWidth] : word[23:21];
  // 14 bits, signed; a fill or drain begins at the base.
  assign walk_offset_o  = (state_q == LengthCheck) ? '0 : {{26{word[13]}}, word[13:0]};
  assign mode_o         = mode_q;
  assign issue_o        = state_q == Issue;
  assign reduce_o       = state_q == Reduce;
  assign s_at_o          = f.vd;
  assign k3_o            = imem_word_i[23:0];
  assign length_o        = vl_q;
  assign read_all_o      = f.vc[2:0] == RedAll;
  assign word_o          = word;
  assign chunks_o        = chunks;

  always_comb begin
    events_o         = '0;
    events_o.result  = result_q;
    events_o.word    = word;
    events_o.pc      = accept ? pc_d : pc_q;
    events_o.fault   = faulted_q;
    events_o.run     = running_q;
    events_o.done    = done_o;
    events_o.execute = (state_q == Execute) && act;
    events_o.start   = accept && running_d;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : registers
    if (!rst_ni) begin
      state_q        <= Idle;
      wait_q         <= '0;
      entered_q      <= 1'b0;
      running_q      <= 1'b0;
      cycles_q       <= '0;
      vl_q           <= 8'(MaxLength);
      mode_q         <= ModeFlat;
      loop_q         <= 1'b0;
    end else begin
      state_q        <= state_d;
      wait_q         <= wait_d;
      entered_q      <= entered_d;
      running_q      <= running_d;
      cycles_q       <= cycles_d;
      vl_q           <= vl_d;
      mode_q         <= mode_d;
      loop_q         <= loop_d;
    end
  end

  // Means nothing before an instruction has written it.
  always_ff @(posedge clk_i) begin : kernel
    run_q           <= run_d;
    result_q        <= result_d;
    faulted_q       <= faulted_d;
    pc_q            <= pc_d;
    word_q          <= word_d;
    loop_top_q      <= loop_top_d;
    loop_end_q      <= loop_end_d;
    loop_count_q    <= loop_count_d;
  end

  `KTPU_ASSERT(LengthIsLegal, vl_q != '0 && vl_q <= 8'(MaxLength))
  `KTPU_ASSERT(OneScalarWrite, sum_valid_i |-> state_q == Fetch)

endmodule
