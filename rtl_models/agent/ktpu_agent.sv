// SPDX-License-Identifier: Apache-2.0
// The control agent (orchestrator.md sections 2 to 7): register map, staging RAM, dispatcher, credit, completion mirror
// and mailbox. It stands beside the memory agent, which selects at most one flit a cycle for it.

`include "ktpu_assert.svh"

module ktpu_agent
  import ktpu_pkg::*;
  import ktpu_agent_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // Quasi-static: change only while rst_ni is low. Tied to constants in a chip.
  input  agent_config_t             config_i,

  // Register buses: at most one write beat and one read sample a cycle each; the address phase and the response are
  // the master's.
  input  bus_mask_t                 write_i,
  input  bus_mask_t                 read_i,
  input  logic [NumBuses-1:0][7:0]  strobe_i,
  input  logic [NumBuses-1:0][15:0] write_offset_i,
  input  logic [NumBuses-1:0][15:0] read_offset_i,
  input  logic [NumBuses-1:0][63:0] write_data_i,
  output logic [NumBuses-1:0][63:0] read_data_o,

  // The AUX window: writes, and the words that reads look up in the same cycle.
  output bus_mask_t                 aux_valid_o,
  output logic [NumBuses-1:0][7:0]  aux_offset_o,
  output logic [NumBuses-1:0][63:0] aux_data_o,
  output logic [NumBuses-1:0][3:0]  aux_index_o,
  input  logic [NumBuses-1:0][63:0] aux_status_i,
  input  logic [63:0]               aux_stat_i,

  // From the memory agent. Not ready: the flit is lost.
  input  flit_t                     in_data_i,
  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  // To the memory agent; stays until taken.
  output flit_t                     out_data_o,
  output logic                      out_valid_o,
  input  logic                      out_taken_i,

  output agent_events_t             events_o,
  // Nothing will change without an input.
  output logic                      quiet_o
);

  // The mailbox flit of a TX_KICK that saw the last free place while the dispatcher was about to fill it still finds
  // room.
  localparam int unsigned TxSpare    = FifoExtra + 1;
  localparam int unsigned DepthWidth = $clog2(MailboxDepth + 1);
  localparam int unsigned TxRoom     = MailboxDepth + FifoExtra;

  agent_pulses_t               pulses;
  agent_state_t                state;
  logic [FlitWidth-1:0]        tx_flit;
  bus_mask_t                   stage_write;
  stage_index_t [NumBuses-1:0] stage_word;
  logic [NumBuses-1:0][7:0]    node;
  logic [NumBuses-1:0][63:0]   node_status;

  logic    is_signal, signal, rx_push, rx_full, overflow_q;
  signal_t payload;
  logic    dispatch_push, fetch, tx_push, tx_pop, tx_stuck;
  flit_t   dispatch_flit, tx_data, tx_head, rx_head;
  logic    out_free, out_valid_q;
  flit_t   out_q;
  logic [5:0] tx_used_q;
  logic [1:0] recent_q;  // a FIFO was written in the last cycles: its word is not readable yet

  ktpu_agent_registers u_registers (
    .clk_i, .rst_ni,
    .stage_words_i (config_i.stage_words),
    .write_i, .strobe_i,
    .offset_i    (write_offset_i),
    .data_i      (write_data_i),
    .run_i       (state.run),
    .tx_full_i   (state.tx_full),
    .rx_valid_i  (state.rx_valid),
    .ctrl_o      (state.ctrl),
    .irq_en_o    (state.irq_en),
    .prog_dst_o  (state.prog_dst),
    .prog_len_o  (state.prog_len),
    .prog_base_o (state.prog_base),
    .tx_flit_o   (tx_flit),
    .pulses_o    (pulses),
    .stage_write_o (stage_write),
    .stage_word_o  (stage_word),
    .aux_valid_o, .aux_offset_o, .aux_data_o
  );

  for (genvar b = 0; b < NumBuses; b++) begin : gen_reads
    ktpu_agent_read u_read (
      .clk_i,
      .grid_lo_i     (config_i.grid_lo),
      .grid_hi_i     (config_i.grid_hi),
      .read_i        (read_i[b]),
      .offset_i      (read_offset_i[b]),
      .data_o        (read_data_o[b]),
      .state_i       (state),
      .rx_head_i     (rx_head),
      .node_o        (node[b]),
      .node_status_i (node_status[b]),
      .aux_index_o   (aux_index_o[b]),
      .aux_status_i  (aux_status_i[b]),
      .aux_stat_i
    );
  end

  // Inbound: signals are always taken; everything else goes to the receive FIFO.
  assign is_signal  = in_data_i.kind == FlitCuSignal;
  assign signal     = in_valid_i && is_signal;
  assign payload    = in_data_i.payload;
  assign in_ready_o = is_signal || !rx_full;
  assign rx_push    = in_valid_i && !is_signal && !rx_full;

  ktpu_agent_mirror u_mirror (
    .clk_i, .rst_ni,
    .quirk_o1_i       (config_i.quirk_o1),
    .signal_i         (signal),
    .signal_node_i    ({in_data_i.src_y, in_data_i.src_x}),
    .signal_code_i    (payload.code),
    .signal_arg_i     (payload.arg),
    .clear_done_i     (pulses.clear_done),
    .sig_done_o       (state.sig_done),
    .node_i           (node),
    .node_status_o    (node_status)
  );

  ktpu_agent_dispatch u_dispatch (
    .clk_i, .rst_ni,
    .x_i           (config_i.x),
    .y_i           (config_i.y),
    .stage_words_i (config_i.stage_words),
    .stage_write_i (stage_write),
    .stage_word_i  (stage_word),
    .stage_data_i  (write_data_i),
    .prog_dst_i    (state.prog_dst),
    .prog_len_i    (state.prog_len),
    .prog_base_i   (state.prog_base),
    .kick_i        (pulses.kick),
    .load_credit_i (pulses.load_credit),
    .credit_i      (pulses.credit),
    .credited_i    (signal && payload.code == SignalInstComplete),
    .push_o        (dispatch_push),
    .flit_o        (dispatch_flit),
    .tx_full_i     (state.tx_full),
    .run_o         (state.run),
    .left_o        (state.left),
    .credit_o      (state.credit),
    .fetch_o       (fetch)
  );

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (MailboxDepth), .Latency (FifoLatency), .Extra (FifoExtra), .ResetCycles (0)
  ) u_rx_fifo (
    .clk_i, .rst_ni,
    .depth_i  (DepthWidth'(MailboxDepth)),
    .wvalid_i (rx_push), .wdata_i (in_data_i), .busy_o (rx_full),
    .rvalid_o (state.rx_valid), .rdata_o (rx_head), .rready_i (pulses.rx_pop)
  );

  assign tx_push = dispatch_push || pulses.mailbox_push;
  assign tx_data = dispatch_push ? dispatch_flit : tx_flit;

  ktpu_fifo #(
    .Width (FlitWidth), .MaxDepth (MailboxDepth), .Latency (FifoLatency), .Extra (TxSpare), .ResetCycles (0)
  ) u_tx_fifo (
    .clk_i, .rst_ni,
    .depth_i  (DepthWidth'(MailboxDepth)),
    .wvalid_i (tx_push), .wdata_i (tx_data), .busy_o (tx_stuck),
    .rvalid_o (state.tx_valid), .rdata_o (tx_head), .rready_i (out_free)
  );

  assign state.tx_full = tx_used_q >= 6'(TxRoom);
  assign state.overflow = overflow_q;
  assign out_free      = !out_valid_q || out_taken_i;
  assign tx_pop        = out_free && state.tx_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      overflow_q  <= 1'b0;
      tx_used_q   <= '0;
      recent_q    <= '0;
    end else begin
      if (out_free) out_valid_q <= state.tx_valid;
      overflow_q <= overflow_q || (in_valid_i && rx_full);
      tx_used_q  <= tx_used_q + 6'(tx_push) - 6'(tx_pop);
      recent_q   <= {recent_q[0], tx_push || rx_push};
    end
  end

  always_ff @(posedge clk_i) begin
    if (tx_pop) out_q <= tx_head;
  end

  assign out_data_o  = out_q;
  assign out_valid_o = out_valid_q;

  assign events_o = '{kick: pulses.kick, push: tx_push, flit: tx_data};

  assign quiet_o = !out_valid_q && !state.tx_valid && recent_q == '0 && !dispatch_push && !fetch &&
                   aux_valid_o == '0 && !pulses.kick && !pulses.clear_done && !pulses.load_credit &&
                   !pulses.mailbox_push && !pulses.rx_pop;

  `KTPU_ASSERT(ConfigIsStatic, $stable(config_i))
  `KTPU_ASSERT(NoFlitIsLost, tx_push |-> !tx_stuck)
  `KTPU_ASSERT(OneFlitAtATime, !(dispatch_push && pulses.mailbox_push))
  `KTPU_ASSERT(RefusedOutputStays, out_valid_o && !out_taken_i |=> out_valid_o && $stable(out_data_o))
  `KTPU_ASSERT(TakesWhatIsThere, out_taken_i |-> out_valid_o)

endmodule
