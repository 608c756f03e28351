// SPDX-License-Identifier: Apache-2.0
// The memory agent of one mesh (memory.md) with a DRAM on its clock: ktpu_memory_core and the FIFOs of the DRAM bus.
//
// in_busy_o looks at the kind of the flit offered in the same cycle (section 2).

`include "ktpu_assert.svh"

module ktpu_memory
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
  import ktpu_interlink_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // Quasi-static: change only while rst_ni is low. Tied to constants in a chip.
  input  config_t                   config_i,
  input  coord_t [MaxPorts-1:0]     at_i,  // of the ports

  input  flit_t [MaxPorts-1:0]      in_data_i,
  input  logic  [MaxPorts-1:0]      in_valid_i,
  output logic  [MaxPorts-1:0]      in_busy_o,
  output flit_t [MaxPorts-1:0]      out_data_o,
  output logic  [MaxPorts-1:0]      out_valid_o,
  input  logic  [MaxPorts-1:0]      out_busy_i,

  // To the control agent: the one flit selected for it in this cycle; not taken, it is lost.
  output logic                      client_valid_o,
  output flit_t                     client_data_o,
  input  logic                      client_ready_i,
  // From it: a flit that stays until it is taken.
  input  logic                      client_valid_i,
  input  flit_t                     client_data_i,
  output logic                      client_taken_o,

  // The host's window (section 8).
  input  logic                      window_aw_valid_i,
  input  addr_t                     window_aw_addr_i,
  input  beats_t                    window_aw_beats_i,
  output logic                      window_aw_busy_o,
  input  logic                      window_ar_valid_i,
  input  addr_t                     window_ar_addr_i,
  input  beats_t                    window_ar_beats_i,
  output logic                      window_ar_busy_o,
  input  logic                      window_w_valid_i,
  input  word_t                     window_w_data_i,
  output logic                      window_w_busy_o,
  output logic                      window_r_valid_o,
  output word_t                     window_r_data_o,
  output logic                      window_r_last_o,
  input  logic                      window_r_busy_i,
  output logic                      window_b_valid_o,
  input  logic                      window_b_busy_i,

  // Writes of the mover's registers, from the register buses; the first takes effect first.
  input  logic [1:0]                register_valid_i,
  input  logic [1:0][7:0]           register_offset_i,
  input  logic [1:0][63:0]          register_data_i,
  // AUX_STAT: bursts issued by all ports, wrapping (section 4.6), and the mover's status.
  output logic [15:0]               read_count_o,
  output logic [15:0]               write_count_o,
  output logic                      mover_busy_o,
  output logic [23:0]               mover_moves_o,
  output logic [3:0]                mover_fault_o,
  // AUX_STATW: the interlink's status words (section 11.5), one for each register bus.
  input  logic [1:0][3:0]           status_index_i,
  output logic [1:0][63:0]          status_o,
  // Nothing changes any more unless something comes.
  output logic                      resting_o,

  // The interlink's links.
  output logic  [Links-1:0]         link_valid_o,
  output beat_t [Links-1:0]         link_data_o,
  input  logic  [Links-1:0]         link_valid_i,
  input  beat_t [Links-1:0]         link_data_i,

  // The DRAM bus; identifiers are indices of requesters: ports, host window, mover, inbound remote.
  output logic                      ar_valid_o,
  output addr_t                     ar_addr_o,
  output beats_t                    ar_beats_o,
  output requester_t                ar_id_o,
  input  logic                      ar_ready_i,
  output logic                      aw_valid_o,
  output addr_t                     aw_addr_o,
  output beats_t                    aw_beats_o,
  output requester_t                aw_id_o,
  input  logic                      aw_ready_i,
  output logic                      w_valid_o,
  output bus_beat_t                 w_data_o,
  output logic [MaxLanes-1:0]       w_lanes_o,
  output logic                      w_last_o,
  input  logic                      w_ready_i,
  input  logic                      r_valid_i,
  input  bus_beat_t                 r_data_i,
  input  requester_t                r_id_i,
  output logic                      r_ready_o,
  input  logic                      b_valid_i,
  input  requester_t                b_id_i,
  output logic                      b_ready_o
);

  logic                          ar_push, ar_full, aw_push, aw_full, w_push, w_full, b_valid;
  burst_t                        pushed_ar, pushed_aw, ar, aw;
  write_beat_t                   pushed_w, w;
  requester_mask_t               r_valid, r_pop;
  bus_beat_t [MaxRequesters-1:0] r_data;
  requester_t                    r_id, b_id;

  ktpu_memory_core u_core (
    .clk_i,
    .rst_ni,
    .config_i,
    .at_i,
    .in_data_i,
    .in_valid_i,
    .in_busy_o,
    .out_data_o,
    .out_valid_o,
    .out_busy_i,
    .client_valid_o,
    .client_data_o,
    .client_ready_i,
    .client_valid_i,
    .client_data_i,
    .client_taken_o,
    .window_aw_valid_i,
    .window_aw_addr_i,
    .window_aw_beats_i,
    .window_aw_busy_o,
    .window_ar_valid_i,
    .window_ar_addr_i,
    .window_ar_beats_i,
    .window_ar_busy_o,
    .window_w_valid_i,
    .window_w_data_i,
    .window_w_busy_o,
    .window_r_valid_o,
    .window_r_data_o,
    .window_r_last_o,
    .window_r_busy_i,
    .window_b_valid_o,
    .window_b_busy_i,
    .register_valid_i,
    .register_offset_i,
    .register_data_i,
    .read_count_o,
    .write_count_o,
    .mover_busy_o,
    .mover_moves_o,
    .mover_fault_o,
    .status_index_i,
    .status_o,
    .resting_o,
    .link_valid_o,
    .link_data_o,
    .link_valid_i,
    .link_data_i,
    .ar_push_o (ar_push),
    .ar_o      (pushed_ar),
    .ar_full_i (ar_full),
    .aw_push_o (aw_push),
    .aw_o      (pushed_aw),
    .aw_full_i (aw_full),
    .w_push_o  (w_push),
    .w_o       (pushed_w),
    .w_full_i  (w_full),
    .r_valid_i (r_valid),
    .r_data_i  (r_data),
    .r_id_i    (r_id),
    .r_pop_o   (r_pop),
    .b_valid_i (b_valid),
    .b_id_i    (b_id)
  );

  // FIFOs of read data are by slot.
  requester_t into;
  assign into = (config_i.reads == reads_t'(1) || r_id_i < config_i.num_ports)
                    ? r_id_i : r_id_i + requester_t'(MaxPorts) - config_i.num_ports;

  ktpu_memory_bus u_bus (
    .clk_i,
    .rst_ni,
    .lanes_log2_i (config_i.lanes_log2),
    .reads_i      (config_i.reads),
    .ar_push_i    (ar_push),
    .ar_i         (pushed_ar),
    .ar_full_o    (ar_full),
    .aw_push_i    (aw_push),
    .aw_i         (pushed_aw),
    .aw_full_o    (aw_full),
    .w_push_i     (w_push),
    .w_i          (pushed_w),
    .w_full_o     (w_full),
    .r_valid_o    (r_valid),
    .r_data_o     (r_data),
    .r_id_o       (r_id),
    .r_pop_i      (r_pop),
    .b_valid_o    (b_valid),
    .b_id_o       (b_id),
    .ar_valid_o,
    .ar_o         (ar),
    .ar_ready_i,
    .aw_valid_o,
    .aw_o         (aw),
    .aw_ready_i,
    .w_valid_o,
    .w_o          (w),
    .w_ready_i,
    .r_valid_i,
    .r_data_i,
    .r_id_i       (into),
    .r_ready_o,
    .b_valid_i,
    .b_id_i,
    .b_ready_o
  );

  assign ar_addr_o  = ar.addr;
  assign ar_beats_o = ar.beats;
  assign ar_id_o    = ar.id;
  assign aw_addr_o  = aw.addr;
  assign aw_beats_o = aw.beats;
  assign aw_id_o    = aw.id;
  assign w_data_o   = w.data;
  assign w_lanes_o  = w.lanes;
  assign w_last_o   = w.last;

endmodule
