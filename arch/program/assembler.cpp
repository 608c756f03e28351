// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "arch/encoding/address_map.h"
#include "arch/encoding/mover.h"
#include "arch/encoding/registers.h"
#include "arch/encoding/text.h"
#include "arch/error.h"
#include "arch/program/text.h"
#include "arch/program/token_reader.h"
#include "arch/program/validate.h"
#include "arch/program/vector_asm.h"
#include "arch/suggest.h"

namespace ktpu::arch {
namespace {

constexpr std::array<std::string_view, 24> kStatements{
    "program",  "machine",  "unit",  "memory", "image",    "input", "output",    "debug",
    "round",    "baseline", "stage", "credit", "kick",     "await", "write",     "poll",
    "commands", "window",   "load",  "quiet",  "relayout", "reset", "pe_stream", "firmware"};

class Assembler : private TokenReader {
 public:
  using TokenReader::TokenReader;

  Program run() {
    while (true) {
      skip_newlines();
      if (peek().kind == Token::Kind::kEnd) break;
      statement();
    }
    try {
      validate(p_);
    } catch (const UserError& e) {
      throw UserError(place_of(e.what()) + e.what());
    }
    return std::move(p_);
  }

 private:
  // "step 3 (kick): ..." of the validator -> the line that made the step.
  std::string place_of(std::string_view message) const {
    for (const auto& [prefix, lines] : lines_)
      if (message.starts_with(prefix)) {
        std::size_t index = 0;
        const std::string_view rest = message.substr(prefix.size());
        std::from_chars(rest.data(), rest.data() + rest.size(), index);
        if (index < lines.size()) return fmt::format("{}:{}:1: ", file_, lines[index]);
      }
    return fmt::format("{}:1:1: ", file_);
  }

  std::vector<std::uint32_t> shape() {
    std::vector<std::uint32_t> s;
    expect('[');
    if (take(']')) return s;
    do s.push_back(number32("a dimension"));
    while (take(','));
    expect(']');
    return s;
  }
  // first..last, both included
  std::pair<std::uint64_t, std::uint64_t> range(std::string_view what) {
    const Token& t = peek();
    const std::string text = word(what);
    const std::size_t dots = text.find("..");
    std::uint64_t a = 0, b = 0;
    if (dots == std::string::npos || !parse_number(std::string_view(text).substr(0, dots), a) ||
        !parse_number(std::string_view(text).substr(dots + 2), b))
      fail(t, fmt::format("{} expected as FIRST..LAST, not \"{}\"", what, text));
    return {a, b};
  }
  // Options of a statement: key=value or bare key; each handler reads its value.
  using Options = std::map<std::string_view, std::function<void()>>;
  void options(const Options& known) {
    std::vector<std::string> seen;
    while (peek().kind == Token::Kind::kWord) {
      const Token& t = peek();
      const auto it = known.find(t.text);
      if (it == known.end()) {
        std::vector<std::string_view> names;
        for (const auto& k : known) names.push_back(k.first);
        fail(t, fmt::format("\"{}\" is not known here (allowed: {}){}", t.text, fmt::join(names, ", "),
                            did_you_mean(t.text, names)));
      }
      if (std::find(seen.begin(), seen.end(), t.text) != seen.end())
        fail(t, fmt::format("\"{}\" is given twice", t.text));
      seen.push_back(t.text);
      next();
      it->second();
    }
  }
  std::function<void()> value(std::uint32_t& to) {
    return [this, &to] {
      expect('=');
      to = number32("a value");
    };
  }
  std::function<void()> value(std::uint64_t& to) {
    return [this, &to] {
      expect('=');
      to = number("a value");
    };
  }
  std::function<void()> mesh_option(std::uint8_t& to) {
    return [this, &to] {
      expect('=');
      to = static_cast<std::uint8_t>(number("the mesh", 255));
    };
  }
  std::vector<std::uint8_t> hex_block() {
    std::vector<std::uint8_t> bytes;
    open_block();
    while (!take('}')) {
      const Token& t = peek();
      const std::string digits = word("hex digits or '}'");
      if (digits.size() % 2) fail(t, "hex bytes need two digits each");
      for (std::size_t i = 0; i < digits.size(); i += 2) {
        std::uint8_t b = 0;
        const char* end = digits.data() + i + 2;
        if (std::from_chars(digits.data() + i, end, b, 16).ptr != end)
          fail(t, fmt::format("\"{}\" is no hex byte", digits.substr(i, 2)));
        bytes.push_back(b);
      }
      skip_newlines();
    }
    return bytes;
  }
  std::uint32_t agent_register() {
    const Token& t = peek();
    const std::string name = word("a register");
    std::uint64_t offset = 0;
    if (parse_number(name, offset)) {
      if (offset > 0xFFFF) fail(t, fmt::format("register offset {} is above 0xffff", name));
      return static_cast<std::uint32_t>(offset);
    }
    std::vector<std::string_view> names;
    for (const Register& r : mover::kRegisters) {
      names.push_back(r.name);
      if (r.name == name) return r.offset;
    }
    for (const Register& r : agent::kRegisters) {
      names.push_back(r.name);
      if (r.name != name) continue;
      std::uint64_t index = 0;
      if (take('[')) {
        if (r.offset == agent::kNodeStatus && peek().is('('))
          index = coord().node_byte();
        else
          index = number("an index", r.count - 1);
        expect(']');
      }
      return r.offset + 8 * static_cast<std::uint32_t>(index);
    }
    fail(t, fmt::format("the control agent has no register \"{}\"{}", name, did_you_mean(name, names)));
  }

