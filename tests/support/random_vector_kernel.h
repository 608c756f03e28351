// SPDX-License-Identifier: Apache-2.0
// Random vector kernels: operands from memory, loops, all modes and opcodes, results back to memory.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "arch/encoding/vector_word.h"
#include "tests/support/vector_isa.h"

namespace ktpu::test {

class RandomVectorKernel {
 public:
  explicit RandomVectorKernel(std::uint64_t seed) : random_(seed) {}

  std::vector<std::uint32_t> words;
  std::array<VectorIsa::Walk, 8> walks{};
  std::map<std::uint64_t, VectorIsa::Word256> memory;

  void make() {
    for (unsigned i = 0; i < kFillWords; ++i) {
      VectorIsa::Word256 word{};
      for (unsigned h = 0; h < 16; ++h) word[h / 4] |= std::uint64_t{fp16()} << (16 * (h % 4));
      memory[kSource / 32 + i] = word;
    }
    walks[0] = {kSource, {32, 0, 0, 0}, {kFillWords, 1, 1, 1}};
    for (unsigned d = 1; d < 6; ++d)
      walks[d] = {
          below(40), {static_cast<std::int64_t>(below(5)) - 1, 8, 0, 0}, {1 + below(9), 1 + below(3), 1, 1}};
    walks[6] = {kTarget, {32, 0, 0, 0}, {64, 1, 1, 1}};
    walks[7] = {kTarget + 0x1000, {64, -32, 0, 0}, {1 + below(8), 1 + below(3), 1, 1}};
    for (unsigned r = 0; r < kLengthScalar; ++r) seti(r, number());
    length();
    VectorWord w = op(VectorOpcode::kVfill);
    emit(w);
    emit(op(VectorOpcode::kVbar));
    for (unsigned r = 0; r < 6; ++r) load(r);
    const unsigned count = 8 + below(30);
    for (unsigned i = 0; i < count; ++i) one(true);
    mode(0);
    for (unsigned i = 0; i < 2; ++i) one(true);
    w = op(VectorOpcode::kVdrain);
    w.ad = 6;
    emit(w);
    emit(op(VectorOpcode::kVhalt));
  }

