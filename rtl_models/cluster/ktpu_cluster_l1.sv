// SPDX-License-Identifier: Apache-2.0
// The two operand memories and the assembly register in front of them (cluster.md section 6, number-formats.md
// section 5). Operand words come in one at a time; word 3 commits the entry. A read in the cycle of a write to the
// same entry sees the old one.

`include "ktpu_assert.svh"

module ktpu_cluster_l1
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
#(
  // Entries of each operand; the index is cut to the masks.
  parameter int unsigned MaxEntries = 512,
  localparam int unsigned IndexWidth = $clog2(MaxEntries)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // Quasi-static: entries in use - 1.
  input  logic [IndexWidth-1:0] a_mask_i,
  input  logic [IndexWidth-1:0] b_mask_i,

  // An operand word (section 5.2 of number-formats.md): side 0 = A, 1 = B.
  input  logic                    word_valid_i,
  input  logic                    word_side_i,
  input  logic [IndexWidth-1:0]   word_entry_i,
  input  logic [1:0]              word_index_i,
  input  logic [PayloadWidth-1:0] word_i,

  // An entry is written.
  output logic                    write_o,

  // Addresses in the issue cycle; entries IssueToOperands cycles later.
  input  logic                  read_i,
  input  logic [IndexWidth-1:0] a_entry_i,
  input  logic [IndexWidth-1:0] b_entry_i,
  output logic                  valid_o,
  output logic [EntryWidth-1:0] a_o,
  output logic [EntryWidth-1:0] b_o
);

  logic [EntryWidth-1:0] mem_a [MaxEntries];
  logic [EntryWidth-1:0] mem_b [MaxEntries];

  logic [SliceWidth-1:0] slice;
  logic [EntryWidth-1:0] assembly_q;
  logic                  write_q, write_side_q;
  logic [IndexWidth-1:0] write_index_q;

  logic                  read_q, read_data_q, valid_q;
  logic [IndexWidth-1:0] a_index_q, b_index_q;
  logic [EntryWidth-1:0] a_data_q, b_data_q, a_q, b_q;

  // Slot s of a word is bits [255-7s : 249-7s]: lane * 8 + k on the A side, k * 4 + lane on the B side.
  always_comb begin
    slice = '0;
    if (word_valid_i) begin
      for (int unsigned lane = 0; lane < 4; lane++) begin
        for (int unsigned k = 0; k < 8; k++) begin
          slice[7*(8*lane+k)+:7] = word_side_i ? word_i[249-7*(4*k+lane)+:7] : word_i[249-7*(8*lane+k)+:7];
        end
      end
    end
  end

  assign write_o = write_q;
  assign valid_o = valid_q;
  assign a_o     = a_q;
  assign b_o     = b_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q     <= 1'b0;
      read_q      <= 1'b0;
      read_data_q <= 1'b0;
      valid_q     <= 1'b0;
    end else begin
      write_q     <= word_valid_i && word_index_i == 2'd3;
      read_q      <= read_i;
      read_data_q <= read_q;
      valid_q     <= read_data_q;
    end
  end

  always_ff @(posedge clk_i) begin : assemble
    if (word_valid_i) begin
      assembly_q[SliceWidth*word_index_i+:SliceWidth] <= slice;
      if (word_index_i == 2'd0) begin
        // Lane 0 is at the top of the word's scale field and at the bottom of the entry's.
        assembly_q[ElementWidth+:ScalesWidth] <= {word_i[7:0], word_i[15:8], word_i[23:16], word_i[31:24]};
      end
      write_side_q  <= word_side_i;
      write_index_q <= word_entry_i & (word_side_i ? b_mask_i : a_mask_i);
    end
  end

  always_ff @(posedge clk_i) begin : write
    if (write_q && !write_side_q) mem_a[write_index_q] <= assembly_q;
    if (write_q && write_side_q) mem_b[write_index_q] <= assembly_q;
  end

  always_ff @(posedge clk_i) begin : read
    if (read_i) begin
      a_index_q <= a_entry_i & a_mask_i;
      b_index_q <= b_entry_i & b_mask_i;
    end
    if (read_q) begin
      a_data_q <= mem_a[a_index_q];
      b_data_q <= mem_b[b_index_q];
    end
    if (read_data_q) begin
      a_q <= a_data_q;
      b_q <= b_data_q;
    end
  end

  `KTPU_ASSERT_INIT(ThreeStages, IssueToOperands == 3)

endmodule
