// SPDX-License-Identifier: Apache-2.0
// The transform slot of a memory port, filled with the block quantiser (memory.md section 6; number-formats.md
// section 4): eight beats of FP16 in, four words of MXFP7 out.
//
// With B the cycle of the eighth beat: B+1 last maximum, B+2 normalise, B+3 scale, B+4..B+7 words 0..3, B+9 done.
// The words stay until the next start.

`include "ktpu_assert.svh"

module ktpu_memory_quantiser
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   start_i,
  input  logic                   b_layout_i,  // valid with start_i
  input  logic                   beat_valid_i,
  input  word_t                  beat_i,

  output logic                   done_o,
  output word_t [EntryWords-1:0] words_o
);

  localparam int unsigned Lanes    = 4;
  localparam int unsigned PerBeat  = PayloadWidth / 16;
  localparam int unsigned PerWord  = 8;  // elements of one lane in a word

  localparam logic [3:0] PhaseDrain     = 4'd1;
  localparam logic [3:0] PhaseNormalise = 4'd2;
  localparam logic [3:0] PhaseScale     = 4'd3;
  localparam logic [3:0] PhasePack      = 4'd4;  // and the three after it
  localparam logic [3:0] PhaseDone      = 4'(QuantDone);

  typedef struct packed {
    logic [4:0] exponent;  // of the E5M3 field
    logic [2:0] mantissa;
  } scale_t;

  logic                    b_layout_q;
  word_t                   source_q [QuantBeats];
  logic [2:0]              beat_d, beat_q;     // beats received
  logic [3:0]              phase_d, phase_q;   // 0: collecting
  logic                    max_valid_q;        // largest_q is of the beat before
  logic [1:0]              max_lane_q;
  logic [14:0]             largest_q;          // magnitude of the largest element of a beat
  logic [Lanes-1:0][14:0]  peak_q;
  logic [Lanes-1:0][10:0]  significand_q;      // of the peak, normalised; 0 for a block of zeros
  logic [Lanes-1:0][5:0]   exponent_q;         // of the peak plus 16
  scale_t [Lanes-1:0]      scale_q;
  word_t [EntryWords-1:0]  words_q;

  function automatic logic [14:0] largest(word_t beat);
    logic [14:0] best;
    best = '0;
    for (int unsigned i = 0; i < PerBeat; i++) begin
      if (beat[16*i+:15] > best) best = beat[16*i+:15];
    end
    return best;
  endfunction

  // {exponent + 16, significand with its leading one at bit 10}; subnormals count.
  function automatic logic [16:0] normalise(logic [14:0] peak);
    logic [5:0]  exponent;
    logic [10:0] significand;
    exponent    = 6'd16 + ((peak[14:10] == '0) ? 6'd1 : 6'(peak[14:10]));
    significand = {peak[14:10] != '0, peak[9:0]};
    for (int unsigned i = 0; i < 10; i++) begin
      if (significand != '0 && !significand[10]) begin
        significand = significand << 1;
        exponent    = exponent - 6'd1;
      end
    end
    return {exponent, significand};
  endfunction

  // Mantissa 8..15 is the peak's significand over 126, rounded up; an exponent too small for the field stays at 0.
  function automatic scale_t choose_scale(logic [5:0] exponent, logic [10:0] significand);
    logic [4:0] code;
    logic [5:0] biased;
    scale_t     scale;
    if (significand == '0) return '{exponent: 5'd20, mantissa: 3'd0};
    code = 5'd9;
    for (int unsigned k = 9; k < 17; k++) begin
      if (significand > 11'(126 * k)) code = code + 5'd1;
    end
    biased = exponent + ((code > 5'd15) ? 6'd0 : 6'h3F);
    scale.exponent = (biased < 6'd16) ? 5'd0 : 5'(biased - 6'd16);
    scale.mantissa = 3'(code);  // 9..15 less 8, or 16..17 less 16
    return scale;
  endfunction

  // 12 fraction bits; the table decides the bits, not a division.
  function automatic logic [12:0] reciprocal(logic [2:0] mantissa);
    unique case (mantissa)
      3'd0:    return 13'd4096;
      3'd1:    return 13'd3641;
      3'd2:    return 13'd3277;
      3'd3:    return 13'd2979;
      3'd4:    return 13'd2731;
      3'd5:    return 13'd2520;
      3'd6:    return 13'd2341;
      default: return 13'd2185;
    endcase
  endfunction

  function automatic logic [6:0] round(logic [15:0] half, scale_t scale);
    logic [4:0]  field;
    logic [5:0]  shift;
    logic [23:0] product;
    logic [8:0]  window;
    logic [8:0]  rounded;
    logic [6:0]  magnitude;
    field     = (half[14:10] == '0) ? 5'd1 : half[14:10];
    shift     = 6'(scale.exponent) + 6'd1 - 6'(field);
    if (shift > 6'd8) shift = 6'd8;
    product   = 24'({half[14:10] != '0, half[9:0]}) * 24'(reciprocal(scale.mantissa));
    window    = 9'((product >> 15) >> shift);
    rounded   = (window >> 1) + 9'(window[0]);
    magnitude = (rounded > 9'd63) ? 7'd63 : 7'(rounded);
    return half[15] ? -magnitude : magnitude;
  endfunction

  assign done_o  = phase_q == PhaseDone;
  assign words_o = words_q;

  always_comb begin
    beat_d  = beat_q;
    phase_d = (phase_q == '0 || phase_q == PhaseDone) ? '0 : phase_q + 4'd1;
    if (start_i) begin
      beat_d = '0;
    end else if (beat_valid_i) begin
      beat_d = beat_q + 3'd1;
      if (beat_q == 3'(QuantBeats - 1)) phase_d = PhaseDrain;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q      <= '0;
      phase_q     <= '0;
      max_valid_q <= 1'b0;
    end else begin
      beat_q      <= beat_d;
      phase_q     <= phase_d;
      max_valid_q <= beat_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin : collect
    if (start_i) b_layout_q <= b_layout_i;
    if (beat_valid_i) begin
      source_q[beat_q] <= beat_i;
      largest_q        <= largest(beat_i);
      max_lane_q       <= beat_q[2:1];
    end
  end

  always_ff @(posedge clk_i) begin : find_peaks
    if (start_i) begin
      peak_q <= '0;
    end else if (max_valid_q && largest_q > peak_q[max_lane_q]) begin
      peak_q[max_lane_q] <= largest_q;
    end
  end

  always_ff @(posedge clk_i) begin : scale
    if (phase_q == PhaseNormalise) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        {exponent_q[lane], significand_q[lane]} <= normalise(peak_q[lane]);
      end
    end
    if (phase_q == PhaseScale) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        scale_q[lane] <= choose_scale(exponent_q[lane], significand_q[lane]);
      end
    end
  end

  // One word a cycle: elements 8w..8w+7 of the four lanes. Slot i is bits [255-7i:249-7i].
  always_ff @(posedge clk_i) begin : pack
    if (phase_q[3:2] == PhasePack[3:2]) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        for (int unsigned k = 0; k < PerWord; k++) begin
          words_q[phase_q[1:0]][PayloadWidth - 7 - 7 * 
            (b_layout_q ? (k * Lanes + lane) : (lane * PerWord + k)) +: 7] <=
            round(source_q[{lane[1:0], phase_q[1]}][128 * phase_q[0] + 16 * k +: 16], scale_q[lane]);
        end
        words_q[phase_q[1:0]][8 * (Lanes - 1 - lane) +: 8] <= scale_q[lane];
      end
    end
  end

  `KTPU_ASSERT(BeatsOnlyWhileCollecting, beat_valid_i |-> phase_q == '0)
  `KTPU_ASSERT(NoBeatWithStart, !(start_i && beat_valid_i))

endmodule
