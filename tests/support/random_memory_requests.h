// SPDX-License-Identifier: Apache-2.0
// Random requests to a memory port: writes, reads of every kind, flits for the control agent.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/unit/memory/bench.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

// Complete messages of one source to one port.
class MemoryMessages {
 public:
  // `staged`: some go to the staging memory of mesh `mesh`.
  MemoryMessages(sim::Random& random, arch::Coord port, bool staged, unsigned mesh)
      : random_(random), port_(port), staged_(staged), mesh_(mesh) {}

  // Any of them, odd addresses and flags among them; in order. Never empty.
  std::vector<arch::Flit> any(arch::Coord source) {
    const unsigned txn = random_.below(256);
    const std::uint32_t kind = random_.below(20);
    if (kind < 9) return write(any_address(), 1 + random_.below(8), source, txn);
    if (kind < 17) {
      arch::MemReq request;
      request.addr = any_address();
      request.len = kind < 11 ? random_.below(random_.below(8) == 0 ? 256 : 4) : random_.below(256);
      if (kind >= 11) request.flags = (1 + random_.below(7)) << 4;  // any of QUANT, B layout, STREAM
      request.count = random_.below(6);
      request.entry_words = random_.below(7);
      request.n_peer = random_.below(3) == 0 ? random_.below(4) : 0;
      request.peer0 = random_.below(256);
      request.peer1 = random_.below(256);
      request.peer2 = random_.below(256);
      return {memory::test::read_request(request, source, txn, port_)};
    }
    for (;;) {
      arch::Flit flit;
      for (std::uint64_t& word : flit.w) word = random_.next();
      flit.w[4] = static_cast<std::uint32_t>(flit.w[4]);
      flit.set_dst(port_);
      if (flit.type() != arch::FlitType::kMemWrData && flit.type() != arch::FlitType::kMemWrReq &&
          flit.type() != arch::FlitType::kMemRdReq)
        return {flit};
    }
  }
  // What units send: aligned addresses, raw and transformed entries, short bursts, signals.
  std::vector<arch::Flit> usual(arch::Coord source) {
    namespace mt = memory::test;
    const unsigned txn = random_.below(256);
    std::uint64_t at = random_.below(1u << 14) * 32ull;
    if (staged_ && random_.below(4) == 0) at |= staging();
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        return write(at, 1 + random_.below(8), source, txn);
      case 3:
        return {mt::read_request(mt::plain_read(at, 1 + random_.below(16)), source, txn, port_)};
      case 4: {
        arch::MemReq request = mt::quant_entries(at, 1 + random_.below(4), random_.below(2) != 0);
        return {mt::read_request(request, source, txn, port_)};
      }
      case 5: {  // the same for several units
        arch::MemReq request = mt::raw_entries(at, 1 + random_.below(4), 4);
        request.n_peer = 1 + random_.below(3);
        request.peer0 = 0x11, request.peer1 = 0x12, request.peer2 = 0x21;
        return {mt::read_request(request, source, txn, port_)};
      }
      case 6:
        return {mt::read_request(mt::raw_entries(at, 1 + random_.below(6), 1 + random_.below(4)), source, txn,
                                 port_)};
      default:
        return {signal(source)};
    }
  }
  arch::Flit signal(arch::Coord source) {
    arch::Flit flit = arch::make_flit(port_, source, arch::FlitType::kCuSignal, random_.below(256), true);
    flit.w[3] = std::uint64_t{random_.below(5)} << 56;
    return flit;
  }

 private:
  std::vector<arch::Flit> write(std::uint64_t at, unsigned beats, arch::Coord source, unsigned txn) {
    std::vector<arch::Flit> flits{memory::test::write_request(at, beats, source, txn, port_)};
    for (unsigned n = 0; n < beats; ++n) {
      arch::Flit data = memory::test::write_data(0, n + 1 == beats, source, port_);
      for (unsigned w = 0; w < 4; ++w) data.w[w] = random_.next();
      flits.push_back(data);
    }
    return flits;
  }
  std::uint64_t staging() const { return 1ull << 39 | std::uint64_t{mesh_} << 36; }
  std::uint64_t any_address() {
    std::uint64_t at = random_.below(1u << 15) * 32ull;
    const std::uint32_t kind = random_.below(24);
    if (kind >= 5 && kind < 9 && staged_)  // mostly a few words, so that reads find what was written
      return at % (1u << (random_.below(8) == 0 ? 21 : 11)) | staging();
    if (kind == 0) at |= 1ull << 39;                                          // an aperture
    if (kind == 1) at |= static_cast<std::uint64_t>(random_.below(4)) << 36;  // a mesh
    if (kind == 2) at += random_.below(32);                                   // not aligned
    if (kind == 3) at |= 3ull << 38;
    if (kind == 4) at = (1ull << 40) - 32 * (1 + random_.below(16));  // wraps
    return at;
  }

  sim::Random& random_;
  arch::Coord port_;
  bool staged_;
  unsigned mesh_;
};

// Flits of one port: sources take turns flit by flit. A source's own flits stay in order, and it has one
// incomplete write.
class RandomRequests {
 public:
  RandomRequests(sim::Random& random, arch::Coord port, std::uint8_t row, bool staged, unsigned mesh)
      : random_(random), messages_(random, port, staged, mesh) {
    for (std::uint8_t x = 1; x <= 5; ++x) sources_.push_back({{x, row}, {}});
  }
  arch::Flit next() {
    Source& source = sources_[random_.below(static_cast<std::uint32_t>(sources_.size()))];
    if (source.left.empty()) {
      source.left = messages_.any(source.at);
      std::reverse(source.left.begin(), source.left.end());
    }
    return pop(source);
  }
  // Completes one open message; false: there is none.
  bool finish(arch::Flit& flit) {
    for (Source& source : sources_)
      if (!source.left.empty()) {
        flit = pop(source);
        return true;
      }
    return false;
  }

 private:
  struct Source {
    arch::Coord at;
    std::vector<arch::Flit> left;  // last first
  };
  static arch::Flit pop(Source& source) {
    const arch::Flit flit = source.left.back();
    source.left.pop_back();
    return flit;
  }

  sim::Random& random_;
  MemoryMessages messages_;
  std::vector<Source> sources_;
};

}  // namespace ktpu::test
