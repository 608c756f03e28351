// SPDX-License-Identifier: Apache-2.0
// The interlink of one mesh, a part of its memory agent (memory.md section 11): what leaves (encapsulator, the mover's
// remote writes, doorbells), what arrives, what passes through, and its registers.
//
// remote_taken_o looks at the flits offered in the same cycle; every other output but status_o, which follows
// status_index_i, is a register or a function of registers and of the register writes of the cycle.

`include "ktpu_assert.svh"

module ktpu_interlink
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
  import ktpu_interlink_pkg::*;
(
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // Quasi-static: change only while rst_ni is low.
  input  logic                     quirks_i,     // I1 and I2
  input  logic [2:0]               num_ports_i,  // memory ports, 1..MaxPorts
  input  mesh_t                    mesh_id_i,
  input  logic [Links-1:0]         connected_i,  // a mesh is at the other end of the link

  // Flits offered to the memory ports: those with the remote mark, and the one that is taken (section 2).
  input  logic [MaxPorts-1:0]      remote_i,
  input  flit_t [MaxPorts-1:0]     in_data_i,
  output logic [MaxPorts-1:0]      remote_taken_o,
  // Flits without it that the ports' engines take.
  input  logic [MaxPorts-1:0]      local_i,

  // A flit of another mesh for this one; it stays until it is taken.
  output logic                     out_valid_o,
  output flit_t                    out_data_o,
  input  logic                     out_taken_i,

  // Inbound words, a requester of the DRAM path.
  output request_t                 request_o,
  input  reply_t                   reply_i,

  // A word of the mover for another mesh (ktpu_interlink_split).
  input  logic                     write_valid_i,
  input  addr_t                    write_addr_i,
  output logic                     write_accepted_o,
  input  logic                     word_valid_i,
  input  word_t                    word_i,
  output logic                     word_taken_o,
  // The mesh's number as its register stands, writes of this cycle included.
  output mesh_t                    mesh_id_o,

  // Register writes, the first takes effect first, and status words (section 11.5), one for each register bus.
  input  register_write_t [1:0]    write_i,
  input  logic [1:0][3:0]          status_index_i,
  output logic [1:0][63:0]         status_o,

  // The links. No ready comes back.
  output logic  [Links-1:0]        link_valid_o,
  output beat_t [Links-1:0]        link_data_o,
  input  logic  [Links-1:0]        link_valid_i,
  input  beat_t [Links-1:0]        link_data_i,

  // Nothing queued or on its way.
  output logic                     resting_o
);

  typedef logic [MaxPorts-1:0] port_mask_t;
  localparam int unsigned PortWidth = $clog2(MaxPorts);

  // --- Registers
  logic             enabled_d, enabled_q;
  logic             renamed_d, renamed_q;  // the mesh has another number than it was built with
  mesh_t            new_id_d, new_id_q;
  mesh_t            mesh_id;               // in this cycle, its register writes included
  logic [4:0]       faults_d, faults_q;
  logic             bell_valid_d, bell_valid_q;
  mesh_t            bell_mesh_d, bell_mesh_q;
  logic [7:0]       bell_tag_d, bell_tag_q;
  logic             bell_accepted;
  logic             clear_doorbells, clear_faults;

  always_comb begin : registers
    enabled_d       = enabled_q;
    renamed_d       = renamed_q;
    new_id_d        = new_id_q;
    bell_valid_d    = bell_valid_q && !bell_accepted;
    bell_mesh_d     = bell_mesh_q;
    bell_tag_d      = bell_tag_q;
    clear_doorbells = 1'b0;
    clear_faults    = 1'b0;
    for (int unsigned w = 0; w < 2; w++) begin
      if (write_i[w].valid) begin
        unique case (write_i[w].offset)
          InterlinkControlOffset: begin
            enabled_d        = write_i[w].data[InterlinkControlEnableLsb];
            clear_doorbells |= write_i[w].data[InterlinkControlClearDoorbellsLsb];
            clear_faults    |= write_i[w].data[InterlinkControlClearFaultsLsb];
          end
          InterlinkMeshIdOffset: begin
            renamed_d = 1'b1;
            new_id_d  = write_i[w].data[1:0];
          end
          InterlinkDoorbellOffset: begin
            bell_valid_d = 1'b1;
            bell_mesh_d  = write_i[w].data[InterlinkDoorbellMeshLsb+:InterlinkDoorbellMeshWidth];
            bell_tag_d   = write_i[w].data[InterlinkDoorbellTagLsb+:InterlinkDoorbellTagWidth];
          end
          default: ;
        endcase
      end
    end
  end
  assign mesh_id   = renamed_d ? new_id_d : mesh_id_i;
  assign mesh_id_o = mesh_id;

  // --- Flits out: round robin over the ports. The reference stays on the first in turn even if its flit cannot be taken
  // (quirk I2); without it one that can is preferred, and a packet of another burst in front of the open one's is cut.
  logic                 enc_empty, enc_closed, enc_load, enc_readable, enc_sent, enc_take, enc_close;
  pos_t                 enc_src_x, enc_src_y;
  logic [7:0]           enc_txn;
  logic [2:0]           enc_rsvd;
  logic [5:0]           enc_count;
  flit_t                enc_head, enc_word, taken_flit;
  port_mask_t           fits, continues, selected;
  logic [PortWidth-1:0] pointer_d, pointer_q;
  logic [PortWidth-1:0] open_port_d, open_port_q;  // where the open burst comes in
  logic                 burst_open_d, burst_open_q;  // its last flit has not come
  logic                 is_taken;

  always_comb begin : fitting
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      continues[p] = in_data_i[p].src_x == enc_src_x && in_data_i[p].src_y == enc_src_y &&
                     in_data_i[p].txn == enc_txn && in_data_i[p].rsvd == enc_rsvd;
      fits[p]      = !enabled_q || (!enc_closed && (enc_empty || continues[p]));
    end
  end

  ktpu_arbiter #(
    .Requests (MaxPorts)
  ) u_arbiter (
    .clk_i, .rst_ni,
    .request_i ((!quirks_i && (remote_i & fits) != '0) ? remote_i & fits : remote_i), .first_i (pointer_q),
    .grant_o   (selected)
  );

  assign remote_taken_o = selected & fits;
  assign is_taken       = remote_taken_o != '0;
  assign enc_take       = is_taken && enabled_d;

  always_comb begin : collect
    taken_flit   = '0;
    pointer_d    = pointer_q;
    open_port_d  = open_port_q;
    enc_close    = 1'b0;
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      if (selected[p]) begin
        taken_flit |= in_data_i[p];
        if (is_taken) pointer_d = (3'(p) + 3'd1 == num_ports_i) ? '0 : PortWidth'(p + 1);
        if (enc_take) open_port_d = PortWidth'(p);
        enc_close = !quirks_i && !is_taken && !enc_closed && !enc_empty && open_port_q == PortWidth'(p);
      end
    end
    burst_open_d = enc_take ? !taken_flit.last : burst_open_q;
  end

  ktpu_interlink_encapsulator u_encapsulator (
    .clk_i,
    .rst_ni,
    .take_i     (enc_take),
    .flit_i     (taken_flit),
    .close_i    (enc_close),
    .empty_o    (enc_empty),
    .closed_o   (enc_closed),
    .src_x_o    (enc_src_x),
    .src_y_o    (enc_src_y),
    .txn_o      (enc_txn),
    .rsvd_o     (enc_rsvd),
    .count_o    (enc_count),
    .load_i     (enc_load),
    .readable_o (enc_readable),
    .head_o     (enc_head),
    .word_o     (enc_word),
    .sent_i     (enc_sent)
  );

  link_request_t [Links-1:0] local_request;
  logic [Links-1:0]          local_grant, local_move;
  beat_t                     local_beat;
  logic                      sender_drops, sender_resting;
  logic [31:0]               doorbells;

  ktpu_interlink_sender u_sender (
    .clk_i,
    .rst_ni,
    .quirks_i,
    .own_mesh_i          (mesh_id),
    .ways_i              (enabled_d ? connected_i : '0),
    .write_valid_i,
    .write_addr_i,
    .write_accepted_o,
    .word_valid_i,
    .word_i,
    .word_taken_o,
    .flits_valid_i       (enc_closed),
    .flits_count_i       (enc_count),
    .flits_txn_i         (enc_txn),
    .flits_mesh_i        (enc_rsvd[1:0]),
    .flits_load_o        (enc_load),
    .flits_readable_i    (enc_readable),
    .flits_head_i        (enc_head),
    .flits_word_i        (enc_word),
    .flits_sent_o        (enc_sent),
    .doorbell_valid_i    (bell_valid_q),
    .doorbell_mesh_i     (bell_mesh_q),
    .doorbell_tag_i      (bell_tag_q),
    .doorbell_accepted_o (bell_accepted),
    .request_o           (local_request),
    .granted_i           (local_grant != '0),
    .beat_o              (local_beat),
    .moved_i             (local_move != '0),
    .dropped_o           (sender_drops),
    .doorbells_o         (doorbells),
    .resting_o           (sender_resting)
  );

  // --- The links, and what passes from one to the other
  link_request_t [Links-1:0]             transit_request;
  logic [Links-1:0]                      transit_grant, transit_move, transit_next;
  logic [Links-1:0]                      transit_d, transit_q;  // link l may send on what came on the other one
  logic [Links-1:0][Classes-1:0]         readable, pop;
  beat_t [Links-1:0][Classes-1:0]        head;
  logic [Links-1:0]                      stops_pop, stops_readable, drops, drops_packet, forwards, passes_on;
  beat_t [Links-1:0]                     stops_head;
  link_status_t [Links-1:0]              link_status;
  logic [Links-1:0]                      link_resting;

  for (genvar l = 0; l < Links; l++) begin : gen_link
    localparam int unsigned Other = 1 - l;
    interlink_header_t passing;
    logic              unused_passing;
    assign unused_passing = &{1'b0, passing.unused_0, passing.odd, passing.address, passing.txn, passing.smesh};
    assign passing = head[Other][Forwarded].header;

    assign transit_request[l] = '{valid: transit_q[l], beats: 7'(passing.len) + 7'd1,
                                  traffic_class: !is_neighbour(mesh_id, l[0], passing.dmesh)};

    ktpu_interlink_link u_link (
      .clk_i,
      .rst_ni,
      .connected_i     (connected_i[l]),
      .out_valid_o     (link_valid_o[l]),
      .out_data_o      (link_data_o[l]),
      .in_valid_i      (link_valid_i[l]),
      .in_data_i       (link_data_i[l]),
      .request_i       ({transit_request[l], local_request[l]}),
      .grant_o         ({transit_grant[l], local_grant[l]}),
      .move_local_o    (local_move[l]),
      .local_beat_i    (local_beat),
      .move_transit_o  (transit_move[l]),
      .transit_valid_i (readable[Other][Forwarded]),
      .transit_beat_i  (head[Other][Forwarded]),
      .transit_next_o  (transit_next[l]),
      .own_mesh_i      (mesh_id),
      .readable_o      (readable[l]),
      .head_o          (head[l]),
      .pop_i           (pop[l]),
      .status_o        (link_status[l]),
      .resting_o       (link_resting[l])
    );

    // Where the chain ends, what was to be passed on goes nowhere. A header that can be read asks in the next cycle.
    assign drops[l]          = !connected_i[l] && readable[Other][Forwarded];
    assign drops_packet[l]   = drops[l] && is_first(passing.kind);
    assign passes_on[l]      = transit_move[l] && readable[Other][Forwarded];
    assign forwards[l]       = passes_on[l] && is_first(passing.kind);
    assign transit_d[l]      = connected_i[l] && !transit_move[l] && !transit_next[l] && readable[Other][Forwarded];
    assign pop[Other][Forwarded] = passes_on[l] || drops[l];
    assign pop[l][Stops]     = stops_pop[l];
    assign stops_readable[l] = readable[l][Stops];
    assign stops_head[l]     = head[l][Stops];
  end

  // --- In
  logic [Meshes-1:0][31:0] received;
  logic [Meshes-1:0][7:0]  last_tag;
  logic [31:0]             ingress_blocked;
  logic                    ingress_resting;

  ktpu_interlink_ingress u_ingress (
    .clk_i,
    .rst_ni,
    .mesh_id_i,
    .readable_i        (stops_readable),
    .head_i            (stops_head),
    .pop_o             (stops_pop),
    .out_valid_o,
    .out_data_o,
    .out_taken_i,
    .request_o,
    .reply_i,
    .clear_doorbells_i (clear_doorbells),
    .received_o        (received),
    .last_tag_o        (last_tag),
    .blocked_o         (ingress_blocked),
    .resting_o         (ingress_resting)
  );

  // --- Sticky faults
  logic     unmarked, unused;
  cu_data_t descriptor;
  assign descriptor = taken_flit.payload;
  assign unused     = &{1'b0, descriptor.buf_id, descriptor.offset, descriptor.len, descriptor.flags,
                        descriptor.unused_0};

  // A request for this mesh's memory that names another mesh. Plain reads are never checked (section 3).
  always_comb begin : check_local
    logic       special;  // address bits 39 and 37:36
    mesh_t      mesh;
    logic [7:0] flags;
    unmarked = 1'b0;
    special  = 1'b0;
    mesh     = '0;
    flags    = '0;
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      special = in_data_i[p].payload[MemReqAddrLsb+39];
      mesh    = in_data_i[p].payload[MemReqAddrLsb+36+:2];
      flags   = in_data_i[p].payload[MemReqFlagsLsb+:MemReqFlagsWidth];
      if (local_i[p] && !special && mesh != mesh_id_i &&
          (in_data_i[p].kind == FlitMemWrReq ||
           (in_data_i[p].kind == FlitMemRdReq && (flags[MemFlagQuant] || flags[MemFlagStream])))) begin
        unmarked = 1'b1;
      end
    end
  end

  always_comb begin : find_faults
    faults_d = clear_faults ? '0 : faults_q;
    if (unmarked) faults_d[InterlinkFaultUnmarked] = 1'b1;
    if (drops_packet != '0 || (sender_drops && enabled_d)) faults_d[InterlinkFaultSwitch] = 1'b1;
    if ((is_taken || sender_drops) && !enabled_d) faults_d[InterlinkFaultFlitDropped] = 1'b1;
    if (enc_take && !burst_open_q && taken_flit.kind == FlitCuData && {descriptor.ack_y, descriptor.ack_x} == '0) begin
      faults_d[InterlinkFaultNoAck] = 1'b1;
    end
  end

  // --- Status words
  logic [31:0] cycles_q, forwarded_q, transit_blocked_q;

  always_comb begin : status
    for (int unsigned b = 0; b < 2; b++) begin
      logic  l;
      mesh_t from;
      from        = status_index_i[b][1:0] - 2'(InterlinkStatusReceived);
      l           = (status_index_i[b] >= 4'(InterlinkStatusIdleStalled)) ? status_index_i[b][0] :
                                                                             status_index_i[b][1] ^ 1'b1;
      status_o[b] = '0;
      unique case (status_index_i[b])
        4'(InterlinkStatusCapability): begin
          if (enabled_q) begin
            status_o[b] = {24'h1, 8'(Meshes), 6'h0, renamed_q ? new_id_q : mesh_id_i, 8'(Links), 16'(InterlinkMagic)};
          end
        end
        4'(InterlinkStatusFaults): status_o[b] = 64'(faults_q);
        4'(InterlinkStatusReceived), 4'(InterlinkStatusReceived + 1), 4'(InterlinkStatusReceived + 2),
        4'(InterlinkStatusReceived + 3): begin
          status_o[b] = {24'h0, last_tag[from], received[from]};
        end
        4'(InterlinkStatusSent), 4'(InterlinkStatusSent + 2): begin
          status_o[b] = {link_status[l].beats_sent, link_status[l].packets_sent};
        end
        4'(InterlinkStatusSent + 1), 4'(InterlinkStatusSent + 3): begin
          status_o[b] = {link_status[l].beats_received, link_status[l].packets_received};
        end
        4'(InterlinkStatusIdleStalled), 4'(InterlinkStatusIdleStalled + 1): begin
          status_o[b] = {cycles_q - link_status[l].beats_sent - link_status[l].credits_sent, link_status[l].stalled};
        end
        4'(InterlinkStatusBlockedForwarded): status_o[b] = {transit_blocked_q, forwarded_q};
        4'(InterlinkStatusCredit): begin
          status_o[b] = {link_status[1].credit, link_status[1].owed, link_status[0].credit, link_status[0].owed};
        end
        4'(InterlinkStatusDoorbellsSent): status_o[b] = 64'(doorbells);
        default:                          status_o[b] = 64'(ingress_blocked);
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      enabled_q         <= 1'b1;
      renamed_q         <= 1'b0;
      new_id_q          <= '0;
      faults_q          <= '0;
      bell_valid_q      <= 1'b0;
      bell_mesh_q       <= '0;
      bell_tag_q        <= '0;
      pointer_q         <= '0;
      open_port_q       <= '0;
      burst_open_q      <= 1'b0;
      transit_q         <= '0;
      cycles_q          <= '0;
      forwarded_q       <= '0;
      transit_blocked_q <= '0;
    end else begin
      enabled_q         <= enabled_d;
      renamed_q         <= renamed_d;
      new_id_q          <= new_id_d;
      faults_q          <= faults_d;
      bell_valid_q      <= bell_valid_d;
      bell_mesh_q       <= bell_mesh_d;
      bell_tag_q        <= bell_tag_d;
      pointer_q         <= pointer_d;
      open_port_q       <= open_port_d;
      burst_open_q      <= burst_open_d;
      transit_q         <= transit_d;
      cycles_q          <= cycles_q + 32'd1;
      forwarded_q       <= forwarded_q + 32'(forwards[0]) + 32'(forwards[1]);
      transit_blocked_q <= transit_blocked_q + 32'(transit_q[0] && !transit_grant[0]) +
                           32'(transit_q[1] && !transit_grant[1]);
    end
  end

  assign resting_o = sender_resting && enc_empty && !bell_valid_q && ingress_resting && (&link_resting);

  `KTPU_ASSERT(ConfigIsStatic, $stable(quirks_i) && $stable(num_ports_i) && $stable(mesh_id_i) && $stable(connected_i))
  `KTPU_ASSERT(RemoteOrLocal, (remote_i & local_i) == '0)

endmodule
