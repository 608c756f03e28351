// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/control_agent.h"

#include <algorithm>

#include "arch/encoding/codes.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::orchestrator {

namespace reg = arch::agent;

namespace {

constexpr std::uint32_t kDecoded = 0xFFFF;   // address bits the slave looks at (orchestrator.md section 1)
constexpr std::uint32_t kStageEnd = 0x3400;  // 128 slots of 40 bytes (orchestrator.md section 3.3)
constexpr std::uint32_t kNodeStatusEnd = 0x2000;  // with the alias
constexpr std::uint32_t kAuxOffset = 0xF8;        // in the AUX window; the low 3 bits are ignored
constexpr std::uint32_t kMailboxDepth = 16;       // TX and RX (orchestrator.md section 3.4)

}  // namespace

ControlAgent::ControlAgent(const ControlAgentParams& params, std::vector<RegisterBus*> buses,
                           memory::AuxWindow* aux)
    : params_(params),
      buses_(std::move(buses)),
      aux_(aux),
      stage_(static_cast<std::size_t>(params.staging_flits) * reg::kWordsPerFlit),
      checks_(params.staging_flits, ledger_),
      tx_(sim::FifoShape::sync(kMailboxDepth)),
      rx_(sim::FifoShape::sync(kMailboxDepth)) {
  KTPU_CHECK(buses_.size() <= read_q_.size(), "{} register buses", buses_.size());
}

void ControlAgent::reset(sim::Cycle start) {
  ctrl_ = irq_en_ = 0;
  prog_dst_ = 0;
  prog_len_ = prog_base_ = credit_ = sig_done_ = 0;
  if (!params_.quirks) node_status_.fill(0);  // quirk O1
  for (std::size_t node = 0; node < stale_.size(); ++node) stale_[node] = node_status_[node] != 0;
  checks_.reset();
  kick_ = clear_done_ = load_credit_ = mailbox_push_ = rx_pop_ = false;
  aux_count_ = 0;
  run_ = push_ = false;
  left_ = 0;
  pointer_ = 0;
  word_ = 0;
  tx_.reset();
  rx_.reset();
  ledger_.reset();
  out_valid_ = overflow_ = signal_in_ = rx_in_ = overflow_in_ = false;
  dispatch_cycles_.reset(start);
  tx_cycles_.reset(start);
}

void ControlAgent::drive(sim::Cycle) {
  for (std::size_t b = 0; b < buses_.size(); ++b) buses_[b]->read_data = read_q_[b];
}

bool ControlAgent::offer(sim::Cycle now, const arch::Flit& flit) {
  if (rx_.full()) overflow_in_ = true;  // signals count too (orchestrator.md section 3.1, RX_STATUS)
  if (flit.type() == arch::FlitType::kCuSignal) {
    signal_in_ = true;
    flit_in_ = flit;
    return true;
  }
  if (rx_.full()) {
    ledger_.rx_lost.add(now);
    checks_.mailbox_lost(now, flit);
    return false;
  }
  rx_in_ = true;
  flit_in_ = flit;
  return true;
}

std::uint64_t ControlAgent::peek(std::uint32_t offset, sim::Cycle now) const {
  offset &= kDecoded;
  if (offset >= reg::kNodeStatus && offset < kNodeStatusEnd) return node_status_[(offset >> 3) & 255];
  if (offset >= reg::kRxFlit && offset < reg::kRxFlit + 8 * reg::kWordsPerFlit)
    return rx_.readable(now) ? rx_.head().w[(offset - reg::kRxFlit) / 8] : 0;
  if (offset >= reg::kAuxStatW && offset < reg::kAuxStatW + 8 * reg::kAuxStatWords)
    return aux_ == nullptr ? 0 : aux_->aux_status((offset - reg::kAuxStatW) / 8);
  switch (offset) {
    case reg::kCtrl:
      return ctrl_;
    case reg::kStatus:
      return (run_ || tx_.readable(now) ? 1u : 0u) | 4u;
    case reg::kCaps:
      return arch::kFlitBits | static_cast<std::uint64_t>(arch::kPosBits) << 16 |
             static_cast<std::uint64_t>(params_.grid_lo) << 24 |
             static_cast<std::uint64_t>(params_.grid_hi) << 32;
    case reg::kIrqEn:
      return irq_en_;
    case reg::kProgDst:
      return prog_dst_;
    case reg::kProgLen:
      return prog_len_;
    case reg::kProgStat:
      return (run_ ? 1u : 0u) | static_cast<std::uint64_t>(left_) << 1 |
             static_cast<std::uint64_t>(credit_) << 17;
    case reg::kProgCred:
      return credit_;
    case reg::kProgBase:
      return prog_base_;
    case reg::kSigDone:
      return sig_done_;
    case reg::kAuxStat:
      return aux_ == nullptr ? 0 : aux_->aux_stat();
    case reg::kTxStatus:
      return static_cast<std::uint64_t>(tx_full()) << 16;
    case reg::kRxStatus:
      return static_cast<std::uint64_t>(!rx_.readable(now)) << 16 | static_cast<std::uint64_t>(overflow_)
                                                                        << 17;
    default:
      return 0;
  }
}

