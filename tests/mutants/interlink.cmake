# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of interlink: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(970aa2 "condition" ktpu_interlink.sv
  [==[assign mesh_id   = renamed_d ? new_id_d : mesh_id_i;]==]
  [==[assign mesh_id   = (`KTPU_FAULT(970aa2) ? (1'b0) : (renamed_d)) ? new_id_d : mesh_id_i;]==]
  [==[renamed_d]==] [==[1'b0]==])
ktpu_mutant(8019f9 "operator" ktpu_interlink.sv
  [==[in_data_i[p].txn == enc_txn && in_data_i[p].rsvd == enc_rsvd;]==]
  [==[(`KTPU_FAULT(8019f9) ? (in_data_i[p].txn != enc_txn) : (in_data_i[p].txn == enc_txn)) && in_data_i[p].rsvd == enc_rsvd;]==]
  [==[in_data_i[p].txn == enc_txn]==] [==[in_data_i[p].txn != enc_txn]==])
ktpu_mutant(890dbd "off-by-one" ktpu_interlink.sv
  [==[from        = status_index_i[b][1:0] - 2'(InterlinkStatusReceived);]==]
  [==[from        = status_index_i[b][1:0] - (`KTPU_FAULT(890dbd) ? ((2'(InterlinkStatusReceived) - 2'd1)) : (2'(InterlinkStatusReceived)));]==]
  [==[2'(InterlinkStatusReceived)]==] [==[(2'(InterlinkStatusReceived) - 2'd1)]==])
ktpu_mutant(84d734 "constant" ktpu_interlink.sv
  [==[faults_q          <= '0;]==]
  [==[faults_q          <= (`KTPU_FAULT(84d734) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(818676 "stuck bit" ktpu_interlink.sv
  [==[forwarded_q       <= forwarded_q + 32'(forwards[0]) + 32'(forwards[1]);]==]
  [==[forwarded_q       <= (`KTPU_FAULT(818676) ? ((forwarded_q + 32'(forwards[0]) + 32'(forwards[1])) & ~(32'd1 << 4)) : (forwarded_q + 32'(forwards[0]) + 32'(forwards[1])));]==]
  [==[forwarded_q + 32'(forwards[0]) + 32'(forwards[1])]==] [==[(forwarded_q + 32'(forwards[0]) + 32'(forwards[1])) & ~(32'd1 << 4)]==])
ktpu_mutant(8da49a "off-by-one" ktpu_interlink_encapsulator.sv
  [==[count_d  = count_d + 6'd1;]==]
  [==[count_d  = count_d + (`KTPU_FAULT(8da49a) ? (6'd2) : (6'd1));]==]
  [==[6'd1]==] [==[6'd2]==])
ktpu_mutant(813413 "operator" ktpu_interlink_encapsulator.sv
  [==[closed_d = flit_i.last || count_d == 6'(InterlinkMaxBeats);]==]
  [==[closed_d = (`KTPU_FAULT(813413) ? (flit_i.last && count_d == 6'(InterlinkMaxBeats)) : (flit_i.last || count_d == 6'(InterlinkMaxBeats)));]==]
  [==[flit_i.last || count_d == 6'(InterlinkMaxBeats)]==] [==[flit_i.last && count_d == 6'(InterlinkMaxBeats)]==])
ktpu_mutant(884b5e "constant" ktpu_interlink_ingress.sv
  [==[assign take_bell = present && header_q.kind != InterlinkFlits && header_q.kind != InterlinkMemoryWrite &&]==]
  [==[assign take_bell = present && header_q.kind != InterlinkFlits && header_q.kind != (`KTPU_FAULT(884b5e) ? (InterlinkFlits) : (InterlinkMemoryWrite)) &&]==]
  [==[InterlinkMemoryWrite]==] [==[InterlinkFlits]==])
ktpu_mutant(98279f "condition" ktpu_interlink_ingress.sv
  [==[if (begins) begin]==]
  [==[if ((`KTPU_FAULT(98279f) ? (1'b0) : (begins))) begin]==]
  [==[begins]==] [==[1'b0]==])
ktpu_mutant(a22b28 "off-by-one" ktpu_interlink_ingress.sv
  [==[if (take_word) header_d.address = header_q.address + 40'(WordBytes);]==]
  [==[if (take_word) header_d.address = header_q.address + (`KTPU_FAULT(a22b28) ? ((40'(WordBytes) - 40'd1)) : (40'(WordBytes)));]==]
  [==[40'(WordBytes)]==] [==[(40'(WordBytes) - 40'd1)]==])
ktpu_mutant(810d4c "stuck bit" ktpu_interlink_ingress.sv
  [==[turn_q      <= turn_d;]==]
  [==[turn_q      <= (`KTPU_FAULT(810d4c) ? (1'b0) : (turn_d));]==]
  [==[turn_d]==] [==[1'b0]==])
ktpu_mutant(803b3f "constant" ktpu_interlink_link.sv
  [==[assign transit_next_o = state_d == Data && transit_d;]==]
  [==[assign transit_next_o = state_d == (`KTPU_FAULT(803b3f) ? (Credit) : (Data)) && transit_d;]==]
  [==[Data]==] [==[Credit]==])
ktpu_mutant(9e471f "off-by-one" ktpu_interlink_link.sv
  [==[urgent          = owed_q[0] >= 8'(InterlinkCreditReturn) || owed_q[1] >= 8'(InterlinkCreditReturn);]==]
  [==[urgent          = (`KTPU_FAULT(9e471f) ? (owed_q[0] > 8'(InterlinkCreditReturn)) : (owed_q[0] >= 8'(InterlinkCreditReturn))) || owed_q[1] >= 8'(InterlinkCreditReturn);]==]
  [==[owed_q[0] >= 8'(InterlinkCreditReturn)]==] [==[owed_q[0] > 8'(InterlinkCreditReturn)]==])
ktpu_mutant(897326 "condition" ktpu_interlink_link.sv
  [==[assign in_class_d   = (in_valid_q && is_first(in_q.header.kind) && !in_is_credit) ? in_q.header.dmesh != own_mesh_i]==]
  [==[assign in_class_d   = ((`KTPU_FAULT(897326) ? (1'b1) : (in_valid_q && is_first(in_q.header.kind) && !in_is_credit))) ? in_q.header.dmesh != own_mesh_i]==]
  [==[in_valid_q && is_first(in_q.header.kind) && !in_is_credit]==] [==[1'b1]==])
ktpu_mutant(809d42 "stuck bit" ktpu_interlink_link.sv
  [==[credit_q    <= credit_d;]==]
  [==[credit_q    <= (`KTPU_FAULT(809d42) ? ((credit_d) & ~(16'd1 << 2)) : (credit_d));]==]
  [==[credit_d]==] [==[(credit_d) & ~(16'd1 << 2)]==])
ktpu_mutant(80b5bb "operator" ktpu_interlink_link.sv
  [==[held_q[c] <= held_q[c] + 7'(push[c]) - 7'(pop_i[c]);]==]
  [==[held_q[c] <= (`KTPU_FAULT(80b5bb) ? (held_q[c] - 7'(push[c])) : (held_q[c] + 7'(push[c]))) - 7'(pop_i[c]);]==]
  [==[held_q[c] + 7'(push[c])]==] [==[held_q[c] - 7'(push[c])]==])
ktpu_mutant(b05b2b "operator" ktpu_interlink_pkg.sv
  [==[return {mesh[1], mesh[1] ^ mesh[0]};]==]
  [==[return {mesh[1], (`KTPU_FAULT(b05b2b) ? (mesh[1] | mesh[0]) : (mesh[1] ^ mesh[0]))};]==]
  [==[mesh[1] ^ mesh[0]]==] [==[mesh[1] | mesh[0]]==])
ktpu_mutant(8c3952 "off-by-one" ktpu_interlink_sender.sv
  [==[left_d  = 7'(header_d.len) + 7'd1;]==]
  [==[left_d  = 7'(header_d.len) + (`KTPU_FAULT(8c3952) ? (7'd0) : (7'd1));]==]
  [==[7'd1]==] [==[7'd0]==])
ktpu_mutant(80fb29 "stuck bit" ktpu_interlink_sender.sv
  [==[request_o[l].beats         = left_q;]==]
  [==[request_o[l].beats         = (`KTPU_FAULT(80fb29) ? ((left_q) & ~(7'd1 << 3)) : (left_q));]==]
  [==[left_q]==] [==[(left_q) & ~(7'd1 << 3)]==])
ktpu_mutant(8873b3 "constant" ktpu_interlink_sender.sv
  [==[doorbells_q <= '0;]==]
  [==[doorbells_q <= (`KTPU_FAULT(8873b3) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(820e8e "operator" ktpu_interlink_sender.sv
  [==[doorbells_q <= doorbells_q + 32'(ends && state_q == Send && from_q == Doorbell);]==]
  [==[doorbells_q <= doorbells_q + 32'(ends && state_q == Send && (`KTPU_FAULT(820e8e) ? (from_q != Doorbell) : (from_q == Doorbell)));]==]
  [==[from_q == Doorbell]==] [==[from_q != Doorbell]==])
ktpu_mutant(817507 "operator" ktpu_interlink_split.sv
  [==[state_d    = (used_i && addr_d[37:36] != mesh_id_i) ? Decode : Local;]==]
  [==[state_d    = (used_i && (`KTPU_FAULT(817507) ? (addr_d[37:36] == mesh_id_i) : (addr_d[37:36] != mesh_id_i))) ? Decode : Local;]==]
  [==[addr_d[37:36] != mesh_id_i]==] [==[addr_d[37:36] == mesh_id_i]==])
ktpu_mutant(abbcff "off-by-one" ktpu_interlink_split.sv
  [==[if (left_q == beats_t'(1)) state_d = Free;]==]
  [==[if (left_q == (`KTPU_FAULT(abbcff) ? ((beats_t'(1) + 9'd1)) : (beats_t'(1)))) state_d = Free;]==]
  [==[beats_t'(1)]==] [==[(beats_t'(1) + 9'd1)]==])
ktpu_mutant(820e71 "stuck bit" ktpu_interlink_split.sv
  [==[assign remote_valid_o = state_q == Request;]==]
  [==[assign remote_valid_o = (`KTPU_FAULT(820e71) ? (1'b1) : (state_q == Request));]==]
  [==[state_q == Request]==] [==[1'b1]==])
