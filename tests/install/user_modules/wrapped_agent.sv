// SPDX-License-Identifier: Apache-2.0
// The project's control agent with a counter of the flits that it lost. WRONG_PORTS: out_taken_i is missing, quiet_o
// has a bit too many, and scan_i is one more.
module wrapped_agent (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [34:0]  config_i,
  input  logic [1:0]   write_i,
  input  logic [1:0]   read_i,
  input  logic [15:0]  strobe_i,
  input  logic [31:0]  write_offset_i,
  input  logic [31:0]  read_offset_i,
  input  logic [127:0] write_data_i,
  output logic [127:0] read_data_o,
  output logic [1:0]   aux_valid_o,
  output logic [15:0]  aux_offset_o,
  output logic [127:0] aux_data_o,
  output logic [7:0]   aux_index_o,
  input  logic [127:0] aux_status_i,
  input  logic [63:0]  aux_stat_i,
  input  logic [287:0] in_data_i,
  input  logic         in_valid_i,
  output logic         in_ready_o,
  output logic [287:0] out_data_o,
  output logic         out_valid_o,
  output logic [289:0] events_o,
`ifdef WRONG_PORTS
  output logic [1:0]   quiet_o,
`else
  output logic         quiet_o,
`endif
`ifdef WRONG_PORTS
  input  logic         scan_i
`else
  input  logic         out_taken_i
`endif
);

`ifdef WRONG_PORTS
  logic out_taken_i;
  assign out_taken_i = '0;
`endif
  logic [31:0] lost_q /* verilator public_flat_rd */;

  ktpu_agent u_agent (.*);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_q <= '0;
    else if (in_valid_i && !in_ready_o) lost_q <= lost_q + 32'd1;
  end

endmodule
