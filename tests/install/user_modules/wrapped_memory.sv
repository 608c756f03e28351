// SPDX-License-Identifier: Apache-2.0
// The project's memory agent with a counter of read addresses that the DRAM took. WRONG_PORTS: b_valid_i is missing, at_i
// has a bit too many, and scan_i is one more.
module wrapped_memory (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [21:0]   config_i,
`ifdef WRONG_PORTS
  input  logic [32:0]   at_i,
`else
  input  logic [31:0]   at_i,
`endif
  input  logic [1151:0] in_data_i,
  input  logic [3:0]    in_valid_i,
  output logic [3:0]    in_busy_o,
  output logic [1151:0] out_data_o,
  output logic [3:0]    out_valid_o,
  input  logic [3:0]    out_busy_i,
  output logic          client_valid_o,
  output logic [287:0]  client_data_o,
  input  logic          client_ready_i,
  input  logic          client_valid_i,
  input  logic [287:0]  client_data_i,
  output logic          client_taken_o,
  input  logic          window_aw_valid_i,
  input  logic [39:0]   window_aw_addr_i,
  input  logic [8:0]    window_aw_beats_i,
  output logic          window_aw_busy_o,
  input  logic          window_ar_valid_i,
  input  logic [39:0]   window_ar_addr_i,
  input  logic [8:0]    window_ar_beats_i,
  output logic          window_ar_busy_o,
  input  logic          window_w_valid_i,
  input  logic [255:0]  window_w_data_i,
  output logic          window_w_busy_o,
  output logic          window_r_valid_o,
  output logic [255:0]  window_r_data_o,
  output logic          window_r_last_o,
  input  logic          window_r_busy_i,
  output logic          window_b_valid_o,
  input  logic          window_b_busy_i,
  input  logic [1:0]    register_valid_i,
  input  logic [15:0]   register_offset_i,
  input  logic [127:0]  register_data_i,
  output logic [15:0]   read_count_o,
  output logic [15:0]   write_count_o,
  output logic          mover_busy_o,
  output logic [23:0]   mover_moves_o,
  output logic [3:0]    mover_fault_o,
  input  logic [7:0]    status_index_i,
  output logic [127:0]  status_o,
  output logic          resting_o,
  output logic [1:0]    link_valid_o,
  output logic [767:0]  link_data_o,
  input  logic [1:0]    link_valid_i,
  input  logic [767:0]  link_data_i,
  output logic          ar_valid_o,
  output logic [39:0]   ar_addr_o,
  output logic [8:0]    ar_beats_o,
  output logic [2:0]    ar_id_o,
  input  logic          ar_ready_i,
  output logic          aw_valid_o,
  output logic [39:0]   aw_addr_o,
  output logic [8:0]    aw_beats_o,
  output logic [2:0]    aw_id_o,
  input  logic          aw_ready_i,
  output logic          w_valid_o,
  output logic [1023:0] w_data_o,
  output logic [3:0]    w_lanes_o,
  output logic          w_last_o,
  input  logic          w_ready_i,
  input  logic          r_valid_i,
  input  logic [1023:0] r_data_i,
  input  logic [2:0]    r_id_i,
  output logic          r_ready_o,
  input  logic [2:0]    b_id_i,
  output logic          b_ready_o,
`ifdef WRONG_PORTS
  input  logic          scan_i
`else
  input  logic          b_valid_i
`endif
);

`ifdef WRONG_PORTS
  logic b_valid_i;
  assign b_valid_i = '0;
`endif
  logic [31:0] reads_q /* verilator public_flat_rd */;

  ktpu_memory u_memory (.*);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reads_q <= '0;
    else if (ar_valid_o && ar_ready_i) reads_q <= reads_q + 32'd1;
  end

endmodule
