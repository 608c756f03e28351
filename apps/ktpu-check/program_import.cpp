// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/program_import.h"

#include <set>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/rig.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr std::uint32_t kQuietCycles = 256;  // before a relayout, and before a round with the quiet host
constexpr std::int64_t kMaxBytes = 1 << 26, kMaxCycles = 1 << 20;

std::uint64_t address(const json& value) { return hex_value(value, "addr", 40); }

std::vector<std::uint8_t> bytes_of(const std::string& digits) {
  if (digits.size() % 2 != 0) throw arch::UserError::make("field \"data\" has an odd number of digits");
  std::vector<std::uint8_t> bytes;
  bytes.reserve(digits.size() / 2);
  const auto nibble = [](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    throw arch::UserError::make("field \"data\": \"{}\" is not a hex digit", c);
  };
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(nibble(digits[i]) << 4 | nibble(digits[i + 1])));
  return bytes;
}

std::uint32_t count_of(const json& value, const char* field, std::int64_t low, std::int64_t high) {
  return static_cast<std::uint32_t>(integer(value, field, low, high));
}

arch::Coord coord_of(const json& entry) {
  return {static_cast<std::uint8_t>(integer(entry.at(0), "x", 0, 15)),
          static_cast<std::uint8_t>(integer(entry.at(1), "y", 0, 15))};
}

void read_dram(const json& numbers, topo::DramSimple& dram) {
  const auto gaps = [&](const char* field, std::vector<std::uint32_t>& list) {
    if (!numbers.contains(field)) return;
    list.clear();
    for (const json& gap : numbers[field]) list.push_back(count_of(gap, field, 0, kMaxCycles));
  };
  const auto one = [&](const char* field, std::uint32_t& value) {
    if (numbers.contains(field)) value = count_of(numbers[field], field, 0, kMaxCycles);
  };
  for (const auto& [key, value] : numbers.items())
    if (key != "first_read_beat" && key != "read_gaps" && key != "first_write_beat" && key != "write_gaps" &&
        key != "write_response")
      throw arch::UserError::make(
          "field \"dram\": \"{}\" is none of the five numbers of memory.md section 15", key);
  one("first_read_beat", dram.first_read_beat);
  gaps("read_gaps", dram.read_gaps);
  one("first_write_beat", dram.first_write_beat);
  gaps("write_gaps", dram.write_gaps);
  one("write_response", dram.write_response);
}

topo::Machine machine_of(const json& file) {
  const std::string& name = text(member(file, "machine"), "machine");
  if (name != "mesh8" && name != "small")
    throw arch::UserError::make("machine \"{}\" is neither mesh8 nor small", name);
  topo::Machine machine = shipped_machine(name == "mesh8" ? "reference_mesh8" : "reference_small");
  apply_dram(file, machine);
  return machine;
}

class Importer {
 public:
  Importer(const json& file, ImportedProgram& out) : out_(out) {
    for (const json& word : member(file, "flit_words"))
      flits_.push_back(arch::flit_from_hex(text(word, "flit_words")));
  }

  void step(std::size_t recorded, const json& s) {
    const std::string& op = text(member(s, "op"), "op");
    if (op == "write") return write(s);
    if (op == "relayout") return relayout(recorded, s);
    if (op == "round") return round(recorded, s);
    out_.unsupported.push_back(fmt::format("a \"{}\" step", op));
  }

 private:
  std::size_t add(arch::Action action) {
    out_.program.steps.push_back({0, std::move(action)});
    return out_.program.steps.size() - 1;
  }

  void write(const json& s) {
    arch::ImageBytes image;
    image.data = bytes_of(text(member(s, "data"), "data"));
    if (s.contains("nbytes"))
      image.size = static_cast<std::uint64_t>(integer(s["nbytes"], "nbytes", 0, kMaxBytes));
    const std::uint64_t repeat = s.contains("repeat") ? count_of(s["repeat"], "repeat", 1, kMaxBytes) : 1;
    if (image.size != 0 && image.size != image.data.size() * repeat)
      throw arch::UserError::make("a write of {} bytes has {} bytes of data {} times", image.size,
                                  image.data.size(), repeat);
    image.size = image.data.size() * repeat;
    if (image.size != 0) add(arch::StepLoad{{address(member(s, "addr")), image}});
  }

