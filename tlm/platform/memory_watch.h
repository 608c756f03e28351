// SPDX-License-Identifier: Apache-2.0
// Tells of every read and write that touches given ranges of a mesh's memory: what crosses the DRAM bus, in
// the cycle it does, and what the host does behind it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "tlm/memory/memory_probe.h"
#include "tlm/platform/system.h"

namespace ktpu::platform {

class MemoryWatch final : public memory::MemoryProbe {
 public:
  struct Range {
    std::uint64_t address = 0;  // the mesh bits do not count
    std::uint64_t bytes = 0;
  };
  using Sink = std::function<void(const std::string& line)>;

  // `next` sees every event too; it may be null. All but `sink` must outlive the watch.
  MemoryWatch(const System& system, const MeshSystem& mesh, std::vector<Range> ranges,
              memory::MemoryProbe* next, Sink sink);

  // "cycle 813: write 0x4000..0x403f by cluster@1,1 through port 0: 3c00 ..."; bytes in the order of memory.
  void on_read_address(sim::Cycle now, const memory::DramAddress& burst) override;
  void on_read_beat(sim::Cycle now, unsigned requester, bool last) override;
  void on_read_data(sim::Cycle now, unsigned requester, const memory::DramData& data) override;
  void on_write_address(sim::Cycle now, const memory::DramAddress& burst) override;
  void on_write_beat(sim::Cycle now, const memory::DramWriteBeat& beat) override;
  void on_write_response(sim::Cycle now, unsigned requester) override;
  // Behind the machine's back; the bytes are those in memory now. `what`: "a load step".
  void on_host(sim::Cycle now, bool write, std::uint64_t address, std::uint64_t bytes,
               const std::string& what);

 private:
  struct Burst {
    memory::DramAddress address;
    std::uint32_t done = 0;  // beats
  };
  bool touches(std::uint64_t address, std::uint64_t bytes) const;
  std::string requester_text(const memory::DramAddress& burst) const;
  void tell(sim::Cycle now, const char* verb, std::uint64_t address, const std::uint8_t* data,
            std::uint64_t bytes, const std::string& who);

  const System& system_;
  const MeshSystem& mesh_;
  std::vector<Range> ranges_;
  memory::MemoryProbe* next_;
  Sink sink_;
  std::array<std::deque<Burst>, 16> reads_;  // by requester: data comes in the order of its addresses
  std::deque<Burst> writes_;                 // data comes in the order of the addresses
};

}  // namespace ktpu::platform
