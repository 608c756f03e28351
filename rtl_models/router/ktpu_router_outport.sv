// SPDX-License-Identifier: Apache-2.0
// One output of the router (fabric.md section 7.2): an arbiter whose pointer advances in every cycle, granted or
// not, and an output register.

`include "ktpu_assert.svh"

module ktpu_router_outport
  import ktpu_pkg::*;
  import ktpu_router_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // Bit p: the flit held by input p wants this output.
  input  port_mask_t           request_i,
  input  flit_t [NumPorts-1:0] hold_i,
  // The input whose flit enters the output register in this cycle, one-hot or zero.
  output port_mask_t           grant_o,

  output flit_t                out_data_o,
  output logic                 out_valid_o,
  input  logic                 out_busy_i
);

  localparam int unsigned PtrWidth = $clog2(NumPorts);

  logic [PtrWidth-1:0] pointer_d, pointer_q;
  port_mask_t          select;
  flit_t               selected;
  logic                room;
  flit_t               data_q;
  logic                valid_d, valid_q;

  assign room    = !(valid_q && out_busy_i);
  assign grant_o = room ? select : '0;
  assign valid_d = room ? (select != '0) : valid_q;

  assign pointer_d = (pointer_q == PtrWidth'(NumPorts - 1)) ? '0 : pointer_q + PtrWidth'(1);

  ktpu_arbiter #(
    .Requests (NumPorts)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .request_i,
    .first_i (pointer_q),
    .grant_o (select)
  );

  always_comb begin : multiplex
    selected = '0;
    for (int unsigned p = 0; p < NumPorts; p++) begin
      if (select[p]) selected |= hold_i[p];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pointer_q <= '0;
      valid_q   <= 1'b0;
    end else begin
      pointer_q <= pointer_d;
      valid_q   <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (room && select != '0) data_q <= selected;
  end

  assign out_data_o  = data_q;
  assign out_valid_o = valid_q;

  `KTPU_ASSERT(GrantIsOneHot, $onehot0(grant_o))
  `KTPU_ASSERT(PointerIsInRange, pointer_q < PtrWidth'(NumPorts))
  // A refused flit stays on the wires (fabric.md section 5, L1).
  `KTPU_ASSERT(RefusedFlitStays, out_valid_o && out_busy_i |=> out_valid_o && $stable(out_data_o))

endmodule
