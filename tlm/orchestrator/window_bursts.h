// SPDX-License-Identifier: Apache-2.0
// How a host splits an access to the memory window into bursts: plain ones never cross a 4 KiB boundary, as
// on the reference's host bus. An upload's destination advances by half of what is sent, so its bursts are
// simply 4 KiB long.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/encoding/address_map.h"

namespace ktpu::orchestrator {

// Calls f(address, first byte, bytes) for each burst of [address, address + bytes).
template <typename F>
void for_each_window_burst(std::uint64_t address, std::uint64_t bytes, bool write, F&& f) {
  constexpr std::uint64_t kPage = 4096;
  const bool upload = write && arch::address::upload(address);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t n = std::min(upload ? kPage : kPage - address % kPage, bytes - done);
    f(address, done, n);
    address += upload ? n / 2 : n;
    done += n;
  }
}

}  // namespace ktpu::orchestrator
