// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/vector_core.h"

#include <algorithm>

#include "arch/error.h"
#include "arch/formats/lane_alu.h"

namespace ktpu::interpret {

using arch::ReduceKind;
using arch::UserError;
using arch::VectorMode;
using arch::VectorOp;
using arch::VectorOpcode;
using arch::VectorSource;
using arch::VectorWord;

namespace {

constexpr unsigned kImemWords = 512, kL1Words = 512, kAccumulators = 16;
constexpr std::uint64_t kLongest = 10'000'000;  // instructions of a kernel

constexpr unsigned code(VectorSource source) { return static_cast<unsigned>(source); }

}  // namespace

VectorCore::VectorCore(const UnitFacts& facts, Rounding rounding, Counters& counters)
    : quirks_(facts.quirks && rounding == Rounding::kHardware),
      counters_(counters),
      lanes_{rounding, quirks_},
      imem_(kImemWords),
      decoded_(kImemWords),
      k_{0, arch::kE8m15One, arch::kE8m15One | arch::kE8m15Sign, 0},
      p_(quirks_),
      l1_(facts.l1_words) {}

void VectorCore::execute(const arch::VectorInst& inst, Wires& wires) {
  if (inst.is(VectorOp::kImem)) {
    imem_[inst.addr] = inst.word;
    decoded_valid_.reset(inst.addr);
  } else if (inst.is(VectorOp::kDesc)) {
    Descriptor& d = descriptors_[inst.ad];
    if (inst.fld == 0) {
      d.base = inst.value;
    } else if (inst.fld <= 4) {
      const auto stride = static_cast<std::int32_t>(inst.value >> 16 & 0x3FFFF);
      d.stride[inst.fld - 1] = stride >= 0x20000 ? stride - 0x40000 : stride;
      d.bound[inst.fld - 1] = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(inst.value & 0xFFFF));
    }
  } else if (inst.is(VectorOp::kRun)) {
    ++counters_.runs;
    run(inst.addr, wires);
  }
}

void VectorCore::receive(const Stream& stream) {
  const unsigned first = stream.desc.offset, last = first + stream.desc.len;
  if (stream.desc.buf_id != 0 || last >= kL1Words)
    throw UserError::make("data for L1 words {} up to {} of buffer {} is rejected (fault F_CUDATA)", first,
                          last + 1, stream.desc.buf_id);
  for (unsigned w = first; w <= last; ++w) {
    l1_[w % l1_.size()] = stream.words[w - first];
    l1_written_.set(w % l1_.size());
  }
}

const VectorWord& VectorCore::fetch() {
  const unsigned at = pc_;
  pc_ = (pc_ + 1) % kImemWords;
  if (!decoded_valid_.test(at)) {
    decoded_[at] = arch::decode_vector_word(imem_[at]);
    decoded_valid_.set(at);
  }
  return decoded_[at];
}

void VectorCore::run(unsigned pc, Wires& wires) {
  pc_ = pc;
  looping_ = false;
  p_.start();
  for (std::uint64_t n = 0; n < kLongest; ++n) {
    ++counters_.vector_instructions;
    const unsigned at = pc_;
    try {
      if (!step(wires)) return;
    } catch (const UserError& error) {
      const std::string_view name = arch::kVectorOpcodes[imem_[at] >> 27].name;
      throw UserError::make("pc {} ({}): {}", at, name, error.what());
    }
    // Tested at each fetch but the first (section 10).
    if (looping_ && pc_ == end_) {
      if (count_ > 1) {
        --count_;
        pc_ = top_;
      } else {
        looping_ = false;
      }
    }
  }
  throw UserError::make("the kernel at pc {} has not come to VHALT in {} instructions", pc, kLongest);
}