void ControlAgent::write(sim::Cycle now, const BusBeat& beat) {
  const std::uint32_t offset = beat.write_offset & kDecoded;
  ++writes_;
  if (offset >= reg::kStage && offset < kStageEnd) {
    const std::size_t word = (offset - reg::kStage) / 8;
    if (word < stage_.size()) stage_[word] = beat.data;
    checks_.staged(now, word, pointer_, run_ ? pointer_ + left_ * reg::kWordsPerFlit - word_ : 0);
    return;
  }
  if (offset >= reg::kTxFlit && offset < reg::kTxFlit + 8 * reg::kWordsPerFlit) {
    std::uint64_t mask = 0;
    for (unsigned b = 0; b < 8; ++b)
      if ((beat.strobe >> b) & 1) mask |= 0xFFull << (8 * b);
    std::uint64_t& word = tx_flit_[(offset - reg::kTxFlit) / 8];
    word = (word & ~mask) | (beat.data & mask);
    return;
  }
  if (offset >= reg::kAuxCfgMover && offset < reg::kAuxCfgEnd) {
    aux_beats_[aux_count_++] = {offset & kAuxOffset, beat.data};
    return;
  }
  switch (offset) {
    case reg::kCtrl:
      ctrl_ = beat.data;
      break;
    case reg::kIrqEn:
      irq_en_ = beat.data;
      break;
    case reg::kProgDst:
      if (run_ && prog_dst_ != static_cast<std::uint8_t>(beat.data)) {
        ledger_.redirects.add(now);
        checks_.redirected(now, prog_dst_, static_cast<std::uint8_t>(beat.data), left_);
      }
      prog_dst_ = static_cast<std::uint8_t>(beat.data);
      break;
    case reg::kProgLen:
      prog_len_ = static_cast<std::uint16_t>(beat.data);
      break;
    case reg::kProgBase:
      prog_base_ = static_cast<std::uint16_t>(beat.data);
      break;
    case reg::kProgKick:
      kick_ = true;
      if (probe_ != nullptr) probe_->kick(now + 1);
      break;
    case reg::kProgCred:
      load_credit_ = true;
      credit_value_ = static_cast<std::uint16_t>(beat.data);
      break;
    case reg::kSigDone:
      clear_done_ = true;
      break;
    case reg::kTxKick:
      mailbox_push_ = !tx_full_now_ && !run_now_;
      if (!mailbox_push_) {
        ledger_.sends_ignored.add(now);
        checks_.send_ignored(now, run_now_);
      }
      break;
    case reg::kRxPop:
      rx_pop_ = rx_readable_now_;
      break;
    default:
      break;  // unlisted or read-only: ignored
  }
}

void ControlAgent::take_signal(const arch::Flit& flit) {
  namespace ns = reg::node_status_word;
  const std::uint64_t code = flit.bits(248, 8), argument = flit.bits(216, 32);
  std::uint64_t& word = node_status_[flit.src().node_byte()];
  const std::uint64_t count = (arch::get(&word, ns::kCount) + 1) & ns::kCount.mask();
  word = code << ns::kCode.lsb | argument << ns::kArg.lsb | count << ns::kCount.lsb | 1;
  ++signals_;
  ledger_.signal(flit);
  stale_[flit.src().node_byte()] = 0;
}

