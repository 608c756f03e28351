// SPDX-License-Identifier: Apache-2.0
// A chain of memory agents joined by their interlinks, each with a scripted sender and a recording receiver
// at every port and a DRAM of its own: the machine of vectors/rtl/README.md, section cycles_interlink.
#pragma once

#include "arch/encoding/interlink.h"
#include "tests/unit/memory/bench.h"

namespace ktpu::memory::test {

namespace il = arch::interlink;

// Stands for the control agent: performs AUX writes and reads in chosen cycles, and swallows what it is
// given.
class AuxHost final : public AgentClient {
 public:
  explicit AuxHost(MemoryAgent& agent) : agent_(agent) { agent.set_client(this); }
  struct Write {
    Cycle cycle;
    std::uint32_t offset;
    std::uint64_t data;
  };
  std::deque<Write> writes;  // in the order of their cycles
  std::vector<Flit> taken;
  // Called in every cycle in which the agent runs.
  std::function<void(Cycle)> look;

  void reset(Cycle) override {}
  const Flit* out() const override { return nullptr; }
  void drive(Cycle) override {}
  bool offer(Cycle, const Flit& flit) override {
    taken.push_back(flit);
    return true;
  }
  Cycle clock(Cycle now, bool) override {
    if (look) look(now);
    while (!writes.empty() && writes.front().cycle <= now) {
      agent_.aux_write(now, writes.front().offset, writes.front().data);
      writes.pop_front();
    }
    return writes.empty() && !look ? sim::kNever : now + 1;
  }
  void visit(sim::Archive&) override {}
  std::vector<sim::Wait> waits(Cycle) const override { return {}; }

 private:
  MemoryAgent& agent_;
};

// Beats on a link, as they go by.
struct SeenBeat {
  Cycle cycle;
  Beat beat;
  bool credit() const { return beat.first() && il::unpack(beat.header).kind == il::Kind::kCredit; }
};

class Chain final : public sim::Observer {
 public:
  struct Node {
    Node(unsigned id, const BenchConfig& config)
        : memory(config.memory),
          dram(memory, config.dram, config.bus_bits),
          agent(fmt::format("m{}.memory", id), config.agent, dram),
          aux(agent) {
      agent.set_probe(&bus);
    }
    SparseMemory memory;
    SimpleDram dram;
    MemoryAgent agent;
    AuxHost aux;
    BusLog bus;
    std::vector<std::unique_ptr<sim::FlitLink>> wires;
    std::vector<std::unique_ptr<Sender>> senders;
    std::vector<std::unique_ptr<Receiver>> receivers;
    std::array<std::vector<SeenBeat>, il::kLinks> beats;  // sent on link 0 and 1
    std::array<BeatLink*, il::kLinks> out{};
  };

  // `ids`: neighbours in the chain 0 - 1 - 3 - 2, in its order.
  explicit Chain(std::vector<unsigned> ids = {0, 1, 3}, BenchConfig config = default_config()) {
    for (const unsigned id : ids) {
      config.agent.mesh_id = id;
      nodes_[id] = std::make_unique<Node>(id, config);
      Node& n = *nodes_[id];
      engine.add(n.agent);
      for (unsigned p = 0; p < config.agent.ports.size(); ++p) {
        n.wires.push_back(std::make_unique<sim::FlitLink>("in", arch::kFlitBits));
        n.wires.push_back(std::make_unique<sim::FlitLink>("out", arch::kFlitBits));
        n.agent.bind_port(p, {n.wires[2 * p].get(), n.wires[2 * p + 1].get()});
        n.senders.push_back(std::make_unique<Sender>("sender", *n.wires[2 * p]));
        n.receivers.push_back(std::make_unique<Receiver>("receiver", *n.wires[2 * p + 1]));
        engine.add(*n.senders.back());
        engine.add(*n.receivers.back());
        engine.add(*n.wires[2 * p]);
        engine.add(*n.wires[2 * p + 1]);
      }
    }
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      Node &low = *nodes_[ids[i]], &high = *nodes_[ids[i + 1]];
      links_.push_back(std::make_unique<BeatLink>("up", kBeatWireBits));
      BeatLink& up = *links_.back();
      links_.push_back(std::make_unique<BeatLink>("down", kBeatWireBits));
      BeatLink& down = *links_.back();
      low.agent.bind_interlink(1, &up, &down);
      high.agent.bind_interlink(0, &down, &up);
      low.out[1] = &up;
      high.out[0] = &down;
      engine.add(up);
      engine.add(down);
    }
    engine.add(*this);
  }
  static BenchConfig default_config() {
    BenchConfig config;
    config.bus_bits = 512;
    config.agent.interlink = true;
    config.agent.interlink_idle = false;
    return config;
  }

