// SPDX-License-Identifier: Apache-2.0
// Units and what goes between them.
#include "compiler/interpret/interpreter_machine.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::interpret {

using arch::ExitStatus;
using arch::UserError;

namespace {

constexpr std::size_t kMaxWarnings = 100;

std::string op_name(UnitKind kind, unsigned op) {
  constexpr std::array<std::string_view, 3> kCluster{"FILL", "GEMM", "DRAIN"}, kVector{"IMEM", "DESC", "RUN"};
  if (op < 1 || op > 3) return fmt::format("op {}", op);
  return std::string((kind == UnitKind::kCluster ? kCluster : kVector)[op - 1]);
}

}  // namespace

Interpreter::Machine::Machine(const arch::Program& p, MachineFacts f, const Options& o)
    : program(p), facts(std::move(f)), options(o), traffic(buffers_of(p)) {
  for (const MeshFacts& mesh : facts.meshes) meshes_.emplace_back(mesh);
  for (unsigned mesh = 0; mesh < meshes_.size(); ++mesh) build_units(mesh);
  for (const auto& [mesh, image] : program.images) {
    if (mesh >= meshes_.size()) throw UserError::make("an image for mesh {} of {}", mesh, meshes_.size());
    load(mesh, image);
  }
}

void Interpreter::Machine::build_units(unsigned mesh) {
  meshes_[mesh].units.clear();
  for (const UnitFacts& unit : facts.meshes[mesh].units)
    meshes_[mesh].units.push_back(std::make_unique<Unit>(*this, mesh, unit));
}

Interpreter::Machine::Unit* Interpreter::Machine::unit_at(unsigned mesh, Coord at) {
  for (const auto& unit : meshes_[mesh].units)
    if (unit->facts.at == at) return unit.get();
  return nullptr;
}

unsigned Interpreter::Machine::mesh_of(unsigned id) const {
  for (unsigned mesh = 0; mesh < facts.meshes.size(); ++mesh)
    if (facts.meshes[mesh].id == id) return mesh;
  throw UserError::make("the machine has no mesh {}", id);
}

std::string Interpreter::Machine::place(const Unit& unit, const Instruction& instruction) const {
  const Mesh& mesh = meshes_[unit.mesh];
  const auto op = arch::unpack<arch::ClusterInst>(instruction.flit).op;
  return fmt::format("{}node ({},{}), round {}{}, step {}, instruction {} ({})",
                     meshes_.size() > 1 ? fmt::format("mesh {} ", unit.mesh) : std::string(), unit.facts.at.x,
                     unit.facts.at.y, mesh.round,
                     mesh.round_name.empty() ? std::string() : fmt::format(" \"{}\"", mesh.round_name),
                     instruction.step, instruction.index, op_name(unit.facts.kind, op));
}

std::variant<Cluster, VectorCore> Interpreter::Machine::make_core(Machine& owner, const UnitFacts& facts) {
  if (facts.kind == UnitKind::kCluster) return Cluster(facts, owner.options.rounding, owner.counters);
  return VectorCore(facts, owner.options.rounding, owner.counters);
}

Interpreter::Machine::Unit::Unit(Machine& owner, unsigned mesh_index, const UnitFacts& unit_facts)
    : machine(owner), mesh(mesh_index), facts(unit_facts), core(make_core(owner, unit_facts)) {}

bool Interpreter::Machine::Unit::execute(const Instruction& instruction) {
  at = &instruction;
  const arch::Flit& flit = instruction.flit;
  std::uint32_t arg = 0;
  try {
    if (auto* cluster = std::get_if<Cluster>(&core)) {
      if (!cluster->execute(arch::unpack<arch::ClusterInst>(flit), *this)) return false;
      arg = cluster->retired() & 0xFFFF;
    } else {
      std::get<VectorCore>(core).execute(arch::unpack<arch::VectorInst>(flit), *this);
    }
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", machine.place(*this, instruction), error.what()),
                    ExitStatus::kUnitFault);
  }
  using arch::SignalCode;
  machine.meshes_[mesh].registers.signal(facts.at,
                                         flit.last() ? SignalCode::kBatchComplete : SignalCode::kInstComplete,
                                         flit.last() ? flit.txn() : arg);
  ++machine.counters.signals;
  return true;
}

void Interpreter::Machine::Unit::receive(Coord from, const arch::CuDataDesc& desc,
                                         std::span<const Word256> words) {
  const Stream stream{desc, words};
  try {
    if (auto* cluster = std::get_if<Cluster>(&core))
      cluster->receive(stream, *this);
    else
      std::get<VectorCore>(core).receive(stream);
  } catch (const UserError& error) {
    throw UserError::make("node ({},{}): {}", facts.at.x, facts.at.y, error.what());
  }
  if (!desc.signal_on_complete()) return;
  const Coord to = desc.ack() == Coord{} ? from : desc.ack();
  const auto& ports = machine.facts.meshes[mesh].ports;
  if (std::find(ports.begin(), ports.end(), to) == ports.end()) return;  // a unit drops a signal
  machine.meshes_[mesh].registers.signal(facts.at, arch::SignalCode::kDataReceived, desc.buf_id);
  ++machine.counters.signals;
}

