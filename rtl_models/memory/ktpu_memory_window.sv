// SPDX-License-Identifier: Apache-2.0
// The host memory window (memory.md section 8): one transaction at a time, writes before reads. Plain bursts go to the
// path as they are; a write to an upload aperture is quantised entry by entry. Every output is a function of registers.

`include "ktpu_assert.svh"

module ktpu_memory_window
  import ktpu_pkg::*;
  import ktpu_memory_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_ni,

  // The host's five channels; each transfers with valid and not busy.
  input  logic     aw_valid_i,
  input  addr_t    aw_addr_i,
  input  beats_t   aw_beats_i,
  output logic     aw_busy_o,
  input  logic     ar_valid_i,
  input  addr_t    ar_addr_i,
  input  beats_t   ar_beats_i,
  output logic     ar_busy_o,
  input  logic     w_valid_i,
  input  word_t    w_data_i,
  output logic     w_busy_o,
  output logic     r_valid_o,
  output word_t    r_data_o,
  output logic     r_last_o,
  input  logic     r_busy_i,
  output logic     b_valid_o,
  input  logic     b_busy_i,

  output request_t request_o,
  input  reply_t   reply_i,
  output logic     resting_o
);

  localparam logic [2:0] UploadAperture = 3'b010;  // address bits [35:33]; bit 32 is the layout

  typedef enum logic [1:0] {
    Idle,
    Write,
    Read,
    Upload
  } state_e;

  state_e                 state_d, state_q;
  logic                   response_d, response_q;      // waits for the host
  logic                   read_waits_d, read_waits_q;  // a read that was offered together with a write
  addr_t                  waiting_addr_q;
  beats_t                 waiting_beats_q;
  beats_t                 beats_d, beats_q;            // that the host has not moved
  addr_t                  addr_d, addr_q;              // of the burst, of the entry of an upload
  beats_t                 burst_d, burst_q;
  word_t                  skid_q [2];                  // data on its way, either direction
  logic [1:0]             skid_size_d, skid_size_q;
  logic                   skid_push, skid_pop;
  word_t                  skid_in;
  logic [3:0]             have_d, have_q;              // beats of the present entry
  logic [1:0]             word_d, word_q;              // word of the entry that is offered
  logic                   words_d, words_q;            // there is one
  logic                   b_layout_d, b_layout_q;
  logic                   ar_valid_d, ar_valid_q;
  logic                   aw_valid_d, aw_valid_q;

  logic                   busy, take_w, take_aw, take_ar, start, done, done_q, is_upload;
  word_t [EntryWords-1:0] entry;
  logic                   unused;

  assign busy      = state_q != Idle || read_waits_q;
  assign aw_busy_o = busy;
  assign ar_busy_o = busy;
  assign w_busy_o  = beats_q == '0 || !((state_q == Write && !skid_size_q[1]) ||
                                        (state_q == Upload && have_q != 4'(QuantBeats)));
  assign r_valid_o = state_q == Read && skid_size_q != '0;
  assign r_data_o  = skid_q[0];
  assign r_last_o  = beats_q == beats_t'(1);
  assign b_valid_o = response_q;
  assign take_w    = w_valid_i && !w_busy_o && !response_q;
  assign take_aw   = aw_valid_i && !busy;
  assign take_ar   = ar_valid_i && !busy;
  assign is_upload = aw_addr_i[39] && aw_addr_i[35:33] == UploadAperture;

  always_comb begin : engine
    state_d      = state_q;
    response_d   = response_q;
    read_waits_d = read_waits_q;
    beats_d      = beats_q - beats_t'(take_w);
    addr_d       = addr_q;
    burst_d      = burst_q;
    have_d       = have_q + 4'(take_w && state_q == Upload);
    word_d       = word_q;
    words_d      = words_q;
    b_layout_d   = b_layout_q;
    ar_valid_d   = ar_valid_q && !reply_i.ar_grant;
    aw_valid_d   = aw_valid_q && !reply_i.aw_grant;
    skid_push    = 1'b0;
    skid_pop     = 1'b0;
    skid_in      = w_data_i;
    start        = 1'b0;
    if (response_q) begin
      if (!b_busy_i) begin
        response_d = 1'b0;
        state_d    = Idle;
      end
    end else begin
      unique case (state_q)
        Write: begin
          skid_push  = take_w;
          skid_pop   = reply_i.w_taken;
          response_d = reply_i.b;
        end
        Read: begin
          skid_push = reply_i.r_valid;
          skid_in   = reply_i.r_data;
          skid_pop  = r_valid_o && !r_busy_i;
          if (skid_pop) begin
            beats_d = beats_q - beats_t'(1);
            if (r_last_o) state_d = Idle;
          end
        end
        Upload: begin
          if (done_q) begin
            aw_valid_d = 1'b1;
            words_d    = 1'b1;
            word_d     = '0;
          end
          if (reply_i.w_taken) begin
            word_d  = word_q + 2'd1;
            words_d = word_q != 2'(EntryWords - 1);
          end
          if (reply_i.b) begin
            have_d     = '0;
            addr_d     = addr_q + addr_t'(EntryWords * WordBytes);
            start      = 1'b1;
            response_d = beats_q == '0;
          end
        end
        default: begin
          if (take_aw) begin
            beats_d      = aw_beats_i;
            read_waits_d = take_ar;
            if (is_upload) begin
              state_d    = Upload;
              b_layout_d = aw_addr_i[32];
              addr_d     = {2'b00, aw_addr_i[37:36], 4'd0, aw_addr_i[31:0]};
              burst_d    = beats_t'(EntryWords);
              have_d     = '0;
              words_d    = 1'b0;
              start      = 1'b1;
            end else begin
              state_d    = Write;
              addr_d     = aw_addr_i;
              burst_d    = aw_beats_i;
              aw_valid_d = 1'b1;
            end
          end else if (read_waits_q || take_ar) begin
            read_waits_d = 1'b0;
            state_d      = Read;
            addr_d       = read_waits_q ? waiting_addr_q : ar_addr_i;
            burst_d      = read_waits_q ? waiting_beats_q : ar_beats_i;
            beats_d      = burst_d;
            ar_valid_d   = 1'b1;
          end
        end
      endcase
    end
    skid_size_d = skid_size_q + 2'(skid_push) - 2'(skid_pop);
  end

  ktpu_quantiser u_transform (
    .clk_i,
    .rst_ni,
    .start_i      (start),
    .layout_i     (b_layout_d),
    .beat_valid_i (take_w && state_q == Upload),
    .beat_i       (w_data_i),
    .done_o       (done),
    .words_o      (entry)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      response_q   <= 1'b0;
      read_waits_q <= 1'b0;
      beats_q      <= '0;
      have_q       <= '0;
      words_q      <= 1'b0;
      skid_size_q  <= '0;
      ar_valid_q   <= 1'b0;
      aw_valid_q   <= 1'b0;
      done_q       <= 1'b0;
    end else begin
      state_q      <= state_d;
      response_q   <= response_d;
      read_waits_q <= read_waits_d;
      beats_q      <= beats_d;
      have_q       <= have_d;
      words_q      <= words_d;
      skid_size_q  <= skid_size_d;
      ar_valid_q   <= ar_valid_d;
      aw_valid_q   <= aw_valid_d;
      done_q       <= done;
    end
  end

  always_ff @(posedge clk_i) begin : burst
    addr_q     <= addr_d;
    burst_q    <= burst_d;
    word_q     <= word_d;
    b_layout_q <= b_layout_d;
    if (take_ar && take_aw) begin
      waiting_addr_q  <= ar_addr_i;
      waiting_beats_q <= ar_beats_i;
    end
  end

  always_ff @(posedge clk_i) begin : skid
    if (skid_pop) skid_q[0] <= skid_q[1];
    if (skid_push) begin
      if (skid_size_q == '0 || (skid_size_q == 2'd1 && skid_pop)) skid_q[0] <= skid_in;
      else skid_q[1] <= skid_in;
    end
  end

  assign resting_o = state_q == Idle && !read_waits_q && !response_q;
  assign request_o = '{ar_valid: ar_valid_q, ar_addr: addr_q, ar_beats: burst_q, aw_valid: aw_valid_q,
                       aw_addr: addr_q, aw_beats: burst_q,
                       w_valid: (state_q == Write && skid_size_q != '0) || words_q,
                       w_data: words_q ? entry[word_q] : skid_q[0], r_ready: !skid_size_q[1]};
  assign unused    = &{1'b0, reply_i.r_last};

  `KTPU_ASSERT(BeatsFit, !(skid_push && skid_size_q[1]))
  `KTPU_ASSERT(RefusedBeatStays, r_valid_o && r_busy_i |=> r_valid_o && $stable(r_data_o))

endmodule
