// SPDX-License-Identifier: Apache-2.0
// The memory agent: a neighbour at every mesh port, a control agent that sends, takes and writes registers at
// random, a host at the memory window, and a DRAM with latencies and gaps of its own.
#include <deque>

#include "apps/ktpu-cosim/memory_client.h"
#include "apps/ktpu-cosim/neighbour.h"
#include "apps/ktpu-cosim/unit_bench.h"
#include "apps/ktpu-cosim/window_host.h"
#include "tlm/memory/memory_probe.h"

namespace ktpu::cosim {

namespace {

// Counts what passes on the DRAM bus.
class DramCounter final : public memory::MemoryProbe {
 public:
  explicit DramCounter(const Setup& setup)
      : transfers_(setup.transfers),
        ar_(setup.block.port("dram.ar")),
        r_(setup.block.port("dram.r")),
        aw_(setup.block.port("dram.aw")),
        w_(setup.block.port("dram.w")),
        b_(setup.block.port("dram.b")) {}
  void on_read_address(sim::Cycle now, const memory::DramAddress& a) override {
    transfers_.out(now, ar_, [&] { return address(a); });
  }
  void on_read_beat(sim::Cycle now, unsigned id, bool last) override {
    transfers_.in(now, r_, [&] { return fmt::format("requester {}{}", id, last ? " last" : ""); });
  }
  void on_write_address(sim::Cycle now, const memory::DramAddress& a) override {
    transfers_.out(now, aw_, [&] { return address(a); });
  }
  void on_write_beat(sim::Cycle now, const memory::DramWriteBeat& beat) override {
    transfers_.out(now, w_, [&] {
      return fmt::format("lanes {:#x} {:#018x}...{}", beat.lanes, beat.data.words[0],
                         beat.last != 0 ? " last" : "");
    });
  }
  void on_write_response(sim::Cycle now, unsigned id) override {
    transfers_.in(now, b_, [&] { return fmt::format("requester {}", id); });
  }

 private:
  static std::string address(const memory::DramAddress& a) {
    return fmt::format("{} beats at {:#x}, requester {}", a.beats, a.addr, a.id);
  }
  Transfers& transfers_;
  unsigned ar_, r_, aw_, w_, b_;
};

constexpr unsigned kWords = 1u << 15;  // of memory with something in it

class MemoryBench final : public UnitBench {
 public:
  explicit MemoryBench(const Setup& setup)
      : shape_(std::get<MemoryShape>(setup.block.shape)),
        dram_(memory_, shape_.dram, shape_.bus_bits),
        stand_(setup.registry.memory(topo::Impl::kLockstep, "memory")("memory", shape_.agent, dram_)),
        client_(setup, stand_->window()),
        host_(setup, window_),
        counter_(setup) {
    for (unsigned n = 0; n < kWords; ++n) {
      arch::Flit word = memory_word(setup.conditions.seed, 32ull * n);
      // Every other kilobyte as indices of a gather: small numbers.
      if (n / 32 % 2 != 0)
        for (unsigned w = 0; w < 4; ++w) word.w[w] &= 0x00FF00FF000000FFull;
      memory_.write(32ull * n, {reinterpret_cast<const std::uint8_t*>(word.w.data()), 32});
    }
    stand_->set_probe(&counter_);
    stand_->set_client(client_);
    for (unsigned p = 0; p < shape_.agent.ports.size(); ++p) {
      sim::FlitPort port;
      port.in = &links_.emplace_back(fmt::format("port{}.in", p), arch::kFlitBits);
      port.out = &links_.emplace_back(fmt::format("port{}.out", p), arch::kFlitBits);
      stand_->bind_port(p, port);
      neighbours_.emplace_back(p, port, setup, false, arch::Dialect::kCluster);
    }
    stand_->bind_window(window_);
    for (const Message& message : setup.stimulus) {
      if (message.port < neighbours_.size())
        neighbours_[message.port].send(message);
      else if (message.burst)
        host_.send(message);
      else
        client_.send(message);
    }
    stand(stand_->unit());
    for (Neighbour& neighbour : neighbours_) engine_.add(neighbour);
    engine_.add(host_);
    for (sim::FlitLink& link : links_) engine_.add(link);
    for (sim::LinkBase* link :
         std::initializer_list<sim::LinkBase*>{&window_.aw, &window_.ar, &window_.w, &window_.r, &window_.b})
      engine_.add(*link);
    engine_.elaborate();
  }

  void run(sim::Cycle cycles) override {
    // Cycle by cycle: AUX_STAT is compared when it is read.
    for (sim::Cycle c = 0; c < cycles; ++c) {
      engine_.run_until(engine_.now() + 1);
      stand_->window().aux_stat();
    }
    pair_->require_compared();
  }

 private:
  MemoryShape shape_;
  memory::SparseMemory memory_{{0, 1ull << 36, false}};
  memory::SimpleDram dram_;
  memory::WindowBus window_{"window"};
  std::unique_ptr<platform::MemoryStand> stand_;
  MemoryClient client_;
  WindowHost host_;
  DramCounter counter_;
  std::deque<sim::FlitLink> links_;
  std::deque<Neighbour> neighbours_;
};

}  // namespace

std::unique_ptr<Bench> memory_bench(const Setup& setup) { return std::make_unique<MemoryBench>(setup); }

}  // namespace ktpu::cosim
