# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of router: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(8a77ca "operator" ktpu_fifo.sv
  [==[assign used_d    = used_q + CountWidth'(push) - CountWidth'(pop);]==]
  [==[assign used_d    = (`KTPU_FAULT(8a77ca) ? (used_q + CountWidth'(push) + CountWidth'(pop)) : (used_q + CountWidth'(push) - CountWidth'(pop)));]==]
  [==[used_q + CountWidth'(push) - CountWidth'(pop)]==] [==[used_q + CountWidth'(push) + CountWidth'(pop)]==])
ktpu_mutant(9c0bd7 "off-by-one" ktpu_fifo.sv
  [==[assign settle_d  = (settle_q == '0) ? '0 : settle_q - ResetWidth'(1);]==]
  [==[assign settle_d  = (settle_q == '0) ? '0 : settle_q - (`KTPU_FAULT(9c0bd7) ? ((ResetWidth'(1) + 3'sd1)) : (ResetWidth'(1)));]==]
  [==[ResetWidth'(1)]==] [==[(ResetWidth'(1) + 3'sd1)]==])
ktpu_mutant(8a3ff8 "stuck bit" ktpu_fifo.sv
  [==[wptr_d = wptr_q;]==]
  [==[wptr_d = (`KTPU_FAULT(8a3ff8) ? ((wptr_q) | (10'd1 << 1)) : (wptr_q));]==]
  [==[wptr_q]==] [==[(wptr_q) | (10'd1 << 1)]==])
ktpu_mutant(83fa83 "operator" ktpu_fifo.sv
  [==[if (push) wptr_d = (wptr_q == PtrWidth'(Words - 1)) ? '0 : wptr_q + PtrWidth'(1);]==]
  [==[if (push) wptr_d = (wptr_q == PtrWidth'(Words - 1)) ? '0 : (`KTPU_FAULT(83fa83) ? (wptr_q - PtrWidth'(1)) : (wptr_q + PtrWidth'(1)));]==]
  [==[wptr_q + PtrWidth'(1)]==] [==[wptr_q - PtrWidth'(1)]==])
ktpu_mutant(806e72 "constant" ktpu_fifo.sv
  [==[used_q    <= '0;]==]
  [==[used_q    <= (`KTPU_FAULT(806e72) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(90f24e "constant" ktpu_fifo.sv
  [==[visible_q <= '0;]==]
  [==[visible_q <= (`KTPU_FAULT(90f24e) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(8ae640 "stuck bit" ktpu_fifo.sv
  [==[settle_q  <= settle_d;]==]
  [==[settle_q  <= (`KTPU_FAULT(8ae640) ? ((settle_d) | (3'd1 << 0)) : (settle_d));]==]
  [==[settle_d]==] [==[(settle_d) | (3'd1 << 0)]==])
ktpu_mutant(a1ef92 "condition" ktpu_fifo.sv
  [==[if (push) mem[wptr_q] <= wdata_i;]==]
  [==[if ((`KTPU_FAULT(a1ef92) ? (1'b1) : (push))) mem[wptr_q] <= wdata_i;]==]
  [==[push]==] [==[1'b1]==])
ktpu_mutant(9a5aff "stuck bit" ktpu_router.sv
  [==[wanted[o][i] = request[i][o];]==]
  [==[wanted[o][i] = (`KTPU_FAULT(9a5aff) ? (1'b0) : (request[i][o]));]==]
  [==[request[i][o]]==] [==[1'b0]==])
ktpu_mutant(8921bb "stuck bit" ktpu_router_inport.sv
  [==[assign hold_o    = hold_q;]==]
  [==[assign hold_o    = (`KTPU_FAULT(8921bb) ? ((hold_q) | (288'd1 << 256)) : (hold_q));]==]
  [==[hold_q]==] [==[(hold_q) | (288'd1 << 256)]==])
ktpu_mutant(ec8cc5 "condition" ktpu_router_inport.sv
  [==[if (load) begin]==]
  [==[if ((`KTPU_FAULT(ec8cc5) ? (1'b1) : (load))) begin]==]
  [==[load]==] [==[1'b1]==])
ktpu_mutant(9e03d4 "constant" ktpu_router_inport.sv
  [==[request_q <= '0;]==]
  [==[request_q <= (`KTPU_FAULT(9e03d4) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(89f951 "operator" ktpu_router_outport.sv
  [==[assign valid_d = room ? (select != '0) : valid_q;]==]
  [==[assign valid_d = room ? ((`KTPU_FAULT(89f951) ? (select == '0) : (select != '0))) : valid_q;]==]
  [==[select != '0]==] [==[select == '0]==])
ktpu_mutant(b771d3 "condition" ktpu_router_outport.sv
  [==[if (select[p]) selected |= hold_i[p];]==]
  [==[if ((`KTPU_FAULT(b771d3) ? (1'b1) : (select[p]))) selected |= hold_i[p];]==]
  [==[select[p]]==] [==[1'b1]==])
ktpu_mutant(9e30a4 "operator" ktpu_router_outport.sv
  [==[if (!rst_ni) begin]==]
  [==[if ((`KTPU_FAULT(9e30a4) ? (rst_ni) : (!rst_ni))) begin]==]
  [==[!rst_ni]==] [==[rst_ni]==])
ktpu_mutant(8274ad "constant" ktpu_router_outport.sv
  [==[pointer_q <= '0;]==]
  [==[pointer_q <= (`KTPU_FAULT(8274ad) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(8ced43 "stuck bit" ktpu_router_outport.sv
  [==[assign out_data_o  = data_q;]==]
  [==[assign out_data_o  = (`KTPU_FAULT(8ced43) ? ((data_q) & ~(288'd1 << 279)) : (data_q));]==]
  [==[data_q]==] [==[(data_q) & ~(288'd1 << 279)]==])
ktpu_mutant(ad3bd4 "condition" ktpu_router_pkg.sv
  [==[if (value < lo) return lo;]==]
  [==[if ((`KTPU_FAULT(ad3bd4) ? (1'b0) : (value < lo))) return lo;]==]
  [==[value < lo]==] [==[1'b0]==])
ktpu_mutant(e7a051 "constant" ktpu_router_pkg.sv
  [==[request = '0;]==]
  [==[request = (`KTPU_FAULT(e7a051) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(99f2d9 "off-by-one" ktpu_router_pkg.sv
  [==[end else if (cy > place.y || (here && dst_y > place.y)) begin]==]
  [==[end else if ((`KTPU_FAULT(99f2d9) ? (cy >= place.y) : (cy > place.y)) || (here && dst_y > place.y)) begin]==]
  [==[cy > place.y]==] [==[cy >= place.y]==])
ktpu_mutant(8b0783 "stuck bit" ktpu_router_pkg.sv
  [==[s_router = place.y < place.y_hi;]==]
  [==[s_router = (`KTPU_FAULT(8b0783) ? (1'b1) : (place.y < place.y_hi));]==]
  [==[place.y < place.y_hi]==] [==[1'b1]==])
ktpu_mutant(863f3c "operator" ktpu_router_pkg.sv
  [==[mask[East]  = !(n_router && e_router);]==]
  [==[mask[East]  = !((`KTPU_FAULT(863f3c) ? (n_router || e_router) : (n_router && e_router)));]==]
  [==[n_router && e_router]==] [==[n_router || e_router]==])
ktpu_mutant(a00277 "operator" ktpu_router_pkg.sv
  [==[mask[West]  = !(s_router && w_router);]==]
  [==[mask[West]  = !((`KTPU_FAULT(a00277) ? (s_router || w_router) : (s_router && w_router)));]==]
  [==[s_router && w_router]==] [==[s_router || w_router]==])
ktpu_mutant(828b82 "stuck bit" ktpu_router_pkg.sv
  [==[East:    mask[East] = !e_router;]==]
  [==[East:    mask[East] = (`KTPU_FAULT(828b82) ? (1'b0) : (!e_router));]==]
  [==[!e_router]==] [==[1'b0]==])
