// SPDX-License-Identifier: Apache-2.0
// The converged path to one DRAM master (memory.md sections 7.1 and 7.3): an adapter per requester, separate read
// and write arbiters, the write-data multiplexer and beat packing. The FIFOs of the five channels are outside
// (ktpu_memory_bus).

`include "ktpu_assert.svh"

module ktpu_memory_path
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Quasi-static: width of the bus; the converged staging memory is there, and of which mesh; reads a requester may have
  // in flight.
  input  logic [1:0]                    lanes_log2_i,
  input  logic                          staging_i,
  input  logic [1:0]                    mesh_id_i,
  input  reads_t                        reads_i,

  input  request_t [MaxRequesters-1:0]  request_i,
  output reply_t   [MaxRequesters-1:0]  reply_o,

  // The FIFOs of the bus; identifiers are indices of requesters.
  output logic                          ar_push_o,
  output burst_t                        ar_o,
  input  logic                          ar_full_i,
  output logic                          aw_push_o,
  output burst_t                        aw_o,
  input  logic                          aw_full_i,
  output logic                          w_push_o,
  output write_beat_t                   w_o,
  input  logic                          w_full_i,
  // With one read in flight all read data is at the head of FIFO 0, and r_id_i tells whose it is; with more each
  // requester has its own FIFO.
  input  requester_mask_t               r_valid_i,
  input  bus_beat_t [MaxRequesters-1:0] r_data_i,
  input  requester_t                    r_id_i,
  output requester_mask_t               r_pop_o,
  // Taken as they come.
  input  logic                          b_valid_i,
  input  requester_t                    b_id_i
);

  // Never what limits a write: a place for each write address that the path can hold.
  localparam int unsigned OrderDepth = 32;
  // Writes of one requester that are granted and not answered.
  localparam int unsigned WritesWidth = 8;

  // Whose data comes next, and where in the bus it begins.
  typedef struct packed {
    beats_t     beats;
    requester_t id;
    lane_t      lane;
  } order_t;

  logic       pulse_q;     // a write response
  requester_t pulse_id_q;
  lane_t      last_lane;
  assign last_lane = lane_t'(~(2'b11 << lanes_log2_i));

  function automatic burst_t narrow(addr_t addr, beats_t beats, requester_t id, logic [1:0] lanes_log2,
                                    lane_t last);
    lane_t      lane;
    logic [9:0] total;
    burst_t     burst;
    lane        = addr[6:5] & last;
    total       = 10'(beats) + 10'(lane) + 10'(last);
    burst.addr  = addr & ~((addr_t'(WordBytes) << lanes_log2) - addr_t'(1));
    burst.beats = beats_t'(total >> lanes_log2);
    burst.id    = id;
    return burst;
  endfunction

  // --- Adapters: a write offered together with a read goes first, and a choice is held until granted
  requester_mask_t held_d, held_q;
  requester_mask_t held_write_d, held_write_q;
  reads_t [MaxRequesters-1:0] in_flight;      // reads at the DRAM
  requester_mask_t reads, writes;             // presented in this cycle
  requester_mask_t read_grant, write_grant;

  // The staging memory sits between the adapters and the DRAM port: it and the DRAM never serve the same requester and
  // direction at once (section 7.2).
  requester_mask_t staged_reads, staged_writes;
  requester_mask_t runs_read, runs_write;  // in the staging memory
  requester_mask_t staged_read_grant, staged_write_grant, staged_w_taken, staged_r_valid, staged_b;
  logic            staged_r_last;
  word_t           staged_r_data;
  logic [MaxRequesters-1:0][WritesWidth-1:0] writes_in_flight_d, writes_in_flight_q;

  always_comb begin : adapters
    logic [7:0] top;
    logic       claimed;
    top     = '0;
    claimed = 1'b0;
    for (int unsigned i = 0; i < MaxRequesters; i++) begin
      held_write_d[i]  = held_q[i] ? held_write_q[i] : request_i[i].aw_valid;
      held_d[i]        = request_i[i].ar_valid || request_i[i].aw_valid;
      top              = held_write_d[i] ? request_i[i].aw_addr[39:32] : request_i[i].ar_addr[39:32];
      claimed          = staging_i && is_staged(top, mesh_id_i);
      writes[i]        = held_d[i] && held_write_d[i] && !claimed && !runs_write[i];
      reads[i]         = held_d[i] && !held_write_d[i] && !claimed && !runs_read[i] && in_flight[i] < reads_i;
      staged_writes[i] = held_d[i] && held_write_d[i] && claimed && writes_in_flight_q[i] == '0;
      staged_reads[i]  = held_d[i] && !held_write_d[i] && claimed && in_flight[i] == '0;
    end
    held_d &= ~(read_grant | write_grant | staged_read_grant | staged_write_grant);
  end

  ktpu_memory_staging u_staging (
    .clk_i,
    .rst_ni,
    .reads_i       (staged_reads),
    .writes_i      (staged_writes),
    .request_i,
    .runs_read_o   (runs_read),
    .runs_write_o  (runs_write),
    .read_grant_o  (staged_read_grant),
    .write_grant_o (staged_write_grant),
    .w_taken_o     (staged_w_taken),
    .r_valid_o     (staged_r_valid),
    .r_last_o      (staged_r_last),
    .r_data_o      (staged_r_data),
    .b_o           (staged_b)
  );

  always_comb begin : count_writes
    for (int unsigned i = 0; i < MaxRequesters; i++) begin
      writes_in_flight_d[i] = writes_in_flight_q[i] + WritesWidth'(write_grant[i]) -
                              WritesWidth'(pulse_q && pulse_id_q == requester_t'(i));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : writes_at_dram
    if (!rst_ni) writes_in_flight_q <= '0;
    else         writes_in_flight_q <= writes_in_flight_d;
  end

  // --- Arbiters, on the vector of the cycle before; a winner is out of the next cycle
  requester_mask_t read_requests_q, read_blocked_q;
  requester_mask_t write_requests_q, write_blocked_q;
  requester_t      read_pointer_q, write_pointer_q;
  requester_t      reader, writer;
  logic            ar_push_q, aw_push_q;  // a granted address on its way into the FIFO
  burst_t          ar_push_burst_q, aw_push_burst_q;
  order_t          push_order_q;
  logic            order_full;
  logic            ar_room, aw_room;

  assign ar_room     = !ar_push_q || !ar_full_i;
  assign aw_room     = !aw_push_q || !(aw_full_i || order_full);

  ktpu_arbiter #(
    .Requests (MaxRequesters)
  ) u_read_arbiter (
    .clk_i, .rst_ni,
    .request_i (ar_room ? read_requests_q & ~read_blocked_q : '0), .first_i (read_pointer_q), .grant_o (read_grant)
  );

  ktpu_arbiter #(
    .Requests (MaxRequesters)
  ) u_write_arbiter (
    .clk_i, .rst_ni,
    .request_i (aw_room ? write_requests_q & ~write_blocked_q : '0), .first_i (write_pointer_q), .grant_o (write_grant)
  );

  assign reader      = index_of(read_grant);
  assign writer      = index_of(write_grant);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q           <= '0;
      held_write_q     <= '0;
      read_requests_q  <= '0;
      read_blocked_q   <= '0;
      read_pointer_q   <= '0;
      write_requests_q <= '0;
      write_blocked_q  <= '0;
      write_pointer_q  <= '0;
      ar_push_q        <= 1'b0;
      aw_push_q        <= 1'b0;
    end else begin
      held_q           <= held_d;
      held_write_q     <= held_write_d;
      read_requests_q  <= reads;
      read_blocked_q   <= read_grant;
      write_requests_q <= writes;
      write_blocked_q  <= write_grant;
      if (read_grant != '0)  read_pointer_q  <= after(reader);
      if (write_grant != '0) write_pointer_q <= after(writer);
      if (ar_room) ar_push_q <= read_grant != '0;
      if (aw_room) aw_push_q <= write_grant != '0;
    end
  end

  always_ff @(posedge clk_i) begin : granted
    if (read_grant != '0) begin
      ar_push_burst_q <= narrow(request_i[reader].ar_addr, request_i[reader].ar_beats, reader, lanes_log2_i,
                                last_lane);
    end
    if (write_grant != '0) begin
      aw_push_burst_q <= narrow(request_i[writer].aw_addr, request_i[writer].aw_beats, writer, lanes_log2_i,
                                last_lane);
      push_order_q    <= '{beats: request_i[writer].aw_beats, id: writer,
                           lane: request_i[writer].aw_addr[6:5] & last_lane};
    end
  end

  assign ar_push_o = ar_push_q && ar_room;
  assign ar_o      = ar_push_burst_q;
  assign aw_push_o = aw_push_q && aw_room;
  assign aw_o      = aw_push_burst_q;

  // --- Write data: follows the order of the write addresses
  logic        order_valid;
  order_t      order_head;
  logic        mux_open_d, mux_open_q;
  order_t      mux_d, mux_q;
  logic        w_take;
  logic        w_last;
  write_beat_t pack_d, pack_q;  // the beat being put together; lanes are 0 between beats

  ktpu_fifo #(
    .Width ($bits(order_t)), .MaxDepth (OrderDepth), .Latency (FifoLatency), .Extra (FifoExtra),
    .ResetCycles (0)
  ) u_order (
    .clk_i, .rst_ni, .depth_i (($clog2(OrderDepth + 1))'(OrderDepth)),
    .wvalid_i (aw_push_q && aw_room), .wdata_i (push_order_q), .busy_o (order_full),
    .rvalid_o (order_valid), .rdata_o (order_head), .rready_i (!mux_open_q)
  );

  assign w_take   = mux_open_q && request_i[mux_q.id].w_valid && !w_full_i;
  assign w_last   = mux_q.beats == beats_t'(1);
  assign w_push_o = w_take && (w_last || mux_q.lane == last_lane);

  always_comb begin : write_mux
    mux_open_d = mux_open_q;
    mux_d      = mux_q;
    if (!mux_open_q) begin
      mux_open_d = order_valid;
      mux_d      = order_head;
    end else if (w_take) begin
      mux_open_d  = !w_last;
      mux_d.beats = mux_q.beats - beats_t'(1);
      mux_d.lane  = w_push_o ? '0 : mux_q.lane + lane_t'(1);
    end
  end

  always_comb begin : packing
    pack_d = pack_q;
    if (w_take) begin
      if (pack_q.lanes == '0) pack_d = '0;
      pack_d.data[mux_q.lane*PayloadWidth +: PayloadWidth] = request_i[mux_q.id].w_data;
      pack_d.lanes[mux_q.lane] = 1'b1;
      pack_d.last              = w_last;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mux_open_q <= 1'b0;
      pack_q     <= '0;
    end else begin
      mux_open_q <= mux_open_d;
      if (w_take) begin
        pack_q <= pack_d;
        if (w_push_o) pack_q.lanes <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin : mux_register
    mux_q <= mux_d;
  end

  assign w_o = pack_d;

  // --- Read data: whoever does not take it holds up everybody behind in the same FIFO
  logic                       shared;
  requester_mask_t            give, r_last, r_done;
  lane_t [MaxRequesters-1:0]  track_lane;
  word_t                      shared_word;

  assign shared = reads_i == reads_t'(1);

  for (genvar i = 0; i < MaxRequesters; i++) begin : gen_track
    assign give[i] = request_i[i].r_ready && (shared ? r_valid_i[0] && r_id_i == requester_t'(i) : r_valid_i[i]);

    ktpu_memory_track u_track (
      .clk_i,
      .rst_ni,
      .last_lane_i (last_lane),
      .grant_i     (read_grant[i]),
      .beats_i     (request_i[i].ar_beats),
      .lane_i      (request_i[i].ar_addr[6:5] & last_lane),
      .give_i      (give[i]),
      .lane_o      (track_lane[i]),
      .last_o      (r_last[i]),
      .done_o      (r_done[i]),
      .count_o     (in_flight[i])
    );
  end

  assign r_pop_o     = shared ? requester_mask_t'((give & r_done) != '0) : give & r_done;
  assign shared_word = r_data_i[0][track_lane[r_id_i]*PayloadWidth +: PayloadWidth];

  // --- Write responses: a pulse from a register
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pulse_q <= 1'b0;
    else         pulse_q <= b_valid_i;
  end

  always_ff @(posedge clk_i) begin : pulse
    if (b_valid_i) pulse_id_q <= b_id_i;
  end

  always_comb begin : replies
    for (int unsigned i = 0; i < MaxRequesters; i++) begin
      reply_o[i].ar_grant = read_grant[i] || staged_read_grant[i];
      reply_o[i].aw_grant = write_grant[i] || staged_write_grant[i];
      reply_o[i].w_taken  = (w_take && mux_q.id == requester_t'(i)) || staged_w_taken[i];
      reply_o[i].r_valid  = give[i] || staged_r_valid[i];
      reply_o[i].r_last   = staged_r_valid[i] ? staged_r_last : r_last[i];
      reply_o[i].b        = (pulse_q && pulse_id_q == requester_t'(i)) || staged_b[i];
      reply_o[i].r_data   = shared_word;
      if (staged_r_valid[i]) reply_o[i].r_data = staged_r_data;
      else if (!shared) reply_o[i].r_data = r_data_i[i][track_lane[i]*PayloadWidth +: PayloadWidth];
    end
  end

  `KTPU_ASSERT(BusIsStatic, $stable(lanes_log2_i) && $stable(staging_i) && $stable(mesh_id_i) && $stable(reads_i))
  `KTPU_ASSERT(OneSourceOfGrants, ((read_grant | write_grant) & (staged_read_grant | staged_write_grant)) == '0)
  `KTPU_ASSERT(OneSourceOfWords, (give & staged_r_valid) == '0)

endmodule
