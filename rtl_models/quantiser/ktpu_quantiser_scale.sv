// SPDX-License-Identifier: Apache-2.0
// The scale of one block of 32 (number-formats.md section 4.3), in two cycles: the peak is brought to a significand
// with its leading one in place, then the smallest scale that fits it is chosen.

module ktpu_quantiser_scale (
  input  logic        clk_i,
  input  logic        normalise_i,
  input  logic        choose_i,
  // Largest magnitude bits of the block.
  input  logic [14:0] peak_i,
  // Two cycles later: E5M3 field, and the reciprocal of its mantissa with 12 fraction bits.
  output logic [7:0]  field_o,
  output logic [12:0] reciprocal_o
);

  // Significand 1024..2047 (0: all 32 are zero) and its exponent, from -9 on.
  logic        [10:0] significand, significand_q;
  logic signed [6:0]  exponent, exponent_q;
  logic        [3:0]  steps;

  always_comb begin
    significand = '0;
    exponent    = '0;
    steps       = '0;
    if (normalise_i) begin
      significand = {peak_i[14:10] != 5'd0, peak_i[9:0]};
      exponent    = (peak_i[14:10] == 5'd0) ? 7'sd1 : $signed({2'b00, peak_i[14:10]});
      steps       = 4'd0;
      for (int unsigned bit_index = 0; bit_index < 11; bit_index++) begin
        if (significand[bit_index]) steps = 4'd10 - 4'(bit_index);
      end
      significand = significand << steps;
      exponent    = exponent - $signed({3'b000, steps});
    end
  end

  // The number of 126ths the peak needs, rounded up: 9..17.
  logic        [4:0] parts;
  logic        [2:0] mantissa;  // less 8
  logic signed [6:0] biased;
  logic        [7:0] field, field_q;
  logic        [12:0] reciprocal, reciprocal_q;

  always_comb begin
    parts      = '0;
    mantissa   = '0;
    biased     = '0;
    field      = '0;
    reciprocal = '0;
    if (choose_i) begin
      parts = 5'd9 + 5'(significand_q > 11'd1134) + 5'(significand_q > 11'd1260) + 5'(significand_q > 11'd1386) +
              5'(significand_q > 11'd1512) + 5'(significand_q > 11'd1638) + 5'(significand_q > 11'd1764) +
              5'(significand_q > 11'd1890) + 5'(significand_q > 11'd2016);
      // 8 to 15 is the range of a mantissa; 16 and 17 are 8 and 9 of the next binade (the low three bits alike).
      mantissa = parts[2:0];
      biased   = (parts <= 5'd15) ? exponent_q - 7'sd1 : exponent_q;
      // The clamp comes after the choice: the mantissa is not revised.
      if (biased < 7'sd0) biased = 7'sd0;
      field = {biased[4:0], mantissa};
      if (significand_q == '0) field = 8'ha0;
      case (field[2:0])
        3'd0:    reciprocal = 13'd4096;
        3'd1:    reciprocal = 13'd3641;
        3'd2:    reciprocal = 13'd3277;
        3'd3:    reciprocal = 13'd2979;
        3'd4:    reciprocal = 13'd2731;
        3'd5:    reciprocal = 13'd2520;
        3'd6:    reciprocal = 13'd2341;
        default: reciprocal = 13'd2185;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (normalise_i) begin
      significand_q <= significand;
      exponent_q    <= exponent;
    end
    if (choose_i) begin
      field_q      <= field;
      reciprocal_q <= reciprocal;
    end
  end

  assign field_o      = field_q;
  assign reciprocal_o = reciprocal_q;

endmodule
