// SPDX-License-Identifier: Apache-2.0
// Short kernels on a vector core alone (apps/ktpu-check/vector_rig.h), with the cycles of their instructions.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/ktpu-check/vector_rig.h"
#include "arch/encoding/vector_word.h"

namespace ktpu::test {

using arch::ReduceKind;
using arch::VectorMode;
using arch::VectorOpcode;
using arch::VectorWord;
using sim::Cycle;

constexpr std::uint32_t kV = 0, kS = 1, kC = 2, kK = 3;  // operand sources

inline VectorWord word(VectorOpcode op) {
  VectorWord w{};
  w.op = static_cast<std::uint32_t>(op);
  return w;
}

class Kernel {
 public:
  std::vector<std::uint32_t> words;

  Kernel& add(const VectorWord& w) {
    words.push_back(arch::encode_vector_word(w));
    return *this;
  }
  Kernel& raw(std::uint32_t w) {
    words.push_back(w);
    return *this;
  }
  Kernel& seti(unsigned reg, std::uint32_t value) {
    VectorWord w = word(VectorOpcode::kVseti);
    w.vd = reg;
    return add(w).raw(value);
  }
  Kernel& setk(std::uint32_t value) {
    VectorWord w = word(VectorOpcode::kVseti);
    w.sa = kK;
    return add(w).raw(value);
  }
  Kernel& setvl(unsigned reg) {
    VectorWord w = word(VectorOpcode::kVsetvl);
    w.va = reg;
    return add(w);
  }
  Kernel& length(unsigned vl) { return seti(0, vl).setvl(0); }
  Kernel& mode(VectorMode m) {
    VectorWord w = word(VectorOpcode::kVsetmode);
    w.va = static_cast<std::uint32_t>(m);
    return add(w);
  }
  Kernel& op(VectorOpcode code, unsigned vd, unsigned va, unsigned vb = 0, unsigned vc = 0) {
    return add(arithmetic(code, vd, va, vb, vc));
  }
  static VectorWord arithmetic(VectorOpcode code, unsigned vd, unsigned va, unsigned vb = 0,
                               unsigned vc = 0) {
    VectorWord w = word(code);
    w.vd = vd;
    w.va = va;
    w.vb = vb;
    w.vc = vc;
    return w;
  }
  // A word of a chain: sources and registers of the slots.
  Kernel& stage(VectorOpcode code, unsigned vd, std::uint32_t sa, unsigned va, std::uint32_t sb = kK,
                unsigned vb = 0, std::uint32_t sc = kK, unsigned vc = 0) {
    VectorWord w = arithmetic(code, vd, va, vb, vc);
    w.sa = sa;
    w.sb = sb;
    w.sc = sc;
    return add(w);
  }
  Kernel& compare(VectorOpcode code, unsigned pr, unsigned va, unsigned vb) {
    VectorWord w = arithmetic(code, 15, va, vb, 0);
    w.pr = pr;
    return add(w);
  }
  Kernel& masked(VectorOpcode code, unsigned vd, unsigned va, unsigned pr, unsigned pm) {
    VectorWord w = arithmetic(code, vd, va, va, va);
    w.pr = pr;
    w.pm = pm;
    return add(w);
  }
  Kernel& move(VectorOpcode code, unsigned vd, unsigned ad, unsigned dtype = 1, unsigned offset = 0) {
    VectorWord w = word(code);
    w.vd = vd;
    w.ad = ad;
    w.dtype = dtype;
    w.offset = offset & 0x3FFF;
    return add(w);
  }
  Kernel& load(unsigned vd, unsigned ad, unsigned dtype = 1) {
    return move(VectorOpcode::kVld, vd, ad, dtype);
  }
  Kernel& store(unsigned vd, unsigned ad, unsigned dtype = 1) {
    return move(VectorOpcode::kVst, vd, ad, dtype);
  }
  Kernel& convert(unsigned vd, unsigned va, unsigned dtype) {
    VectorWord w = word(VectorOpcode::kVcvt);
    w.vd = vd;
    w.va = va;
    w.dtype = dtype;
    return add(w);
  }
  Kernel& spread(unsigned vd, unsigned scalar) {
    VectorWord w = word(VectorOpcode::kVbcast);
    w.sa = kS;
    w.vd = vd;
    w.va = scalar;
    return add(w);
  }
  Kernel& reduce(ReduceKind kind, unsigned scalar, unsigned va, unsigned vb = 0, unsigned pr = 0) {
    VectorWord w = word(VectorOpcode::kVred);
    w.kind = static_cast<std::uint32_t>(kind);
    w.vd = scalar;
    w.va = va;
    w.vb = vb;
    w.pr = pr;
    return add(w);
  }
  Kernel& loop(unsigned scalar, unsigned body) {
    VectorWord w = word(VectorOpcode::kVloop);
    w.va = scalar;
    w.vb = body;
    return add(w);
  }
  Kernel& fill(unsigned ad, unsigned first) { return move(VectorOpcode::kVfill, 0, ad, 0, first); }
  Kernel& drain(unsigned ad, unsigned first) {
    VectorWord w = word(VectorOpcode::kVdrain);
    w.ad = ad;
    w.offset = first;
    return add(w);
  }
  Kernel& bar() { return add(word(VectorOpcode::kVbar)); }
  Kernel& halt() { return add(word(VectorOpcode::kVhalt)); }
};

// One dimension in descriptor `ad`: base, stride, bound.
struct Walk1 {
  unsigned ad;
  std::uint64_t base;
  std::int64_t stride;
  unsigned bound;
};

class KernelBench final : public vector::VectorProbe {
 public:
  explicit KernelBench(bool quirks = true) : rig_(params(quirks)) { rig_.core().set_probe(this); }

