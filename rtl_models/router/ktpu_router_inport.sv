// SPDX-License-Identifier: Apache-2.0
// One input of the router (fabric.md section 7.1): FIFO, route computation, and one holding slot that requests
// an output. One slot an input, so a blocked flit blocks everything behind it.

`include "ktpu_assert.svh"

module ktpu_router_inport
  import ktpu_pkg::*;
  import ktpu_router_pkg::*;
#(
  // Which input this is; selects the turns it may make.
  parameter port_e Port = Local,
  // Largest FIFO depth, sizes the storage.
  parameter int unsigned MaxDepth = 512,
  localparam int unsigned DepthWidth = $clog2(MaxDepth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  place_t                place_i,
  input  logic [DepthWidth-1:0] depth_i,

  input  flit_t                 in_data_i,
  input  logic                  in_valid_i,
  output logic                  in_busy_o,

  // The held flit and the outputs it asks for, at most one.
  output flit_t                 hold_o,
  output port_mask_t            request_o,
  // The held flit leaves in this cycle.
  input  logic                  grant_i
);

  flit_t      head;
  logic       head_valid;
  logic       load;
  flit_t      hold_q;
  port_mask_t request_d, request_q;  // one-hot; zero: the slot is empty

  ktpu_fifo #(
    .Width       (FlitWidth),
    .MaxDepth    (MaxDepth),
    .Latency     (FifoLatency),
    .Extra       (FifoExtra),
    .ResetCycles (FifoReset)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .depth_i,
    .wvalid_i (in_valid_i),
    .wdata_i  (in_data_i),
    .busy_o   (in_busy_o),
    .rvalid_o (head_valid),
    .rdata_o  (head),
    .rready_i (load)
  );

  assign load      = head_valid && ((request_q == '0) || grant_i);
  assign hold_o    = hold_q;
  assign request_o = request_q & allowed(place_i, Port);

  always_comb begin
    request_d = request_q;
    if (load) begin
      request_d = route(place_i, head.dst_x, head.dst_y);
    end else if (grant_i) begin
      request_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_q <= '0;
    end else begin
      request_q <= request_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) hold_q <= head;
  end

  // The sender keeps a refused flit on the wires (fabric.md section 5, L1).
  `KTPU_ASSERT(RefusedFlitStays, in_valid_i && in_busy_o |=> in_valid_i && $stable(in_data_i))
  `KTPU_ASSERT(RequestIsOneHot, $onehot0(request_q))
  `KTPU_ASSERT(GrantedOnlyOnRequest, grant_i |-> request_o != '0)

endmodule
