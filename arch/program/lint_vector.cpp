// SPDX-License-Identifier: Apache-2.0
#include "arch/program/lint_vector.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/encoding/codes.h"
#include "arch/program/vector_text.h"

namespace ktpu::arch {
namespace {

constexpr unsigned kLanes = 16;
constexpr std::int64_t kAluLatency = 15;
constexpr unsigned kMaxInstructions = 8192;  // followed in one RUN
constexpr std::uint64_t kMaxWalk = 256;
// A loop is followed this often: what its body does to itself shows in the second pass.
constexpr std::uint32_t kPasses = 2;

std::uint64_t saturated(std::uint64_t v) { return std::min<std::uint64_t>(v, 65535); }

}  // namespace

std::uint64_t VectorLint::Descriptor::total() const {
  return saturated(bound[0] * bound[1]) * saturated(bound[2] * bound[3]);
}
std::uint64_t VectorLint::Descriptor::at(std::uint64_t step) const {
  std::uint64_t address = base;
  step = std::min(step, bound[0] * bound[1] * bound[2] * bound[3] - 1);
  for (std::size_t d = 0; d < 4; ++d) {
    address += static_cast<std::uint64_t>(stride[d]) * (step % bound[d]);
    step /= bound[d];
  }
  return address;
}

void VectorLint::envelope(const VectorInst& inst, const Report& report) {
  report_ = &report;
  if (inst.is(VectorOp::kImem)) {
    imem_[inst.addr % kImemWords] = inst.word;
  } else if (inst.is(VectorOp::kDesc) && inst.fld <= 4) {
    Descriptor& d = walks_[inst.ad & 7];
    d.written = true;
    if (inst.fld == 0) {
      d.base = inst.value;
    } else {
      d.stride[inst.fld - 1] = static_cast<std::int64_t>(inst.value << 30) >> 46;
      d.bound[inst.fld - 1] = std::max<std::uint64_t>(inst.value & 0xFFFF, 1);
    }
  } else if (inst.is(VectorOp::kRun)) {
    run(inst.addr);
  }
  report_ = nullptr;
}

void VectorLint::run(unsigned pc) {
  pc_ = pc;
  looping_ = false;
  fill_.reset();
  fetch_ = -1;
  ready_.fill(0);
  compares_.fill({});
  for (unsigned n = 0; n < kMaxInstructions && step(); ++n) {
  }
}

void VectorLint::say(std::string_view rule, const std::string& text) {
  const std::uint32_t word = imem_[pc_].value_or(0);
  if (!said_.insert({rule, std::uint64_t{pc_} << 32 | word}).second) return;
  VectorPlace place;
  place.mode = mode_;
  const std::string shown = vector_word_to_text(word, place);
  (*report_)(rule, fmt::format("word {}, `{}`: {}", pc_,
                               shown.empty() ? fmt::format(".word {:#010x}", word) : shown, text));
}

bool VectorLint::fault(unsigned code, std::string_view why) {
  say("vector-fault", fmt::format("faults with {}: {}", code_name(kVectorFaults, code), why));
  return false;
}

void VectorLint::drained() { compares_.fill({}); }

std::optional<unsigned> VectorLint::chunks() const {
  if (!length_) return std::nullopt;
  return (*length_ + kLanes - 1) / kLanes;
}

bool VectorLint::written(unsigned pc) {
  if (pc < kImemWords && imem_[pc]) return true;
  if (said_.insert({"vector-imem", pc}).second)
    (*report_)("vector-imem",
               pc < kImemWords
                   ? fmt::format("the kernel runs into word {}, which was never written", pc)
                   : std::string("the kernel runs past word 511, the end of the instruction memory"));
  return false;
}

bool VectorLint::step() {
  if (looping_ && pc_ == end_) {
    if (count_ > 1) {
      --count_;
      pc_ = top_;
    } else {
      looping_ = false;
    }
  }
  if (!written(pc_)) return false;
  const VectorWord w = decode_vector_word(*imem_[pc_]);
  return w.arithmetic() ? arithmetic(*imem_[pc_]) : other(w);
}

// --- arithmetic

bool VectorLint::check_chain(unsigned depth) {
  const unsigned head = pc_;
  for (unsigned t = 0; t < depth; ++t) {
    if (head + t >= kImemWords || !imem_[head + t]) return true;  // told afterwards
    const std::uint32_t word = *imem_[head + t];
    pc_ = head + t;
    const VectorWord own = decode_vector_word(word);
    if (!own.arithmetic())
      say("vector-group", fmt::format("stage {} of the chain at word {} is no arithmetic", t, head));
    // Every selector counts, that of an ignored slot too.
    const VectorWord w = decode_vector_word_as(word, VectorOpcode::kVfma);
    for (const std::uint32_t s : {w.sa, w.sb, w.sc}) {
      if (t == 0 && static_cast<VectorSource>(s) == VectorSource::kChain)
        return fault(3, depth == 1 ? "C outside a chain" : "C in the head of a chain");
      if (t > 0 && static_cast<VectorSource>(s) == VectorSource::kVector)
        return fault(2, fmt::format("a vector register in stage {} of the chain at word {}", t, head));
    }
  }
  pc_ = head;
  return true;
}

bool VectorLint::arithmetic(std::uint32_t word) {
  const unsigned depth = chain_depth(mode_);
  if (mode_ == VectorMode::kTree) {
    say("vector-group", "arithmetic in TREE mode, where its results are thrown away");
    return false;
  }
  if (looping_ && end_ > pc_ && end_ < pc_ + depth)
    say("vector-group", fmt::format("the loop ends at word {}, inside this chain: it never closes", end_));
  if (!check_chain(depth)) return false;
  const unsigned last = pc_ + depth - 1;
  for (unsigned at = pc_; at <= last; ++at)
    if (!written(at)) return false;
  time_group(decode_vector_word(word), decode_vector_word_as(*imem_[last], VectorOpcode::kVfma), depth);
  pc_ = last + 1;
  return true;
}

void VectorLint::time_group(const VectorWord& head, const VectorWord& tail, unsigned depth) {
  const auto n = chunks();
  if (!n) {  // no distances without a length
    drained();
    fetch_ += 8;
    return;
  }
  const std::int64_t start = fetch_ + 4 + 4 * (static_cast<std::int64_t>(depth) - 1);
  const std::int64_t first =
      std::max({start, ready_[head.va], ready_[head.vb], ready_[head.vc], ready_[tail.vd]});
  const std::int64_t beats = std::int64_t{*n} * depth;
  fetch_ = first + beats + 1;
  if (decode_vector_word(*imem_[pc_ + depth - 1]).compare()) {
    compares_[tail.pr] = Compare{pc_, first, *n, depth};
    return;
  }
  if (tail.pm != 0) predicate_read(tail, first, depth);
  // The 5-bit counter of a group of 32 beats is back at 0 (quirk V6).
  if (beats != 32) ready_[tail.vd] = first + beats - 1 + 3 + kAluLatency * depth;
}

// vector.md 12.4: a beat sees the bits a compare wrote for the same elements 1 + 15 D cycles before.
void VectorLint::predicate_read(const VectorWord& tail, std::int64_t first, unsigned depth) {
  const auto& c = compares_[tail.pr];
  if (!c) return;
  const unsigned n = std::min(c->chunks, *chunks());
  for (unsigned j = 0; j < n; ++j)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::int64_t written = c->first + j * c->depth + lane / (kLanes / c->depth);
      const std::int64_t read = first + j * depth + lane / (kLanes / depth);
      const std::int64_t lacking = written + 1 + kAluLatency * c->depth - read;
      if (lacking <= 0) continue;
      say("vector-predicate", fmt::format("reads P{} {} cycle{} before the compare at word {} has written it",
                                          tail.pr, lacking, lacking == 1 ? "" : "s", c->pc));
      return;
    }
}

