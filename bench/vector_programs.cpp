// SPDX-License-Identifier: Apache-2.0
#include "bench/vector_programs.h"

#include <vector>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "arch/error.h"

namespace ktpu::bench {

namespace {

using namespace arch;

constexpr std::uint32_t kLength = 128, kWords = kLength / 16, kTxn = 0x40, kOperands = 3;
constexpr unsigned kFill = 0, kLoad = 1, kStore = 2, kDrain = 3;  // address descriptors

VectorWord word(VectorOpcode op) {
  VectorWord w;
  w.op = static_cast<std::uint32_t>(op);
  return w;
}

VectorWord on(VectorOpcode op, unsigned vd, unsigned va, unsigned vb, unsigned vc) {
  VectorWord w = word(op);
  w.vd = vd;
  w.va = va;
  w.vb = vb;
  w.vc = vc;
  return w;
}

VectorWord move(VectorOpcode op, unsigned reg, unsigned descriptor, unsigned first) {
  VectorWord w = word(op);
  w.dtype = static_cast<std::uint32_t>(VectorType::kFp16);
  w.vd = reg;
  w.ad = descriptor;
  w.offset = first;
  return w;
}

std::vector<std::uint32_t> kernel(std::uint32_t iterations) {
  std::vector<std::uint32_t> words;
  const auto add = [&](const VectorWord& w) { words.push_back(encode_vector_word(w)); };
  const auto seti = [&](unsigned reg, std::uint32_t value) {
    VectorWord w = word(VectorOpcode::kVseti);
    w.vd = reg;
    add(w);
    words.push_back(value);
  };
  seti(0, kLength);
  add(word(VectorOpcode::kVsetvl));
  add(word(VectorOpcode::kVsetmode));
  seti(1, iterations);
  add(move(VectorOpcode::kVfill, 0, kFill, 0));
  add(word(VectorOpcode::kVbar));
  for (unsigned i = 0; i < kOperands; ++i) add(move(VectorOpcode::kVld, i, kLoad, i * kWords));
  constexpr std::array<VectorOpcode, 15> kBody{
      VectorOpcode::kVfma, VectorOpcode::kVadd, VectorOpcode::kVmul,  VectorOpcode::kVexp2,
      VectorOpcode::kVsub, VectorOpcode::kVmax, VectorOpcode::kVfnma, VectorOpcode::kVadd,
      VectorOpcode::kVinv, VectorOpcode::kVmul, VectorOpcode::kVfma,  VectorOpcode::kVmin,
      VectorOpcode::kVmov, VectorOpcode::kVadd, VectorOpcode::kVrsqrt};
  VectorWord loop = word(VectorOpcode::kVloop);
  loop.va = 1;
  loop.vb = kBody.size();
  add(loop);
  for (unsigned i = 0; i < kBody.size(); ++i)
    add(on(kBody[i], kOperands + i % 12, i % 3, (i + 1) % 3, (i + 2) % 3));
  add(move(VectorOpcode::kVst, kOperands, kStore, 0));
  VectorWord drain = word(VectorOpcode::kVdrain);
  drain.ad = kDrain;
  drain.offset = kOperands * kWords;
  add(drain);
  add(word(VectorOpcode::kVhalt));
  return words;
}

}  // namespace

Program vector_loop(const topo::Machine& machine, std::uint32_t iterations) {
  const std::uint64_t source = machine.meshes.front().dram.value().base;
  std::vector<Coord> cores;
  for (const topo::Node& node : machine.meshes.front().nodes)
    if (node.kind() == topo::Kind::kVectorCore) cores.push_back(node.at);
  if (cores.empty()) throw UserError::make("machine \"{}\" has no vector core", machine.name);
  const std::uint64_t result = source + 0x1000;

  Program p;
  p.name = fmt::format("{} times 15 vector operations", iterations);
  p.needs.machine = machine.name;
  p.needs.memory.push_back({0, source, result + cores.size() * kLength * 2});
  const std::uint32_t elements = kOperands * kLength;
  p.images.push_back({0, {source, ImageTensor{{elements, 139, 10}, {elements}, "flat"}}});
  StepBaseline baseline;
  for (const Coord at : cores) baseline.nodes.push_back(at);
  p.steps.push_back({0, StepRound{"round"}});
  p.steps.push_back({0, std::move(baseline)});

  StepStage stage;
  std::vector<Step> kicks, awaits;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const auto base = static_cast<std::uint32_t>(stage.flits.size());
    std::vector<VectorInst> list;
    const auto inst = [&](VectorOp op) -> VectorInst& {
      list.emplace_back().op = static_cast<std::uint32_t>(op);
      return list.back();
    };
    const auto words = kernel(iterations);
    for (std::uint32_t a = 0; a < words.size(); ++a) {
      VectorInst& image = inst(VectorOp::kImem);
      image.addr = a;
      image.word = words[a];
    }
    const auto walk = [&](unsigned descriptor, std::uint64_t start, std::uint32_t stride,
                          std::uint32_t count) {
      for (unsigned field = 0; field < 2; ++field) {
        VectorInst& desc = inst(VectorOp::kDesc);
        desc.ad = descriptor;
        desc.fld = field;
        desc.value = field == 0 ? start : std::uint64_t{stride} << 16 | count;
      }
    };
    walk(kFill, source, kWordBytes, kOperands * kWords);
    walk(kLoad, 0, 1, kWords);
    walk(kStore, kOperands * kWords, 1, kWords);
    walk(kDrain, result + i * kLength * 2, kWordBytes, kWords);
    inst(VectorOp::kRun);
    for (const VectorInst& v : list)
      stage.flits.push_back(make_flit(make_header({}, {}, FlitType::kCuInst, kTxn, &v == &list.back()), v));
    const auto count = static_cast<std::uint32_t>(list.size());
    kicks.push_back({0, StepKick{cores[i], base, count}});
    awaits.push_back({0, StepAwait{cores[i], count}});
    p.outputs.push_back(
        {fmt::format("v{}", i), 0, result + i * kLength * 2, DType::kFp16, {kLength}, "flat"});
  }
  p.steps.push_back({0, StepStage(stage)});
  p.steps.push_back({0, StepCredit{static_cast<std::uint32_t>(stage.flits.size())}});
  for (Step& step : kicks) p.steps.push_back(std::move(step));
  for (Step& step : awaits) p.steps.push_back(std::move(step));
  return p;
}

}  // namespace ktpu::bench
