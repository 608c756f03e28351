// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/memory_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "tlm/memory/dram_bus_unit.h"
#include "tlm/memory/dram_path.h"
#include "tlm/memory/host_window.h"
#include "tlm/memory/interlink/interlink.h"
#include "tlm/memory/memory_port.h"
#include "tlm/memory/mover.h"
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
  // Requesters (section 7): ports, host window, mover, and inbound remote with an interlink.
  path_ = std::make_unique<DramPath>(
      DramPath::Config{count + 2 + config_.interlink, config_.reads_in_flight, config_.mesh_id,
                       config_.staging == StagingPlacement::kConverged},
      dram_, misuse_);
  path_->set_landing(&landing_);
  attachments_.resize(count);
  for (unsigned p = 0; p < count; ++p) {
    ports_.push_back(std::make_unique<MemoryPort>(config_.ports[p], config_.reads_in_flight, misuse_,
                                                  StagingConfig{config_.staging, config_.mesh_id}));
    path_->attach(p, ports_[p]->wires());
    ports_[p]->set_landing(&landing_);
    landing_.add_port(config_.ports[p]);
  }
  mover_ = std::make_unique<Mover>(config_.quirks, config_.ports.front(), misuse_);
  if (!config_.interlink) {
    path_->attach(count + 1, mover_->wires());
    return;
  }
  split_ = std::make_unique<WriteSplit>(config_.mesh_id, config_.interlink_idle);
  split_->attach(mover_->wires());
  path_->attach(count + 1, split_->path_wires());
  if (config_.interlink_idle) return;
  interlink_ = std::make_unique<Interlink>(
      InterlinkConfig{config_.mesh_id, config_.ports.front(), config_.quirks}, *split_, misuse_);
  path_->attach(count + 2, interlink_->wires());
}

MemoryAgent::~MemoryAgent() = default;

void MemoryAgent::bind_port(unsigned port, sim::FlitPort links) {
  KTPU_CHECK(port < ports_.size(), "memory port {} of {}", port, ports_.size());
  attachments_[port].links = links;
  links.in->bind_receiver(*this, &offered_, 1u << port);
  links.out->bind_sender(*this);
}

std::vector<std::unique_ptr<sim::Unit>> MemoryAgent::put_dram_on(const sim::ClockRatio& to_dram,
                                                                 const std::string& called) {
  const std::string base = called.empty() ? name() : called;
  KTPU_CHECK(dram_bus_ == nullptr, "the DRAM of {} has a clock", name());
  auto bus =
      std::make_unique<DramBusUnit>(base + ".dram_path", path_->bus(), to_dram.inverse(), *this, path_due_);
  dram_bus_ = bus.get();
  dram_bus_->set_probe(probe_);
  path_->set_far(*bus, to_dram);
  std::vector<std::unique_ptr<sim::Unit>> units;
  units.push_back(std::move(bus));
  units.push_back(std::make_unique<DramChip>(base + ".dram", dram_));
  return units;
}

void MemoryAgent::watch_border(BorderCycle& cycle) { path_->watch_border(cycle); }

BorderCycle MemoryAgent::border(sim::Cycle now) const { return path_->border(now); }

void MemoryAgent::set_probe(MemoryProbe* probe) {
  probe_ = probe;
  if (dram_bus_ != nullptr) dram_bus_->set_probe(probe);
}

// The engine counts from the next cycle on while it runs one, and so it does between two.
sim::Cycle MemoryAgent::last_far_handshake() const {
  const sim::Cycle begun = engine()->now();
  return begun == 0 ? sim::kNever : dram_bus_->last_handshake(begun - 1);
}

void MemoryAgent::bind_window(WindowBus& bus) {
  KTPU_CHECK(window_ == nullptr, "{} has a host window", name());
  window_ = std::make_unique<HostWindow>(bus, config_.ports.front());
  window_->bind(*this);
  path_->attach(static_cast<unsigned>(ports_.size()), window_->wires());
}

