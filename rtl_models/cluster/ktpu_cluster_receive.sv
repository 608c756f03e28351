// SPDX-License-Identifier: Apache-2.0
// The head of the receive FIFO: read responses of a FILL, CU_DATA streams of other units, everything else
// (cluster.md sections 5.1, 9.3 and 9.4).

`include "ktpu_assert.svh"

module ktpu_cluster_receive
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
#(
  parameter int unsigned IndexWidth = 9,
  parameter int unsigned TileWidth  = 12
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // Quasi-static: own coordinate, entries and sub-tiles in use - 1.
  input  pos_t                    x_i,
  input  pos_t                    y_i,
  input  logic [IndexWidth-1:0]   a_mask_i,
  input  logic [IndexWidth-1:0]   b_mask_i,
  input  logic [TileWidth-1:0]    tile_mask_i,

  input  logic                    recv_valid_i,
  input  flit_t                   recv_i,
  output logic                    recv_pop_o,

  // The FILL under way.
  input  logic                    filling_i,
  input  logic                    fill_side_i,
  input  logic                    fill_bank_i,
  // The last word of one of its entries was taken.
  output logic                    entry_o,

  // Operand words for L1.
  output logic                    word_valid_o,
  output logic                    word_side_o,
  output logic [IndexWidth-1:0]   word_entry_o,
  output logic [1:0]              word_index_o,
  output logic [PayloadWidth-1:0] word_o,

  // Peer sub-tile.
  input  logic                    gemm_busy_i,
  output logic                    pending_o,
  output logic                    gate_o,
  output logic [TileWidth-1:0]    pending_tile_o,
  input  logic                    issued_i,
  output logic [SubTileWidth-1:0] value_o,
  // A stream for sub-tiles, rejected or not, keeps GEMM and DRAIN from starting: `open` a cycle after `stream`.
  output logic                    peer_stream_o,
  output logic                    peer_open_o,
  // A stream is rejected in this cycle.
  output logic                    reject_o,

  output logic                    ack_valid_o,
  output flit_t                   ack_o,
  input  logic                    ack_sent_i,

  // The head can not be taken, and no flag is about to change.
  output logic                    quiet_o
);

  localparam logic [7:0] BufferA = 8'd0, BufferB = 8'd1, BufferTile = 8'd2;

  logic        is_response, is_data, may_take, take_response, take_data, take_descriptor, take_granule;
  cu_data_t    descriptor;
  logic [16:0] last_granule;
  logic        acceptable;

  logic        stream_d, stream_q;
  logic        rejected_q;
  logic [7:0]  buf_id_q;
  logic        signals_q;
  pos_t        ack_x_q, ack_y_q;
  logic [7:0]  txn_q;
  logic [15:0] offset_q;
  logic [8:0]  left_q;
  logic        to_tile, odd;

  logic        pending_d, pending_q, open_q, gate_q;
  logic [TileWidth-1:0]    pending_tile_q;
  logic [SubTileWidth-1:0] value_q;
  logic        ack_valid_d, ack_valid_q, ack_load;
  flit_t       ack_d, ack_q;
  signal_t     signal;

  assign is_response = recv_i.kind == FlitMemRdResp;
  assign is_data     = recv_i.kind == FlitCuData;
  assign may_take    = is_response ? filling_i : is_data ? (!pending_q && !ack_valid_q) : 1'b1;
  assign recv_pop_o  = recv_valid_i && may_take;

  assign take_response   = recv_pop_o && is_response;
  assign take_data       = recv_pop_o && is_data;
  assign take_descriptor = take_data && !stream_q;
  assign take_granule    = take_data && stream_q;

  // Range check, on the numbers before any cut.
  assign descriptor   = recv_i.payload;
  assign last_granule = 17'(descriptor.offset) + 17'(descriptor.len);
  always_comb begin
    unique case (descriptor.buf_id)
      BufferA:    acceptable = last_granule <= 17'({a_mask_i, 2'b11});
      BufferB:    acceptable = last_granule <= 17'({b_mask_i, 2'b11});
      BufferTile: acceptable = last_granule <= 17'({tile_mask_i, 1'b1}) && !descriptor.offset[0];
      default:    acceptable = 1'b0;
    endcase
  end
  assign reject_o = take_descriptor && !acceptable;

  assign to_tile = take_granule && !rejected_q && buf_id_q == BufferTile;
  assign odd     = offset_q[0];

  // Operand words of both sources.
  assign entry_o      = take_response && recv_i.rsvd[1:0] == 2'd3;
  assign word_valid_o = take_response || (take_granule && !rejected_q && buf_id_q != BufferTile);
  assign word_side_o  = is_response ? fill_side_i : buf_id_q[0];
  assign word_entry_o = is_response ? IndexWidth'({fill_bank_i, recv_i.txn}) : IndexWidth'(offset_q >> 2);
  assign word_index_o = is_response ? recv_i.rsvd[1:0] : offset_q[1:0];
  assign word_o       = recv_i.payload;

  always_comb begin
    stream_d    = stream_q;
    pending_d   = pending_q;
    ack_valid_d = ack_valid_q;
    ack_load    = 1'b0;
    if (issued_i) pending_d = 1'b0;
    if (ack_sent_i) ack_valid_d = 1'b0;
    if (take_descriptor) stream_d = 1'b1;
    if (to_tile && odd) pending_d = 1'b1;
    if (take_granule && left_q == 9'd1) begin
      stream_d = 1'b0;
      ack_load = signals_q;
    end
    if (ack_load) ack_valid_d = 1'b1;
  end

  always_comb begin
    signal        = '0;
    signal.code   = SignalDataReceived;
    signal.arg    = 32'(buf_id_q);
    ack_d         = '0;
    ack_d.dst_x   = ack_x_q;
    ack_d.dst_y   = ack_y_q;
    ack_d.src_x   = x_i;
    ack_d.src_y   = y_i;
    ack_d.kind    = FlitCuSignal;
    ack_d.txn     = txn_q;
    ack_d.last    = 1'b1;
    ack_d.payload = signal;
  end

  assign peer_stream_o  = stream_q && buf_id_q == BufferTile;
  assign peer_open_o    = open_q;
  assign pending_o      = pending_q;
  assign gate_o         = gate_q;
  assign pending_tile_o = pending_tile_q;
  assign value_o        = value_q;
  assign ack_valid_o    = ack_valid_q;
  assign ack_o          = ack_q;

  logic open_d, gate_d;
  assign open_d  = peer_stream_o || pending_q;
  assign gate_d  = open_q && (gate_q || !gemm_busy_i);
  assign quiet_o = !(recv_valid_i && may_take) && open_d == open_q && gate_d == gate_q && !ack_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      stream_q    <= 1'b0;
      rejected_q  <= 1'b0;
      buf_id_q    <= '0;
      left_q      <= '0;
      pending_q   <= 1'b0;
      open_q      <= 1'b0;
      gate_q      <= 1'b0;
      ack_valid_q <= 1'b0;
    end else begin
      stream_q    <= stream_d;
      pending_q   <= pending_d;
      open_q      <= open_d;
      gate_q      <= gate_d;
      ack_valid_q <= ack_valid_d;
      if (take_descriptor) begin
        rejected_q <= !acceptable;
        buf_id_q   <= descriptor.buf_id;
        left_q     <= 9'(descriptor.len) + 9'd1;
      end else if (take_granule) begin
        left_q     <= left_q - 9'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin : data
    if (take_descriptor) begin
      signals_q <= descriptor.flags[0];
      txn_q     <= recv_i.txn;
      offset_q  <= descriptor.offset;
      // (0,0): back to the sender.
      ack_x_q   <= ({descriptor.ack_x, descriptor.ack_y} == '0) ? recv_i.src_x : descriptor.ack_x;
      ack_y_q   <= ({descriptor.ack_x, descriptor.ack_y} == '0) ? recv_i.src_y : descriptor.ack_y;
    end else if (take_granule) begin
      offset_q <= offset_q + 16'd1;
    end
    if (to_tile && !odd) value_q[PayloadWidth-1:0] <= recv_i.payload;
    if (to_tile && odd) begin
      value_q[PayloadWidth+:HighWidth] <= recv_i.payload[HighWidth-1:0];
      pending_tile_q <= TileWidth'(offset_q >> 1);
    end
    if (ack_load) ack_q <= ack_d;
  end

  `KTPU_ASSERT(IssuedOnlyWhenPending, issued_i |-> pending_q)
  `KTPU_ASSERT(OnePendingAtATime, to_tile && odd |-> !pending_q)

endmodule
