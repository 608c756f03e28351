// SPDX-License-Identifier: Apache-2.0
// The five channels of the DRAM bus (memory.md section 7.3): the FIFOs between ktpu_memory_core and a DRAM on the same
// clock. A DRAM on a clock of its own has asynchronous FIFOs here instead.

`include "ktpu_assert.svh"

module ktpu_memory_bus
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // Quasi-static: width of the bus, and reads in flight of a requester.
  input  logic [1:0]                  lanes_log2_i,
  input  reads_t                      reads_i,

  input  logic                        ar_push_i,
  input  burst_t                      ar_i,
  output logic                        ar_full_o,
  input  logic                        aw_push_i,
  input  burst_t                      aw_i,
  output logic                        aw_full_o,
  input  logic                        w_push_i,
  input  write_beat_t                 w_i,
  output logic                        w_full_o,
  // With one read in flight all read data goes through FIFO 0, and r_id_o tells whose it is; with more each requester
  // has its own.
  output requester_mask_t             r_valid_o,
  output bus_beat_t [MaxRequesters-1:0] r_data_o,
  output requester_t                  r_id_o,
  input  requester_mask_t             r_pop_i,
  output logic                        b_valid_o,
  output requester_t                  b_id_o,

  // The DRAM.
  output logic                        ar_valid_o,
  output burst_t                      ar_o,
  input  logic                        ar_ready_i,
  output logic                        aw_valid_o,
  output burst_t                      aw_o,
  input  logic                        aw_ready_i,
  output logic                        w_valid_o,
  output write_beat_t                 w_o,
  input  logic                        w_ready_i,
  input  logic                        r_valid_i,
  input  bus_beat_t                   r_data_i,
  input  requester_t                  r_id_i,
  output logic                        r_ready_o,
  input  logic                        b_valid_i,
  input  requester_t                  b_id_i,
  output logic                        b_ready_o
);

  // Deep enough for what a requester may have asked for: entries of QuantBeats words.
  localparam int unsigned ReadDepth = MaxReads * QuantBeats;
  typedef logic [$clog2(ReadDepth+1)-1:0] read_depth_t;

  typedef struct packed {
    bus_beat_t  data;
    requester_t id;
  } read_word_t;

  ktpu_fifo #(
    .Width ($bits(burst_t)), .MaxDepth (DramFifoAr), .Latency (AsyncFifoLatency), .Extra (AsyncFifoExtra),
    .ResetCycles (0)
  ) u_ar (
    .clk_i, .rst_ni, .depth_i (($clog2(DramFifoAr + 1))'(DramFifoAr)),
    .wvalid_i (ar_push_i), .wdata_i (ar_i), .busy_o (ar_full_o),
    .rvalid_o (ar_valid_o), .rdata_o (ar_o), .rready_i (ar_ready_i)
  );

  ktpu_fifo #(
    .Width ($bits(burst_t)), .MaxDepth (DramFifoAw), .Latency (AsyncFifoLatency), .Extra (AsyncFifoExtra),
    .ResetCycles (0)
  ) u_aw (
    .clk_i, .rst_ni, .depth_i (($clog2(DramFifoAw + 1))'(DramFifoAw)),
    .wvalid_i (aw_push_i), .wdata_i (aw_i), .busy_o (aw_full_o),
    .rvalid_o (aw_valid_o), .rdata_o (aw_o), .rready_i (aw_ready_i)
  );

  ktpu_fifo #(
    .Width ($bits(write_beat_t)), .MaxDepth (DramFifoW), .Latency (AsyncFifoLatency), .Extra (AsyncFifoExtra),
    .ResetCycles (0)
  ) u_w (
    .clk_i, .rst_ni, .depth_i (($clog2(DramFifoW + 1))'(DramFifoW)),
    .wvalid_i (w_push_i), .wdata_i (w_i), .busy_o (w_full_o),
    .rvalid_o (w_valid_o), .rdata_o (w_o), .rready_i (w_ready_i)
  );

  // --- Read data
  logic            shared;
  logic [9:0]      asked;
  read_depth_t     depth;
  requester_mask_t full, heads;
  requester_t      into;

  assign shared = reads_i == reads_t'(1);
  assign asked  = 10'(reads_i) * (10'(QuantBeats) >> lanes_log2_i);
  assign into   = shared ? '0 : r_id_i;

  // The next power of two from DramFifoR on.
  always_comb begin
    depth = read_depth_t'(DramFifoR);
    for (int unsigned d = DramFifoR; d < ReadDepth; d = 2 * d) begin
      if (!shared && asked > 10'(d)) depth = read_depth_t'(2 * d);
    end
  end

  read_word_t [MaxRequesters-1:0] words;
  for (genvar f = 0; f < MaxRequesters; f++) begin : gen_read
    ktpu_fifo #(
      .Width ($bits(read_word_t)), .MaxDepth (ReadDepth), .Latency (AsyncFifoLatency), .Extra (AsyncFifoExtra),
      .ResetCycles (0)
    ) u_r (
      .clk_i, .rst_ni, .depth_i (depth),
      .wvalid_i (r_valid_i && into == requester_t'(f) && !full[f]), .wdata_i ({r_data_i, r_id_i}), .busy_o (full[f]),
      .rvalid_o (heads[f]), .rdata_o (words[f]), .rready_i (r_pop_i[f])
    );
    assign r_data_o[f] = words[f].data;
  end

  assign r_valid_o = heads;
  assign r_id_o    = words[0].id;
  assign r_ready_o = !full[into];

  // --- Write responses: taken as they come
  logic b_full;

  ktpu_fifo #(
    .Width ($bits(requester_t)), .MaxDepth (DramFifoB), .Latency (AsyncFifoLatency), .Extra (AsyncFifoExtra),
    .ResetCycles (0)
  ) u_b (
    .clk_i, .rst_ni, .depth_i (($clog2(DramFifoB + 1))'(DramFifoB)),
    .wvalid_i (b_valid_i && !b_full), .wdata_i (b_id_i), .busy_o (b_full),
    .rvalid_o (b_valid_o), .rdata_o (b_id_o), .rready_i (1'b1)
  );
  assign b_ready_o = !b_full;

  `KTPU_ASSERT(PushesOnlyWhatFits, !(ar_push_i && ar_full_o) && !(aw_push_i && aw_full_o) && !(w_push_i && w_full_o))
  `KTPU_ASSERT(ReadAddressStays, ar_valid_o && !ar_ready_i |=> ar_valid_o && $stable(ar_o))
  `KTPU_ASSERT(WriteAddressStays, aw_valid_o && !aw_ready_i |=> aw_valid_o && $stable(aw_o))
  `KTPU_ASSERT(WriteDataStays, w_valid_o && !w_ready_i |=> w_valid_o && $stable(w_o))
  `KTPU_ASSERT(ReadDataStays, r_valid_i && !r_ready_o |=> r_valid_i && $stable(r_data_i) && $stable(r_id_i))

endmodule