// Quirk O1: a word from before the last reset.
void ControlAgent::note_stale_read(sim::Cycle now, std::uint32_t offset) {
  offset &= kDecoded;
  if (offset < reg::kNodeStatus || offset >= kNodeStatusEnd) return;
  const unsigned node = (offset >> 3) & 255;
  if (stale_[node] == 0 || o1_hits_++ != 0) return;
  const arch::Coord at = arch::Coord::from_node_byte(node);
  o1_cycle_ = now;
  o1_text_ = fmt::format("NODE_STATUS of ({},{}) was read as 0x{:x}, from before the last reset", at.x, at.y,
                         node_status_[node]);
}

std::vector<noc::QuirkHits> ControlAgent::quirk_hits() const {
  if (o1_hits_ == 0) return {};
  return {{arch::QuirkId::kO1, o1_hits_, o1_cycle_, o1_text_}};
}

void ControlAgent::dispatch(sim::Cycle now) {
  const bool can_fetch = run_ && !tx_full_now_ && credit_ != 0;
  const bool push_now = push_;
  push_ = false;
  if (push_now) {
    push_flit_.set_dst(arch::Coord::from_node_byte(prog_dst_));
    push_flit_.set_src(params_.position);
    tx_.push(now, push_flit_);
    ++dispatched_;
    ++ledger_.pushed;
    ledger_.flit_sent(push_flit_);
    checks_.pushed(now, push_flit_);
    if (probe_ != nullptr) probe_->push(now, push_flit_);
  }
  if (run_ && credit_ == 0) {
    if (starved_since_ == sim::kNever) {
      starved_since_ = now;
      checks_.starved(now, left_);
    }
  } else if (starved_since_ != sim::kNever) {
    starved_cycles_ += now - starved_since_;
    starved_since_ = sim::kNever;
  }
  if (can_fetch) {
    if (pointer_ >= stage_.size()) ledger_.stage_overruns.add(now);
    assembly_.w[word_] = pointer_ < stage_.size() ? stage_[pointer_] : 0;
    ++pointer_;
    if (++word_ == reg::kWordsPerFlit) {
      word_ = 0;
      push_ = true;
      push_flit_ = assembly_;
      push_flit_.w[4] &= 0xFFFFFFFFu;
      if (left_ == 1) {
        run_ = false;
      } else {
        --left_;
      }
    }
  }
  const bool credited =
      signal_in_ && flit_in_.bits(248, 8) == static_cast<std::uint64_t>(arch::SignalCode::kInstComplete);
  if (load_credit_) {
    credit_ = credit_value_;
    checks_.seeded();
    ledger_.seed_written(now, credit_value_);
  } else if (push_now && !credited) {
    if (credit_ != 0) --credit_;
  } else if (credited && !push_now) {
    ++credit_;
  }
}

