// SPDX-License-Identifier: Apache-2.0
// Types and the routing rule shared by the router's modules (fabric.md section 6). The flit and the machine's
// numbers are in the generated ktpu_pkg.

package ktpu_router_pkg;

  import ktpu_pkg::*;

  typedef logic [NumPorts-1:0] port_mask_t;

  // Bit positions of requests and the arbiter's order.
  typedef enum logic [2:0] {
    North = 3'd0,
    East  = 3'd1,
    South = 3'd2,
    West  = 3'd3,
    Local = 3'd4
  } port_e;

  // Where the router stands, and the rectangle that destinations are clamped into. Quasi-static.
  typedef struct packed {
    pos_t x;
    pos_t y;
    pos_t x_lo;
    pos_t x_hi;
    pos_t y_lo;
    pos_t y_hi;
  } place_t;

  function automatic pos_t clamp(pos_t value, pos_t lo, pos_t hi);
    if (value < lo) return lo;
    if (value > hi) return hi;
    return value;
  endfunction

  // The one output a flit for (dst_x, dst_y) leaves by: x before y, both clamped, and the hop out of the
  // rectangle last.
  function automatic port_mask_t route(place_t place, pos_t dst_x, pos_t dst_y);
    pos_t       cx, cy;
    logic       here;
    port_mask_t request;
    cx      = clamp(dst_x, place.x_lo, place.x_hi);
    cy      = clamp(dst_y, place.y_lo, place.y_hi);
    here    = (cx == place.x) && (cy == place.y);
    request = '0;
    if (cx < place.x || (here && dst_x < place.x)) begin
      request[West] = 1'b1;
    end else if (cx > place.x || (here && dst_x > place.x)) begin
      request[East] = 1'b1;
    end else if (cy < place.y || (here && dst_y < place.y)) begin
      request[North] = 1'b1;
    end else if (cy > place.y || (here && dst_y > place.y)) begin
      request[South] = 1'b1;
    end else begin
      request[Local] = 1'b1;
    end
    return request;
  endfunction

  // The outputs that a flit which arrived on port `from` can be granted. What dimension order never does
  // between routers is left out; a flit that asks for it nevertheless waits for ever.
  function automatic port_mask_t allowed(place_t place, port_e from);
    logic       n_router, e_router, s_router, w_router;
    port_mask_t mask;
    n_router = place.y > place.y_lo;
    s_router = place.y < place.y_hi;
    w_router = place.x > place.x_lo;
    e_router = place.x < place.x_hi;
    mask     = '1;
    unique case (from)
      North: begin
        mask[North] = !n_router;
        mask[East]  = !(n_router && e_router);
        mask[West]  = !(n_router && w_router);
      end
      South: begin
        mask[South] = !s_router;
        mask[East]  = !(s_router && e_router);
        mask[West]  = !(s_router && w_router);
      end
      West:    mask[West] = !w_router;
      East:    mask[East] = !e_router;
      default: ;
    endcase
    return mask;
  endfunction

endpackage