void MemoryAgent::bind_interlink(unsigned link, BeatLink* out, BeatLink* in) {
  KTPU_CHECK(interlink_ != nullptr, "{} has no interlink", name());
  interlink_->connect(link, *this, out, in);
}

// Flits of the control agent and of other meshes leave by the port on the destination's row, highest number
// first, else port 0.
unsigned MemoryAgent::port_on_row(const arch::Flit& flit) const {
  for (unsigned p = static_cast<unsigned>(ports_.size()); p-- > 0;)
    if (config_.ports[p].y == flit.dst_y()) return p;
  return 0;
}

void MemoryAgent::reset(sim::Cycle start) {
  for (auto& port : ports_) port->reset(start);
  if (window_ != nullptr) window_->reset(start);
  mover_->reset(start);
  landing_.reset();
  path_->reset(start);
  path_due_ = start;
  ports_free_ = false;
  for (Attachment& a : attachments_) a.shown = Shown::kNothing;
  selected_ = -1;
  round_robin_ = 0;
  client_fresh_ = false;
  last_handshake_ = sim::kNever;
  remote_selected_ = -1;
  remote_round_robin_ = 0;
  if (split_ != nullptr) split_->reset();
  if (interlink_ != nullptr) interlink_->reset(start);
  if (client_ != nullptr) client_->reset(start);
}

