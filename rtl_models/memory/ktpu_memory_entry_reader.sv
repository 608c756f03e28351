// SPDX-License-Identifier: Apache-2.0
// The entry read engine of a memory port (memory.md section 4.3): fetches entry i+1 while it sends entry i, word
// by word, to up to four destinations.

`include "ktpu_assert.svh"

module ktpu_memory_entry_reader
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Quasi-static: where the staging memory is, and of which mesh; the port's coordinate; entries that may be requested
  // before the first one is complete.
  input  staging_e    staging_i,
  input  logic [1:0]  mesh_id_i,
  input  coord_t      at_i,
  input  reads_t      reads_i,

  // The request at the head of the read queue; take_i only while idle_o and not emitting_o.
  input  logic        take_i,
  input  flit_t       request_i,
  output logic        idle_o,

  // Beats of read data, in the cycle in which they are taken.
  output logic        takes_beat_o,
  input  logic        beat_valid_i,
  input  word_t       beat_i,

  // The next response word; emit_i: it goes into the port's output register.
  output logic        emitting_o,
  output flit_t       emit_flit_o,
  input  logic        emit_i,

  // Read address for the next cycle on; ar_busy_i: the address register stays occupied.
  input  logic        ar_busy_i,
  output logic        ar_set_o,
  output addr_t       ar_addr_o,
  output beats_t      ar_beats_o,
  // One more burst counts (memory.md section 4.6).
  output logic        count_o,

  // The port's own staging memory.
  output logic                   store_read_o,
  output addr_t                  store_addr_o,
  input  word_t [EntryWords-1:0] store_words_i
);

  typedef enum logic [1:0] {
    Idle,
    Fill,   // taking beats, and converting the last of them
    Wait,   // entry complete, waiting for the emit buffer
    Stored  // waiting for an entry of the port's own staging memory
  } state_e;

  localparam int unsigned StoreWidth = $clog2(StagingEntry + 1);

  state_e                 state_d, state_q;
  logic                   start_d, start_q;  // transform start pulse
  logic                   quant_d, quant_q;
  logic                   b_layout_d, b_layout_q;
  logic [2:0]             words_d, words_q;  // of a response entry, 1..4
  logic [7:0]             txn_d, txn_q;
  logic [1:0]             peers_d, peers_q;
  coord_t [3:0]           destination_d, destination_q;
  logic [7:0]             total_d, total_q;          // entries, 1..255
  logic [7:0]             requested_d, requested_q;  // entries whose burst was issued
  logic [7:0]             entry_d, entry_q;          // being filled
  reads_t                 outstanding_d, outstanding_q;
  logic                   stored_d, stored_q;        // the run is served by the port's own staging memory
  logic [StoreWidth-1:0]  store_wait_d, store_wait_q;  // cycles until its next entry is there
  logic                   store_take;
  logic [3:0]             beats_d, beats_q;          // taken of this entry
  addr_t                  address_d, address_q;      // of the next burst
  word_t                  buffer_q [EntryWords];

  logic                   emit_valid_d, emit_valid_q;
  logic [2:0]             emit_words_q;
  logic [1:0]             emit_word_d, emit_word_q;
  logic [1:0]             emit_to_d, emit_to_q;
  logic [7:0]             emit_txn_q;
  word_t [EntryWords-1:0] emit_data_q;
  logic                   emit_load;
  logic                   emit_last;

  logic                   transform_valid_q;  // the beat's register in front of the transform
  word_t                  transform_beat_q;
  logic                   transform_done;
  word_t [EntryWords-1:0] transform_words;

  mem_req_t               fields;
  logic                   dropped;
  logic                   unused_fields;

  assign fields        = request_i.payload;
  assign dropped       = staging_i != NoStaging && is_unserved(fields.addr[39:32], mesh_id_i);
  assign unused_fields = &{1'b0, fields.len, fields.flags[7], fields.flags[3:0], fields.unused_0,
                           request_i.dst_x, request_i.dst_y, request_i.kind, request_i.last, request_i.rsvd};

  function automatic logic [3:0] beats_of(logic quant, logic [2:0] words);
    return quant ? 4'(QuantBeats) : 4'(words);
  endfunction

  assign idle_o       = state_q == Idle;
  assign takes_beat_o = state_q == Fill && !start_q && beats_q != beats_of(quant_q, words_q);
  assign emitting_o   = emit_valid_q;
  assign store_take   = state_q == Stored && store_wait_q == '0;
  assign store_read_o = stored_q && state_q != Idle;
  assign store_addr_o = address_q;
  assign emit_last    = 3'(emit_word_q) + 3'd1 == emit_words_q;

  always_comb begin : response
    emit_flit_o         = '0;
    emit_flit_o.dst_x   = destination_q[emit_to_q].x;
    emit_flit_o.dst_y   = destination_q[emit_to_q].y;
    emit_flit_o.src_x   = at_i.x;
    emit_flit_o.src_y   = at_i.y;
    emit_flit_o.kind    = FlitMemRdResp;
    emit_flit_o.txn     = emit_txn_q;
    emit_flit_o.last    = emit_last;
    emit_flit_o.rsvd    = {1'b0, emit_word_q};
    emit_flit_o.payload = emit_data_q[emit_word_q];
  end

  always_comb begin : emit
    emit_valid_d = emit_valid_q;
    emit_word_d  = emit_word_q;
    emit_to_d    = emit_to_q;
    emit_load    = state_q == Wait && !emit_valid_q;
    if (emit_load) begin
      emit_valid_d = 1'b1;
      emit_word_d  = '0;
      emit_to_d    = '0;
    end else if (emit_i) begin
      emit_word_d = emit_last ? '0 : emit_word_q + 2'd1;
      if (emit_last) begin
        emit_to_d    = emit_to_q + 2'd1;
        emit_valid_d = emit_to_q != peers_q;
      end
    end
  end

  always_comb begin : engine
    state_d       = state_q;
    start_d       = start_q;
    quant_d       = quant_q;
    b_layout_d    = b_layout_q;
    words_d       = words_q;
    txn_d         = txn_q;
    peers_d       = peers_q;
    destination_d = destination_q;
    total_d       = total_q;
    requested_d   = requested_q;
    entry_d       = entry_q;
    outstanding_d = outstanding_q;
    beats_d       = beats_q;
    address_d     = address_q;
    stored_d      = stored_q;
    store_wait_d  = (store_wait_q == '0) ? '0 : store_wait_q - StoreWidth'(1);

    unique case (state_q)
      Fill: begin
        start_d = 1'b0;
        if (beat_valid_i) begin
          beats_d = beats_q + 4'd1;
          if (beats_d == beats_of(quant_q, words_q)) begin
            outstanding_d = outstanding_q - reads_t'(1);
            if (!quant_q) state_d = Wait;
          end
        end
        if (transform_done) state_d = Wait;
      end
      Wait: begin
        if (!emit_valid_q) begin
          beats_d = '0;
          entry_d = entry_q + 8'd1;
          state_d = (entry_d == total_q) ? Idle : stored_q ? Stored : Fill;
          start_d = quant_q && entry_d != total_q;
        end
      end
      Stored: begin
        if (store_take) begin
          state_d      = Wait;
          address_d    = address_q + (addr_t'(words_q) * addr_t'(WordBytes));
          store_wait_d = StoreWidth'(StagingEntry);
        end
      end
      default: ;
    endcase

    if (take_i) begin
      quant_d       = fields.flags[MemFlagQuant];
      b_layout_d    = fields.flags[MemFlagBLayout];
      words_d       = (quant_d || fields.entry_words == '0 || fields.entry_words > 8'd4) ? 3'd4
                                                                                        : fields.entry_words[2:0];
      txn_d         = request_i.txn;
      peers_d       = fields.n_peer;
      // A node byte is {y, x}.
      destination_d = {fields.peer2[3:0], fields.peer2[7:4], fields.peer1[3:0], fields.peer1[7:4],
                       fields.peer0[3:0], fields.peer0[7:4], request_i.src_x, request_i.src_y};
      total_d       = (fields.flags[MemFlagStream] && fields.count != '0) ? fields.count : 8'd1;
      requested_d   = '0;
      entry_d       = '0;
      beats_d       = '0;
      address_d     = fields.addr;
      // The store holds finished words only; a request for conversion goes out (section 7.2).
      stored_d      = staging_i == PortStaging && is_staged(fields.addr[39:32], mesh_id_i) && !quant_d;
      if (stored_d) begin
        state_d      = Stored;
        requested_d  = total_d;  // no bursts
        store_wait_d = StoreWidth'(StagingEntry);
      end else if (!dropped) begin
        state_d = Fill;
        start_d = quant_d;
      end
    end

    ar_set_o   = state_d != Idle && requested_d != total_d && outstanding_d != reads_i && !ar_busy_i;
    ar_addr_o  = address_d;
    ar_beats_o = beats_t'(beats_of(quant_d, words_d));
    count_o    = ar_set_o || (take_i && (dropped || stored_d));  // a stored run counts once
    if (ar_set_o) begin
      address_d     = address_d + (addr_t'(beats_of(quant_d, words_d)) * addr_t'(WordBytes));
      requested_d   = requested_d + 8'd1;
      outstanding_d = outstanding_d + reads_t'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q           <= Idle;
      start_q           <= 1'b0;
      outstanding_q     <= '0;
      stored_q          <= 1'b0;
      store_wait_q      <= '0;
      emit_valid_q      <= 1'b0;
      transform_valid_q <= 1'b0;
    end else begin
      state_q           <= state_d;
      start_q           <= start_d;
      outstanding_q     <= outstanding_d;
      stored_q          <= stored_d;
      store_wait_q      <= store_wait_d;
      emit_valid_q      <= emit_valid_d;
      transform_valid_q <= beat_valid_i && quant_q;
    end
  end

  always_ff @(posedge clk_i) begin : run
    quant_q       <= quant_d;
    b_layout_q    <= b_layout_d;
    words_q       <= words_d;
    txn_q         <= txn_d;
    peers_q       <= peers_d;
    destination_q <= destination_d;
    total_q       <= total_d;
    requested_q   <= requested_d;
    entry_q       <= entry_d;
    beats_q       <= beats_d;
    address_q     <= address_d;
    emit_word_q   <= emit_word_d;
    emit_to_q     <= emit_to_d;
  end

  always_ff @(posedge clk_i) begin : entry_buffer
    if (store_take) begin
      for (int unsigned w = 0; w < EntryWords; w++) buffer_q[w] <= store_words_i[w];
    end
    if (beat_valid_i && !quant_q) buffer_q[beats_q[1:0]] <= beat_i;
    if (beat_valid_i && quant_q)  transform_beat_q       <= beat_i;
  end

  always_ff @(posedge clk_i) begin : emit_buffer
    if (emit_load) begin
      emit_words_q <= words_q;
      emit_txn_q   <= txn_q + entry_q;
      for (int unsigned w = 0; w < EntryWords; w++) begin
        emit_data_q[w] <= quant_q ? transform_words[w] : buffer_q[w];
      end
    end
  end

  ktpu_quantiser u_transform (
    .clk_i,
    .rst_ni,
    .start_i      (start_q),
    .layout_i     (b_layout_q),
    .beat_valid_i (transform_valid_q),
    .beat_i       (transform_beat_q),
    .done_o       (transform_done),
    .words_o      (transform_words)
  );

  `KTPU_ASSERT(TakesOnlyWhenFree, take_i |-> state_q == Idle && !emit_valid_q)
  `KTPU_ASSERT(BeatIsWanted, beat_valid_i |-> takes_beat_o)
  `KTPU_ASSERT(EmitsOnlyWhatIsThere, emit_i |-> emit_valid_q)

endmodule
