// SPDX-License-Identifier: Apache-2.0
// A router written from its contract alone (rtl_models/router/README.md): the ports are the project's, nothing else
// is. Ports in the order north, east, south, west, local.
module my_router #(
  parameter int unsigned MaxFifoDepth = 512
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic [23:0]       place_i,       // x, y, x_lo, x_hi, y_lo, y_hi, four bits each
  input  logic [9:0]        fifo_depth_i,

  input  logic [4:0][287:0] in_data_i,
  input  logic [4:0]        in_valid_i,
  output logic [4:0]        in_busy_o,

  output logic [4:0][287:0] out_data_o,
  output logic [4:0]        out_valid_o,
  input  logic [4:0]        out_busy_i
);

  localparam int unsigned North = 0, East = 1, South = 2, West = 3, Local = 4;

  logic [3:0] x, y, x_lo, x_hi, y_lo, y_hi;
  assign {x, y, x_lo, x_hi, y_lo, y_hi} = place_i;

  logic [4:0][287:0] flit;
  logic [4:0]        waiting, take;
  logic [4:0][4:0]   wants;   // [input][output]
  logic [4:0][4:0]   choice;  // [output][input]
  logic [2:0]        turn_q;  // the input that is served first in this cycle

  // Where a flit goes, with the turns left out that dimension order never makes.
  function automatic logic [4:0] target(logic [3:0] dst_x, logic [3:0] dst_y, int unsigned from);
    logic       west, east, north, south, outward;
    logic [4:0] out;
    // Outside of the grid counts only when the row and the column are reached.
    outward = (dst_x <= x || x == x_hi) && (dst_x >= x || x == x_lo) &&
              (dst_y <= y || y == y_hi) && (dst_y >= y || y == y_lo);
    west  = dst_x < x && (x > x_lo || outward);
    east  = dst_x > x && (x < x_hi || outward);
    north = dst_y < y && (y > y_lo || outward);
    south = dst_y > y && (y < y_hi || outward);
    out = '0;
    if (west) out[West] = 1'b1;
    else if (east) out[East] = 1'b1;
    else if (north) out[North] = 1'b1;
    else if (south) out[South] = 1'b1;
    else out[Local] = 1'b1;
    if (from == North && y > y_lo) begin
      out[North] = 1'b0;
      if (x < x_hi) out[East] = 1'b0;
      if (x > x_lo) out[West] = 1'b0;
    end
    if (from == South && y < y_hi) begin
      out[South] = 1'b0;
      if (x < x_hi) out[East] = 1'b0;
      if (x > x_lo) out[West] = 1'b0;
    end
    if (from == East && x < x_hi) out[East] = 1'b0;
    if (from == West && x > x_lo) out[West] = 1'b0;
    return out;
  endfunction

  // The first of `asking` from `first` on, round the circle.
  function automatic logic [4:0] round_robin(logic [4:0] asking, logic [2:0] first);
    logic [9:0] twice, lowest;
    twice  = {asking, asking} & (10'h3ff << first);
    lowest = twice & (~twice + 10'd1);
    return lowest[4:0] | lowest[9:5];
  endfunction

  for (genvar i = 0; i < 5; i++) begin : gen_input
    my_router_input #(
      .MaxFifoDepth (MaxFifoDepth)
    ) u_input (
      .clk_i,
      .rst_ni,
      .depth_i   (fifo_depth_i),
      .data_i    (in_data_i[i]),
      .valid_i   (in_valid_i[i]),
      .busy_o    (in_busy_o[i]),
      .flit_o    (flit[i]),
      .waiting_o (waiting[i]),
      .take_i    (take[i])
    );
    assign wants[i] = waiting[i] ? target(flit[i][287:284], flit[i][283:280], i) : 5'd0;
  end

  always_comb begin
    take   = '0;
    choice = '0;
    for (int unsigned o = 0; o < 5; o++) begin
      logic [4:0] asking;
      for (int unsigned i = 0; i < 5; i++) asking[i] = wants[i][o];
      if (!(out_valid_o[o] && out_busy_i[o])) choice[o] = round_robin(asking, turn_q);
      take |= choice[o];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q      <= 3'd0;
      out_valid_o <= '0;
    end else begin
      turn_q <= (turn_q == 3'd4) ? 3'd0 : turn_q + 3'd1;
      for (int unsigned o = 0; o < 5; o++) begin
        if (!(out_valid_o[o] && out_busy_i[o])) out_valid_o[o] <= (choice[o] != 5'd0);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned o = 0; o < 5; o++) begin
      for (int unsigned i = 0; i < 5; i++) begin
        if (choice[o][i]) out_data_o[o] <= flit[i];
      end
    end
  end

endmodule
