// SPDX-License-Identifier: Apache-2.0
#include "arch/program/fbs_writer.h"

#include "arch/program/program_generated.h"

namespace ktpu::arch {
namespace {

namespace fb = flatbuffers;

class Writer {
 public:
  std::vector<std::uint8_t> run(const Program& p) {
    const auto name = b_.CreateString(p.name);
    const auto needs_offset = needs(p.needs);
    std::vector<fb::Offset<fbs::PlacedImage>> images;
    for (const auto& [mesh, m] : p.images) images.push_back(fbs::CreatePlacedImage(b_, mesh, image(m)));
    const auto images_offset = b_.CreateVector(images);
    const auto inputs = tensors(p.inputs);
    const auto outputs = tensors(p.outputs);
    std::vector<fb::Offset<fbs::Step>> steps;
    for (const Step& s : p.steps) {
      const auto [type, offset] = std::visit([this](const auto& a) { return action(a); }, s.action);
      steps.push_back(fbs::CreateStep(b_, s.mesh, type, offset));
    }
    const auto steps_offset = b_.CreateVector(steps);
    std::vector<fb::Offset<fbs::DebugText>> debug;
    for (const DebugText& d : p.debug) {
      const auto n = b_.CreateString(d.name);
      debug.push_back(fbs::CreateDebugText(b_, n, b_.CreateString(d.text)));
    }
    const auto debug_offset = b_.CreateVector(debug);
    fbs::FinishProgramBuffer(b_, fbs::CreateProgram(b_, name, needs_offset, images_offset, inputs, outputs,
                                                    steps_offset, debug_offset));
    std::vector<std::uint8_t> bytes(b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize());
    bytes.resize((bytes.size() + 7) / 8 * 8);
    return bytes;
  }

 private:
  using Any = std::pair<fbs::Action, fb::Offset<void>>;
  static fbs::Node node(Coord c) { return {c.x, c.y}; }

  fb::Offset<fbs::Bytes> bytes(const ImageBytes& d) {
    return fbs::CreateBytes(b_, b_.CreateVector(d.data), d.size);
  }
  fb::Offset<fbs::Lcg> lcg(const ImageLcg& l) {
    return fbs::CreateLcg(b_, l.count, l.seed, l.shift, l.offset, l.abs);
  }
  fb::Offset<fbs::Image> image(const MemoryImage& m) {
    if (const auto* raw = std::get_if<ImageBytes>(&m.content))
      return fbs::CreateImage(b_, m.address, fbs::Content_Bytes, bytes(*raw).Union());
    if (const auto* values = std::get_if<ImageLcg>(&m.content))
      return fbs::CreateImage(b_, m.address, fbs::Content_Lcg, lcg(*values).Union());
    const auto& t = std::get<ImageTensor>(m.content);
    const auto values = lcg(t.values);
    const auto shape = b_.CreateVector(t.shape);
    const auto layout = b_.CreateString(t.layout);
    return fbs::CreateImage(b_, m.address, fbs::Content_TensorValues,
                            fbs::CreateTensorValues(b_, values, shape, layout).Union());
  }
  fb::Offset<fb::Vector<fb::Offset<fbs::Tensor>>> tensors(const std::vector<Tensor>& list) {
    std::vector<fb::Offset<fbs::Tensor>> offsets;
    for (const Tensor& t : list) {
      const auto name = b_.CreateString(t.name);
      const auto shape = b_.CreateVector(t.shape);
      const auto layout = b_.CreateString(t.layout);
      offsets.push_back(
          fbs::CreateTensor(b_, name, t.mesh, t.address, static_cast<std::uint8_t>(t.dtype), shape, layout));
    }
    return b_.CreateVector(offsets);
  }
  fb::Offset<fbs::Needs> needs(const MachineNeeds& n) {
    const auto machine = b_.CreateString(n.machine);
    std::vector<fb::Offset<fbs::UnitNeed>> units;
    for (const UnitNeed& u : n.units) {
      const auto kind = b_.CreateString(u.kind);
      const auto at = node(u.at);
      units.push_back(fbs::CreateUnitNeed(b_, u.mesh, &at, kind, u.tiles, u.l1_a, u.l1_b, u.inst_depth));
    }
    std::vector<fb::Offset<fbs::MemoryNeed>> memory;
    for (const MemoryNeed& m : n.memory) memory.push_back(fbs::CreateMemoryNeed(b_, m.mesh, m.begin, m.end));
    const auto units_offset = b_.CreateVector(units);
    const auto memory_offset = b_.CreateVector(memory);
    return fbs::CreateNeeds(b_, machine, n.fingerprint, n.meshes, n.staging_flits, n.commands, units_offset,
                            memory_offset);
  }

