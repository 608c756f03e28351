// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/staging_adapter.h"

#include <algorithm>
#include <bit>

#include "arch/encoding/codes.h"

namespace ktpu::noc {

using arch::CtrlIndex;
using arch::Flit;
using arch::FlitType;
using sim::Cycle;

namespace {

constexpr std::uint64_t kCapsId = 0x0002, kCapsVersion = 0x01;  // section 12, Control
constexpr unsigned kControlFirst = 0xE0, kControlLast = 0xE7;   // sections 10.1 and 12

// A request for the adapter's registers; a reply that passes by is none.
bool is_control(const Flit& flit) {
  if (flit.type() != FlitType::kCuCtrl) return false;
  const auto ctrl = arch::unpack<arch::Ctrl>(flit);
  return ctrl.op != arch::kCtrlReply && ctrl.index >= kControlFirst && ctrl.index <= kControlLast;
}

}  // namespace

StagingAdapter::StagingAdapter(std::string name, const AdapterParams& params, sim::FlitPort unit,
                               sim::FlitPort router)
    : Unit(std::move(name)),
      params_(params),
      from_unit_(unit.out),
      to_unit_(unit.in),
      from_router_(router.in),
      to_router_(router.out),
      passage_(std::make_unique<Passage>(*this)),
      store_(params.lines) {
  KTPU_CHECK(std::has_single_bit(params.lines), "{}: {} lines", Unit::name(), params.lines);
  window_.lines = params.lines;
  from_unit_->bind_receiver(*this);
  from_router_->bind_receiver(*this);
  to_unit_->bind_sender(*this);
  to_router_->bind_sender(*this);
}

void StagingAdapter::reset(Cycle) {
  window_.base = 0;
  window_.enabled = false;
  served_ = forwarded_ = 0;
  valid_ = reply_valid_ = held_ = answer_shown_ = answers_ = false;
  shown_ = Shown::kNothing;
  changed_ = true;
  write_left_ = 0;
  reader_.reset();
  answers_sent_ = absorbed_ = controls_ = replies_ = words_written_ = 0;
}

void StagingAdapter::drive(Cycle now) {
  if (changed_) {
    changed_ = false;
    if (shown_ == Shown::kNothing) {
      to_router_->withdraw();
    } else {
      to_router_->offer(shown_ == Shown::kReply ? reply_ : flit_);
    }
  }
  // An own answer goes first, but a flit of the router that stands refused stays on the wires (L1).
  answers_ = !held_ && reader_.readable(now);
  if (answers_ && !answer_shown_) {
    answer_shown_ = true;
    to_unit_->offer(reader_.head());
  }
}

bool StagingAdapter::pass_down() {
  if (answers_) return false;
  if (from_router_->valid() && !is_control(from_router_->data())) {
    if (!held_) to_unit_->offer_in_place(from_router_->data());
    return !held_;
  }
  if (!to_unit_->valid()) return false;
  to_unit_->withdraw();
  return true;
}

// Whether the flit in the register goes in this cycle.
bool StagingAdapter::leaves() const {
  switch (kind_) {
    case Kind::kPass:
      return shown_ == Shown::kFlit && !to_router_->busy();
    case Kind::kRead:
      return !reader_.running();
    case Kind::kLastBeat:
      return reader_.room();
    default:
      return true;
  }
}

bool StagingAdapter::settle(Cycle) {
  const bool down = from_router_->set_busy(answers_ || (to_unit_->valid() && to_unit_->busy()));
  const bool up = from_unit_->set_busy(valid_ && !leaves());
  return down || up;
}

Cycle StagingAdapter::clock(Cycle now) {
  const AdapterWindow window = window_;  // what a control flit writes shows from the next cycle on
  const bool gone = valid_ && leaves();
  const bool sent = shown_ != Shown::kNothing && to_router_->sample_sent();
  const bool to_unit = to_unit_->valid(), taken = to_unit && to_unit_->sample_sent();
  held_ = to_unit && !taken && !answers_;

  if (!reader_.quiet() || (gone && kind_ == Kind::kLastBeat)) {
    const bool answer = taken && answers_;
    if (answer) {
      ++answers_sent_;
      answer_shown_ = false;
    }
    reader_.advance(now, store_, answer, gone && kind_ == Kind::kLastBeat ? &ack_ : nullptr);
  }
  if (gone && kind_ != Kind::kPass) {
    ++absorbed_;
    if (kind_ == Kind::kRead) {
      reader_.start(flit_, run_);
    } else if (kind_ != Kind::kWrite) {  // after the read: the RAM reads first
      store_.write(run_.line, {flit_.w[0], flit_.w[1], flit_.w[2], flit_.w[3]});
      ++words_written_;
    }
  }

  const bool answers = answers_;
  if (from_router_->valid() && !answers && is_control(from_router_->data()))
    take_control(now, from_router_->data());
  if (sent && shown_ == Shown::kReply) {
    reply_valid_ = false;
    ++replies_;
  }
  if (gone) valid_ = false;
  if (from_unit_->transfers()) take_up(now, from_unit_->data(), window);

  if (shown_ == Shown::kNothing || sent) {
    const Shown before = shown_;
    shown_ = reply_valid_ ? Shown::kReply : valid_ && kind_ == Kind::kPass ? Shown::kFlit : Shown::kNothing;
    changed_ = shown_ != before || shown_ != Shown::kNothing;
  }
  const bool awake = valid_ || reply_valid_ || changed_ || to_unit || !reader_.quiet();
  return awake ? now + 1 : sim::kNever;
}

void StagingAdapter::take_up(Cycle now, const Flit& flit, const AdapterWindow& window) {
  kind_ = classify(now, flit, window);
  flit_ = flit;
  valid_ = true;
}

StagingAdapter::Kind StagingAdapter::classify(Cycle now, const Flit& flit, const AdapterWindow& window) {
  switch (flit.type()) {
    case FlitType::kMemRdReq:
    case FlitType::kMemWrReq: {
      const Kind kind = classify_request(now, flit, window);
      ++(kind == Kind::kPass ? forwarded_ : served_);
      return kind;
    }
    case FlitType::kMemWrData:
      // Of a write that went on to memory, or to another mesh.
      if (write_left_ == 0 || (flit.rsvd() & arch::kRsvdRemote) != 0) return Kind::kPass;
      run_.line = write_line_++;
      return --write_left_ == 0 ? Kind::kLastBeat : Kind::kBeat;
    default:
      return Kind::kPass;
  }
}

StagingAdapter::Kind StagingAdapter::classify_request(Cycle now, const Flit& flit,
                                                      const AdapterWindow& window) {
  const bool write = flit.type() == FlitType::kMemWrReq;
  if (!window.enabled && (!write || write_left_ == 0)) return Kind::kPass;
  if (write && (flit.rsvd() & arch::kRsvdRemote) != 0) return Kind::kPass;  // for another mesh's memory
  const auto request = arch::unpack<arch::MemReq>(flit);
  if (write && write_left_ != 0) {
    misuse_.add({"window-write", now,
                 fmt::format("a write to 0x{:x} came while {} data flits of the open write were missing: it "
                             "goes to memory, and the open one takes its first data",
                             request.addr, write_left_)});
    return Kind::kPass;
  }
  if (!window.claims(request.addr)) return Kind::kPass;
  const auto run = write ? window.write(request) : window.read(request);
  if (!run) {
    misuse_.add(
        {"window-forwarded", now,
         fmt::format("a {} at 0x{:x}, in the window, goes on to memory: {}", write ? "write" : "read",
                     request.addr,
                     write                                    ? "it does not end below the top line"
                     : request.quant()                        ? "it asks for conversion"
                     : request.n_peer != 0                    ? "it names peers"
                     : request.stream() && request.count == 0 ? "its count is 0"
                                                              : "it does not end below the top line")});
    return Kind::kPass;
  }
  if (!write) {
    run_ = *run;
    return Kind::kRead;
  }
  write_line_ = run->line;
  write_left_ = run->words;
  ack_ = arch::make_flit(flit.src(), flit.dst(), FlitType::kMemWrAck, flit.txn(), true);
  if (writes_ != nullptr) writes_->write_kept(now, flit);
  return Kind::kWrite;
}

std::uint64_t StagingAdapter::control_word(unsigned index) const {
  switch (static_cast<CtrlIndex>(index)) {
    case CtrlIndex::kAdapterCaps:
      return kCapsId << 48 | kCapsVersion << 40 | std::uint64_t{window_.size_bits()} << 32 | params_.lines;
    case CtrlIndex::kAdapterBase:
      return window_.base;
    case CtrlIndex::kAdapterEnable:
      return window_.enabled;
    case CtrlIndex::kAdapterCounters:
      return served_ << 32 | (forwarded_ & 0xFFFFFFFF);
    default:
      return 0;
  }
}

// One reply may be pending, as at an endpoint (section 10.3).
void StagingAdapter::take_control(Cycle now, const Flit& request) {
  ++controls_;
  const auto ctrl = arch::unpack<arch::Ctrl>(request);
  if (reply_valid_) {
    misuse_.add({"control-overlap", now,
                 fmt::format("a CU_CTRL {} of register 0x{:x} from ({},{}) was lost: the reply to the one "
                             "before had not left",
                             ctrl.op == arch::kCtrlWrite ? "write" : "read", ctrl.index, request.src_x(),
                             request.src_y())});
    return;
  }
  if (ctrl.op == arch::kCtrlWrite) {
    switch (static_cast<CtrlIndex>(ctrl.index)) {
      case CtrlIndex::kAdapterBase:
        window_.base = ctrl.value & AdapterWindow::kAddressMask;
        break;
      case CtrlIndex::kAdapterEnable:
        window_.enabled = (ctrl.value & 1) != 0;
        break;
      default:
        break;
    }
  }
  arch::Ctrl out;
  out.op = arch::kCtrlReply;
  out.index = ctrl.index;
  out.value = control_word(ctrl.index);
  reply_ = arch::make_flit(
      arch::make_header(request.src(), params_.at, FlitType::kCuCtrl, request.txn(), true), out);
  reply_valid_ = true;
}

}  // namespace ktpu::noc