bool VectorCore::step(Wires& wires) {
  const VectorWord& w = fetch();
  if (w.arithmetic()) {
    arithmetic(w);
    return true;
  }
  const bool typed = w.dtype == static_cast<unsigned>(arch::VectorType::kFp16) ||
                     w.dtype == static_cast<unsigned>(arch::VectorType::kFp32);
  switch (w.opcode()) {
    case VectorOpcode::kVcvt:
    case VectorOpcode::kVld:
    case VectorOpcode::kVst:
      if (!typed) throw UserError::make("data type {} (fault F_DTYPE); 1 is FP16, 2 is FP32", w.dtype);
      p_.drain();
      if (w.opcode() == VectorOpcode::kVcvt)
        convert(w);
      else if (w.opcode() == VectorOpcode::kVld)
        load(w, wires);
      else
        store(w);
      break;
    case VectorOpcode::kVred:
      reduce(w);
      break;
    case VectorOpcode::kVbcast:
      p_.drain();
      broadcast(w);
      break;
    case VectorOpcode::kVshuf:
      p_.drain();
      shuffle(w);
      break;
    case VectorOpcode::kVsetvl:
      p_.pass(4);
      if (s_[w.va] == 0 || s_[w.va] > kMaxLength)
        throw UserError::make("a vector length of {} (fault F_VL); 1 to {}", s_[w.va], kMaxLength);
      vl_ = s_[w.va];
      break;
    case VectorOpcode::kVsetmode:
      p_.drain();
      mode_ = w.va & 3;
      break;
    case VectorOpcode::kVseti: {
      p_.pass(6);
      const std::uint32_t value = imem_[pc_] & 0xFFFFFF;
      pc_ = (pc_ + 1) % kImemWords;
      (w.sa == code(VectorSource::kConstant) ? k_[3] : s_[w.vd]) = value;
      break;
    }
    case VectorOpcode::kVloop:
      p_.pass(4);
      if (looping_) throw UserError("a loop within a loop (fault F_LOOP)");
      looping_ = true;
      top_ = pc_;
      end_ = (pc_ + w.vb) % kImemWords;
      count_ = s_[w.va];
      break;
    case VectorOpcode::kVbar:
      if (filling_)
        p_.drain();
      else
        p_.pass(5);
      filling_ = false;
      break;
    case VectorOpcode::kVfill:
      fill(w, wires);
      filling_ = true;
      break;
    case VectorOpcode::kVdrain:
      drain(w, wires);
      break;
    default:
      return false;
  }
  return true;
}

void VectorCore::gather_group(const VectorWord& head, unsigned depth) {
  group_.assign(1, head);
  if (head.sa == code(VectorSource::kChain) || head.sb == code(VectorSource::kChain) ||
      head.sc == code(VectorSource::kChain))
    throw UserError("the first word of a group has a chained operand (fault F_CHAIN)");
  while (group_.size() < depth) {
    if (looping_ && pc_ == end_) throw UserError("the loop ends within a group of words; it never closes");
    const VectorWord& w = fetch();
    if (!w.arithmetic())
      throw UserError::make("a group of {} words holds {}, which is no arithmetic", depth,
                            arch::kVectorOpcodes[w.op].name);
    if (w.sa == code(VectorSource::kVector) || w.sb == code(VectorSource::kVector) ||
        w.sc == code(VectorSource::kVector))
      throw UserError("a chained word names a vector register (fault F_VSRC)");
    group_.push_back(w);
  }
}

const std::uint32_t* VectorCore::operand(unsigned source, unsigned reg, Register& scratch) const {
  if (source == code(VectorSource::kVector)) return v_[reg].data();
  std::fill_n(scratch.begin(), vl_, source == code(VectorSource::kScalar) ? s_[reg] : k_[reg & 3]);
  return scratch.data();
}

void VectorCore::arithmetic(const VectorWord& head) {
  if (static_cast<VectorMode>(mode_) == VectorMode::kTree)
    throw UserError("arithmetic in TREE mode writes nothing and hangs what follows (fault F_OPCODE)");
  const unsigned depth = 1u << mode_;
  const std::array<unsigned, 3> named{head.va, head.vb, head.vc};
  gather_group(head, depth);
  const VectorWord& last = group_.back();
  p_.issue({named[0], named[1], named[2], last.vd}, depth, chunks() * depth, last.vd, last.compare());

  Register result, a, b, c;
  for (const VectorWord& w : group_) {
    const auto value = [&](unsigned source, unsigned reg, Register& scratch) {
      return source == code(VectorSource::kChain) ? result.data() : operand(source, reg, scratch);
    };
    lanes_.apply(w.opcode(), value(w.sa, w.va, a), value(w.sb, w.vb, b), value(w.sc, w.vc, c), result.data(),
                 vl_);
    last_pr_ = w.pr;
    last_pm_ = w.pm;
  }
  last_reg_ = named[0];
  last_chunk_ = chunks() - 1;
  write_back(last, result);
}

