# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of quantiser: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(81964e "condition" ktpu_quantiser.sv
  [==[step_d       = (step_q == '0 || step_q == StepTail) ? '0 : step_q + 4'd1;]==]
  [==[step_d       = ((`KTPU_FAULT(81964e) ? (1'b1) : (step_q == '0 || step_q == StepTail))) ? '0 : step_q + 4'd1;]==]
  [==[step_q == '0 || step_q == StepTail]==] [==[1'b1]==])
ktpu_mutant(8230b1 "stuck bit" ktpu_quantiser.sv
  [==[count_d = count_q + 3'd1;]==]
  [==[count_d = (`KTPU_FAULT(8230b1) ? ((count_q + 3'd1) & ~(3'd1 << 2)) : (count_q + 3'd1));]==]
  [==[count_q + 3'd1]==] [==[(count_q + 3'd1) & ~(3'd1 << 2)]==])
ktpu_mutant(909064 "constant" ktpu_quantiser.sv
  [==[step_d       = StepPeak;]==]
  [==[step_d       = (`KTPU_FAULT(909064) ? ((StepPeak + 4'd1)) : (StepPeak));]==]
  [==[StepPeak]==] [==[(StepPeak + 4'd1)]==])
ktpu_mutant(a54a1f "condition" ktpu_quantiser.sv
  [==[end
    end
    if (start_i) begin]==]
  [==[end
    end
    if ((`KTPU_FAULT(a54a1f) ? (1'b0) : (start_i))) begin]==]
  [==[start_i]==] [==[1'b0]==])
ktpu_mutant(888c42 "off-by-one" ktpu_quantiser.sv
  [==[if (layout_q) word[249-7*(4*k+lane)+:7] = elements[7*(8*lane+k)+:7];]==]
  [==[if (layout_q) word[(`KTPU_FAULT(888c42) ? (248) : (249))-7*(4*k+lane)+:7] = elements[7*(8*lane+k)+:7];]==]
  [==[249]==] [==[248]==])
ktpu_mutant(861202 "operator" ktpu_quantiser.sv
  [==[else          word[249-7*(8*lane+k)+:7] = elements[7*(8*lane+k)+:7];]==]
  [==[else          word[249-7*((`KTPU_FAULT(861202) ? (8+lane) : (8*lane))+k)+:7] = elements[7*(8*lane+k)+:7];]==]
  [==[8*lane]==] [==[8+lane]==])
ktpu_mutant(830b27 "stuck bit" ktpu_quantiser.sv
  [==[beat_lane_q     <= count_q[2:1];]==]
  [==[beat_lane_q     <= (`KTPU_FAULT(830b27) ? ((count_q[2:1]) & ~(2'd1 << 1)) : (count_q[2:1]));]==]
  [==[count_q[2:1]]==] [==[(count_q[2:1]) & ~(2'd1 << 1)]==])
ktpu_mutant(829c6f "off-by-one" ktpu_quantiser_element.sv
  [==[distance    = $signed({2'b00, scale_exponent_i}) + 7'sd1 - $signed({2'b00, exponent});]==]
  [==[distance    = $signed({2'b00, scale_exponent_i}) + (`KTPU_FAULT(829c6f) ? (7'sd0) : (7'sd1)) - $signed({2'b00, exponent});]==]
  [==[7'sd1]==] [==[7'sd0]==])
ktpu_mutant(80567f "condition" ktpu_quantiser_element.sv
  [==[if (distance < 7'sd0) begin]==]
  [==[if ((`KTPU_FAULT(80567f) ? (1'b0) : (distance < 7'sd0))) begin]==]
  [==[distance < 7'sd0]==] [==[1'b0]==])
ktpu_mutant(959b09 "operator" ktpu_quantiser_element.sv
  [==[window    = window >> distance[2:0];]==]
  [==[window    = (`KTPU_FAULT(959b09) ? (window << distance[2:0]) : (window >> distance[2:0]));]==]
  [==[window >> distance[2:0]]==] [==[window << distance[2:0]]==])
ktpu_mutant(8afad0 "stuck bit" ktpu_quantiser_scale.sv
  [==[significand = {peak_i[14:10] != 5'd0, peak_i[9:0]};]==]
  [==[significand = (`KTPU_FAULT(8afad0) ? (({peak_i[14:10] != 5'd0, peak_i[9:0]}) & ~(11'd1 << 7)) : ({peak_i[14:10] != 5'd0, peak_i[9:0]}));]==]
  [==[{peak_i[14:10] != 5'd0, peak_i[9:0]}]==] [==[({peak_i[14:10] != 5'd0, peak_i[9:0]}) & ~(11'd1 << 7)]==])
ktpu_mutant(dd0729 "constant" ktpu_quantiser_scale.sv
  [==[exponent    = (peak_i[14:10] == 5'd0) ? 7'sd1 : $signed({2'b00, peak_i[14:10]});]==]
  [==[exponent    = (peak_i[14:10] == 5'd0) ? (`KTPU_FAULT(dd0729) ? (7'sd0) : (7'sd1)) : $signed({2'b00, peak_i[14:10]});]==]
  [==[7'sd1]==] [==[7'sd0]==])
ktpu_mutant(8e9300 "condition" ktpu_quantiser_scale.sv
  [==[if (significand[bit_index]) steps = 4'd10 - 4'(bit_index);]==]
  [==[if ((`KTPU_FAULT(8e9300) ? (1'b0) : (significand[bit_index]))) steps = 4'd10 - 4'(bit_index);]==]
  [==[significand[bit_index]]==] [==[1'b0]==])
ktpu_mutant(9f6879 "operator" ktpu_quantiser_scale.sv
  [==[significand = significand << steps;]==]
  [==[significand = (`KTPU_FAULT(9f6879) ? (significand >> steps) : (significand << steps));]==]
  [==[significand << steps]==] [==[significand >> steps]==])
ktpu_mutant(87b0a0 "off-by-one" ktpu_quantiser_scale.sv
  [==[5'(significand_q > 11'd1512) + 5'(significand_q > 11'd1638) + 5'(significand_q > 11'd1764) +]==]
  [==[5'((`KTPU_FAULT(87b0a0) ? (significand_q >= 11'd1512) : (significand_q > 11'd1512))) + 5'(significand_q > 11'd1638) + 5'(significand_q > 11'd1764) +]==]
  [==[significand_q > 11'd1512]==] [==[significand_q >= 11'd1512]==])
