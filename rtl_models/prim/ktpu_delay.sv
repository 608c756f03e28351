// SPDX-License-Identifier: Apache-2.0
// A word comes out a fixed number of cycles after it went in: a ring, so that a long delay of a wide word moves no
// more data than a short one. The user keeps track of which cycles carry a word. Storage is not reset.

`include "ktpu_assert.svh"

module ktpu_delay #(
  // Bits of a word.
  parameter int unsigned Width = 32,
  // Cycles from in to out, at least 2.
  parameter int unsigned Cycles = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [Width-1:0] data_i,
  // What went in `Cycles` cycles ago; means nothing if nothing did.
  output logic [Width-1:0] data_o
);

  localparam int unsigned PtrWidth = $clog2(Cycles);

  logic [Width-1:0]    mem [Cycles];
  logic [PtrWidth-1:0] ptr_q;

  assign data_o = mem[ptr_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ptr_q <= '0;
    end else begin
      ptr_q <= (ptr_q == PtrWidth'(Cycles - 1)) ? '0 : ptr_q + PtrWidth'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) mem[ptr_q] <= data_i;
  end

  `KTPU_ASSERT_INIT(CyclesIsSupported, Cycles >= 2)

endmodule
