// SPDX-License-Identifier: Apache-2.0
// Level L0: everything that goes to the machine, in order: rounds, and between them relayouts by the host and
// waits for memory (compiler.md section 12).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/bytes/artifact.h"
#include "compiler/bytes/dispatch.h"
#include "compiler/bytes/units.h"

namespace ktpu::bytes {

// Which units a machine has, and what a round may hold.
struct Machine {
  std::string name;
  Units clusters, vector_cores;  // each may be empty
  std::optional<Node> agent;     // takes the acknowledgements of data sent between units
  Limits limits;
  std::uint8_t mesh = 0;
};

struct Dispatch {
  std::string unit;  // "MG", "VC"
  std::uint32_t stage = 0;
  Plan plan;
};
// The host reads a tensor, and writes it back in another order.
struct HostRelayout {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> shape;
  std::string from, to;
  std::uint64_t batch_stride = 0;
};
// Until every store of earlier rounds has landed in memory.
struct WaitMemory {};
using ExecStep = std::variant<Dispatch, HostRelayout, WaitMemory>;

struct Executable {
  std::string name, machine;
  std::vector<ExecStep> steps;
  std::size_t flits() const;
};

void verify(const Executable& executable);
std::string print(const Executable& executable);
Executable parse(std::string_view text, std::string_view file_name);

}  // namespace ktpu::bytes
