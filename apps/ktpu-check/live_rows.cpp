// SPDX-License-Identifier: Apache-2.0
// vectors/compiler/live: a kernel of the library, compiled with policy `compat` for the recorded machine,
// next to what was recorded (its README): stages, buffers, addresses, relayouts, every word and command of
// every round.
#include <algorithm>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/known_wrong.h"
#include "apps/ktpu-check/live_import.h"
#include "apps/ktpu-check/row_kinds.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/error.h"
#include "arch/program/host_writes.h"
#include "compiler/base/refusal.h"
#include "compiler/bytes/control_program.h"
#include "compiler/driver/compile.h"
#include "compiler/kernels/kernels.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

kernel::Knob knob_of(const json& value) {
  if (value.is_null()) return std::monostate{};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  throw UserError::make("field \"knobs\": {} is no knob", value.dump());
}

json shown(const kernel::Knob& knob) {
  return std::visit(
      [](const auto& value) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return nullptr;
        else
          return value;
      },
      knob);
}

arch::Coord place(const json& at, const char* field) {
  return {static_cast<std::uint8_t>(integer(at.at(0), field, 0, 15)),
          static_cast<std::uint8_t>(integer(at.at(1), field, 0, 15))};
}
json place(arch::Coord at) { return json::array({at.x, at.y}); }

driver::Machine recorded_machine(const json& recorded) {
  driver::UnitList units;
  const auto list = [&](const char* field) {
    std::vector<arch::Coord> all;
    if (recorded.contains(field))
      for (const json& at : recorded[field]) all.push_back(place(at, field));
    return all;
  };
  units.clusters = list("MG");
  units.vector_cores = list("VC");
  if (recorded.contains("agent") && !recorded["agent"].is_null())
    units.agent = place(recorded["agent"], "agent");
  const auto number = [&](const char* field) {
    return static_cast<std::uint32_t>(integer(member(recorded, field), field, 1, 65535));
  };
  return driver::make_machine("recorded", units, {},
                              {number("stage_flits"), number("ncmd"), number("inst_depth")});
}

// --- What was compiled, field by field as it is recorded.

json hex_address(std::uint64_t address) { return fmt::format("{:x}", address); }

const char* unit_name(schedule::UnitType unit) { return unit == schedule::UnitType::kCluster ? "MG" : "VC"; }

const char* role_name(schedule::Role role) {
  switch (role) {
    case schedule::Role::kIn:
      return "in";
    case schedule::Role::kOut:
      return "out";
    case schedule::Role::kTable:
      return "table";
    default:
      return "temp";
  }
}

class Shown {
 public:
  // `checksums`: larger cases carry them for every round.
  Shown(const driver::Compiled& compiled, const driver::Machine& machine, bool checksums)
      : compiled_(compiled), machine_(machine), checksums_(checksums) {}

  json all() {
    json out;
    json& extents = out["extents"] = json::object();
    for (const auto& [symbol, extent] : compiled_.kernel.extents) extents[symbol] = extent;
    extents["__lead__"] = compiled_.kernel.lead;
    extents["__flat__"] = compiled_.kernel.flat;
    extents["__batch__"] = compiled_.kernel.batch;
    out["relaxed"] = compiled_.relaxed;
    out["effective_knobs"] = json::object();
    for (const auto& [name, knob] : compiled_.kernel.knobs) out["effective_knobs"][name] = shown(knob);
    out["stages"] = json::array();
    for (std::size_t s = 0; s < compiled_.schedule.stages.size(); ++s) out["stages"].push_back(stage(s));
    memory(out);
    conversions(out["conversions"] = json::array());
    dispatches(out["dispatches"] = json::array());
    out["total_flits"] = compiled_.executable.flits();
    out["status"] = "ok";
    return out;
  }

 private:
  json nodes(const bytes::Units& units) const {
    json list = json::array();
    for (std::size_t i = 0; i < units.size(); ++i) list.push_back(place(units[i].at()));
    return list;
  }