void Interpreter::Machine::Unit::read(std::uint64_t address, std::span<std::uint8_t> out) {
  const Memory& memory = machine.meshes_[mesh].memory;
  memory.read(address, out);
  machine.traffic.read(static_cast<std::uint8_t>(mesh), facts.at, address, out.size());
  if (!machine.options.warnings) return;
  if (const std::uint64_t n = memory.until(Memory::kNobody, address, out.size()); n != out.size()) {
    ++machine.counters.unwritten_reads;
    warn(fmt::format("reads memory that nothing wrote, at 0x{:x}", address + n));
  }
  if (const std::uint64_t n = memory.until(machine.stamp_, address, out.size()); n != out.size()) {
    ++machine.counters.early_reads;
    warn(fmt::format(
        "reads 0x{:x}, which a unit wrote since the host last waited for quiet memory: it may read "
        "what was there before",
        address + n));
  }
}

void Interpreter::Machine::Unit::write(std::uint64_t address, std::span<const std::uint8_t> bytes,
                                       Remote remote) {
  const unsigned to = remote.node == 0 ? mesh : machine.mesh_of(remote.mesh);
  machine.meshes_[to].memory.write(address, bytes, machine.stamp_);
  machine.traffic.write(static_cast<std::uint8_t>(to), facts.at, address, bytes.size());
}

void Interpreter::Machine::Unit::send(Coord to, Remote remote, const arch::CuDataDesc& desc,
                                      std::span<const Word256> words) {
  const unsigned far = remote.node == 0 ? mesh : machine.mesh_of(remote.mesh);
  const Coord node = remote.node == 0 ? to : Coord::from_node_byte(remote.node);
  Unit* unit = machine.unit_at(far, node);
  if (unit == nullptr) throw UserError::make("data for ({},{}), where no unit is", node.x, node.y);
  if (unit == this) throw UserError("data for the unit itself: send and receive wait for each other");
  machine.traffic.send(static_cast<std::uint8_t>(mesh), facts.at, words.size_bytes());
  unit->receive(facts.at, desc, words);
}

void Interpreter::Machine::Unit::share(unsigned peer_node, const SharedEntry& entry) {
  const Coord node = Coord::from_node_byte(peer_node);
  Unit* unit = machine.unit_at(mesh, node);
  auto* cluster = unit == nullptr ? nullptr : std::get_if<Cluster>(&unit->core);
  if (cluster == nullptr)
    throw UserError::make("a shared FILL names ({},{}), where no cluster is", node.x, node.y);
  cluster->share(entry);
}

void Interpreter::Machine::Unit::warn(const std::string& text) {
  if (!machine.options.warnings || machine.warnings.size() >= kMaxWarnings) return;
  std::string whole = at == nullptr ? text : fmt::format("{}: {}", machine.place(*this, *at), text);
  if (machine.warned_.insert(whole).second) machine.warnings.push_back(std::move(whole));
}

void Interpreter::Machine::dispatch(unsigned m, const Dispatch& dispatch) {
  Unit* unit = unit_at(m, dispatch.to);
  if (unit == nullptr)
    throw UserError::make("a kick for ({},{}), where no cluster or vector core is", dispatch.to.x,
                          dispatch.to.y);
  ++counters.kicks;
  for (std::size_t i = 0; i < dispatch.flits.size(); ++i) {
    if (dispatch.flits[i].type() != arch::FlitType::kCuInst)
      throw UserError::make("flit {} of the kick is a {}; only CU_INST is interpreted", i,
                            arch::flit_type_name(dispatch.flits[i].type_code()));
    unit->queue.push_back({dispatch.flits[i], step_, i});
    ++counters.flits;
  }
  progress();
}

// Units in turn, each as far as it gets, until none moves.
void Interpreter::Machine::progress() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Mesh& mesh : meshes_)
      for (const auto& unit : mesh.units)
        while (!unit->queue.empty() && unit->execute(unit->queue.front())) {
          unit->queue.pop_front();
          unit->at = nullptr;
          moved = true;
        }
  }
}

std::string Interpreter::Machine::waiting() const {
  std::string text;
  for (const Mesh& mesh : meshes_)
    for (const auto& unit : mesh.units)
      if (!unit->queue.empty())
        text += fmt::format("; {} waits for the leader of a shared FILL", place(*unit, unit->queue.front()));
  return text.empty() ? "; every unit has done all it was given" : text;
}

}  // namespace ktpu::interpret
