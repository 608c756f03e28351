// SPDX-License-Identifier: Apache-2.0
// my_router with a fault: it loses bit 5 of the payload of read responses.
module broken_router (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [23:0]       place_i,
  input  logic [9:0]        fifo_depth_i,
  input  logic [4:0][287:0] in_data_i,
  input  logic [4:0]        in_valid_i,
  output logic [4:0]        in_busy_o,
  output logic [4:0][287:0] out_data_o,
  output logic [4:0]        out_valid_o,
  input  logic [4:0]        out_busy_i
);

  logic [4:0][287:0] out_data;

  my_router u_router (
    .clk_i,
    .rst_ni,
    .place_i,
    .fifo_depth_i,
    .in_data_i,
    .in_valid_i,
    .in_busy_o,
    .out_data_o (out_data),
    .out_valid_o,
    .out_busy_i
  );

  always_comb begin
    out_data_o = out_data;
    for (int unsigned p = 0; p < 5; p++) begin
      if (out_data[p][271:268] == 4'h2) out_data_o[p][5] = 1'b0;
    end
  end

endmodule
