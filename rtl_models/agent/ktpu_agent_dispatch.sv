// SPDX-License-Identifier: Apache-2.0
// Staging RAM, dispatcher and dispatch credit (orchestrator.md sections 3.3, 5 and 6): one word of 64 bits a cycle,
// five to a flit.

`include "ktpu_assert.svh"

module ktpu_agent_dispatch
  import ktpu_pkg::*;
  import ktpu_agent_pkg::*;
(
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // Quasi-static: the source of dispatched flits, and the words of the staging RAM in use.
  input  pos_t                        x_i,
  input  pos_t                        y_i,
  input  stage_index_t                stage_words_i,

  input  bus_mask_t                   stage_write_i,
  input  stage_index_t [NumBuses-1:0] stage_word_i,
  input  logic [NumBuses-1:0][63:0]   stage_data_i,

  input  logic [7:0]                  prog_dst_i,
  input  logic [15:0]                 prog_len_i,
  input  logic [15:0]                 prog_base_i,
  input  logic                        kick_i,
  input  logic                        load_credit_i,
  input  logic [15:0]                 credit_i,
  // INST_COMPLETE offered in this cycle.
  input  logic                        credited_i,

  // A flit for the TX FIFO; it has room.
  output logic                        push_o,
  output flit_t                       flit_o,
  input  logic                        tx_full_i,

  output logic                        run_o,
  output logic [15:0]                 left_o,
  output logic [15:0]                 credit_o,
  // A word is fetched in this cycle.
  output logic                        fetch_o
);

  localparam int unsigned PointerWidth = 20;  // 2 * (2**16 - 1) slots of five words

  logic [63:0] stage [StageWords];

  logic                    run_d, run_q, push_d, push_q;
  logic [15:0]             left_d, left_q, credit_d, credit_q;
  logic [PointerWidth-1:0] pointer_d, pointer_q;
  logic [2:0]              word_d, word_q;
  logic [WordsPerFlit-1:0][63:0] assembly_q;
  logic                    fetch, last_word, start;
  logic [63:0]             fetched;
  flit_t                   flit;

  assign fetch     = run_q && !tx_full_i && credit_q != '0;
  assign last_word = word_q == 3'(WordsPerFlit - 1);
  assign start     = kick_i && !run_q && prog_len_i != '0;

  // Behind the RAM there is nothing.
  always_comb begin
    fetched = '0;
    if (pointer_q < PointerWidth'(stage_words_i)) fetched = stage[pointer_q[9:0]];
  end

  always_comb begin : run_control
    run_d     = run_q;
    left_d    = left_q;
    pointer_d = pointer_q;
    word_d    = word_q;
    if (fetch) begin
      pointer_d = pointer_q + PointerWidth'(1);
      word_d    = last_word ? '0 : word_q + 3'd1;
      if (last_word) begin
        if (left_q == 16'd1) run_d = 1'b0;
        else left_d = left_q - 16'd1;
      end
    end
    if (start) begin
      run_d     = 1'b1;
      left_d    = prog_len_i;
      pointer_d = PointerWidth'(prog_base_i) * PointerWidth'(WordsPerFlit);
      word_d    = '0;
    end
  end
  assign push_d = fetch && last_word;

  always_comb begin : credit
    credit_d = credit_q;
    if (load_credit_i) begin
      credit_d = credit_i;
    end else if (push_q && !credited_i) begin
      if (credit_q != '0) credit_d = credit_q - 16'd1;
    end else if (credited_i && !push_q) begin
      credit_d = credit_q + 16'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q     <= 1'b0;
      push_q    <= 1'b0;
      left_q    <= '0;
      credit_q  <= '0;
      pointer_q <= '0;
      word_q    <= '0;
    end else begin
      run_q     <= run_d;
      push_q    <= push_d;
      left_q    <= left_d;
      credit_q  <= credit_d;
      pointer_q <= pointer_d;
      word_q    <= word_d;
    end
  end

  // Not reset.
  always_ff @(posedge clk_i) begin
    for (int unsigned b = 0; b < NumBuses; b++) begin
      if (stage_write_i[b]) stage[stage_word_i[b]] <= stage_data_i[b];
    end
  end
  always_ff @(posedge clk_i) begin
    if (fetch) assembly_q[word_q] <= fetched;
  end

  // The header is rewritten with the destination as it stands now.
  always_comb begin
    flit       = FlitWidth'(assembly_q);
    flit.dst_x = prog_dst_i[3:0];
    flit.dst_y = prog_dst_i[7:4];
    flit.src_x = x_i;
    flit.src_y = y_i;
  end

  assign push_o   = push_q;
  assign flit_o   = flit;
  assign run_o    = run_q;
  assign left_o   = left_q;
  assign credit_o = credit_q;
  assign fetch_o  = fetch;

  `KTPU_ASSERT(StageFitsTheRam, stage_words_i <= 10'(StageWords))
  `KTPU_ASSERT(StagesInsideTheRam, stage_write_i[0] |-> stage_word_i[0] < stage_words_i)
  `KTPU_ASSERT(WordIsInTheFlit, word_q < 3'(WordsPerFlit))
  `KTPU_ASSERT(RunsWithSomethingLeft, run_q |-> left_q != '0)

endmodule
