# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of memory: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(9ca7b4 "operator" ktpu_memory.sv
  [==[? r_id_i : r_id_i + requester_t'(MaxPorts) - config_i.num_ports;]==]
  [==[? r_id_i : (`KTPU_FAULT(9ca7b4) ? (r_id_i + requester_t'(MaxPorts) + config_i.num_ports) : (r_id_i + requester_t'(MaxPorts) - config_i.num_ports));]==]
  [==[r_id_i + requester_t'(MaxPorts) - config_i.num_ports]==] [==[r_id_i + requester_t'(MaxPorts) + config_i.num_ports]==])
ktpu_mutant(86f569 "operator" ktpu_memory_bus.sv
  [==[.wvalid_i (r_valid_i && into == requester_t'(f) && !full[f]), .wdata_i ({r_data_i, r_id_i}), .busy_o (full[f]),]==]
  [==[.wvalid_i (r_valid_i && (`KTPU_FAULT(86f569) ? (into != requester_t'(f)) : (into == requester_t'(f))) && !full[f]), .wdata_i ({r_data_i, r_id_i}), .busy_o (full[f]),]==]
  [==[into == requester_t'(f)]==] [==[into != requester_t'(f)]==])
ktpu_mutant(8161f4 "stuck bit" ktpu_memory_core.sv
  [==[assign client_at = client_valid_i ? port_on(client_data_i.dst_y, at_i, exists) : '0;]==]
  [==[assign client_at = (`KTPU_FAULT(8161f4) ? ((client_valid_i ? port_on(client_data_i.dst_y, at_i, exists) : '0) | (4'd1 << 1)) : (client_valid_i ? port_on(client_data_i.dst_y, at_i, exists) : '0));]==]
  [==[client_valid_i ? port_on(client_data_i.dst_y, at_i, exists) : '0]==] [==[(client_valid_i ? port_on(client_data_i.dst_y, at_i, exists) : '0) | (4'd1 << 1)]==])
ktpu_mutant(8193f2 "condition" ktpu_memory_core.sv
  [==[return (index < requester_t'(MaxPorts)) ? index : index - requester_t'(MaxPorts) + num_ports;]==]
  [==[return ((`KTPU_FAULT(8193f2) ? (1'b0) : (index < requester_t'(MaxPorts)))) ? index : index - requester_t'(MaxPorts) + num_ports;]==]
  [==[index < requester_t'(MaxPorts)]==] [==[1'b0]==])
ktpu_mutant(a0baaa "off-by-one" ktpu_memory_core.sv
  [==[return (index < num_ports) ? index : index + requester_t'(MaxPorts) - num_ports;]==]
  [==[return ((`KTPU_FAULT(a0baaa) ? (index <= num_ports) : (index < num_ports))) ? index : index + requester_t'(MaxPorts) - num_ports;]==]
  [==[index < num_ports]==] [==[index <= num_ports]==])
ktpu_mutant(850e4c "constant" ktpu_memory_entry_reader.sv
  [==[emit_word_d = emit_last ? '0 : emit_word_q + 2'd1;]==]
  [==[emit_word_d = emit_last ? (`KTPU_FAULT(850e4c) ? ('1) : ('0)) : emit_word_q + 2'd1;]==]
  [==['0]==] [==['1]==])
ktpu_mutant(972567 "off-by-one" ktpu_memory_entry_reader.sv
  [==[entry_d = entry_q + 8'd1;]==]
  [==[entry_d = entry_q + (`KTPU_FAULT(972567) ? (8'd2) : (8'd1));]==]
  [==[8'd1]==] [==[8'd2]==])
ktpu_mutant(839d08 "operator" ktpu_memory_entry_reader.sv
  [==[address_d    = address_q + (addr_t'(words_q) * addr_t'(WordBytes));]==]
  [==[address_d    = (`KTPU_FAULT(839d08) ? (address_q - (addr_t'(words_q) * addr_t'(WordBytes))) : (address_q + (addr_t'(words_q) * addr_t'(WordBytes))));]==]
  [==[address_q + (addr_t'(words_q) * addr_t'(WordBytes))]==] [==[address_q - (addr_t'(words_q) * addr_t'(WordBytes))]==])
ktpu_mutant(80bdba "stuck bit" ktpu_memory_entry_reader.sv
  [==[words_d       = (quant_d || fields.entry_words == '0 || fields.entry_words > 8'd4) ? 3'd4
                                                                                        : fields.entry_words[2:0];]==]
  [==[words_d       = (`KTPU_FAULT(80bdba) ? (((quant_d || fields.entry_words == '0 || fields.entry_words > 8'd4) ? 3'd4
                                                                                        : fields.entry_words[2:0]) & ~(3'd1 << 1)) : ((quant_d || fields.entry_words == '0 || fields.entry_words > 8'd4) ? 3'd4
                                                                                        : fields.entry_words[2:0]));]==]
  [==[(quant_d || fields.entry_words == '0 || fields.entry_words > 8'd4) ? 3'd4 : fields.entry_words[2:0]]==] [==[((quant_d || fields.entry_words == '0 || fields.entry_words > 8'd4) ? 3'd4 : fields.entry_words[2:0]) & ~(3'd1 << 1)]==])
ktpu_mutant(81d9d6 "operator" ktpu_memory_path.sv
  [==[if (ar_room) ar_push_q <= read_grant != '0;]==]
  [==[if (ar_room) ar_push_q <= (`KTPU_FAULT(81d9d6) ? (read_grant == '0) : (read_grant != '0));]==]
  [==[read_grant != '0]==] [==[read_grant == '0]==])
ktpu_mutant(81746b "condition" ktpu_memory_path.sv
  [==[if (write_grant != '0) begin]==]
  [==[if ((`KTPU_FAULT(81746b) ? (1'b0) : (write_grant != '0))) begin]==]
  [==[write_grant != '0]==] [==[1'b0]==])
ktpu_mutant(92fc6c "off-by-one" ktpu_memory_path.sv
  [==[assign w_last   = mux_q.beats == beats_t'(1);]==]
  [==[assign w_last   = mux_q.beats == (`KTPU_FAULT(92fc6c) ? ((beats_t'(1) + 9'd1)) : (beats_t'(1)));]==]
  [==[beats_t'(1)]==] [==[(beats_t'(1) + 9'd1)]==])
ktpu_mutant(8165b6 "stuck bit" ktpu_memory_path.sv
  [==[assign shared_word = r_data_i[0][track_lane[r_id_i]*PayloadWidth +: PayloadWidth];]==]
  [==[assign shared_word = (`KTPU_FAULT(8165b6) ? ((r_data_i[0][track_lane[r_id_i]*PayloadWidth +: PayloadWidth]) | (256'd1 << 240)) : (r_data_i[0][track_lane[r_id_i]*PayloadWidth +: PayloadWidth]));]==]
  [==[r_data_i[0][track_lane[r_id_i]*PayloadWidth +: PayloadWidth]]==] [==[(r_data_i[0][track_lane[r_id_i]*PayloadWidth +: PayloadWidth]) | (256'd1 << 240)]==])
ktpu_mutant(ad615d "off-by-one" ktpu_memory_pkg.sv
  [==[return top[7:6] == 2'b10 && !is_staged(top, mesh_id);]==]
  [==[return top[7:6] == (`KTPU_FAULT(ad615d) ? (2'b01) : (2'b10)) && !is_staged(top, mesh_id);]==]
  [==[2'b10]==] [==[2'b01]==])
ktpu_mutant(8850c4 "off-by-one" ktpu_memory_port.sv
  [==[assign busy_o         = reads_count_q >= CountWidth'(BusyFrom) || writes_count_q >= CountWidth'(BusyFrom);]==]
  [==[assign busy_o         = reads_count_q >= CountWidth'(BusyFrom) || (`KTPU_FAULT(8850c4) ? (writes_count_q > CountWidth'(BusyFrom)) : (writes_count_q >= CountWidth'(BusyFrom)));]==]
  [==[writes_count_q >= CountWidth'(BusyFrom)]==] [==[writes_count_q > CountWidth'(BusyFrom)]==])
ktpu_mutant(812a0e "condition" ktpu_memory_port.sv
  [==[Write, Store: if (place_ack) state_d = Free;]==]
  [==[Write, Store: if ((`KTPU_FAULT(812a0e) ? (1'b0) : (place_ack))) state_d = Free;]==]
  [==[place_ack]==] [==[1'b0]==])
ktpu_mutant(80d184 "stuck bit" ktpu_memory_port.sv
  [==[assign out_valid_o   = out_valid_q;]==]
  [==[assign out_valid_o   = (`KTPU_FAULT(80d184) ? (1'b0) : (out_valid_q));]==]
  [==[out_valid_q]==] [==[1'b0]==])
ktpu_mutant(80b580 "operator" ktpu_memory_port.sv
  [==[reader_idle && !emitting && slots_waiting && state_q == Free && skid_size_q == '0 &&]==]
  [==[reader_idle && !emitting && slots_waiting && state_q == Free && (`KTPU_FAULT(80b580) ? (skid_size_q != '0) : (skid_size_q == '0)) &&]==]
  [==[skid_size_q == '0]==] [==[skid_size_q != '0]==])
ktpu_mutant(80573a "stuck bit" ktpu_memory_staging.sv
  [==[assign give          = state_q == Active && !write_q && wait_q == '0 && request_i[owner_q].r_ready;]==]
  [==[assign give          = (`KTPU_FAULT(80573a) ? (1'b0) : (state_q == Active && !write_q && wait_q == '0 && request_i[owner_q].r_ready));]==]
  [==[state_q == Active && !write_q && wait_q == '0 && request_i[owner_q].r_ready]==] [==[1'b0]==])
ktpu_mutant(96dd5f "condition" ktpu_memory_staging.sv
  [==[assign r_valid_o     = give ? owner : '0;]==]
  [==[assign r_valid_o     = (`KTPU_FAULT(96dd5f) ? (1'b1) : (give)) ? owner : '0;]==]
  [==[give]==] [==[1'b1]==])
ktpu_mutant(8f371b "off-by-one" ktpu_memory_staging.sv
  [==[index_d = index_q + IndexWidth'(1);]==]
  [==[index_d = index_q + (`KTPU_FAULT(8f371b) ? ((IndexWidth'(1) + 16'sd1)) : (IndexWidth'(1)));]==]
  [==[IndexWidth'(1)]==] [==[(IndexWidth'(1) + 16'sd1)]==])
ktpu_mutant(a19590 "condition" ktpu_memory_store.sv
  [==[if (was_written_q && was_index_q == read_index_i + IndexWidth'(w)) words_o[w] = was_word_q;]==]
  [==[if ((`KTPU_FAULT(a19590) ? (1'b1) : (was_written_q && was_index_q == read_index_i + IndexWidth'(w)))) words_o[w] = was_word_q;]==]
  [==[was_written_q && was_index_q == read_index_i + IndexWidth'(w)]==] [==[1'b1]==])
ktpu_mutant(84c22f "operator" ktpu_memory_track.sv
  [==[assign done_o  = last_o || lane_o == last_lane_i;]==]
  [==[assign done_o  = (`KTPU_FAULT(84c22f) ? (last_o && lane_o == last_lane_i) : (last_o || lane_o == last_lane_i));]==]
  [==[last_o || lane_o == last_lane_i]==] [==[last_o && lane_o == last_lane_i]==])
ktpu_mutant(ae9ac8 "off-by-one" ktpu_memory_window.sv
  [==[word_d  = word_q + 2'd1;]==]
  [==[word_d  = word_q + (`KTPU_FAULT(ae9ac8) ? (2'd2) : (2'd1));]==]
  [==[2'd1]==] [==[2'd2]==])
ktpu_mutant(809b1f "condition" ktpu_memory_window.sv
  [==[if (reply_i.b) begin]==]
  [==[if ((`KTPU_FAULT(809b1f) ? (1'b1) : (reply_i.b))) begin]==]
  [==[reply_i.b]==] [==[1'b1]==])
ktpu_mutant(8105d5 "stuck bit" ktpu_memory_window.sv
  [==[response_d = beats_q == '0;]==]
  [==[response_d = (`KTPU_FAULT(8105d5) ? (1'b0) : (beats_q == '0));]==]
  [==[beats_q == '0]==] [==[1'b0]==])
ktpu_mutant(87c1c7 "constant" ktpu_memory_window.sv
  [==[.beat_valid_i (take_w && state_q == Upload),]==]
  [==[.beat_valid_i (take_w && state_q == (`KTPU_FAULT(87c1c7) ? (Idle) : (Upload))),]==]
  [==[Upload]==] [==[Idle]==])
ktpu_mutant(866380 "operator" ktpu_memory_write_slots.sv
  [==[assign complete      = store && count_q[match_slot] == slot_q[match_slot].len;]==]
  [==[assign complete      = (`KTPU_FAULT(866380) ? (store || count_q[match_slot] == slot_q[match_slot].len) : (store && count_q[match_slot] == slot_q[match_slot].len));]==]
  [==[store && count_q[match_slot] == slot_q[match_slot].len]==] [==[store || count_q[match_slot] == slot_q[match_slot].len]==])
ktpu_mutant(8ec7d7 "condition" ktpu_mover.sv
  [==[if (write_i[w].valid && write_i[w].offset == MoverControlOffset && write_i[w].data[MoverControlGoLsb]) go = 1'b1;]==]
  [==[if ((`KTPU_FAULT(8ec7d7) ? (1'b1) : (write_i[w].valid && write_i[w].offset == MoverControlOffset && write_i[w].data[MoverControlGoLsb]))) go = 1'b1;]==]
  [==[write_i[w].valid && write_i[w].offset == MoverControlOffset && write_i[w].data[MoverControlGoLsb]]==] [==[1'b1]==])
ktpu_mutant(8331ad "condition" ktpu_mover_generator.sv
  [==[if (round) left_d = left_q - RoundWidth'(1);
    if (start_i) begin]==]
  [==[if (round) left_d = left_q - RoundWidth'(1);
    if ((`KTPU_FAULT(8331ad) ? (1'b0) : (start_i))) begin]==]
  [==[start_i]==] [==[1'b0]==])
ktpu_mutant(802cd2 "operator" ktpu_mover_issue.sv
  [==[if (stalls && close_read) read_d.open = 1'b0;]==]
  [==[if ((`KTPU_FAULT(802cd2) ? (stalls || close_read) : (stalls && close_read))) read_d.open = 1'b0;]==]
  [==[stalls && close_read]==] [==[stalls || close_read]==])
ktpu_mutant(8133c0 "condition" ktpu_mover_issue.sv
  [==[if (outstanding_q == '0 && looks_idle_i && (!unfinished_i || early_done_i)) state_d = Done;]==]
  [==[if ((`KTPU_FAULT(8133c0) ? (1'b0) : (outstanding_q == '0 && looks_idle_i && (!unfinished_i || early_done_i)))) state_d = Done;]==]
  [==[outstanding_q == '0 && looks_idle_i && (!unfinished_i || early_done_i)]==] [==[1'b0]==])
ktpu_mutant(86b103 "constant" ktpu_mover_issue.sv
  [==[state_d = Start;]==]
  [==[state_d = (`KTPU_FAULT(86b103) ? (Drain) : (Start));]==]
  [==[Start]==] [==[Drain]==])
ktpu_mutant(800d13 "off-by-one" ktpu_mover_issue.sv
  [==[loaded             = row_q < 32'({loaded_q, 3'd0});]==]
  [==[loaded             = (`KTPU_FAULT(800d13) ? (row_q <= 32'({loaded_q, 3'd0})) : (row_q < 32'({loaded_q, 3'd0})));]==]
  [==[row_q < 32'({loaded_q, 3'd0})]==] [==[row_q <= 32'({loaded_q, 3'd0})]==])
ktpu_mutant(803601 "stuck bit" ktpu_mover_issue.sv
  [==[request_q     <= request_d;]==]
  [==[request_q     <= (`KTPU_FAULT(803601) ? ((request_d) & ~(49'd1 << 22)) : (request_d));]==]
  [==[request_d]==] [==[(request_d) & ~(49'd1 << 22)]==])
ktpu_mutant(848d5b "off-by-one" ktpu_mover_walker.sv
  [==[live[d] = 3'(d) < ndim_q;]==]
  [==[live[d] = (`KTPU_FAULT(848d5b) ? (3'(d) <= ndim_q) : (3'(d) < ndim_q));]==]
  [==[3'(d) < ndim_q]==] [==[3'(d) <= ndim_q]==])
ktpu_mutant(840229 "constant" ktpu_mover_walker.sv
  [==[index_q[d]    <= '0;]==]
  [==[index_q[d]    <= (`KTPU_FAULT(840229) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(817041 "operator" ktpu_mover_writer.sv
  [==[starved_d = command_valid && !resident(head.kind, head.count, data_valid, arrived_q);]==]
  [==[starved_d = (`KTPU_FAULT(817041) ? (command_valid || !resident(head.kind, head.count, data_valid, arrived_q)) : (command_valid && !resident(head.kind, head.count, data_valid, arrived_q)));]==]
  [==[command_valid && !resident(head.kind, head.count, data_valid, arrived_q)]==] [==[command_valid || !resident(head.kind, head.count, data_valid, arrived_q)]==])
ktpu_mutant(a8f014 "off-by-one" ktpu_mover_writer.sv
  [==[if (command_valid && responses_q < ResponseWidth'(MoverResponses)) begin]==]
  [==[if (command_valid && responses_q < (`KTPU_FAULT(a8f014) ? ((ResponseWidth'(MoverResponses) + 6'd1)) : (ResponseWidth'(MoverResponses)))) begin]==]
  [==[ResponseWidth'(MoverResponses)]==] [==[(ResponseWidth'(MoverResponses) + 6'd1)]==])
ktpu_mutant(822280 "stuck bit" ktpu_mover_writer.sv
  [==[arrived_q   <= arrived_d;]==]
  [==[arrived_q   <= (`KTPU_FAULT(822280) ? ((arrived_d) & ~(10'd1 << 7)) : (arrived_d));]==]
  [==[arrived_d]==] [==[(arrived_d) & ~(10'd1 << 7)]==])
