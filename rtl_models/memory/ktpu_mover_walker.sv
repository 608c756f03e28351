// SPDX-License-Identifier: Apache-2.0
// One of the mover's two six-dimensional affine descriptors and its position (memory.md sections 10.1 and 10.2). No
// register is buffered; sums of index times stride run along, so that a changed stride counts for later steps only.

`include "ktpu_assert.svh"

module ktpu_mover_walker
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
#(
  // Which walker the registers select: 0 source, 1 destination.
  parameter bit Destination = 1'b0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  register_write_t [1:0] write_i,
  // The dimension register as each of the two writes finds it.
  input  logic [1:0][63:0]      dimension_i,

  input  logic                  restart_i,  // back to the first element
  input  logic                  step_i,     // to the next; stays on the last

  // Of the present element.
  output addr_t                 address_o,
  output addr_t                 base_o,
  output logic                  valid_o,    // inside every bounded axis
  output logic                  at_last_o
);

  localparam int unsigned AxisSumWidth  = 34;
  localparam int unsigned PositionWidth = 38;

  // Registers.
  addr_t              base_q;
  logic [2:0]         ndim_q;
  logic [15:0]        count_q [MoverDimensions];  // 0 acts as 1
  logic [31:0]        stride_q [MoverDimensions];
  logic [1:0]         axis_q [MoverDimensions];
  logic signed [15:0] axis_step_q [MoverDimensions];
  logic signed [15:0] axis_base_q [MoverAxes];
  logic [15:0]        extent_q [MoverAxes];       // 0: unbounded

  // Position.
  logic [15:0]                    index_q [MoverDimensions];
  addr_t                          sum_q [MoverDimensions];
  logic signed [AxisSumWidth-1:0] axis_sum_q [MoverDimensions];

  logic [MoverDimensions-1:0] live, last, advance, clear;
  logic [1:0]                 unused;

  always_comb begin : limits
    for (int unsigned d = 0; d < MoverDimensions; d++) begin
      live[d] = 3'(d) < ndim_q;
      last[d] = 17'(index_q[d]) + 17'd1 >= 17'(count_q[d]);
    end
  end

  assign at_last_o = (live & ~last) == '0;

  // The innermost live dimension that is not at its end advances; those inside it start over.
  always_comb begin : carry
    logic ripple;
    ripple  = step_i && !at_last_o;
    advance = '0;
    clear   = '0;
    for (int unsigned i = 0; i < MoverDimensions; i++) begin
      if (live[MoverDimensions-1-i] && ripple) begin
        advance[MoverDimensions-1-i] = !last[MoverDimensions-1-i];
        clear[MoverDimensions-1-i]   = last[MoverDimensions-1-i];
        ripple                       = last[MoverDimensions-1-i];
      end
    end
  end

  always_comb begin : address
    address_o = base_q;
    for (int unsigned d = 0; d < MoverDimensions; d++) begin
      if (live[d]) address_o = address_o + sum_q[d];
    end
  end
  assign base_o = base_q;

  always_comb begin : bounds
    logic signed [PositionWidth-1:0] position;
    valid_o  = 1'b1;
    position = '0;
    for (int unsigned a = 0; a < MoverAxes; a++) begin
      position = PositionWidth'(axis_base_q[a]);
      for (int unsigned d = 0; d < MoverDimensions; d++) begin
        if (live[d] && axis_q[d] == 2'(a + 1)) position = position + PositionWidth'(axis_sum_q[d]);
      end
      if (extent_q[a] != '0 && (position < 0 || position >= PositionWidth'({1'b0, extent_q[a]}))) valid_o = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : registers
    if (!rst_ni) begin
      base_q <= '0;
      ndim_q <= 3'd1;
      for (int unsigned d = 0; d < MoverDimensions; d++) begin
        count_q[d]     <= '0;
        stride_q[d]    <= '0;
        axis_q[d]      <= '0;
        axis_step_q[d] <= '0;
      end
      for (int unsigned a = 0; a < MoverAxes; a++) begin
        axis_base_q[a] <= '0;
        extent_q[a]    <= '0;
      end
    end else begin
      for (int unsigned w = 0; w < 2; w++) begin
        if (write_i[w].valid) begin
          unique case (write_i[w].offset)
            MoverBaseOffset: begin
              if (write_i[w].data[MoverBaseWalkerLsb] == Destination) begin
                base_q <= write_i[w].data[MoverBaseBaseLsb+:MoverBaseBaseWidth];
                ndim_q <= (write_i[w].data[MoverBaseNdimLsb+:MoverBaseNdimWidth] > 3'(MoverDimensions))
                              ? 3'(MoverDimensions) : write_i[w].data[MoverBaseNdimLsb+:MoverBaseNdimWidth];
              end
            end
            MoverAxisOffset: begin
              for (int unsigned d = 0; d < MoverDimensions; d++) begin
                if (dimension_i[w][MoverDimensionWalkerLsb] == Destination &&
                    dimension_i[w][MoverDimensionDimensionLsb+:MoverDimensionDimensionWidth] == 3'(d)) begin
                  count_q[d]     <= dimension_i[w][MoverDimensionCountLsb+:MoverDimensionCountWidth];
                  stride_q[d]    <= dimension_i[w][MoverDimensionStrideLsb+:MoverDimensionStrideWidth];
                  axis_q[d]      <= write_i[w].data[MoverAxisAxisLsb+:MoverAxisAxisWidth];
                  axis_step_q[d] <= write_i[w].data[MoverAxisStepLsb+:MoverAxisStepWidth];
                end
              end
            end
            MoverExtentOffset: begin
              for (int unsigned a = 0; a < MoverAxes; a++) begin
                if (write_i[w].data[MoverExtentWalkerLsb] == Destination &&
                    write_i[w].data[MoverExtentAxisLsb] == 1'(a)) begin
                  axis_base_q[a] <= write_i[w].data[MoverExtentBaseLsb+:MoverExtentBaseWidth];
                  extent_q[a]    <= write_i[w].data[MoverExtentExtentLsb+:MoverExtentExtentWidth];
                end
              end
            end
            default: ;
          endcase
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : position
    for (int unsigned d = 0; d < MoverDimensions; d++) begin
      if (restart_i || clear[d]) begin
        index_q[d]    <= '0;
        sum_q[d]      <= '0;
        axis_sum_q[d] <= '0;
      end else if (advance[d]) begin
        index_q[d]    <= index_q[d] + 16'd1;
        sum_q[d]      <= sum_q[d] + addr_t'(signed'(stride_q[d]));
        axis_sum_q[d] <= axis_sum_q[d] + AxisSumWidth'(axis_step_q[d]);
      end
    end
  end

  assign unused = {^dimension_i[0], ^dimension_i[1]};

  `KTPU_ASSERT(StepOrRestart, !(step_i && restart_i))

endmodule
