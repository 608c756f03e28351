// SPDX-License-Identifier: Apache-2.0
// The wires between a host and the memory window (memory.md section 8): the five channels of its slave port,
// 256 bits of data, whole words only. Each transfers in the cycles with valid && !busy.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tlm/sim/link.h"

namespace ktpu::memory {

using WindowWord = std::array<std::uint64_t, 4>;

struct WindowAddress {
  std::uint64_t addr = 0;   // 40 bits
  std::uint32_t beats = 1;  // of 32 bytes, 1..256
};

struct WindowBeat {
  WindowWord data{};
  bool last = false;  // reads only
};

inline void visit_data(sim::Archive& archive, WindowAddress& address) {
  archive.state("addr", address.addr, 40);
  archive.state("beats", address.beats, 9);
}
inline void visit_data(sim::Archive& archive, WindowBeat& beat) {
  archive.memory("data", beat.data.data(), beat.data.size());
  archive.state("last", beat.last, 1);
}

class WindowBus {
 public:
  explicit WindowBus(const std::string& name)
      : aw(name + ".aw", 49),
        ar(name + ".ar", 49),
        w(name + ".w", 256),
        r(name + ".r", 257),
        b(name + ".b", 1) {}

  sim::Link<WindowAddress> aw, ar;  // host to window
  sim::Link<WindowBeat> w;
  sim::Link<WindowBeat> r;  // window to host
  sim::Link<bool> b;
};

inline constexpr std::uint32_t kWindowBeats = 256;  // longest burst

}  // namespace ktpu::memory