  void relayout(std::size_t recorded, const json& s) {
    arch::StepRelayout step;
    step.address = address(member(s, "addr"));
    step.quiet_cycles = kQuietCycles;
    step.gather = gather_runs(member(s, "gather"));
    const std::size_t at = add(std::move(step));
    out_.places.push_back({recorded, false, at, at, at, at + 1});
  }

  void round(std::size_t recorded, const json& s) {
    ImportedProgram::Place place{recorded, true, add(arch::StepRound{}), 0, 0, 0};
    arch::StepBaseline baseline;
    for (const json& await : member(s, "awaits")) baseline.nodes.push_back(coord_of(await));
    place.start = add(std::move(baseline));
    arch::StepStage stage;
    for (const json& slot : member(s, "slots"))
      stage.flits.push_back(flits_.at(
          static_cast<std::size_t>(integer(slot, "slots", 0, static_cast<std::int64_t>(flits_.size()) - 1))));
    if (!stage.flits.empty()) add(std::move(stage));
    place.credit = add(arch::StepCredit{count_of(member(s, "seed"), "seed", 0, 0xFFFF)});
    for (const json& kick : member(s, "kicks")) {
      const arch::StepKick k{coord_of(kick), count_of(kick.at(2), "kicks", 0, 0xFFFF),
                             count_of(kick.at(3), "kicks", 0, 0xFFFF)};
      add(k);
    }
    for (const json& await : s["awaits"])
      add(arch::StepAwait{coord_of(await), count_of(await.at(2), "awaits", 0, 0xFFFF)});
    place.after = out_.program.steps.size();
    out_.places.push_back(place);
  }

  ImportedProgram& out_;
  std::vector<arch::Flit> flits_;
};

}  // namespace

void apply_dram(const json& row, topo::Machine& machine) {
  if (!row.contains("dram")) return;
  if (!row["dram"].is_object()) throw arch::UserError::make("field \"dram\" is not an object");
  read_dram(row["dram"], machine.meshes.front().dram->simple);
}

std::vector<arch::GatherRun> gather_runs(const json& gather) {
  std::vector<arch::GatherRun> runs;
  for (const json& g : gather) {
    if (!g.is_array() || (g.size() != 3 && g.size() != 5))
      throw arch::UserError::make("a gather run has 3 or 5 numbers");
    arch::GatherRun run;
    run.source = integer(g[0], "gather", -1, kMaxBytes);
    run.count = count_of(g[1], "gather", 0, kMaxBytes);
    run.step = static_cast<std::int32_t>(integer(g[2], "gather", -kMaxBytes, kMaxBytes));
    if (g.size() == 5) {
      run.times = count_of(g[3], "gather", 0, kMaxBytes);
      run.advance = integer(g[4], "gather", -kMaxBytes, kMaxBytes);
    }
    runs.push_back(run);
  }
  return runs;
}

std::vector<std::uint16_t> gather(const std::vector<std::uint8_t>& bytes,
                                  const std::vector<arch::GatherRun>& runs) {
  std::vector<std::uint16_t> out;
  for (const arch::GatherRun& run : runs)
    for (std::uint32_t t = 0; t < run.times; ++t)
      for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::int64_t at = run.source + run.advance * t + std::int64_t{run.step} * k;
        if (run.source < 0) {
          out.push_back(0);
          continue;
        }
        if (at < 0 || 2 * static_cast<std::uint64_t>(at) + 1 >= bytes.size())
          throw arch::UserError::make("a gather run reads halfword {} of a buffer of {}", at,
                                      bytes.size() / 2);
        const auto i = 2 * static_cast<std::size_t>(at);
        out.push_back(static_cast<std::uint16_t>(bytes[i] | bytes[i + 1] << 8));
      }
  return out;
}

ImportedProgram import_program(const json& file) {
  ImportedProgram out;
  out.machine = machine_of(file);
  if (file.contains("id")) out.program.name = text(file["id"], "id");
  if (file.contains("host")) {
    if (text(file["host"], "host") != "quiet before every round")
      throw arch::UserError::make("host \"{}\" is not known", file["host"].get<std::string>());
    out.quiet_before_round = kQuietCycles;
  }
  Importer importer(file, out);
  const json& steps = member(file, "steps");
  for (std::size_t i = 0; i < steps.size(); ++i) importer.step(i, steps[i]);
  return out;
}

}  // namespace ktpu::check
