// SPDX-License-Identifier: Apache-2.0
// Types shared by the modules of the interlink (memory.md section 11). The packet header and the machine's numbers
// are in the generated ktpu_pkg.

package ktpu_interlink_pkg;

  import ktpu_pkg::*;

  localparam int unsigned Links   = 2;  // 0 to the lower position of the chain, 1 to the higher
  localparam int unsigned Classes = 2;
  localparam int unsigned Meshes  = 4;
  // Traffic classes: what stops at the next mesh, and what that mesh passes on.
  localparam int unsigned Stops     = 0;
  localparam int unsigned Forwarded = 1;

  typedef logic [1:0] mesh_t;
  typedef logic [6:0] beats_left_t;  // of a packet; or of credit

  // What crosses a link in a cycle.
  typedef struct packed {
    interlink_header_t header;  // all zero on all beats but the first
    flit_t             data;    // a flit, or a memory word in its payload
  } beat_t;

  // A packet that asks for a link.
  typedef struct packed {
    logic        valid;
    beats_left_t beats;
    logic        traffic_class;
  } link_request_t;

  // Counts and credits of a link, for the status words.
  typedef struct packed {
    logic [1:0][7:0] credit;
    logic [1:0][7:0] owed;
    logic [31:0]     beats_sent;
    logic [31:0]     packets_sent;
    logic [31:0]     beats_received;
    logic [31:0]     packets_received;
    logic [31:0]     credits_sent;
    logic [31:0]     stalled;
  } link_status_t;

  // Whether a beat with this kind in its header is a packet's first.
  function automatic logic is_first(logic [3:0] kind);
    return kind != '0;
  endfunction

  // Place in the chain 0 - 1 - 3 - 2.
  function automatic logic [1:0] place(mesh_t mesh);
    return {mesh[1], mesh[1] ^ mesh[0]};
  endfunction

  // Which link of `mesh` leads to `other`; they differ.
  function automatic logic link_towards(mesh_t mesh, mesh_t other);
    return place(other) > place(mesh);
  endfunction

  // Whether `other` is at the far end of that link of `mesh`.
  function automatic logic is_neighbour(mesh_t mesh, logic link, mesh_t other);
    return link ? 3'(place(other)) == 3'(place(mesh)) + 3'd1 : 3'(place(other)) + 3'd1 == 3'(place(mesh));
  endfunction

endpackage
