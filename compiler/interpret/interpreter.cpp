// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/interpreter.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <variant>

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "arch/formats/quantise.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "compiler/interpret/cluster.h"
#include "compiler/interpret/host_registers.h"
#include "compiler/interpret/memory.h"
#include "compiler/interpret/vector_core.h"

namespace ktpu::interpret {

using arch::Coord;
using arch::ExitStatus;
using arch::UserError;

namespace {

constexpr std::size_t kMaxWarnings = 100;

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string op_name(UnitKind kind, unsigned op) {
  constexpr std::array<std::string_view, 3> kCluster{"FILL", "GEMM", "DRAIN"}, kVector{"IMEM", "DESC", "RUN"};
  if (op < 1 || op > 3) return fmt::format("op {}", op);
  return std::string((kind == UnitKind::kCluster ? kCluster : kVector)[op - 1]);
}

const arch::Tensor& find(const std::vector<arch::Tensor>& tensors, std::string_view name, const char* what) {
  for (const arch::Tensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw UserError::make("the program has no {} \"{}\"", what, name);
}

arch::TensorLayout layout_of(const arch::Tensor& tensor) {
  const unsigned bits = arch::dtype_bits(tensor.dtype);
  if (bits == 0) throw UserError::make("tensor \"{}\" is in a block format", tensor.name);
  return {tensor.layout, tensor.shape, bits / 8};
}

unsigned element_bytes(const arch::Tensor& tensor) { return arch::dtype_bits(tensor.dtype) / 8; }

}  // namespace

class Interpreter::Machine {
 public:
  Machine(const arch::Program& program, MachineFacts facts, const Options& options);
  void run(std::size_t first, std::size_t last);

  const arch::Program& program;
  MachineFacts facts;
  Options options;
  Counters counters;
  Traffic traffic;
  std::vector<std::string> warnings;

  Memory& memory(unsigned mesh) { return meshes_.at(mesh).memory; }

 private:
  // An instruction on its way, and where it came from.
  struct Instruction {
    arch::Flit flit;
    std::size_t step = 0, index = 0;
  };
  struct Unit final : Wires {
    Unit(Machine& owner, unsigned mesh_index, const UnitFacts& unit_facts);
    bool execute(const Instruction& instruction);
    void receive(Coord from, const arch::CuDataDesc& desc, std::span<const Word256> words);

    void read(std::uint64_t address, std::span<std::uint8_t> out) override;
    void write(std::uint64_t address, std::span<const std::uint8_t> bytes, Remote remote) override;
    void send(Coord to, Remote remote, const arch::CuDataDesc& desc, std::span<const Word256> words) override;
    void share(unsigned peer_node, const SharedEntry& entry) override;
    void warn(const std::string& text) override;

    Machine& machine;
    unsigned mesh;
    UnitFacts facts;
    std::variant<Cluster, VectorCore> core;
    std::deque<Instruction> queue;
    const Instruction* at = nullptr;
  };
  struct Mesh {
    Mesh(const MeshFacts& mesh_facts) : memory(mesh_facts), registers(mesh_facts.staging_flits) {}
    Memory memory;
    HostRegisters registers;
    std::vector<std::unique_ptr<Unit>> units;
    std::array<std::uint16_t, 256> baseline{};
    std::size_t round = 0;
    std::string round_name;
  };

  static std::variant<Cluster, VectorCore> make_core(Machine& owner, const UnitFacts& facts);
  Unit* unit_at(unsigned mesh, Coord at);
  unsigned mesh_of(unsigned id) const;
  std::string place(const Unit& unit, const Instruction& instruction) const;
  void build_units(unsigned mesh);

  void step(std::size_t index);
  void dispatch(unsigned mesh, const Dispatch& dispatch);
  void progress();
  void await(unsigned mesh, std::uint32_t offset, std::uint64_t mask, std::uint64_t want);
  void commands(unsigned mesh, const arch::StepCommands& step);
  void window(unsigned mesh, const arch::StepWindow& step);
  void load(unsigned mesh, const arch::MemoryImage& image);
  void relayout(unsigned mesh, const arch::StepRelayout& step);
  std::string waiting() const;

