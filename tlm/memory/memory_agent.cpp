// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/memory_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "arch/error.h"
#include "tlm/memory/dram_path.h"
#include "tlm/memory/memory_port.h"
#include "tlm/sim/engine.h"

namespace ktpu::memory {

namespace {
constexpr unsigned kMaxPorts = 4;  // memory.md section 1
}  // namespace

MemoryAgent::MemoryAgent(std::string name, MemoryAgentConfig config, DramDevice& dram)
    : Unit(std::move(name)), config_(std::move(config)), dram_(dram) {
  const auto count = static_cast<unsigned>(config_.ports.size());
  if (count == 0 || count > kMaxPorts)
    throw arch::UserError::make("{} memory ports: a memory agent has 1 to {}", count, kMaxPorts);
  dram_.set_misuse_log(&misuse_);
  // Requesters (section 7): ports, host window, mover, and inbound remote with an interlink. Those beside the
  // ports never ask yet.
  path_ = std::make_unique<DramPath>(
      DramPath::Config{count + 2 + config_.interlink, config_.reads_in_flight, config_.mesh_id,
                       config_.staging == StagingPlacement::kConverged},
      dram_, misuse_);
  attachments_.resize(count);
  for (unsigned p = 0; p < count; ++p) {
    ports_.push_back(std::make_unique<MemoryPort>(config_.ports[p], config_.reads_in_flight, misuse_,
                                                  StagingConfig{config_.staging, config_.mesh_id}));
    path_->attach(p, ports_[p]->wires());
  }
}

MemoryAgent::~MemoryAgent() = default;

void MemoryAgent::bind_port(unsigned port, sim::FlitPort links) {
  KTPU_CHECK(port < ports_.size(), "memory port {} of {}", port, ports_.size());
  attachments_[port].links = links;
  links.in->bind_receiver(*this, &offered_, 1u << port);
  links.out->bind_sender(*this);
}

// The control agent's flits leave by the port on the destination's row, highest number first, else port 0.
unsigned MemoryAgent::client_port(const arch::Flit& flit) const {
  for (unsigned p = static_cast<unsigned>(ports_.size()); p-- > 0;)
    if (config_.ports[p].y == flit.dst_y()) return p;
  return 0;
}

void MemoryAgent::reset(sim::Cycle start) {
  for (auto& port : ports_) port->reset();
  path_->reset(start);
  path_due_ = start;
  for (Attachment& a : attachments_) a.shown = Shown::kNothing;
  selected_ = -1;
  round_robin_ = 0;
  client_fresh_ = false;
  last_handshake_ = sim::kNever;
  if (client_ != nullptr) client_->reset(start);
}

void MemoryAgent::drive(sim::Cycle now) {
  unsigned client_at = kMaxPorts;
  const arch::Flit* client_flit = nullptr;
  if (client_ != nullptr) {
    client_->drive(now);
    client_flit = client_->out();
    if (client_flit != nullptr) client_at = client_port(*client_flit);
  }
  for (unsigned p = 0; p < ports_.size(); ++p) {
    Attachment& a = attachments_[p];
    MemoryPort& port = *ports_[p];
    if (p == client_at) {
      if (a.shown != Shown::kClient || client_fresh_) a.links.out->offer(*client_flit);
      a.shown = Shown::kClient;
      client_fresh_ = false;
    } else if (port.out() != nullptr) {
      if (a.shown != Shown::kEngine || port.fresh()) a.links.out->offer(*port.out());
      a.shown = Shown::kEngine;
      port.shown();
    } else if (a.shown != Shown::kNothing) {
      a.links.out->withdraw();
      a.shown = Shown::kNothing;
    }
  }
}

// busy depends on the type of the offered flit (section 2); without a flit it is low.
bool MemoryAgent::settle(sim::Cycle /*now*/) {
  bool changed = false;
  selected_ = -1;
  const auto count = static_cast<unsigned>(ports_.size());
  std::uint32_t for_client = 0;
  for (unsigned p = 0; p < count; ++p)
    if ((offered_ >> p & 1) && !MemoryPort::serves(attachments_[p].links.in->data().type()))
      for_client |= 1u << p;
  if (for_client != 0) {
    unsigned p = round_robin_;
    while (!(for_client >> p & 1)) p = (p + 1) % count;
    selected_ = static_cast<int>(p);
  }
  for (unsigned p = 0; p < count; ++p) {
    bool busy = false;
    if (for_client >> p & 1)
      busy = client_ != nullptr && selected_ != static_cast<int>(p);
    else if (offered_ >> p & 1)
      busy = ports_[p]->busy();
    changed |= attachments_[p].links.in->set_busy(busy);
  }
  return changed;
}

std::vector<const sim::LinkBase*> MemoryAgent::settle_reads() const {
  std::vector<const sim::LinkBase*> links;
  for (const Attachment& a : attachments_) links.push_back(a.links.in);
  return links;
}

std::vector<const sim::LinkBase*> MemoryAgent::settle_writes() const { return settle_reads(); }

void MemoryAgent::give_to_client(sim::Cycle now, unsigned port) {
  Attachment& a = attachments_[port];
  const arch::Flit& flit = a.links.in->data();
  if (client_ == nullptr) {
    ++a.lost;
    misuse_.add(
        {MisuseKind::kUnclaimedFlit, now, flit.src(), 0,
         fmt::format("a {} from ({},{}) reached the memory port at ({},{}), and there is no control agent "
                     "to take it",
                     arch::flit_type_name(flit.type_code()), flit.src_x(), flit.src_y(),
                     config_.ports[port].x, config_.ports[port].y)});
  } else if (client_->offer(now, flit)) {
    round_robin_ = (port + 1) % static_cast<unsigned>(ports_.size());
  } else {
    ++a.lost;
  }
}

sim::Cycle MemoryAgent::clock(sim::Cycle now) {
  const bool all = engine() != nullptr && !engine()->idle_skip();
  const auto count = static_cast<unsigned>(ports_.size());
  sim::Cycle next = sim::kNever;

  // Outputs that left.
  bool client_taken = false;
  std::uint32_t engine_taken = 0;
  for (unsigned p = 0; p < count; ++p) {
    Attachment& a = attachments_[p];
    if (a.shown == Shown::kNothing) continue;
    next = now + 1;  // the wires change next, or are looked at again
    if (!a.links.out->sample_sent()) continue;
    const unsigned type = a.links.out->data().type_code();
    ++a.flits_out[type];
    if (a.shown == Shown::kClient) {
      client_taken = true;
      a.client_responses += type == static_cast<unsigned>(arch::FlitType::kMemRdResp);
    } else {
      engine_taken |= 1u << p;
    }
  }

  // Flits that came. The client reads AUX_STAT as it stands in this cycle, so it goes before the ports.
  std::array<const arch::Flit*, kMaxPorts> accepted{};
  for (std::uint32_t bits = offered_; bits != 0; bits &= bits - 1) {
    const unsigned p = static_cast<unsigned>(std::countr_zero(bits));
    Attachment& a = attachments_[p];
    const bool memory = MemoryPort::serves(a.links.in->data().type());
    if (a.links.in->busy()) {
      if (!memory) next = now + 1;  // another port's flit was selected
      continue;
    }
    ++a.flits_in[a.links.in->data().type_code()];
    if (memory)
      accepted[p] = &a.links.in->data();
    else
      give_to_client(now, p);
  }
  if (client_ != nullptr) {
    next = std::min(next, client_->clock(now, client_taken));
    client_fresh_ |= client_taken;
    if (client_->out() != nullptr) next = now + 1;
  }

  if ((all || path_due_ <= now) && path_->clock(now, probe_)) last_handshake_ = now;
  for (unsigned p = 0; p < count; ++p) {
    MemoryPort& port = *ports_[p];
    const bool taken = engine_taken >> p & 1;
    if (all || port.next() <= now || accepted[p] != nullptr || taken || port.wires().events())
      port.clock(now, accepted[p], taken);
    next = std::min(next, port.next());
  }
  path_due_ = path_->next(now);
  return std::min(next, path_due_);
}

void MemoryAgent::aux_write(sim::Cycle /*now*/, std::uint32_t /*offset*/, std::uint64_t /*data*/) {}

std::uint64_t MemoryAgent::aux_status(unsigned /*word*/) const { return 0; }

std::uint64_t MemoryAgent::aux_stat() const {
  std::uint64_t reads = 0, writes = 0;
  for (const auto& port : ports_) {
    reads += port->read_count();
    writes += port->write_count();
  }
  return (reads & 0xFFFF) << 24 | (writes & 0xFFFF) << 8;
}

SparseMemory* MemoryAgent::staging(unsigned port) {
  if (path_->staging() != nullptr) return &path_->staging()->memory();
  return ports_.at(port)->store();
}

bool MemoryAgent::idle() const {
  return path_->idle() && std::all_of(ports_.begin(), ports_.end(), [](const auto& p) { return p->idle(); });
}

void MemoryAgent::visit(sim::Archive& archive) {
  for (unsigned p = 0; p < ports_.size(); ++p) {
    archive.scope(fmt::format("port{}", p), [&] {
      ports_[p]->visit(archive);
      Attachment& a = attachments_[p];
      for (unsigned type = 0; type < 16; ++type) {
        const auto name = arch::flit_type_name(type);
        archive.counter(fmt::format("flits_in.{}", name), a.flits_in[type], "flits",
                        "flits of this type accepted from the mesh");
        archive.counter(fmt::format("flits_out.{}", name), a.flits_out[type], "flits",
                        "flits of this type sent into the mesh, the control agent's included");
      }
      archive.counter("client_responses", a.client_responses, "flits",
                      "MEM_RD_RESP flits among them that a mailbox sent");
      archive.counter("lost", a.lost, "flits",
                      "flits accepted for the control agent and dropped because it was full or absent");
    });
  }
  archive.scope("dram_path", [&] { path_->visit(archive); });
  archive.scope("dram", [&] { dram_.visit(archive); });
  archive.state("client_round_robin", round_robin_, 2);
  if (client_ != nullptr) archive.scope("agent", [&] { client_->visit(archive); });
  for (Attachment& a : attachments_) archive.kept("shown", a.shown);
  archive.kept("selected", selected_);
  archive.kept("client_fresh", client_fresh_);
  archive.kept("path_due", path_due_);
  archive.kept("last_handshake", last_handshake_);
  misuse_.visit(archive);
}

std::vector<sim::Wait> MemoryAgent::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits;
  for (unsigned p = 0; p < ports_.size(); ++p) {
    std::vector<sim::Wait> own;
    ports_[p]->waits(now, own);
    for (sim::Wait& wait : own) {
      wait.what = fmt::format("port {} at ({},{}): {}", p, config_.ports[p].x, config_.ports[p].y, wait.what);
      if (attachments_[p].shown == Shown::kEngine && wait.on == nullptr && ports_[p]->out() != nullptr)
        wait.on = attachments_[p].links.out->receiver();
      waits.push_back(std::move(wait));
    }
  }
  path_->waits(now, waits);
  if (client_ != nullptr)
    for (sim::Wait& wait : client_->waits(now)) waits.push_back(std::move(wait));
  return waits;
}

}  // namespace ktpu::memory
