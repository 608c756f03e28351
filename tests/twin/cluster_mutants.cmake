# SPDX-License-Identifier: Apache-2.0
# Deliberate faults in the SystemVerilog cluster. The lock-step campaign of cluster_mutants_test.cpp must find every one
# of them; if it does not, the comparison has a hole. Each is one replacement in one file:
#   ktpu_mutant(name  file  from  to  "what is wrong")
ktpu_mutant(small_sweep ktpu_cluster_seq.sv
  [==[wide = !((gm == 8'd1 && gn <= 8'd4)]==] [==[wide = !((gm == 8'd1 && gn <= 8'd3)]==]
  "a GEMM of 1 x 4 does not wait for the accumulator")
ktpu_mutant(emit_starts_early ktpu_cluster_seq.sv
  [==[!(inst_q.emit && drain_busy_i)]==] [==[1'b1]==]
  "an emitting GEMM does not wait for the results before it")
ktpu_mutant(emit_captures_nothing ktpu_cluster_seq.sv
  [==[state_q == DrainStart || (state_q == GemmStart && inst_q.emit)]==] [==[state_q == DrainStart]==]
  "an emitting GEMM does not set the destination")
ktpu_mutant(fault_stays ktpu_cluster_seq.sv
  [==[if (state_q == Done) fault_d = 1'b0;]==] [==[ ]==]
  "a fault is reported with every retirement")
ktpu_mutant(hole_stays_open ktpu_cluster_seq.sv
  [==[(quirk_c1_i || !peer_stream_i)]==] [==[1'b1]==]
  "C1 can not be closed")
ktpu_mutant(leader_of_equals ktpu_cluster_seq.sv
  [==[node >= inst_q.peer0]==] [==[node > inst_q.peer0]==]
  "a cluster leads itself")
ktpu_mutant(pace_of_two ktpu_cluster_sweep.sv
  [==[idle = 3'd2;]==] [==[idle = 3'd1;]==]
  "a sweep of two sub-tiles issues every second cycle")
ktpu_mutant(second_column ktpu_cluster_sweep.sv
  [==[b_col_d = boff_q + kb_q;]==] [==[b_col_d = boff_q;]==]
  "rows after the first read K block 0 of B")
ktpu_mutant(scale_of_any_word ktpu_cluster_l1.sv
  [==[if (word_index_i == 2'd0) begin]==] [==[if (1'b1) begin]==]
  "scales are taken from every word")
ktpu_mutant(sign_of_dots ktpu_mac_slice.sv
  [==[{(PartWidth - DotWidth){dot[DotWidth-1]}}]==] [==[{(PartWidth - DotWidth){1'b0}}]==]
  "dot products of a slice are unsigned")
ktpu_mutant(lost_bits ktpu_acu_lane.sv
  [==[(lost6_q || normal[7:0] != '0 || normal[9])]==] [==[(normal[7:0] != '0 || normal[9])]==]
  "bits lost in the alignment do not count")
ktpu_mutant(round_to_next_binade ktpu_acu_lane.sv
  [==[+ 9'(significand[Mw+1])]==] [==[ ]==]
  "rounding up to a power of two keeps the exponent")
ktpu_mutant(saturation ktpu_acu_lane.sv
  [==[exponent >= 9'd127]==] [==[exponent > 9'd127]==]
  "a sum with exponent 127 does not saturate")
ktpu_mutant(fp16_flush ktpu_acu_lane.sv
  [==[x <= 8'd48]==] [==[x < 8'd48]==]
  "results below the smallest normal FP16 are not flushed")
ktpu_mutant(port_owner ktpu_acu.sv
  [==[owned_i ? command_op_i : sweep_valid_i ? sweep_op_i : AccNop]==] [==[sweep_valid_i ? sweep_op_i : command_op_i]==]
  "the sweep owns the port")
ktpu_mutant(drain_limit ktpu_cluster_drain.sv
  [==[d_out_q >= 16'(DrainLimit)]==] [==[d_out_q > 16'(DrainLimit)]==]
  "issue stops one result late")
ktpu_mutant(peer_ignores_drain ktpu_cluster_drain.sv
  [==[peer_gate_i && !drain_busy_o]==] [==[peer_gate_i]==]
  "a peer sub-tile does not wait for results on their way")
ktpu_mutant(command_tail ktpu_cluster_drain.sv
  [==[CommandTail = 11]==] [==[CommandTail = 10]==]
  "gemm_busy falls a cycle early after a single command")
ktpu_mutant(remote_descriptor ktpu_cluster_writeback.sv
  [==[flit_d.rsvd  = (to_q.fin != '0)]==] [==[flit_d.rsvd  = (to_q.fin != '0 && send_next_q == '0)]==]
  "only descriptors are marked remote")
ktpu_mutant(rejected_ack ktpu_cluster_receive.sv
  [==[ack_load = signals_q;]==] [==[ack_load = signals_q && !rejected_q;]==]
  "a rejected stream is not acknowledged")
ktpu_mutant(gate_falls ktpu_cluster_receive.sv
  [==[(gate_q || !gemm_busy_i)]==] [==[!gemm_busy_i]==]
  "the gate closes behind the first peer sub-tile")
ktpu_mutant(second_reply ktpu_endpoint.sv
  [==[transfer && is_ctrl && !reply_valid_q]==] [==[transfer && is_ctrl]==]
  "a control request replaces the pending reply")
ktpu_mutant(ack_waits ktpu_endpoint.sv
  [==[in_full_o && !(DropsAcks && in_valid_i && is_ack)]==] [==[in_full_o]==]
  "an acknowledge waits for the queues")
