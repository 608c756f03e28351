// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <map>

#include "arch/encoding/address_map.h"
#include "arch/encoding/mover.h"
#include "arch/encoding/registers.h"
#include "arch/encoding/text.h"
#include "arch/error.h"
#include "arch/program/lexer.h"
#include "arch/program/text.h"
#include "arch/program/vector_listing.h"

namespace ktpu::arch {
namespace {

std::string coord(Coord c) { return fmt::format("({},{})", c.x, c.y); }

std::string shape(const std::vector<std::uint32_t>& s) { return fmt::format("[{}]", fmt::join(s, ",")); }

// A word of the language stands for itself, anything else in quotes.
std::string word_or_string(std::string_view text) {
  const bool plain =
      !text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:+-/") ==
          std::string_view::npos;
  return plain ? std::string(text) : quote(text);
}

void hex_block(std::string& out, const std::vector<std::uint8_t>& bytes) {
  out += " {";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 32 == 0) out += "\n ";
    if (i % 4 == 0) out += ' ';
    fmt::format_to(std::back_inserter(out), "{:02x}", bytes[i]);
  }
  out += "\n}";
}

// Registers of the control agent by name, with an index inside an array of them.
std::string register_name(std::uint32_t offset) {
  for (const Register& r : mover::kRegisters)
    if (offset == r.offset) return std::string(r.name);
  for (const Register& r : agent::kRegisters) {
    if (offset < r.offset || offset >= r.offset + 8 * r.count || offset % 8) continue;
    const std::uint32_t index = (offset - r.offset) / 8;
    if (r.count == 1) return std::string(r.name);
    if (r.offset == agent::kNodeStatus)
      return fmt::format("{}[{}]", r.name, coord(Coord::from_node_byte(index)));
    return fmt::format("{}[{}]", r.name, index);
  }
  return fmt::format("{:#x}", offset);
}

class Disassembler {
 public:
  explicit Disassembler(const Program* p) : p_(p) {
    if (p)
      for (const UnitNeed& u : p->needs.units)
        if (u.kind == "vector_core") vector_nodes_[{u.mesh, u.at.node_byte()}] = true;
  }

  std::string run() {
    const Program& p = *p_;
    out_ += fmt::format("program {}\n", quote(p.name));
    needs(p.needs);
    for (const auto& [m, i] : p.images) {
      out_ += "image ";
      image(i, m);
      out_ += '\n';
    }
    for (const Tensor& t : p.inputs) tensor("input", t);
    for (const Tensor& t : p.outputs) tensor("output", t);
    for (const DebugText& d : p.debug) out_ += fmt::format("debug {} {}\n", quote(d.name), quote(d.text));
    for (index_ = 0; index_ < p.steps.size(); ++index_) {
      const Step& s = p.steps[index_];
      if (std::holds_alternative<StepRound>(s.action)) out_ += '\n';
      one(s);
      out_ += '\n';
    }
    return std::move(out_);
  }

  std::string short_step(const Step& s) {
    brief_ = true;
    one(s);
    return std::move(out_);
  }

 private:
  void one(const Step& s) {
    mesh_ = s.mesh;
    out_ += step_name(s.action);
    std::visit([this](const auto& a) { step(a); }, s.action);
  }
  static std::string mesh_text(unsigned m) { return m ? fmt::format(" mesh={}", m) : std::string(); }
  void mesh() { out_ += mesh_text(mesh_); }
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void bytes(const std::vector<std::uint8_t>& b) {
    if (brief_)
      put(" {{ {} bytes }}", b.size());
    else
      hex_block(out_, b);
  }

