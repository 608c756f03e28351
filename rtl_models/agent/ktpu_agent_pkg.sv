// SPDX-License-Identifier: Apache-2.0
// Types and numbers shared by the control agent's modules (orchestrator.md section 3). Register offsets are in the
// generated ktpu_pkg.

package ktpu_agent_pkg;

  import ktpu_pkg::*;

  localparam int unsigned NumBuses     = 2;    // the host, and a command engine
  localparam int unsigned WordsPerFlit = 5;    // of 64 bits, in the register map
  localparam int unsigned StageWords   = 640;  // 128 slots
  localparam int unsigned MailboxDepth = 16;   // TX and RX FIFO

  typedef logic [NumBuses-1:0] bus_mask_t;
  typedef logic [9:0]          stage_index_t;

  // Quasi-static.
  typedef struct packed {
    pos_t         x;           // what dispatched flits get as their source: memory port 0
    pos_t         y;
    logic [7:0]   grid_lo;     // what CAPS shows
    logic [7:0]   grid_hi;
    stage_index_t stage_words; // of the staging RAM, up to StageWords
    logic         quirk_o1;    // NODE_STATUS survives a reset
  } agent_config_t;

  // Pulses, acting one cycle after their write (orchestrator.md section 2).
  typedef struct packed {
    logic        kick;
    logic        clear_done;
    logic        load_credit;
    logic        mailbox_push;
    logic        rx_pop;
    logic [15:0] credit;  // with load_credit
  } agent_pulses_t;

  // What a read can see, besides NODE_STATUS.
  typedef struct packed {
    logic [63:0] ctrl;
    logic [63:0] irq_en;
    logic [7:0]  prog_dst;
    logic [15:0] prog_len;
    logic [15:0] prog_base;
    logic        run;
    logic [15:0] left;
    logic [15:0] credit;
    logic [15:0] sig_done;
    logic        tx_valid;  // TX FIFO not empty
    logic        tx_full;
    logic        rx_valid;
    logic        overflow;
  } agent_state_t;

  // What happens in this cycle, for tools: nothing outside depends on it.
  typedef struct packed {
    logic  kick;  // the pulse
    logic  push;  // `flit` goes into the TX FIFO
    flit_t flit;
  } agent_events_t;

endpackage
