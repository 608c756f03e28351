// SPDX-License-Identifier: Apache-2.0
// The memory agent: a neighbour at every mesh port, a control agent that sends, takes and writes registers at
// random, a host at the memory window, and a DRAM with latencies and gaps of its own. And a chain of them.
#include <deque>

#include "apps/ktpu-cosim/memory_client.h"
#include "apps/ktpu-cosim/neighbour.h"
#include "apps/ktpu-cosim/unit_bench.h"
#include "apps/ktpu-cosim/window_host.h"
#include "tlm/memory/banked_dram.h"
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

// A memory agent and all that surrounds it but other meshes. `prefix`: of the names of its ports, the first
// of which is number `first`.
class MemoryMesh {
 public:
  MemoryMesh(const Setup& setup, const MemoryShape& shape, const std::string& prefix, bool waits,
             sim::Engine& engine)
      : shape_(shape),
        first_(setup.block.port(prefix + "port0")),
        dram_(make_dram(shape_, memory_)),
        stand_(
            setup.registry.memory(topo::Impl::kLockstep, "memory")(prefix + "memory", shape_.agent, *dram_)),
        client_(setup, prefix, waits, stand_->window()) {
    for (unsigned n = 0; n < kWords; ++n) {
      arch::Flit word = memory_word(setup.conditions.seed, 32ull * n);
      // Every other kilobyte as indices of a gather: small numbers.
      if (n / 32 % 2 != 0)
        for (unsigned w = 0; w < 4; ++w) word.w[w] &= 0x00FF00FF000000FFull;
      memory_.write(32ull * n, {reinterpret_cast<const std::uint8_t*>(word.w.data()), 32});
    }
    stand_->set_client(client_);
    for (unsigned p = 0; p < shape_.agent.ports.size(); ++p) {
      sim::FlitPort port;
      port.in = &links_.emplace_back(fmt::format("{}port{}.in", prefix, p), arch::kFlitBits);
      port.out = &links_.emplace_back(fmt::format("{}port{}.out", prefix, p), arch::kFlitBits);
      stand_->bind_port(p, port);
      neighbours_.emplace_back(first_ + p, port, setup, false, arch::Dialect::kCluster);
      if (shape_.agent.interlink && !shape_.agent.interlink_idle)
        neighbours_.back().loop(shape_.agent.ports[p]);
    }
    for (Neighbour& neighbour : neighbours_) engine.add(neighbour);
    for (sim::FlitLink& link : links_) engine.add(link);
  }
  platform::MemoryStand& stand() { return *stand_; }
  // Takes messages for its mesh ports and its control agent.
  bool send(const Message& message) {
    if (message.port - first_ < neighbours_.size())
      neighbours_[message.port - first_].send(message);
    else if (client_.has(message.port))
      client_.send(message);
    else
      return false;
    return true;
  }
  // AUX_STAT and AUX_STATW are compared when they are read.
  void compare_registers(sim::Cycle now) const {
    stand_->window().aux_stat();
    if (shape_.agent.interlink && !shape_.agent.interlink_idle)
      for (unsigned word = now % 4; word < 16; word += 4) stand_->window().aux_status(word);
  }

 private:
  static std::unique_ptr<memory::DramDevice> make_dram(const MemoryShape& shape,
                                                       memory::SparseMemory& memory) {
    if (shape.banked) return std::make_unique<memory::BankedDram>(memory, *shape.banked, shape.bus_bits);
    return std::make_unique<memory::SimpleDram>(memory, shape.dram, shape.bus_bits);
  }

  MemoryShape shape_;
  unsigned first_;
  memory::SparseMemory memory_{{0, 1ull << 36, false}};
  std::unique_ptr<memory::DramDevice> dram_;
  std::unique_ptr<platform::MemoryStand> stand_;
  MemoryClient client_;
  std::deque<sim::FlitLink> links_;
  std::deque<Neighbour> neighbours_;
};

