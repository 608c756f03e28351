# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of cluster: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(b147bb "off-by-one" ktpu_acu.sv
  [==[for (int unsigned n = 1; n < AcuWrite; n++) tile_q[n] <= tile_q[n-1];]==]
  [==[for (int unsigned n = 1; n < AcuWrite; n++) tile_q[n] <= tile_q[n-(`KTPU_FAULT(b147bb) ? (0) : (1))];]==]
  [==[1]==] [==[0]==])
ktpu_mutant(86b456 "constant" ktpu_acu.sv
  [==[push_o = op[AcuEmit] == AccEmit || op[AcuEmit] == AccAddEmit;]==]
  [==[push_o = op[AcuEmit] == AccEmit || op[AcuEmit] == (`KTPU_FAULT(86b456) ? (AccSend) : (AccAddEmit));]==]
  [==[AccAddEmit]==] [==[AccSend]==])
ktpu_mutant(823a01 "operator" ktpu_acu_lane.sv
  [==[if (v[31:24] == 8'd0)  begin n[3] = 1'b1; v = v << 8; end]==]
  [==[if (v[31:24] == 8'd0)  begin n[3] = 1'b1; v = (`KTPU_FAULT(823a01) ? (v >> 8) : (v << 8)); end]==]
  [==[v << 8]==] [==[v >> 8]==])
ktpu_mutant(864405 "constant" ktpu_acu_lane.sv
  [==[justified = '0;]==]
  [==[justified = (`KTPU_FAULT(864405) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(81292e "condition" ktpu_acu_lane.sv
  [==[value5_q    <= (zero_a && zero_b) ? '0 : zero_a ? other4_q : tile_i;]==]
  [==[value5_q    <= ((`KTPU_FAULT(81292e) ? (1'b0) : (zero_a && zero_b))) ? '0 : zero_a ? other4_q : tile_i;]==]
  [==[zero_a && zero_b]==] [==[1'b0]==])
ktpu_mutant(8385ad "off-by-one" ktpu_acu_lane.sv
  [==[end else if (x >= 8'd79) begin]==]
  [==[end else if ((`KTPU_FAULT(8385ad) ? (x > 8'd79) : (x >= 8'd79))) begin]==]
  [==[x >= 8'd79]==] [==[x > 8'd79]==])
ktpu_mutant(84b29b "stuck bit" ktpu_acu_lane.sv
  [==[if (stage_i[6]) stored_q <= result;]==]
  [==[if (stage_i[6]) stored_q <= (`KTPU_FAULT(84b29b) ? ((result) & ~(22'd1 << 8)) : (result));]==]
  [==[result]==] [==[(result) & ~(22'd1 << 8)]==])
ktpu_mutant(81499e "stuck bit" ktpu_cluster.sv
  [==[destination.fin    = current.dfin;]==]
  [==[destination.fin    = (`KTPU_FAULT(81499e) ? ((current.dfin) | (8'd1 << 4)) : (current.dfin));]==]
  [==[current.dfin]==] [==[(current.dfin) | (8'd1 << 4)]==])
ktpu_mutant(9d8ee2 "constant" ktpu_cluster.sv
  [==[fill_cycles_q    <= '0;]==]
  [==[fill_cycles_q    <= (`KTPU_FAULT(9d8ee2) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(849c89 "stuck bit" ktpu_cluster_drain.sv
  [==[gap_d          = gap_q;]==]
  [==[gap_d          = (`KTPU_FAULT(849c89) ? (1'b1) : (gap_q));]==]
  [==[gap_q]==] [==[1'b1]==])
ktpu_mutant(80855b "constant" ktpu_cluster_drain.sv
  [==[command_op_d   = send_q ? AccSend : AccEmit;]==]
  [==[command_op_d   = send_q ? (`KTPU_FAULT(80855b) ? (AccAddPeer) : (AccSend)) : AccEmit;]==]
  [==[AccSend]==] [==[AccAddPeer]==])
ktpu_mutant(80bd33 "off-by-one" ktpu_cluster_drain.sv
  [==[if (drain_start_i && inst_i.fuse) barrier_d = taken_count_i < n;]==]
  [==[if (drain_start_i && inst_i.fuse) barrier_d = (`KTPU_FAULT(80bd33) ? (taken_count_i <= n) : (taken_count_i < n));]==]
  [==[taken_count_i < n]==] [==[taken_count_i <= n]==])
ktpu_mutant(88789b "operator" ktpu_cluster_l1.sv
  [==[slice[7*(8*lane+k)+:7] = word_side_i ? word_i[249-7*(4*k+lane)+:7] : word_i[249-7*(8*lane+k)+:7];]==]
  [==[slice[7*((`KTPU_FAULT(88789b) ? (8*lane-k) : (8*lane+k)))+:7] = word_side_i ? word_i[249-7*(4*k+lane)+:7] : word_i[249-7*(8*lane+k)+:7];]==]
  [==[8*lane+k]==] [==[8*lane-k]==])
ktpu_mutant(d3736c "off-by-one" ktpu_cluster_l1.sv
  [==[write_q     <= word_valid_i && word_index_i == 2'd3;]==]
  [==[write_q     <= word_valid_i && word_index_i == (`KTPU_FAULT(d3736c) ? (2'd2) : (2'd3));]==]
  [==[2'd3]==] [==[2'd2]==])
ktpu_mutant(fabc3b "condition" ktpu_cluster_pkg.sv
  [==[return (value == 8'd0) ? 8'd1 : value;]==]
  [==[return ((`KTPU_FAULT(fabc3b) ? (1'b0) : (value == 8'd0))) ? 8'd1 : value;]==]
  [==[value == 8'd0]==] [==[1'b0]==])
ktpu_mutant(8319c0 "constant" ktpu_cluster_receive.sv
  [==[assign may_take    = is_response ? filling_i : is_data ? (!pending_q && !ack_valid_q) : 1'b1;]==]
  [==[assign may_take    = is_response ? filling_i : is_data ? (!pending_q && !ack_valid_q) : (`KTPU_FAULT(8319c0) ? (1'b0) : (1'b1));]==]
  [==[1'b1]==] [==[1'b0]==])
ktpu_mutant(8601a4 "condition" ktpu_cluster_receive.sv
  [==[if (take_granule && left_q == 9'd1) begin]==]
  [==[if ((`KTPU_FAULT(8601a4) ? (1'b1) : (take_granule && left_q == 9'd1))) begin]==]
  [==[take_granule && left_q == 9'd1]==] [==[1'b1]==])
ktpu_mutant(800165 "stuck bit" ktpu_cluster_receive.sv
  [==[assign gate_o         = gate_q;]==]
  [==[assign gate_o         = (`KTPU_FAULT(800165) ? (1'b1) : (gate_q));]==]
  [==[gate_q]==] [==[1'b1]==])
ktpu_mutant(a3a140 "off-by-one" ktpu_cluster_receive.sv
  [==[offset_q <= offset_q + 16'd1;]==]
  [==[offset_q <= offset_q + (`KTPU_FAULT(a3a140) ? (16'd2) : (16'd1));]==]
  [==[16'd1]==] [==[16'd2]==])
ktpu_mutant(81cc8d "off-by-one" ktpu_cluster_seq.sv
  [==[assign fill_complete = 16'(received_q) == ((inst_q.n == 16'd0) ? 16'd1 : inst_q.n);]==]
  [==[assign fill_complete = 16'(received_q) == ((inst_q.n == (`KTPU_FAULT(81cc8d) ? (16'd1) : (16'd0))) ? 16'd1 : inst_q.n);]==]
  [==[16'd0]==] [==[16'd1]==])
ktpu_mutant(85215d "stuck bit" ktpu_cluster_seq.sv
  [==[mem_req.peer1  = inst_q.peer1;]==]
  [==[mem_req.peer1  = (`KTPU_FAULT(85215d) ? ((inst_q.peer1) & ~(8'd1 << 0)) : (inst_q.peer1));]==]
  [==[inst_q.peer1]==] [==[(inst_q.peer1) & ~(8'd1 << 0)]==])
ktpu_mutant(905831 "condition" ktpu_cluster_seq.sv
  [==[if (request_sent_i) request_valid_d = 1'b0;]==]
  [==[if ((`KTPU_FAULT(905831) ? (1'b0) : (request_sent_i))) request_valid_d = 1'b0;]==]
  [==[request_sent_i]==] [==[1'b0]==])
ktpu_mutant(80f89d "constant" ktpu_cluster_seq.sv
  [==[assign gemm_start_o    = state_q == GemmPulse;]==]
  [==[assign gemm_start_o    = state_q == (`KTPU_FAULT(80f89d) ? (DrainStart) : (GemmPulse));]==]
  [==[GemmPulse]==] [==[DrainStart]==])
ktpu_mutant(818dfe "operator" ktpu_cluster_seq.sv
  [==[if (state_q == Fill && entered_q && leads) request_q <= request_d;]==]
  [==[if ((`KTPU_FAULT(818dfe) ? (state_q != Fill) : (state_q == Fill)) && entered_q && leads) request_q <= request_d;]==]
  [==[state_q == Fill]==] [==[state_q != Fill]==])
ktpu_mutant(8eb9eb "operator" ktpu_cluster_sweep.sv
  [==[b_col_d = b_col_q + nk_q;]==]
  [==[b_col_d = (`KTPU_FAULT(8eb9eb) ? (b_col_q - nk_q) : (b_col_q + nk_q));]==]
  [==[b_col_q + nk_q]==] [==[b_col_q - nk_q]==])
ktpu_mutant(81f278 "condition" ktpu_cluster_sweep.sv
  [==[if (last_h) begin]==]
  [==[if ((`KTPU_FAULT(81f278) ? (1'b1) : (last_h))) begin]==]
  [==[last_h]==] [==[1'b1]==])
ktpu_mutant(85fef7 "off-by-one" ktpu_cluster_sweep.sv
  [==[assign tail_d = issue_o ? 6'(GemmTail) : (tail_q == '0) ? '0 : tail_q - 6'd1;]==]
  [==[assign tail_d = issue_o ? 6'(GemmTail) : (tail_q == '0) ? '0 : tail_q - (`KTPU_FAULT(85fef7) ? (6'd2) : (6'd1));]==]
  [==[6'd1]==] [==[6'd2]==])
ktpu_mutant(80b52d "constant" ktpu_cluster_sweep.sv
  [==[tail_q    <= '0;]==]
  [==[tail_q    <= (`KTPU_FAULT(80b52d) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(83a070 "stuck bit" ktpu_cluster_sweep.sv
  [==[abank_q  <= inst_i.abank;]==]
  [==[abank_q  <= (`KTPU_FAULT(83a070) ? (1'b1) : (inst_i.abank));]==]
  [==[inst_i.abank]==] [==[1'b1]==])
ktpu_mutant(bf0784 "off-by-one" ktpu_cluster_writeback.sv
  [==[assign full      = held == 4'(DrainBurst);]==]
  [==[assign full      = held == (`KTPU_FAULT(bf0784) ? ((4'(DrainBurst) + 4'd1)) : (4'(DrainBurst)));]==]
  [==[4'(DrainBurst)]==] [==[(4'(DrainBurst) + 4'd1)]==])
ktpu_mutant(83528e "constant" ktpu_cluster_writeback.sv
  [==[flit_d.kind  = to_q.node ? FlitCuData : (send_next_q == '0) ? FlitMemWrReq : FlitMemWrData;]==]
  [==[flit_d.kind  = to_q.node ? FlitCuData : (send_next_q == '0) ? (`KTPU_FAULT(83528e) ? (FlitCuInst) : (FlitMemWrReq)) : FlitMemWrData;]==]
  [==[FlitMemWrReq]==] [==[FlitCuInst]==])
ktpu_mutant(8109f2 "stuck bit" ktpu_cluster_writeback.sv
  [==[assign flit_valid_o = flit_valid_q;]==]
  [==[assign flit_valid_o = (`KTPU_FAULT(8109f2) ? (1'b0) : (flit_valid_q));]==]
  [==[flit_valid_q]==] [==[1'b0]==])
ktpu_mutant(801536 "operator" ktpu_cluster_writeback.sv
  [==[queued_q     <= queued_q + 8'(push_i && !queue_full) - 8'(queue_pop);]==]
  [==[queued_q     <= (`KTPU_FAULT(801536) ? (queued_q + 8'(push_i && !queue_full) + 8'(queue_pop)) : (queued_q + 8'(push_i && !queue_full) - 8'(queue_pop)));]==]
  [==[queued_q + 8'(push_i && !queue_full) - 8'(queue_pop)]==] [==[queued_q + 8'(push_i && !queue_full) + 8'(queue_pop)]==])
ktpu_mutant(858143 "condition" ktpu_cluster_writeback.sv
  [==[if (capture_i) to_q <= destination_i;]==]
  [==[if ((`KTPU_FAULT(858143) ? (1'b0) : (capture_i))) to_q <= destination_i;]==]
  [==[capture_i]==] [==[1'b0]==])
ktpu_mutant(b03dcb "operator" ktpu_delay.sv
  [==[if (!rst_ni) begin]==]
  [==[if ((`KTPU_FAULT(b03dcb) ? (rst_ni) : (!rst_ni))) begin]==]
  [==[!rst_ni]==] [==[rst_ni]==])
ktpu_mutant(97fa4f "constant" ktpu_delay.sv
  [==[ptr_q <= '0;]==]
  [==[ptr_q <= (`KTPU_FAULT(97fa4f) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(bcea7f "condition" ktpu_delay.sv
  [==[ptr_q <= (ptr_q == PtrWidth'(Cycles - 1)) ? '0 : ptr_q + PtrWidth'(1);]==]
  [==[ptr_q <= ((`KTPU_FAULT(bcea7f) ? (1'b0) : (ptr_q == PtrWidth'(Cycles - 1)))) ? '0 : ptr_q + PtrWidth'(1);]==]
  [==[ptr_q == PtrWidth'(Cycles - 1)]==] [==[1'b0]==])
ktpu_mutant(f17252 "condition" ktpu_delay.sv
  [==[if (valid_i) mem[ptr_q] <= data_i;]==]
  [==[if ((`KTPU_FAULT(f17252) ? (1'b0) : (valid_i))) mem[ptr_q] <= data_i;]==]
  [==[valid_i]==] [==[1'b0]==])
ktpu_mutant(852a92 "constant" ktpu_endpoint.sv
  [==[assign is_ack    = in_data_i.kind == FlitMemWrAck;]==]
  [==[assign is_ack    = in_data_i.kind == (`KTPU_FAULT(852a92) ? (FlitMemRdReq) : (FlitMemWrAck));]==]
  [==[FlitMemWrAck]==] [==[FlitMemRdReq]==])
ktpu_mutant(8897ef "stuck bit" ktpu_endpoint.sv
  [==[assign inst_o       = inst_head;]==]
  [==[assign inst_o       = (`KTPU_FAULT(8897ef) ? ((inst_head) & ~(288'd1 << 254)) : (inst_head));]==]
  [==[inst_head]==] [==[(inst_head) & ~(288'd1 << 254)]==])
ktpu_mutant(875425 "condition" ktpu_endpoint.sv
  [==[if (done_i) in_flight_d = 1'b0;]==]
  [==[if ((`KTPU_FAULT(875425) ? (1'b1) : (done_i))) in_flight_d = 1'b0;]==]
  [==[done_i]==] [==[1'b1]==])
ktpu_mutant(86f676 "stuck bit" ktpu_endpoint.sv
  [==[signal.arg      = (!done_fault_i && inst_last_q) ? 32'(inst_txn_q) : done_result_i;]==]
  [==[signal.arg      = (`KTPU_FAULT(86f676) ? (((!done_fault_i && inst_last_q) ? 32'(inst_txn_q) : done_result_i) & ~(32'd1 << 16)) : ((!done_fault_i && inst_last_q) ? 32'(inst_txn_q) : done_result_i));]==]
  [==[(!done_fault_i && inst_last_q) ? 32'(inst_txn_q) : done_result_i]==] [==[((!done_fault_i && inst_last_q) ? 32'(inst_txn_q) : done_result_i) & ~(32'd1 << 16)]==])
ktpu_mutant(83db5f "constant" ktpu_endpoint.sv
  [==[ctrl_word[CuCapsCuVersionLsb+:CuCapsCuVersionWidth] = UnitVersion;]==]
  [==[ctrl_word[CuCapsCuVersionLsb+:CuCapsCuVersionWidth] = (`KTPU_FAULT(83db5f) ? ((UnitVersion + 8'd1)) : (UnitVersion));]==]
  [==[UnitVersion]==] [==[(UnitVersion + 8'd1)]==])
ktpu_mutant(80c113 "stuck bit" ktpu_endpoint.sv
  [==[ctrl_word[CuStatusBusyLsb] = working;]==]
  [==[ctrl_word[CuStatusBusyLsb] = (`KTPU_FAULT(80c113) ? (1'b0) : (working));]==]
  [==[working]==] [==[1'b0]==])
ktpu_mutant(a10a92 "condition" ktpu_endpoint.sv
  [==[end else if (reply_valid_q) begin]==]
  [==[end else if ((`KTPU_FAULT(a10a92) ? (1'b0) : (reply_valid_q))) begin]==]
  [==[reply_valid_q]==] [==[1'b0]==])
ktpu_mutant(812b18 "operator" ktpu_endpoint.sv
  [==[((inst_used_q == '0) || in_flight_q);]==]
  [==[((`KTPU_FAULT(812b18) ? ((inst_used_q == '0) && in_flight_q) : ((inst_used_q == '0) || in_flight_q)));]==]
  [==[(inst_used_q == '0) || in_flight_q]==] [==[(inst_used_q == '0) && in_flight_q]==])
ktpu_mutant(ab07d2 "condition" ktpu_endpoint.sv
  [==[if (inst_accept_i) begin]==]
  [==[if ((`KTPU_FAULT(ab07d2) ? (1'b1) : (inst_accept_i))) begin]==]
  [==[inst_accept_i]==] [==[1'b1]==])
ktpu_mutant(84db5c "operator" ktpu_endpoint.sv
  [==[if (free && load) out_q <= next_out;]==]
  [==[if ((`KTPU_FAULT(84db5c) ? (free || load) : (free && load))) out_q <= next_out;]==]
  [==[free && load]==] [==[free || load]==])
ktpu_mutant(81ac89 "stuck bit" ktpu_mac_array.sv
  [==[valid_q <= at[Cascade-1:0];]==]
  [==[valid_q <= (`KTPU_FAULT(81ac89) ? ((at[Cascade-1:0]) & ~(17'd1 << 6)) : (at[Cascade-1:0]));]==]
  [==[at[Cascade-1:0]]==] [==[(at[Cascade-1:0]) & ~(17'd1 << 6)]==])
ktpu_mutant(a20d0b "condition" ktpu_mac_slice.sv
  [==[if (valid_i) begin]==]
  [==[if ((`KTPU_FAULT(a20d0b) ? (1'b0) : (valid_i))) begin]==]
  [==[valid_i]==] [==[1'b0]==])
