// SPDX-License-Identifier: Apache-2.0
// What software writes (orchestrator.md sections 2 and 3): decode of the write beats, registers that keep a value,
// pulses for those that act. Of two buses the second wins.

`include "ktpu_assert.svh"

module ktpu_agent_registers
  import ktpu_pkg::*;
  import ktpu_agent_pkg::*;
(
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  stage_index_t               stage_words_i,

  input  bus_mask_t                  write_i,
  input  logic [NumBuses-1:0][7:0]   strobe_i,
  input  logic [NumBuses-1:0][15:0]  offset_i,
  input  logic [NumBuses-1:0][63:0]  data_i,

  // As they stand in the cycle of the write.
  input  logic                       run_i,
  input  logic                       tx_full_i,
  input  logic                       rx_valid_i,

  output logic [63:0]                ctrl_o,
  output logic [63:0]                irq_en_o,
  output logic [7:0]                 prog_dst_o,
  output logic [15:0]                prog_len_o,
  output logic [15:0]                prog_base_o,
  output logic [FlitWidth-1:0]       tx_flit_o,
  output agent_pulses_t              pulses_o,

  // The staging RAM is written in the cycle of the beat.
  output bus_mask_t                  stage_write_o,
  output stage_index_t [NumBuses-1:0] stage_word_o,

  // AUX_CFG, one cycle after the beat.
  output bus_mask_t                  aux_valid_o,
  output logic [NumBuses-1:0][7:0]   aux_offset_o,
  output logic [NumBuses-1:0][63:0]  aux_data_o
);

  localparam int unsigned FlitBytes = FlitWidth / 8;

  logic [63:0]              ctrl_d, ctrl_q, irq_en_d, irq_en_q;
  logic [7:0]               prog_dst_d, prog_dst_q;
  logic [15:0]              prog_len_d, prog_len_q, prog_base_d, prog_base_q;
  logic [FlitBytes-1:0][7:0] tx_flit_d, tx_flit_q;
  agent_pulses_t            pulses_d, pulses_q;
  bus_mask_t                is_stage, is_aux, aux_valid_q;
  logic [NumBuses-1:0][7:0]  aux_offset_q;
  logic [NumBuses-1:0][63:0] aux_data_q;

  for (genvar b = 0; b < NumBuses; b++) begin : gen_windows
    assign stage_word_o[b] = offset_i[b][12:3];
    assign is_stage[b]     = offset_i[b][15:13] == AgentStage[15:13] && stage_word_o[b] < stage_words_i;
    assign is_aux[b]       = offset_i[b][15:8] == AgentAuxCfgMover[15:8];
  end
  assign stage_write_o = write_i & is_stage;

  always_comb begin : kept
    ctrl_d      = ctrl_q;
    irq_en_d    = irq_en_q;
    prog_dst_d  = prog_dst_q;
    prog_len_d  = prog_len_q;
    prog_base_d = prog_base_q;
    tx_flit_d   = tx_flit_q;
    for (int unsigned b = 0; b < NumBuses; b++) begin
      if (write_i[b]) begin
        case (offset_i[b])
          AgentCtrl:     ctrl_d      = data_i[b];
          AgentIrqEn:    irq_en_d    = data_i[b];
          AgentProgDst:  prog_dst_d  = data_i[b][7:0];
          AgentProgLen:  prog_len_d  = data_i[b][15:0];
          AgentProgBase: prog_base_d = data_i[b][15:0];
          default: ;
        endcase
        if (offset_i[b][15:6] == AgentTxFlit[15:6]) begin
          for (int unsigned n = 0; n < FlitBytes; n++) begin
            if (offset_i[b][5:3] == 3'(n / 8) && strobe_i[b][n % 8]) tx_flit_d[n] = data_i[b][8 * (n % 8) +: 8];
          end
        end
      end
    end
  end

  always_comb begin : pulses
    pulses_d        = '0;
    pulses_d.credit = pulses_q.credit;
    for (int unsigned b = 0; b < NumBuses; b++) begin
      if (write_i[b]) begin
        case (offset_i[b])
          AgentProgKick: pulses_d.kick = 1'b1;
          AgentProgCred: begin
            pulses_d.load_credit = 1'b1;
            pulses_d.credit      = data_i[b][15:0];
          end
          AgentSigDone:  pulses_d.clear_done   = 1'b1;
          AgentTxKick:   pulses_d.mailbox_push = !tx_full_i && !run_i;
          AgentRxPop:    pulses_d.rx_pop       = rx_valid_i;
          default: ;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ctrl_q      <= '0;
      irq_en_q    <= '0;
      prog_dst_q  <= '0;
      prog_len_q  <= '0;
      prog_base_q <= '0;
      pulses_q    <= '0;
      aux_valid_q <= '0;
    end else begin
      ctrl_q      <= ctrl_d;
      irq_en_q    <= irq_en_d;
      prog_dst_q  <= prog_dst_d;
      prog_len_q  <= prog_len_d;
      prog_base_q <= prog_base_d;
      pulses_q    <= pulses_d;
      aux_valid_q <= write_i & is_aux;
    end
  end

  // Not reset: the mailbox flit, and data that a valid bit guards.
  always_ff @(posedge clk_i) begin
    if (write_i != '0) tx_flit_q <= tx_flit_d;
    for (int unsigned b = 0; b < NumBuses; b++) begin
      if (write_i[b] && is_aux[b]) begin
        aux_offset_q[b] <= {offset_i[b][7:3], 3'b000};
        aux_data_q[b]   <= data_i[b];
      end
    end
  end

  assign ctrl_o       = ctrl_q;
  assign irq_en_o     = irq_en_q;
  assign prog_dst_o   = prog_dst_q;
  assign prog_len_o   = prog_len_q;
  assign prog_base_o  = prog_base_q;
  assign tx_flit_o    = tx_flit_q;
  assign pulses_o     = pulses_q;
  assign aux_valid_o  = aux_valid_q;
  assign aux_offset_o = aux_offset_q;
  assign aux_data_o   = aux_data_q;

  `KTPU_ASSERT_INIT(ConfigWindowIs256Bytes, AgentAuxCfgMover[7:0] == '0)

endmodule
