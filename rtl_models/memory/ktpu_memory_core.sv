// SPDX-License-Identifier: Apache-2.0
// The memory agent of one mesh (memory.md) as far as the FIFOs of its DRAM bus: memory ports at their coordinates, the
// multiplexers that let the control agent and the interlink share these coordinates, and the way to one DRAM.
//
// in_busy_o looks at the kind of the flit offered in the same cycle (section 2).

`include "ktpu_assert.svh"

module ktpu_memory_core
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

  // The FIFOs of the DRAM bus, nearer end. Identifiers are indices of requesters: ports, host window, mover, inbound
  // remote.
  output logic                      ar_push_o,
  output burst_t                    ar_o,
  input  logic                      ar_full_i,
  output logic                      aw_push_o,
  output burst_t                    aw_o,
  input  logic                      aw_full_i,
  output logic                      w_push_o,
  output write_beat_t               w_o,
  input  logic                      w_full_i,
  // With one read in flight all read data is at the head of FIFO 0, and r_id_i tells whose it is. With more each
  // requester has its own FIFO: by slot, MaxPorts of the ports before the others.
  input  requester_mask_t           r_valid_i,
  input  bus_beat_t [MaxRequesters-1:0] r_data_i,
  input  requester_t                r_id_i,
  output requester_mask_t           r_pop_o,
  // Taken as they come.
  input  logic                      b_valid_i,
  input  requester_t                b_id_i
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

  assign exists = ~(port_mask_t'('1) << config_i.num_ports);

  // --- In: by mark and kind; of what is not the memory's, one flit a cycle, round robin
  port_mask_t           for_client, selected;
  port_mask_t           remote, remote_taken;  // for another mesh
  logic [PortWidth-1:0] pointer_d, pointer_q;

  always_comb begin : classify
    for_client = '0;
    engine_in  = '0;
    remote     = '0;
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      if (in_valid_i[p] && exists[p]) begin
        remote[p]     = config_i.interlink_used && in_data_i[p].rsvd[2];
        for_client[p] = !remote[p] && !is_memory(in_data_i[p].kind);
        engine_in[p]  = !remote[p] && is_memory(in_data_i[p].kind) && !engine_busy[p];
      end
    end
  end

  ktpu_arbiter #(
    .Requests (MaxPorts)
  ) u_client_arbiter (
    .clk_i, .rst_ni,
    .request_i (for_client), .first_i (pointer_q), .grant_o (selected)
  );

  assign in_busy_o      = (in_valid_i & ~for_client & ~remote & engine_busy) | (remote & ~remote_taken) |
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

  // --- Out: the control agent before the interlink before the engine. The first two leave by the port on their flit's
  // row, the highest first, else port 0.
  port_mask_t client_at, remote_at;
  logic       remote_valid;
  flit_t      remote_data;

  function automatic port_mask_t port_on(pos_t row, coord_t [MaxPorts-1:0] at, port_mask_t there);
    port_mask_t port;
    port = port_mask_t'(1);
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      if (there[p] && at[p].y == row) port = port_mask_t'(1) << p;
    end
    return port;
  endfunction

  assign client_at = client_valid_i ? port_on(client_data_i.dst_y, at_i, exists) : '0;
  assign remote_at = (remote_valid ? port_on(remote_data.dst_y, at_i, exists) : '0) & ~client_at;

  always_comb begin : outputs
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      out_data_o[p] = client_at[p] ? client_data_i : remote_at[p] ? remote_data : engine_data[p];
    end
  end
  assign out_valid_o    = engine_valid | client_at | remote_at;
  assign engine_taken   = engine_valid & ~client_at & ~remote_at & ~out_busy_i;
  assign client_taken_o = (client_at & ~out_busy_i) != '0;

  for (genvar p = 0; p < MaxPorts; p++) begin : gen_port
    ktpu_memory_port u_port (
      .clk_i,
      .rst_ni,
      .staging_i     (config_i.staging),
      .mesh_id_i     (config_i.mesh_id),
      .at_i          (at_i[p]),
      .reads_i       (config_i.reads),
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

  // --- The interlink. Without one in use nothing is remote, and none of its registers changes.
  logic                  write_valid, write_accepted, word_valid, word_taken;
  addr_t                 write_addr;
  word_t                 word;
  mesh_t                 mesh_id;
  logic                  split_resting, interlink_resting;
  register_write_t [1:0] interlink_write;
  logic [1:0][63:0]      status;

  for (genvar r = 0; r < 2; r++) begin : gen_interlink_register
    assign interlink_write[r] = '{valid: register_valid_i[r] && config_i.interlink_used,
                                  offset: register_offset_i[r], data: register_data_i[r]};
    assign status_o[r] = config_i.interlink_used ? status[r] : '0;
  end

  ktpu_interlink u_interlink (
    .clk_i,
    .rst_ni,
    .quirks_i         (config_i.quirks),
    .num_ports_i      (config_i.num_ports),
    .mesh_id_i        (config_i.mesh_id),
    .connected_i      (config_i.links),
    .remote_i         (remote),
    .in_data_i,
    .remote_taken_o   (remote_taken),
    .local_i          (config_i.interlink_used ? engine_in : '0),
    .out_valid_o      (remote_valid),
    .out_data_o       (remote_data),
    .out_taken_i      ((remote_at & ~out_busy_i) != '0),
    .request_o        (request[Remote]),
    .reply_i          (reply[Remote]),
    .write_valid_i    (write_valid),
    .write_addr_i     (write_addr),
    .write_accepted_o (write_accepted),
    .word_valid_i     (word_valid),
    .word_i           (word),
    .word_taken_o     (word_taken),
    .mesh_id_o        (mesh_id),
    .write_i          (interlink_write),
    .status_index_i,
    .status_o         (status),
    .link_valid_o,
    .link_data_o,
    .link_valid_i,
    .link_data_i,
    .resting_o        (interlink_resting)
  );

  ktpu_interlink_split u_split (
    .clk_i,
    .rst_ni,
    .enable_i          (config_i.interlink),
    .used_i            (config_i.interlink_used),
    .mesh_id_i         (mesh_id),
    .up_i              (mover_request),
    .up_o              (mover_reply),
    .down_o            (request[Mover]),
    .down_i            (reply[Mover]),
    .remote_valid_o    (write_valid),
    .remote_addr_o     (write_addr),
    .remote_accepted_i (write_accepted),
    .word_valid_o      (word_valid),
    .word_o            (word),
    .word_taken_i      (word_taken),
    .resting_o         (split_resting)
  );

  ktpu_mover u_mover (
    .clk_i,
    .rst_ni,
    .early_done_i (config_i.quirks),
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
    .staging_i    (config_i.staging == ConvergedStaging),
    .mesh_id_i    (config_i.mesh_id),
    .reads_i      (config_i.reads),
    .request_i    (request),
    .reply_o      (reply),
    .ar_push_o,
    .ar_o         (ar),
    .ar_full_i,
    .aw_push_o,
    .aw_o         (aw),
    .aw_full_i,
    .w_push_o,
    .w_o,
    .w_full_i,
    .r_valid_i,
    .r_data_i,
    .r_id_i       (slot_of(r_id_i, config_i.num_ports)),
    .r_pop_o,
    .b_valid_i,
    .b_id_i       (slot_of(b_id_i, config_i.num_ports))
  );

  assign ar_o      = '{addr: ar.addr, beats: ar.beats, id: number_of(ar.id, config_i.num_ports)};
  assign aw_o      = '{addr: aw.addr, beats: aw.beats, id: number_of(aw.id, config_i.num_ports)};
  assign resting_o = &resting && mover_resting && window_resting && split_resting && interlink_resting &&
                     !client_valid_i;

  `KTPU_ASSERT(ConfigIsStatic, $stable(config_i) && $stable(at_i))
  `KTPU_ASSERT(ConfigIsInRange, config_i.num_ports != '0 && config_i.num_ports <= 3'(MaxPorts) &&
                                config_i.lanes_log2 != 2'd3 && config_i.reads != '0 &&
                                config_i.reads <= reads_t'(MaxReads) && (config_i.interlink || !config_i.interlink_used))

endmodule
