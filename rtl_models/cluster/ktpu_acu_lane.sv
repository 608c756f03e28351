// SPDX-License-Identifier: Apache-2.0
// One lane of the accumulator (number-formats.md sections 7 to 9, MW = 14). Counting the command's cycle as 0:
// scale 0 -> 1, leading one 1 -> 2, shift 2 -> 3, round 3 -> 4, align 4 -> 5 (the tile's value arrives in 4),
// add 5 -> 6, round and write in 6, output register 7, FP16 register 8. stage_i[n]: a command is in stage n.

module ktpu_acu_lane #(
  localparam int unsigned Mw        = 14,
  localparam int unsigned AccWidth  = Mw + 8,
  localparam int unsigned PartWidth = 19,
  localparam int unsigned SumWidth  = Mw + 10  // significand, eight guard bits, carry
) (
  input  logic                 clk_i,

  // Stages 0 to 3 of a command with a product, 3 to 7 of any.
  input  logic [3:0]           chain_i,
  input  logic                 peer_i,
  input  logic [7:4]           stage_i,

  // Stage 0: dot product, scale fields, anchor.
  input  logic [PartWidth-1:0] part_i,
  input  logic [7:0]           scale_a_i,
  input  logic [7:0]           scale_b_i,
  input  logic [6:0]           anchor_i,  // exponents are modulo 128
  // Stage 3: what takes the product's place.
  input  logic [AccWidth-1:0]  peer_value_i,
  // Stage 4: the tile, and which operand counts as zero whatever it holds.
  input  logic [AccWidth-1:0]  tile_i,
  input  logic                 zero_tile_i,
  input  logic                 zero_other_i,
  // Stage 6, stage 7 (registered), stage 8.
  output logic [AccWidth-1:0]  result_o,
  output logic [AccWidth-1:0]  stored_o,
  output logic [15:0]          fp16_o
);

  // Leading zeros of a number that is not zero.
  function automatic logic [4:0] leading_zeros(logic [31:0] value);
    logic [31:0] v;
    logic [4:0]  n;
    v = value;
    n = 5'd0;
    if (v[31:16] == 16'd0) begin n[4] = 1'b1; v = v << 16; end
    if (v[31:24] == 8'd0)  begin n[3] = 1'b1; v = v << 8; end
    if (v[31:28] == 4'd0)  begin n[2] = 1'b1; v = v << 4; end
    if (v[31:30] == 2'd0)  begin n[1] = 1'b1; v = v << 2; end
    if (!v[31])            n[0] = 1'b1;
    leading_zeros = n;
  endfunction

  // ---- Section 7: part times scales to ACC.
  logic [29:0] m1_q, m2_q;
  logic [6:0]  x1_q, e2_q, e3_q;  // exponent modulo 128
  logic        s1_q, s2_q, s3_q, zero2_q, zero3_q;
  logic [4:0]  n2_q;
  logic [Mw:0] sig3_q;
  logic        up3_q;

  logic [29:0] m1, justified;
  logic [18:0] magnitude;
  logic [7:0]  scale;
  logic [4:0]  zeros;
  logic [Mw+1:0] rounded;
  logic [AccWidth-1:0] chain;

  always_comb begin
    magnitude = '0;
    scale     = '0;
    m1        = '0;
    if (chain_i[0]) begin
      magnitude = part_i[PartWidth-1] ? (~part_i + PartWidth'(1)) : part_i;
      scale     = {4'd0, 1'b1, scale_a_i[2:0]} * {4'd0, 1'b1, scale_b_i[2:0]};
      m1        = 30'(magnitude) * 30'(scale);
    end
  end

  always_comb begin
    zeros = '0;
    if (chain_i[1]) zeros = leading_zeros({m1_q, 2'b00});
  end

  always_comb begin
    justified = '0;
    if (chain_i[2]) justified = m2_q << n2_q;
  end

  always_comb begin
    rounded = '0;
    chain   = '0;
    if (chain_i[3]) begin
      rounded = {1'b0, sig3_q} + (Mw + 2)'(up3_q);
      chain   = zero3_q ? '0 : {s3_q, e3_q + 7'(rounded[Mw+1]), rounded[Mw-1:0]};
    end
  end

  always_ff @(posedge clk_i) begin : normalise
    if (chain_i[0]) begin
      m1_q <= m1;
      s1_q <= part_i[PartWidth-1];
      x1_q <= 7'(scale_a_i[7:3]) + 7'(scale_b_i[7:3]) - anchor_i - 7'd6;
    end
    if (chain_i[1]) begin
      m2_q    <= m1_q;
      n2_q    <= zeros;
      s2_q    <= s1_q;
      zero2_q <= m1_q == '0;
      e2_q    <= x1_q + 7'd92 - 7'(zeros);  // h + X + 63 with h = 29 - zeros
    end
    if (chain_i[2]) begin
      sig3_q  <= justified[29-:Mw+1];
      up3_q   <= justified[28-Mw] && (justified[27-Mw:0] != '0 || justified[29-Mw]);
      s3_q    <= s2_q;
      zero3_q <= zero2_q;
      e3_q    <= e2_q;
    end
  end

  // ---- Section 8: tile plus that.
  logic [AccWidth-1:0] other4_q;
  logic                pass5_q, pass6_q, lost5_q, lost6_q, sign5_q, sign6_q, subtract5_q;
  logic [AccWidth-1:0] value5_q, value6_q;
  logic [6:0]          e5_q, e6_q;
  logic [SumWidth-2:0] big5_q, small5_q;
  logic [SumWidth-1:0] sum6_q;

  logic                zero_a, zero_b, a_is_big, lost;
  logic [AccWidth-1:0] great, least;
  logic [6:0]          difference;
  logic [4:0]          distance;
  logic [SumWidth-2:0] small_significand, aligned;

  always_comb begin
    zero_a            = zero_tile_i || tile_i[AccWidth-2:Mw] == '0;
    zero_b            = zero_other_i || other4_q[AccWidth-2:Mw] == '0;
    a_is_big          = 1'b0;
    great               = '0;
    least             = '0;
    difference        = '0;
    distance          = '0;
    small_significand = '0;
    aligned           = '0;
    lost              = 1'b0;
    if (stage_i[4]) begin
      a_is_big          = tile_i[AccWidth-2:0] >= other4_q[AccWidth-2:0];
      great               = a_is_big ? tile_i : other4_q;
      least             = a_is_big ? other4_q : tile_i;
      difference        = great[AccWidth-2:Mw] - least[AccWidth-2:Mw];
      distance          = (difference > 7'(SumWidth - 1)) ? 5'(SumWidth - 1) : difference[4:0];
      small_significand = {1'b1, least[Mw-1:0], 8'd0};
      aligned           = small_significand >> distance;
      lost              = (aligned << distance) != small_significand;
    end
  end

  always_ff @(posedge clk_i) begin : align
    if (chain_i[3]) other4_q <= chain;
    if (peer_i) other4_q <= peer_value_i;
    if (stage_i[4]) begin
      pass5_q     <= zero_a || zero_b;
      value5_q    <= (zero_a && zero_b) ? '0 : zero_a ? other4_q : tile_i;
      sign5_q     <= great[AccWidth-1];
      e5_q        <= great[AccWidth-2:Mw];
      subtract5_q <= great[AccWidth-1] != least[AccWidth-1];
      big5_q      <= {1'b1, great[Mw-1:0], 8'd0};
      small5_q    <= aligned;
      lost5_q     <= lost;
    end
    if (stage_i[5]) begin
      pass6_q  <= pass5_q;
      value6_q <= value5_q;
      sign6_q  <= sign5_q;
      e6_q     <= e5_q;
      lost6_q  <= lost5_q;
      sum6_q   <= subtract5_q ? {1'b0, big5_q} - {1'b0, small5_q} : {1'b0, big5_q} + {1'b0, small5_q};
    end
  end

  logic [4:0]          shift;
  logic [SumWidth-1:0] normal;
  logic                up;
  logic [Mw+1:0]       significand;
  logic [8:0]          exponent;  // two's complement
  logic [AccWidth-1:0] result, stored_q;

  always_comb begin
    shift       = '0;
    normal      = '0;
    up          = 1'b0;
    significand = '0;
    exponent    = '0;
    result      = '0;
    if (stage_i[6]) begin
      shift       = leading_zeros({sum6_q, 8'd1});
      normal      = sum6_q << shift;
      up          = normal[8] && (lost6_q || normal[7:0] != '0 || normal[9]);
      significand = {1'b0, normal[SumWidth-1:9]} + (Mw + 2)'(up);
      exponent    = 9'(e6_q) + 9'd1 - 9'(shift) + 9'(significand[Mw+1]);
      if (pass6_q) begin
        result = value6_q;
      end else if (sum6_q == '0 || exponent[8] || exponent == '0) begin
        result = '0;
      end else if (exponent >= 9'd127) begin
        result = {sign6_q, 7'd127, {Mw{1'b1}}};
      end else begin
        result = {sign6_q, exponent[6:0], significand[Mw-1:0]};
      end
    end
  end

  // ---- Section 9: FP16. Never a subnormal, saturates.
  logic [10:0] kept;
  logic [7:0]  x;  // exponent, biased as in ACC
  logic [15:0] fp16, fp16_q;

  always_comb begin
    kept = '0;
    x    = '0;
    fp16 = '0;
    if (stage_i[7]) begin
      kept = {1'b0, stored_q[Mw-1:4]} + 11'(stored_q[3] && (stored_q[2:0] != '0 || stored_q[4]));
      x    = {1'b0, stored_q[AccWidth-2:Mw]} + 8'(kept[10]);
      if (stored_q[AccWidth-2:Mw] == '0 || x <= 8'd48) begin
        fp16 = {stored_q[AccWidth-1], 15'd0};
      end else if (x >= 8'd79) begin
        fp16 = {stored_q[AccWidth-1], 15'h7bff};
      end else begin
        fp16 = {stored_q[AccWidth-1], 5'(x - 8'd48), kept[9:0]};
      end
    end
  end

  always_ff @(posedge clk_i) begin : output_registers
    if (stage_i[6]) stored_q <= result;
    if (stage_i[7]) fp16_q <= fp16;
  end

  assign result_o = result;
  assign stored_o = stored_q;
  assign fp16_o   = fp16_q;

endmodule
