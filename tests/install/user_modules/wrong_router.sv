// SPDX-License-Identifier: Apache-2.0
// A router's ports, but: in_busy_o of 4 bits, out_busy_i missing, place_i an output, in_data_i not packed, one more.
module wrong_router (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic [23:0]       place_i,
  input  logic [9:0]        fifo_depth_i,
  input  logic [287:0]      in_data_i [5],
  input  logic [4:0]        in_valid_i,
  output logic [3:0]        in_busy_o,
  output logic [4:0][287:0] out_data_o,
  output logic [4:0]        out_valid_o,
  input  logic              test_mode_i
);

  assign place_i     = '0;
  assign in_busy_o   = {4{test_mode_i & clk_i & rst_ni}};
  assign out_valid_o = in_valid_i & {5{fifo_depth_i == '0}};
  assign out_data_o  = {5{in_data_i[0]}};

endmodule
