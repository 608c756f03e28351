// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/memory_client.h"

#include "arch/encoding/mover.h"
#include "arch/encoding/registers.h"
#include "arch/encoding/text.h"
#include "tlm/orchestrator/register_bus_wires.h"

namespace ktpu::cosim {

MemoryClient::MemoryClient(const Setup& setup, const std::string& prefix, bool waits,
                           memory::AuxWindow& window)
    : conditions_(setup.conditions),
      transfers_(setup.transfers),
      window_(window),
      client_(setup.block.port(prefix + "client")),
      aux_(setup.block.port(prefix + "aux")),
      waits_(waits),
      flits_(&Message::flits, conditions_.seed),
      writes_(&Message::beats, conditions_.seed) {}

void MemoryClient::send(const Message& message) {
  if (message.port == client_)
    flits_.add(message);
  else
    writes_.add(message);
}

bool MemoryClient::offer(sim::Cycle now, const arch::Flit& flit) {
  transfers_.out(now, client_, [&] { return arch::flit_to_text(flit, arch::Dialect::kCluster); });
  return !stalled(conditions_, 4 * client_, now);
}

sim::Cycle MemoryClient::clock(sim::Cycle now, bool out_taken) {
  if (out_taken) {
    transfers_.in(now, client_, [&] { return arch::flit_to_text(flit_, arch::Dialect::kCluster); });
    full_ = false;
  }
  write_registers(now);
  if (!full_ && !stalled(conditions_, 4 * client_ + 1, now)) {
    if (const auto flit = flits_.take(now + 1)) {
      flit_ = *flit;
      full_ = true;
    }
  }
  return now + 1;
}

void MemoryClient::write_registers(sim::Cycle now) {
  for (unsigned n = 1 + sim::Random::nth(conditions_.seed + 3, now) % 2; n != 0; --n) {
    if (stalled(conditions_, 4 * aux_ + n, now)) return;
    if (waits_ && writes_.starts(now) && (now < quiet_until_ || mover_busy())) return;
    const auto beat = writes_.take(now);
    if (!beat) return;
    transfers_.in(now, aux_, [&] { return orchestrator::wire_words(*beat); });
    window_.aux_write(now, beat->write_offset, beat->data);
    if (beat->write_offset != arch::mover::kControl) continue;
    quiet_until_ = now + 3;  // until a read shows it as busy
    return;
  }
}

bool MemoryClient::mover_busy() const {
  const std::uint64_t stat = window_.aux_stat();
  return arch::get(&stat, arch::agent::aux_stat::kBusy) != 0;
}

}  // namespace ktpu::cosim