  void needs(const MachineNeeds& n) {
    put("machine {}", quote(n.machine));
    if (n.fingerprint) put(" fingerprint={:#x}", n.fingerprint);
    if (n.meshes != 1) put(" meshes={}", n.meshes);
    if (n.staging_flits) put(" staging={}", n.staging_flits);
    if (n.commands) put(" commands={}", n.commands);
    out_ += '\n';
    for (const UnitNeed& u : n.units) {
      put("unit {} {}", word_or_string(u.kind), coord(u.at));
      if (u.tiles) put(" tiles={}", u.tiles);
      if (u.l1_a) put(" l1_a={}", u.l1_a);
      if (u.l1_b) put(" l1_b={}", u.l1_b);
      if (u.inst_depth) put(" inst_depth={}", u.inst_depth);
      put("{}\n", mesh_text(u.mesh));
    }
    for (const MemoryNeed& m : n.memory) put("memory {:#x}..{:#x}{}\n", m.begin, m.end, mesh_text(m.mesh));
  }
  void tensor(std::string_view role, const Tensor& t) {
    put("{} {} {} {} at={:#x} layout={}{}\n", role, word_or_string(t.name), dtype_name(t.dtype),
        shape(t.shape), t.address, word_or_string(t.layout), mesh_text(t.mesh));
  }
  void generator(const ImageLcg& l) {
    put(" seed={} shift={}", l.seed, l.shift);
    if (l.offset != 0) {
      std::array<char, 64> buffer{};  // the shortest digits that read back equal
      const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), l.offset).ptr;
      put(" offset={}", std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data())));
    }
    if (l.abs) out_ += " abs";
  }
  void image(const MemoryImage& m, unsigned mesh_index) {
    put("{:#x}", m.address);
    if (const auto* b = std::get_if<ImageBytes>(&m.content)) {
      out_ += b->data.empty() ? " zeros" : " bytes";
      if (b->size) put(" size={}", b->size);
      out_ += mesh_text(mesh_index);
      if (!b->data.empty()) bytes(b->data);
    } else if (const auto* l = std::get_if<ImageLcg>(&m.content)) {
      put(" lcg count={}", l->count);
      generator(*l);
      out_ += mesh_text(mesh_index);
    } else {
      const auto& t = std::get<ImageTensor>(m.content);
      put(" tensor {} layout={}", shape(t.shape), word_or_string(t.layout));
      generator(t.values);
      out_ += mesh_text(mesh_index);
    }
  }

  void step(const StepRound& s) {
    put(" {}", quote(s.name));
    mesh();
  }
  void step(const StepBaseline& s) {
    for (const Coord c : s.nodes) put(" {}", coord(c));
    mesh();
  }
  // The unit that gets slot `slot`: the first later kick that covers it.
  Dialect dialect(std::uint32_t slot) const {
    if (p_ && !vector_nodes_.empty())
      for (std::size_t i = index_ + 1; i < p_->steps.size(); ++i) {
        const auto* k = std::get_if<StepKick>(&p_->steps[i].action);
        if (!k || p_->steps[i].mesh != mesh_ || slot < k->base || slot - k->base >= k->count) continue;
        return vector_nodes_.contains({mesh_, k->to.node_byte()}) ? Dialect::kVector : Dialect::kCluster;
      }
    return Dialect::kCluster;
  }
  void step(const StepStage& s) {
    put(" {}", s.base);
    mesh();
    if (brief_) {
      put(" {{ {} flits }}", s.flits.size());
      return;
    }
    out_ += " {\n";
    const auto at = [&](std::size_t i) { return dialect(s.base + static_cast<std::uint32_t>(i)); };
    const VectorListing vector(s.flits, [&](std::size_t i) { return at(i) == Dialect::kVector; });
    for (std::size_t i = 0; i < s.flits.size();) {
      if (const std::size_t several = vector.print(i, out_)) {
        i += several;
      } else {
        put("  {}\n", flit_to_text(s.flits[i], at(i)));
        ++i;
      }
    }
    out_ += '}';
  }
  void step(const StepCredit& s) {
    put(" {}", s.seed);
    mesh();
  }
  void step(const StepKick& s) {
    put(" {} slots={}..{}", coord(s.to), s.base, s.base + s.count - 1);
    mesh();
  }
  void step(const StepAwait& s) {
    put(" {} {}", coord(s.node), s.count);
    mesh();
  }
  void step(const StepWrite& s) {
    put(" {} = {:#x}", register_name(s.offset), s.value);
    mesh();
  }
  void step(const StepPoll& s) {
    put(" {}", register_name(s.offset));
    if (s.mask != ~0ull) put(" & {:#x}", s.mask);
    put(" == {:#x}", s.want);
    mesh();
  }
  void step(const StepCommands& s) {
    mesh();
    if (brief_) {
      put(" {{ {} commands }}", s.commands.size());
      return;
    }
    out_ += " {\n";
    for (const Command& c : s.commands) {
      const bool named = (c.address & ~0xFFFFu) == address::kAgentBase;
      const std::string where =
          named ? register_name(c.address & 0xFFFF) : fmt::format("at {:#x}", c.address);
      if (c.op == static_cast<std::uint32_t>(engine::CommandOp::kWrite)) {
        put("  write {} = {:#x}", where, c.data);
        if (c.mask) put(" & {:#x}", c.mask);
      } else if (c.op == static_cast<std::uint32_t>(engine::CommandOp::kPoll)) {
        put("  poll {}", where);
        if (c.mask != ~0ull) put(" & {:#x}", c.mask);
        put(" == {:#x}", c.data);
      } else {
        put("  done {}", c.data);
        if (c.address) put(" at {:#x}", c.address);
        if (c.mask) put(" & {:#x}", c.mask);
      }
      out_ += '\n';
    }
    out_ += '}';
  }
  void step(const StepWindow& s) {
    put(" {} {:#x}", s.write ? "write" : "read", s.address);
    if (const std::uint64_t size = s.write ? s.data.size : s.read_bytes) put(" size={}", size);
    mesh();
    if (s.write && !s.data.data.empty()) bytes(s.data.data);
  }
  void step(const StepLoad& s) {
    out_ += ' ';
    image(s.image, mesh_);
  }
  void step(const StepQuiet& s) {
    put(" {}", s.cycles);
    mesh();
  }
  void step(const StepRelayout& s) {
    put(" {:#x}", s.address);
    if (s.quiet_cycles != StepRelayout{}.quiet_cycles) put(" quiet={}", s.quiet_cycles);
    if (!s.from_layout.empty()) put(" from={}", word_or_string(s.from_layout));
    if (!s.to_layout.empty()) put(" to={}", word_or_string(s.to_layout));
    mesh();
    if (brief_) {
      put(" {{ {} runs }}", s.gather.size());
      return;
    }
    out_ += " {\n";
    for (const GatherRun& g : s.gather) {
      put("  [{}, {}, {}", g.source, g.count, g.step);
      if (g.times != 1 || g.advance) put(", {}, {}", g.times, g.advance);
      out_ += "]\n";
    }
    out_ += '}';
  }
  void step(const StepReset& s) {
    put(" {}", s.cycles);
    mesh();
  }
  void step(const StepPeStream& s) {
    put(" {} index={}", coord(s.node), s.index);
    mesh();
    bytes(s.data);
  }
  void step(const StepFirmware& s) {
    put(" {} at={:#x}", coord(s.node), s.address);
    mesh();
    bytes(s.data);
  }

  const Program* p_;
  std::map<std::pair<unsigned, unsigned>, bool> vector_nodes_;  // mesh and node byte
  std::size_t index_ = 0;
  unsigned mesh_ = 0;
  bool brief_ = false;
  std::string out_;
};

}  // namespace

std::string disassemble(const Program& program) { return Disassembler(&program).run(); }
std::string step_to_text(const Step& step) { return Disassembler(nullptr).short_step(step); }

}  // namespace ktpu::arch