  std::vector<Mesh> meshes_;
  std::set<std::string> warned_;
  std::size_t step_ = 0;
};

// ---- Units

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
  if (const std::uint64_t good = memory.written(address, out.size()); good != out.size())
    warn(fmt::format("reads memory that nothing wrote, at 0x{:x}", address + good));
}

void Interpreter::Machine::Unit::write(std::uint64_t address, std::span<const std::uint8_t> bytes,
                                       Remote remote) {
  const unsigned to = remote.node == 0 ? mesh : machine.mesh_of(remote.mesh);
  machine.meshes_[to].memory.write(address, bytes);
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

// ---- Steps

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

void Interpreter::Machine::run(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    step_ = i;
    try {
      step(i);
    } catch (const UserError& error) {
      if (error.status() != ExitStatus::kUserError) throw;
      throw UserError(
          fmt::format("step {} ({}): {}", i, arch::step_name(program.steps[i].action), error.what()));
    }
  }
}

void Interpreter::Machine::step(std::size_t index) {
  const arch::Step& step = program.steps[index];
  const unsigned m = step.mesh;
  if (m >= meshes_.size()) throw UserError::make("for mesh {} of {}", m, meshes_.size());
  Mesh& mesh = meshes_[m];
  namespace reg = arch::agent;
  std::visit(Overloaded{
                 [&](const arch::StepRound& s) {
                   mesh.baseline.fill(0);
                   ++mesh.round;
                   mesh.round_name = s.name;
                   ++counters.rounds;
                   traffic.begin_round(s.name);
                 },
                 [&](const arch::StepBaseline& s) {
                   for (const Coord node : s.nodes)
                     mesh.baseline[node.node_byte()] = mesh.registers.count(node);
                 },
                 [&](const arch::StepStage& s) {
                   for (std::size_t f = 0; f < s.flits.size(); ++f)
                     mesh.registers.stage(static_cast<unsigned>(s.base + f), s.flits[f]);
                 },
                 [&](const arch::StepCredit& s) { mesh.registers.write(reg::kProgCred, s.seed); },
                 [&](const arch::StepKick& s) { dispatch(m, mesh.registers.kick(s.to, s.base, s.count)); },
                 [&](const arch::StepAwait& s) {
                   const std::uint8_t node = s.node.node_byte();
                   await(m, reg::node_status(node), reg::node_status_word::kCountAndValidMask,
                         std::uint64_t{(mesh.baseline[node] + s.count) & 0xFFFF} << 8 | 1);
                 },
                 [&](const arch::StepWrite& s) {
                   if (const auto d = mesh.registers.write(s.offset, s.value)) dispatch(m, *d);
                 },
                 [&](const arch::StepPoll& s) { await(m, s.offset, s.mask, s.want); },
                 [&](const arch::StepCommands& s) { commands(m, s); },
                 [&](const arch::StepWindow& s) { window(m, s); },
                 [&](const arch::StepLoad& s) { load(m, s.image); },
                 [&](const arch::StepQuiet&) {},
                 [&](const arch::StepRelayout& s) { relayout(m, s); },
                 [&](const arch::StepReset&) { build_units(m); },
                 [&](const auto&) { throw UserError("is not interpreted"); },
             },
             step.action);
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

void Interpreter::Machine::await(unsigned m, std::uint32_t offset, std::uint64_t mask, std::uint64_t want) {
  const std::uint64_t value = meshes_[m].registers.read(offset);
  if ((value & mask) == want) return;
  throw UserError(
      fmt::format("step {} ({}): a poll of register 0x{:x} for 0x{:x} under mask 0x{:x} is never met, "
                  "it reads 0x{:x}{}",
                  step_, arch::step_name(program.steps[step_].action), offset, want, mask, value, waiting()),
      ExitStatus::kNoProgress);
}

void Interpreter::Machine::commands(unsigned m, const arch::StepCommands& step) {
  using Op = arch::engine::CommandOp;
  for (const arch::Command& c : step.commands) {
    const std::uint32_t offset = c.address & 0xFFFF;
    if (c.op == static_cast<std::uint32_t>(Op::kDone)) return;
    if (c.op == static_cast<std::uint32_t>(Op::kWrite)) {
      if (const auto d = meshes_[m].registers.write(offset, c.data)) dispatch(m, *d);
    } else if (c.op == static_cast<std::uint32_t>(Op::kPoll)) {
      await(m, offset, c.mask, c.data);
    } else {
      throw UserError::make("opcode {} stops the command engine", c.op);
    }
  }
}

void Interpreter::Machine::window(unsigned m, const arch::StepWindow& step) {
  if (!step.write) return;  // what is read is discarded
  const std::vector<std::uint8_t> data = arch::image_data(step.data);
  Memory& to = meshes_[m].memory;
  namespace address = arch::address;
  if (!address::upload(step.address)) return to.write(step.address, data);
  if (data.size() % address::kEntryBytesFp16 != 0)
    throw UserError::make("an upload of {} bytes; entries take {}", data.size(), address::kEntryBytesFp16);
  const auto side = address::upload_b_layout(step.address) ? arch::Side::kB : arch::Side::kA;
  std::uint64_t at = address::upload_destination(step.address);
  for (std::size_t from = 0; from < data.size(); from += address::kEntryBytesFp16) {
    std::array<std::uint16_t, arch::kLanes * arch::kBlockK> source;
    std::memcpy(source.data(), data.data() + from, sizeof source);
    const arch::OperandEntry entry = arch::quantise_entry(source);
    for (unsigned w = 0; w < arch::kEntryWords; ++w, at += arch::kWordBytes) {
      const Word256 word = arch::operand_word(side, w, entry);
      to.write(at, {reinterpret_cast<const std::uint8_t*>(word.data()), arch::kWordBytes});
    }
  }
}

void Interpreter::Machine::load(unsigned m, const arch::MemoryImage& image) {
  arch::generate(image, [&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
    meshes_[m].memory.write(address, bytes);
  });
}

void Interpreter::Machine::relayout(unsigned m, const arch::StepRelayout& step) {
  constexpr std::size_t kHalf = 2;
  Memory& memory = meshes_[m].memory;
  std::int64_t last = -1;
  std::size_t count = 0;
  const auto source = [](const arch::GatherRun& run, std::uint32_t t, std::uint32_t k) {
    return run.source + run.advance * t + std::int64_t{run.step} * k;
  };
  for (const arch::GatherRun& run : step.gather) {
    count += std::size_t{run.count} * run.times;
    if (run.source < 0 || run.count == 0 || run.times == 0) continue;
    for (const std::uint32_t t : {0u, run.times - 1})
      for (const std::uint32_t k : {0u, run.count - 1}) {
        if (source(run, t, k) < 0) throw UserError("a gather run reads in front of the buffer");
        last = std::max(last, source(run, t, k));
      }
  }
  std::vector<std::uint8_t> from(static_cast<std::size_t>(last + 1) * kHalf), to;
  memory.read(step.address, from);
  to.reserve(count * kHalf);
  for (const arch::GatherRun& run : step.gather)
    for (std::uint32_t t = 0; t < run.times; ++t)
      for (std::uint32_t k = 0; k < run.count; ++k)
        for (std::size_t b = 0; b < kHalf; ++b)
          to.push_back(run.source < 0 ? std::uint8_t{0}
                                      : from[static_cast<std::size_t>(source(run, t, k)) * kHalf + b]);
  memory.write(step.address, to);
}

// ---- Interpreter

Interpreter::Interpreter(const arch::Program& program, MachineFacts machine, const Options& options)
    : machine_(std::make_unique<Machine>(program, std::move(machine), options)) {}
Interpreter::~Interpreter() = default;

void Interpreter::run() { machine_->run(0, machine_->program.steps.size()); }
void Interpreter::run(std::size_t first, std::size_t last) { machine_->run(first, last); }

void Interpreter::set_input(std::string_view name, std::span<const std::uint8_t> row_major) {
  const arch::Tensor& tensor = find(machine_->program.inputs, name, "input");
  const arch::TensorLayout layout = layout_of(tensor);
  if (row_major.size() != layout.values() * element_bytes(tensor))
    throw UserError::make("input \"{}\" takes {} bytes, not {}", name,
                          layout.values() * element_bytes(tensor), row_major.size());
  write_memory(tensor.mesh, tensor.address, layout.pack(row_major));
}

std::vector<std::uint8_t> Interpreter::output(std::string_view name) const {
  const arch::Tensor& tensor = find(machine_->program.outputs, name, "output");
  const arch::TensorLayout layout = layout_of(tensor);
  return layout.unpack(read_memory(tensor.mesh, tensor.address, layout.elements() * element_bytes(tensor)));
}

std::vector<std::uint8_t> Interpreter::read_memory(unsigned mesh, std::uint64_t address,
                                                   std::uint64_t bytes) const {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(bytes));
  machine_->memory(mesh).read(address, out);
  return out;
}

void Interpreter::write_memory(unsigned mesh, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  machine_->memory(mesh).write(address, bytes);
}

const Counters& Interpreter::counters() const { return machine_->counters; }
const Traffic& Interpreter::traffic() const { return machine_->traffic; }
const std::vector<std::string>& Interpreter::warnings() const { return machine_->warnings; }

}  // namespace ktpu::interpret
