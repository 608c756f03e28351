// SPDX-License-Identifier: Apache-2.0
// Types and widths shared by the cluster's modules (cluster.md).

package ktpu_cluster_pkg;

  import ktpu_pkg::*;

  // Operand entries: 4 lanes x 32 K of 7-bit elements and 4 scales. Here an entry is four K slices of 224 bits; in
  // a slice element (lane, k) is at 7 * (8 * lane + k), for both operands.
  localparam int unsigned SliceWidth   = 224;
  localparam int unsigned NumSlices    = 4;
  localparam int unsigned ElementWidth = SliceWidth * NumSlices;
  localparam int unsigned ScalesWidth  = 32;  // lane 0 in the lowest byte
  localparam int unsigned EntryWidth   = ElementWidth + ScalesWidth;

  // A sub-tile: 16 lanes, row-major.
  localparam int unsigned NumLanes     = 16;
  localparam int unsigned PartWidth    = 19;  // an integer dot product
  localparam int unsigned PartsWidth   = NumLanes * PartWidth;
  localparam int unsigned AccMw        = 14;  // accumulator mantissa
  localparam int unsigned AccWidth     = AccMw + 8;
  localparam int unsigned SubTileWidth = NumLanes * AccWidth;
  localparam int unsigned HighWidth    = SubTileWidth - PayloadWidth;  // of the second peer granule

  // Accumulator commands with the machine's codes (section 7).
  typedef enum logic [2:0] {
    AccNop     = 3'd0,
    AccLoad    = 3'd1,
    AccAdd     = 3'd2,
    AccAddPeer = 3'd3,
    AccSend    = 3'd4,
    AccEmit    = 3'd5,
    AccAddEmit = 3'd7
  } acc_op_e;

  typedef enum logic [3:0] {
    ClusterFill  = 4'd1,
    ClusterGemm  = 4'd2,
    ClusterDrain = 4'd3
  } cluster_op_e;

  // Where results go: the fields of an instruction that a write-back captures (section 5.5).
  typedef struct packed {
    logic [39:0] addr;
    logic        node;
    pos_t        dst_x;
    pos_t        dst_y;
    logic [7:0]  buf_id;
    logic [7:0]  flags;
    pos_t        ack_y;
    pos_t        ack_x;
    logic [1:0]  mesh;
    logic [7:0]  fin;
  } destination_t;

  // What happens inside in this cycle, for tools: nothing outside depends on it.
  typedef struct packed {
    logic [15:0] tile;    // of the command at the accumulator's port
    acc_op_e     lost;    // the sweep's command that loses the port
    acc_op_e     command; // the command at the port
    logic        l1_write;
    logic        push;    // a result enters the drain queue
    logic        drain_busy;
    logic        gemm_busy;
    logic        sweep_busy;
    logic        drain_start;
    logic        gemm_start;
    logic        fault;   // with retire
    logic        retire;
    logic        issue;   // the instruction was taken
  } cluster_events_t;

  // What the operand fields of 0 mean.
  function automatic logic [7:0] at_least_1(logic [7:0] value);
    return (value == 8'd0) ? 8'd1 : value;
  endfunction

endpackage