void MemoryAgent::drive(sim::Cycle now) {
  if (window_ != nullptr) window_->drive();
  unsigned client_at = kMaxPorts;
  const arch::Flit* client_flit = nullptr;
  if (client_ != nullptr) {
    client_->drive(now);
    client_flit = client_->out();
    if (client_flit != nullptr) client_at = port_on_row(*client_flit);
  }
  unsigned remote_at = kMaxPorts;
  if (interlink_ != nullptr) {
    interlink_->drive();
    if (interlink_->out() != nullptr) remote_at = port_on_row(*interlink_->out());
  }
  for (unsigned p = 0; p < ports_.size(); ++p) {
    Attachment& a = attachments_[p];
    MemoryPort& port = *ports_[p];
    if (p == client_at) {
      if (a.shown != Shown::kClient || client_fresh_) a.links.out->offer(*client_flit);
      a.shown = Shown::kClient;
      client_fresh_ = false;
    } else if (p == remote_at) {
      if (a.shown != Shown::kInterlink || interlink_->fresh()) a.links.out->offer(*interlink_->out());
      a.shown = Shown::kInterlink;
      interlink_->shown();
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
  if (offered_ == 0 && ports_free_) {
    remote_selected_ = -1;
    return false;
  }
  ports_free_ = offered_ == 0;
  const auto count = static_cast<unsigned>(ports_.size());
  std::uint32_t for_client = 0, remote = 0;
  for (unsigned p = 0; p < count; ++p) {
    if (!(offered_ >> p & 1)) continue;
    const arch::Flit& flit = attachments_[p].links.in->data();
    if (is_remote(flit))
      remote |= 1u << p;
    else if (!MemoryPort::serves(flit.type()))
      for_client |= 1u << p;
  }
  remote_selected_ = remote == 0 ? -1 : select_remote(remote);
  if (for_client != 0) {
    unsigned p = round_robin_;
    while (!(for_client >> p & 1)) p = (p + 1) % count;
    selected_ = static_cast<int>(p);
  }
  for (unsigned p = 0; p < count; ++p) {
    bool busy = false;
    if (for_client >> p & 1)
      busy = client_ != nullptr && selected_ != static_cast<int>(p);
    else if (remote >> p & 1)
      busy = remote_selected_ != static_cast<int>(p) || !interlink_->takes(attachments_[p].links.in->data());
    else if (offered_ >> p & 1)
      busy = ports_[p]->busy();
    changed |= attachments_[p].links.in->set_busy(busy);
  }
  return changed;
}

// A flit for another mesh (section 2).
bool MemoryAgent::is_remote(const arch::Flit& flit) const {
  return interlink_ != nullptr && Interlink::is_remote(flit);
}

// The reference stays on the first port in turn even if its flit cannot be taken (quirk I2).
int MemoryAgent::select_remote(std::uint32_t ports) const {
  const auto count = static_cast<unsigned>(ports_.size());
  int first = -1;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned p = (remote_round_robin_ + i) % count;
    if (!(ports >> p & 1)) continue;
    if (!interlink_->keeps_bursts_apart() || interlink_->takes(attachments_[p].links.in->data()))
      return static_cast<int>(p);
    if (first < 0) first = static_cast<int>(p);
  }
  return first;
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
  bool client_taken = false, remote_taken = false;
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
    } else if (a.shown == Shown::kInterlink) {
      remote_taken = true;
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
    const arch::Flit& flit = a.links.in->data();
    const bool remote = is_remote(flit);
    const bool memory = !remote && MemoryPort::serves(flit.type());
    if (a.links.in->busy()) {
      if (remote && remote_selected_ == static_cast<int>(p)) interlink_->refuse(flit, p);
      if (!memory) next = now + 1;  // another port's flit was selected
      continue;
    }
    ++a.flits_in[flit.type_code()];
    if (flit.dst() != config_.ports[p]) a.misaddressed.add(now, flit);
    if (memory) {
      accepted[p] = &flit;
      if (flit.type() == arch::FlitType::kMemWrReq) landing_.write_arrived(now, flit);
      if (interlink_ != nullptr) interlink_->check_local(flit);
    } else if (remote) {
      interlink_->take(flit, p);
      remote_round_robin_ = (p + 1) % count;
    } else {
      give_to_client(now, p);
    }
  }
  if (client_ != nullptr) {
    client_reads_at_ = now;
    next = std::min(next, client_->clock(now, client_taken));
    client_reads_at_ = sim::kNever;
    client_fresh_ |= client_taken;
    if (client_->out() != nullptr) next = now + 1;
  }

  // Whether the DRAM path or anybody at its wires did something: if not, the cycle it is due in stands.
  bool at_path = all || path_due_ <= now || dram_bus_ != nullptr || split_ != nullptr;
  if ((all || path_due_ <= now) && path_->clock(now, probe_)) last_handshake_ = now;
  for (unsigned p = 0; p < count; ++p) {
    MemoryPort& port = *ports_[p];
    const bool taken = engine_taken >> p & 1;
    if (all || port.next() <= now || accepted[p] != nullptr || taken || port.wires().events()) {
      port.clock(now, accepted[p], taken);
      at_path = true;
    }
    next = std::min(next, port.next());
  }
  if (split_ != nullptr && clock_interlink(now, all, remote_taken)) next = now + 1;
  if (interlink_ != nullptr) next = std::min(next, interlink_->next());
  if (window_ != nullptr) {
    if (all || window_->wants(now)) {
      window_->clock(now);
      at_path = true;
    }
    next = std::min(next, window_->next());
  }
  at_path = at_path || mover_->next() <= now || mover_->wires().events();
  if (clock_mover(now, all)) next = now + 1;
  next = std::min(next, mover_->next());
  if (at_path) path_due_ = path_->next(now);
  return std::min(next, path_due_);
}

// The mover and, with an interlink, the split of its writes. True: they must run in the next cycle as well.
bool MemoryAgent::clock_mover(sim::Cycle now, bool all) {
  DramWires& wires = mover_->wires();
  if (split_ == nullptr) {
    if (all || mover_->next() <= now || wires.events()) mover_->clock(now);
    return false;
  }
  if (all || split_->active() || split_->path_wires().events() || wires.aw_valid || mover_->next() <= now) {
    split_->clock(now);
    if (all || mover_->next() <= now || wires.events()) mover_->clock(now);
    split_->pass_through();
  }
  return split_->active() || wires.aw_valid;
}

// True: it must run in the next cycle as well.
bool MemoryAgent::clock_interlink(sim::Cycle now, bool all, bool out_taken) {
  const bool due = interlink_ != nullptr && (all || out_taken || interlink_->due(now));
  if (due) interlink_->clock(now, out_taken);
  return due && interlink_->out() != nullptr;
}