  // --- statements
  void statement() {
    const Token& t = peek();
    const std::string name = word("a statement");
    step_mesh_ = 0;
    if (name == "program") {
      p_.name = string("the name");
    } else if (name == "machine") {
      machine();
    } else if (name == "unit") {
      unit();
    } else if (name == "memory") {
      MemoryNeed m;
      std::tie(m.begin, m.end) = range("addresses");
      options({{"mesh", mesh_option(m.mesh)}});
      p_.needs.memory.push_back(m);
    } else if (name == "image") {
      lines_["image "].push_back(t.line);
      std::uint8_t mesh = 0;
      MemoryImage m = image(mesh);
      p_.images.emplace_back(mesh, std::move(m));
    } else if (name == "input" || name == "output") {
      lines_[name + " "].push_back(t.line);
      (name == "input" ? p_.inputs : p_.outputs).push_back(tensor());
    } else if (name == "debug") {
      std::string key = string("the name");
      p_.debug.push_back({std::move(key), string("the text")});
    } else {
      lines_["step "].push_back(t.line);
      Action action = step(t, name);
      p_.steps.push_back({step_mesh_, std::move(action)});
    }
    end_of_line();
  }

  void machine() {
    MachineNeeds& n = p_.needs;
    n.machine = string("the machine's name");
    options({{"fingerprint", value(n.fingerprint)},
             {"meshes", value(n.meshes)},
             {"staging", value(n.staging_flits)},
             {"commands", value(n.commands)}});
  }
  void unit() {
    UnitNeed u;
    u.kind = peek().kind == Token::Kind::kString ? next().text : word("the unit's kind");
    u.at = coord();
    options({{"tiles", value(u.tiles)},
             {"l1_a", value(u.l1_a)},
             {"l1_b", value(u.l1_b)},
             {"inst_depth", value(u.inst_depth)},
             {"mesh", mesh_option(u.mesh)}});
    p_.needs.units.push_back(std::move(u));
  }
  std::function<void()> layout_option(std::string& to) {
    return [this, &to] {
      expect('=');
      to = peek().kind == Token::Kind::kString ? next().text : word("a layout");
    };
  }
  Tensor tensor() {
    Tensor t;
    t.name = peek().kind == Token::Kind::kString ? next().text : word("the name");
    const Token& type = peek();
    const std::string type_name = word("the data type");
    const auto dtype = dtype_from_name(type_name);
    if (!dtype) {
      std::vector<std::string_view> names;
      for (std::size_t i = 0; i < kDTypes; ++i) names.push_back(dtype_name(static_cast<DType>(i)));
      fail(type, fmt::format("\"{}\" is no data type (fp16 fp32 u8 u16 u32 i8 i16 i32 mxfp7){}", type_name,
                             did_you_mean(type_name, names)));
    }
    t.dtype = *dtype;
    t.shape = shape();
    options({{"at", value(t.address)}, {"layout", layout_option(t.layout)}, {"mesh", mesh_option(t.mesh)}});
    return t;
  }
  // ADDRESS zeros size=N | bytes [size=N] { hex } | lcg count=N ... | tensor [shape] layout=... ...
  MemoryImage image(std::uint8_t& mesh) {
    MemoryImage m;
    m.address = number("the address");
    const Token& t = peek();
    const std::string kind = word("zeros, bytes, lcg or tensor");
    if (kind == "zeros" || kind == "bytes") {
      ImageBytes b;
      options({{"size", value(b.size)}, {"mesh", mesh_option(mesh)}});
      if (kind == "bytes") b.data = hex_block();
      m.content = std::move(b);
    } else if (kind == "lcg" || kind == "tensor") {
      ImageTensor x;
      if (kind == "tensor") x.shape = shape();
      ImageLcg& l = x.values;
      Options o{{"seed", value(l.seed)},
                {"shift", value(l.shift)},
                {"offset",
                 [&] {
                   expect('=');
                   l.offset = real("the offset");
                 }},
                {"abs", [&] { l.abs = true; }},
                {"mesh", mesh_option(mesh)}};
      o[kind == "lcg" ? "count" : "layout"] = kind == "lcg" ? value(l.count) : layout_option(x.layout);
      options(o);
      if (kind == "lcg") {
        m.content = l;
      } else {
        l.count = 1;
        for (const std::uint32_t d : x.shape)
          l.count = d && l.count > kMaxImageBytes / d ? kMaxImageBytes + 1 : l.count * d;
        m.content = std::move(x);
      }
    } else {
      fail(t, fmt::format("\"{}\" is no kind of contents; use zeros, bytes, lcg or tensor", kind));
    }
    return m;
  }

