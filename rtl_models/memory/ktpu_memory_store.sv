// SPDX-License-Identifier: Apache-2.0
// A memory port's own staging memory (memory.md section 7.2): a word written in a cycle, and an entry, four words from
// any word on, read at once.
//
// words_o is what stands at read_index_i if that has not changed since the cycle before: the RAM has a register behind
// it, and what is written meanwhile goes past it.

`include "ktpu_assert.svh"

module ktpu_memory_store
  import ktpu_memory_pkg::*;
#(
  localparam int unsigned IndexWidth = $clog2(StagingWords)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   write_i,
  input  logic [IndexWidth-1:0]  write_index_i,
  input  word_t                  write_word_i,

  input  logic                   read_i,
  input  logic [IndexWidth-1:0]  read_index_i,
  output word_t [EntryWords-1:0] words_o  // of this cycle's writes, too
);

  word_t mem [StagingWords];

  logic                   was_written_q;
  logic [IndexWidth-1:0]  was_index_q;
  word_t                  was_word_q;
  word_t [EntryWords-1:0] words_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) was_written_q <= 1'b0;
    else         was_written_q <= write_i;
  end

  always_ff @(posedge clk_i) begin : ram
    if (write_i) begin
      mem[write_index_i] <= write_word_i;
      was_index_q        <= write_index_i;
      was_word_q         <= write_word_i;
    end
    if (read_i) begin
      for (int unsigned w = 0; w < EntryWords; w++) words_q[w] <= mem[read_index_i+IndexWidth'(w)];
    end
  end

  always_comb begin
    words_o = words_q;
    if (read_i) begin
      for (int unsigned w = 0; w < EntryWords; w++) begin
        if (was_written_q && was_index_q == read_index_i + IndexWidth'(w)) words_o[w] = was_word_q;
        if (write_i && write_index_i == read_index_i + IndexWidth'(w))     words_o[w] = write_word_i;
      end
    end
  end

  `KTPU_ASSERT_INIT(AliasesByItsIndex, StagingWords == 1 << IndexWidth)

endmodule