void MemoryAgent::aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) {
  if (interlink_ != nullptr && offset >= arch::interlink::kControl) {
    interlink_->write(now, offset, data);
  } else {
    mover_->write(now, offset, data);  // it ignores what is not its own
    wake_next();
  }
}

std::uint64_t MemoryAgent::aux_status(unsigned word) const {
  if (interlink_ == nullptr) return 0;
  if (client_reads_at_ != sim::kNever) return interlink_->status(client_reads_at_, word);
  return interlink_->status(engine() == nullptr ? 0 : engine()->now(), word);
}

std::vector<noc::QuirkHits> MemoryAgent::quirk_hits() const {
  auto hits = interlink_ == nullptr ? std::vector<noc::QuirkHits>{} : interlink_->quirk_hits();
  const MoverIssue& issue = mover_->issue();
  if (issue.early_done() != 0)
    hits.push_back({arch::QuirkId::kM1, issue.early_done(), issue.first_early_done(),
                    "memory mover: done and not busy before its last write was issued"});
  return hits;
}

std::uint64_t MemoryAgent::progress() const {
  return mover_->progress() + (interlink_ == nullptr ? 0 : interlink_->progress());
}

std::uint64_t MemoryAgent::aux_stat() const {
  std::uint64_t reads = 0, writes = 0;
  for (const auto& port : ports_) {
    reads += port->read_count();
    writes += port->write_count();
  }
  namespace field = arch::agent::aux_stat;
  std::uint64_t word = 0;
  arch::set(&word, field::kMoves, mover_->moves());
  arch::set(&word, field::kReads, reads);
  arch::set(&word, field::kWrites, writes);
  arch::set(&word, field::kFault, static_cast<std::uint64_t>(mover_->fault()));
  arch::set(&word, field::kBusy, mover_->busy());
  return word;
}

SparseMemory* MemoryAgent::staging(unsigned port) {
  if (path_->staging() != nullptr) return &path_->staging()->memory();
  return ports_.at(port)->store();
}

void MemoryAgent::host_reads(sim::Cycle now, std::uint64_t address, std::uint64_t bytes,
                             const std::string& what) {
  if (const auto write = landing_.pending(address, bytes))
    misuse_.add({MisuseKind::kReadLanding, now, write->origin, address,
                 fmt::format("{} read before {} had landed: it got the old bytes", what,
                             LandingTracker::describe(*write))});
}

void MemoryAgent::host_writes(sim::Cycle now, std::uint64_t address, std::uint64_t bytes,
                              const std::string& what) {
  if (const auto write = landing_.pending(address, bytes))
    misuse_.add({MisuseKind::kLoadLanding, now, write->origin, address,
                 fmt::format("{} wrote before {} had landed: it may overwrite the new bytes", what,
                             LandingTracker::describe(*write))});
}

void MemoryAgent::check_output(sim::Cycle now, std::uint64_t address, std::uint64_t bytes,
                               const std::string& name) {
  if (const auto write = landing_.pending(address, bytes))
    misuse_.add({MisuseKind::kOutputLanding, now, write->origin, address,
                 fmt::format("output \"{}\" holds old bytes: {} never landed", name,
                             LandingTracker::describe(*write))});
}

bool MemoryAgent::idle() const {
  if (window_ != nullptr && !window_->idle()) return false;
  return path_->idle() && mover_->idle() && (interlink_ == nullptr || interlink_->idle()) &&
         std::all_of(ports_.begin(), ports_.end(), [](const auto& p) { return p->idle(); });
}

