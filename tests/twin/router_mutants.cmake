# SPDX-License-Identifier: Apache-2.0
# Deliberate faults in the SystemVerilog router. The lock-step campaign of router_mutants_test.cpp must find every
# one of them; if it does not, lock-step has a hole. Each is one replacement in one file:
#   ktpu_mutant(name  file  from  to  "what is wrong")
ktpu_mutant(fifo_latency ktpu_router_inport.sv
  [==[(FifoLatency)]==] [==[(FifoLatency + 1)]==]
  "a word is readable one cycle late")
ktpu_mutant(fifo_capacity ktpu_router_inport.sv
  [==[(FifoExtra)]==] [==[(FifoExtra - 1)]==]
  "the FIFO is full one word early")
ktpu_mutant(reset_busy ktpu_router_inport.sv
  [==[(FifoReset)]==] [==[(FifoReset - 1)]==]
  "the inputs leave reset one cycle early")
ktpu_mutant(read_pointer_wrap ktpu_fifo.sv
  [==[(rptr_q == PtrWidth'(Words - 1))]==] [==[(rptr_q == PtrWidth'(Words - 2))]==]
  "the read pointer wraps one word early")
ktpu_mutant(pointer_of_last_winner ktpu_router_outport.sv
  [==[assign pointer_d = ]==] [==[assign pointer_d = (grant_o == '0) ? pointer_q : ]==]
  "the arbiter pointer advances only when something is granted")
ktpu_mutant(pointer_period ktpu_router_outport.sv
  [==[(pointer_q == PtrWidth'(NumPorts - 1))]==] [==[(pointer_q == PtrWidth'(NumPorts - 2))]==]
  "the arbiter pointer has period four")
ktpu_mutant(arbiter_direction ktpu_router_outport.sv
  [==[(PtrWidth + 1)'(pointer_q) + (PtrWidth + 1)'(k)]==]
  [==[(PtrWidth + 1)'(pointer_q) + (PtrWidth + 1)'((NumPorts - k) % NumPorts)]==]
  "the arbiter searches backwards from the pointer")
ktpu_mutant(no_room_while_leaving ktpu_router_outport.sv
  [==[!(valid_q && out_busy_i)]==] [==[!valid_q]==]
  "an output register is not refilled in the cycle in which its flit leaves")
ktpu_mutant(no_load_on_grant ktpu_router_inport.sv
  [==[((request_q == '0) || grant_i)]==] [==[(request_q == '0)]==]
  "the holding slot is not refilled in the cycle of its grant")
ktpu_mutant(grant_keeps_request ktpu_router_inport.sv
  [==[end else if (grant_i) begin]==] [==[end else if (grant_i && !in_valid_i) begin]==]
  "a granted flit is sent a second time if another arrives at its input in that cycle")
ktpu_mutant(no_clamp ktpu_router_pkg.sv
  [==[if (value > hi) return hi;]==] [==[if (value > hi + 4'd1) return hi;]==]
  "a destination one beyond the grid is not clamped")
ktpu_mutant(y_first ktpu_router_pkg.sv
  [==[cx < place.x || (here && dst_x < place.x)]==]
  [==[(cx < place.x && cy == place.y) || (here && dst_x < place.x)]==]
  "westward flits in another row do not go west first")
ktpu_mutant(corner_goes_north ktpu_router_pkg.sv
  [==[(here && dst_x > place.x)]==] [==[(here && dst_x > place.x && dst_y >= place.y)]==]
  "beyond the north-east corner y wins over x")
ktpu_mutant(turn_mask ktpu_router_pkg.sv
  [==[mask[East]  = !(s_router && e_router);]==] [==[mask[East]  = !s_router;]==]
  "a flit from the south may not turn east at the east border")
ktpu_mutant(payload_bit ktpu_router_inport.sv
  [==[if (load) hold_q <= head;]==]
  [==[if (load) hold_q <= {head[FlitWidth-1:1], head[0] & ~(head.txn == 8'hff)};]==]
  "payload bit 0 is lost when txn is 255")