// --- the rest

void VectorLint::used(std::uint32_t ad) {
  if (!walks_[ad].written) say("vector-descriptor", fmt::format("uses A{}, which was never written", ad));
}

bool VectorLint::length(std::uint32_t ad) {
  const std::uint64_t total = walks_[ad].total();
  return total <= kMaxWalk ||
         fault(5, fmt::format("A{} walks over {} words, {} at most", ad, total, kMaxWalk));
}

// VLD while a fill may still bring its words.
void VectorLint::l1_read(const VectorWord& w) {
  const auto n = chunks();
  if (!fill_ || !n) return;
  const std::uint64_t offset =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(std::uint64_t{w.offset} << 50) >> 50);
  const unsigned steps = *n * w.dtype;
  for (unsigned k = 0; k < steps; ++k) {
    const unsigned word = static_cast<unsigned>(walks_[w.ad].at(k) + offset) % kL1Words;
    if ((word - fill_->first) % kL1Words >= fill_->words) continue;
    say("vector-fill-race",
        fmt::format("reads L1 word {}, which the VFILL at word {} may not have brought yet", word,
                    fill_->pc));
    return;
  }
}

bool VectorLint::reduction(const VectorWord& w) {
  const auto kind = static_cast<ReduceKind>(w.kind);
  scalars_[w.vd].reset();
  const std::int64_t execute = fetch_ + 3;
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) {
    if (const auto& c = compares_[w.pr]) {
      const std::int64_t visible =
          c->first + std::int64_t{c->chunks} * c->depth - 1 + 3 + kAluLatency * c->depth;
      if (visible > execute)
        say("vector-predicate",
            fmt::format("reads P{} {} cycles before the compare at word {} has written it", w.pr,
                        visible - execute, c->pc));
    }
    fetch_ = execute + 1;
    return true;
  }
  if (length_ && *length_ % kLanes != 0)
    return fault(8, fmt::format("VL is {}, no multiple of 16", *length_));
  if (mode_ != VectorMode::kTree)
    return fault(4,
                 fmt::format("the mode is {}, not TREE", kVectorModeNames[static_cast<std::size_t>(mode_)]));
  drained();
  fetch_ += 160;
  return true;
}

