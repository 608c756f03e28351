// SPDX-License-Identifier: Apache-2.0
// The way out of the accumulator: drain queue, two collect banks, burst sender (cluster.md section 9.2).

`include "ktpu_assert.svh"

module ktpu_cluster_writeback
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
(
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // Quasi-static.
  input  pos_t                    x_i,
  input  pos_t                    y_i,
  input  pos_t                    memory_x_i,
  input  pos_t                    memory_y_i,

  // Results. One that finds the queue full is lost.
  input  logic                    push_i,
  input  logic [PayloadWidth-1:0] push_data_i,

  // A start pulse: granule index and taken count begin at 0.
  input  logic                    restart_i,
  // Destination of the current instruction.
  input  logic                    capture_i,
  input  destination_t            destination_i,
  input  logic                    drain_busy_i,

  output logic                    taken_o,
  output logic [15:0]             taken_count_o,

  output logic                    flit_valid_o,
  output flit_t                   flit_o,
  input  logic                    flit_sent_i,

  // Both banks, the sender and the flit register are empty.
  output logic                    idle_o,
  // Nothing will happen here without an input.
  output logic                    quiet_o
);

  localparam int unsigned QueueWidth = 16 + PayloadWidth;
  localparam int unsigned DepthWidth = $clog2(DrainDepth + 1);
  localparam logic [7:0]  Tag        = 8'd2;  // txn of every burst that stays in the mesh

  // Queue.
  logic                    queue_full, queue_valid, queue_pop;
  logic [QueueWidth-1:0]   queue_head;
  logic [15:0]             pushed_q, taken_q;
  logic [7:0]              queued_q;

  // Banks: 2 x 8 words.
  logic [PayloadWidth-1:0] bank [16];
  logic [3:0]              count0_q, count1_q, held, count_d;
  logic [15:0]             first0_q, first1_q;
  logic                    collect_q;

  // Sender.
  logic                    sending_d, sending_q, send_bank_q;
  logic [3:0]              send_length_q, send_next_q;
  logic [3:0]              word_index;
  logic                    flit_valid_q, load, burst_ends, full, hand_over;
  flit_t                   flit_d, flit_q;
  destination_t            to_q;
  logic [15:0]             first;
  mem_req_t                request;
  cu_data_t                descriptor;

  ktpu_fifo #(
    .Width (QueueWidth), .MaxDepth (DrainDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (FifoReset)
  ) u_queue (
    .clk_i, .rst_ni,
    .depth_i  (DepthWidth'(DrainDepth)),
    .wvalid_i (push_i), .wdata_i ({pushed_q, push_data_i}), .busy_o (queue_full),
    .rvalid_o (queue_valid), .rdata_o (queue_head), .rready_i (queue_pop)
  );

  // Collecting: no pop in the cycle of a hand-over, nor while the bank is full.
  assign held      = collect_q ? count1_q : count0_q;
  assign full      = held == 4'(DrainBurst);
  assign hand_over = !sending_q && (full || (held != '0 && !drain_busy_i));
  assign queue_pop = !hand_over && !full && queue_valid;
  assign count_d   = hand_over ? '0 : held + 4'(queue_pop);

  assign taken_o       = queue_pop;
  assign taken_count_o = taken_q;

  // Sending: descriptor (send_next_q = 0), then the words.
  assign load       = sending_q && (!flit_valid_q || flit_sent_i);
  assign burst_ends = send_next_q == send_length_q;
  assign first      = send_bank_q ? first1_q : first0_q;
  assign word_index = {send_bank_q, 3'(send_next_q - 4'd1)};

  always_comb begin
    sending_d = sending_q;
    if (load && burst_ends) sending_d = 1'b0;
    if (hand_over) sending_d = 1'b1;
  end

  always_comb begin
    request            = '0;
    request.addr       = to_q.addr + {19'd0, first, 5'd0};
    request.len        = 8'(send_length_q) - 8'd1;
    descriptor         = '0;
    descriptor.buf_id  = to_q.buf_id;
    descriptor.offset  = to_q.addr[20:5] + first;
    descriptor.len     = 8'(send_length_q) - 8'd1;
    descriptor.flags   = to_q.flags;
    descriptor.ack_y   = to_q.ack_y;
    descriptor.ack_x   = to_q.ack_x;
    flit_d       = '0;
    flit_d.dst_x = to_q.node ? to_q.dst_x : memory_x_i;
    flit_d.dst_y = to_q.node ? to_q.dst_y : memory_y_i;
    flit_d.src_x = x_i;
    flit_d.src_y = y_i;
    flit_d.kind  = to_q.node ? FlitCuData : (send_next_q == '0) ? FlitMemWrReq : FlitMemWrData;
    // A remote burst carries the far node and mesh on every flit.
    flit_d.txn   = (to_q.fin != '0) ? to_q.fin : Tag;
    flit_d.rsvd  = (to_q.fin != '0) ? {1'b1, to_q.mesh} : 3'd0;
    flit_d.last  = send_next_q != '0 && burst_ends;
    if (send_next_q != '0) begin
      flit_d.payload = bank[word_index];
    end else if (to_q.node) begin
      flit_d.payload = descriptor;
    end else begin
      flit_d.payload = request;
    end
  end

  assign flit_valid_o = flit_valid_q;
  assign flit_o       = flit_q;
  assign idle_o       = count0_q == '0 && count1_q == '0 && !sending_q && !flit_valid_q;
  assign quiet_o      = !flit_valid_q && !sending_q && !full && !(held != '0 && !drain_busy_i) && queued_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      pushed_q      <= '0;
      taken_q       <= '0;
      queued_q      <= '0;
      count0_q      <= '0;
      count1_q      <= '0;
      collect_q     <= 1'b0;
      sending_q     <= 1'b0;
      send_bank_q   <= 1'b0;
      send_length_q <= '0;
      send_next_q   <= '0;
      flit_valid_q  <= 1'b0;
      to_q          <= '0;
    end else begin
      pushed_q     <= restart_i ? '0 : pushed_q + 16'(push_i);
      taken_q      <= restart_i ? '0 : taken_q + 16'(queue_pop);
      queued_q     <= queued_q + 8'(push_i && !queue_full) - 8'(queue_pop);
      sending_q    <= sending_d;
      flit_valid_q <= load || (flit_valid_q && !flit_sent_i);
      if (collect_q) count1_q <= count_d;
      else           count0_q <= count_d;
      if (hand_over) begin
        collect_q     <= !collect_q;
        send_bank_q   <= collect_q;
        send_length_q <= held;
        send_next_q   <= '0;
      end else if (load && !burst_ends) begin
        send_next_q   <= send_next_q + 4'd1;
      end
      if (capture_i) to_q <= destination_i;
    end
  end

  always_ff @(posedge clk_i) begin : data
    if (queue_pop) begin
      bank[{collect_q, held[2:0]}] <= queue_head[PayloadWidth-1:0];
      if (held == '0 && collect_q) first1_q <= queue_head[PayloadWidth+:16];
      if (held == '0 && !collect_q) first0_q <= queue_head[PayloadWidth+:16];
    end
    if (load) flit_q <= flit_d;
  end

  `KTPU_ASSERT(BanksHoldABurst, count0_q <= 4'(DrainBurst) && count1_q <= 4'(DrainBurst))
  `KTPU_ASSERT(OnlyTheCollectBankHoldsWords, collect_q ? count0_q == '0 : count1_q == '0)
  `KTPU_ASSERT(SentOnlyWhenThere, flit_sent_i |-> flit_valid_q)

endmodule