  void walk(const Walk1& w) {
    rig_.write_descriptor(w.ad, 0, w.base);
    rig_.write_descriptor(w.ad, 1, (static_cast<std::uint64_t>(w.stride) & 0x3FFFF) << 16 | w.bound);
  }
  check::VectorRig::Result run(const Kernel& kernel, Cycle limit = 100'000) {
    rig_.write_imem(0, kernel.words);
    executed_.clear();
    return rig_.run(0, limit);
  }
  // Execute cycles of the last kernel, in kernel cycles.
  Cycle at(std::size_t instruction) const { return executed_.at(instruction) - start_; }
  // Cycles from instruction `i` to the next one: next F is three cycles before the next E.
  Cycle cost(std::size_t i) const { return executed_.at(i + 1) - executed_.at(i); }
  std::size_t executed() const { return executed_.size(); }
  std::uint64_t hits(arch::QuirkId id) const {
    for (const noc::QuirkHits& h : rig_.core().quirk_hits())
      if (h.id == id) return h.count;
    return 0;
  }
  check::VectorRig& rig() { return rig_; }
  vector::VectorCore& core() { return rig_.core(); }

  void on_run(Cycle start, unsigned) override { start_ = start; }
  void on_execute(Cycle now, unsigned, std::uint32_t) override { executed_.push_back(now); }

 private:
  static vector::VectorParams params(bool quirks) {
    vector::VectorParams p = check::VectorRig::recorded_params();
    p.quirks = quirks;
    return p;
  }
  mutable check::VectorRig rig_;
  Cycle start_ = 0;
  std::vector<Cycle> executed_;
};

// A word of 16 FP16 values i, i+1, ...
inline vector::L1Word halves(unsigned first) {
  vector::L1Word w{};
  // Integers up to 2048 are exact in FP16.
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned v = first + i;
    std::uint16_t h = 0;
    if (v != 0) {
      const int e = 31 - __builtin_clz(v);
      h = static_cast<std::uint16_t>((e + 15) << 10 | ((v << (10 - e)) & 0x3FF));
    }
    w[i / 4] |= std::uint64_t{h} << (16 * (i % 4));
  }
  return w;
}

// A0 fills L1 words 0.. with 0, 1, 2, ... in FP16; A1 walks them.
inline void integers(KernelBench& b, unsigned words) {
  for (unsigned i = 0; i < words; ++i) b.rig().memory[0x1000 / 32 + i] = halves(16 * i);
  b.walk({0, 0x1000, 32, words});
  b.walk({1, 0, 1, words});
}

inline constexpr std::uint32_t kOne = 0x3F8000, kTwo = 0x400000, kThree = 0x404000;

}  // namespace ktpu::test