bool VectorLint::other(const VectorWord& w) {
  const std::int64_t execute = fetch_ + 3;
  ++pc_;
  // Findings name the instruction, not the next one.
  struct Back {
    unsigned& pc;
    explicit Back(unsigned& p) : pc(p) { --pc; }
    ~Back() { ++pc; }
  } const back(pc_);
  switch (w.opcode()) {
    case VectorOpcode::kVld:
    case VectorOpcode::kVst:
    case VectorOpcode::kVcvt:
      if (w.dtype != 1 && w.dtype != 2)
        return fault(1, fmt::format("memory type {}: 1 is FP16, 2 FP32", w.dtype));
      if (w.opcode() != VectorOpcode::kVcvt) used(w.ad);
      if (w.opcode() == VectorOpcode::kVld) l1_read(w);
      drained();
      fetch_ = execute + 100;
      return true;
    case VectorOpcode::kVred:
      return reduction(w);
    case VectorOpcode::kVbcast:
      if (w.sa != 1) scalars_[w.vd].reset();
      drained();
      fetch_ = execute + 100;
      return true;
    case VectorOpcode::kVshuf:
      drained();
      fetch_ = execute + 100;
      return true;
    case VectorOpcode::kVsetvl:
      length_ = scalars_[w.va];
      if (length_ && (*length_ == 0 || *length_ > 128)) {
        const std::uint32_t bad = *length_;
        length_.reset();
        return fault(7, fmt::format("S{} is {}, lengths are 1 to 128{}", w.va, bad,
                                    bad > 0x8000 ? "; a count is written `int N`" : ""));
      }
      fetch_ = execute + 1;
      return true;
    case VectorOpcode::kVsetmode:
      mode_ = static_cast<VectorMode>(w.va & 3);
      drained();
      fetch_ = execute + 100;
      return true;
    case VectorOpcode::kVseti:
      if (pc_ + 1 >= kImemWords || !imem_[pc_ + 1]) return true;  // told at the next fetch
      if (w.sa != 3) scalars_[w.vd] = *imem_[pc_ + 1] & 0xFFFFFF;
      fetch_ = execute + 3;
      ++pc_;
      return true;
    case VectorOpcode::kVloop:
      if (looping_) return fault(6, fmt::format("inside the loop of words {}..{}", top_, end_ - 1));
      looping_ = true;
      top_ = pc_ + 1;
      end_ = (top_ + w.vb) % kImemWords;
      count_ = std::min(scalars_[w.va].value_or(kPasses), kPasses);
      fetch_ = execute + 1;
      return true;
    case VectorOpcode::kVbar:
      if (fill_) drained();  // it waits, who knows how long
      fill_.reset();
      fetch_ = execute + 2;
      return true;
    case VectorOpcode::kVfill:
      used(w.ad);
      if (!length(w.ad)) return false;
      if (fill_) drained();
      fill_ = Fill{pc_, w.offset, static_cast<unsigned>(walks_[w.ad].total())};
      fetch_ = execute + 5 + 3 * static_cast<std::int64_t>(walks_[w.ad].total());
      return true;
    case VectorOpcode::kVdrain:
      used(w.ad);
      if (!length(w.ad)) return false;
      fetch_ = execute + 7 + 3 * static_cast<std::int64_t>(walks_[w.ad].total());
      return true;
    default:  // VHALT
      return false;
  }
}

}  // namespace ktpu::arch
