// SPDX-License-Identifier: Apache-2.0
// One lane's ALU (vector.md section 6): an operation a cycle, LaneAlu cycles from the operands to the result. The
// work fills the first eight stages; the others are there for the distance, to be spread over the work by a tool that
// retimes registers.
//
// 1 operands of the multiply-add   2 specials, product, exponents   3 alignment   4 sum   5 magnitude
// 6, 7 normalisation               8 rounding
// The seed functions take the same way: 2 range reduction, 3 coefficients, 4 first step of the quadratic, 5 second.

`include "ktpu_assert.svh"

module ktpu_vector_alu
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
  import ktpu_vector_alu_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_ni,

  // Quasi-static: VEXP2 of magnitudes from 128 up wraps (quirk V7).
  input  logic           wrap_i,

  input  logic           valid_i,
  input  vector_opcode_e op_i,
  input  num_t           a_i,
  input  num_t           b_i,
  input  num_t           c_i,

  // Of the operation that came in LaneAlu cycles ago.
  output num_t           result_o
);
  /* verilator no_inline_module */

  localparam int unsigned Worked = 8;                 // stages with work in them
  localparam int unsigned Spare  = LaneAlu - Worked;

  logic [LaneAlu:1] valid_q;
  operands_t        s1_d, s1_q;
  split_t           s2_d, s2_q;
  aligned_t         s3_d, s3_q;
  sum_t             s4_d, s4_q;
  magnitude_t       s5_d, s5_q, s6_d, s6_q, s7_d, s7_q;
  num_t             s8_d;
  num_t             done_q [Spare+1];

  always_comb begin : operands
    s1_d = s1_q;
    if (valid_i) select(op_i, a_i, b_i, c_i, s1_d);
  end

  always_comb begin : split
    s2_d = s2_q;
    if (valid_q[1]) begin
      if (s1_q.seed) begin
        split_seed(s1_q, wrap_i, s2_d);
      end else begin
        split_fma(s1_q, s2_d);
      end
    end
  end

  always_comb begin : alignment
    s3_d = s3_q;
    if (valid_q[2]) align(s2_q, s3_d);
  end

  always_comb begin : addition
    s4_d = s4_q;
    if (valid_q[3]) add(s3_q, s4_d);
  end

  always_comb begin : magnitude
    s5_d = s5_q;
    if (valid_q[4]) absolute(s4_q, s5_d);
  end

  always_comb begin : normalise_coarse
    s6_d = s6_q;
    if (valid_q[5]) begin
      s6_d = s5_q;
      if (s6_d.magnitude[47:16] == '0) begin
        s6_d.magnitude = s6_d.magnitude << 32;
        s6_d.zeros[5]  = 1'b1;
      end
      if (s6_d.magnitude[47:32] == '0) begin
        s6_d.magnitude = s6_d.magnitude << 16;
        s6_d.zeros[4]  = 1'b1;
      end
      if (s6_d.magnitude[47:40] == '0) begin
        s6_d.magnitude = s6_d.magnitude << 8;
        s6_d.zeros[3]  = 1'b1;
      end
    end
  end

  always_comb begin : normalise_fine
    s7_d = s7_q;
    if (valid_q[6]) begin
      s7_d = s6_q;
      if (s7_d.magnitude[47:44] == '0) begin
        s7_d.magnitude = s7_d.magnitude << 4;
        s7_d.zeros[2]  = 1'b1;
      end
      if (s7_d.magnitude[47:46] == '0) begin
        s7_d.magnitude = s7_d.magnitude << 2;
        s7_d.zeros[1]  = 1'b1;
      end
      if (!s7_d.magnitude[47]) begin
        s7_d.magnitude = s7_d.magnitude << 1;
        s7_d.zeros[0]  = 1'b1;
      end
    end
  end

  always_comb begin : rounding
    s8_d = done_q[0];
    if (valid_q[7]) s8_d = pack(s7_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= {valid_q[LaneAlu-1:1], valid_i};
    end
  end

  always_ff @(posedge clk_i) begin : data
    if (valid_i) s1_q <= s1_d;
    if (valid_q[1]) s2_q <= s2_d;
    if (valid_q[2]) s3_q <= s3_d;
    if (valid_q[3]) s4_q <= s4_d;
    if (valid_q[4]) s5_q <= s5_d;
    if (valid_q[5]) s6_q <= s6_d;
    if (valid_q[6]) s7_q <= s7_d;
    if (valid_q[7]) done_q[0] <= s8_d;
    for (int unsigned i = 1; i <= Spare; i++) begin
      if (valid_q[Worked-1+i]) done_q[i] <= done_q[i-1];
    end
  end

  assign result_o = done_q[Spare];

  `KTPU_ASSERT_INIT(LatencyIsSupported, LaneAlu >= Worked)

endmodule
