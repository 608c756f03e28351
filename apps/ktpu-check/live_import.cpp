// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/live_import.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/live_machine.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/codes.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "arch/program/host_writes.h"
#include "arch/program/image.h"
#include "arch/program/relayout.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::check {

using arch::Coord;
using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::uint32_t kRelayoutQuiet = 256;
constexpr std::int64_t kMaxExtent = 1 << 24;

std::uint64_t address_of(const json& value) { return hex_value(value, "addresses", 40); }

Coord coord_at(const json& list, std::size_t first) {
  return {static_cast<std::uint8_t>(integer(list.at(first), "x", 0, 15)),
          static_cast<std::uint8_t>(integer(list.at(first + 1), "y", 0, 15))};
}

void put(std::vector<std::uint8_t>& bytes, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

std::vector<std::uint8_t> little_endian(std::span<const std::uint16_t> halves) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * halves.size());
  for (const std::uint16_t half : halves) put(bytes, half, 2);
  return bytes;
}

arch::ImageLcg generator_of(const json& lcg, std::uint64_t count) {
  arch::ImageLcg g;
  g.count = count;
  g.seed = static_cast<std::uint32_t>(integer(member(lcg, "seed"), "seed", 0, UINT32_MAX));
  g.shift = static_cast<std::uint32_t>(integer(member(lcg, "shift"), "shift", 0, 31));
  g.offset = member(lcg, "offset").get<double>();
  g.abs = member(lcg, "abs").get<bool>();
  return g;
}

// A staged flit: the recorded word under a header of type CU_INST; vector words bring their transaction
// number in the bits above the payload (README "Word format").
arch::Flit staged_flit(const json& word, bool last) {
  arch::Flit flit;
  hex_words(word, "flits", arch::kFlitBits, flit.w.data());
  flit.w[4] |= arch::make_header({}, {}, arch::FlitType::kCuInst, 0, last);
  return flit;
}

// How the values of a buffer lie in it. Batch blocks stand apart: a buffer with several orders has the stride
// of the widest (compiler.md section 16), which no key tells, but the buffer's size does.
arch::TensorLayout order_of(std::string_view key, const std::vector<std::uint32_t>& shape,
                            std::uint64_t buffer_bytes) {
  constexpr std::string_view kBatch = "batch";
  std::uint64_t count = 1;
  if (key.starts_with(kBatch)) std::from_chars(key.data() + kBatch.size(), key.data() + key.size(), count);
  return {key, shape, 2, count > 1 ? buffer_bytes / count : 0};
}

// A result in tiles may be declared with more rows than were swept: the last rows of a convolution's plane.
std::vector<std::uint32_t> held_shape(const std::string& layout, std::vector<std::uint32_t> shape) {
  unsigned i = 0, j = 0, m = 0, n = 0;
  if (shape.size() == 2 && std::sscanf(layout.c_str(), "tile:%ux%u:%ux%u", &i, &j, &m, &n) == 4)
    shape[0] = std::min(shape[0], 4 * i * m);
  return shape;
}

class Importer {
 public:
  Importer(const json& file, const LiveOptions& options, LiveProgram& out)
      : file_(file), options_(options), out_(out), program_(out.program) {
    const json& machine = member(file, "machine");
    if (machine.contains("agent") && !machine["agent"].is_null())
      recorded_agent_ = coord_at(machine["agent"], 0);
    agent_ = out.machine.meshes.front().ports.front();
  }

  void run() {
    program_.name = text(member(file_, "id"), "id");
    program_.needs.machine = out_.machine.name;
    memory();
    const json& dispatches = member(file_, "dispatches");
    for (std::size_t i = 0; i < dispatches.size(); ++i) {
      const json& dispatch = dispatches[i];
      if (dispatch.contains("relayout"))
        relayout(dispatch["relayout"], dispatches, i);
      else
        for (const json& round : member(dispatch, "rounds")) this->round(dispatch, round);
    }
    needs();
  }

 private:
  void add(arch::Action action) { program_.steps.push_back({0, std::move(action)}); }

  // ---- Memory