void MemoryAgent::sync(sim::Cycle now) {
  for (auto& port : ports_) port->sync(now);
  path_->sync(now);
  mover_->sync(now);
  if (window_ != nullptr) window_->sync(now);
  if (interlink_ != nullptr) interlink_->sync(now);
  if (client_ != nullptr) client_->sync(now);
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
                      "MEM_RD_RESP flits among them that a mailbox or another mesh sent");
      archive.counter("misaddressed", a.misaddressed.count, "flits",
                      "flits taken that were sent to a place where no unit is, or to another one");
      archive.scope("misaddressed", [&] { a.misaddressed.visit(archive); });
      archive.counter("lost", a.lost, "flits",
                      "flits accepted for the control agent and dropped because it was full or absent");
    });
  }
  if (window_ != nullptr) archive.scope("window", [&] { window_->visit(archive); });
  archive.scope("mover", [&] { mover_->visit(archive); });
  if (split_ != nullptr) archive.scope("mover_split", [&] { split_->visit(archive); });
  archive.scope("dram_path", [&] { path_->visit(archive); });
  if (dram_bus_ == nullptr) archive.scope("dram", [&] { dram_.visit(archive); });
  archive.scope("landing", [&] { landing_.visit(archive); });
  archive.state("client_round_robin", round_robin_, 2);
  if (interlink_ != nullptr) {
    archive.state("remote_round_robin", remote_round_robin_, 2);
    archive.scope("interlink", [&] { interlink_->visit(archive); });
  }
  if (client_ != nullptr) archive.scope("agent", [&] { client_->visit(archive); });
  for (Attachment& a : attachments_) archive.kept("shown", a.shown);
  archive.kept("selected", selected_);
  archive.kept("client_fresh", client_fresh_);
  archive.kept("path_due", path_due_);
  archive.kept("last_handshake", last_handshake_);
  misuse_.visit(archive);
  if (archive.restores()) ports_free_ = false;
}

std::string MemoryAgent::port_part(unsigned port, std::string_view part) {
  return fmt::format("port {} {}", port, part);
}

// Parts: "port N ..." (memory_port.cpp), "dram", and the client's own.
std::vector<sim::Wait> MemoryAgent::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits;
  for (unsigned p = 0; p < ports_.size(); ++p) {
    std::vector<sim::Wait> own;
    ports_[p]->waits(now, own);
    for (sim::Wait& wait : own) {
      if (wait.part == "output") {  // a control agent's flit goes first (section 2)
        if (attachments_[p].shown == Shown::kEngine)
          wait.over = attachments_[p].links.out;
        else
          wait.on_part = attachments_[p].shown == Shown::kInterlink ? "interlink" : kClientOutput;
      }
      wait.what = fmt::format("port {} at ({},{}): {}", p, config_.ports[p].x, config_.ports[p].y, wait.what);
      wait.part = port_part(p, wait.part);
      if (!wait.on_part.empty() && !wait.node && wait.on_part != "dram" && wait.on_part != "interlink" &&
          wait.on_part != kClientOutput)
        wait.on_part = port_part(p, wait.on_part);
      waits.push_back(std::move(wait));
    }
  }
  const auto name_part = [&waits](std::size_t from, const char* part) {
    for (std::size_t k = from; k < waits.size(); ++k) waits[k].part = part;
  };
  std::size_t before = waits.size();
  if (window_ != nullptr) window_->waits(waits);
  name_part(before, "host window");
  before = waits.size();
  mover_->waits(waits);
  name_part(before, "mover");
  for (unsigned p = 0; p < ports_.size(); ++p)
    if (const sim::FlitLink* in = attachments_[p].links.in;
        in->valid() && in->busy() && is_remote(in->data()))
      waits.push_back({.what = fmt::format("port {}: the interlink to take a remote flit of ({},{})", p,
                                           in->data().src_x(), in->data().src_y()),
                       .part = port_part(p, "input"),
                       .on_part = "interlink",
                       .kind = "remote"});
  path_->waits(now, waits);
  if (interlink_ != nullptr) interlink_->waits(waits);
  if (client_ != nullptr)
    for (sim::Wait& wait : client_->waits(now)) {
      if (wait.part == kClientOutput && client_->out() != nullptr)
        wait.over = attachments_[port_on_row(*client_->out())].links.out;
      waits.push_back(std::move(wait));
    }
  return waits;
}

}  // namespace ktpu::memory