  Any action(const StepRound& s) {
    return {fbs::Action_Round, fbs::CreateRound(b_, b_.CreateString(s.name)).Union()};
  }
  Any action(const StepBaseline& s) {
    std::vector<fbs::Node> nodes;
    for (const Coord c : s.nodes) nodes.push_back(node(c));
    return {fbs::Action_Baseline, fbs::CreateBaseline(b_, b_.CreateVectorOfStructs(nodes)).Union()};
  }
  Any action(const StepStage& s) {
    std::vector<fbs::Flit> flits;
    for (const Flit& f : s.flits) flits.emplace_back(f.w[0], f.w[1], f.w[2], f.w[3], f.w[4]);
    return {fbs::Action_Stage, fbs::CreateStage(b_, s.base, b_.CreateVectorOfStructs(flits)).Union()};
  }
  Any action(const StepCredit& s) { return {fbs::Action_Credit, fbs::CreateCredit(b_, s.seed).Union()}; }
  Any action(const StepKick& s) {
    const auto to = node(s.to);
    return {fbs::Action_Kick, fbs::CreateKick(b_, &to, s.base, s.count).Union()};
  }
  Any action(const StepAwait& s) {
    const auto at = node(s.node);
    return {fbs::Action_Await, fbs::CreateAwait(b_, &at, s.count).Union()};
  }
  Any action(const StepWrite& s) {
    return {fbs::Action_Write, fbs::CreateWrite(b_, s.offset, s.value).Union()};
  }
  Any action(const StepPoll& s) {
    return {fbs::Action_Poll, fbs::CreatePoll(b_, s.offset, s.mask, s.want).Union()};
  }
  Any action(const StepCommands& s) {
    std::vector<fbs::Command> list;
    for (const Command& c : s.commands) list.emplace_back(c.op, c.address, c.data, c.mask);
    return {fbs::Action_Commands, fbs::CreateCommands(b_, b_.CreateVectorOfStructs(list)).Union()};
  }
  Any action(const StepWindow& s) {
    const auto data = bytes(s.data);
    return {fbs::Action_Window, fbs::CreateWindow(b_, s.write, s.address, s.read_bytes, data).Union()};
  }
  Any action(const StepLoad& s) { return {fbs::Action_Load, fbs::CreateLoad(b_, image(s.image)).Union()}; }
  Any action(const StepQuiet& s) { return {fbs::Action_Quiet, fbs::CreateQuiet(b_, s.cycles).Union()}; }
  Any action(const StepRelayout& s) {
    std::vector<fbs::GatherRun> runs;
    for (const GatherRun& g : s.gather) runs.emplace_back(g.source, g.advance, g.count, g.step, g.times);
    const auto gather = b_.CreateVectorOfStructs(runs);
    const auto from = b_.CreateString(s.from_layout);
    const auto to = b_.CreateString(s.to_layout);
    return {fbs::Action_Relayout,
            fbs::CreateRelayout(b_, s.address, s.quiet_cycles, gather, from, to).Union()};
  }
  Any action(const StepReset& s) { return {fbs::Action_Reset, fbs::CreateReset(b_, s.cycles).Union()}; }
  Any action(const StepPeStream& s) {
    const auto at = node(s.node);
    return {fbs::Action_PeStream, fbs::CreatePeStream(b_, &at, s.index, b_.CreateVector(s.data)).Union()};
  }
  Any action(const StepFirmware& s) {
    const auto at = node(s.node);
    return {fbs::Action_Firmware, fbs::CreateFirmware(b_, &at, s.address, b_.CreateVector(s.data)).Union()};
  }

  fb::FlatBufferBuilder b_{1 << 16};
};

}  // namespace

std::vector<std::uint8_t> write_fbs(const Program& program) { return Writer().run(program); }

}  // namespace ktpu::arch