  void image(std::uint64_t at, auto content) {
    arch::MemoryImage image{at, std::move(content)};
    touch(at, arch::image_bytes(image));
    program_.images.emplace_back(0, std::move(image));
  }

  void touch(std::uint64_t at, std::uint64_t bytes) {
    low_ = std::min(low_, at);
    high_ = std::max(high_, at + bytes);
  }

  void memory() {
    const json& addresses = member(file_, "addresses");
    const json& buffers = member(file_, "buffers");
    for (const auto& [name, buffer] : buffers.items()) {
      const std::uint64_t at = address_of(member(addresses, name.c_str()));
      const std::string& role = text(member(buffer, "role"), "role");
      const std::string& layout = text(member(buffer, "layout"), "layout");
      const std::vector<std::uint32_t> shape = tensor_shape(buffer);
      touch(at, static_cast<std::uint64_t>(integer(member(buffer, "nbytes"), "nbytes", 0, 1 << 30)));
      if (role == "in") {
        input(name, at, layout);
      } else if (role == "table") {
        const std::vector<std::uint8_t> bytes =
            arch::TensorLayout(layout, shape).pack(little_endian(table(name, shape)));
        image(at, arch::ImageBytes{bytes, bytes.size()});
      } else if (role == "out") {
        const std::string& order = text(member(buffer, "final_layout"), "final_layout");
        program_.outputs.push_back({name, 0, at, arch::DType::kFp16, held_shape(order, shape), order});
      } else if (role != "temp") {
        throw UserError::make("buffer \"{}\" has the unknown role \"{}\"", name, role);
      }
    }
    for (const auto& [name, constant] : member(file_, "constants").items())
      if (!buffers.contains(name)) this->constant(name, constant);
  }

  void input(const std::string& name, std::uint64_t at, const std::string& layout) {
    const json& tensor = member(member(file_, "inputs"), name.c_str());
    const std::vector<std::uint16_t> values = tensor_values(tensor, name);
    const std::vector<std::uint32_t> shape = tensor_shape(tensor);
    if (tensor.contains("lcg")) {
      image(at, arch::ImageTensor{generator_of(tensor["lcg"], values.size()), shape, layout});
    } else {
      const std::vector<std::uint8_t> bytes = arch::TensorLayout(layout, shape).pack(little_endian(values));
      image(at, arch::ImageBytes{bytes, bytes.size()});
    }
    program_.inputs.push_back({name, 0, at, arch::DType::kFp16, shape, layout});
  }

