// SPDX-License-Identifier: Apache-2.0
// The project's router with a counter of the flits that went out to the north.
module wrapped_router (
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

  logic [31:0] north_q /* verilator public_flat_rd */;

  ktpu_router u_router (.*);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) north_q <= '0;
    else if (out_valid_o[0] && !out_busy_i[0]) north_q <= north_q + 32'd1;
  end

endmodule
