// SPDX-License-Identifier: Apache-2.0
// Print and parse. An instruction is its mnemonic and the fields of its layout table that differ from their
// defaults; what a vector instruction means stands behind it as a comment.
#include <algorithm>
#include <array>

#include "arch/encoding/layout.h"
#include "arch/formats/dtype.h"
#include "arch/program/vector_place.h"
#include "arch/program/vector_text.h"
#include "compiler/base/text_reader.h"
#include "compiler/program/unit_program.h"

namespace ktpu::program {
namespace {

using base::name_text;

template <class Inst>
struct Mnemonics;
template <>
struct Mnemonics<arch::ClusterInst> {
  static constexpr std::array<std::string_view, 4> names{"cluster", "fill", "gemm", "drain"};
};
template <>
struct Mnemonics<arch::VectorInst> {
  static constexpr std::array<std::string_view, 4> names{"vector", "imem", "desc", "run"};
};

// " name value" for every field that the opcode always has a word for, or that is not as it begins.
template <class Inst>
std::string fields_text(const Inst& inst) {
  constexpr std::size_t kOps = Mnemonics<Inst>::names.size();
  const std::size_t mnemonic = inst.op < kOps ? inst.op : 0;
  std::string text(Mnemonics<Inst>::names[mnemonic]);
  static constexpr Inst kDefault{};
  for (const auto& field : arch::Layout<Inst>::fields) {
    if (field.shift != 0) continue;  // the upper part of one that was there already
    const std::uint64_t value = field.read(inst);
    if (field.format == arch::Format::kOp ? mnemonic != 0 : value == field.read(kDefault)) continue;
    text += field.format == arch::Format::kHex ? fmt::format(" {} {:#x}", field.field.name, value)
                                               : fmt::format(" {} {}", field.field.name, value);
  }
  return text;
}

template <class Inst>
Inst read_instruction(base::TextReader& in) {
  const std::size_t place = in.place();
  const std::string mnemonic = in.word("an instruction or '}'");
  const auto& names = Mnemonics<Inst>::names;
  const auto found = std::find(names.begin(), names.end(), mnemonic);
  if (found == names.end())
    in.fail_at(place, fmt::format("one of {} expected, not \"{}\"", fmt::join(names, ", "), mnemonic));
  Inst inst;
  inst.op = static_cast<std::uint32_t>(found - names.begin());
  for (bool more = true; more;) {
    more = false;
    for (const auto& field : arch::Layout<Inst>::fields) {
      if (field.shift != 0 || !in.take_word(field.field.name)) continue;
      field.write(inst, in.number(field.field.name, field.narrow != nullptr ? 0xFFFFFFFF : ~0ull));
      more = true;
    }
  }
  return inst;
}

std::string comment(const std::string& text) { return text.empty() ? text : "  # " + text; }

// What becomes of results that are too large for the format they are stored in.
std::string store_note(const arch::ClusterInst& inst) {
  const bool stores = inst.is(arch::ClusterOp::kDrain) || (inst.is(arch::ClusterOp::kGemm) && inst.emit != 0);
  return stores ? arch::saturation_note(arch::kMatmulResultType, arch::NumberType::kFp16) : std::string();
}
std::string store_note(std::uint32_t word, const arch::VectorPlace& place) {
  const arch::VectorWord w = arch::decode_vector_word(word);
  if (place.constant() || place.stage() != 0 || w.opcode() != arch::VectorOpcode::kVst) return {};
  return arch::saturation_note(arch::kLaneType, arch::number_type(static_cast<arch::VectorType>(w.dtype)));
}

class Printer {
 public:
  std::string run(const Program& program) {
    put("program {} {{\n", name_text('@', program.name));
    for (const Stage& s : program.stages) stage(s);
    put("}}\n");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void stage(const Stage& s) {
    put("  stage {}{}{} {{\n", s.unit == UnitType::kCluster ? "MG" : "VC", s.feeds_next ? " feeds_next" : "",
        s.waits ? " waits" : "");
    for (const Relayout& r : s.before)
      put("    relayout {} {}\n", name_text('%', r.buffer), base::relayout_text(r));
    for (const Instance& i : s.instances) {
      put("    instance ({})", fmt::join(i.key, ", "));
      if (i.acks != 0) put(" acks {}", i.acks);
      put(" {{\n");
      std::visit([this](const auto& steps) { list(steps); }, i.steps);
      put("    }}\n");
    }
    put("  }}\n");
  }
  void list(const std::vector<ClusterStep>& steps) {
    for (const ClusterStep& step : steps)
      put("      {}{}{}\n", fields_text(step.inst), step.to_next ? " to_next" : "",
          comment(store_note(step.inst)));
  }
  void list(const std::vector<VectorStep>& steps) {
    arch::VectorPlace place;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::string meaning;
      if (steps[i].is(arch::VectorOp::kImem)) {
        const std::uint32_t next = i + 1 < steps.size() ? steps[i + 1].word : 0;
        if (steps[i].addr == 0) place = {};
        meaning = arch::vector_word_to_text(steps[i].word, place, {}, next);
        if (const std::string note = store_note(steps[i].word, place); !note.empty())
          meaning += fmt::format(" ({})", note);
        place.feed(steps[i].word);
      } else if (steps[i].is(arch::VectorOp::kDesc)) {
        meaning = arch::descriptor_field_to_text(steps[i]);
      }
      put("      {}{}\n", fields_text(steps[i]), comment(meaning));
    }
  }

  std::string out_;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Program run() {
    Program program;
    in_.skip_lines();
    in_.expect_word("program");
    program.name = in_.name('@', "the program");
    in_.open_block();
    while (in_.take_word("stage")) program.stages.push_back(stage());
    if (!in_.close_block()) in_.fail(fmt::format("a stage or '}}' expected, not {}", in_.shown()));
    in_.end_of_text();
    return program;
  }

 private:
  Stage stage() {
    Stage s;
    const std::size_t place = in_.place();
    const std::string unit = in_.word("a unit");
    if (unit != "MG" && unit != "VC") in_.fail_at(place, "a unit is MG or VC");
    s.unit = unit == "MG" ? UnitType::kCluster : UnitType::kVector;
    s.feeds_next = in_.take_word("feeds_next");
    s.waits = in_.take_word("waits");
    in_.open_block();
    while (in_.take_word("relayout")) s.before.push_back(relayout());
    while (in_.take_word("instance")) s.instances.push_back(instance(s.unit));
    if (!in_.close_block()) in_.fail(fmt::format("an instance or '}}' expected, not {}", in_.shown()));
    return s;
  }
  Relayout relayout() {
    Relayout r;
    r.buffer = in_.name('%', "a buffer");
    base::read_relayout(in_, r);
    return r;
  }
  Instance instance(UnitType unit) {
    Instance i;
    i.key = in_.key();
    if (in_.take_word("acks")) i.acks = in_.number32("the acknowledgements");
    in_.open_block();
    if (unit == UnitType::kCluster) {
      std::vector<ClusterStep> steps;
      while (!in_.close_block()) {
        steps.push_back({read_instruction<arch::ClusterInst>(in_), false});
        steps.back().to_next = in_.take_word("to_next");
        in_.end_of_line();
      }
      i.steps = std::move(steps);
    } else {
      std::vector<VectorStep> steps;
      while (!in_.close_block()) {
        steps.push_back(read_instruction<arch::VectorInst>(in_));
        in_.end_of_line();
      }
      i.steps = std::move(steps);
    }
    return i;
  }

  base::TextReader in_;
};

}  // namespace

std::string print(const Program& program) { return Printer().run(program); }
Program parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace ktpu::program
