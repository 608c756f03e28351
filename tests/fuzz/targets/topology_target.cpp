// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/outcome.h"
#include "tests/fuzz/targets/targets.h"
#include "topologies/reader.h"
#include "topologies/writer.h"

namespace ktpu::fuzz {

std::string fuzz_topology(std::span<const std::uint8_t> bytes) {
  topo::Machine machine;
  const Outcome read = read_topology({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, machine);
  if (!read.wrong.empty()) return read.wrong + ": " + read.message;
  if (read.status != arch::ExitStatus::kOk) return {};

  topo::Machine again;
  const Outcome reread = read_topology(topo::print_resolved(machine), again);
  if (reread.status != arch::ExitStatus::kOk || !(again == machine))
    return "the resolved machine is not the machine: " + reread.message;

  // A large machine takes long to build and shows nothing that a small one does not.
  std::size_t parts = 0;
  for (const topo::Mesh& mesh : machine.meshes) parts += mesh.routers.size() + mesh.nodes.size();
  if (parts > 64) return {};
  const Outcome ran = run(machine, nullptr, {2000, 500});
  return ran.wrong.empty() ? std::string() : ran.wrong + ": " + ran.message;
}

}  // namespace ktpu::fuzz