  // Fixed contents of a table: the masks of flash attention (compiler.md section 20).
  std::vector<std::uint16_t> table(const std::string& name, const std::vector<std::uint32_t>& shape) const {
    constexpr std::uint16_t kOne = 0x3C00;
    const json& knobs = member(file_, "effective_knobs");
    const bool causal = knobs.contains("causal") && knobs["causal"] == true;
    const bool part = knobs.contains("keys") && !knobs["keys"].is_null();
    if (text(member(file_, "kernel"), "kernel") != "kernels.flash_attention" || shape.size() < 2 ||
        causal == part)
      throw UserError::make("the contents of table \"{}\" are not known", name);
    const std::uint32_t columns = shape.back();
    std::uint64_t keys = 0;
    if (!causal) {
      keys = static_cast<std::uint64_t>(integer(knobs["keys"], "keys", 1, kMaxExtent)) % columns;
      if (keys == 0) keys = columns;
    }
    std::size_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    std::vector<std::uint16_t> mask(rows * columns);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const std::size_t row = i / columns % shape[shape.size() - 2], column = i % columns;
      mask[i] = (causal ? column <= row : column < keys) ? kOne : std::uint16_t{0};
    }
    return mask;
  }

  // A folded constant: its name is "const" and the value (README, `constants`).
  void constant(const std::string& name, const json& constant) {
    constexpr std::string_view kPrefix = "const";
    double value = 0;
    const char* first = name.data() + kPrefix.size();
    const char* last = name.data() + name.size();
    if (!name.starts_with(kPrefix) || std::from_chars(first, last, value).ptr != last)
      throw UserError::make("constant \"{}\" does not name its value", name);
    const auto count = static_cast<std::uint64_t>(integer(member(constant, "elems"), "elems", 1, kMaxExtent));
    const std::uint16_t half = arch::double_to_fp16(value);
    image(address_of(member(constant, "addr")),
          arch::ImageBytes{little_endian(std::span(&half, 1)), 2 * count});
  }

  // ---- Steps

  void relayout(const json& r, const json& dispatches, std::size_t at) {
    arch::StepRelayout step;
    step.address = address_of(member(r, "addr"));
    step.quiet_cycles = kRelayoutQuiet;
    step.from_layout = text(member(r, "from"), "from");
    step.to_layout = text(member(r, "to"), "to");
    const std::vector<std::uint32_t> shape = tensor_shape(r);
    const std::uint64_t bytes = bytes_of_relayout(r, dispatches, at);
    const arch::TensorLayout from = order_of(step.from_layout, shape, bytes),
                             to = order_of(step.to_layout, shape, bytes);
    step.gather = arch::gather_between(from, to);
    touch(step.address, 2 * std::max(from.elements(), to.elements()));
    add(std::move(step));
  }

  // Of the buffer that `conversions` names for this relayout: the one before the same stage, at the same
  // address.
  std::uint64_t bytes_of_relayout(const json& r, const json& dispatches, std::size_t at) const {
    while (at < dispatches.size() && !dispatches[at].contains("stage")) ++at;
    for (const json& c : member(file_, "conversions"))
      if (at < dispatches.size() && c.at(0) == dispatches[at]["stage"] && c.at(2) == r["from"] &&
          c.at(3) == r["to"] &&
          member(member(file_, "addresses"), text(c.at(1), "conversions").c_str()) == r["addr"])
        return static_cast<std::uint64_t>(
            integer(member(member(member(file_, "buffers"), text(c.at(1), "conversions").c_str()), "nbytes"),
                    "nbytes", 0, 1 << 30));
    throw UserError::make("the relayout at {} is not among the conversions", r["addr"].dump());
  }

  void round(const json& dispatch, const json& r) {
    const std::string& unit = text(member(dispatch, "unit"), "unit");
    const std::size_t number = out_.rounds.size();
    if (number != 0 && options_.quiet_cycles != 0) add(arch::StepQuiet{options_.quiet_cycles});
    out_.rounds.push_back(program_.steps.size());
    add(arch::StepRound{fmt::format("stage {} {} round {}", member(dispatch, "stage").dump(), unit, number)});

    arch::StepStage stage;
    const json& words = member(r, "flits");
    const std::vector<bool> last = last_of_kicks(member(r, "kicks"), words.size(), unit);
    for (std::size_t slot = 0; slot < words.size(); ++slot)
      stage.flits.push_back(staged_flit(words[slot], last[slot]));
    check_words(r, words, stage);
    for (arch::Flit& flit : stage.flits)
      if (unit == "MG") acknowledge_here(flit);
    staging_flits_ = std::max(staging_flits_, stage.flits.size());
    if (!stage.flits.empty()) add(std::move(stage));
    commands(r);
  }

  std::vector<bool> last_of_kicks(const json& kicks, std::size_t slots, const std::string& unit) {
    std::vector<bool> last(slots, false);
    for (const json& kick : kicks) {
      used_[coord_at(kick, 0)] = unit;
      const std::int64_t base = integer(kick.at(2), "kicks", 0, 0xFFFF),
                         count = integer(kick.at(3), "kicks", 1, 0xFFFF);
      if (static_cast<std::size_t>(base + count) > slots)
        throw UserError::make("a kick names slots up to {}, the round stages {}", base + count, slots);
      last[static_cast<std::size_t>(base + count) - 1] = true;
    }
    return last;
  }

  // The file's own checksums, over words and over the writes that stage them.
  static void check_words(const json& r, const json& words, const arch::StepStage& stage) {
    if (r.contains("flits_sha256")) {
      std::vector<std::uint8_t> digits;
      for (const json& word : words)
        for (const char c : text(word, "flits")) digits.push_back(static_cast<std::uint8_t>(c));
      if (sha256_hex(digits) != text(r["flits_sha256"], "flits_sha256"))
        throw UserError::make("field \"flits_sha256\" does not fit the words");
    }
    if (!r.contains("setup_sha256")) return;
    std::vector<std::uint8_t> bytes;
    for (const arch::HostWrite& write : arch::staging_writes(stage)) {
      put(bytes, write.address, 8);
      put(bytes, write.data, 8);
    }
    if (sha256_hex(bytes) != text(r["setup_sha256"], "setup_sha256"))
      throw UserError::make("field \"setup_sha256\" does not fit the flits as staged");
  }

  // Drains to a node name the agent of the recorded machine as the one that gets the acknowledgements.
  void acknowledge_here(arch::Flit& flit) const {
    auto inst = arch::unpack<arch::ClusterInst>(flit);
    if (!inst.is(arch::ClusterOp::kDrain) || inst.dnode == 0 || !recorded_agent_) return;
    if (inst.dack_x != recorded_agent_->x || inst.dack_y != recorded_agent_->y) return;
    inst.dack_x = agent_.x;
    inst.dack_y = agent_.y;
    arch::pack(flit, inst);
  }

  void commands(const json& r) {
    arch::StepCommands step;
    for (const json& c : member(r, "cmds")) {
      if (!c.is_array() || c.size() != 4) throw UserError::make("field \"cmds\": a command has four values");
      step.commands.push_back({static_cast<std::uint32_t>(integer(c[0], "cmds", 1, 3)),
                               static_cast<std::uint32_t>(hex_value(c[1], "cmds", 32)),
                               hex_value(c[2], "cmds", 64), hex_value(c[3], "cmds", 64)});
    }
    if (r.contains("ncmd") && r["ncmd"] != step.commands.size())
      throw UserError::make("field \"ncmd\" does not fit the {} commands", step.commands.size());
    add(std::move(step));
  }

  // ---- What a machine must have

  void needs() {
    arch::MachineNeeds& needs = program_.needs;
    needs.staging_flits = static_cast<std::uint32_t>(staging_flits_);
    for (const auto& [at, unit] : used_) {
      arch::UnitNeed need;
      need.at = at;
      need.kind = unit == "MG" ? "matmul_cluster" : "vector_core";
      needs.units.push_back(need);
    }
    if (low_ < high_) needs.memory.push_back({0, low_, high_});
  }

  const json& file_;
  LiveOptions options_;
  LiveProgram& out_;
  arch::Program& program_;
  std::optional<Coord> recorded_agent_;
  Coord agent_;
  std::map<Coord, std::string> used_;
  std::size_t staging_flits_ = 0;
  std::uint64_t low_ = ~0ull, high_ = 0;
};

}  // namespace

std::vector<std::uint32_t> tensor_shape(const json& tensor) {
  std::vector<std::uint32_t> shape;
  for (const json& extent : member(tensor, "shape"))
    shape.push_back(static_cast<std::uint32_t>(integer(extent, "shape", 1, kMaxExtent)));
  return shape;
}

std::vector<std::uint16_t> tensor_values(const json& tensor, const std::string& name) {
  std::size_t count = 1;
  for (const std::uint32_t extent : tensor_shape(tensor)) count *= extent;
  if (count > static_cast<std::size_t>(kMaxExtent)) throw UserError::make("tensor \"{}\" is too large", name);
  std::vector<std::uint16_t> values = tensor.contains("lcg")
                                          ? arch::lcg_values(generator_of(tensor["lcg"], count))
                                          : hex_halves(member(tensor, "fp16"), "fp16", count);
  if (sha256_hex(little_endian(values)) != text(member(tensor, "sha256_le"), "sha256_le"))
    throw UserError::make("tensor \"{}\": its values do not fit sha256_le", name);
  return values;
}

LiveProgram import_live(const json& file, const LiveOptions& options) {
  LiveProgram out;
  out.machine = live_machine(file);
  Importer(file, options, out).run();
  return out;
}

}  // namespace ktpu::check
