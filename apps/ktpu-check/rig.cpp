// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/rig.h"

#include "apps/common/cluster_probes.h"
#include "apps/common/vector_probes.h"
#include "apps/ktpu-check/implementations.h"
#include "arch/error.h"
#include "tlm/traffic/node.h"
#include "topologies/reader.h"

namespace ktpu::check {

namespace {

topo::Machine with_implementations(topo::Machine machine) {
  apply_implementations(machine);
  return machine;
}

std::string text_of(arch::Coord at) { return fmt::format("({},{})", at.x, at.y); }

}  // namespace

topo::Machine shipped_machine(const std::string& name) {
  const auto shipped = topo::shipped_folders();
  for (const auto& folder : shipped) {
    const auto file = folder / (name + ".yaml");
    if (std::filesystem::exists(file)) return topo::read_file(file.string());
  }
  throw arch::UserError::make("the shipped topology {}.yaml was not found", name);
}

Rig::Rig(topo::Machine machine, const arch::Program* program, Watch watch)
    : system_(with_implementations(std::move(machine)), all_units()), program_(program) {
  const topo::Machine& m = system_.machine();
  for (const topo::Node& node : mesh().nodes) {
    const std::string id = topo::node_id(m, mesh(), node);
    const auto* in = dynamic_cast<const sim::FlitLink*>(system_.link(id + ".in"));
    const auto* out = dynamic_cast<const sim::FlitLink*>(system_.link(id + ".out"));
    KTPU_CHECK(in != nullptr && out != nullptr, "{} has no links", id);
    ports_[node.at] = {links_.watch(*in), links_.watch(*out)};
    if (watch == Watch::kOutside) continue;
    if (node.kind() == topo::Kind::kMatmulCluster) {
      auto& log = clusters_[node.at] = std::make_unique<ClusterLog>();
      apps::attach_probe(*system_.mesh().endpoint_at(node.at), *log);
    }
    if (node.kind() == topo::Kind::kVectorCore) {
      auto& log = vectors_[node.at] = std::make_unique<VectorLog>();
      apps::attach_probe(*system_.mesh().endpoint_at(node.at), *log);
    }
  }
  for (const topo::Router& router : mesh().routers)
    for (unsigned side = 0; side < noc::kLocal; ++side) {
      const std::string name = topo::node_id(m, mesh(), router) + "." + noc::kPortNames[side];
      if (const auto* link = dynamic_cast<const sim::FlitLink*>(system_.link(name)))
        between_routers_.push_back(links_.watch(*link));
    }
  system_.engine().add(links_);
}

Rig::~Rig() {
  runner_.reset();
  system_.engine().remove(links_);
}

void Rig::inject(arch::Coord at, const arch::Flit& flit, Cycle cycle) {
  auto* node = dynamic_cast<traffic::Node*>(system_.mesh().endpoint_at(at));
  if (node == nullptr) throw arch::UserError::make("{} has no traffic node to inject at", text_of(at));
  node->inject({cycle, flit});
}

void Rig::inject(arch::Coord at, std::span<const arch::Flit> flits, Cycle from) {
  for (const arch::Flit& flit : flits) inject(at, flit, from);
}

void Rig::write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  platform::write_memory(system_.mesh(), address, bytes);
}

std::vector<std::uint8_t> Rig::read_memory(std::uint64_t address, std::uint64_t bytes) const {
  return platform::read_memory(const_cast<platform::System&>(system_).mesh(), address, bytes);
}

platform::Runner& Rig::start(const platform::RunLimits& limits) {
  runner_ = std::make_unique<platform::Runner>(system_, program_, limits);
  runner_->set_agent_probe(&agent);
  runner_->set_memory_probe(&dram);
  runner_->set_script_probe(&host);
  if (runner_->script() != nullptr) runner_->script()->set_quiet_before_round(quiet_before_round_);
  return *runner_;
}

const platform::RunResult& Rig::run_unchecked(const platform::RunLimits& limits) {
  const platform::RunResult& result = start(limits).run();
  count_compared();
  return result;
}

void Rig::count_compared() {
  for (const sim::Timeline::Clock& clock : system_.timeline().clocks()) note_compared(*clock.engine);
}

void Rig::run() {
  const platform::RunResult& result = run_unchecked({});
  if (result.status != arch::ExitStatus::kOk) throw arch::UserError(result.message, result.status);
}

void Rig::run_until_delivered(topo::Kind kind, std::uint64_t flits) {
  constexpr Cycle kLook = 64;  // cycles between two counts
  platform::Runner& runner = start({});
  const auto delivered = [&] {
    std::uint64_t count = 0;
    for (const topo::Node* node : nodes(kind)) count += in(node->at).flits.size();
    return count;
  };
  while (delivered() < flits)
    if (runner.run_until(system_.engine().now() + kLook)) break;
  count_compared();
  if (runner.result().status != arch::ExitStatus::kOk)
    throw arch::UserError(runner.result().message, runner.result().status);
}

std::vector<const topo::Node*> Rig::nodes(topo::Kind kind) const {
  std::vector<const topo::Node*> found;
  for (const topo::Node& node : mesh().nodes)
    if (node.kind() == kind) found.push_back(&node);
  return found;
}

const topo::Node& Rig::only(topo::Kind kind) const {
  const auto found = nodes(kind);
  KTPU_CHECK(found.size() == 1, "{} nodes of kind {}", found.size(), topo::kind_name(kind));
  return *found.front();
}

const LinkLog::Watched& Rig::in(arch::Coord at) const { return links_.at(ports_.at(at).first); }
const LinkLog::Watched& Rig::out(arch::Coord at) const { return links_.at(ports_.at(at).second); }

std::uint64_t Rig::hops(arch::FlitType type) const {
  std::uint64_t count = 0;
  for (const std::size_t link : between_routers_) count += cycles_of(links_.at(link).flits, type).size();
  return count;
}

const ClusterLog& Rig::cluster(arch::Coord at) const {
  const auto found = clusters_.find(at);
  if (found == clusters_.end()) throw arch::UserError::make("{} is no matmul cluster", text_of(at));
  return *found->second;
}

const VectorLog& Rig::vector(arch::Coord at) const {
  const auto found = vectors_.find(at);
  if (found == vectors_.end()) throw arch::UserError::make("{} is no vector core", text_of(at));
  return *found->second;
}

}  // namespace ktpu::check
