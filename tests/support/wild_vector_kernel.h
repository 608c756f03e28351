// SPDX-License-Identifier: Apache-2.0
// Vector kernels that no compiler would write.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "arch/encoding/vector_word.h"

namespace ktpu::test {

// Words of every kind at random, with bad types, lengths, groups and loops; envelopes that mean nothing;
// descriptors that wrap. Most kernels end in a fault.
class WildVectorKernel {
 public:
  explicit WildVectorKernel(std::mt19937_64& random) : random_(random) {}

  std::vector<std::uint32_t> make() {
    const unsigned count = 5 + below(50);
    if (below(4) != 0) mode(below(5) % 4);
    for (unsigned i = 0; i < count; ++i) one();
    add(word(VectorOpcode::kVhalt));
    return words_;
  }

 private:
  using VectorOpcode = arch::VectorOpcode;
  using VectorWord = arch::VectorWord;

  static VectorWord word(VectorOpcode op) {
    VectorWord w{};
    w.op = static_cast<std::uint32_t>(op);
    return w;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  void add(const VectorWord& w) { words_.push_back(arch::encode_vector_word(w)); }
  void mode(unsigned m) {
    VectorWord w = word(VectorOpcode::kVsetmode);
    w.va = m;
    add(w);
    mode_ = m;
  }
  void set(unsigned reg, std::uint32_t value) {
    VectorWord w = word(VectorOpcode::kVseti);
    w.vd = reg;
    w.sa = below(6) == 0 ? 3 : 0;
    add(w);
    words_.push_back(value);
  }
  std::uint32_t number() {
    switch (below(8)) {
      case 0:
        return static_cast<std::uint32_t>(random_() & 0xFFFFFF);
      case 1: {
        constexpr std::array<std::uint32_t, 10> kSpecial{0,        0x800000, 0x3F8000, 0x7F8000, 0xFF8000,
                                                         0x7FC000, 0x7F8001, 0x000001, 0x434800, 0xC34800};
        return kSpecial[below(kSpecial.size())];
      }
      case 2:
        return 1 + below(8);
      default:
        return below(2) << 23 | (118 + below(18)) << 15 | below(1 << 15);
    }
  }
  void length() {
    const unsigned vl = below(40) == 0 ? below(200) : below(2) ? 16 * (1 + below(8)) : 1 + below(128);
    words_.push_back(0xD0000000 | 13u << 17);
    words_.push_back(vl);
    VectorWord w = word(VectorOpcode::kVsetvl);
    w.va = 13;
    add(w);
  }
  void arithmetic() {
    const unsigned depth = mode_ == 0 ? 1 : mode_ == 1 ? 2 : 4;
    for (unsigned t = 0; t < depth; ++t) {
      VectorWord w = word(static_cast<VectorOpcode>(below(18)));
      w.vd = below(16);
      w.va = below(16);
      w.vb = below(16);
      w.vc = below(16);
      if (t != 0 && below(40) == 0)
        w = arch::decode_vector_word_as(static_cast<std::uint32_t>(random_()), VectorOpcode::kVmov);
      const auto source = [&]() -> std::uint32_t {
        if (below(1000) == 0) return below(4);
        constexpr std::array<std::uint32_t, 6> kHead{0, 0, 0, 0, 1, 3};
        return t == 0 ? kHead[below(6)] : 1 + below(3);
      };
      w.sa = source();
      w.sb = source();
      w.sc = source();
      w.pr = below(4);
      w.pm = below(3) == 0 ? below(4) : 0;
      if (t != 0 && below(10) != 0 && w.op > 17) w.op = below(18);
      add(w);
    }
  }
  void one() {
    VectorWord w{};
    switch (below(30)) {
      case 0:
        return set(below(13), number());
      case 1:
        return length();
      case 2:
        return mode(below(4));
      case 3:
      case 4:
        w = word(below(2) ? VectorOpcode::kVld : VectorOpcode::kVst);
        w.vd = below(16);
        w.ad = below(8);
        w.dtype = below(40) == 0 ? below(8) : 1 + below(2);
        w.offset = below(16384);
        return add(w);
      case 5:
        w = word(VectorOpcode::kVcvt);
        w.vd = below(16);
        w.va = below(16);
        w.dtype = below(40) == 0 ? below(8) : 1 + below(2);
        return add(w);
      case 6:
        w = word(VectorOpcode::kVbcast);
        w.sa = below(4);
        w.vd = w.sa == 1 ? below(16) : below(13);
        w.va = below(16);
        return add(w);
      case 7:
        w = word(VectorOpcode::kVshuf);
        w.vd = below(16);
        w.va = below(16);
        w.vb = below(16);
        return add(w);
      case 8:
      case 9:
      case 10:
        w = word(VectorOpcode::kVred);
        w.kind = mode_ == 3 ? below(8) : below(10) == 0 ? below(8) : 6 + below(2);
        w.vd = below(13);
        w.va = below(16);
        w.vb = below(16);
        w.pr = below(4);
        return add(w);
      case 11:
        words_.push_back(0xD0000000 | 12u << 17);
        words_.push_back(below(4));
        w = word(VectorOpcode::kVloop);
        w.va = 12;
        w.vb = below(16);
        return add(w);
      case 12:
        return add(word(VectorOpcode::kVbar));
      case 13:
      case 14:
        w = word(VectorOpcode::kVfill);
        w.ad = below(8);
        w.offset = below(512);
        return add(w);
      case 15:
      case 16:
        w = word(VectorOpcode::kVdrain);
        w.ad = below(8);
        w.offset = below(512);
        w.peer = below(2);
        w.signal = below(2);
        w.peer_x = below(16);
        w.peer_y = below(16);
        w.buf = below(16);
        return add(w);
      case 17:
        if (below(60) == 0) words_.push_back(static_cast<std::uint32_t>(random_()));
        return;
      default:
        // In TREE mode a group never ends what it counts (V9): rarely.
        if (mode_ != 3 || below(200) == 0) arithmetic();
    }
  }

  std::mt19937_64& random_;
  std::vector<std::uint32_t> words_;
  unsigned mode_ = 0;
};

}  // namespace ktpu::test
