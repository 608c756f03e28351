// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vector_isa.h"

#include <algorithm>

#include "arch/formats/e8m15.h"
#include "arch/formats/lane_alu.h"

namespace ktpu::test {

using arch::ReduceKind;
using arch::VectorOpcode;
using arch::VectorWord;

namespace {

enum Fault { kDtype = 1, kVsrc, kChain, kOpcode, kLen, kLoop, kVl, kRedvl };
constexpr unsigned kV = 0, kS = 1, kC = 2;
constexpr std::uint64_t kAddressMask = (1ull << 40) - 1;

std::uint32_t half_of(const VectorIsa::Word256& word, unsigned i) {
  return static_cast<std::uint32_t>(word[i / 4] >> (16 * (i % 4))) & 0xFFFF;
}
std::uint32_t single_of(const VectorIsa::Word256& word, unsigned i) {
  return static_cast<std::uint32_t>(word[i / 2] >> (32 * (i % 2)));
}

}  // namespace

std::uint64_t VectorIsa::Walk::at(std::uint64_t step) const {
  std::uint64_t all = 1;
  for (const std::uint64_t b : bound) all *= std::max<std::uint64_t>(b, 1);
  std::uint64_t left = std::min(step, all - 1), address = base;
  for (unsigned d = 0; d < 4; ++d) {
    const std::uint64_t n = std::max<std::uint64_t>(bound[d], 1);
    address += left % n * static_cast<std::uint64_t>(stride[d]);
    left /= n;
  }
  return address & kAddressMask;
}

std::uint64_t VectorIsa::Walk::total() const {
  const auto steps = [this](unsigned d) { return std::max<std::uint64_t>(bound[d], 1); };
  return std::min<std::uint64_t>(steps(0) * steps(1), 65535) *
         std::min<std::uint64_t>(steps(2) * steps(3), 65535);
}

int VectorIsa::run(unsigned start, unsigned limit) {
  pc_ = start;
  looping_ = false;
  bool first = true;
  for (unsigned executed = 0; executed < limit; ++executed) {
    if (!first && looping_ && pc_ == end_) {
      if (count_ > 1) {
        --count_;
        pc_ = top_;
      } else {
        looping_ = false;
      }
    }
    first = false;
    const VectorWord w = arch::decode_vector_word(imem[pc_]);
    pc_ = (pc_ + 1) % 512;
    int fault = 0;
    if (w.arithmetic()) {
      fault = arithmetic(w);
    } else {
      const bool typed = w.dtype == 1 || w.dtype == 2;
      switch (w.opcode()) {
        case VectorOpcode::kVhalt:
          return 0;
        case VectorOpcode::kVred:
          fault = reduce(w);
          break;
        case VectorOpcode::kVsetvl:
          if (s[w.va] == 0 || s[w.va] > 128) return kVl;
          vl = s[w.va];
          break;
        case VectorOpcode::kVsetmode:
          mode = w.va & 3;
          break;
        case VectorOpcode::kVseti: {
          const std::uint32_t value = imem[pc_] & 0xFFFFFF;
          pc_ = (pc_ + 1) % 512;
          (w.sa == 3 ? k[3] : s[w.vd]) = value;
          break;
        }
        case VectorOpcode::kVloop:
          if (looping_) return kLoop;
          looping_ = true;
          top_ = pc_;
          end_ = (pc_ + w.vb) % 512;
          count_ = s[w.va];
          break;
        case VectorOpcode::kVcvt:
        case VectorOpcode::kVld:
        case VectorOpcode::kVst:
          if (!typed) return kDtype;
          move(w);
          break;
        case VectorOpcode::kVfill:
        case VectorOpcode::kVdrain:
          if (walks[w.ad].total() > 256) return kLen;
          move(w);
          break;
        default:
          move(w);
      }
    }
    if (fault != 0) return fault;
  }
  return -1;
}

int VectorIsa::arithmetic(const VectorWord& head) {
  if (mode == 3) return kOpcode;
  if (head.sa == kC || head.sb == kC || head.sc == kC) return kChain;
  const unsigned depth = 1u << mode;
  std::vector<VectorWord> group{head};
  while (group.size() < depth) {
    if (looping_ && pc_ == end_) return kLoop;
    const VectorWord w = arch::decode_vector_word(imem[pc_]);
    pc_ = (pc_ + 1) % 512;
    if (!w.arithmetic()) return kOpcode;
    if (w.sa == kV || w.sb == kV || w.sc == kV) return kVsrc;
    group.push_back(w);
  }
  const VectorWord& last = group.back();
  const auto before = p[last.pr];
  std::array<std::uint32_t, 128> results{};
  for (unsigned e = 0; e < vl; ++e) {
    std::uint32_t chain = 0;
    for (const VectorWord& w : group) {
      const auto operand = [&](unsigned source, unsigned reg) {
        return source == kV ? v[reg][e] : source == kS ? s[reg] : source == kC ? chain : k[reg & 3];
      };
      chain = arch::lane_op(w.opcode(), operand(w.sa, w.va), operand(w.sb, w.vb), operand(w.sc, w.vc), false);
    }
    results[e] = chain;
  }
  for (unsigned e = 0; e < vl; ++e) {
    if (last.compare())
      p[last.pr][e] = results[e] != 0;
    else if (last.pm == 0 || before[e] == (last.pm == 1))
      v[last.vd][e] = results[e];
  }
  return 0;
}

int VectorIsa::reduce(const VectorWord& w) {
  const auto kind = static_cast<ReduceKind>(w.kind);
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) {
    const auto end = p[w.pr].begin() + vl;
    const bool value = kind == ReduceKind::kAny ? std::any_of(p[w.pr].begin(), end, [](bool b) { return b; })
                                                : std::all_of(p[w.pr].begin(), end, [](bool b) { return b; });
    s[w.vd] = value ? 0x3F8000 : 0;
    return 0;
  }
  if (vl % 16 != 0) return kRedvl;
  if (mode != 3) return kOpcode;
  const bool halves = w.kind >= 3;
  const VectorOpcode op = kind == ReduceKind::kMax   ? VectorOpcode::kVmax
                          : kind == ReduceKind::kMin ? VectorOpcode::kVmin
                                                     : VectorOpcode::kVadd;
  std::vector<std::uint32_t> sums(16, kind == ReduceKind::kMax   ? 0xFF8000
                                      : kind == ReduceKind::kMin ? 0x7F8000
                                                                 : 0);
  const auto combine = [&](std::uint32_t a, std::uint32_t b) { return arch::lane_op(op, a, b, b, false); };
  const auto tree = [&](std::vector<std::uint32_t> level) {
    while (level.size() > 1) {
      std::vector<std::uint32_t> next;
      for (std::size_t i = 0; i < level.size(); i += 2) next.push_back(combine(level[i], level[i + 1]));
      level = next;
    }
    return level[0];
  };
  std::array<std::uint32_t, 128> leaves = v[w.va];
  for (unsigned e = 0; e < vl && halves; ++e)
    leaves[e] = kind == ReduceKind::kExpsum
                    ? arch::lane_op(VectorOpcode::kVexp2, v[w.va][e], 0, 0, false)
                    : arch::lane_op(VectorOpcode::kVmul, v[w.va][e], v[w.vb][e], 0, false);
  const unsigned width = halves ? 8 : 16;
  for (unsigned q = 0; q < vl / width; ++q) {
    const auto first = leaves.begin() + q * width;
    sums[q % 16] = combine(tree({first, first + width}), sums[q % 16]);
  }
  s[w.vd] = tree(sums);
  if (kind == ReduceKind::kExpsum) std::copy_n(leaves.begin(), vl, v[w.vb].begin());
  return 0;
}