  Action step(const Token& t, const std::string& name) {
    const auto mesh_only = Options{{"mesh", mesh_option(step_mesh_)}};
    if (name == "round") {
      StepRound s{string("the name")};
      options(mesh_only);
      return s;
    }
    if (name == "baseline") {
      StepBaseline s;
      while (peek().is('(')) s.nodes.push_back(coord());
      options(mesh_only);
      return s;
    }
    if (name == "stage") {
      StepStage s{number32("the first slot"), {}};
      options(mesh_only);
      open_block();
      VectorAsm vector(*this);
      while (!take('}')) {
        if (!vector.statement(s.flits)) s.flits.push_back(flit());
        skip_newlines();
      }
      return s;
    }
    if (name == "credit") {
      StepCredit s{number32("the seed")};
      options(mesh_only);
      return s;
    }
    if (name == "kick") return kick();
    if (name == "await") {
      StepAwait s{coord(), 0};
      s.count = number32("the count");
      options(mesh_only);
      return s;
    }
    if (name == "write") {
      StepWrite s{agent_register(), 0};
      expect('=');
      s.value = number("the value");
      options(mesh_only);
      return s;
    }
    if (name == "poll") {
      StepPoll s;
      s.offset = agent_register();
      if (take('&')) s.mask = number("the mask");
      expect('=');
      expect('=');
      s.want = number("the value");
      options(mesh_only);
      return s;
    }
    if (name == "commands") {
      StepCommands s;
      options(mesh_only);
      open_block();
      while (!take('}')) {
        s.commands.push_back(command());
        end_of_line();
        skip_newlines();
      }
      return s;
    }
    if (name == "window") return window();
    if (name == "load") return StepLoad{image(step_mesh_)};
    if (name == "quiet") {
      StepQuiet s{number32("cycles")};
      options(mesh_only);
      return s;
    }
    if (name == "relayout") return relayout();
    if (name == "reset") {
      StepReset s{number32("cycles")};
      options(mesh_only);
      return s;
    }
    if (name == "pe_stream") {
      StepPeStream s{coord(), 0, {}};
      options({{"index", value(s.index)}, {"mesh", mesh_option(step_mesh_)}});
      s.data = hex_block();
      return s;
    }
    if (name == "firmware") {
      StepFirmware s{coord(), 0, {}};
      options({{"at", value(s.address)}, {"mesh", mesh_option(step_mesh_)}});
      s.data = hex_block();
      return s;
    }
    const std::string hint = did_you_mean(name, kStatements);
    fail(t, is_flit_mnemonic(name) ? fmt::format("the instruction \"{}\" stands outside a stage block", name)
                                   : fmt::format("\"{}\" is no statement{}", name, hint));
  }

