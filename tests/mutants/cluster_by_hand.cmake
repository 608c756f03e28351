# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of cluster that somebody thought of; those of cluster.cmake are a seeded choice.
#   ktpu_fault(NAME FILE  expression in the file  faulty expression  "what is wrong" [STATEMENT])
ktpu_fault(small_sweep ktpu_cluster_seq.sv
  [==[(gm == 8'd1 && gn <= 8'd4)]==]
  [==[(gm == 8'd1 && gn <= 8'd3)]==]
  "a GEMM of 1 x 4 does not wait for the accumulator")
ktpu_fault(emit_starts_early ktpu_cluster_seq.sv
  [==[!(inst_q.emit && drain_busy_i)]==]
  [==[1'b1]==]
  "an emitting GEMM does not wait for the results before it")
ktpu_fault(emit_captures_nothing ktpu_cluster_seq.sv
  [==[state_q == DrainStart || (state_q == GemmStart && inst_q.emit)]==]
  [==[state_q == DrainStart]==]
  "an emitting GEMM does not set the destination")
ktpu_fault(fault_stays ktpu_cluster_seq.sv
  [==[if (state_q == Done) fault_d = 1'b0;]==]
  [==[ ]==]
  "a fault is reported with every retirement" STATEMENT)
ktpu_fault(hole_stays_open ktpu_cluster_seq.sv
  [==[(quirk_c1_i || !peer_stream_i)]==]
  [==[1'b1]==]
  "C1 can not be closed")
ktpu_fault(leader_of_equals ktpu_cluster_seq.sv
  [==[node >= inst_q.peer0]==]
  [==[node > inst_q.peer0]==]
  "a cluster leads itself")
ktpu_fault(pace_of_two ktpu_cluster_sweep.sv
  [==[idle = 3'd2;]==]
  [==[idle = 3'd1;]==]
  "a sweep of two sub-tiles issues every second cycle" STATEMENT)
ktpu_fault(second_column ktpu_cluster_sweep.sv
  [==[b_col_d = boff_q + kb_q;]==]
  [==[b_col_d = boff_q;]==]
  "rows after the first read K block 0 of B" STATEMENT)
ktpu_fault(scale_of_any_word ktpu_cluster_l1.sv
  [==[word_index_i == 2'd0]==]
  [==[1'b1]==]
  "scales are taken from every word")
ktpu_fault(sign_of_dots ktpu_mac_slice.sv
  [==[{(PartWidth - DotWidth){dot[DotWidth-1]}}]==]
  [==[{(PartWidth - DotWidth){1'b0}}]==]
  "dot products of a slice are unsigned")
ktpu_fault(lost_bits ktpu_acu_lane.sv
  [==[(lost6_q || normal[7:0] != '0 || normal[9])]==]
  [==[(normal[7:0] != '0 || normal[9])]==]
  "bits lost in the alignment do not count")
ktpu_fault(round_to_next_binade ktpu_acu_lane.sv
  [==[9'(significand[Mw+1])]==]
  [==[9'd0]==]
  "rounding up to a power of two keeps the exponent")
ktpu_fault(saturation ktpu_acu_lane.sv
  [==[exponent >= 9'd127]==]
  [==[exponent > 9'd127]==]
  "a sum with exponent 127 does not saturate")
ktpu_fault(fp16_flush ktpu_acu_lane.sv
  [==[x <= 8'd48]==]
  [==[x < 8'd48]==]
  "results below the smallest normal FP16 are not flushed")
ktpu_fault(port_owner ktpu_acu.sv
  [==[owned_i ? command_op_i : sweep_valid_i ? sweep_op_i : AccNop]==]
  [==[sweep_valid_i ? sweep_op_i : command_op_i]==]
  "the sweep owns the port")
ktpu_fault(drain_limit ktpu_cluster_drain.sv
  [==[d_out_q >= 16'(DrainLimit)]==]
  [==[d_out_q > 16'(DrainLimit)]==]
  "issue stops one result late")
ktpu_fault(peer_ignores_drain ktpu_cluster_drain.sv
  [==[peer_gate_i && !drain_busy_o]==]
  [==[peer_gate_i]==]
  "a peer sub-tile does not wait for results on their way")
ktpu_fault(remote_descriptor ktpu_cluster_writeback.sv
  [==[(to_q.fin != '0) ? {1'b1, to_q.mesh} : 3'd0]==]
  [==[(to_q.fin != '0 && send_next_q == '0) ? {1'b1, to_q.mesh} : 3'd0]==]
  "only descriptors are marked remote")
ktpu_fault(rejected_ack ktpu_cluster_receive.sv
  [==[ack_load = signals_q;]==]
  [==[ack_load = signals_q && !rejected_q;]==]
  "a rejected stream is not acknowledged" STATEMENT)
ktpu_fault(gate_falls ktpu_cluster_receive.sv
  [==[(gate_q || !gemm_busy_i)]==]
  [==[!gemm_busy_i]==]
  "the gate closes behind the first peer sub-tile")
ktpu_fault(second_reply ktpu_endpoint.sv
  [==[transfer && is_ctrl && !reply_valid_q]==]
  [==[transfer && is_ctrl]==]
  "a control request replaces the pending reply")
ktpu_fault(ack_waits ktpu_endpoint.sv
  [==[in_full_o && !(DropsAcks && in_valid_i && is_ack)]==]
  [==[in_full_o]==]
  "an acknowledge waits for the queues")
ktpu_fault(command_tail ktpu_cluster_drain.sv
  [==[4'(CommandTail)]==]
  [==[4'(CommandTail - 1)]==]
  "gemm_busy falls a cycle early after a single command")
