// SPDX-License-Identifier: Apache-2.0
// FP16 to MXFP7 (number-formats.md sections 4 and 5): one entry of 4 lanes x 32 values comes in as eight beats,
// lane-major, and leaves as four operand words. A start pulse opens an entry, whatever is under way; the cycle of
// the start carries no beat. done_o is high in one cycle, QuantDone cycles after the last beat; the words stay until
// the next entry's are packed.

`include "ktpu_assert.svh"

module ktpu_quantiser
  import ktpu_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         start_i,
  // With the start: 0 = A, 1 = B.
  input  logic         layout_i,
  input  logic         beat_valid_i,
  input  logic [255:0] beat_i,

  output logic         done_o,
  // Word w at [256 * w +: 256].
  output logic [1023:0] words_o
);

  // Steps after the last beat: 1 the last peak, 2 and 3 the scales, 4 to 7 a word each, 8 done.
  localparam logic [3:0] StepPeak = 4'd1, StepNormalise = 4'd2, StepChoose = 4'd3, StepPack = 4'd4, StepTail = 4'd8;

  logic         collecting_d, collecting_q;
  logic         layout_q;
  logic [2:0]   count_d, count_q;
  logic [3:0]   step_d, step_q;
  logic         done_q;
  logic         take;

  logic [255:0] buffer [8];
  logic [255:0] beat_q;
  logic         beat_valid_q;
  logic [1:0]   beat_lane_q;
  logic [14:0]  beat_peak;
  logic [59:0]  peaks_q;  // 15 bits a lane
  logic [31:0]  fields;   // lane 0 in the lowest byte
  logic [51:0]  reciprocals;

  logic         packing;
  logic [1:0]   pass;
  logic [255:0] word;
  logic [1023:0] words_q;

  assign take = collecting_q && beat_valid_i && !start_i;

  always_comb begin
    collecting_d = collecting_q;
    count_d      = count_q;
    step_d       = (step_q == '0 || step_q == StepTail) ? '0 : step_q + 4'd1;
    if (take) begin
      count_d = count_q + 3'd1;
      if (count_q == 3'd7) begin
        collecting_d = 1'b0;
        step_d       = StepPeak;
      end
    end
    if (start_i) begin
      collecting_d = 1'b1;
      count_d      = '0;
      step_d       = '0;
    end
  end

  // Peak: the bit patterns without sign are in the order of the magnitudes.
  always_comb begin
    beat_peak = '0;
    if (beat_valid_q) begin
      for (int unsigned i = 0; i < 16; i++) begin
        if (beat_q[16*i+:15] > beat_peak) beat_peak = beat_q[16*i+:15];
      end
    end
  end

  for (genvar lane = 0; lane < 4; lane++) begin : gen_scale
    ktpu_quantiser_scale u_scale (
      .clk_i,
      .normalise_i  (step_q == StepNormalise),
      .choose_i     (step_q == StepChoose),
      .peak_i       (peaks_q[15*lane+:15]),
      .field_o      (fields[8*lane+:8]),
      .reciprocal_o (reciprocals[13*lane+:13])
    );
  end

  // Word w holds k = 8w to 8w + 7 of all lanes: half of one beat of each.
  assign packing = step_q >= StepPack && step_q < StepTail;
  assign pass    = 2'(step_q - StepPack);

  logic [511:0] halves;    // 4 lanes x 8 values
  logic [223:0] elements;  // the same
  always_comb begin
    halves = '0;
    if (packing) begin
      for (int unsigned lane = 0; lane < 4; lane++) begin
        halves[128*lane+:128] = pass[0] ? buffer[{2'(lane), pass[1]}][255:128] : buffer[{2'(lane), pass[1]}][127:0];
      end
    end
  end

  for (genvar n = 0; n < 32; n++) begin : gen_element
    ktpu_quantiser_element u_element (
      .enable_i         (packing),
      .half_i           (halves[16*n+:16]),
      .scale_exponent_i (fields[8*(n/8)+3+:5]),
      .reciprocal_i     (reciprocals[13*(n/8)+:13]),
      .element_o        (elements[7*n+:7])
    );
  end

  // Slot s at [255 - 7s : 249 - 7s]: lane * 8 + k on the A side, k * 4 + lane on the B side.
  always_comb begin
    word = '0;
    if (packing) begin
      word[31:0] = {fields[7:0], fields[15:8], fields[23:16], fields[31:24]};
      for (int unsigned lane = 0; lane < 4; lane++) begin
        for (int unsigned k = 0; k < 8; k++) begin
          if (layout_q) word[249-7*(4*k+lane)+:7] = elements[7*(8*lane+k)+:7];
          else          word[249-7*(8*lane+k)+:7] = elements[7*(8*lane+k)+:7];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      collecting_q <= 1'b0;
      count_q      <= '0;
      step_q       <= '0;
      done_q       <= 1'b0;
      beat_valid_q <= 1'b0;
    end else begin
      collecting_q <= collecting_d;
      count_q      <= count_d;
      step_q       <= step_d;
      done_q       <= step_q == StepTail && !start_i;
      beat_valid_q <= take;
    end
  end

  always_ff @(posedge clk_i) begin : data
    if (take) begin
      buffer[count_q] <= beat_i;
      beat_q          <= beat_i;
      beat_lane_q     <= count_q[2:1];
    end
    if (start_i) begin
      layout_q <= layout_i;
      peaks_q  <= '0;
    end else if (beat_valid_q && beat_peak > peaks_q[15*beat_lane_q+:15]) begin
      peaks_q[15*beat_lane_q+:15] <= beat_peak;
    end
    if (packing) words_q[256*pass+:256] <= word;
  end

  assign done_o  = done_q;
  assign words_o = words_q;

  `KTPU_ASSERT_INIT(StepsAreAsSpecified, int'(StepTail) + 1 == QuantDone)
  `KTPU_ASSERT(StepIsInRange, step_q <= StepTail)
  `KTPU_ASSERT(CollectsOrWorks, !(collecting_q && step_q != '0))

endmodule