 private:
  using VectorOpcode = arch::VectorOpcode;
  using VectorWord = arch::VectorWord;
  static constexpr std::uint64_t kSource = 0x1000, kTarget = 0x8000;
  static constexpr unsigned kFillWords = 32, kLoopScalar = 15, kLengthScalar = 14;

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  unsigned reg() { return static_cast<unsigned>(below(16)); }
  std::uint16_t fp16() {
    switch (below(12)) {
      case 0:
        return static_cast<std::uint16_t>(below(65536));
      case 1:
        return static_cast<std::uint16_t>(below(2) << 15);
      default:  // around 1
        return static_cast<std::uint16_t>(below(2) << 15 | (12 + below(6)) << 10 | below(1024));
    }
  }
  std::uint32_t number() {
    if (below(10) == 0) return static_cast<std::uint32_t>(below(1 << 24));
    return static_cast<std::uint32_t>(below(2) << 23 | (120 + below(12)) << 15 | below(1 << 15));
  }
  static VectorWord op(VectorOpcode code) {
    VectorWord w{};
    w.op = static_cast<std::uint32_t>(code);
    return w;
  }
  void emit(const VectorWord& w) { words.push_back(arch::encode_vector_word(w)); }
  void seti(unsigned r, std::uint32_t value) {
    VectorWord w = op(VectorOpcode::kVseti);
    w.vd = r;
    emit(w);
    words.push_back(value);
  }
  void length() {
    const bool whole = below(2) == 0;
    vl_ = static_cast<unsigned>(whole ? 16 * (1 + below(8)) : 1 + below(128));
    seti(kLengthScalar, vl_);
    VectorWord w = op(VectorOpcode::kVsetvl);
    w.va = kLengthScalar;
    emit(w);
  }
  void mode(unsigned m) {
    VectorWord w = op(VectorOpcode::kVsetmode);
    w.va = m;
    emit(w);
    mode_ = m;
  }
  void load(unsigned r) {
    VectorWord w = op(VectorOpcode::kVld);
    w.vd = r;
    w.ad = static_cast<std::uint32_t>(1 + below(5));
    w.dtype = static_cast<std::uint32_t>(below(6) == 0 ? 2 : 1);
    w.offset = static_cast<std::uint32_t>(below(20)) - 10u;
    w.offset &= 0x3FFF;
    emit(w);
  }
  void arithmetic() {
    const unsigned depth = 1u << mode_;
    for (unsigned t = 0; t < depth; ++t) {
      VectorWord w = op(static_cast<VectorOpcode>(below(18)));
      const auto source = [&] {
        if (t == 0) {
          constexpr std::array<std::uint32_t, 6> kHead{0, 0, 0, 0, 1, 3};
          return kHead[below(kHead.size())];
        }
        return static_cast<std::uint32_t>(1 + below(3));
      };
      w.sa = source();
      w.sb = source();
      w.sc = source();
      w.vd = reg();
      w.va = reg();
      w.vb = reg();
      w.vc = reg();
      w.pr = static_cast<std::uint32_t>(below(4));
      w.pm = static_cast<std::uint32_t>(below(3) == 0 ? below(4) : 0);
      emit(w);
    }
  }
  void reduce() {
    VectorWord w = op(VectorOpcode::kVred);
    const bool tree = mode_ == 3 && vl_ % 16 == 0;
    w.kind = static_cast<std::uint32_t>(tree ? below(8) : 6 + below(2));
    w.vd = static_cast<std::uint32_t>(below(kLengthScalar));
    w.va = reg();
    w.vb = reg();
    w.pr = static_cast<std::uint32_t>(below(4));
    emit(w);
  }
  void loop() {
    seti(kLoopScalar, static_cast<std::uint32_t>(below(5)));
    const std::size_t at = words.size();
    emit(op(VectorOpcode::kVloop));
    for (unsigned i = 0; i < 3 && words.size() - at < 8; ++i) one(false);
    VectorWord w = op(VectorOpcode::kVloop);
    w.va = kLoopScalar;
    w.vb = static_cast<std::uint32_t>(words.size() - at - 1);
    words[at] = arch::encode_vector_word(w);
  }
  void one(bool top) {
    const std::uint64_t kind = below(26);
    if (kind < 12 && mode_ != 3) return arithmetic();
    switch (kind) {
      case 12:
        if (top) length();
        return;
      case 13:
      case 14:
        if (top) mode(static_cast<unsigned>(below(4)));
        return;
      case 15:
      case 16:
        return load(reg());
      case 17:
      case 18: {
        VectorWord w = op(VectorOpcode::kVst);
        w.vd = reg();
        w.ad = static_cast<std::uint32_t>(1 + below(5));
        w.dtype = static_cast<std::uint32_t>(below(8) == 0 ? 2 : 1);
        w.offset = static_cast<std::uint32_t>(below(64));
        return emit(w);
      }
      case 19: {
        VectorWord w = op(VectorOpcode::kVcvt);
        w.vd = reg();
        w.va = reg();
        w.dtype = static_cast<std::uint32_t>(below(4) == 0 ? 1 : 2);
        return emit(w);
      }
      case 20: {
        VectorWord w = op(VectorOpcode::kVbcast);
        w.sa = static_cast<std::uint32_t>(below(2));
        w.vd = static_cast<std::uint32_t>(w.sa == 1 ? reg() : below(kLengthScalar));
        w.va = reg();
        return emit(w);
      }
      case 21: {
        VectorWord w = op(VectorOpcode::kVshuf);
        w.vd = reg();
        w.va = reg();
        w.vb = reg();
        return emit(w);
      }
      case 22:
      case 23:
        return reduce();
      case 24:
        if (top) loop();
        return;
      default: {
        VectorWord w = op(VectorOpcode::kVdrain);
        w.ad = 7;
        w.offset = static_cast<std::uint32_t>(below(64));
        return emit(w);
      }
    }
  }

  std::mt19937_64 random_;
  unsigned vl_ = 128, mode_ = 0;
};

}  // namespace ktpu::test
