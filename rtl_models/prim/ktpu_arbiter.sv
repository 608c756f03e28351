// SPDX-License-Identifier: Apache-2.0
// Round robin: of the requests, the first in the cyclic order that starts at a pointer. The pointer is the user's: the
// router's runs freely, the memory agent's follows the winner (fabric.md section 7.2, memory.md sections 2 and 7.3).
// Combinational; clock and reset are for the assertions.

`include "ktpu_assert.svh"

module ktpu_arbiter #(
  // Requesters, at least 1.
  parameter int unsigned Requests = 5,
  localparam int unsigned FirstWidth = (Requests < 2) ? 1 : $clog2(Requests)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [Requests-1:0]   request_i,
  input  logic [FirstWidth-1:0] first_i,  // below Requests
  // One-hot, or zero without a request.
  output logic [Requests-1:0]   grant_o
);

  logic [Requests-1:0] candidates;

  always_comb begin
    candidates = request_i & ({Requests{1'b1}} << first_i);
    if (candidates == '0) candidates = request_i;
    grant_o = candidates & (~candidates + Requests'(1));
  end

  `KTPU_ASSERT_INIT(RequestsIsSupported, Requests >= 1)
  `KTPU_ASSERT(FirstIsInRange, 32'(first_i) < Requests)
  `KTPU_ASSERT(GrantsOneRequest, $onehot0(grant_o) && (grant_o & ~request_i) == '0)

endmodule
