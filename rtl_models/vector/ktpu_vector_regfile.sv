// SPDX-License-Identifier: Apache-2.0
// Vector registers (vector.md section 4): a slice of 128 numbers for each lane, at address {register, chunk}. Three
// reads and one write a cycle, the same address in all slices. A read sees what was written in earlier cycles.
// Not reset.

module ktpu_vector_regfile
  import ktpu_vector_pkg::*;
(
  input  logic             clk_i,

  input  logic             re_i,
  input  logic [6:0]       raddr_a_i,
  input  logic [6:0]       raddr_b_i,
  input  logic [6:0]       raddr_c_i,
  // From the cycle after re_i on, until the next read.
  output row_t             a_o,
  output row_t             b_o,
  output row_t             c_o,

  input  logic             we_i,
  input  logic [6:0]       waddr_i,
  input  logic [Lanes-1:0] wmask_i,
  input  row_t             wdata_i
);

  localparam int unsigned Entries = VectorRegs * Chunks;

  for (genvar l = 0; l < Lanes; l++) begin : gen_slice
    num_t mem [Entries];
    num_t a_q, b_q, c_q;

    always_ff @(posedge clk_i) begin
      if (re_i) begin
        a_q <= mem[raddr_a_i];
        b_q <= mem[raddr_b_i];
        c_q <= mem[raddr_c_i];
      end
      if (we_i && wmask_i[l]) mem[waddr_i] <= wdata_i[l];
    end

    assign a_o[l] = a_q;
    assign b_o[l] = b_q;
    assign c_o[l] = c_q;
  end

endmodule