  Flit flit() {
    const Token& t = peek();
    const std::string mnemonic = word("an instruction or '}'");
    std::vector<TextArg> args;
    std::vector<const Token*> places;
    while (peek().kind == Token::Kind::kWord) {
      const Token& key = next();
      TextArg a{key.text, {}, args.size() + 1};
      if (take('=')) {
        if (peek().is('(')) {
          const Coord c = coord();
          a.value = fmt::format("({},{})", c.x, c.y);
        } else {
          a.value = word("a value");
        }
      }
      args.push_back(std::move(a));
      places.push_back(&key);
    }
    if (peek().kind != Token::Kind::kNewline && !peek().is('}'))
      fail(peek(), fmt::format("a field expected, not {}", shown(peek())));
    try {
      return flit_from_text(mnemonic, args);
    } catch (const TextProblem& problem) {
      fail(problem.column ? *places[problem.column - 1] : t, problem.message);
    }
  }

  StepKick kick() {
    StepKick s{coord(), 0, 0};
    options({{"slots",
              [&] {
                expect('=');
                const Token& t = peek();
                const auto [first, last] = range("slots");
                if (last < first || last > 0xFFFF)
                  fail(t, fmt::format("slots {}..{} are no range", first, last));
                s.base = static_cast<std::uint32_t>(first);
                s.count = static_cast<std::uint32_t>(last - first + 1);
              }},
             {"mesh", mesh_option(step_mesh_)}});
    return s;
  }

  // write REGISTER = n | poll REGISTER & mask == n | done n
  Command command() {
    Command c;
    const Token& t = peek();
    const std::string op = word("write, poll or done");
    if (op == "done") {
      c.op = static_cast<std::uint32_t>(engine::CommandOp::kDone);
      c.data = number("the code");
      if (take_word("at")) c.address = number32("the address");
      if (take('&')) c.mask = number("the mask");
      return c;
    }
    if (op != "write" && op != "poll")
      fail(t, fmt::format("\"{}\" is no command; use write, poll or done", op));
    // `at ADDRESS` is absolute; a register name or bare offset means the control agent's.
    c.address = take_word("at") ? number32("the address") : address::kAgentBase + agent_register();
    if (op == "poll") {
      c.op = static_cast<std::uint32_t>(engine::CommandOp::kPoll);
      c.mask = take('&') ? number("the mask") : ~0ull;
      expect('=');
    } else {
      c.op = static_cast<std::uint32_t>(engine::CommandOp::kWrite);
    }
    expect('=');
    c.data = number("the value");
    if (op == "write" && take('&')) c.mask = number("the mask");
    return c;
  }

  StepWindow window() {
    StepWindow s;
    const Token& t = peek();
    const std::string what = word("read or write");
    if (what != "read" && what != "write")
      fail(t, fmt::format("\"{}\": use window read or window write", what));
    s.write = what == "write";
    s.address = number("the address");
    options({{"size", value(s.write ? s.data.size : s.read_bytes)}, {"mesh", mesh_option(step_mesh_)}});
    if (s.write && peek().is('{')) s.data.data = hex_block();
    return s;
  }

  StepRelayout relayout() {
    StepRelayout s;
    s.address = number("the address");
    options({{"quiet", value(s.quiet_cycles)},
             {"from", layout_option(s.from_layout)},
             {"to", layout_option(s.to_layout)},
             {"mesh", mesh_option(step_mesh_)}});
    open_block();
    while (!take('}')) {
      GatherRun g;
      expect('[');
      g.source = signed_number("the source");
      expect(',');
      g.count = number32("the count");
      expect(',');
      const Token& t = peek();
      const std::int64_t step = signed_number("the step");
      if (step != static_cast<std::int32_t>(step)) fail(t, "the step does not fit 32 bits");
      g.step = static_cast<std::int32_t>(step);
      if (take(',')) {
        g.times = number32("times");
        expect(',');
        g.advance = signed_number("the advance");
      }
      expect(']');
      s.gather.push_back(g);
      skip_newlines();
    }
    return s;
  }

  std::uint8_t step_mesh_ = 0;
  std::map<std::string, std::vector<int>> lines_;  // validator's prefix -> line of each item
  Program p_;
};

}  // namespace

Program assemble(std::string_view text, std::string_view file_name) {
  return Assembler(text, file_name).run();
}

}  // namespace ktpu::arch
