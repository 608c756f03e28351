// SPDX-License-Identifier: Apache-2.0
// One memory port (memory.md section 4): two intake queues, the entry read engine, the write reassembly, the state
// machine that issues writes and serves plain reads, and one output register.

`include "ktpu_assert.svh"

module ktpu_memory_port
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Quasi-static: where the staging memory is, and of which mesh; the port's coordinate; reads in flight.
  input  staging_e    staging_i,
  input  logic [1:0]  mesh_id_i,
  input  coord_t      at_i,
  input  reads_t      reads_i,

  // A flit of the memory's kinds, in the cycle in which it is accepted; never while busy_o is high.
  input  logic        in_valid_i,
  input  flit_t       in_data_i,
  output logic        busy_o,

  output flit_t       out_data_o,
  output logic        out_valid_o,
  input  logic        out_taken_i,

  output request_t    request_o,
  input  reply_t      reply_i,

  // Bursts issued since reset, wrapping (memory.md section 4.6).
  output logic [15:0] read_count_o,
  output logic [15:0] write_count_o,
  // Nothing changes any more unless something comes. A wedged write queue rests, too.
  output logic        resting_o
);

  localparam int unsigned SlotWidth  = $clog2(MemWriteSlots);
  localparam int unsigned DepthWidth = $clog2(MemQueueDepth + 1);
  localparam int unsigned CountWidth = $clog2(MemQueueDepth + FifoExtra + 1);
  localparam int unsigned BusyFrom   = MemQueueDepth - MemQueueMargin;

  typedef enum logic [2:0] {
    Free,
    Write,  // a slot's burst, from its address to its acknowledgement
    Plain,  // a plain read, from its address to its last beat
    Store,  // a slot's words on their way into the port's own staging memory
    Drop    // a slot whose aperture nobody serves
  } state_e;

  // Intake.
  logic                  in_is_read;
  logic                  reads_valid, reads_pop;
  flit_t                 reads_head;
  logic                  writes_valid, writes_pop;
  flit_t                 writes_head;
  logic [CountWidth-1:0] reads_count_d, reads_count_q;
  logic [CountWidth-1:0] writes_count_d, writes_count_q;
  logic                  unused_reads_busy, unused_writes_busy;

  // Entry reads.
  mem_req_t              fields;
  logic                  head_is_entry;
  logic                  take_entry, take_plain;
  logic                  reader_idle, reader_takes_beat, reader_beat;
  logic                  emitting, emit;
  flit_t                 emit_flit;
  logic                  ar_set;
  addr_t                 reader_addr;
  beats_t                reader_beats;
  logic                  reader_counts;

  // Writes and plain reads.
  state_e                state_d, state_q;
  logic [SlotWidth-1:0]  slot_d, slot_q;
  logic [4:0]            length_d, length_q;          // of the slot's burst
  logic [4:0]            write_beat_d, write_beat_q;  // beats handed over
  logic                  store_word;                  // one goes into the own staging memory
  logic                  response_d, response_q;      // it came, the acknowledgement is not placed yet
  logic                  release_d, release_q;        // of releasing_q's slot, in this cycle
  logic [SlotWidth-1:0]  releasing_q;
  beats_t                plain_left_d, plain_left_q;
  coord_t                plain_to_q;
  logic [7:0]            plain_txn_q;
  logic                  ready, take_ready;
  logic [SlotWidth-1:0]  ready_slot;
  addr_t                 ready_addr;
  logic [4:0]            ready_length;
  coord_t                slot_src;
  logic [7:0]            slot_txn;
  word_t                 slot_word;
  logic                  slots_waiting;

  // Own staging memory.
  logic                   store_read;
  addr_t                  store_addr, store_at;
  word_t [EntryWords-1:0] store_words;
  logic                   unused_store;

  // DRAM wires.
  logic                  ar_valid_d, ar_valid_q;
  addr_t                 ar_addr_q;
  beats_t                ar_beats_q;
  logic                  aw_valid_d, aw_valid_q;
  addr_t                 aw_addr_q;
  logic                  w_valid_d, w_valid_q;
  word_t                 skid_q [2];  // read beats, [0] first
  logic [1:0]            skid_size_d, skid_size_q;
  logic                  beat_taken;

  // Output.
  logic                  room;
  logic                  acknowledge, place_ack, place_plain;
  logic                  out_valid_d, out_valid_q;
  flit_t                 out_d, out_q;
  logic                  out_load;
  logic [15:0]           read_count_q, write_count_q;
  logic                  unused_fields;

  assign fields        = reads_head.payload;
  assign unused_fields = &{1'b0, reply_i.r_last, fields.flags[7], fields.flags[5], fields.flags[3:0], fields.count, fields.peer0,
                           fields.peer1, fields.peer2, fields.n_peer, fields.entry_words, fields.unused_0};

  // --- Intake queues
  assign in_is_read     = in_data_i.kind == FlitMemRdReq;
  assign reads_count_d  = reads_count_q + CountWidth'(in_valid_i && in_is_read) - CountWidth'(reads_pop);
  assign writes_count_d = writes_count_q + CountWidth'(in_valid_i && !in_is_read) - CountWidth'(writes_pop);
  assign busy_o         = reads_count_q >= CountWidth'(BusyFrom) || writes_count_q >= CountWidth'(BusyFrom);

  ktpu_fifo #(
    .Width       (FlitWidth),
    .MaxDepth    (MemQueueDepth),
    .Latency     (FifoLatency),
    .Extra       (FifoExtra),
    .ResetCycles (0)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .depth_i  (DepthWidth'(MemQueueDepth)),
    .wvalid_i (in_valid_i && in_is_read),
    .wdata_i  (in_data_i),
    .busy_o   (unused_reads_busy),
    .rvalid_o (reads_valid),
    .rdata_o  (reads_head),
    .rready_i (reads_pop)
  );

  ktpu_fifo #(
    .Width       (FlitWidth),
    .MaxDepth    (MemQueueDepth),
    .Latency     (FifoLatency),
    .Extra       (FifoExtra),
    .ResetCycles (0)
  ) u_writes (
    .clk_i,
    .rst_ni,
    .depth_i  (DepthWidth'(MemQueueDepth)),
    .wvalid_i (in_valid_i && !in_is_read),
    .wdata_i  (in_data_i),
    .busy_o   (unused_writes_busy),
    .rvalid_o (writes_valid),
    .rdata_o  (writes_head),
    .rready_i (writes_pop)
  );

  // --- Reads. A request leaves the queue when its engine takes it (sections 4.3 and 4.4).
  assign head_is_entry = fields.flags[MemFlagStream] || fields.flags[MemFlagQuant];
  assign take_entry    = reads_valid && reader_idle && !emitting && head_is_entry && state_q != Plain;
  assign take_plain    = reads_valid && reader_idle && !emitting && !head_is_entry && state_q == Free;
  assign reads_pop     = take_entry || take_plain;
  assign reader_beat   = reader_takes_beat && skid_size_q != '0;
  assign emit          = emitting && room;

  ktpu_memory_entry_reader u_reader (
    .clk_i,
    .rst_ni,
    .staging_i,
    .mesh_id_i,
    .at_i,
    .reads_i,
    .take_i       (take_entry),
    .request_i    (reads_head),
    .idle_o       (reader_idle),
    .takes_beat_o (reader_takes_beat),
    .beat_valid_i (reader_beat),
    .beat_i       (skid_q[0]),
    .emitting_o   (emitting),
    .emit_flit_o  (emit_flit),
    .emit_i       (emit),
    .ar_busy_i    (ar_valid_q && !reply_i.ar_grant),
    .ar_set_o     (ar_set),
    .ar_addr_o    (reader_addr),
    .ar_beats_o   (reader_beats),
    .count_o      (reader_counts),
    .store_read_o  (store_read),
    .store_addr_o  (store_addr),
    .store_words_i (store_words)
  );

  // --- The port's own staging memory
  assign store_word   = state_q == Store && !response_q && write_beat_q != length_q;
  assign store_at     = aw_addr_q + (addr_t'(write_beat_q) * addr_t'(WordBytes));
  assign unused_store = &{1'b0, store_at[39:21], store_at[4:0], store_addr[39:21], store_addr[4:0]};

  ktpu_memory_store u_store (
    .clk_i,
    .rst_ni,
    .write_i       (store_word),
    .write_index_i (store_at[20:5]),
    .write_word_i  (slot_word),
    .read_i        (store_read),
    .read_index_i  (store_addr[20:5]),
    .words_o       (store_words)
  );

  // --- Writes
  ktpu_memory_write_slots u_slots (
    .clk_i,
    .rst_ni,
    .head_valid_i   (writes_valid),
    .head_i         (writes_head),
    .pop_o          (writes_pop),
    .ready_o        (ready),
    .ready_slot_o   (ready_slot),
    .take_i         (take_ready),
    .slot_i         (slot_q),
    .beat_i         (write_beat_q[2:0]),
    .src_o          (slot_src),
    .txn_o          (slot_txn),
    .data_o         (slot_word),
    .ready_addr_o   (ready_addr),
    .ready_length_o (ready_length),
    .waiting_o      (slots_waiting),
    .release_i      (release_q),
    .release_slot_i (releasing_q)
  );

  assign take_ready = ready && state_q == Free && !take_plain;  // a plain read beats a ready write

  // --- Output register: emit buffer, then plain read beat or acknowledgement
  assign room        = !out_valid_q || out_taken_i;
  assign acknowledge = (state_q == Write && (response_q || reply_i.b)) ||
                       (state_q == Store && (response_q || write_beat_q == length_q));
  assign place_plain = room && !emitting && state_q == Plain && skid_size_q != '0;
  assign place_ack   = room && !emitting && acknowledge;
  assign out_valid_d = room ? (emit || place_plain || place_ack) : out_valid_q;
  assign out_load    = emit || place_plain || place_ack;

  always_comb begin : output_flit
    out_d = emit_flit;
    if (!emit) begin
      out_d         = '0;
      out_d.dst_x   = place_plain ? plain_to_q.x : slot_src.x;
      out_d.dst_y   = place_plain ? plain_to_q.y : slot_src.y;
      out_d.src_x   = at_i.x;
      out_d.src_y   = at_i.y;
      out_d.kind    = place_plain ? FlitMemRdResp : FlitMemWrAck;
      out_d.txn     = place_plain ? plain_txn_q : slot_txn;
      out_d.last    = !place_plain || plain_left_q == beats_t'(1);
      out_d.payload = place_plain ? skid_q[0] : '0;
    end
  end

  // --- The state machine of writes and plain reads
  always_comb begin : engine
    state_d      = state_q;
    slot_d       = slot_q;
    length_d     = length_q;
    write_beat_d = write_beat_q + 5'(reply_i.w_taken || store_word);
    response_d   = (acknowledge || reply_i.b) && !place_ack;
    release_d    = place_ack || state_q == Drop;
    plain_left_d = plain_left_q - beats_t'(place_plain);
    ar_valid_d   = ar_valid_q && !reply_i.ar_grant;
    aw_valid_d   = aw_valid_q && !reply_i.aw_grant;
    w_valid_d    = w_valid_q && !(reply_i.w_taken && write_beat_d == length_q);
    unique case (state_q)
      Free: begin
        if (take_plain) begin
          state_d      = Plain;
          plain_left_d = beats_t'(fields.len) + beats_t'(1);
          ar_valid_d   = 1'b1;
        end else if (take_ready) begin
          slot_d       = ready_slot;
          length_d     = ready_length;
          write_beat_d = '0;
          if (staging_i != NoStaging && is_unserved(ready_addr[39:32], mesh_id_i)) begin
            state_d    = Drop;
          end else if (staging_i == PortStaging && is_staged(ready_addr[39:32], mesh_id_i)) begin
            state_d    = Store;
          end else begin
            state_d    = Write;
            aw_valid_d = 1'b1;
            w_valid_d  = 1'b1;
          end
        end
      end
      Write, Store: if (place_ack) state_d = Free;
      Plain: if (place_plain && plain_left_q == beats_t'(1)) state_d = Free;
      default: state_d = Free;
    endcase
    if (ar_set) ar_valid_d = 1'b1;
  end

  // --- R skid: a beat in at t comes out at t+1
  assign beat_taken  = reader_beat || place_plain;
  assign skid_size_d = skid_size_q + 2'(reply_i.r_valid) - 2'(beat_taken);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Free;
      response_q     <= 1'b0;
      release_q      <= 1'b0;
      ar_valid_q     <= 1'b0;
      aw_valid_q     <= 1'b0;
      w_valid_q      <= 1'b0;
      skid_size_q    <= '0;
      out_valid_q    <= 1'b0;
      reads_count_q  <= '0;
      writes_count_q <= '0;
      read_count_q   <= '0;
      write_count_q  <= '0;
    end else begin
      state_q        <= state_d;
      response_q     <= response_d;
      release_q      <= release_d;
      ar_valid_q     <= ar_valid_d;
      aw_valid_q     <= aw_valid_d;
      w_valid_q      <= w_valid_d;
      skid_size_q    <= skid_size_d;
      out_valid_q    <= out_valid_d;
      reads_count_q  <= reads_count_d;
      writes_count_q <= writes_count_d;
      read_count_q   <= read_count_q + 16'(reader_counts || take_plain);
      write_count_q  <= write_count_q + 16'(take_ready);
    end
  end

  always_ff @(posedge clk_i) begin : write_run
    slot_q       <= slot_d;
    length_q     <= length_d;
    write_beat_q <= write_beat_d;
    releasing_q  <= slot_q;
    plain_left_q <= plain_left_d;
    if (take_plain) begin
      plain_to_q  <= '{x: reads_head.src_x, y: reads_head.src_y};
      plain_txn_q <= reads_head.txn;
    end
  end

  always_ff @(posedge clk_i) begin : addresses
    if (ar_set || take_plain) begin
      ar_addr_q  <= ar_set ? reader_addr : fields.addr;
      ar_beats_q <= ar_set ? reader_beats : beats_t'(fields.len) + beats_t'(1);
    end
    if (take_ready) aw_addr_q <= ready_addr;
  end

  always_ff @(posedge clk_i) begin : skid
    if (beat_taken) skid_q[0] <= skid_q[1];
    if (reply_i.r_valid) begin
      if (skid_size_q == '0 || (skid_size_q == 2'd1 && beat_taken)) skid_q[0] <= reply_i.r_data;
      else skid_q[1] <= reply_i.r_data;
    end
  end

  always_ff @(posedge clk_i) begin : output_register
    if (out_load) out_q <= out_d;
  end

  assign out_data_o    = out_q;
  assign out_valid_o   = out_valid_q;
  assign read_count_o  = read_count_q;
  assign write_count_o = write_count_q;
  assign resting_o     = reads_count_q == '0 && (writes_count_q == '0 || (writes_valid && !writes_pop)) &&
                         reader_idle && !emitting && slots_waiting && state_q == Free && skid_size_q == '0 &&
                         !out_valid_q;
  assign request_o = '{ar_valid: ar_valid_q, ar_addr: ar_addr_q, ar_beats: ar_beats_q, aw_valid: aw_valid_q,
                       aw_addr: aw_addr_q, aw_beats: beats_t'(length_q), w_valid: w_valid_q, w_data: slot_word,
                       r_ready: !skid_size_q[1]};

  `KTPU_ASSERT(NothingComesWhileBusy, in_valid_i |-> !busy_o)
  `KTPU_ASSERT(OnlyMemoryFlits, in_valid_i |-> is_memory(in_data_i.kind))
  `KTPU_ASSERT(OneReaderOfBeats, !(reader_beat && place_plain))
  `KTPU_ASSERT(BeatsFit, !(reply_i.r_valid && skid_size_q[1]))
  `KTPU_ASSERT(GrantOnRequest, (reply_i.ar_grant |-> ar_valid_q))
  `KTPU_ASSERT(RefusedFlitStays, out_valid_o && !out_taken_i |=> out_valid_o && $stable(out_data_o))

endmodule
