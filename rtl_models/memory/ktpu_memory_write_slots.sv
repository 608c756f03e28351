// SPDX-License-Identifier: Apache-2.0
// Write reassembly of a memory port (memory.md section 4.5): 16 slots that collect the data flits of a descriptor
// by source coordinate, and the FIFO of slots in the order in which they became complete.

`include "ktpu_assert.svh"

module ktpu_memory_write_slots
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
#(
  localparam int unsigned SlotWidth = $clog2(MemWriteSlots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // Head of the write queue: a descriptor or a data flit.
  input  logic                 head_valid_i,
  input  flit_t                head_i,
  // It goes into a slot. One that finds none stays at the head: a data flit for ever.
  output logic                 pop_o,

  // The next complete slot.
  output logic                 ready_o,
  output logic [SlotWidth-1:0] ready_slot_o,
  input  logic                 take_i,

  // Contents of one slot, without a register.
  input  logic [SlotWidth-1:0] slot_i,
  input  logic [2:0]           beat_i,
  output coord_t               src_o,
  output logic [7:0]           txn_o,
  output word_t                data_o,
  // Of the slot at ready_slot_o.
  output addr_t                ready_addr_o,
  output logic [4:0]           ready_length_o,
  // Every slot in use still lacks data.
  output logic                 waiting_o,

  input  logic                 release_i,
  input  logic [SlotWidth-1:0] release_slot_i
);

  typedef logic [MemWriteSlots-1:0] slots_t;

  typedef struct packed {
    coord_t     src;
    logic [7:0] txn;
    addr_t      addr;
    logic [3:0] len;  // beats - 1
  } slot_t;

  slot_t                slot_q [MemWriteSlots];
  word_t                data_q [MemWriteSlots * MemWriteBeats];
  logic [3:0]           count_q [MemWriteSlots];  // data flits received; a slot with len + 1 of them is closed
  slots_t               used_d, used_q;
  slots_t               open_d, open_q;  // still takes data

  mem_req_t             fields;
  slots_t               match;
  logic                 has_free, has_match;
  logic [SlotWidth-1:0] free_slot, match_slot;
  logic                 is_descriptor;
  logic                 open, store, complete;
  logic                 unused;

  assign fields        = head_i.payload;
  assign is_descriptor = head_i.kind == FlitMemWrReq;
  assign has_free      = used_q != '1;
  assign has_match     = match != '0;
  assign open          = head_valid_i && is_descriptor && has_free;
  assign store         = head_valid_i && !is_descriptor && has_match;
  assign complete      = store && count_q[match_slot] == slot_q[match_slot].len;
  assign pop_o         = open || store;

  always_comb begin : search
    free_slot  = '0;
    match_slot = '0;
    match      = '0;
    if (head_valid_i) begin
      for (int unsigned i = 0; i < MemWriteSlots; i++) begin
        match[i] = open_q[i] && slot_q[i].src == {head_i.src_x, head_i.src_y};
      end
      // The lowest index wins: it is written last.
      for (int unsigned i = 0; i < MemWriteSlots; i++) begin
        if (!used_q[MemWriteSlots-1-i]) free_slot  = SlotWidth'(MemWriteSlots - 1 - i);
        if (match[MemWriteSlots-1-i])   match_slot = SlotWidth'(MemWriteSlots - 1 - i);
      end
    end
  end

  always_comb begin
    used_d = used_q;
    open_d = open_q;
    if (open) begin
      used_d[free_slot] = 1'b1;
      open_d[free_slot] = 1'b1;
    end
    if (complete)  open_d[match_slot] = 1'b0;
    if (release_i) used_d[release_slot_i] = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q <= '0;
      open_q <= '0;
    end else begin
      used_q <= used_d;
      open_q <= open_d;
    end
  end

  always_ff @(posedge clk_i) begin : slots
    if (open) begin
      slot_q[free_slot]  <= '{src: '{x: head_i.src_x, y: head_i.src_y}, txn: head_i.txn, addr: fields.addr,
                              len: fields.len[3:0]};
      count_q[free_slot] <= '0;
    end
    if (store) count_q[match_slot] <= count_q[match_slot] + 4'd1;
  end

  // Eight words a slot; a longer, illegal write wraps around in them.
  always_ff @(posedge clk_i) begin : data
    if (store) data_q[{match_slot, count_q[match_slot][2:0]}] <= head_i.payload;
  end

  logic unused_ready_busy;
  ktpu_fifo #(
    .Width       (SlotWidth),
    .MaxDepth    (MemWriteSlots),
    .Latency     (FifoLatency),
    .Extra       (FifoExtra),
    .ResetCycles (0)
  ) u_ready (
    .clk_i,
    .rst_ni,
    .depth_i  (($clog2(MemWriteSlots + 1))'(MemWriteSlots)),
    .wvalid_i (complete),
    .wdata_i  (match_slot),
    .busy_o   (unused_ready_busy),
    .rvalid_o (ready_o),
    .rdata_o  (ready_slot_o),
    .rready_i (take_i)
  );

  assign src_o          = slot_q[slot_i].src;
  assign txn_o          = slot_q[slot_i].txn;
  assign data_o         = data_q[{slot_i, beat_i}];
  assign ready_addr_o   = slot_q[ready_slot_o].addr;
  assign ready_length_o = 5'(slot_q[ready_slot_o].len) + 5'd1;

  assign waiting_o      = used_q == open_q;

  assign unused = &{1'b0, head_i.dst_x, head_i.dst_y, head_i.last, head_i.rsvd, fields.len[7:4], fields.flags,
                    fields.count, fields.peer0, fields.peer1, fields.peer2, fields.n_peer, fields.entry_words,
                    fields.unused_0};

  `KTPU_ASSERT(TakesOnlyWhatIsReady, take_i |-> ready_o)
  `KTPU_ASSERT(ReleasesUsedSlots, release_i |-> used_q[release_slot_i] && !open_q[release_slot_i])

endmodule
