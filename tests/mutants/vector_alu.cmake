# SPDX-License-Identifier: Apache-2.0
# Faults in the SystemVerilog of vector_alu: chosen by scripts/mutants.py with seed 1, not written by hand.
#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)
ktpu_mutant(83f21a "operator" ktpu_vector_alu.sv
  [==[s6_d.magnitude = s6_d.magnitude << 16;]==]
  [==[s6_d.magnitude = (`KTPU_FAULT(83f21a) ? (s6_d.magnitude >> 16) : (s6_d.magnitude << 16));]==]
  [==[s6_d.magnitude << 16]==] [==[s6_d.magnitude >> 16]==])
ktpu_mutant(efcaae "constant" ktpu_vector_alu.sv
  [==[valid_q <= '0;]==]
  [==[valid_q <= (`KTPU_FAULT(efcaae) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(81d0c4 "stuck bit" ktpu_vector_alu.sv
  [==[if (valid_q[4]) s5_q <= s5_d;]==]
  [==[if (valid_q[4]) s5_q <= (`KTPU_FAULT(81d0c4) ? ((s5_d) | (93'd1 << 80)) : (s5_d));]==]
  [==[s5_d]==] [==[(s5_d) | (93'd1 << 80)]==])
ktpu_mutant(c722f7 "off-by-one" ktpu_vector_alu.sv
  [==[if (valid_q[Worked-1+i]) done_q[i] <= done_q[i-1];]==]
  [==[if (valid_q[Worked-1+i]) done_q[i] <= done_q[i-(`KTPU_FAULT(c722f7) ? (0) : (1))];]==]
  [==[1]==] [==[0]==])
ktpu_mutant(852b15 "off-by-one" ktpu_vector_alu_pkg.sv
  [==[eq = !unordered && ((a == b) || ((a[22:0] == 23'd0) && (b[22:0] == 23'd0)));]==]
  [==[eq = !unordered && ((a == b) || ((a[22:0] == (`KTPU_FAULT(852b15) ? (23'd1) : (23'd0))) && (b[22:0] == 23'd0)));]==]
  [==[23'd0]==] [==[23'd1]==])
ktpu_mutant(82bb2e "condition" ktpu_vector_alu_pkg.sv
  [==[OpCmpgt: o.a = gt ? One : '0;]==]
  [==[OpCmpgt: o.a = (`KTPU_FAULT(82bb2e) ? (1'b1) : (gt)) ? One : '0;]==]
  [==[gt]==] [==[1'b1]==])
ktpu_mutant(820982 "constant" ktpu_vector_alu_pkg.sv
  [==[s              = '0;]==]
  [==[s              = (`KTPU_FAULT(820982) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(82239a "off-by-one" ktpu_vector_alu_pkg.sv
  [==[end else if (shift < 11'sd0) begin  // the addend dominates]==]
  [==[end else if ((`KTPU_FAULT(82239a) ? (shift <= 11'sd0) : (shift < 11'sd0))) begin  // the addend dominates]==]
  [==[shift < 11'sd0]==] [==[shift <= 11'sd0]==])
ktpu_mutant(83b771 "stuck bit" ktpu_vector_alu_pkg.sv
  [==[s.shift = shift[5:0];]==]
  [==[s.shift = (`KTPU_FAULT(83b771) ? ((shift[5:0]) | (6'd1 << 2)) : (shift[5:0]));]==]
  [==[shift[5:0]]==] [==[(shift[5:0]) | (6'd1 << 2)]==])
ktpu_mutant(83cc1d "condition" ktpu_vector_alu_pkg.sv
  [==[if (s.identity) c0 = ((s.f == SeedInv) || (s.f == SeedRsqrt)) ? 30'sd1048576 : '0;]==]
  [==[if ((`KTPU_FAULT(83cc1d) ? (1'b1) : (s.identity))) c0 = ((s.f == SeedInv) || (s.f == SeedRsqrt)) ? 30'sd1048576 : '0;]==]
  [==[s.identity]==] [==[1'b1]==])
ktpu_mutant(80b214 "stuck bit" ktpu_vector_alu_pkg.sv
  [==[spread         = {s.addend, 64'd0} >> s.shift;]==]
  [==[spread         = (`KTPU_FAULT(80b214) ? (({s.addend, 64'd0} >> s.shift) | (80'd1 << 77)) : ({s.addend, 64'd0} >> s.shift));]==]
  [==[{s.addend, 64'd0} >> s.shift]==] [==[({s.addend, 64'd0} >> s.shift) | (80'd1 << 77)]==])
ktpu_mutant(845398 "operator" ktpu_vector_alu_pkg.sv
  [==[h      = 40'(a.c2) * 40'($signed({1'b0, a.u})) + {{2{a.c1[21]}}, a.c1, 16'd0} + 40'sd32768;]==]
  [==[h      = (`KTPU_FAULT(845398) ? (40'(a.c2) * 40'($signed({1'b0, a.u})) - {{2{a.c1[21]}}, a.c1, 16'd0}) : (40'(a.c2) * 40'($signed({1'b0, a.u})) + {{2{a.c1[21]}}, a.c1, 16'd0})) + 40'sd32768;]==]
  [==[40'(a.c2) * 40'($signed({1'b0, a.u})) + {{2{a.c1[21]}}, a.c1, 16'd0}]==] [==[40'(a.c2) * 40'($signed({1'b0, a.u})) - {{2{a.c1[21]}}, a.c1, 16'd0}]==])
ktpu_mutant(83f4d4 "constant" ktpu_vector_alu_pkg.sv
  [==[m     = '0;]==]
  [==[m     = (`KTPU_FAULT(83f4d4) ? ('1) : ('0));]==]
  [==['0]==] [==['1]==])
ktpu_mutant(80b784 "operator" ktpu_vector_alu_pkg.sv
  [==[up          = m.magnitude[31] && ((m.magnitude[30:0] != '0) || m.out.sticky || m.magnitude[32]);]==]
  [==[up          = (`KTPU_FAULT(80b784) ? (m.magnitude[31] || ((m.magnitude[30:0] != '0) || m.out.sticky || m.magnitude[32])) : (m.magnitude[31] && ((m.magnitude[30:0] != '0) || m.out.sticky || m.magnitude[32])));]==]
  [==[m.magnitude[31] && ((m.magnitude[30:0] != '0) || m.out.sticky || m.magnitude[32])]==] [==[m.magnitude[31] || ((m.magnitude[30:0] != '0) || m.out.sticky || m.magnitude[32])]==])
