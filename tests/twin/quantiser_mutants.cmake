# SPDX-License-Identifier: Apache-2.0
# Deliberate faults in the SystemVerilog quantiser. The campaign of quantiser_mutants_test.cpp must find every one
# of them; if it does not, the comparison has a hole. Each is one replacement in one file:
#   ktpu_mutant(name  file  from  to  "what is wrong")
ktpu_mutant(threshold ktpu_quantiser_scale.sv
  [==[> 11'd1386]==] [==[> 11'd1387]==]
  "one threshold of the scale is off by one")
ktpu_mutant(clamp ktpu_quantiser_scale.sv
  [==[if (biased < 7'sd0) biased = 7'sd0;]==] [==[ ]==]
  "scales of subnormal blocks are not clamped")
ktpu_mutant(zeros ktpu_quantiser_scale.sv
  [==[if (significand_q == '0) field = 8'ha0;]==] [==[ ]==]
  "a block of zeros has another scale")
ktpu_mutant(reciprocal ktpu_quantiser_scale.sv
  [==[13'd2341]==] [==[13'd2340]==]
  "one reciprocal is rounded down")
ktpu_mutant(sticky ktpu_quantiser_element.sv
  [==[7'(window[0])]==] [==[7'(window[0] && product[14:0] != '0)]==]
  "a tie does not round up")
ktpu_mutant(subnormal ktpu_quantiser_element.sv
  [==[? 5'd1 :]==] [==[? 5'd0 :]==]
  "subnormals count half")
ktpu_mutant(layout ktpu_quantiser.sv
  [==[layout_q <= layout_i;]==] [==[layout_q <= 1'b0;]==]
  "the B layout is not known")
ktpu_mutant(done_early ktpu_quantiser.sv
  [==[done_q       <= step_q == StepTail]==] [==[done_q       <= step_q == StepTail - 4'd1]==]
  "done comes a cycle early")
ktpu_mutant(start_in_the_middle ktpu_quantiser.sv
  [==[      count_d      = '0;
      step_d]==] [==[      step_d]==]
  "a start does not abandon the beats before it")
