# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of quantiser that somebody thought of; those of quantiser.cmake are a seeded choice.
#   ktpu_fault(NAME FILE  expression in the file  faulty expression  "what is wrong" [STATEMENT])
ktpu_fault(threshold ktpu_quantiser_scale.sv
  [==[significand_q > 11'd1386]==]
  [==[significand_q > 11'd1387]==]
  "one threshold of the scale is off by one")
ktpu_fault(clamp ktpu_quantiser_scale.sv
  [==[if (biased < 7'sd0) biased = 7'sd0;]==]
  [==[ ]==]
  "scales of subnormal blocks are not clamped" STATEMENT)
ktpu_fault(zeros ktpu_quantiser_scale.sv
  [==[if (significand_q == '0) field = 8'ha0;]==]
  [==[ ]==]
  "a block of zeros has another scale" STATEMENT)
ktpu_fault(reciprocal ktpu_quantiser_scale.sv
  [==[13'd2341]==]
  [==[13'd2340]==]
  "one reciprocal is rounded down")
ktpu_fault(sticky ktpu_quantiser_element.sv
  [==[7'(window[0])]==]
  [==[7'(window[0] && product[14:0] != '0)]==]
  "a tie does not round up")
ktpu_fault(subnormal ktpu_quantiser_element.sv
  [==[(half_i[14:10] == 5'd0) ? 5'd1 : half_i[14:10]]==]
  [==[(half_i[14:10] == 5'd0) ? 5'd0 : half_i[14:10]]==]
  "subnormals count half")
ktpu_fault(layout ktpu_quantiser.sv
  [==[layout_q <= layout_i;]==]
  [==[layout_q <= 1'b0;]==]
  "the B layout is not known" STATEMENT)
ktpu_fault(done_early ktpu_quantiser.sv
  [==[step_q == StepTail && !start_i]==]
  [==[step_q == StepTail - 4'd1 && !start_i]==]
  "done comes a cycle early")
ktpu_fault(start_in_the_middle ktpu_quantiser.sv
  [==[count_d      = '0;]==]
  [==[ ]==]
  "a start does not abandon the beats before it" STATEMENT)
