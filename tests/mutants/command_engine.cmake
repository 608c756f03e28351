# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of command_engine: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(89280b "operator" ktpu_command_engine.sv
  [==[assign met    = opcode != OpPoll || (bus_data_i & mask[pc_q]) == data[pc_q];]==]
  [==[assign met    = opcode != OpPoll || (`KTPU_FAULT(89280b) ? ((bus_data_i & mask[pc_q]) != data[pc_q]) : ((bus_data_i & mask[pc_q]) == data[pc_q]));]==]
  [==[(bus_data_i & mask[pc_q]) == data[pc_q]]==] [==[(bus_data_i & mask[pc_q]) != data[pc_q]]==])
ktpu_mutant(8b802d "stuck bit" ktpu_command_engine.sv
  [==[state_next = state_q;]==]
  [==[state_next = (`KTPU_FAULT(8b802d) ? ((state_q) & ~(3'd1 << 2)) : (state_q));]==]
  [==[state_q]==] [==[(state_q) & ~(3'd1 << 2)]==])
ktpu_mutant(9bf559 "condition" ktpu_command_engine.sv
  [==[if (opcode == OpWrite || opcode == OpPoll) begin]==]
  [==[if ((`KTPU_FAULT(9bf559) ? (1'b1) : (opcode == OpWrite || opcode == OpPoll))) begin]==]
  [==[opcode == OpWrite || opcode == OpPoll]==] [==[1'b1]==])
ktpu_mutant(862f5c "operator" ktpu_command_engine.sv
  [==[error_next = opcode != OpDone;]==]
  [==[error_next = (`KTPU_FAULT(862f5c) ? (opcode == OpDone) : (opcode != OpDone));]==]
  [==[opcode != OpDone]==] [==[opcode == OpDone]==])
ktpu_mutant(908419 "off-by-one" ktpu_command_engine.sv
  [==[if (opcode == OpDone) code_d = data[pc_q];]==]
  [==[if (opcode == (`KTPU_FAULT(908419) ? ((OpDone - 4'd1)) : (OpDone))) code_d = data[pc_q];]==]
  [==[OpDone]==] [==[(OpDone - 4'd1)]==])
ktpu_mutant(af08f6 "off-by-one" ktpu_command_engine.sv
  [==[if (opcode == OpPoll) polls_next = polls_q + 64'd1;]==]
  [==[if (opcode == OpPoll) polls_next = polls_q + (`KTPU_FAULT(af08f6) ? (64'd2) : (64'd1));]==]
  [==[64'd1]==] [==[64'd2]==])
ktpu_mutant(a207a8 "condition" ktpu_command_engine.sv
  [==[if (met) begin]==]
  [==[if ((`KTPU_FAULT(a207a8) ? (1'b0) : (met))) begin]==]
  [==[met]==] [==[1'b0]==])
ktpu_mutant(942356 "condition" ktpu_command_engine.sv
  [==[pc_next    = (pc_q == pc_last_i) ? '0 : pc_q + PcWidth'(1);]==]
  [==[pc_next    = ((`KTPU_FAULT(942356) ? (1'b1) : (pc_q == pc_last_i))) ? '0 : pc_q + PcWidth'(1);]==]
  [==[pc_q == pc_last_i]==] [==[1'b1]==])
ktpu_mutant(8056b3 "operator" ktpu_command_engine.sv
  [==[assign go_d = host_write_i && host_write_offset_i == 32'(EngineCtrl) && host_data_i[0] && state_next == Idle;]==]
  [==[assign go_d = (`KTPU_FAULT(8056b3) ? (host_write_i || host_write_offset_i == 32'(EngineCtrl)) : (host_write_i && host_write_offset_i == 32'(EngineCtrl))) && host_data_i[0] && state_next == Idle;]==]
  [==[host_write_i && host_write_offset_i == 32'(EngineCtrl)]==] [==[host_write_i || host_write_offset_i == 32'(EngineCtrl)]==])
ktpu_mutant(838083 "constant" ktpu_command_engine.sv
  [==[polls_d = '0;]==]
  [==[polls_d = (`KTPU_FAULT(838083) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(801ac0 "off-by-one" ktpu_command_engine.sv
  [==[assign ram_write   = host_write_i && host_write_offset_i >= 32'(EngineCmd) &&]==]
  [==[assign ram_write   = host_write_i && (`KTPU_FAULT(801ac0) ? (host_write_offset_i > 32'(EngineCmd)) : (host_write_offset_i >= 32'(EngineCmd))) &&]==]
  [==[host_write_offset_i >= 32'(EngineCmd)]==] [==[host_write_offset_i > 32'(EngineCmd)]==])
ktpu_mutant(88137a "constant" ktpu_command_engine.sv
  [==[pc_q    <= '0;]==]
  [==[pc_q    <= (`KTPU_FAULT(88137a) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(8754a4 "constant" ktpu_command_engine.sv
  [==[opcode_q <= '0;]==]
  [==[opcode_q <= (`KTPU_FAULT(8754a4) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(a5b382 "condition" ktpu_command_engine.sv
  [==[if (ram_write && ram_field == 2'd1) address[ram_command] <= host_data_i;]==]
  [==[if ((`KTPU_FAULT(a5b382) ? (1'b1) : (ram_write && ram_field == 2'd1))) address[ram_command] <= host_data_i;]==]
  [==[ram_write && ram_field == 2'd1]==] [==[1'b1]==])
ktpu_mutant(8af5f5 "off-by-one" ktpu_command_engine.sv
  [==[if (ram_write && ram_field == 2'd3) mask[ram_command] <= host_data_i;]==]
  [==[if (ram_write && ram_field == (`KTPU_FAULT(8af5f5) ? (2'd2) : (2'd3))) mask[ram_command] <= host_data_i;]==]
  [==[2'd3]==] [==[2'd2]==])
ktpu_mutant(8192e2 "stuck bit" ktpu_command_engine.sv
  [==[if (host_read_i) read_q <= read_value;]==]
  [==[if (host_read_i) read_q <= (`KTPU_FAULT(8192e2) ? ((read_value) | (64'd1 << 13)) : (read_value));]==]
  [==[read_value]==] [==[(read_value) | (64'd1 << 13)]==])
ktpu_mutant(84d889 "operator" ktpu_command_engine.sv
  [==[assign bus_read_o   = state_q == Beat && opcode != OpWrite;]==]
  [==[assign bus_read_o   = (`KTPU_FAULT(84d889) ? (state_q == Beat || opcode != OpWrite) : (state_q == Beat && opcode != OpWrite));]==]
  [==[state_q == Beat && opcode != OpWrite]==] [==[state_q == Beat || opcode != OpWrite]==])
ktpu_mutant(86391c "stuck bit" ktpu_command_engine.sv
  [==[assign bus_offset_o = address[pc_q][31:0];]==]
  [==[assign bus_offset_o = (`KTPU_FAULT(86391c) ? ((address[pc_q][31:0]) & ~(32'd1 << 13)) : (address[pc_q][31:0]));]==]
  [==[address[pc_q][31:0]]==] [==[(address[pc_q][31:0]) & ~(32'd1 << 13)]==])
