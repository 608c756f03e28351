// SPDX-License-Identifier: Apache-2.0
// Instruction memory: 512 words, written by envelopes, read at the program counter (vector.md section 1). Not reset.

module ktpu_vector_imem #(
  localparam int unsigned Words = 512
) (
  input  logic        clk_i,

  input  logic        we_i,
  input  logic [8:0]  waddr_i,
  input  logic [31:0] wdata_i,

  input  logic        re_i,
  input  logic [8:0]  raddr_i,
  output logic [31:0] rdata_o   // from the next cycle on
);

  logic [31:0] mem [Words];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_o <= mem[raddr_i];
  end

endmodule