  json stage(std::size_t s) const {
    const schedule::Stage& from = compiled_.schedule.stages[s];
    json out{{"unit", unit_name(from.unit)},
             {"grid", from.grid},
             {"body_grid", from.body_grid},
             {"batched", from.batched},
             {"instances", from.instances.size()}};
    out["stmts"] = json::array();
    if (!from.instances.empty())
      for (const schedule::Statement& each : from.instances.front().statements)
        out["stmts"].push_back(schedule::kind_name(each));
    if (from.feeds_next) {
      const bytes::Units& cores = machine_.bytes.vector_cores;
      const std::vector<std::size_t> dealt = bytes::deal_in_turn(from.instances.size(), cores.size());
      for (std::size_t i = 0; i < from.instances.size(); ++i) {
        std::string key;
        for (const std::int32_t k : from.instances[i].key)
          key += fmt::format("{}{}", key.empty() ? "" : ",", k);
        out["acks"][key] =
            json::array({place(cores[dealt[i]].at()), compiled_.program.stages[s].instances[i].acks});
      }
    }
    if (s > 0 && compiled_.schedule.stages[s - 1].feeds_next)
      out["nodes"] = nodes(machine_.bytes.vector_cores);
    return out;
  }

  void memory(json& out) const {
    for (const char* field : {"buffers", "addresses", "constants"}) out[field] = json::object();
    for (const schedule::Buffer& buffer : compiled_.schedule.buffers) {
      const json address = hex_address(buffer.address->value());
      out["addresses"][buffer.name] = address;
      if (buffer.role == schedule::Role::kTable || buffer.role == schedule::Role::kConstant)
        out["constants"][buffer.name] = {
            {"addr", address}, {"elems", buffer.nbytes / 2}, {"layout", buffer.first.key()}};
      if (buffer.role == schedule::Role::kConstant) continue;
      json& entry = out["buffers"][buffer.name] = {{"role", role_name(buffer.role)},
                                                   {"shape", buffer.shape},
                                                   {"layout", buffer.first.key()},
                                                   {"final_layout", buffer.last.key()},
                                                   {"nbytes", buffer.nbytes}};
      if (buffer.role == schedule::Role::kIn || buffer.role == schedule::Role::kOut) entry["addr"] = address;
    }
  }

  // By buffer, in the order in which the kernel touches them.
  void conversions(json& out) const {
    const schedule::Schedule& schedule = compiled_.schedule;
    for (schedule::BufferId id = 0; id < schedule.buffers.size(); ++id)
      for (std::size_t s = 0; s < schedule.stages.size(); ++s)
        for (const schedule::Relayout& relayout : schedule.stages[s].before)
          if (relayout.buffer == id)
            out.push_back({s, schedule.buffers[id].name, relayout.from.key(), relayout.to.key()});
  }

  void dispatches(json& out) {
    for (const bytes::ExecStep& step : compiled_.executable.steps) {
      if (const auto* dispatch = std::get_if<bytes::Dispatch>(&step)) {
        json entry{
            {"unit", dispatch->unit},
            {"stage", dispatch->stage},
            {"nodes", nodes(dispatch->unit == "MG" ? machine_.bytes.clusters : machine_.bytes.vector_cores)}};
        entry["rounds"] = json::array();
        for (const bytes::Round& each : dispatch->plan.rounds)
          entry["rounds"].push_back(round(each.artifact, dispatch->unit == "MG"));
        out.push_back(std::move(entry));
      } else if (const auto* relayout = std::get_if<bytes::HostRelayout>(&step)) {
        out.push_back({{"relayout",
                        {{"addr", hex_address(relayout->address)},
                         {"shape", relayout->shape},
                         {"from", relayout->from},
                         {"to", relayout->to}}}});
      }
    }
  }

