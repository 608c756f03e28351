// SPDX-License-Identifier: Apache-2.0
// The project's command engine with a counter of its reads of the agent. WRONG_PORTS: bus_data_i is missing, pc_last_i
// has a bit too many, and scan_i is one more.
module wrapped_command_engine (
  input  logic        clk_i,
  input  logic        rst_ni,
`ifdef WRONG_PORTS
  input  logic [7:0]  pc_last_i,
`else
  input  logic [6:0]  pc_last_i,
`endif
  input  logic        host_write_i,
  input  logic        host_read_i,
  input  logic [31:0] host_write_offset_i,
  input  logic [31:0] host_read_offset_i,
  input  logic [63:0] host_data_i,
  output logic [63:0] host_data_o,
  output logic        bus_write_o,
  output logic        bus_read_o,
  output logic [31:0] bus_offset_o,
  output logic [63:0] bus_data_o,
  output logic        quiet_o,
`ifdef WRONG_PORTS
  input  logic        scan_i
`else
  input  logic [63:0] bus_data_i
`endif
);

`ifdef WRONG_PORTS
  logic [63:0] bus_data_i;
  assign bus_data_i = '0;
`endif
  logic [31:0] reads_q /* verilator public_flat_rd */;

  ktpu_command_engine u_command_engine (.*);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reads_q <= '0;
    else if (bus_read_o) reads_q <= reads_q + 32'd1;
  end

endmodule
