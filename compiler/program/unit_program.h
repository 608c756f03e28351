// SPDX-License-Identifier: Apache-2.0
// Level L1: what each unit executes, in order (compiler.md sections 17 and 18). Instructions are typed; who a
// unit is and how its words get there is not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/vector_inst.h"

namespace ktpu::program {

enum class UnitType : std::uint8_t { kCluster, kVector };  // printed as MG and VC

// dnode and the destination fields of a drain to a node are left open: `to_next` says that the tile goes to
// the unit that runs the instance of the same place in the next stage.
struct ClusterStep {
  arch::ClusterInst inst;
  bool to_next = false;
};
// IMEM, DESC and RUN.
using VectorStep = arch::VectorInst;

struct Instance {
  std::vector<std::int32_t> key;
  std::variant<std::vector<ClusterStep>, std::vector<VectorStep>> steps;
  // Signals that the receiver of its drains sends for it.
  std::uint32_t acks = 0;
  std::size_t size() const;
};
// An operand is read, reordered by the host, and written back.
struct Relayout {
  std::string buffer;
  std::uint64_t address = 0;
  std::vector<std::uint32_t> shape;
  std::string from, to;  // layout keys
  std::uint64_t batch_stride = 0;
};
struct Stage {
  UnitType unit = UnitType::kCluster;
  std::vector<Relayout> before;
  std::vector<Instance> instances;
  bool feeds_next = false;
  bool waits = false;  // for memory to have taken every earlier result
};
struct Program {
  std::string name;
  std::vector<Stage> stages;
};

// Throws UserError that names stage, instance and step: a vector image that does not fit or never halts, a
// RUN without an image, a GEMM on an L1 region no FILL brought, a drain past the accumulator.
void verify(const Program& program);
std::string print(const Program& program);
Program parse(std::string_view text, std::string_view file_name);

}  // namespace ktpu::program
