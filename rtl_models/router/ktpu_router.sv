// SPDX-License-Identifier: Apache-2.0
// The mesh router (fabric.md sections 6 and 7). Ports in the order north, east, south, west, local. Every output
// is a register or a function of registers.

`include "ktpu_assert.svh"

module ktpu_router
  import ktpu_pkg::*;
  import ktpu_router_pkg::*;
#(
  // Largest fifo_depth_i; sizes the storage of the five input FIFOs.
  parameter int unsigned MaxFifoDepth = 512,
  localparam int unsigned DepthWidth = $clog2(MaxFifoDepth + 1)
) (
  input  logic                  clk_i,
  // Asynchronous assert, low; the first cycle with rst_ni high is cycle 0 of the arbiter pointers.
  input  logic                  rst_ni,

  // Quasi-static: change only while rst_ni is low. Tied to constants in a chip.
  input  place_t                place_i,
  input  logic [DepthWidth-1:0] fifo_depth_i,

  input  flit_t [NumPorts-1:0]  in_data_i,
  input  port_mask_t            in_valid_i,
  output port_mask_t            in_busy_o,

  output flit_t [NumPorts-1:0]  out_data_o,
  output port_mask_t            out_valid_o,
  input  port_mask_t            out_busy_i
);

  flit_t      [NumPorts-1:0] hold;
  port_mask_t [NumPorts-1:0] request;  // [input][output]
  port_mask_t [NumPorts-1:0] wanted;   // [output][input]
  port_mask_t [NumPorts-1:0] grant;    // [output][input]
  port_mask_t                granted;  // [input]

  for (genvar p = 0; p < NumPorts; p++) begin : gen_inport
    ktpu_router_inport #(
      .Port     (port_e'(p)),
      .MaxDepth (MaxFifoDepth)
    ) u_inport (
      .clk_i,
      .rst_ni,
      .place_i,
      .depth_i    (fifo_depth_i),
      .in_data_i  (in_data_i[p]),
      .in_valid_i (in_valid_i[p]),
      .in_busy_o  (in_busy_o[p]),
      .hold_o     (hold[p]),
      .request_o  (request[p]),
      .grant_i    (granted[p])
    );
  end

  always_comb begin
    granted = '0;
    for (int unsigned o = 0; o < NumPorts; o++) begin
      granted |= grant[o];
      for (int unsigned i = 0; i < NumPorts; i++) begin
        wanted[o][i] = request[i][o];
      end
    end
  end

  for (genvar p = 0; p < NumPorts; p++) begin : gen_outport
    ktpu_router_outport u_outport (
      .clk_i,
      .rst_ni,
      .request_i   (wanted[p]),
      .hold_i      (hold),
      .grant_o     (grant[p]),
      .out_data_o  (out_data_o[p]),
      .out_valid_o (out_valid_o[p]),
      .out_busy_i  (out_busy_i[p])
    );
  end

  `KTPU_ASSERT_INIT(FlitIs288Bits, FlitWidth == 288)
  `KTPU_ASSERT(StandsInTheGrid, place_i.x >= place_i.x_lo && place_i.x <= place_i.x_hi &&
                                place_i.y >= place_i.y_lo && place_i.y <= place_i.y_hi)
  `KTPU_ASSERT(PlaceIsStatic, $stable(place_i) && $stable(fifo_depth_i))

endmodule
