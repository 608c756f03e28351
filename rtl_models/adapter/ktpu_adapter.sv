// SPDX-License-Identifier: Apache-2.0
// The endpoint staging adapter (fabric.md section 12) between a router and an endpoint: one flit register on the way
// up, wires on the way down, and a RAM that serves the endpoint's requests to a window of addresses. Whatever it does
// not serve goes on to the router as it came.
//
// Combinational: in_valid_i, in_data_i and down_busy_i to the way down and in_busy_o; out_busy_i to up_busy_o.

`include "ktpu_assert.svh"

module ktpu_adapter
  import ktpu_pkg::*;
#(
  // Lines of 256 bits that the RAM has, a power of two.
  parameter int unsigned MaxLines = 8192,
  localparam int unsigned LineWidth = $clog2(MaxLines)
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // Quasi-static: the endpoint's coordinate; log2 of the lines in use, 1..log2(MaxLines).
  input  pos_t       x_i,
  input  pos_t       y_i,
  input  logic [4:0] lines_log2_i,

  // From the endpoint.
  input  flit_t      up_data_i,
  input  logic       up_valid_i,
  output logic       up_busy_o,
  // To the router.
  output flit_t      out_data_o,
  output logic       out_valid_o,
  input  logic       out_busy_i,
  // From the router.
  input  flit_t      in_data_i,
  input  logic       in_valid_i,
  output logic       in_busy_o,
  // To the endpoint.
  output flit_t      down_data_o,
  output logic       down_valid_o,
  input  logic       down_busy_i,

  // Nothing changes any more unless something comes.
  output logic       resting_o
);

  localparam logic [15:0] CapsId      = 16'h0002;
  localparam logic [7:0]  CapsVersion = 8'h01;
  localparam logic [7:0]  OpWrite     = 8'h01;
  localparam logic [7:0]  OpReply     = 8'h02;
  localparam int unsigned LineBits    = 5;

  // What becomes of the flit in the register, decided as it comes in.
  typedef enum logic [2:0] {
    Pass,
    Read,
    Write,
    Beat,
    LastBeat
  } kind_e;
  typedef enum logic [1:0] {  // on the router's side
    Nothing,
    Flit,
    Reply
  } shown_e;

  logic [39:0]          base_d, base_q;
  logic                 enabled_d, enabled_q;
  logic [31:0]          served_q, forwarded_q;

  flit_t                flit_q;
  logic                 valid_d, valid_q;
  kind_e                kind_d, kind_q;
  logic [LineWidth-1:0] run_line_d, run_line_q;
  logic [9:0]           run_words_d, run_words_q;
  logic [2:0]           run_entry_d, run_entry_q;
  shown_e               shown_d, shown_q;
  logic                 reply_valid_d, reply_valid_q;
  flit_t                reply_d, reply_q;
  logic                 reply_load;
  logic [LineWidth-1:0] write_line_d, write_line_q;  // of the open write's next beat
  logic [8:0]           write_left_d, write_left_q;  // beats of it to come
  flit_t                ack_d, ack_q;
  logic                 held_d, held_q;              // the router's flit stands refused at the endpoint

  logic                 answer_valid, answers, running, room, quiet;
  flit_t                answer;
  logic                 is_control, leaves, gone, sent, take, is_request, served;
  ctrl_t                control, control_reply;
  mem_req_t             request;
  logic                 unused;

  // --- Down: an own answer goes first, but a flit of the router that stands refused stays on the wires (L1)
  assign control      = in_data_i.payload;
  assign is_control   = in_data_i.kind == FlitCuCtrl && control.op != OpReply && control.index[7:3] == 5'b11100;
  assign answers      = !held_q && answer_valid;
  assign down_valid_o = answers || (in_valid_i && !is_control);
  assign down_data_o  = answers ? answer : in_data_i;
  assign in_busy_o    = answers || (down_valid_o && down_busy_i);
  assign held_d       = down_valid_o && down_busy_i && !answers;

  // --- Up
  always_comb begin : leaving
    unique case (kind_q)
      Pass:     leaves = shown_q == Flit && !out_busy_i;
      Read:     leaves = !running;
      LastBeat: leaves = room;
      default:  leaves = 1'b1;
    endcase
  end
  assign gone        = valid_q && leaves;
  assign up_busy_o   = valid_q && !leaves;
  assign take        = up_valid_i && !up_busy_o;
  assign sent        = shown_q != Nothing && !out_busy_i;
  assign out_valid_o = shown_q != Nothing;
  assign out_data_o  = (shown_q == Reply) ? reply_q : flit_q;
  assign valid_d     = take || (valid_q && !gone);

  // --- What comes in from the endpoint
  logic [39:0] outside;  // address bits above the window that differ from its base
  logic        claims, fits, readable, streams;
  logic [2:0]  words, priced;
  logic [10:0] total, price;
  logic [LineWidth-1:0] line, line_mask;

  assign request    = up_data_i.payload;
  assign is_request = up_data_i.kind == FlitMemRdReq || up_data_i.kind == FlitMemWrReq;
  assign outside    = (request.addr ^ base_q) >> (6'(LineBits) + 6'(lines_log2_i));
  assign claims     = enabled_q && outside == '0;
  assign line_mask  = LineWidth'((32'd1 << lines_log2_i) - 32'd1);
  assign line       = LineWidth'(request.addr >> LineBits) & line_mask;
  assign streams    = up_data_i.kind == FlitMemRdReq && request.flags[MemFlagStream];
  assign words      = (request.entry_words == '0 || request.entry_words > 8'd4) ? 3'd4 : request.entry_words[2:0];
  assign priced     = (words == 3'd3) ? 3'd4 : words;
  assign total      = streams ? 11'(request.count) * 11'(words) : 11'(request.len) + 11'd1;
  assign price      = streams ? 11'(request.count) * 11'(priced) : 11'(request.len) + 11'd1;
  // The line after the run must still be one: the top line is in no run.
  assign fits       = 32'(line) + 32'(price) < (32'd1 << lines_log2_i);
  assign readable   = !request.flags[MemFlagQuant] && request.n_peer == '0 && !(streams && request.count == '0);

  always_comb begin : classify
    kind_d       = Pass;
    run_line_d   = line;
    run_words_d  = 10'(total);
    run_entry_d  = streams ? words : '0;
    write_line_d = write_line_q;
    write_left_d = write_left_q;
    ack_d        = ack_q;
    if (take) begin
      unique case (up_data_i.kind)
        FlitMemRdReq: if (claims && readable && fits) kind_d = Read;
        FlitMemWrReq: begin
          if (claims && fits && !up_data_i.rsvd[2] && write_left_q == '0) begin
            kind_d       = Write;
            write_line_d = line;
            write_left_d = 9'(request.len) + 9'd1;
            ack_d        = '0;
            ack_d.dst_x  = up_data_i.src_x;
            ack_d.dst_y  = up_data_i.src_y;
            ack_d.src_x  = up_data_i.dst_x;
            ack_d.src_y  = up_data_i.dst_y;
            ack_d.kind   = FlitMemWrAck;
            ack_d.txn    = up_data_i.txn;
            ack_d.last   = 1'b1;
          end
        end
        FlitMemWrData: begin  // unless it is of a write that went on to memory, or to another mesh
          if (write_left_q != '0 && !up_data_i.rsvd[2]) begin
            kind_d       = (write_left_q == 9'd1) ? LastBeat : Beat;
            run_line_d   = write_line_q;
            write_line_d = write_line_q + LineWidth'(1);
            write_left_d = write_left_q - 9'd1;
          end
        end
        default: ;
      endcase
    end
  end
  assign served = kind_d != Pass;

  // --- Control registers. One reply may be pending; what a write changes shows from the next cycle on.
  assign reply_load = in_valid_i && !answers && is_control && !reply_valid_q;

  always_comb begin : control_registers
    base_d    = base_q;
    enabled_d = enabled_q;
    if (reply_load && control.op == OpWrite) begin
      if (control.index == CtrlAdapterBase)   base_d    = control.value[39:0];
      if (control.index == CtrlAdapterEnable) enabled_d = control.value[0];
    end
    control_reply       = '0;
    control_reply.op    = OpReply;
    control_reply.index = control.index;
    case (control.index)
      CtrlAdapterCaps:     control_reply.value = {CapsId, CapsVersion, 8'(LineBits) + 8'(lines_log2_i),
                                                  32'd1 << lines_log2_i};
      CtrlAdapterBase:     control_reply.value = 64'(base_d);
      CtrlAdapterEnable:   control_reply.value = 64'(enabled_d);
      CtrlAdapterCounters: control_reply.value = {served_q, forwarded_q};
      default:             control_reply.value = '0;
    endcase
    reply_d         = '0;
    reply_d.dst_x   = in_data_i.src_x;
    reply_d.dst_y   = in_data_i.src_y;
    reply_d.src_x   = x_i;
    reply_d.src_y   = y_i;
    reply_d.kind    = FlitCuCtrl;
    reply_d.txn     = in_data_i.txn;
    reply_d.last    = 1'b1;
    reply_d.payload = control_reply;
  end
  assign reply_valid_d = reply_load || (reply_valid_q && !(sent && shown_q == Reply));

  always_comb begin : show
    shown_d = shown_q;
    if (shown_q == Nothing || sent) begin
      shown_d = Nothing;
      if (reply_valid_d) shown_d = Reply;
      else if (valid_d && (take ? kind_d == Pass : kind_q == Pass)) shown_d = Flit;
    end
  end

  ktpu_adapter_reader #(
    .MaxLines (MaxLines)
  ) u_reader (
    .clk_i,
    .rst_ni,
    .start_i        (gone && kind_q == Read),
    .request_i      (flit_q),
    .line_i         (run_line_q),
    .words_i        (run_words_q),
    .entry_words_i  (run_entry_q),
    .running_o      (running),
    .ack_i          (gone && kind_q == LastBeat),
    .ack_flit_i     (ack_q),
    .room_o         (room),
    .write_i        (gone && (kind_q == Beat || kind_q == LastBeat)),
    .write_line_i   (run_line_q),
    .write_word_i   (flit_q.payload),
    .answer_valid_o (answer_valid),
    .answer_o       (answer),
    .answer_taken_i (answers && !down_busy_i),
    .quiet_o        (quiet)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : registers
    if (!rst_ni) begin
      base_q        <= '0;
      enabled_q     <= 1'b0;
      served_q      <= '0;
      forwarded_q   <= '0;
      valid_q       <= 1'b0;
      shown_q       <= Nothing;
      reply_valid_q <= 1'b0;
      write_left_q  <= '0;
      held_q        <= 1'b0;
    end else begin
      base_q        <= base_d;
      enabled_q     <= enabled_d;
      served_q      <= served_q + 32'(take && is_request && served);
      forwarded_q   <= forwarded_q + 32'(take && is_request && !served);
      valid_q       <= valid_d;
      shown_q       <= shown_d;
      reply_valid_q <= reply_valid_d;
      write_left_q  <= write_left_d;
      held_q        <= held_d;
    end
  end

  always_ff @(posedge clk_i) begin : data
    write_line_q <= write_line_d;
    ack_q        <= ack_d;
    if (reply_load) reply_q <= reply_d;
    if (take) begin
      flit_q      <= up_data_i;
      kind_q      <= kind_d;
      run_line_q  <= run_line_d;
      run_words_q <= run_words_d;
      run_entry_q <= run_entry_d;
    end
  end

  assign resting_o = !valid_q && !reply_valid_q && quiet && !down_valid_o;
  assign unused    = &{1'b0, control.value[63:40], control.unused_0, request.flags[7], request.flags[5],
                       request.flags[3:0], request.peer0, request.peer1, request.peer2, request.unused_0, total[10]};

  `KTPU_ASSERT(LinesAreStatic, $stable(lines_log2_i))
  `KTPU_ASSERT(LinesAreInRange, lines_log2_i != '0 && 32'(lines_log2_i) <= LineWidth)
  `KTPU_ASSERT(RefusedUpStays, out_valid_o && out_busy_i |=> out_valid_o && $stable(out_data_o))
  `KTPU_ASSERT(RefusedDownStays, down_valid_o && down_busy_i |=> down_valid_o && $stable(down_data_o))

endmodule
