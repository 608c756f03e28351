// SPDX-License-Identifier: Apache-2.0
#include "arch/program/fbs_reader.h"

#include "arch/error.h"
#include "arch/program/program_generated.h"

namespace ktpu::arch {
namespace {

namespace fb = flatbuffers;

// Enough for any real program, and no quadratic work on a hostile one (the default of a million tables is too
// few).
constexpr fb::uoffset_t kMaxTables = 64u << 20;
constexpr fb::uoffset_t kMaxDepth = 16;

// Says which part of a buffer that failed verification is the damaged one.
template <class T>
bool part_ok(fb::Verifier& v, const fb::Table& root, fb::voffset_t field, std::string_view name,
             std::string& bad) {
  if (!root.VerifyOffset(v, field)) {
    bad = name;
    return false;
  }
  const auto* list = root.GetPointer<const fb::Vector<fb::Offset<T>>*>(field);
  if (!list) return true;
  if (!v.VerifyVector(list)) {
    bad = name;
    return false;
  }
  for (fb::uoffset_t i = 0; i < list->size(); ++i)
    if (!list->Get(i)->Verify(v)) {
      bad = fmt::format("{}[{}]", name, i);
      return false;
    }
  return true;
}

std::string damaged_part(const std::vector<std::uint8_t>& body) {
  fb::Verifier v(body.data(), body.size(), kMaxDepth, kMaxTables);
  const fb::uoffset_t root_offset = fb::ReadScalar<fb::uoffset_t>(body.data());
  if (root_offset < 8 || root_offset >= body.size()) return "root";
  const auto& root = *fb::GetRoot<fb::Table>(body.data());
  if (!root.VerifyTableStart(v)) return "root";
  using P = fbs::Program;
  if (!root.VerifyOffset(v, P::VT_NAME) || !v.VerifyString(root.GetPointer<const fb::String*>(P::VT_NAME)))
    return "name";
  const auto* needs =
      root.VerifyOffsetRequired(v, P::VT_NEEDS) ? root.GetPointer<const fbs::Needs*>(P::VT_NEEDS) : nullptr;
  if (!needs || !needs->Verify(v)) return "needs";
  std::string bad;
  if (part_ok<fbs::PlacedImage>(v, root, P::VT_IMAGES, "images", bad) &&
      part_ok<fbs::Tensor>(v, root, P::VT_INPUTS, "inputs", bad) &&
      part_ok<fbs::Tensor>(v, root, P::VT_OUTPUTS, "outputs", bad) &&
      part_ok<fbs::Step>(v, root, P::VT_STEPS, "steps", bad) &&
      part_ok<fbs::DebugText>(v, root, P::VT_DEBUG, "debug", bad))
    return "root";
  return bad;
}

class Reader {
 public:
  explicit Reader(std::size_t file_bytes) : left_(file_bytes) {}

  Program run(const fbs::Program& f) {
    Program p;
    at_ = "name";
    p.name = text(f.name());
    at_ = "needs";
    p.needs = needs(*f.needs());
    each(f.images(), "images",
         [&](const fbs::PlacedImage& i) { p.images.emplace_back(i.mesh(), image(*i.image())); });
    each(f.inputs(), "inputs", [&](const fbs::Tensor& t) { p.inputs.push_back(tensor(t)); });
    each(f.outputs(), "outputs", [&](const fbs::Tensor& t) { p.outputs.push_back(tensor(t)); });
    each(f.steps(), "steps", [&](const fbs::Step& s) { p.steps.push_back({s.mesh(), action(s)}); });
    each(f.debug(), "debug", [&](const fbs::DebugText& d) {
      p.debug.push_back({text(d.name()), text(d.text())});
    });
    return p;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw UserError::make("{}: {}", at_, what); }

  // A file whose tables share contents could unfold to far more than its size; no writer makes such a file.
  void charge(std::size_t bytes) {
    if (bytes > left_) fail("the file's tables overlap");
    left_ -= bytes;
  }
  template <class T, class F>
  void each(const fb::Vector<fb::Offset<T>>* list, std::string_view name, F&& f) {
    if (!list) return;
    for (fb::uoffset_t i = 0; i < list->size(); ++i) {
      at_ = fmt::format("{}[{}]", name, i);
      f(*list->Get(i));
    }
  }
  std::string text(const fb::String* s) {
    if (!s) return {};
    charge(s->size());
    return s->str();
  }
  template <class T>
  std::vector<T> scalars(const fb::Vector<T>* v) {
    if (!v) return {};
    charge(std::size_t{v->size()} * sizeof(T));
    return {v->begin(), v->end()};
  }
  template <class Out, class In, class F>
  std::vector<Out> structs(const fb::Vector<const In*>* v, F&& convert) {
    std::vector<Out> out;
    if (!v) return out;
    charge(std::size_t{v->size()} * sizeof(In));
    out.reserve(v->size());
    for (const In* s : *v) out.push_back(convert(*s));
    return out;
  }
  static Coord coord(const fbs::Node& n) { return {n.x(), n.y()}; }

