// SPDX-License-Identifier: Apache-2.0
// Scalar and constant registers (vector.md section 1), and a word of a chain group with its operands that are no vector
// registers, as they are when it is decoded (section 7).

module ktpu_vector_scalars
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_ni,

  input  fields_t word_i,
  output num_t    a_o,        // S[va]
  output num_t    b_o,        // S[vb]
  output stage_t  stage_o,

  input  logic       we_i,
  input  logic [3:0] at_i,
  input  num_t       data_i,
  input  logic       k3_we_i,
  input  num_t       k3_i
);

  num_t s_q [16];
  num_t k3_q;
  num_t c;

  assign a_o = s_q[word_i.va];
  assign b_o = s_q[word_i.vb];
  assign c   = s_q[word_i.vc];

  function automatic num_t constant_of(logic [1:0] k, num_t k3);
    case (k)
      2'd1:    constant_of = One;
      2'd2:    constant_of = NegOne;
      2'd3:    constant_of = k3;
      default: constant_of = '0;
    endcase
  endfunction

  always_comb begin : stage
    stage_o             = '0;
    stage_o.op          = word_i.op;
    stage_o.source[0]   = word_i.sa;
    stage_o.source[1]   = word_i.sb;
    stage_o.source[2]   = word_i.sc;
    stage_o.constant[0] = (word_i.sa == SrcScalar) ? a_o : constant_of(word_i.va[1:0], k3_q);
    stage_o.constant[1] = (word_i.sb == SrcScalar) ? b_o : constant_of(word_i.vb[1:0], k3_q);
    stage_o.constant[2] = (word_i.sc == SrcScalar) ? c : constant_of(word_i.vc[1:0], k3_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : constants
    if (!rst_ni) begin
      k3_q <= '0;
    end else if (k3_we_i) begin
      k3_q <= k3_i;
    end
  end

  // Not reset (section 1).
  always_ff @(posedge clk_i) begin : scalars
    if (we_i) s_q[at_i] <= data_i;
  end

endmodule