// One, with a host at its window. Legal episodes have odd seeds: their moves wait for each other.
class MemoryBench final : public UnitBench {
 public:
  explicit MemoryBench(const Setup& setup)
      : mesh_(setup, std::get<MemoryShape>(setup.block.shape), "", setup.conditions.seed % 2 == 1, engine_),
        host_(setup, window_),
        counter_(setup) {
    mesh_.stand().set_probe(&counter_);
    mesh_.stand().bind_window(window_);
    for (const Message& message : setup.stimulus)
      if (!mesh_.send(message)) host_.send(message);
    stand(mesh_.stand().unit());
    engine_.add(host_);
    for (sim::LinkBase* link :
         std::initializer_list<sim::LinkBase*>{&window_.aw, &window_.ar, &window_.w, &window_.r, &window_.b})
      engine_.add(*link);
    engine_.elaborate();
  }

  void run(sim::Cycle cycles) override {
    for (sim::Cycle c = 0; c < cycles; ++c) {
      engine_.run_until(engine_.now() + 1);
      mesh_.compare_registers(engine_.now());
    }
    require_compared();
  }

 private:
  memory::WindowBus window_{"window"};
  MemoryMesh mesh_;
  WindowHost host_;
  DramCounter counter_;
};

// Three of them in a chain. What an interlink carries is compared as all outputs are.
class ChainBench final : public UnitBench {
 public:
  explicit ChainBench(const Setup& setup) : transfers_(setup.transfers) {
    const ChainShape& chain = std::get<ChainShape>(setup.block.shape);
    for (unsigned m = 0; m < chain.meshes.size(); ++m)
      meshes_.emplace_back(setup, chain.meshes[m], fmt::format("m{}.", m), true, engine_);
    for (unsigned m = 0; m + 1 < chain.meshes.size(); ++m) {
      const unsigned left = setup.block.port(fmt::format("m{}.link1", m));
      const unsigned right = setup.block.port(fmt::format("m{}.link0", m + 1));
      memory::BeatLink& up = wire(fmt::format("up{}", m), left, right);
      memory::BeatLink& down = wire(fmt::format("down{}", m), right, left);
      meshes_[m].stand().bind_interlink(1, &up, &down);
      meshes_[m + 1].stand().bind_interlink(0, &down, &up);
    }
    for (const Message& message : setup.stimulus)
      for (MemoryMesh& mesh : meshes_)
        if (mesh.send(message)) break;
    for (MemoryMesh& mesh : meshes_) stand(mesh.stand().unit());
    engine_.elaborate();
  }

  void run(sim::Cycle cycles) override {
    for (sim::Cycle c = 0; c < cycles; ++c) {
      engine_.run_until(engine_.now() + 1);
      for (const MemoryMesh& mesh : meshes_) mesh.compare_registers(engine_.now());
      for (Wire& wire : wires_) {
        if (wire.link.transferred() == wire.seen) continue;
        wire.seen = wire.link.transferred();
        const auto beat = [] { return std::string("beat"); };
        transfers_.out(engine_.now() - 1, wire.from, beat);
        transfers_.in(engine_.now() - 1, wire.to, beat);
      }
    }
    require_compared();
  }

 private:
  struct Wire {
    Wire(const std::string& name, unsigned sender, unsigned receiver)
        : link(name, memory::kBeatWireBits), from(sender), to(receiver) {}
    memory::BeatLink link;
    unsigned from, to;  // ports
    std::uint64_t seen = 0;
  };
  memory::BeatLink& wire(const std::string& name, unsigned from, unsigned to) {
    wires_.emplace_back(name, from, to);
    engine_.add(wires_.back().link);
    return wires_.back().link;
  }

  Transfers& transfers_;
  std::deque<Wire> wires_;
  std::deque<MemoryMesh> meshes_;
};

}  // namespace

std::unique_ptr<Bench> memory_bench(const Setup& setup) { return std::make_unique<MemoryBench>(setup); }
std::unique_ptr<Bench> chain_bench(const Setup& setup) { return std::make_unique<ChainBench>(setup); }

}  // namespace ktpu::cosim
