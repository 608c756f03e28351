// SPDX-License-Identifier: Apache-2.0
// One element: FP16 over the block's scale, as int7 (number-formats.md sections 4.1 and 4.5). Exponent 31 is an
// ordinary binade, subnormals count. Combinational.

module ktpu_quantiser_element (
  input  logic        enable_i,  // else the element is 0, and nothing is worked out
  input  logic [15:0] half_i,
  input  logic [4:0]  scale_exponent_i,  // of the E5M3 field
  input  logic [12:0] reciprocal_i,
  output logic [6:0]  element_o
);

  logic [10:0]       significand;
  logic [4:0]        exponent;
  logic signed [6:0] distance;
  logic [22:0]       product;
  logic [7:0]        window;
  logic [6:0]        magnitude;
  logic              unused_product;

  // Below the rounding window; dropped without a sticky bit.
  assign unused_product = &{1'b0, product[14:0]};

  always_comb begin
    significand = '0;
    exponent    = '0;
    distance    = '0;
    product     = '0;
    window      = '0;
    magnitude   = '0;
    element_o   = '0;
    if (enable_i) begin
      significand = {half_i[14:10] != 5'd0, half_i[9:0]};
      exponent    = (half_i[14:10] == 5'd0) ? 5'd1 : half_i[14:10];
      distance    = $signed({2'b00, scale_exponent_i}) + 7'sd1 - $signed({2'b00, exponent});
      product     = 23'(significand) * 23'(reciprocal_i);
      window      = product[22:15];
      if (distance < 7'sd0) begin
        magnitude = 7'd63;  // not reachable: the peak has the smallest distance
      end else if (distance >= 7'sd8) begin
        magnitude = 7'd0;
      end else begin
        window    = window >> distance[2:0];
        magnitude = window[7:1] + 7'(window[0]);  // the half bit alone decides
      end
      if (significand == '0) magnitude = 7'd0;
      if (magnitude > 7'd63) magnitude = 7'd63;
      element_o = half_i[15] ? (~magnitude + 7'd1) : magnitude;
    end
  end

endmodule
