# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of router that somebody thought of; those of router.cmake are a seeded choice.
#   ktpu_fault(NAME FILE  expression in the file  faulty expression  "what is wrong" [STATEMENT])
ktpu_fault(read_pointer_wrap ktpu_fifo.sv
  [==[(rptr_q == PtrWidth'(Words - 1))]==]
  [==[(rptr_q == PtrWidth'(Words - 2))]==]
  "the read pointer wraps one word early")
ktpu_fault(pointer_of_last_winner ktpu_router_outport.sv
  [==[pointer_q <= pointer_d;]==]
  [==[if (grant_o != '0) pointer_q <= pointer_d;]==]
  "the arbiter pointer advances only when something is granted" STATEMENT)
ktpu_fault(pointer_period ktpu_router_outport.sv
  [==[(pointer_q == PtrWidth'(NumPorts - 1))]==]
  [==[(pointer_q == PtrWidth'(NumPorts - 2))]==]
  "the arbiter pointer has period four")
ktpu_fault(arbiter_start ktpu_arbiter.sv
  [==[{Requests{1'b1}} << first_i]==]
  [==[{Requests{1'b1}} << 1 << first_i]==]
  "the arbiter's search starts behind the pointer")
ktpu_fault(no_room_while_leaving ktpu_router_outport.sv
  [==[!(valid_q && out_busy_i)]==]
  [==[!valid_q]==]
  "an output register is not refilled in the cycle in which its flit leaves")
ktpu_fault(no_load_on_grant ktpu_router_inport.sv
  [==[((request_q == '0) || grant_i)]==]
  [==[(request_q == '0)]==]
  "the holding slot is not refilled in the cycle of its grant")
ktpu_fault(grant_keeps_request ktpu_router_inport.sv
  [==[request_d = '0;]==]
  [==[if (!in_valid_i) request_d = '0;]==]
  "a granted flit is sent a second time if another arrives at its input in that cycle" STATEMENT)
ktpu_fault(no_clamp ktpu_router_pkg.sv
  [==[value > hi]==]
  [==[value > hi + 4'd1]==]
  "a destination one beyond the grid is not clamped")
ktpu_fault(y_first ktpu_router_pkg.sv
  [==[cx < place.x || (here && dst_x < place.x)]==]
  [==[(cx < place.x && cy == place.y) || (here && dst_x < place.x)]==]
  "westward flits in another row do not go west first")
ktpu_fault(corner_goes_north ktpu_router_pkg.sv
  [==[(here && dst_x > place.x)]==]
  [==[(here && dst_x > place.x && dst_y >= place.y)]==]
  "beyond the north-east corner y wins over x")
ktpu_fault(turn_mask ktpu_router_pkg.sv
  [==[!(s_router && e_router)]==]
  [==[!s_router]==]
  "a flit from the south may not turn east at the east border")
ktpu_fault(payload_bit ktpu_router_inport.sv
  [==[if (load) hold_q <= head;]==]
  [==[if (load) hold_q <= {head[FlitWidth-1:1], head[0] & ~(head.txn == 8'hff)};]==]
  "payload bit 0 is lost when txn is 255" STATEMENT)
ktpu_fault(fifo_latency ktpu_fifo.sv
  [==[pending_q[Latency-2]]==]
  [==[pending_q[0]]==]
  "a word is readable one cycle early")
ktpu_fault(fifo_capacity ktpu_fifo.sv
  [==[used_q == CountWidth'(depth_i) + CountWidth'(Extra)]==]
  [==[used_q == CountWidth'(depth_i) + CountWidth'(Extra - 1)]==]
  "the FIFO is full one word early")
ktpu_fault(reset_busy ktpu_fifo.sv
  [==[ResetWidth'(ResetCycles)]==]
  [==[ResetWidth'(ResetCycles - 1)]==]
  "the inputs leave reset one cycle early")
