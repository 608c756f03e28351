// SPDX-License-Identifier: Apache-2.0
// What whole-chunk instructions write into a register, and what VST writes into L1 (vector.md sections 4, 9 and 3.3):
// loaded words, conversions, rotations and copies of a scalar. Format conversions are combinational.

module ktpu_vector_moves
  import ktpu_pkg::*;
  import ktpu_vector_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // Quasi-static: VCVT FP16 converts the chunk read before (quirk V2).
  input  logic             quirk_v2_i,

  // The sequencer's orders. Load: the L1 word is there in the next cycle. Chunk: its row is there now.
  input  logic             load_i,
  input  logic             chunk_i,
  input  logic             chunk_before_i,  // the row that is there comes before the next one
  input  logic             store_i,
  input  fields_t          word_i,
  input  logic             high_i,          // FP32: elements 8 to 15
  input  logic [6:0]       to_i,
  input  num_t             s_a_i,           // S[va], for VBCAST
  input  num_t             s_b_i,           // S[vb], for VSHUF

  input  word_t            l1_word_i,
  input  row_t             row_i,

  output logic             we_o,
  output logic [6:0]       at_o,
  output logic [Lanes-1:0] mask_o,
  output row_t             data_o,
  output word_t            store_data_o
);

  memory_fields_t fields;
  logic       wide;
  logic       load_q, wide_q, high_q;
  logic [6:0] to_q;
  row_t       before_q;

  assign fields = word_i;
  assign wide   = fields.dtype[0];
  assign we_o   = load_q || chunk_i;
  assign at_o   = load_q ? to_q : to_i;
  assign mask_o = (load_q && wide_q) ? (high_q ? 16'hFF00 : 16'h00FF) : 16'hFFFF;

  always_comb begin : data
    num_t       source;
    logic [3:0] from;
    data_o = '0;
    from   = '0;
    source = '0;
    if (load_q) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        data_o[l] = wide_q ? from_fp32(l1_word_i[32*(l%8)+:32]) : from_fp16(l1_word_i[16*l+:16]);
      end
    end else if (chunk_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        source = row_i[l];
        from   = 4'(l) + s_b_i[3:0];  // wraps
        case (word_i.op)
          OpShuf:  data_o[l] = row_i[from];
          OpBcast: data_o[l] = s_a_i;
          default: begin
            if (quirk_v2_i) source = before_q[l];
            data_o[l] = wide ? row_i[l] : from_fp16(to_fp16(source));
          end
        endcase
      end
    end
  end

  always_comb begin : store
    store_data_o = '0;
    if (store_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (!wide) begin
          store_data_o[16*l+:16] = to_fp16(row_i[l]);
        end else if (l < 8) begin
          store_data_o[32*(l%8)+:32] = to_fp32(row_i[high_i ? l%8+8 : l%8]);
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : control
    if (!rst_ni) begin
      load_q <= 1'b0;
    end else begin
      load_q <= load_i;
    end
  end

  always_ff @(posedge clk_i) begin : target
    if (load_i) begin
      to_q   <= to_i;
      wide_q <= wide;
      high_q <= high_i;
    end
    if (chunk_before_i) before_q <= row_i;
  end

endmodule
