// SPDX-License-Identifier: Apache-2.0
// What the stages of a lane's ALU do (vector.md section 6). Tasks, not functions, and not inlined: Verilator makes one
// copy of them for all lanes.

package ktpu_vector_alu_pkg;

  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
  import ktpu_seed_pkg::*;

  typedef enum logic [1:0] {
    SeedExp2  = 2'd0,
    SeedLog2  = 2'd1,
    SeedInv   = 2'd2,
    SeedRsqrt = 2'd3
  } seed_e;

  // Operands of the multiply-add, or of a seed function.
  typedef struct packed {
    logic  seed;
    seed_e f;
    num_t  a;
    num_t  b;
    num_t  c;
  } operands_t;

  // What is known of the result before its magnitude: carried along.
  typedef struct packed {
    logic               special;   // the result is `value`, whatever the magnitude
    num_t               value;
    logic               sign;
    logic               cancel;    // a magnitude of zero is +0
    logic signed [10:0] eb;        // weight of bit 0 of the magnitude: 2^(eb-127)
    logic               sticky;
  } outcome_t;

  typedef struct packed {
    outcome_t           out;
    logic               seed;
    // Multiply-add.
    logic               negative;      // the signs of product and addend differ
    logic               product_sign;
    logic [31:0]        product;
    logic [15:0]        addend;
    logic [5:0]         shift;
    // Seed.
    seed_e              f;
    logic [5:0]         index;
    logic [11:0]        u;
    logic               identity;      // an exact power of two
    logic signed [8:0]  added;         // to the constant coefficient, units of 1.0
  } split_t;

  typedef struct packed {
    outcome_t           out;
    logic               seed;
    logic               negative;
    logic               product_sign;
    logic               shifted;
    logic [31:0]        product;
    logic [47:0]        addend;
    logic               log2;
    logic [11:0]        u;
    logic signed [29:0] c0;
    logic signed [21:0] c1;
    logic signed [21:0] c2;
  } aligned_t;

  typedef struct packed {
    outcome_t           out;
    logic               seed;
    logic               flip;          // the sum is negative
    logic [47:0]        sum;
    logic               log2;
    logic [11:0]        u;
    logic signed [29:0] c0;
    logic signed [23:0] h;
  } sum_t;

  typedef struct packed {
    outcome_t    out;
    logic [47:0] magnitude;
    logic [5:0]  zeros;                // leading, shifted out so far
  } magnitude_t;

  function automatic logic is_zero(num_t v);
    is_zero = v[22:15] == 8'd0;
  endfunction
  function automatic logic is_inf(num_t v);
    is_inf = v[22:0] == PosInf[22:0];
  endfunction
  function automatic logic is_nan(num_t v);
    is_nan = (v[22:15] == 8'd255) && (v[14:0] != 15'd0);
  endfunction

  // Section 6.4.
  task automatic select(input vector_opcode_e op, input num_t a, input num_t b, input num_t c, output operands_t o);
    /* verilator no_inline_task */
    logic      unordered, eq, lt, gt;
    unordered = is_nan(a) || is_nan(b);
    eq = !unordered && ((a == b) || ((a[22:0] == 23'd0) && (b[22:0] == 23'd0)));
    if (a[23] != b[23]) begin
      lt = a[23];
    end else begin
      lt = a[23] ? (a[22:0] > b[22:0]) : (a[22:0] < b[22:0]);
    end
    lt = lt && !unordered && !eq;
    gt = !lt && !unordered && !eq;

    o   = '0;
    o.a = a;
    o.b = One;
    case (op)
      OpNeg:   o.a = {!a[23], a[22:0]};
      OpAbs:   o.a = {1'b0, a[22:0]};
      OpAdd:   o.c = c;
      OpSub:   o.c = {!c[23], c[22:0]};
      OpMul:   o.b = b;
      OpFma: begin
        o.b = b;
        o.c = c;
      end
      OpFnma: begin
        o.a = {!a[23], a[22:0]};
        o.b = b;
        o.c = c;
      end
      OpMax:   o.a = lt ? b : a;
      OpMin:   o.a = gt ? b : a;
      OpSel:   o.a = (c[22:0] != 23'd0) ? a : b;
      OpCmplt: o.a = lt ? One : '0;
      OpCmpgt: o.a = gt ? One : '0;
      OpCmpeq: o.a = eq ? One : '0;
      OpExp2:  o.seed = 1'b1;
      OpLog2: begin
        o.seed = 1'b1;
        o.f    = SeedLog2;
      end
      // The two numbers behind the arithmetic ones reach the ALU in a chain group (quirk V10).
      OpInv, OpCvt: begin
        o.seed = 1'b1;
        o.f    = SeedInv;
      end
      OpRsqrt, OpRed: begin
        o.seed = 1'b1;
        o.f    = SeedRsqrt;
      end
      default: ;  // VMOV
    endcase
  endtask

  // Section 6.3, steps 1 to 3.
  task automatic split_fma(input operands_t o, output split_t s);
    /* verilator no_inline_task */
    logic               zero, addend_zero, product_inf, product_nan;
    logic signed [10:0] ea, eb, ec, shift;
    zero        = is_zero(o.a) || is_zero(o.b);
    addend_zero = is_zero(o.c);
    product_inf = is_inf(o.a) || is_inf(o.b);
    product_nan = is_nan(o.a) || is_nan(o.b) || (product_inf && zero);
    ea = zero ? 11'sd1 : $signed({3'd0, o.a[22:15]});
    eb = zero ? 11'sd1 : $signed({3'd0, o.b[22:15]});
    ec = $signed({3'd0, o.c[22:15]});

    s              = '0;
    s.product_sign = o.a[23] ^ o.b[23];
    s.negative     = s.product_sign ^ o.c[23];
    s.out.sign     = o.c[23];
    s.out.cancel   = s.negative && !zero && !addend_zero;
    s.addend       = {1'b1, o.c[14:0]};
    s.product      = zero ? '0 : {16'd0, 1'b1, o.a[14:0]} * {16'd0, 1'b1, o.b[14:0]};
    s.out.eb       = ea + eb - 11'sd157;
    shift          = 11'sd17 + ea + eb - 11'sd127 - ec;
    if (addend_zero || (shift > 11'sd48)) begin
      s.shift = 6'd48;
    end else if (shift < 11'sd0) begin  // the addend dominates
      s.shift   = 6'd0;
      s.product = '0;
      s.out.eb  = ec - 11'sd47;
    end else begin
      s.shift = shift[5:0];
    end

    s.out.special = (o.a[22:15] == 8'd255) || (o.b[22:15] == 8'd255) || (o.c[22:15] == 8'd255);
    if (product_nan || is_nan(o.c) || (product_inf && is_inf(o.c) && s.negative)) begin
      s.out.value = NaN;
    end else begin
      s.out.value = {product_inf ? s.product_sign : o.c[23], PosInf[22:0]};
    end
  endtask

  // Section 6.5.
  task automatic split_seed(input operands_t o, input logic wrap, output split_t s);
    /* verilator no_inline_task */
    logic [7:0]         distance;
    logic [4:0]         shift;
    logic [25:0]        t;
    logic [24:0]        r, v;
    logic signed [10:0] e;
    logic               odd;
    e        = $signed({3'd0, o.a[22:15]}) - 11'sd127;
    odd      = !o.a[15];  // of the exponent without its bias
    distance = 8'd134 - o.a[22:15];
    shift    = (distance > 8'd26) ? 5'd26 : distance[4:0];
    t        = {1'b1, o.a[14:0], 10'd0} >> shift;
    r        = t[25:1] + 25'(t[0]);
    v        = o.a[23] ? -r : r;

    s          = '0;
    s.seed     = 1'b1;
    s.f        = o.f;
    s.index    = {1'b0, o.a[14:10]};
    s.u        = {o.a[9:0], 2'd0};
    s.identity = o.a[14:0] == 15'd0;
    s.out.eb   = 11'sd107;
    case (o.f)
      SeedExp2: begin
        s.index    = {1'b0, v[16:12]};
        s.u        = v[11:0];
        s.identity = v[16:0] == 17'd0;
        s.added    = 9'sd1;
        s.out.eb   = $signed({{3{v[24]}}, v[24:17]}) + 11'sd107;
        if (o.a[22:15] > (wrap ? 8'd134 : 8'd133)) begin
          s.out.special = 1'b1;
          s.out.value   = is_nan(o.a) ? NaN : o.a[23] ? '0 : PosInf;
        end
      end
      SeedLog2: begin
        s.added = e[8:0];
        if (is_zero(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = NegInf;
        end else if (is_nan(o.a) || o.a[23]) begin
          s.out.special = 1'b1;
          s.out.value   = NaN;
        end else if (is_inf(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = PosInf;
        end
      end
      SeedInv: begin
        s.out.sign = o.a[23];
        s.out.eb   = 11'sd107 - e;
        if (is_nan(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = NaN;
        end else if (is_zero(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = {o.a[23], PosInf[22:0]};
        end else if (is_inf(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = {o.a[23], 23'd0};
        end
      end
      default: begin
        s.index[5] = odd;
        s.identity = s.identity && !odd;
        s.out.eb   = 11'sd107 - (e >>> 1);
        if (is_zero(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = PosInf;
        end else if (is_nan(o.a) || o.a[23]) begin
          s.out.special = 1'b1;
          s.out.value   = NaN;
        end else if (is_inf(o.a)) begin
          s.out.special = 1'b1;
          s.out.value   = '0;
        end
      end
    endcase
  endtask

  // Section 6.3, step 4; coefficients of section 6.5.
  task automatic align(input split_t s, output aligned_t a);
    /* verilator no_inline_task */
    logic [79:0]        spread;
    seed_t              c;
    logic signed [29:0] c0;
    a              = '0;
    a.out          = s.out;
    a.seed         = s.seed;
    if (s.seed) begin
      c      = seed(s.f, s.index);
      c0     = 30'(c.c0);
      if (s.identity) c0 = ((s.f == SeedInv) || (s.f == SeedRsqrt)) ? 30'sd1048576 : '0;
      a.c0   = c0 + $signed({s.added[8], s.added, 20'd0});
      a.c1   = c.c1;
      a.c2   = c.c2;
      a.u    = s.u;
      a.log2 = s.f == SeedLog2;
    end else begin
      spread         = {s.addend, 64'd0} >> s.shift;
      a.addend       = spread[79:32];
      a.out.sticky   = spread[31:0] != 32'd0;
      a.shifted      = s.shift != 6'd0;
      a.product      = s.product;
      a.negative     = s.negative;
      a.product_sign = s.product_sign;
    end
  endtask

  // Steps 5 to 7, first half.
  task automatic add(input aligned_t a, output sum_t s);
    /* verilator no_inline_task */
    logic signed [39:0] h;
    s      = '0;
    s.out  = a.out;
    s.seed = a.seed;
    if (a.seed) begin
      h      = 40'(a.c2) * 40'($signed({1'b0, a.u})) + {{2{a.c1[21]}}, a.c1, 16'd0} + 40'sd32768;
      s.h    = h[39:16];
      s.c0   = a.c0;
      s.u    = a.u;
      s.log2 = a.log2;
    end else begin
      s.sum  = a.negative ? a.addend - 48'(a.product) : a.addend + 48'(a.product);
      s.flip = a.negative && a.shifted && s.sum[47];
      if (!a.negative || s.flip) s.out.sign = a.product_sign;
    end
  endtask

  // Second half.
  task automatic absolute(input sum_t s, output magnitude_t m);
    /* verilator no_inline_task */
    logic signed [47:0] f;
    logic signed [31:0] value;
    logic [47:0]        opposite;
    m     = '0;
    m.out = s.out;
    if (s.seed) begin
      f           = 48'(s.h) * 48'($signed({1'b0, s.u})) + {{2{s.c0[29]}}, s.c0, 16'd0} + 48'sd32768;
      value       = f[47:16];
      m.magnitude = 48'($unsigned(value[31] ? -value : value));
      if (s.log2) m.out.sign = value[31];
    end else begin
      opposite    = -s.sum;
      m.magnitude = s.flip ? {15'd0, opposite[32:0]} : s.sum;
    end
  endtask

  // Section 6.2.
  function automatic num_t pack(magnitude_t m);
    /* verilator no_inline_task */
    logic [16:0]        significand;
    logic               up;
    logic signed [10:0] exponent;
    up          = m.magnitude[31] && ((m.magnitude[30:0] != '0) || m.out.sticky || m.magnitude[32]);
    significand = {1'b0, m.magnitude[47:32]} + 17'(up);
    exponent    = 11'sd47 - $signed({5'd0, m.zeros}) + m.out.eb + $signed({10'd0, significand[16]});
    if (m.out.special) begin
      pack = m.out.value;
    end else if (!m.magnitude[47]) begin
      pack = {m.out.sign && !m.out.cancel, 23'd0};
    end else if (exponent >= 11'sd255) begin
      pack = {m.out.sign, PosInf[22:0]};
    end else if (exponent <= 11'sd0) begin
      pack = {m.out.sign, 23'd0};
    end else begin
      pack = {m.out.sign, exponent[7:0], significand[16] ? 15'd0 : significand[14:0]};
    end
  endfunction

endpackage
