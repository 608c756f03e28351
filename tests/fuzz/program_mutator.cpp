// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/program_mutator.h"

#include <algorithm>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"
#include "arch/program/fbs_writer.h"
#include "arch/program/program_file.h"

namespace ktpu::fuzz {

namespace {

using namespace arch;

Coord any_node(Random& r) {
  if (r.one_in(4)) return {static_cast<std::uint8_t>(r.bits()), static_cast<std::uint8_t>(r.bits())};
  return {static_cast<std::uint8_t>(r.below(5)), static_cast<std::uint8_t>(r.below(5))};
}

std::uint32_t any_register(Random& r) {
  const Register& reg = agent::kRegisters[r.below(agent::kRegisters.size())];
  if (r.one_in(8)) return static_cast<std::uint32_t>(r.number(reg.offset));
  return reg.offset + 8 * static_cast<std::uint32_t>(r.below(reg.count));
}

template <typename S>
void change_field(Flit& flit, Random& r) {
  S s = unpack<S>(flit);
  const auto& binding = Layout<S>::fields[r.below(Layout<S>::fields.size())];
  binding.write(s, r.number(binding.read(s)));
  pack(flit, s);
}

void change_flit(Flit& flit, Random& r) {
  switch (r.below(8)) {
    case 0:
    case 1:
    case 2:
    case 3:
      change_field<ClusterInst>(flit, r);
      break;
    case 4:  // another kind of flit with a payload of that kind
      flit.set(header::kType, r.below(16));
      r.one_in(2) ? change_field<MemReq>(flit, r) : change_field<CuDataDesc>(flit, r);
      break;
    case 5: {
      const Field& field = header::kFields[r.below(header::kFields.size())];
      flit.set(field, r.bits());
      break;
    }
    case 6:
      flit.w[r.below(5)] ^= 1ull << r.below(64);
      break;
    default:
      flit.w[r.below(4)] = r.number(flit.w[0]);
  }
}

// Writes to the mailbox: a flit of any kind to anywhere, in the middle of whatever runs.
std::vector<Step> mailbox_flit(Random& r) {
  Flit flit = make_flit(any_node(r), any_node(r), static_cast<FlitType>(r.below(16)),
                        static_cast<unsigned>(r.bits()), r.one_in(2), static_cast<unsigned>(r.below(8)));
  for (unsigned w = 0; w < 4; ++w) flit.w[w] = r.number(0);
  if (r.one_in(2)) {
    MemReq request;
    request.addr = r.one_in(2) ? 32 * r.below(4096) : r.number(0) & ((1ull << 40) - 1);
    request.len = static_cast<std::uint32_t>(r.below(10));
    request.flags = static_cast<std::uint32_t>(r.below(8)) << 4;
    request.count = static_cast<std::uint32_t>(r.below(256));
    request.n_peer = static_cast<std::uint32_t>(r.below(4));
    pack(flit, request);
  }
  std::vector<Step> steps;
  for (unsigned w = 0; w < agent::kWordsPerFlit; ++w)
    steps.push_back({0, StepWrite{agent::kTxFlit + 8 * w, flit.w[w]}});
  steps.push_back({0, StepWrite{agent::kTxKick, 1}});
  return steps;
}

void change_image(MemoryImage& image, Random& r) {
  switch (r.below(5)) {
    case 0:
    case 1:
      r.change(image.address);
      break;
    default:
      if (auto* raw = std::get_if<ImageBytes>(&image.content)) {
        if (r.one_in(2))
          r.change(raw->size);
        else
          raw->data.resize(r.below(64));
      } else if (auto* lcg = std::get_if<ImageLcg>(&image.content)) {
        r.one_in(2) ? r.change(lcg->count) : r.change(lcg->shift);
        if (r.one_in(4)) lcg->offset = r.one_in(2) ? 1e300 * 1e300 : -65504.0;
      } else if (auto* tensor = std::get_if<ImageTensor>(&image.content)) {
        if (r.one_in(3))
          tensor->layout = r.one_in(2) ? "tile:9x9:1x1" : "entry:99999999999999x1";
        else if (r.one_in(2) && !tensor->shape.empty())
          r.change(r.pick(tensor->shape));
        else
          r.change(tensor->values.count);
      }
  }
}

struct ChangeStep {
  Random& r;
  void operator()(StepRound& s) { s.name += static_cast<char>(r.bits()); }
  void operator()(StepBaseline& s) {
    if (r.one_in(2) || s.nodes.empty())
      s.nodes.push_back(any_node(r));
    else
      r.pick(s.nodes) = any_node(r);
  }
  void operator()(StepStage& s) {
    if (r.one_in(6)) r.change(s.base);
    if (s.flits.empty()) return;
    if (r.one_in(6)) s.flits.erase(s.flits.begin() + static_cast<std::ptrdiff_t>(r.below(s.flits.size())));
    if (s.flits.empty()) return;
    if (r.one_in(6)) std::swap(r.pick(s.flits), r.pick(s.flits));
    if (r.one_in(6)) s.flits.insert(s.flits.begin(), s.flits[r.below(s.flits.size())]);
    for (std::size_t n = 1 + r.below(3); n > 0; --n) change_flit(r.pick(s.flits), r);
  }
  void operator()(StepCredit& s) { r.change(s.seed); }
  void operator()(StepKick& s) {
    switch (r.below(3)) {
      case 0:
        s.to = any_node(r);
        break;
      case 1:
        r.change(s.base);
        break;
      default:
        r.change(s.count);
    }
  }
  void operator()(StepAwait& s) {
    if (r.one_in(2))
      s.node = any_node(r);
    else
      r.change(s.count);
  }
  void operator()(StepWrite& s) {
    if (r.one_in(2))
      s.offset = any_register(r);
    else
      r.change(s.value);
  }
  void operator()(StepPoll& s) {
    switch (r.below(3)) {
      case 0:
        s.offset = any_register(r);
        break;
      case 1:
        r.change(s.mask);
        break;
      default:
        r.change(s.want);
    }
  }
  void operator()(StepCommands& s) {
    if (s.commands.empty() || r.one_in(4)) {
      s.commands.insert(s.commands.begin() + static_cast<std::ptrdiff_t>(r.below(s.commands.size() + 1)),
                        Command{static_cast<std::uint32_t>(r.below(4)), 0x10000000 + any_register(r),
                                r.number(0), r.number(~0ull)});
      return;
    }
    Command& c = r.pick(s.commands);
    switch (r.below(4)) {
      case 0:
        r.change(c.op);
        break;
      case 1:
        c.address =
            r.one_in(2) ? 0x10000000 + any_register(r) : static_cast<std::uint32_t>(r.number(c.address));
        break;
      case 2:
        r.change(c.data);
        break;
      default:
        r.change(c.mask);
    }
  }
  void operator()(StepWindow& s) { r.one_in(2) ? r.change(s.address) : r.change(s.read_bytes); }
  void operator()(StepLoad& s) { change_image(s.image, r); }
  void operator()(StepQuiet& s) { r.change(s.cycles); }
  void operator()(StepRelayout& s) {
    if (s.gather.empty() || r.one_in(6)) {
      s.gather.push_back({static_cast<std::int64_t>(r.number(0)), 1, 1, 1, 0});
      return;
    }
    GatherRun& g = r.pick(s.gather);
    switch (r.below(7)) {
      case 0:
        r.change(s.address);
        break;
      case 1:
        r.change(s.quiet_cycles);
        break;
      case 2:
        r.change(g.source);
        break;
      case 3:
        r.change(g.count);
        break;
      case 4:
        r.change(g.step);
        break;
      case 5:
        r.change(g.times);
        break;
      default:
        r.change(g.advance);
    }
  }
  void operator()(StepReset& s) { r.change(s.cycles); }
  void operator()(StepPeStream& s) { s.node = any_node(r); }
  void operator()(StepFirmware& s) { r.change(s.address); }
};

void change_needs(MachineNeeds& needs, Random& r) {
  switch (r.below(7)) {
    case 0:
      r.change(needs.meshes);
      break;
    case 1:
      r.change(needs.staging_flits);
      break;
    case 2:
      r.change(needs.commands);
      break;
    case 3:
      if (!needs.units.empty()) {
        UnitNeed& unit = r.pick(needs.units);
        r.one_in(2) ? r.change(unit.tiles) : r.change(unit.l1_b);
        if (r.one_in(4)) unit.at = any_node(r);
        if (r.one_in(4)) unit.kind = "pe";
      }
      break;
    case 4:
      if (!needs.memory.empty()) {
        MemoryNeed& memory = r.pick(needs.memory);
        r.one_in(2) ? r.change(memory.begin) : r.change(memory.end);
        if (r.one_in(4)) r.change(memory.mesh);
      }
      break;
    case 5:
      needs.memory.clear();
      needs.units.clear();
      break;
    default:
      r.change(needs.fingerprint);
  }
}

void change_tensor(std::vector<Tensor>& tensors, Random& r) {
  if (tensors.empty()) return;
  Tensor& t = r.pick(tensors);
  switch (r.below(6)) {
    case 0:
      r.change(t.address);
      break;
    case 1:
      if (!t.shape.empty()) r.change(r.pick(t.shape));
      break;
    case 2:
      t.dtype = static_cast<DType>(r.below(300));
      break;
    case 3:
      t.layout = r.one_in(2) ? "entry:0x0" : "tile:4294967295x4294967295:1x1";
      break;
    case 4:
      t.name.assign(r.below(3), '\x1b');
      break;
    default:
      r.change(t.mesh);
  }
}

}  // namespace

std::vector<std::uint8_t> write_unchecked(const Program& program) {
  static const std::vector<std::uint8_t> kEmpty = serialize_program(Program{});
  const std::size_t body = write_fbs(Program{}).size();
  std::vector<std::uint8_t> bytes = write_fbs(program);
  bytes.insert(bytes.end(), kEmpty.begin() + static_cast<std::ptrdiff_t>(body), kEmpty.end());
  return rehash(std::move(bytes));
}

std::vector<std::uint8_t> mutate_bytes(std::vector<std::uint8_t> bytes,
                                       const std::vector<std::uint8_t>& other, Random& r) {
  for (std::size_t n = 1 + r.below(3); n > 0; --n) {
    if (bytes.size() < 8) return bytes;
    const std::size_t at = r.below(bytes.size());
    switch (r.below(7)) {
      case 0:
        for (std::size_t k = 1 + r.below(6); k > 0; --k) bytes[r.below(bytes.size())] ^= 1u << r.below(8);
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(r.bits());
        break;
      case 2:
        bytes.resize(r.one_in(2) ? at : bytes.size() - std::min<std::size_t>(bytes.size(), 1 + r.below(40)));
        break;
      case 3:
        for (std::size_t k = 1 + r.below(64); k > 0; --k)
          bytes.push_back(static_cast<std::uint8_t>(r.one_in(2) ? 0 : r.bits()));
        break;
      case 4: {  // a number anywhere
        const std::uint64_t value = r.number(0);
        for (std::size_t k = 0, width = 1u << r.below(4); k < width && at + k < bytes.size(); ++k)
          bytes[at + k] = static_cast<std::uint8_t>(value >> (8 * k));
        break;
      }
      case 5: {  // a piece of the file over another piece
        const std::size_t from = r.below(bytes.size()),
                          size = std::min(1 + r.below(128), bytes.size() - std::max(at, from));
        const std::vector<std::uint8_t> piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                              bytes.begin() + static_cast<std::ptrdiff_t>(from + size));
        std::copy(piece.begin(), piece.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      default: {  // the front of one file, the back of another
        const std::size_t cut = std::min(at, other.size());
        bytes.resize(cut);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(cut), other.end());
      }
    }
  }
  return bytes;
}

Program mutate_program(Program p, const Program& other, Random& r) {
  if (r.one_in(3)) {  // nothing that a machine could refuse by name
    p.needs.units.clear();
    p.needs.memory.clear();
    p.needs.staging_flits = 0;
  }
  for (std::size_t n = 1 + r.below(4); n > 0; --n) {
    const std::size_t at = r.below(p.steps.size());
    const auto where = [&](std::size_t index) {
      return p.steps.begin() + static_cast<std::ptrdiff_t>(index);
    };
    switch (p.steps.empty() ? 11 : r.below(16)) {
      case 0:
        p.steps.erase(where(at));
        break;
      case 1:
        p.steps.insert(where(at), p.steps[r.below(p.steps.size())]);
        break;
      case 2:
        std::swap(p.steps[at], r.pick(p.steps));
        break;
      case 3:
        if (!other.steps.empty()) p.steps.insert(where(at), other.steps[r.below(other.steps.size())]);
        break;
      case 4: {
        const std::vector<Step> more = mailbox_flit(r);
        p.steps.insert(where(at), more.begin(), more.end());
        break;
      }
      case 5:
        p.steps.insert(where(at), {0, StepWrite{any_register(r), r.number(1)}});
        break;
      case 6:
        change_needs(p.needs, r);
        break;
      case 7:
        if (!p.images.empty()) {
          auto& image = r.pick(p.images);
          if (r.one_in(8)) r.change(image.first);
          change_image(image.second, r);
        }
        break;
      case 8:
        change_tensor(r.one_in(2) ? p.inputs : p.outputs, r);
        break;
      case 9:
        r.change(p.steps[at].mesh);
        break;
      case 10:  // wherever there are instructions
        for (Step& step : p.steps)
          if (auto* stage = std::get_if<StepStage>(&step.action))
            for (Flit& flit : stage->flits)
              if (r.one_in(3)) change_flit(flit, r);
        break;
      default:
        if (!p.steps.empty()) std::visit(ChangeStep{r}, p.steps[at].action);
    }
  }
  return p;
}

}  // namespace ktpu::fuzz
