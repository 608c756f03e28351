// SPDX-License-Identifier: Apache-2.0
// Inside of the interpreter: units with their queues, memories, the host's place in the program.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/interpret/cluster.h"
#include "compiler/interpret/host_registers.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/interpret/memory.h"
#include "compiler/interpret/vector_core.h"

namespace ktpu::interpret {

using arch::Coord;

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
  std::uint32_t stamp_ = Memory::kFirstUnit;  // of what units write; another one when memory has been quiet
};

}  // namespace ktpu::interpret