sim::Cycle ControlAgent::clock(sim::Cycle now, bool out_taken) {
  // Reads see the registers of this cycle.
  bool read = false;
  for (std::size_t b = 0; b < buses_.size(); ++b) {
    const sim::Link<BusBeat>& beat = buses_[b]->beat;
    if (beat.valid() && beat.data().read) {
      read_q_[b] = peek(beat.data().read_offset, now);
      note_stale_read(now, beat.data().read_offset);
      ++reads_;
      read = true;
    }
  }
  if (out_taken && probe_ != nullptr) probe_->sent(now, out_);
  if (out_valid_) tx_cycles_.enter(now, out_taken ? TxCycle::kSending : TxCycle::kBlocked);
  tx_full_now_ = tx_.full();
  rx_readable_now_ = rx_.readable(now);
  run_now_ = run_;

  const bool kick = kick_, clear = clear_done_, pop = rx_pop_, mailbox = mailbox_push_;
  const bool started = kick && !run_ && prog_len_ != 0;
  if (kick && !started) (run_ ? ledger_.kicks_in_run : ledger_.kicks_empty).add(now);
  if (kick) checks_.kicked(now, {run_, left_, prog_len_, prog_base_, prog_dst_});

  // Output register, before the FIFO takes this cycle's push.
  if (!out_valid_ || out_taken) {
    out_valid_ = tx_.readable(now);
    if (out_valid_) {
      out_ = tx_.head();
      tx_.pop(now);
    }
  }
  if (pop && rx_readable_now_) rx_.pop(now);
  if (mailbox) {
    arch::Flit flit;
    flit.w = tx_flit_;
    flit.w[4] &= 0xFFFFFFFFu;
    tx_.push(now, flit);
    ++mailbox_sent_;
    ledger_.flit_sent(flit);
    if (flit.type() == arch::FlitType::kCuInst) checks_.pushed(now, flit);
    if (probe_ != nullptr) probe_->push(now, flit);
  }
  dispatch(now);
  if (started) {
    run_ = true;
    left_ = prog_len_;
    pointer_ = static_cast<std::uint32_t>(prog_base_) * reg::kWordsPerFlit;
    word_ = 0;
  }
  if (signal_in_ || rx_in_) {
    if (probe_ != nullptr) probe_->received(now, flit_in_);
    if (signal_in_) {
      if (flit_in_.bits(248, 8) == static_cast<std::uint64_t>(arch::SignalCode::kFault) &&
          faults_.size() < kFaultsKept)
        faults_.push_back({now, flit_in_.src(), static_cast<std::uint32_t>(flit_in_.bits(216, 32))});
      take_signal(flit_in_);
    } else {
      rx_.push(now, flit_in_);
      ++mailbox_received_;
    }
  }
  if (clear) {
    sig_done_ = 0;
    if (signal_in_) ledger_.signals_cleared.add(now);
    checks_.done_cleared(now, signal_in_, run_);
  } else if (signal_in_) {
    ++sig_done_;
  }
  overflow_ = overflow_ || overflow_in_;
  for (unsigned i = 0; i < aux_count_; ++i)
    if (aux_ != nullptr) aux_->aux_write(now, aux_beats_[i].offset, aux_beats_[i].data);
  aux_count_ = 0;
  kick_ = clear_done_ = load_credit_ = mailbox_push_ = rx_pop_ = false;
  signal_in_ = rx_in_ = overflow_in_ = false;

  for (RegisterBus* bus : buses_)
    if (bus->beat.valid() && bus->beat.data().write) write(now, bus->beat.data());

  if (run_ || dispatch_cycles_.state() != DispatchCycle::kIdle)
    dispatch_cycles_.enter(now + 1, dispatch_state());
  if (!out_valid_) tx_cycles_.enter(now + 1, TxCycle::kIdle);
  if (read || kick_ || clear_done_ || load_credit_ || mailbox_push_ || rx_pop_ || aux_count_ != 0 || push_ ||
      out_valid_)
    return now + 1;
  if (run_ && credit_ != 0 && !tx_full()) return now + 1;
  return tx_.readable_from();
}

// From the registers alone, which do not change while the agent sleeps.
DispatchCycle ControlAgent::dispatch_state() const {
  if (run_ && tx_full()) return DispatchCycle::kTxFull;
  if (run_ && credit_ == 0 && !push_) return DispatchCycle::kCredit;
  return run_ || push_ ? DispatchCycle::kDispatching : DispatchCycle::kIdle;
}

void ControlAgent::sync(sim::Cycle now) {
  dispatch_cycles_.sync(now);
  tx_cycles_.sync(now);
}

