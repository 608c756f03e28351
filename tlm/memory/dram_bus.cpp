// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/dram_bus.h"

#include "arch/encoding/latencies.h"

namespace ktpu::memory {

namespace latency = arch::latency;
using sim::FifoShape;

DramBus::DramBus(DramDevice& device, unsigned read_fifos, std::uint32_t read_depth)
    : ar(FifoShape::async(latency::kDramFifoAr.value)),
      aw(FifoShape::async(latency::kDramFifoAw.value)),
      w(FifoShape::async(latency::kDramFifoW.value)),
      b(FifoShape::async(latency::kDramFifoB.value)),
      device_(device) {
  for (unsigned i = 0; i < read_fifos; ++i) r.emplace_back(FifoShape::async(read_depth));
}

void DramBus::reset_fifos() {
  ar.reset();
  aw.reset();
  w.reset();
  b.reset();
  for (auto& fifo : r) fifo.reset();
}

void DramBus::reset(sim::Cycle start) {
  writes_open_ = beats_taken_ = writes_answered_ = 0;
  device_.reset(start);
  device_due_ = start;
  read_cycles_.reset(start);
  write_cycles_.reset(start);
}

void DramBus::visit_fifos(sim::Archive& archive) {
  ar.visit(archive, "ar_fifo");
  aw.visit(archive, "aw_fifo");
  w.visit(archive, "w_fifo");
  b.visit(archive, "b_fifo");
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i].visit(archive, r.size() == 1 ? std::string("r_fifo") : fmt::format("r_fifo{}", i));
}

void DramBus::visit(sim::Archive& archive) {
  archive.scope("read_bus", [&] { read_cycles_.visit(archive); });
  archive.scope("write_bus", [&] { write_cycles_.visit(archive); });
  archive.state("writes_open", writes_open_, 8);
  archive.counter("read_bursts", read_bursts_, "bursts", "read addresses accepted by the DRAM");
  archive.counter("write_bursts", write_bursts_, "bursts", "write addresses accepted by the DRAM");
  archive.counter("read_beats", read_beats_, "beats", "data beats read on the DRAM bus");
  archive.counter("write_beats", write_beats_, "beats", "data beats written on the DRAM bus");
  archive.counter("responses", responses_, "bursts", "write responses of the DRAM");
}

}  // namespace ktpu::memory
