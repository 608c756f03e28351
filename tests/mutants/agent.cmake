# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of agent: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(81f3cb "operator" ktpu_agent.sv
  [==[assign tx_push = dispatch_push || pulses.mailbox_push;]==]
  [==[assign tx_push = (`KTPU_FAULT(81f3cb) ? (dispatch_push && pulses.mailbox_push) : (dispatch_push || pulses.mailbox_push));]==]
  [==[dispatch_push || pulses.mailbox_push]==] [==[dispatch_push && pulses.mailbox_push]==])
ktpu_mutant(a6bf25 "off-by-one" ktpu_agent.sv
  [==[assign state.tx_full = tx_used_q >= 6'(TxRoom);]==]
  [==[assign state.tx_full = tx_used_q >= (`KTPU_FAULT(a6bf25) ? ((6'(TxRoom) - 6'd1)) : (6'(TxRoom)));]==]
  [==[6'(TxRoom)]==] [==[(6'(TxRoom) - 6'd1)]==])
ktpu_mutant(896ff3 "constant" ktpu_agent.sv
  [==[recent_q    <= '0;]==]
  [==[recent_q    <= (`KTPU_FAULT(896ff3) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(9792ac "condition" ktpu_agent.sv
  [==[if (tx_pop) out_q <= tx_head;]==]
  [==[if ((`KTPU_FAULT(9792ac) ? (1'b1) : (tx_pop))) out_q <= tx_head;]==]
  [==[tx_pop]==] [==[1'b1]==])
ktpu_mutant(8727ef "stuck bit" ktpu_agent.sv
  [==[assign out_valid_o = out_valid_q;]==]
  [==[assign out_valid_o = (`KTPU_FAULT(8727ef) ? (1'b0) : (out_valid_q));]==]
  [==[out_valid_q]==] [==[1'b0]==])
ktpu_mutant(827006 "operator" ktpu_agent_dispatch.sv
  [==[assign start     = kick_i && !run_q && prog_len_i != '0;]==]
  [==[assign start     = kick_i && (`KTPU_FAULT(827006) ? (run_q) : (!run_q)) && prog_len_i != '0;]==]
  [==[!run_q]==] [==[run_q]==])
ktpu_mutant(92da57 "off-by-one" ktpu_agent_dispatch.sv
  [==[if (pointer_q < PointerWidth'(stage_words_i)) fetched = stage[pointer_q[9:0]];]==]
  [==[if ((`KTPU_FAULT(92da57) ? (pointer_q <= PointerWidth'(stage_words_i)) : (pointer_q < PointerWidth'(stage_words_i)))) fetched = stage[pointer_q[9:0]];]==]
  [==[pointer_q < PointerWidth'(stage_words_i)]==] [==[pointer_q <= PointerWidth'(stage_words_i)]==])
ktpu_mutant(9fda15 "condition" ktpu_agent_dispatch.sv
  [==[word_d    = last_word ? '0 : word_q + 3'd1;]==]
  [==[word_d    = (`KTPU_FAULT(9fda15) ? (1'b0) : (last_word)) ? '0 : word_q + 3'd1;]==]
  [==[last_word]==] [==[1'b0]==])
ktpu_mutant(85fec4 "condition" ktpu_agent_dispatch.sv
  [==[if (start) begin]==]
  [==[if ((`KTPU_FAULT(85fec4) ? (1'b1) : (start))) begin]==]
  [==[start]==] [==[1'b1]==])
ktpu_mutant(8ab456 "constant" ktpu_agent_dispatch.sv
  [==[pointer_q <= '0;]==]
  [==[pointer_q <= (`KTPU_FAULT(8ab456) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(83216e "stuck bit" ktpu_agent_dispatch.sv
  [==[word_q    <= word_d;]==]
  [==[word_q    <= (`KTPU_FAULT(83216e) ? ((word_d) & ~(3'd1 << 1)) : (word_d));]==]
  [==[word_d]==] [==[(word_d) & ~(3'd1 << 1)]==])
ktpu_mutant(82de97 "stuck bit" ktpu_agent_dispatch.sv
  [==[if (stage_write_i[b]) stage[stage_word_i[b]] <= stage_data_i[b];]==]
  [==[if (stage_write_i[b]) stage[stage_word_i[b]] <= (`KTPU_FAULT(82de97) ? ((stage_data_i[b]) | (64'd1 << 59)) : (stage_data_i[b]));]==]
  [==[stage_data_i[b]]==] [==[(stage_data_i[b]) | (64'd1 << 59)]==])
ktpu_mutant(d65a10 "off-by-one" ktpu_agent_mirror.sv
  [==[assign new_word = {signal_code_i, signal_arg_i, count + 16'd1, 7'b0, 1'b1};]==]
  [==[assign new_word = {signal_code_i, signal_arg_i, count + (`KTPU_FAULT(d65a10) ? (16'd2) : (16'd1)), 7'b0, 1'b1};]==]
  [==[16'd1]==] [==[16'd2]==])
ktpu_mutant(ade1a9 "operator" ktpu_agent_mirror.sv
  [==[sig_done_d = sig_done_q + 16'd1;]==]
  [==[sig_done_d = (`KTPU_FAULT(ade1a9) ? (sig_done_q - 16'd1) : (sig_done_q + 16'd1));]==]
  [==[sig_done_q + 16'd1]==] [==[sig_done_q - 16'd1]==])
ktpu_mutant(8a76fe "condition" ktpu_agent_mirror.sv
  [==[if (signal_i) status[signal_node_i] <= new_word;]==]
  [==[if ((`KTPU_FAULT(8a76fe) ? (1'b1) : (signal_i))) status[signal_node_i] <= new_word;]==]
  [==[signal_i]==] [==[1'b1]==])
ktpu_mutant(ce9a11 "constant" ktpu_agent_read.sv
  [==[value = '0;]==]
  [==[value = (`KTPU_FAULT(ce9a11) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(8fe405 "stuck bit" ktpu_agent_read.sv
  [==[AgentCtrl:     value = state_i.ctrl;]==]
  [==[AgentCtrl:     value = (`KTPU_FAULT(8fe405) ? ((state_i.ctrl) & ~(64'd1 << 49)) : (state_i.ctrl));]==]
  [==[state_i.ctrl]==] [==[(state_i.ctrl) & ~(64'd1 << 49)]==])
ktpu_mutant(89532e "condition" ktpu_agent_read.sv
  [==[if (offset_i[15:6] == AgentRxFlit[15:6] && state_i.rx_valid) begin]==]
  [==[if ((`KTPU_FAULT(89532e) ? (1'b0) : (offset_i[15:6] == AgentRxFlit[15:6] && state_i.rx_valid))) begin]==]
  [==[offset_i[15:6] == AgentRxFlit[15:6] && state_i.rx_valid]==] [==[1'b0]==])
ktpu_mutant(86de7e "stuck bit" ktpu_agent_registers.sv
  [==[assign is_stage[b]     = offset_i[b][15:13] == AgentStage[15:13] && stage_word_o[b] < stage_words_i;]==]
  [==[assign is_stage[b]     = (`KTPU_FAULT(86de7e) ? (1'b0) : (offset_i[b][15:13] == AgentStage[15:13] && stage_word_o[b] < stage_words_i));]==]
  [==[offset_i[b][15:13] == AgentStage[15:13] && stage_word_o[b] < stage_words_i]==] [==[1'b0]==])
ktpu_mutant(cb9e9e "condition" ktpu_agent_registers.sv
  [==[if (offset_i[b][15:6] == AgentTxFlit[15:6]) begin]==]
  [==[if ((`KTPU_FAULT(cb9e9e) ? (1'b0) : (offset_i[b][15:6] == AgentTxFlit[15:6]))) begin]==]
  [==[offset_i[b][15:6] == AgentTxFlit[15:6]]==] [==[1'b0]==])
ktpu_mutant(a519e1 "constant" ktpu_agent_registers.sv
  [==[prog_base_q <= '0;]==]
  [==[prog_base_q <= (`KTPU_FAULT(a519e1) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(9302e2 "constant" ktpu_agent_registers.sv
  [==[pulses_q    <= '0;]==]
  [==[pulses_q    <= (`KTPU_FAULT(9302e2) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(84832e "operator" ktpu_agent_registers.sv
  [==[aux_valid_q <= write_i & is_aux;]==]
  [==[aux_valid_q <= (`KTPU_FAULT(84832e) ? (write_i | is_aux) : (write_i & is_aux));]==]
  [==[write_i & is_aux]==] [==[write_i | is_aux]==])
ktpu_mutant(8c9cce "stuck bit" ktpu_agent_registers.sv
  [==[assign prog_base_o  = prog_base_q;]==]
  [==[assign prog_base_o  = (`KTPU_FAULT(8c9cce) ? ((prog_base_q) | (16'd1 << 8)) : (prog_base_q));]==]
  [==[prog_base_q]==] [==[(prog_base_q) | (16'd1 << 8)]==])