void ControlAgent::visit(sim::Archive& a) {
  a.state("ctrl", ctrl_);
  a.state("irq_en", irq_en_);
  a.scope("dispatch", [&] {
    a.state("dst", prog_dst_, 8);
    a.state("len", prog_len_, 16);
    a.state("base", prog_base_, 16);
    a.state("run", run_, 1);
    a.state("left", left_, 16);
    a.state("credit", credit_, 16);
    a.state("pointer", pointer_, 20);
    a.state("word", word_, 3);
    a.state("push", push_, 1);
    a.flit("assembly", assembly_);
    a.flit("push_flit", push_flit_);
    dispatch_cycles_.visit(a);
  });
  a.state("sig_done", sig_done_, 16);
  a.memory("node_status", node_status_.data(), node_status_.size());
  a.memory("stage", stage_.data(), stage_.size());
  a.memory("stale", stale_.data(), stale_.size());
  a.scope("checks", [&] { checks_.visit(a); });
  a.memory("tx_flit", tx_flit_.data(), tx_flit_.size());
  tx_.visit(a, "tx");
  a.scope("out", [&] { tx_cycles_.visit(a); });
  rx_.visit(a, "rx");
  a.state("out_valid", out_valid_, 1);
  a.flit("out", out_);
  a.state("rx_overflow", overflow_, 1);
  a.state("kick", kick_, 1);
  a.state("clear_done", clear_done_, 1);
  a.state("load_credit", load_credit_, 1);
  a.state("mailbox_push", mailbox_push_, 1);
  a.state("rx_pop", rx_pop_, 1);
  a.state("aux_count", aux_count_, 2);
  for (std::size_t b = 0; b < aux_beats_.size(); ++b) {
    a.state(fmt::format("aux_offset{}", b), aux_beats_[b].offset, 8);
    a.state(fmt::format("aux_data{}", b), aux_beats_[b].data);
  }
  a.counter("dispatched", dispatched_, "flits", "Flits the dispatcher pushed towards the mesh");
  a.counter("signals", signals_, "flits", "CU_SIGNAL flits received");
  a.counter("mailbox_sent", mailbox_sent_, "flits", "Flits sent through the mailbox");
  a.counter("mailbox_received", mailbox_received_, "flits", "Flits put into the receive mailbox");
  a.counter("credit_starved", starved_cycles_, "cycles",
            "Cycles a finished stall of the dispatcher waited for dispatch credit");
  ledger_.visit(a);
  a.counter("quirk_o1", o1_hits_, "reads", "Reads of NODE_STATUS words from before a reset (quirk O1).");
  a.counter("writes", writes_, "writes", "Register writes");
  a.counter("reads", reads_, "reads", "Register reads");
  if (!a.is_checkpoint()) return;
  a.kept("credit_value", credit_value_);
  a.kept("starved_since", starved_since_);
  a.kept_memory("read_q", read_q_.data(), read_q_.size());
  for (RegisterBus* bus : buses_) a.kept("read_data", bus->read_data);
  a.kept_list("faults", faults_, [&](SignalledFault& fault) {
    a.kept("cycle", fault.cycle);
    a.kept("node", fault.node);
    a.kept("argument", fault.argument);
  });
}

// Parts: dispatcher, agent output.
std::vector<sim::Wait> ControlAgent::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  const auto add = [&](std::string_view part, std::string_view kind, std::string what) -> sim::Wait& {
    waits.push_back({.what = std::move(what), .part = std::string(part), .kind = kind});
    return waits.back();
  };
  if (run_ && credit_ == 0) {
    // A credit comes back when a node completes an instruction.
    bool asked = false;
    for (unsigned node = 0; node < ledger_.outstanding.size(); ++node) {
      if (ledger_.outstanding[node] == 0) continue;
      const arch::Coord at = arch::Coord::from_node_byte(node);
      sim::Wait& wait =
          add("dispatcher", "credit",
              fmt::format("the dispatcher has {} flits left and no credit: {} instructions of ({},{}) "
                          "are not complete",
                          left_, ledger_.outstanding[node], at.x, at.y));
      wait.node = at;
      wait.on_part = "sequencer";
      wait.since = starved_since_;
      asked = true;
    }
    if (!asked)
      add("dispatcher", "no-credit", fmt::format("the dispatcher has {} flits left and no credit", left_))
          .since = starved_since_;
  }
  if (run_ && tx_full())
    add("dispatcher", "tx-full", "the dispatcher's TX FIFO is full").on_part = memory::kClientOutput;
  if (out_valid_)
    add(memory::kClientOutput, "output",
        fmt::format("the agent's {} flit for ({},{}) is not taken by the mesh",
                    arch::flit_type_name(out_.type_code()), out_.dst_x(), out_.dst_y()));
  return waits;
}

}  // namespace ktpu::orchestrator
