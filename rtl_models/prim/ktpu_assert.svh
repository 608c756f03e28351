// SPDX-License-Identifier: Apache-2.0
// Assertions with a default clock and reset. Every module that uses them has clk_i and rst_ni.
//
//   `KTPU_ASSERT(Name, property)        holds at every rising edge with reset high
//   `KTPU_ASSERT_INIT(Name, condition)  holds for the parameters, at elaboration
//
// Synthesis defines SYNTHESIS and sees nothing of them.

`ifndef KTPU_ASSERT_SVH
`define KTPU_ASSERT_SVH

`ifdef SYNTHESIS
`define KTPU_ASSERT(name, property_)
`define KTPU_ASSERT_INIT(name, condition_)
`else
`define KTPU_ASSERT(name, property_) \
  name: assert property (@(posedge clk_i) disable iff (!rst_ni) (property_)) \
    else $error("violated: %s", `"property_`");
`define KTPU_ASSERT_INIT(name, condition_) \
  initial begin : name \
    if (!(condition_)) $fatal(1, "%m: violated: %s", `"condition_`"); \
  end
`endif

`endif
