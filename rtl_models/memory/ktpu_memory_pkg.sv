// SPDX-License-Identifier: Apache-2.0
// Types shared by the modules of the memory agent (memory.md). The flit, the request's layout and the machine's
// numbers are in the generated ktpu_pkg.

package ktpu_memory_pkg;

  import ktpu_pkg::*;

  localparam int unsigned MaxPorts      = 4;
  // Requesters of the DRAM port (memory.md section 7): ports, host window, mover, inbound remote.
  localparam int unsigned MaxRequesters = MaxPorts + 3;
  // 256-bit lanes of the widest DRAM bus.
  localparam int unsigned MaxLanes      = 4;
  // Most reads a requester may have in flight (RD_OUT).
  localparam int unsigned MaxReads      = 64;
  // Words of 32 bytes of a staging memory.
  localparam int unsigned StagingWords  = 65536;

  localparam int unsigned AddrWidth     = 40;
  localparam int unsigned WordBytes     = PayloadWidth / 8;
  localparam int unsigned EntryWords    = 4;  // of a response
  localparam int unsigned QuantBeats    = 8;  // FP16 beats of an entry

  typedef logic [AddrWidth-1:0]    addr_t;
  typedef logic [8:0]              beats_t;  // 1..256
  typedef logic [PayloadWidth-1:0] word_t;
  typedef logic [MaxRequesters-1:0] requester_mask_t;
  typedef logic [2:0]              requester_t;
  typedef logic [1:0]              lane_t;
  typedef logic [$clog2(MaxReads+1)-1:0] reads_t;
  typedef logic [MaxLanes*PayloadWidth-1:0] bus_beat_t;

  typedef struct packed {
    pos_t x;
    pos_t y;
  } coord_t;

  // Where the staging memory is (section 7.2).
  typedef enum logic [1:0] {
    NoStaging        = 2'd0,  // apertures are not decoded
    ConvergedStaging = 2'd1,  // one store in front of the DRAM port, for every requester
    PortStaging      = 2'd2   // one in each memory port, for its entry reads and writes
  } staging_e;

  // What the agent is built as. Quasi-static.
  typedef struct packed {
    reads_t     reads;       // in flight of a requester, 1..MaxReads
    logic [1:0] links;       // with interlink_used: links with a mesh at the other end
    logic       interlink_used;
    logic       interlink;   // there is one: the mover's writes pass its register
    logic [2:0] num_ports;   // 1..MaxPorts
    logic [1:0] lanes_log2;  // DRAM bus of 256 << lanes_log2 bits, 0..2
    logic [1:0] mesh_id;
    staging_e   staging;
    logic       client;      // somebody takes the flits that are not the memory's
    logic       quirks;      // M1, I1 and I2
  } config_t;

  // From a requester to the DRAM path, all registers of the requester. Beats of 32 bytes.
  typedef struct packed {
    logic   ar_valid;
    addr_t  ar_addr;
    beats_t ar_beats;
    logic   aw_valid;
    addr_t  aw_addr;
    beats_t aw_beats;
    logic   w_valid;
    word_t  w_data;
    logic   r_ready;
  } request_t;

  // Back, in the cycle in which it happens.
  typedef struct packed {
    logic  ar_grant;
    logic  aw_grant;
    logic  w_taken;
    logic  r_valid;  // only with r_ready
    logic  r_last;
    logic  b;        // write response, one cycle wide, never held
    word_t r_data;
  } reply_t;

  // A write of a command register, from one of the two register buses; the first takes effect first.
  typedef struct packed {
    logic        valid;
    logic [7:0]  offset;
    logic [63:0] data;
  } register_write_t;

  // Where the words of a write of the mover come from.
  typedef enum logic [1:0] {
    MoverData   = 2'd0,
    MoverFill   = 2'd1,
    MoverRandom = 2'd2
  } mover_kind_e;

  typedef struct packed {
    addr_t       addr;
    logic [7:0]  count;  // words, 1..128
    mover_kind_e kind;
  } mover_command_t;

  // A burst on the DRAM bus.
  typedef struct packed {
    addr_t      addr;   // aligned down to a beat of the bus
    beats_t     beats;  // of the bus
    requester_t id;
  } burst_t;

  // A beat on the DRAM bus towards the memory.
  typedef struct packed {
    bus_beat_t           data;
    logic [MaxLanes-1:0] lanes;  // written 32-byte lanes
    logic                last;
  } write_beat_t;

  // Whether a memory port serves a flit of this kind (memory.md section 2).
  function automatic logic is_memory(logic [3:0] kind);
    return kind == FlitMemRdReq || kind == FlitMemWrReq || kind == FlitMemWrData;
  endfunction

  // Whether the staging memory of this mesh serves an address, of which `top` is bits [39:32] (memory.md section 7.2).
  function automatic logic is_staged(logic [7:0] top, logic [1:0] mesh_id);
    return top == {2'b10, mesh_id, 4'd0};
  endfunction

  // Whether nobody serves the aperture it names, given that apertures are decoded (section 3, last table).
  function automatic logic is_unserved(logic [7:0] top, logic [1:0] mesh_id);
    return top[7:6] == 2'b10 && !is_staged(top, mesh_id);
  endfunction

  // The requester whose turn comes after the winner's.
  function automatic requester_t after(requester_t winner);
    return (winner == requester_t'(MaxRequesters - 1)) ? '0 : winner + requester_t'(1);
  endfunction

  function automatic requester_t index_of(requester_mask_t one_hot);
    requester_t index;
    index = '0;
    for (int unsigned i = 0; i < MaxRequesters; i++) begin
      if (one_hot[i]) index |= requester_t'(i);
    end
    return index;
  endfunction

endpackage