  json round(const bytes::Artifact& artifact, bool cluster) {
    json out;
    out["kicks"] = out["awaits"] = out["flits"] = out["cmds"] = json::array();
    for (const bytes::RoundStep& step : artifact.steps) {
      if (const auto* kick = std::get_if<bytes::Kick>(&step))
        out["kicks"].push_back({kick->to.x, kick->to.y, kick->base.index(), kick->count});
      if (const auto* await = std::get_if<bytes::Await>(&step))
        out["awaits"].push_back({await->node.x, await->node.y, await->count});
      if (const auto* seed = std::get_if<bytes::Seed>(&step)) out["seed"] = seed->credit;
    }
    std::vector<std::uint8_t> digits;
    for (const arch::Flit& word : artifact.words) {
      const std::string hex = to_hex(word.w.data(), cluster ? 256 : 272);
      digits.insert(digits.end(), hex.begin(), hex.end());
      out["flits"].push_back(hex);
    }
    if (checksums_) {
      out["nflits"] = artifact.words.size();
      out["flits_sha256"] = sha256_hex(digits);
    }
    const std::vector<arch::Command> commands = bytes::control_program(artifact, before_);
    for (const arch::Command& c : commands)
      out["cmds"].push_back(
          {c.op, fmt::format("{:x}", c.address), fmt::format("{:x}", c.data), fmt::format("{:x}", c.mask)});
    out["ncmd"] = commands.size();
    std::vector<std::uint8_t> writes;
    const std::vector<arch::HostWrite> setup = bytes::setup_writes(artifact);
    for (const arch::HostWrite& write : setup)
      for (const std::uint64_t word : {std::uint64_t{write.address}, write.data})
        for (unsigned byte = 0; byte < 8; ++byte)
          writes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
    out["setup_writes"] = setup.size();
    out["setup_sha256"] = sha256_hex(writes);
    before_.add(artifact);
    return out;
  }

  const driver::Compiled& compiled_;
  const driver::Machine& machine_;
  bool checksums_;
  bytes::Baselines before_;
};

bool has_checksums(const json& file) {
  for (const json& dispatch : member(file, "dispatches"))
    if (dispatch.contains("rounds"))
      for (const json& round : dispatch["rounds"])
        if (round.contains("nflits")) return true;
  return false;
}

// Not compared (README): what the case is made from, what is modelled, measured or spelled.
const FieldNames kSkip{"id",
                       "path",
                       "kernel",
                       "knobs",
                       "machine",
                       "inputs",
                       "timing",
                       "counters",
                       "saturated",
                       "outputs",
                       "max_abs_float64",
                       "code",
                       "exception",
                       "exception_chain",
                       "reference_wrong",
                       "sim_busiest_unit_cycles",
                       "max_abs_err_vs_float64"};

}  // namespace

void check_live(const json& file, Differences& differences) {
  const std::string& name = text(member(file, "kernel"), "kernel");
  const kernel::Definition* definition = kernels::find(name);
  if (definition == nullptr) throw UserError::make("the library has no kernel \"{}\"", name);
  std::map<std::string, kernel::Shape> inputs;
  for (const auto& [port, tensor] : member(file, "inputs").items()) inputs[port] = tensor_shape(tensor);
  kernel::Knobs knobs;
  for (const auto& [knob, value] : member(file, "knobs").items())
    knobs.insert_or_assign(knob, knob_of(value));
  const json& recorded = member(file, "machine");
  const driver::Machine machine = recorded_machine(recorded);
  driver::Options options;
  options.policy = schedule::Policy::kCompat;
  options.regrid = recorded.contains("regrid") && recorded["regrid"] == true;
  options.reuse_temps = recorded.contains("reuse_temps") && recorded["reuse_temps"] == true;
  if (file.contains("reference_wrong") && file["reference_wrong"] == true)
    return check_known_wrong(file, *definition, inputs, knobs, options, differences);
  const bool refused = member(file, "status") == "refused";
  try {
    const driver::Compiled compiled = driver::compile(*definition, inputs, knobs, machine, options);
    if (refused)
      differences.add("status", file["status"].dump() + " " + file.value("code", ""), "\"ok\"");
    else
      compare_fields(file, Shown(compiled, machine, has_checksums(file)).all(), kSkip, "", differences);
  } catch (const base::Refusal& refusal) {
    if (!refused) {
      differences.add("status", member(file, "status").dump(), refusal.what());
      return;
    }
    // Where it was refused: before any operand was placed, or after (`relaxed` is known then).
    const bool placed = file.contains("relaxed") && !file["relaxed"].is_null();
    if (placed == base::before_placing(refusal.phase()))
      differences.add("refused", placed ? "with its operands placed" : "before its operands are placed",
                      refusal.what());
  }
}

}  // namespace ktpu::check
