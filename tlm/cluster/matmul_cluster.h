// SPDX-License-Identifier: Apache-2.0
// The matmul cluster (cluster.md, all but section 16).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tlm/cluster/accumulator.h"
#include "tlm/cluster/cluster_cycles.h"
#include "tlm/cluster/cluster_probe.h"
#include "tlm/cluster/peer_receiver.h"
#include "tlm/cluster/sweep_schedule.h"
#include "tlm/cluster/write_back.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/unit.h"

namespace ktpu::cluster {

struct ClusterParams {
  arch::Coord at;             // own coordinate
  arch::Coord memory_port;    // where fills and drains to memory go
  unsigned tiles = 4096;      // resident sub-tiles; power of two
  unsigned l1_a = 512;        // L1 entries of operand A; power of two, at most 512
  unsigned l1_b = 512;        // L1 entries of operand B
  unsigned acc_mw = 14;       // accumulator mantissa bits, 9..24
  unsigned inst_depth = 512;  // instruction FIFO
  unsigned recv_depth = 512;  // receive FIFO
  bool quirks = true;         // true: C1 as in the reference machine; false: closed (quirks.md)
};

class MatmulCluster final : public sim::Unit, public noc::EndpointReports {
 public:
  // Binds the links. Throws UserError on numbers out of range.
  MatmulCluster(std::string name, const ClusterParams& params, sim::FlitPort links);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override { base_.drive(now); }
  sim::Cycle clock(sim::Cycle now) override;
  bool is_mealy() const override { return true; }  // the acknowledge bypass
  bool settle(sim::Cycle now) override { return base_.settle(now); }
  std::vector<const sim::LinkBase*> settle_reads() const override { return {base_.links().in}; }
  std::vector<const sim::LinkBase*> settle_writes() const override { return {base_.links().in}; }
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  const ClusterParams& params() const { return params_; }
  // Before the run, or while idle. Null: none.
  void set_probe(ClusterProbe* probe) { probe_ = probe; }
  // Kinds: fill-too-long, fill-past-bank, gemm-past-bank, too-many-tiles, drain-too-long, emit-on-load,
  // emit-to-buffer-2, emit-without-drain, drain-over-batch, fused-drain-count, fused-drain-destination (an
  // instruction against section 15); tile-never-loaded, reuse-distance, l1-write-under-sweep,
  // streams-interleaved (what came of it). The unit goes on as the machine would.
  const noc::EndpointMisuseLog& misuse() const override { return misuse_; }
  std::vector<noc::QuirkHits> quirk_hits() const override;  // C1
  // d_out of section 9.1: results issued and not yet taken by the write port, modulo 2^16.
  unsigned results_outstanding() const { return d_out_; }
  // No instruction, sweep, drain, stream or flit anywhere in the unit.
  bool idle(sim::Cycle now) const;

  // Back doors; call between steps, after sync(). `tile` is taken modulo the tiles, `entry` has the bank in
  // bit 8 and is cut to the L1's size. preload_tile() counts as a LOAD.
  const arch::SubTile& tile(unsigned tile) const { return data_.tile(tile); }
  void preload_tile(unsigned tile, const arch::SubTile& value) { data_.set_tile(tile, value); }
  const arch::OperandEntry& l1(arch::Side side, unsigned entry) const {
    return data_.entry(side, data_.entry_index(side, entry));
  }
  void preload_l1(arch::Side side, unsigned entry, const arch::OperandEntry& value) {
    data_.set_entry(side, data_.entry_index(side, entry), value);
  }

 private:
  // Sequencer. The pulse states are the cycle after a start test passes (s+1), kGemmRetire is s+2.
  enum class State : std::uint8_t {
    kIdle,
    kFill,
    kGemmStart,
    kGemmPulse,
    kGemmRetire,
    kDrainStart,
    kDrainPulse,
    kDrainWait,
    kDone,
  };
  struct Push {
    sim::Cycle due = 0;
    arch::Word256 word{};
  };
  // Cycles by cycle number modulo 64: something is due then.
  class DueMask {
   public:
    void add(sim::Cycle c) { bits_ |= 1ull << (c % 64); }
    bool take(sim::Cycle now) {
      const std::uint64_t bit = 1ull << (now % 64);
      const bool due = bits_ & bit;
      bits_ &= ~bit;
      return due;
    }
    bool any() const { return bits_ != 0; }
    void clear() { bits_ = 0; }
    std::uint64_t& bits() { return bits_; }
    // First due cycle after `now`; needs any().
    sim::Cycle next(sim::Cycle now) const;

   private:
    std::uint64_t bits_ = 0;
  };

  // Levels of cycle `t` from the registers of that cycle (cluster.md sections 9.1 and 11).
  bool drain_busy() const { return d_run_ || d_out_ != 0 || barrier_; }
  bool sweep_busy(sim::Cycle t) const { return sweep_.running() || t < sweep_end(); }
  bool gemm_busy(sim::Cycle t) const { return sweep_.running() || t < gemm_end(); }
  sim::Cycle sweep_end() const;  // first cycle with sweep_busy low once all is issued
  sim::Cycle gemm_end() const;
  bool stalled() const;

