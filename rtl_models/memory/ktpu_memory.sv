// SPDX-License-Identifier: Apache-2.0
// The memory agent of one mesh (memory.md): memory ports at their coordinates, the multiplexers that let the
// control agent share these coordinates, and the way to one DRAM.
//
// in_busy_o looks at the kind of the flit offered in the same cycle (section 2).

`include "ktpu_assert.svh"

module ktpu_memory
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
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
  // Nothing changes any more unless something comes.
  output logic                      resting_o,

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
  output logic [MaxLanes*PayloadWidth-1:0] w_data_o,
  output logic [MaxLanes-1:0]       w_lanes_o,
  output logic                      w_last_o,
  input  logic                      w_ready_i,
  input  logic                      r_valid_i,
  input  logic [MaxLanes*PayloadWidth-1:0] r_data_i,
  input  requester_t                r_id_i,
  output logic                      r_ready_o,
  input  logic                      b_valid_i,
  input  requester_t                b_id_i,
  output logic                      b_ready_o
);

  typedef logic [MaxPorts-1:0] port_mask_t;

  localparam int unsigned PortWidth = $clog2(MaxPorts);

  request_t [MaxRequesters-1:0] request;
  reply_t   [MaxRequesters-1:0] reply;
  port_mask_t                   exists;
  port_mask_t                   engine_busy, engine_valid, engine_in, engine_taken;
  flit_t [MaxPorts-1:0]         engine_data;
  logic [MaxPorts-1:0][15:0]    reads, writes;
  port_mask_t                   resting;
  burst_t                       ar, aw;
  write_beat_t                  w;

  assign exists = ~(port_mask_t'('1) << config_i.num_ports);

  // --- In: by kind; of what is not the memory's, one flit a cycle, round robin
  port_mask_t           for_client, selected;
  logic [PortWidth-1:0] pointer_d, pointer_q;

  always_comb begin : classify
    for_client = '0;
    engine_in  = '0;
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      if (in_valid_i[p] && exists[p]) begin
        for_client[p] = !is_memory(in_data_i[p].kind);
        engine_in[p]  = is_memory(in_data_i[p].kind) && !engine_busy[p];
      end
    end
  end

  always_comb begin : select
    port_mask_t after;
    after    = for_client & (port_mask_t'('1) << pointer_q);
    if (after == '0) after = for_client;
    selected = after & (~after + port_mask_t'(1));
  end

  assign in_busy_o      = (in_valid_i & ~for_client & engine_busy) |
                          (config_i.client ? for_client & ~selected : '0);
  assign client_valid_o = config_i.client && for_client != '0;

  always_comb begin : to_client
    client_data_o = '0;
    pointer_d     = pointer_q;
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      if (selected[p]) begin
        client_data_o |= in_data_i[p];
        if (client_valid_o && client_ready_i) begin
          pointer_d = (3'(p) + 3'd1 == config_i.num_ports) ? '0 : PortWidth'(p + 1);
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pointer_q <= '0;
    else         pointer_q <= pointer_d;
  end

  // --- Out: the control agent's flit leaves by the port on its destination's row, the highest first, else port 0
  port_mask_t client_at;

  always_comb begin : row
    client_at = '0;
    if (client_valid_i) begin
      client_at = port_mask_t'(1);
      for (int unsigned p = 0; p < MaxPorts; p++) begin
        if (exists[p] && at_i[p].y == client_data_i.dst_y) client_at = port_mask_t'(1) << p;
      end
    end
  end

  always_comb begin : outputs
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      out_data_o[p] = client_at[p] ? client_data_i : engine_data[p];
    end
  end
  assign out_valid_o    = engine_valid | client_at;
  assign engine_taken   = engine_valid & ~client_at & ~out_busy_i;
  assign client_taken_o = (client_at & ~out_busy_i) != '0;

  for (genvar p = 0; p < MaxPorts; p++) begin : gen_port
    ktpu_memory_port u_port (
      .clk_i,
      .rst_ni,
      .staging_i     (config_i.staging),
      .mesh_id_i     (config_i.mesh_id),
      .at_i          (at_i[p]),
      .in_valid_i    (engine_in[p]),
      .in_data_i     (in_data_i[p]),
      .busy_o        (engine_busy[p]),
      .out_data_o    (engine_data[p]),
      .out_valid_o   (engine_valid[p]),
      .out_taken_i   (engine_taken[p]),
      .request_o     (request[p]),
      .reply_i       (reply[p]),
      .read_count_o  (reads[p]),
      .write_count_o (writes[p]),
      .resting_o     (resting[p])
    );
  end

  always_comb begin : counts
    read_count_o  = '0;
    write_count_o = '0;
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      read_count_o  = read_count_o + reads[p];
      write_count_o = write_count_o + writes[p];
    end
  end

  localparam int unsigned Window = MaxPorts;
  localparam int unsigned Mover  = MaxPorts + 1;
  localparam int unsigned Remote = MaxPorts + 2;

  logic                  mover_resting;
  register_write_t [1:0] register_write;

  for (genvar r = 0; r < 2; r++) begin : gen_register
    assign register_write[r] = '{valid: register_valid_i[r], offset: register_offset_i[r],
                                 data: register_data_i[r]};
  end

  request_t mover_request;
  reply_t   mover_reply;

  ktpu_memory_split u_split (
    .clk_i,
    .rst_ni,
    .enable_i (config_i.split),
    .up_i     (mover_request),
    .up_o     (mover_reply),
    .down_o   (request[Mover]),
    .down_i   (reply[Mover])
  );

  ktpu_mover u_mover (
    .clk_i,
    .rst_ni,
    .early_done_i (config_i.early_done),
    .write_i      (register_write),
    .request_o    (mover_request),
    .reply_i      (mover_reply),
    .busy_o       (mover_busy_o),
    .moves_o      (mover_moves_o),
    .fault_o      (mover_fault_o),
    .resting_o    (mover_resting)
  );

  logic window_resting;

  ktpu_memory_window u_window (
    .clk_i,
    .rst_ni,
    .aw_valid_i (window_aw_valid_i),
    .aw_addr_i  (window_aw_addr_i),
    .aw_beats_i (window_aw_beats_i),
    .aw_busy_o  (window_aw_busy_o),
    .ar_valid_i (window_ar_valid_i),
    .ar_addr_i  (window_ar_addr_i),
    .ar_beats_i (window_ar_beats_i),
    .ar_busy_o  (window_ar_busy_o),
    .w_valid_i  (window_w_valid_i),
    .w_data_i   (window_w_data_i),
    .w_busy_o   (window_w_busy_o),
    .r_valid_o  (window_r_valid_o),
    .r_data_o   (window_r_data_o),
    .r_last_o   (window_r_last_o),
    .r_busy_i   (window_r_busy_i),
    .b_valid_o  (window_b_valid_o),
    .b_busy_i   (window_b_busy_i),
    .request_o  (request[Window]),
    .reply_i    (reply[Window]),
    .resting_o  (window_resting)
  );

  // Inbound remote is not part of this module: it requests nothing.
  logic unused_replies;
  assign unused_replies  = &{1'b0, reply[Remote]};
  assign request[Remote] = '0;

  // Requesters on the bus are counted without the ports that do not exist.
  function automatic requester_t number_of(requester_t index, logic [2:0] num_ports);
    return (index < requester_t'(MaxPorts)) ? index : index - requester_t'(MaxPorts) + num_ports;
  endfunction
  function automatic requester_t slot_of(requester_t index, logic [2:0] num_ports);
    return (index < num_ports) ? index : index + requester_t'(MaxPorts) - num_ports;
  endfunction

  ktpu_memory_path u_path (
    .clk_i,
    .rst_ni,
    .lanes_log2_i (config_i.lanes_log2),
    .staging_i    (config_i.staging),
    .mesh_id_i    (config_i.mesh_id),
    .request_i    (request),
    .reply_o      (reply),
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
    .r_id_i       (slot_of(r_id_i, config_i.num_ports)),
    .r_ready_o,
    .b_valid_i,
    .b_id_i       (slot_of(b_id_i, config_i.num_ports)),
    .b_ready_o
  );

  assign ar_addr_o  = ar.addr;
  assign ar_beats_o = ar.beats;
  assign ar_id_o    = number_of(ar.id, config_i.num_ports);
  assign aw_addr_o  = aw.addr;
  assign aw_beats_o = aw.beats;
  assign aw_id_o    = number_of(aw.id, config_i.num_ports);
  assign w_data_o   = w.data;
  assign w_lanes_o  = w.lanes;
  assign w_last_o   = w.last;
  assign resting_o  = &resting && mover_resting && window_resting && !client_valid_i;

  `KTPU_ASSERT(ConfigIsStatic, $stable(config_i) && $stable(at_i))
  `KTPU_ASSERT(ConfigIsInRange, config_i.num_ports != '0 && config_i.num_ports <= 3'(MaxPorts) &&
                                config_i.lanes_log2 != 2'd3)

endmodule