  void on_cycle(Cycle now) override {
    for (const auto& [id, n] : nodes_)
      for (unsigned l = 0; l < il::kLinks; ++l)
        if (n->out[l] != nullptr && n->out[l]->valid()) n->beats[l].push_back({now, n->out[l]->data()});
  }

  Node& mesh(unsigned id) { return *nodes_.at(id); }
  Sender& sender(unsigned id, unsigned port = 0) { return *mesh(id).senders[port]; }
  Receiver& receiver(unsigned id, unsigned port = 0) { return *mesh(id).receivers[port]; }
  std::uint64_t status(unsigned id, unsigned word) { return mesh(id).agent.aux_status(word); }
  void run(Cycle cycles) {
    if (!started_) engine.elaborate();
    started_ = true;
    engine.run_until(engine.now() + cycles);
  }
  std::vector<Cycle> data_beats(unsigned id, unsigned link) { return beats(id, link, false); }
  std::vector<Cycle> credit_beats(unsigned id, unsigned link) { return beats(id, link, true); }
  std::vector<Cycle> accepted(unsigned id, unsigned port = 0) {
    std::vector<Cycle> cycles;
    for (const Seen& seen : sender(id, port).accepted) cycles.push_back(seen.cycle);
    return cycles;
  }
  std::vector<Cycle> injected(unsigned id, unsigned port = 0) {
    std::vector<Cycle> cycles;
    for (const Seen& seen : receiver(id, port).first_shown) cycles.push_back(seen.cycle);
    return cycles;
  }

  sim::Engine engine;

 private:
  std::vector<Cycle> beats(unsigned id, unsigned link, bool credit) {
    std::vector<Cycle> cycles;
    for (const SeenBeat& seen : mesh(id).beats[link])
      if (seen.credit() == credit) cycles.push_back(seen.cycle);
    return cycles;
  }
  std::map<unsigned, std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<BeatLink>> links_;
  bool started_ = false;
};

// A CU_DATA burst for node `to` of `mesh`: a descriptor and data flits with consecutive payloads.
inline std::vector<Flit> cu_data_burst(unsigned mesh, Coord to, unsigned flits, Coord src = kNode,
                                       Coord ack = {0, 1}, unsigned buffer = 0, unsigned offset = 0) {
  std::vector<Flit> burst;
  const unsigned rsvd = arch::kRsvdRemote | mesh;
  arch::CuDataDesc descriptor;
  descriptor.buf_id = buffer;
  descriptor.offset = offset;
  descriptor.len = flits - 2;
  descriptor.flags = arch::kCuDataSignal;
  descriptor.ack_x = ack.x;
  descriptor.ack_y = ack.y;
  burst.push_back(arch::make_flit(
      arch::make_header(kPort, src, FlitType::kCuData, to.node_byte(), flits == 1, rsvd), descriptor));
  for (unsigned i = 1; i < flits; ++i) {
    Flit data = arch::make_flit(kPort, src, FlitType::kCuData, to.node_byte(), i + 1 == flits, rsvd);
    data.w[0] = i;
    burst.push_back(data);
  }
  return burst;
}
// A write of `words` words to `addr` of another mesh, through its memory port `far`.
inline std::vector<Flit> remote_write(std::uint64_t addr, unsigned words, Coord far = kPort,
                                      Coord src = kNode) {
  std::vector<Flit> burst{write_request(addr, words, src, far.node_byte())};
  for (unsigned i = 0; i < words; ++i) burst.push_back(write_data(100 + i, i + 1 == words, src));
  for (Flit& flit : burst) {
    flit.set(arch::header::kTxn, far.node_byte());
    flit.set(arch::header::kRsvd, arch::kRsvdRemote | (addr >> 36 & 3));
  }
  return burst;
}
inline void send_all(Sender& sender, Cycle from, const std::vector<Flit>& flits) {
  for (const Flit& flit : flits) sender.send(from, flit);
}
inline std::vector<Cycle> count_from(Cycle first, unsigned n) {
  std::vector<Cycle> cycles(n);
  for (unsigned i = 0; i < n; ++i) cycles[i] = first + i;
  return cycles;
}

}  // namespace ktpu::memory::test