  // Parts of clock(), in this order.
  void account(sim::Cycle end);
  // matmul_cluster_cycles.cpp: where the cycles go.
  void account_sweep(sim::Cycle end);
  SequencerCycle sequencer_state(sim::Cycle t) const;
  DrainCycle drain_state() const;
  ReceiveCycle receive_state() const;
  void enter_states(sim::Cycle t);
  void note_emits();
  void run_command(sim::Cycle now);
  void push_results(sim::Cycle now);
  struct Sent {
    bool ack = false, request = false, write_back = false;
  };
  Sent arbitrate();
  bool issue_command(sim::Cycle now, bool drain, unsigned& counted);
  void run_sequencer(sim::Cycle now, bool drain, bool write_back_idle, std::uint16_t taken);
  void receive(sim::Cycle now, bool filling, bool peer_can_take);
  sim::Cycle wake(sim::Cycle now, sim::Cycle base_wake) const;

  void execute_through(sim::Cycle command_cycle, bool tracked = false);
  void lose_command(sim::Cycle now);
  void decode(sim::Cycle now);
  bool gemm_may_start(sim::Cycle now, bool drain) const;
  void start_gemm(sim::Cycle now);
  void start_drain(sim::Cycle now, std::uint16_t taken);
  void store_word(sim::Cycle now, arch::Side side, unsigned entry, unsigned word,
                  const std::uint64_t* payload);
  bool wide() const { return inst_.eff_gm() * inst_.eff_gn() >= 5; }
  bool leads() const;
  arch::Flit fill_request() const;
  sim::Cycle when_free(bool gemm_too, sim::Cycle now) const;

  // matmul_cluster_report.cpp: nothing below changes what the machine does.
  void check_program(sim::Cycle now);
  void report(sim::Cycle cycle, const char* kind, std::string text);
  void collect_reports(sim::Cycle now);
  void probe_cycle(sim::Cycle now, bool drain);
  void probe_sweep_command(sim::Cycle now, bool lost);
  std::string instruction_text() const;

  ClusterParams params_;
  noc::EndpointBase base_;
  Accumulator data_;
  SweepSchedule sweep_;
  WriteBack write_back_;
  PeerReceiver peer_;

  // Sequencer.
  State state_ = State::kIdle;
  bool entered_ = false;    // first cycle of a state entered from idle: inst_ready
  bool exec_done_ = false;  // pulse register
  bool exec_fault_ = false;
  arch::ClusterInst inst_{};
  std::uint8_t received_ = 0;   // L1 entries of the current FILL
  bool request_valid_ = false;  // FILL request register
  arch::Flit request_{};
  std::uint16_t done_count_ = 0;
  bool fault_ = false;
  arch::OperandEntry assembly_{};  // the one entry being put together

  // Sweep flags.
  sim::Cycle command_end_ = 0;     // accumulator busy until here because of single commands
  std::uint32_t emit_from_ = ~0u;  // first issue that counts as an emit
  bool emit_real_ = false;         // those issues are ADD_EMIT and not LOAD
  std::uint32_t emits_seen_ = 0;   // issues from emit_from_ on that were entered below
  DueMask emit_count_;             // d_out counts an ADD_EMIT at the end of this cycle
  DueMask emit_push_;              // its result enters the drain queue
  // Single commands: the register in front of the port, and results on their way to the drain queue.
  AccOp command_ = AccOp::kNop;
  std::uint32_t command_tile_ = 0;
  arch::SubTile command_value_{};
  static constexpr std::uint32_t kPushes = 16;
  std::array<Push, kPushes> push_{};
  std::uint32_t push_base_ = 0, push_tail_ = 0;

  // Drain control (section 9.1).
  std::uint16_t d_out_ = 0;
  bool d_run_ = false, d_send_ = false, d_gap_ = false, batch_ = false, barrier_ = false;
  std::uint16_t d_left_ = 0, d_tile_ = 0, barrier_n_ = 0;

  ClusterProbe* probe_ = nullptr;
  bool shown_[3]{};                                   // levels last told to the probe
  bool told_unloaded_ = false, told_hazard_ = false;  // reported for what runs now
  // For check_program(): the emitting GEMM whose fused DRAIN has not come yet.
  bool batch_open_ = false;
  arch::ClusterInst batch_inst_{};
  sim::Cycle accounted_ = 0;
  sim::Attribution<SequencerCycle, kSequencerCycles> sequencer_cycles_;
  sim::Attribution<DrainCycle, kDrainCycles> drain_states_;
  sim::Attribution<ReceiveCycle, kReceiveCycles> receive_cycles_;
  std::array<std::uint64_t, kSweepCycles.size()> sweep_cycles_{};
  sim::Cycle sweep_accounted_ = 0;
  std::uint32_t issues_accounted_ = 0;  // of the present sweep
  noc::EndpointMisuseLog misuse_;
  std::uint64_t compute_cycles_ = 0, fill_cycles_ = 0, drain_cycles_ = 0, stall_cycles_ = 0, fills_ = 0,
                gemms_ = 0, drains_ = 0, unknown_ = 0, commands_ = 0, sweep_commands_ = 0, lost_commands_ = 0,
                entries_ = 0, discarded_ = 0, c1_hits_ = 0;
  sim::Cycle c1_cycle_ = 0;  // of the first hit
  std::string c1_text_;
};

}  // namespace ktpu::cluster
