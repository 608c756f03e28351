// SPDX-License-Identifier: Apache-2.0
// The read side of one register bus (orchestrator.md section 3.1): what an offset shows in this cycle. No side
// effects.

`include "ktpu_assert.svh"

module ktpu_agent_read
  import ktpu_pkg::*;
  import ktpu_agent_pkg::*;
(
  input  logic         clk_i,
  input  logic [7:0]   grid_lo_i,
  input  logic [7:0]   grid_hi_i,

  input  logic         read_i,
  input  logic [15:0]  offset_i,
  output logic [63:0]  data_o,  // in the cycle after read_i

  input  agent_state_t state_i,
  input  flit_t        rx_head_i,
  // NODE_STATUS and the AUX words, looked up in the same cycle.
  output logic [7:0]   node_o,
  input  logic [63:0]  node_status_i,
  output logic [3:0]   aux_index_o,
  input  logic [63:0]  aux_status_i,
  input  logic [63:0]  aux_stat_i
);

  logic [63:0]                      value, data_q;
  logic [WordsPerFlit-1:0][63:0]    rx_words;

  assign node_o      = offset_i[10:3];
  assign aux_index_o = offset_i[6:3];
  assign rx_words    = {32'b0, rx_head_i};

  always_comb begin
    value = '0;
    case (offset_i)
      AgentCtrl:     value = state_i.ctrl;
      AgentStatus:   value = {61'b0, 1'b1, 1'b0, state_i.run || state_i.tx_valid};
      AgentCaps:     value = {24'b0, grid_hi_i, grid_lo_i, 8'(PosWidth), 16'(FlitWidth)};
      AgentIrqEn:    value = state_i.irq_en;
      AgentProgDst:  value = 64'(state_i.prog_dst);
      AgentProgLen:  value = 64'(state_i.prog_len);
      AgentProgStat: value = {31'b0, state_i.credit, state_i.left, state_i.run};
      AgentProgCred: value = 64'(state_i.credit);
      AgentProgBase: value = 64'(state_i.prog_base);
      AgentSigDone:  value = 64'(state_i.sig_done);
      AgentAuxStat:  value = aux_stat_i;
      AgentTxStatus: value = {47'b0, state_i.tx_full, 16'b0};
      AgentRxStatus: value = {46'b0, state_i.overflow, !state_i.rx_valid, 16'b0};
      default: begin
        if (offset_i[15:12] == AgentNodeStatus[15:12]) value = node_status_i;
        if (offset_i[15:7] == AgentAuxStatw[15:7]) value = aux_status_i;
        if (offset_i[15:6] == AgentRxFlit[15:6] && state_i.rx_valid) begin
          for (int unsigned w = 0; w < WordsPerFlit; w++) begin
            if (offset_i[5:3] == 3'(w)) value = rx_words[w];
          end
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (read_i) data_q <= value;
  end

  assign data_o = data_q;

  `KTPU_ASSERT_INIT(WindowsAreAligned, AgentNodeStatus[11:0] == '0 && AgentAuxStatw[6:0] == '0 && AgentRxFlit[5:0] == '0)

endmodule