void VectorCore::write_back(const VectorWord& last, const Register& result) {
  if (last.compare()) {
    PredicateBits bits;
    for (unsigned e = 0; e < vl_; ++e) bits[e] = result[e] != 0;
    p_.write(last.pr, bits, vl_);
    return;
  }
  Register& to = v_[last.vd];
  if (last.pm == 0) {
    std::copy_n(result.begin(), vl_, to.begin());
    return;
  }
  const PredicateBits& p = p_.read(last.pr);
  for (unsigned e = 0; e < vl_; ++e)
    if (p[e] == (last.pm == 1)) to[e] = result[e];
}

void VectorCore::any_all(const VectorWord& w) {
  const PredicateBits bits = p_.read_now(quirks_ ? last_pr_ : w.pr);  // quirk V4
  last_pr_ = w.pr;
  p_.pass(4);
  const bool all = static_cast<ReduceKind>(w.kind) == ReduceKind::kAll;
  bool value = all;
  for (unsigned e = 0; e < vl_; ++e)
    if (bits[e] != all) value = !all;
  s_[w.vd] = value ? arch::kE8m15One : 0;
}

void VectorCore::reduce(const VectorWord& w) {
  const auto kind = static_cast<ReduceKind>(w.kind);
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) return any_all(w);
  if (vl_ % 16 != 0)
    throw UserError::make("a reduction over {} elements (fault F_REDVL); a multiple of 16", vl_);
  if (static_cast<VectorMode>(mode_) != VectorMode::kTree)
    throw UserError("a reduction outside TREE mode (fault F_OPCODE)");
  const bool products = kind == ReduceKind::kSumsq || kind == ReduceKind::kDot;
  const bool exponentials = kind == ReduceKind::kExpsum;
  const VectorOpcode op = kind == ReduceKind::kMax   ? VectorOpcode::kVmax
                          : kind == ReduceKind::kMin ? VectorOpcode::kVmin
                                                     : VectorOpcode::kVadd;
  std::array<std::uint32_t, kAccumulators> sums;
  sums.fill(kind == ReduceKind::kMax   ? arch::kE8m15Inf | arch::kE8m15Sign
            : kind == ReduceKind::kMin ? arch::kE8m15Inf
                                       : 0);
  Register leaves = v_[w.va];
  if (products)
    lanes_.apply(VectorOpcode::kVmul, v_[w.va].data(), v_[w.vb].data(), leaves.data(), leaves.data(), vl_);
  if (exponentials)
    lanes_.apply(VectorOpcode::kVexp2, v_[w.va].data(), v_[w.va].data(), v_[w.va].data(), leaves.data(), vl_);
  const Register written = leaves;
  const unsigned width = products || exponentials ? 8 : 16;
  for (unsigned q = 0; q < vl_ / width; ++q) {
    const std::uint32_t sum = lanes_.tree(op, std::span(leaves).subspan(std::size_t{q} * width, width));
    sums[q % kAccumulators] = lanes_.combine(op, sum, sums[q % kAccumulators]);
  }
  s_[w.vd] = lanes_.tree(op, sums);
  if (exponentials) {
    const unsigned pm = quirks_ ? last_pm_ : 0;  // quirk V5
    const PredicateBits p = p_.read_now(w.pr);
    for (unsigned e = 0; e < vl_; ++e)
      if (pm == 0 || p[e] == (pm == 1)) v_[w.vb][e] = written[e];
  }
  p_.drain();
  last_pr_ = w.pr;
  last_reg_ = w.va;
  last_chunk_ = 0;
}

}  // namespace ktpu::interpret
