// SPDX-License-Identifier: Apache-2.0
// Four units in cascade: unit c gets its K slice 2 * c cycles after unit 0 (cluster.md section 13.3). From the
// operands to the partial sums it takes Cascade cycles, the cycles the units do not need in a delay at the end.

`include "ktpu_assert.svh"

module ktpu_mac_array
  import ktpu_pkg::*;
  import ktpu_cluster_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  input  logic [EntryWidth-1:0]  a_i,
  input  logic [EntryWidth-1:0]  b_i,
  // Cascade cycles later.
  output logic                   valid_o,
  output logic [PartsWidth-1:0]  parts_o,
  output logic [ScalesWidth-1:0] a_scales_o,
  output logic [ScalesWidth-1:0] b_scales_o
);

  localparam int unsigned UnitCycles = 2;
  localparam int unsigned Used       = UnitCycles * NumSlices;

  logic [Cascade-1:0]    valid_q;  // bit k: operands came k + 1 cycles ago
  logic [Cascade:0]      at;
  logic [SliceWidth-1:0] a [NumSlices];
  logic [SliceWidth-1:0] b [NumSlices];
  logic [PartsWidth-1:0] sums [NumSlices+1];

  assign at      = {valid_q, valid_i};
  assign valid_o = valid_q[Cascade-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= at[Cascade-1:0];
    end
  end

  assign a[0]    = a_i[SliceWidth-1:0];
  assign b[0]    = b_i[SliceWidth-1:0];
  assign sums[0] = '0;

  for (genvar c = 1; c < NumSlices; c++) begin : gen_delay
    ktpu_delay #(.Width (2 * SliceWidth), .Cycles (UnitCycles * c)) u_delay (
      .clk_i, .rst_ni,
      .valid_i (valid_i),
      .data_i  ({a_i[SliceWidth*c+:SliceWidth], b_i[SliceWidth*c+:SliceWidth]}),
      .data_o  ({a[c], b[c]})
    );
  end

  for (genvar c = 0; c < NumSlices; c++) begin : gen_unit
    ktpu_mac_slice u_slice (
      .clk_i,
      .valid_i (at[UnitCycles*c]),
      .a_i     (a[c]),
      .b_i     (b[c]),
      .sums_i  (sums[c]),
      .add_i   (at[UnitCycles*c+1]),
      .sums_o  (sums[c+1])
    );
  end

  ktpu_delay #(.Width (PartsWidth), .Cycles (Cascade - Used)) u_parts (
    .clk_i, .rst_ni,
    .valid_i (at[Used]),
    .data_i  (sums[NumSlices]),
    .data_o  (parts_o)
  );

  ktpu_delay #(.Width (2 * ScalesWidth), .Cycles (Cascade)) u_scales (
    .clk_i, .rst_ni,
    .valid_i (valid_i),
    .data_i  ({a_i[ElementWidth+:ScalesWidth], b_i[ElementWidth+:ScalesWidth]}),
    .data_o  ({a_scales_o, b_scales_o})
  );

  `KTPU_ASSERT_INIT(UnitsFitInTheCascade, Cascade >= Used + 2)

endmodule
