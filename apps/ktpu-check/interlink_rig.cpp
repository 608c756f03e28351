// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/interlink_rig.h"

#include <algorithm>

#include "apps/ktpu-check/implementations.h"

namespace ktpu::check {

namespace il = arch::interlink;

namespace {

constexpr std::array<unsigned, 3> kChainUsed{0, 1, 3};
constexpr unsigned kBusBits = 512;

memory::MemoryAgentConfig agent_config(unsigned id) {
  memory::MemoryAgentConfig config;
  config.ports = {kLinkPort};
  config.mesh_id = id;
  config.interlink = true;
  config.interlink_idle = false;
  return config;
}

// What --impl puts into the memory port of a mesh.
topo::Impl wanted_impl(unsigned id) {
  topo::Machine machine;
  for (const unsigned other : kChainUsed) {
    topo::Node port;
    port.at = kLinkPort;
    port.params = topo::MemoryPort{};
    topo::Mesh mesh;
    mesh.id = other;
    mesh.ports = {kLinkPort};
    mesh.nodes = {port};
    machine.meshes.push_back(mesh);
  }
  apply_implementations(machine);
  for (const topo::Mesh& mesh : machine.meshes)
    if (mesh.id == id) return mesh.nodes.front().impl;
  return topo::Impl::kModel;
}

}  // namespace

FlitSource::FlitSource(std::string name, sim::FlitLink& link) : Unit(std::move(name)), link_(link) {
  link.bind_sender(*this);
}

void FlitSource::offer(Cycle from, const arch::Flit& flit) {
  queue_.push_back({from, flit});
  if (running_) wake_next();
}

void FlitSource::drive(Cycle now) {
  const bool offer = !queue_.empty() && queue_.front().cycle <= now;
  if (offer)
    link_.offer(queue_.front().flit);
  else if (offering_)
    link_.withdraw();
  offering_ = offer;
}

Cycle FlitSource::clock(Cycle now) {
  if (offering_ && link_.sample_sent()) {
    accepted.push_back({now, queue_.front().flit});
    queue_.pop_front();
    return now + 1;
  }
  if (offering_) return now + 1;
  return queue_.empty() ? sim::kNever : std::max(now + 1, queue_.front().cycle);
}

FlitSink::FlitSink(std::string name, sim::FlitLink& link) : Unit(std::move(name)), link_(link) {
  link.bind_receiver(*this);
}

Cycle FlitSink::clock(Cycle now) {
  if (link_.transfers()) {
    taken.push_back({now, link_.data()});
    if (back != nullptr) back->offer(now + delay, link_.data());
  }
  return sim::kNever;
}

Cycle RegisterWriter::clock(Cycle now, bool /*out_taken*/) {
  if (!writes.empty() && writes.front().at <= now) {  // one a cycle, as the register bus
    window->aux_write(now, writes.front().offset, writes.front().data);
    writes.pop_front();
  }
  return writes.empty() ? sim::kNever : std::max(now + 1, writes.front().at);
}

InterlinkRig::Node::Node(unsigned id)
    : memory({0, 1ull << 32, false}),
      dram(memory, {}, kBusBits),
      in(fmt::format("m{}.in", id), arch::kFlitBits),
      out(fmt::format("m{}.out", id), arch::kFlitBits),
      source(fmt::format("m{}.source", id), in),
      sink(fmt::format("m{}.sink", id), out) {
  const std::string name = fmt::format("m{}.memory", id);
  const auto connect = [&](auto& what) {
    what.bind_port(0, {&in, &out});
    what.set_probe(this);
  };
  if (const topo::Impl impl = wanted_impl(id); impl != topo::Impl::kModel) {
    stand = all_units().memory(impl, name)(name, agent_config(id), dram);
    connect(*stand);
    stand->set_client(registers);
    registers.window = &stand->window();
  } else {
    agent = std::make_unique<memory::MemoryAgent>(name, agent_config(id), dram);
    connect(*agent);
    agent->set_client(&registers);
    registers.window = agent.get();
  }
}

void InterlinkRig::Node::bind_interlink(unsigned link, memory::BeatLink* beats_out,
                                        memory::BeatLink* beats_in) {
  if (stand != nullptr)
    stand->bind_interlink(link, beats_out, beats_in);
  else
    agent->bind_interlink(link, beats_out, beats_in);
}

std::unique_ptr<sim::Unit> InterlinkRig::Node::unit() {
  if (stand != nullptr) return stand->unit();
  return std::move(agent);
}

InterlinkRig::InterlinkRig() {
  for (const unsigned id : kChainUsed) {
    nodes_[id] = std::make_unique<Node>(id);
    Node& n = *nodes_[id];
    engine_.add(n.source);
    engine_.add(n.sink);
    engine_.add(n.in);
    engine_.add(n.out);
  }
  for (std::size_t i = 0; i + 1 < kChainUsed.size(); ++i) {
    Node &low = mesh(kChainUsed[i]), &high = mesh(kChainUsed[i + 1]);
    for (const char* name : {"up", "down"}) {
      links_.push_back(std::make_unique<memory::BeatLink>(name, memory::kBeatWireBits));
      engine_.add(*links_.back());
    }
    memory::BeatLink &up = *links_[2 * i], &down = *links_[2 * i + 1];
    low.bind_interlink(1, &up, &down);
    high.bind_interlink(0, &down, &up);
    low.links[1] = &up;
    high.links[0] = &down;
  }
  for (auto& [id, node] : nodes_) {
    units_.push_back(node->unit());
    engine_.add(*units_.back());
  }
  engine_.add(*this);
}

InterlinkRig::~InterlinkRig() { engine_.remove(*this); }

void InterlinkRig::write(unsigned id, Cycle at, std::uint32_t offset, std::uint64_t data) {
  mesh(id).registers.writes.push_back({at, offset, data});
}

void InterlinkRig::on_cycle(Cycle now) {
  for (auto& [id, n] : nodes_) {
    for (unsigned l = 0; l < il::kLinks; ++l) {
      if (n->links[l] == nullptr || !n->links[l]->valid()) continue;
      const memory::Beat& beat = n->links[l]->data();
      const bool credit = beat.first() && il::unpack(beat.header).kind == il::Kind::kCredit;
      (credit ? n->credit_beats : n->data_beats)[l].push_back(now);
    }
    constexpr unsigned kLink1Class0 = 48;  // of the credit word (memory.md section 11.5)
    const auto credit =
        static_cast<unsigned>(n->registers.window->aux_status(il::kCredit) >> kLink1Class0 & 255);
    if (n->class0_credit.empty() || n->class0_credit.back().second != credit)
      n->class0_credit.emplace_back(now, credit);
  }
}

void InterlinkRig::run(Cycle limit) {
  engine_.elaborate();
  while (engine_.now() < limit && engine_.next_wanted() != sim::kNever) engine_.run_until(engine_.now() + 1);
  engine_.step();  // shows what the last cycle changed
  note_compared(engine_);
}

}  // namespace ktpu::check