  ImageBytes bytes(const fbs::Bytes& b) { return {scalars(b.data()), b.size()}; }
  static ImageLcg lcg(const fbs::Lcg& l) { return {l.count(), l.seed(), l.shift(), l.offset(), l.abs()}; }
  MemoryImage image(const fbs::Image& i) {
    MemoryImage m;
    m.address = i.address();
    if (const auto* b = i.content_as_Bytes())
      m.content = bytes(*b);
    else if (const auto* l = i.content_as_Lcg())
      m.content = lcg(*l);
    else if (const auto* t = i.content_as_TensorValues())
      m.content = ImageTensor{lcg(*t->values()), scalars(t->shape()), text(t->layout())};
    else
      fail("the kind of image contents is not known to this build");
    return m;
  }
  Tensor tensor(const fbs::Tensor& t) {
    return {text(t.name()),     t.mesh(),        t.address(), static_cast<DType>(t.dtype()),
            scalars(t.shape()), text(t.layout())};
  }
  MachineNeeds needs(const fbs::Needs& n) {
    MachineNeeds out;
    out.machine = text(n.machine());
    out.fingerprint = n.fingerprint();
    out.meshes = n.meshes();
    out.staging_flits = n.staging_flits();
    out.commands = n.commands();
    each(n.units(), "needs.units", [&](const fbs::UnitNeed& u) {
      out.units.push_back(
          {u.mesh(), coord(*u.at()), text(u.kind()), u.tiles(), u.l1_a(), u.l1_b(), u.inst_depth()});
    });
    each(n.memory(), "needs.memory", [&](const fbs::MemoryNeed& m) {
      out.memory.push_back({m.mesh(), m.begin(), m.end()});
    });
    return out;
  }

  Action action(const fbs::Step& s) {
    switch (s.action_type()) {
      case fbs::Action_Round:
        return StepRound{text(s.action_as_Round()->name())};
      case fbs::Action_Baseline:
        return StepBaseline{structs<Coord>(s.action_as_Baseline()->nodes(), coord)};
      case fbs::Action_Stage: {
        const auto& a = *s.action_as_Stage();
        return StepStage{a.base(), structs<Flit>(a.flits(), [](const fbs::Flit& f) {
                           return Flit{{f.w0(), f.w1(), f.w2(), f.w3(), f.header()}};
                         })};
      }
      case fbs::Action_Credit:
        return StepCredit{s.action_as_Credit()->seed()};
      case fbs::Action_Kick: {
        const auto& a = *s.action_as_Kick();
        return StepKick{coord(*a.to()), a.base(), a.count()};
      }
      case fbs::Action_Await: {
        const auto& a = *s.action_as_Await();
        return StepAwait{coord(*a.node()), a.count()};
      }
      case fbs::Action_Write: {
        const auto& a = *s.action_as_Write();
        return StepWrite{a.offset(), a.value()};
      }
      case fbs::Action_Poll: {
        const auto& a = *s.action_as_Poll();
        return StepPoll{a.offset(), a.mask(), a.want()};
      }
      case fbs::Action_Commands:
        return StepCommands{structs<Command>(s.action_as_Commands()->commands(), [](const fbs::Command& c) {
          return Command{c.op(), c.address(), c.data(), c.mask()};
        })};
      case fbs::Action_Window: {
        const auto& a = *s.action_as_Window();
        return StepWindow{a.write(), a.address(), a.read_bytes(), a.data() ? bytes(*a.data()) : ImageBytes{}};
      }
      case fbs::Action_Load:
        return StepLoad{image(*s.action_as_Load()->image())};
      case fbs::Action_Quiet:
        return StepQuiet{s.action_as_Quiet()->cycles()};
      case fbs::Action_Relayout: {
        const auto& a = *s.action_as_Relayout();
        return StepRelayout{
            a.address(), a.quiet_cycles(),
            structs<GatherRun>(a.gather(),
                               [](const fbs::GatherRun& g) {
                                 return GatherRun{g.source(), g.count(), g.step(), g.times(), g.advance()};
                               }),
            text(a.from_layout()), text(a.to_layout())};
      }
      case fbs::Action_Reset:
        return StepReset{s.action_as_Reset()->cycles()};
      case fbs::Action_PeStream: {
        const auto& a = *s.action_as_PeStream();
        return StepPeStream{coord(*a.node()), a.index(), scalars(a.data())};
      }
      case fbs::Action_Firmware: {
        const auto& a = *s.action_as_Firmware();
        return StepFirmware{coord(*a.node()), a.address(), scalars(a.data())};
      }
      case fbs::Action_NONE:
        break;
    }
    fail(fmt::format("step kind {} is not known to this build", static_cast<unsigned>(s.action_type())));
  }

  std::string at_;
  std::size_t left_;
};

}  // namespace

Program read_fbs(const std::vector<std::uint8_t>& body) {
  fb::Verifier verifier(body.data(), body.size(), kMaxDepth, kMaxTables);
  if (!fbs::VerifyProgramBuffer(verifier))
    throw UserError::make("{}: damaged (an offset or length leads out of the file)", damaged_part(body));
  return Reader(body.size()).run(*fbs::GetProgram(body.data()));
}

}  // namespace ktpu::arch
