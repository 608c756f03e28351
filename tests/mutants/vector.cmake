# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of vector: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(b6f80e "stuck bit" ktpu_vector.sv
  [==[assign idle_o = quiet && recv_empty && sequencer_idle && predicates_idle && empty && l1_idle && send_idle && !in_busy_o;]==]
  [==[assign idle_o = (`KTPU_FAULT(b6f80e) ? (1'b1) : (quiet && recv_empty && sequencer_idle && predicates_idle && empty && l1_idle && send_idle && !in_busy_o));]==]
  [==[quiet && recv_empty && sequencer_idle && predicates_idle && empty && l1_idle && send_idle && !in_busy_o]==] [==[1'b1]==])
ktpu_mutant(b4492f "condition" ktpu_vector_imem.sv
  [==[if (we_i) mem[waddr_i] <= wdata_i;]==]
  [==[if ((`KTPU_FAULT(b4492f) ? (1'b0) : (we_i))) mem[waddr_i] <= wdata_i;]==]
  [==[we_i]==] [==[1'b0]==])
ktpu_mutant(931d68 "constant" ktpu_vector_issue.sv
  [==[assign last_stage    = (mode_i == ModeFlat) ? 2'd0 : (mode_i == ModeD2) ? 2'd1 : 2'd3;]==]
  [==[assign last_stage    = (mode_i == ModeFlat) ? 2'd0 : (mode_i == (`KTPU_FAULT(931d68) ? (ModeTree) : (ModeD2))) ? 2'd1 : 2'd3;]==]
  [==[ModeD2]==] [==[ModeTree]==])
ktpu_mutant(803d26 "operator" ktpu_vector_issue.sv
  [==[assign group_d       = head_i ? group_q + 2'd1 : group_q;]==]
  [==[assign group_d       = head_i ? (`KTPU_FAULT(803d26) ? (group_q - 2'd1) : (group_q + 2'd1)) : group_q;]==]
  [==[group_q + 2'd1]==] [==[group_q - 2'd1]==])
ktpu_mutant(92f177 "condition" ktpu_vector_issue.sv
  [==[assign read_pr_o     = quirks_i[QuirkV4] ? last_pr_q : word_i.pr;]==]
  [==[assign read_pr_o     = (`KTPU_FAULT(92f177) ? (1'b1) : (quirks_i[QuirkV4])) ? last_pr_q : word_i.pr;]==]
  [==[quirks_i[QuirkV4]]==] [==[1'b1]==])
ktpu_mutant(822580 "off-by-one" ktpu_vector_issue.sv
  [==[(quirks_i[QuirkV3] || (pm_q == 2'd0) || is_compare_q || !group_late_i);]==]
  [==[(quirks_i[QuirkV3] || (pm_q == (`KTPU_FAULT(822580) ? (2'd1) : (2'd0))) || is_compare_q || !group_late_i);]==]
  [==[2'd0]==] [==[2'd1]==])
ktpu_mutant(809054 "condition" ktpu_vector_l1.sv
  [==[if (data && !stream_q) begin]==]
  [==[if ((`KTPU_FAULT(809054) ? (1'b1) : (data && !stream_q))) begin]==]
  [==[data && !stream_q]==] [==[1'b1]==])
ktpu_mutant(801d7d "operator" ktpu_vector_l1.sv
  [==[assign outstanding_d = outstanding_q + 10'(expect_i) - 10'(landing_q && landing_response_q);]==]
  [==[assign outstanding_d = (`KTPU_FAULT(801d7d) ? (outstanding_q - 10'(expect_i)) : (outstanding_q + 10'(expect_i))) - 10'(landing_q && landing_response_q);]==]
  [==[outstanding_q + 10'(expect_i)]==] [==[outstanding_q - 10'(expect_i)]==])
ktpu_mutant(80b930 "constant" ktpu_vector_l1.sv
  [==[outstanding_q <= '0;]==]
  [==[outstanding_q <= (`KTPU_FAULT(80b930) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(834f16 "stuck bit" ktpu_vector_l1.sv
  [==[if (expect_i) ninth_q[expect_at_i[7:0]] <= expect_at_i[8];]==]
  [==[if (expect_i) ninth_q[expect_at_i[7:0]] <= (`KTPU_FAULT(834f16) ? (1'b0) : (expect_at_i[8]));]==]
  [==[expect_at_i[8]]==] [==[1'b0]==])
ktpu_mutant(8773c0 "constant" ktpu_vector_lanes.sv
  [==[alu_a[l]  = '0;]==]
  [==[alu_a[l]  = (`KTPU_FAULT(8773c0) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(80eed0 "stuck bit" ktpu_vector_lanes.sv
  [==[alu_a[8+l]     = result[2*l];]==]
  [==[alu_a[8+l]     = (`KTPU_FAULT(80eed0) ? ((result[2*l]) & ~(24'd1 << 14)) : (result[2*l]));]==]
  [==[result[2*l]]==] [==[(result[2*l]) & ~(24'd1 << 14)]==])
ktpu_mutant(835794 "off-by-one" ktpu_vector_lanes.sv
  [==[if ((pipe_q[In0].pm != 2'd0) && !pipe_q[In0].compare) begin]==]
  [==[if ((pipe_q[In0].pm != (`KTPU_FAULT(835794) ? (2'd1) : (2'd0))) && !pipe_q[In0].compare) begin]==]
  [==[2'd0]==] [==[2'd1]==])
ktpu_mutant(8160bc "operator" ktpu_vector_lanes.sv
  [==[if (write_row && (retired.vd == 4'(r)) && (pending_d[r] != '0)) pending_d[r] = pending_d[r] - 7'd1;]==]
  [==[if (write_row && ((`KTPU_FAULT(8160bc) ? (retired.vd != 4'(r)) : (retired.vd == 4'(r)))) && (pending_d[r] != '0)) pending_d[r] = pending_d[r] - 7'd1;]==]
  [==[retired.vd == 4'(r)]==] [==[retired.vd != 4'(r)]==])
ktpu_mutant(801931 "condition" ktpu_vector_lanes.sv
  [==[if (stage_we_i) stage_q[{stage_group_i, stage_at_i}] <= stage_i;]==]
  [==[if ((`KTPU_FAULT(801931) ? (1'b1) : (stage_we_i))) stage_q[{stage_group_i, stage_at_i}] <= stage_i;]==]
  [==[stage_we_i]==] [==[1'b1]==])
ktpu_mutant(86c933 "operator" ktpu_vector_mover.sv
  [==[assign more   = position_q + 9'd1 != positions_q;]==]
  [==[assign more   = (`KTPU_FAULT(86c933) ? (position_q + 9'd1 == positions_q) : (position_q + 9'd1 != positions_q));]==]
  [==[position_q + 9'd1 != positions_q]==] [==[position_q + 9'd1 == positions_q]==])
ktpu_mutant(833c36 "condition" ktpu_vector_mover.sv
  [==[wait_next      = act ? '0 : wait_q - 3'd1;]==]
  [==[wait_next      = (`KTPU_FAULT(833c36) ? (1'b0) : (act)) ? '0 : wait_q - 3'd1;]==]
  [==[act]==] [==[1'b0]==])
ktpu_mutant(85916f "constant" ktpu_vector_mover.sv
  [==[if ((op == OpBcast) && (word_i.sa != SrcScalar)) begin]==]
  [==[if ((op == (`KTPU_FAULT(85916f) ? (OpFma) : (OpBcast))) && (word_i.sa != SrcScalar)) begin]==]
  [==[OpBcast]==] [==[OpFma]==])
ktpu_mutant(862279 "constant" ktpu_vector_moves.sv
  [==[assign mask_o = (load_q && wide_q) ? (high_q ? 16'hFF00 : 16'h00FF) : 16'hFFFF;]==]
  [==[assign mask_o = (load_q && wide_q) ? (high_q ? (`KTPU_FAULT(862279) ? (16'hff01) : (16'hFF00)) : 16'h00FF) : 16'hFFFF;]==]
  [==[16'hFF00]==] [==[16'hff01]==])
ktpu_mutant(84f310 "condition" ktpu_vector_moves.sv
  [==[if (quirk_v2_i) source = before_q[l];]==]
  [==[if ((`KTPU_FAULT(84f310) ? (1'b1) : (quirk_v2_i))) source = before_q[l];]==]
  [==[quirk_v2_i]==] [==[1'b1]==])
ktpu_mutant(86b727 "constant" ktpu_vector_pkg.sv
  [==[halves = (kind == RedSumsq) || (kind == RedDot) || (kind == RedExpsum);]==]
  [==[halves = (kind == (`KTPU_FAULT(86b727) ? (RedAny) : (RedSumsq))) || (kind == RedDot) || (kind == RedExpsum);]==]
  [==[RedSumsq]==] [==[RedAny]==])
ktpu_mutant(81c99d "condition" ktpu_vector_pkg.sv
  [==[to_fp16 = {v[23], 5'd31, (v[14:0] != 15'd0), (v[14:0] != 15'd0) ? v[13:5] : 9'd0};]==]
  [==[to_fp16 = {v[23], 5'd31, (v[14:0] != 15'd0), ((`KTPU_FAULT(81c99d) ? (1'b1) : (v[14:0] != 15'd0))) ? v[13:5] : 9'd0};]==]
  [==[v[14:0] != 15'd0]==] [==[1'b1]==])
ktpu_mutant(86c9e7 "stuck bit" ktpu_vector_pkg.sv
  [==[from_fp32 = {f[31], 23'd0};]==]
  [==[from_fp32 = (`KTPU_FAULT(86c9e7) ? (({f[31], 23'd0}) & ~(24'd1 << 15)) : ({f[31], 23'd0}));]==]
  [==[{f[31], 23'd0}]==] [==[({f[31], 23'd0}) & ~(24'd1 << 15)]==])
ktpu_mutant(84a669 "off-by-one" ktpu_vector_predicates.sv
  [==[beats   = 6'((length_i + 8'd3) >> 2);]==]
  [==[beats   = 6'((length_i + (`KTPU_FAULT(84a669) ? (8'd4) : (8'd3))) >> 2);]==]
  [==[8'd3]==] [==[8'd4]==])
ktpu_mutant(ba269d "condition" ktpu_vector_predicates.sv
  [==[if (beats_q[read_pr_i] < beats) beats = beats_q[read_pr_i];]==]
  [==[if ((`KTPU_FAULT(ba269d) ? (1'b1) : (beats_q[read_pr_i] < beats))) beats = beats_q[read_pr_i];]==]
  [==[beats_q[read_pr_i] < beats]==] [==[1'b1]==])
ktpu_mutant(8dc6b4 "stuck bit" ktpu_vector_regfile.sv
  [==[c_q <= mem[raddr_c_i];]==]
  [==[c_q <= (`KTPU_FAULT(8dc6b4) ? ((mem[raddr_c_i]) & ~(24'd1 << 8)) : (mem[raddr_c_i]));]==]
  [==[mem[raddr_c_i]]==] [==[(mem[raddr_c_i]) & ~(24'd1 << 8)]==])
ktpu_mutant(bf1013 "operator" ktpu_vector_scalars.sv
  [==[stage_o.constant[0] = (word_i.sa == SrcScalar) ? a_o : constant_of(word_i.va[1:0], k3_q);]==]
  [==[stage_o.constant[0] = ((`KTPU_FAULT(bf1013) ? (word_i.sa != SrcScalar) : (word_i.sa == SrcScalar))) ? a_o : constant_of(word_i.va[1:0], k3_q);]==]
  [==[word_i.sa == SrcScalar]==] [==[word_i.sa != SrcScalar]==])
ktpu_mutant(9a296b "off-by-one" ktpu_vector_send.sv
  [==[assign send_valid_o = (left_q != 2'd0) && send_ready_i;]==]
  [==[assign send_valid_o = (left_q != (`KTPU_FAULT(9a296b) ? (2'd1) : (2'd0))) && send_ready_i;]==]
  [==[2'd0]==] [==[2'd1]==])
ktpu_mutant(8bfa05 "operator" ktpu_vector_send.sv
  [==[assign load         = ack_sent_o || fill_i || drain_i || peer_i;]==]
  [==[assign load         = (`KTPU_FAULT(8bfa05) ? (ack_sent_o && fill_i) : (ack_sent_o || fill_i)) || drain_i || peer_i;]==]
  [==[ack_sent_o || fill_i]==] [==[ack_sent_o && fill_i]==])
ktpu_mutant(80207f "condition" ktpu_vector_sequencer.sv
  [==[end else if ((f.sa == SrcChain) || (f.sb == SrcChain) || (f.sc == SrcChain)) begin]==]
  [==[end else if ((`KTPU_FAULT(80207f) ? (1'b0) : ((f.sa == SrcChain) || (f.sb == SrcChain) || (f.sc == SrcChain)))) begin]==]
  [==[(f.sa == SrcChain) || (f.sb == SrcChain) || (f.sc == SrcChain)]==] [==[1'b0]==])
ktpu_mutant(9293cd "off-by-one" ktpu_vector_sequencer.sv
  [==[if ((s_a_i == '0) || (s_a_i > 24'(MaxLength))) begin]==]
  [==[if ((s_a_i == '0) || ((`KTPU_FAULT(9293cd) ? (s_a_i >= 24'(MaxLength)) : (s_a_i > 24'(MaxLength))))) begin]==]
  [==[s_a_i > 24'(MaxLength)]==] [==[s_a_i >= 24'(MaxLength)]==])
ktpu_mutant(839afe "operator" ktpu_vector_sequencer.sv
  [==[if (f.sa == SrcConstant) begin]==]
  [==[if ((`KTPU_FAULT(839afe) ? (f.sa != SrcConstant) : (f.sa == SrcConstant))) begin]==]
  [==[f.sa == SrcConstant]==] [==[f.sa != SrcConstant]==])
ktpu_mutant(81278a "constant" ktpu_vector_sequencer.sv
  [==[end else if ((op > OpRsqrt) && !quirks_i[QuirkV10]) begin]==]
  [==[end else if ((op > (`KTPU_FAULT(81278a) ? (OpBar) : (OpRsqrt))) && !quirks_i[QuirkV10]) begin]==]
  [==[OpRsqrt]==] [==[OpBar]==])
ktpu_mutant(815ebe "stuck bit" ktpu_vector_sequencer.sv
  [==[assign done_fault_o   = faulted_q;]==]
  [==[assign done_fault_o   = (`KTPU_FAULT(815ebe) ? (1'b1) : (faulted_q));]==]
  [==[faulted_q]==] [==[1'b1]==])
ktpu_mutant(9586cb "constant" ktpu_vector_walk.sv
  [==[moved_d   = '0;]==]
  [==[moved_d   = (`KTPU_FAULT(9586cb) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(81ddf8 "off-by-one" ktpu_vector_walk.sv
  [==[end else if (write_field_i <= 3'd4) begin]==]
  [==[end else if (write_field_i <= (`KTPU_FAULT(81ddf8) ? (3'd5) : (3'd4))) begin]==]
  [==[3'd4]==] [==[3'd5]==])
