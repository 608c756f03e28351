// SPDX-License-Identifier: Apache-2.0
// Types of the vector core's modules, and the conversions between memory and register formats (vector.md
// sections 1, 5 and 9).

package ktpu_vector_pkg;

  import ktpu_pkg::*;

  localparam int unsigned Lanes       = 16;
  localparam int unsigned VectorRegs  = 16;
  localparam int unsigned Chunks      = 8;  // of 16 elements, in a register
  localparam int unsigned Predicates  = 4;
  localparam int unsigned ChainDepth  = 4;  // words of the longest chain group
  localparam int unsigned Descriptors = 8;
  localparam int unsigned Dimensions  = 4;  // of a descriptor

  // E8M15: sign [23], exponent [22:15], mantissa [14:0].
  typedef logic [23:0]      num_t;
  typedef num_t [Lanes-1:0] row_t;   // one chunk of a register
  typedef logic [255:0]     word_t;  // of L1 and of memory
  typedef logic [39:0]      addr_t;

  localparam num_t One    = 24'h3F8000;
  localparam num_t NaN    = 24'h7FC000;
  localparam num_t PosInf = 24'h7F8000;
  localparam num_t NegInf = 24'hFF8000;
  localparam num_t NegOne = 24'hBF8000;

  typedef enum logic [1:0] {
    ModeFlat = 2'd0,
    ModeD2   = 2'd1,
    ModeD4   = 2'd2,
    ModeTree = 2'd3
  } mode_e;

  typedef enum logic [1:0] {
    SrcVector   = 2'd0,
    SrcScalar   = 2'd1,
    SrcChain    = 2'd2,
    SrcConstant = 2'd3
  } source_e;

  typedef enum logic [2:0] {
    RedSum    = 3'd0,
    RedMax    = 3'd1,
    RedMin    = 3'd2,
    RedSumsq  = 3'd3,
    RedDot    = 3'd4,
    RedExpsum = 3'd5,
    RedAny    = 3'd6,
    RedAll    = 3'd7
  } reduce_e;

  // One word of a chain group: operands that are no vector registers are captured when it is decoded.
  typedef struct packed {
    vector_opcode_e  op;
    source_e [2:0]   source;    // 0: a, 1: b, 2: c
    num_t [2:0]      constant;
  } stage_t;

  // The instruction word (section 3): arithmetic format.
  typedef struct packed {
    vector_opcode_e op;
    source_e        sa;
    source_e        sb;
    source_e        sc;
    logic [3:0]     vd;
    logic [3:0]     va;
    logic [3:0]     vb;
    logic [3:0]     vc;
    logic [1:0]     pr;
    logic [1:0]     pm;
    logic           unused;
  } fields_t;

  // What happens in this cycle, for tools: nothing outside depends on it.
  typedef struct packed {
    logic [31:0] result;   // with done: what the completion carries
    logic [31:0] word;     // with execute
    logic [8:0]  pc;       // of the first word with start, of `word` with execute
    logic        fault;    // with done
    logic        run;      // with done: it was a RUN
    logic        done;     // the instruction in flight retires
    logic        execute;  // an instruction is in its execute cycle
    logic        start;    // a RUN was taken: the kernel's cycle 0 is the next
  } vector_events_t;

  // The fields of VLD, VST, VFILL and VDRAIN that are not in their places there. `peer` is of VDRAIN.
  typedef struct packed {
    vector_opcode_e op;
    logic [1:0]     dtype;  // without its bit 0: of the types that do not fault, 1 is FP32
    logic           peer;
    logic [2:0]     ad;
    logic [6:0]     unused;
    logic [13:0]    offset;
  } memory_fields_t;

  // What travels with a beat.
  typedef struct packed {
    logic        valid;
    logic        writes;    // a register, or predicate bits when it is a compare
    logic        compare;
    logic        reduces;   // into an accumulator
    logic        tail;      // combines the accumulators
    logic [1:0]  group;     // whose stages it runs through
    logic [2:0]  chunk;
    logic [1:0]  phase;     // which elements of the chunk
    logic [3:0]  vd;
    logic [1:0]  pr;
    logic [1:0]  pm;
    logic [7:0]  length;    // elements from here on are not written
    logic [15:0] mask;      // elements of the chunk that are written; known from the third cycle on
  } beat_t;

  function automatic logic halves(reduce_e kind);
    halves = (kind == RedSumsq) || (kind == RedDot) || (kind == RedExpsum);
  endfunction

  function automatic vector_opcode_e combine(reduce_e kind);
    case (kind)
      RedMax:  combine = OpMax;
      RedMin:  combine = OpMin;
      default: combine = OpAdd;
    endcase
  endfunction

  // The accumulators before the first beat.
  function automatic num_t initial_of(reduce_e kind);
    case (kind)
      RedMax:  initial_of = NegInf;
      RedMin:  initial_of = PosInf;
      default: initial_of = '0;
    endcase
  endfunction

  function automatic logic is_compare(vector_opcode_e op);
    is_compare = (op == OpCmplt) || (op == OpCmpgt) || (op == OpCmpeq);
  endfunction

  function automatic num_t from_fp16(logic [15:0] h);
    /* verilator no_inline_task */
    logic [3:0]  high;
    logic [14:0] m;
    if (h[14:10] == 5'd31) begin
      from_fp16 = {h[15], 8'd255, h[9:0], 5'd0};
    end else if (h[14:10] != 5'd0) begin
      from_fp16 = {h[15], 8'(h[14:10]) + 8'd112, h[9:0], 5'd0};
    end else if (h[9:0] == 10'd0) begin
      from_fp16 = {h[15], 23'd0};
    end else begin
      high = 4'd0;
      for (int unsigned i = 0; i < 10; i++) begin
        if (h[i]) high = 4'(i);
      end
      m         = 15'(h[9:0]) << (4'd15 - high);
      from_fp16 = {h[15], 8'd103 + 8'(high), m};
    end
  endfunction

  function automatic logic [15:0] to_fp16(num_t v);
    /* verilator no_inline_task */
    logic [10:0] keep;
    logic [11:0] rounded;
    logic [8:0]  e;      // exponent + 144, so that it is never negative
    logic [7:0]  distance;
    logic [4:0]  shift;
    logic [46:0] wide;
    logic [10:0] subnormal;
    keep     = {1'b1, v[14:5]};
    rounded  = 12'(keep) + 12'(v[4] && ((v[3:0] != 4'd0) || v[5]));
    e        = 9'(v[22:15]) + 9'd32 + 9'(rounded[11]);
    distance = 8'd118 - v[22:15];
    shift    = (distance > 8'd31) ? 5'd31 : distance[4:0];
    wide     = {1'b1, v[14:0], 31'd0} >> shift;
    subnormal    = wide[41:31] + 11'(wide[30] && ((wide[29:0] != 30'd0) || wide[31]));
    if (v[22:15] == 8'd0) begin
      to_fp16 = {v[23], 15'd0};
    end else if (v[22:15] == 8'd255) begin
      to_fp16 = {v[23], 5'd31, (v[14:0] != 15'd0), (v[14:0] != 15'd0) ? v[13:5] : 9'd0};
    end else if (e >= 9'd175) begin
      to_fp16 = {v[23], 15'h7BFF};
    end else if (e <= 9'd144) begin
      to_fp16 = {v[23], 4'd0, subnormal};
    end else begin
      to_fp16 = {v[23], 5'(e - 9'd144), rounded[11] ? 10'd0 : rounded[9:0]};
    end
  endfunction

  function automatic num_t from_fp32(logic [31:0] f);
    /* verilator no_inline_task */
    logic [15:0] kept;
    kept = 16'(f[22:8]) + 16'(f[7] && ((f[6:0] != 7'd0) || f[8]));
    if (f[30:23] == 8'd0) begin
      from_fp32 = {f[31], 23'd0};
    end else if (f[30:23] == 8'd255) begin
      from_fp32 = (f[22:0] == 23'd0) ? {f[31], 8'd255, 15'd0} : {f[31], 8'd255, 1'b1, f[21:8]};
    end else begin
      from_fp32 = {f[31], f[30:23] + 8'(kept[15]), kept[14:0]};
    end
  endfunction

  function automatic logic [31:0] to_fp32(num_t v);
    to_fp32 = (v[22:15] == 8'd0) ? {v[23], 31'd0} : {v, 8'd0};
  endfunction

endpackage
