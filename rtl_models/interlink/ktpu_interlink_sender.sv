// SPDX-License-Identifier: Apache-2.0
// The way out of a mesh: one packet at a time from the mover's remote writes, the encapsulator or a doorbell, in this
// order, to the link that leads to its destination (memory.md section 11.6). A request in c puts the header before the
// link in c + 1, which grants it in c + 2 at the earliest.

`include "ktpu_assert.svh"

module ktpu_interlink_sender
  import ktpu_pkg::*;
  import ktpu_interlink_pkg::*;
(
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        quirks_i,  // quasi-static: I1

  input  mesh_t                       own_mesh_i,
  input  logic [Links-1:0]            ways_i,    // links that may be used

  // A word of the mover for another mesh.
  input  logic                        write_valid_i,
  input  logic [39:0]                 write_addr_i,
  output logic                        write_accepted_o,
  input  logic                        word_valid_i,
  input  logic [PayloadWidth-1:0]     word_i,
  output logic                        word_taken_o,

  // A closed packet of flits.
  input  logic                        flits_valid_i,
  input  logic [5:0]                  flits_count_i,
  input  logic [7:0]                  flits_txn_i,
  input  mesh_t                       flits_mesh_i,
  output logic                        flits_load_o,
  input  logic                        flits_readable_i,
  input  flit_t                       flits_head_i,
  input  flit_t                       flits_word_i,  // the one read last
  output logic                        flits_sent_o,

  input  logic                        doorbell_valid_i,
  input  mesh_t                       doorbell_mesh_i,
  input  logic [7:0]                  doorbell_tag_i,
  output logic                        doorbell_accepted_o,

  output link_request_t [Links-1:0]   request_o,
  input  logic                        granted_i,
  output beat_t                       beat_o,
  input  logic                        moved_i,  // the link took it

  output logic                        dropped_o,  // no link leads there: the packet goes nowhere
  output logic [31:0]                 doorbells_o,
  output logic                        resting_o
);

  typedef enum logic [1:0] {
    Idle,
    Offer,  // the header is before the link; the first word is fetched
    Send,   // granted or waiting for it, then a beat a cycle
    Drop    // no link leads there: a beat a cycle goes nowhere
  } state_e;
  typedef enum logic [1:0] {
    Write,
    Flits,
    Doorbell
  } from_e;

  state_e            state_d, state_q;
  from_e             from_d, from_q;
  interlink_header_t header_d, header_q;
  logic              reachable_q, link_q, class_q;
  logic              granted_d, granted_q;
  logic              first_d, first_q;  // no beat has moved yet
  beats_left_t       left_d, left_q;
  flit_t             word_d, word_q;
  logic              choose, fetch, fetched, moves, ends;
  logic [31:0]       doorbells_q;

  always_comb begin : choice
    from_d              = from_q;
    header_d            = '0;
    choose              = 1'b0;
    write_accepted_o    = 1'b0;
    doorbell_accepted_o = 1'b0;
    header_d.smesh      = own_mesh_i;
    header_d.odd        = 1'b1;
    if (state_q == Idle) begin
      if (write_valid_i) begin
        choose           = 1'b1;
        write_accepted_o = 1'b1;
        from_d           = Write;
        header_d.kind    = InterlinkMemoryWrite;
        header_d.dmesh   = write_addr_i[37:36];
        header_d.address = write_addr_i;
      end else if (flits_valid_i) begin
        choose           = 1'b1;
        from_d           = Flits;
        header_d.kind    = InterlinkFlits;
        header_d.dmesh   = flits_mesh_i;
        header_d.txn     = flits_txn_i;
        header_d.len     = 16'(flits_count_i) - 16'd1;
        header_d.address = 40'(flits_txn_i);
        header_d.odd     = flits_count_i[0];
      end else if (doorbell_valid_i) begin
        choose              = 1'b1;
        doorbell_accepted_o = 1'b1;
        from_d              = Doorbell;
        header_d.kind       = InterlinkDoorbell;
        header_d.dmesh      = doorbell_mesh_i;
        header_d.txn        = doorbell_tag_i;
      end
    end
  end

  // The next word. Of flits, with quirk I1 one that cannot be read yet is the word sent before.
  assign moves = state_q == Drop || (state_q == Send && moved_i);
  assign ends  = moves && left_q == 7'd1;
  assign fetch = state_q == Offer || (moves && !ends);

  always_comb begin : next_word
    fetched      = fetch;
    word_d       = '0;
    flits_load_o = 1'b0;
    word_taken_o = 1'b0;
    unique case (from_q)
      Flits: begin
        word_d       = flits_readable_i ? flits_head_i : flits_word_i;
        flits_load_o = fetch;
        fetched      = fetch && (flits_readable_i || quirks_i);
      end
      Write: begin
        word_d.payload = word_i;
        word_taken_o   = fetch && word_valid_i;
        fetched        = fetch && word_valid_i;
      end
      default: ;
    endcase
  end

  always_comb begin : engine
    state_d   = state_q;
    granted_d = granted_q || granted_i;
    first_d   = first_q;
    left_d    = left_q;
    unique case (state_q)
      Idle: begin
        if (choose) begin
          state_d = Offer;
          left_d  = 7'(header_d.len) + 7'd1;
        end
      end
      Offer: begin
        if (fetched) begin
          state_d = reachable_q ? Send : Drop;
          first_d = 1'b1;
        end
      end
      default: begin
        if (moves) begin
          first_d = 1'b0;
          left_d  = left_q - 7'd1;
          if (ends) begin
            state_d   = Idle;
            granted_d = 1'b0;
          end
        end
      end
    endcase
  end

  assign dropped_o    = state_q == Offer && fetched && !reachable_q;
  assign flits_sent_o = ends && from_q == Flits;

  always_comb begin : towards_links
    request_o = '0;
    request_o[link_q].valid = state_q == Send && !granted_q;
    for (int unsigned l = 0; l < Links; l++) begin
      request_o[l].beats         = left_q;
      request_o[l].traffic_class = class_q;
    end
  end

  assign beat_o = '{header: first_q ? header_q : '0, data: word_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      state_q     <= Idle;
      granted_q   <= 1'b0;
      first_q     <= 1'b0;
      doorbells_q <= '0;
    end else begin
      state_q     <= state_d;
      granted_q   <= granted_d;
      first_q     <= first_d;
      doorbells_q <= doorbells_q + 32'(ends && state_q == Send && from_q == Doorbell);
    end
  end

  always_ff @(posedge clk_i) begin : packet
    left_q <= left_d;
    if (choose) begin
      from_q      <= from_d;
      header_q    <= header_d;
      link_q      <= link_towards(own_mesh_i, header_d.dmesh);
      class_q     <= !is_neighbour(own_mesh_i, link_towards(own_mesh_i, header_d.dmesh), header_d.dmesh);
      reachable_q <= header_d.dmesh != own_mesh_i && ways_i[link_towards(own_mesh_i, header_d.dmesh)];
    end
    if (fetched) word_q <= word_d;
  end

  assign doorbells_o = doorbells_q;
  assign resting_o   = state_q == Idle;

  `KTPU_ASSERT(GrantOnRequest, granted_i |-> state_q == Send && !granted_q)
  `KTPU_ASSERT(MovesWhatIsGranted, moved_i |-> state_q == Send && granted_q)

endmodule
