// SPDX-License-Identifier: Apache-2.0
// The way of the mover's writes past an interlink (memory.md section 11.6), with an interlink that is never used: every
// write address passes a register of its own, one cycle more. Without an interlink: wires.

`include "ktpu_assert.svh"

module ktpu_memory_split
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     enable_i,  // quasi-static: there is an interlink

  input  request_t up_i,      // of the mover
  output reply_t   up_o,
  output request_t down_o,    // to the DRAM path
  input  reply_t   down_i
);

  logic   local_d, local_q;  // a burst runs on the DRAM path
  logic   aw_valid_d, aw_valid_q;
  addr_t  addr_q;
  beats_t beats_q;
  beats_t left_d, left_q;
  logic   take;

  assign take = enable_i && !local_q && up_i.aw_valid;

  always_comb begin
    local_d    = local_q;
    aw_valid_d = aw_valid_q && !down_i.aw_grant;
    left_d     = left_q;
    if (take) begin
      local_d    = 1'b1;
      aw_valid_d = 1'b1;
      left_d     = up_i.aw_beats;
    end else if (local_q && down_i.w_taken) begin
      left_d  = left_q - beats_t'(1);
      local_d = left_q != beats_t'(1);
    end
  end

  always_comb begin : wires
    up_o   = down_i;
    down_o = up_i;
    if (enable_i) begin
      up_o.aw_grant   = take;
      down_o.aw_valid = aw_valid_q;
      down_o.aw_addr  = addr_q;
      down_o.aw_beats = beats_q;
      down_o.w_valid  = up_i.w_valid && local_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      local_q    <= 1'b0;
      aw_valid_q <= 1'b0;
    end else begin
      local_q    <= local_d;
      aw_valid_q <= aw_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin : burst
    left_q <= left_d;
    if (take) begin
      addr_q  <= up_i.aw_addr;
      beats_q <= up_i.aw_beats;
    end
  end

  `KTPU_ASSERT(EnableIsStatic, $stable(enable_i))

endmodule
