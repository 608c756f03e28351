// SPDX-License-Identifier: Apache-2.0
#include "bench/vector_programs.h"

#include <string>
#include <vector>

#include "arch/error.h"
#include "arch/program/text.h"

namespace ktpu::bench {

namespace {

constexpr unsigned kLength = 128, kWords = kLength / 16, kOperands = 3, kResultBytes = 2 * kLength;

// Independent operations: none reads what another of them writes.
constexpr const char* kBody = R"(
    VFMA v3, v0, v1, v2
    VADD v4, v1, v0
    VMUL v5, v2, v0
    VEXP2 v6, v0
    VSUB v7, v1, v0
    VMAX v8, v2, v0
    VFNMA v9, v0, v1, v2
    VADD v10, v1, v0
    VINV v11, v2
    VMUL v12, v0, v1
    VFMA v13, v1, v2, v0
    VMIN v14, v2, v0
    VMOV v3, v0
    VADD v4, v1, v0
    VRSQRT v5, v2
)";

std::string envelopes(std::uint32_t iterations, std::uint64_t source, std::uint64_t result) {
  return fmt::format(
      "  kernel {{\n   start:\n    VSETI S0, int {0}\n    VSETVL S0\n    VSETMODE FLAT\n    VSETI S1, int "
      "{1}\n"
      "    VFILL A0, 0\n    VBAR\n    VLD.fp16 v0, A1, 0\n    VLD.fp16 v1, A1, {2}\n    VLD.fp16 v2, A1, "
      "{3}\n"
      "    VLOOP S1, end{4}   end:\n    VST.fp16 v3, A2\n    VDRAIN A3, {5}\n    VHALT\n  }}\n"
      "  desc A0 base={6:#x} dims=[(32,{5})]\n  desc A1 base=0 dims=[(1,{2})]\n  desc A2 base={5} "
      "dims=[(1,{2})]\n"
      "  desc A3 base={7:#x} dims=[(32,{2})]\n  run start last\n",
      kLength, iterations, kWords, 2 * kWords, kBody, kOperands * kWords, source, result);
}

}  // namespace

arch::Program vector_loop(const topo::Machine& machine, std::uint32_t iterations) {
  std::vector<arch::Coord> cores;
  for (const topo::Node& node : machine.meshes.front().nodes)
    if (node.kind() == topo::Kind::kVectorCore) cores.push_back(node.at);
  if (cores.empty()) throw arch::UserError::make("machine \"{}\" has no vector core", machine.name);
  const std::uint64_t source = machine.meshes.front().dram.value().base, results = source + 0x1000;
  constexpr unsigned kFlits = 30 + 4 * 5 + 1;  // words, descriptor fields, RUN

  std::string text = fmt::format("program \"{} times 15 vector operations\"\nmachine \"{}\" staging={}\n",
                                 iterations, machine.name, kFlits * cores.size());
  std::string stage, kicks, awaits, baseline = "baseline";
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const arch::Coord at = cores[i];
    const std::uint64_t result = results + i * kResultBytes;
    text += fmt::format("output v{} fp16 [{}] at={:#x} layout=flat\n", i, kLength, result);
    baseline += fmt::format(" ({},{})", at.x, at.y);
    stage += fmt::format("stage {} {{\n{}}}\n", i * kFlits, envelopes(iterations, source, result));
    kicks += fmt::format("kick ({},{}) slots={}..{}\n", at.x, at.y, i * kFlits, (i + 1) * kFlits - 1);
    awaits += fmt::format("await ({},{}) {}\n", at.x, at.y, kFlits);
  }
  text += fmt::format("memory {:#x}..{:#x}\n", source, results + cores.size() * kResultBytes);
  text += fmt::format("image {:#x} tensor [{}] layout=flat seed=139 shift=10\n", source, kOperands * kLength);
  text += fmt::format("round \"loop\"\n{}\n{}credit {}\n{}{}", baseline, stage, kFlits * cores.size(), kicks,
                      awaits);
  return arch::assemble(text, "vector_loop.kasm");
}

}  // namespace ktpu::bench