void VectorIsa::move(const VectorWord& w) {
  const bool wide = w.dtype == 2;
  const auto offset = static_cast<std::int64_t>(w.offset) - (w.offset & 0x2000 ? 0x4000 : 0);
  Walk walk = walks[w.ad];
  switch (w.opcode()) {
    case VectorOpcode::kVld:
      walk.base += static_cast<std::uint64_t>(offset);
      for (unsigned e = 0; e < 16 * chunks(); ++e) {
        const Word256& word = l1[walk.at(wide ? e / 8 : e / 16) % 512];
        v[w.vd][e] = wide ? arch::fp32_to_e8m15(single_of(word, e % 8))
                          : arch::fp16_to_e8m15(static_cast<std::uint16_t>(half_of(word, e % 16)));
      }
      break;
    case VectorOpcode::kVst:
      walk.base += static_cast<std::uint64_t>(offset);
      for (unsigned first = 0, step = 0; first < 16 * chunks(); first += wide ? 8 : 16, ++step) {
        Word256 word{};
        for (unsigned i = 0; i < (wide ? 8u : 16u); ++i) {
          const std::uint32_t value = v[w.vd][first + i];
          if (wide)
            word[i / 2] |= std::uint64_t{arch::e8m15_to_fp32(value)} << (32 * (i % 2));
          else
            word[i / 4] |= std::uint64_t{arch::e8m15_to_fp16(value)} << (16 * (i % 4));
        }
        l1[walk.at(step) % 512] = word;
      }
      break;
    case VectorOpcode::kVcvt:
      for (unsigned e = 0; e < 16 * chunks(); ++e)
        v[w.vd][e] = wide ? v[w.va][e] : arch::fp16_to_e8m15(arch::e8m15_to_fp16(v[w.va][e]));
      break;
    case VectorOpcode::kVbcast:
      if (w.sa == 1)
        std::fill_n(v[w.vd].begin(), 16 * chunks(), s[w.va]);
      else
        s[w.vd] = v[w.va][0];
      break;
    case VectorOpcode::kVshuf: {
      const auto from = v[w.va];
      for (unsigned e = 0; e < 16 * chunks(); ++e) v[w.vd][e] = from[e / 16 * 16 + (e + s[w.vb]) % 16];
      break;
    }
    case VectorOpcode::kVfill:
      for (std::uint64_t i = 0; i < walk.total(); ++i) {
        const auto found = memory.find(walk.at(i) / 32);
        l1[(w.offset + i) % 512] = found == memory.end() ? Word256{} : found->second;
      }
      break;
    case VectorOpcode::kVdrain:
      if (w.peer) break;  // to a node: nothing of this core changes
      for (std::uint64_t i = 0; i < walk.total(); ++i) memory[walk.at(i) / 32] = l1[(w.offset + i) % 512];
      break;
    default:
      break;  // VBAR
  }
}

}  // namespace ktpu::test
