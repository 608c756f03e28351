// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/program_measure.h"

#include <algorithm>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/encoding/payloads.h"
#include "arch/error.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::check {

using cluster::BusyFlag;
using nlohmann::json;

namespace {

std::string hex(std::uint64_t value) { return fmt::format("{:x}", value); }
std::string node_key(arch::Coord at) { return fmt::format("{},{}", at.x, at.y); }

std::string type_key(const arch::Flit& flit) {
  std::string name(arch::flit_type_name(flit.type_code()));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

template <typename Window>
Cycles within(const Cycles& cycles, const Window& window) {
  Cycles found;
  std::copy_if(cycles.begin(), cycles.end(), std::back_inserter(found),
               [&](Cycle c) { return window.holds(c); });
  return found;
}

template <typename Window>
json counts_by_type(const std::vector<FlitEvent>& events, const Window& window) {
  json counts = json::object();
  for (const FlitEvent& e : events) {
    if (!window.holds(e.cycle)) continue;
    json& count = counts[type_key(e.flit)];
    count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
  }
  return counts;
}

json dram_counts(std::size_t read_bursts, std::size_t read_beats, std::size_t write_bursts,
                 std::size_t write_beats) {
  return {{"read_bursts", read_bursts},
          {"read_beats", read_beats},
          {"write_bursts", write_bursts},
          {"write_beats", write_beats}};
}

// An output's buffer as a row-major FP16 tensor: by its `gather`, else by its layout; null without either.
std::optional<std::vector<std::uint8_t>> row_major(const json& output, const std::vector<std::uint8_t>& raw) {
  std::vector<std::uint8_t> bytes;
  if (output.contains("gather")) {
    for (const std::uint16_t half : gather(raw, gather_runs(output["gather"]))) {
      bytes.push_back(static_cast<std::uint8_t>(half));
      bytes.push_back(static_cast<std::uint8_t>(half >> 8));
    }
    return bytes;
  }
  if (!output.contains("layout") || !output.contains("shape")) return std::nullopt;
  std::vector<std::uint32_t> shape;
  for (const json& extent : output["shape"])
    shape.push_back(static_cast<std::uint32_t>(integer(extent, "shape", 1, 1 << 20)));
  const arch::TensorLayout layout(text(output["layout"], "layout"), shape);
  if (raw.size() != 2 * layout.elements())
    throw arch::UserError::make("output: {} bytes for layout \"{}\"", raw.size(), output["layout"].dump());
  return layout.unpack(raw);
}

}  // namespace

ProgramMeasure::ProgramMeasure(const json& file, const ImportedProgram& program, Rig& rig)
    : file_(file), program_(program), rig_(rig), origin_(rig.system().machine().host.script.start_cycles) {
  std::map<std::size_t, const json*> recorded;
  for (const auto& place : program.places)
    if (!place.round) recorded[place.first] = &file.at("steps")[place.recorded];
  rig.host.on_relayout = [this, recorded](Cycle now, std::size_t step, bool done) {
    const auto found = recorded.find(step);
    if (found == recorded.end()) return;
    const json& r = *found->second;
    const std::uint64_t at = hex_value(member(r, "addr"), "addr", 40);
    const char* size = done ? "bytes_after" : "bytes_before";
    const auto bytes = static_cast<std::uint64_t>(integer(member(r, size), size, 0, 1 << 26));
    Relayout& relayout = relayouts_[step];
    relayout.cycle = now;
    (done ? relayout.after : relayout.before) = sha256_hex(rig_.read_memory(at, bytes));
  };
}

json ProgramMeasure::relative(const Cycles& cycles) const {
  json list = json::array();
  for (const Cycle c : cycles) list.push_back(relative(c));
  return list;
}

std::optional<Cycle> ProgramMeasure::step_cycle(std::size_t program_step) const {
  const auto found =
      std::lower_bound(rig_.host.steps.begin(), rig_.host.steps.end(), program_step,
                       [](const HostLog::Step& s, std::size_t index) { return s.index < index; });
  if (found == rig_.host.steps.end() || found->index != program_step) return std::nullopt;
  return found->cycle;
}

// The first cycle after the last transaction of a round.
std::optional<Cycle> ProgramMeasure::end_of(const ImportedProgram::Place& place) const {
  if (const auto next = step_cycle(place.after)) return next;
  if (place.after == program_.program.steps.size() && rig_.host.ended) return rig_.host.end_cycle;
  return std::nullopt;
}

ProgramMeasure::Window ProgramMeasure::window(std::size_t place) const {
  Window w{step_cycle(program_.places[place].start).value_or(sim::kNever), sim::kNever};
  for (std::size_t next = place + 1; next < program_.places.size(); ++next) {
    if (!program_.places[next].round) continue;
    w.end = step_cycle(program_.places[next].start).value_or(sim::kNever);
    break;
  }
  return w;
}

void ProgramMeasure::agent_events(const Window& w, json& out) const {
  out["kick_cycles"] = relative(within(rig_.agent.kicks, w));
  json completions = json::object(), codes = json::object(), last;
  for (const FlitEvent& e : rig_.agent.arrivals) {
    if (!w.holds(e.cycle) || e.flit.type() != arch::FlitType::kCuSignal) continue;
    const std::string node = node_key(e.flit.src());
    completions[node].push_back(relative(e.cycle));
    last = relative(e.cycle);
    json& count = codes[fmt::format("{}:{}", node, arch::unpack<arch::Signal>(e.flit).code)];
    count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
  }
  out["completions"] = completions;
  out["last_completion"] = last;
  out["signal_codes"] = codes;
}

void ProgramMeasure::unit_flits(const Window& w, json& out) const {
  json in = json::object(), sent = json::object(), ports = json::object();
  const auto put = [](json& map, const std::string& key, json counts) {
    if (!counts.empty()) map[key] = std::move(counts);
  };
  const auto& port_list = rig_.mesh().ports;
  for (const topo::Node& node : rig_.mesh().nodes) {
    const auto port = std::find(port_list.begin(), port_list.end(), node.at);
    if (port != port_list.end()) {
      const auto index = std::to_string(port - port_list.begin());
      put(ports, index + "in", counts_by_type(rig_.out_of_mesh(node.at).flits, w));
      put(ports, index + "out", counts_by_type(rig_.into_mesh(node.at).flits, w));
    } else {
      put(in, node_key(node.at), counts_by_type(rig_.in(node.at).flits, w));
      put(sent, node_key(node.at), counts_by_type(rig_.out(node.at).flits, w));
    }
  }
  out["unit_flits_in"] = in;
  out["unit_flits_out"] = sent;
  out["memory_port_flits"] = ports;
}

void ProgramMeasure::cluster_events(const Window& w, json& out) const {
  json clusters = json::object();
  for (const topo::Node* node : rig_.nodes(topo::Kind::kMatmulCluster)) {
    const ClusterLog& log = rig_.cluster(node->at);
    const Cycles issue = within(log.issue, w);
    if (issue.empty()) continue;
    const auto busy = [&](BusyFlag flag) {
      Cycle sum = 0;
      for (const Interval& i : log.intervals(flag))
        if (w.holds(i.begin)) sum += i.length();
      return sum;
    };
    clusters[node_key(node->at)] = {{"issue", relative(issue)},
                                    {"retire", relative(within(log.retire, w))},
                                    {"gemm_start", relative(within(log.gemm_start, w))},
                                    {"sweep_busy", busy(BusyFlag::kSweep)},
                                    {"gemm_busy", busy(BusyFlag::kGemm)},
                                    {"drain_busy", busy(BusyFlag::kDrain)}};
  }
  if (!clusters.empty()) out["clusters"] = clusters;
}

// Kernels by the round in which they began.
void ProgramMeasure::vector_events(const Window& w, json& out) const {
  json vectors = json::object();
  for (const topo::Node* node : rig_.nodes(topo::Kind::kVectorCore)) {
    json runs = json::array();
    for (const VectorLog::Run& run : rig_.vector(node->at).runs)
      if (w.holds(run.start) && run.done)
        runs.push_back({relative(run.start), relative(run.start + run.cycles)});
    if (!runs.empty()) vectors[node_key(node->at)] = runs;
  }
  if (!vectors.empty()) out["vector_runs"] = vectors;
}

json ProgramMeasure::round(std::size_t index) const {
  const ImportedProgram::Place& place = program_.places[index];
  const Window w = window(index);
  json out = json::object();
  if (w.begin == sim::kNever) return out;  // never reached
  out["start"] = relative(w.begin);
  for (const HostLog::Write& write : rig_.host.writes)
    if (write.step == place.credit) out["staged"] = relative(write.address);
  json polls = json::array();
  for (const HostLog::Poll& p : rig_.host.polls)
    if (place.first <= p.step && p.step < place.after)
      polls.push_back({hex(p.offset), hex(p.want), hex(p.mask), p.reads, relative(p.data)});
  out["polls"] = polls;
  if (const auto end = end_of(place)) out["end"] = relative(*end);
  agent_events(w, out);

  const DramLog& dram = rig_.dram;
  const auto last = [&](const Cycles& cycles) { return cycles.empty() ? json() : relative(cycles.back()); };
  const Cycles reads = within(dram.read_beats, w), writes = within(dram.write_beats, w);
  out["last_dram_write_beat"] = last(writes);
  out["last_dram_read_beat"] = last(reads);
  out["dram"] = dram_counts(within(dram.read_bursts, w).size(), reads.size(),
                            within(dram.write_bursts, w).size(), writes.size());
  cluster_events(w, out);
  vector_events(w, out);
  unit_flits(w, out);
  return out;
}

json ProgramMeasure::relayout(const ImportedProgram::Place& place) const {
  const auto found = relayouts_.find(place.first);
  if (found == relayouts_.end()) return json::object();
  return {{"cycle", relative(found->second.cycle)},
          {"sha256_before", found->second.before},
          {"sha256_after", found->second.after}};
}

json ProgramMeasure::steps() const {
  json steps = json::array();
  for (std::size_t i = 0; i < file_.at("steps").size(); ++i) steps.push_back(json::object());
  for (std::size_t i = 0; i < program_.places.size(); ++i) {
    const ImportedProgram::Place& place = program_.places[i];
    steps[place.recorded] = place.round ? round(i) : relayout(place);
  }
  return steps;
}

json ProgramMeasure::cycles() const {
  json out = json::object();
  std::size_t rounds = 0, kicks = 0, flits = 0, relayouts = 0;
  std::int64_t in_rounds = 0;
  std::optional<Cycle> end;
  for (const auto& place : program_.places) {
    if (!place.round) {
      relayouts += relayouts_.contains(place.first);
      continue;
    }
    const auto start = step_cycle(place.start), stop = end_of(place);
    if (!start || !stop) continue;
    ++rounds;
    in_rounds += static_cast<std::int64_t>(*stop - *start);
    end = stop;
  }
  kicks = rig_.agent.kicks.size();
  flits = rig_.agent.pushes.size();
  out["first_kick"] = kicks == 0 ? json() : relative(rig_.agent.kicks.front());
  const Cycles completions = cycles_of(rig_.agent.arrivals, arch::FlitType::kCuSignal);
  out["last_completion"] = completions.empty() ? json() : relative(completions.back());
  out["last_dram_write_beat"] =
      rig_.dram.write_beats.empty() ? json() : relative(rig_.dram.write_beats.back());
  out["end"] = end ? relative(*end) : json();
  out["first_kick_to_last_completion"] =
      kicks == 0 || completions.empty() ? json() : json(completions.back() - rig_.agent.kicks.front());
  out["rounds"] = rounds;
  out["kicks"] = kicks;
  out["flits"] = flits;
  out["relayouts"] = relayouts;
  out["in_rounds"] = in_rounds;
  return out;
}

json ProgramMeasure::dram_totals() const {
  return dram_counts(rig_.dram.read_bursts.size(), rig_.dram.read_beats.size(), rig_.dram.write_bursts.size(),
                     rig_.dram.write_beats.size());
}

json ProgramMeasure::memory_port_stall_cycles() const {
  json into = json::array(), out_of = json::array();
  for (const arch::Coord port : rig_.mesh().ports) {
    into.push_back(rig_.out_of_mesh(port).stalled);
    out_of.push_back(rig_.into_mesh(port).stalled);
  }
  return {{"into_agent", into}, {"out_of_agent", out_of}};
}

json ProgramMeasure::outputs() const {
  json list = json::array();
  for (const json& output : file_.at("outputs")) {
    const std::uint64_t at = hex_value(member(output, "addr"), "addr", 40);
    const auto raw = rig_.read_memory(
        at, static_cast<std::uint64_t>(integer(member(output, "nbytes"), "nbytes", 0, 1 << 26)));
    json out = json::object();
    out["raw_sha256"] = sha256_hex(raw);
    if (const auto values = row_major(output, raw)) {
      std::string digits;
      for (std::size_t i = 0; i + 1 < values->size(); i += 2)
        digits += to_hex(static_cast<std::uint64_t>((*values)[i] | (*values)[i + 1] << 8), 4);
      out["fp16"] = digits;
      out["sha256_le"] = sha256_hex(*values);
    }
    list.push_back(out);
  }
  return list;
}

std::string ProgramMeasure::memory_sha256() const {
  const topo::Dram& dram = *rig_.mesh().dram;
  return sha256_hex(rig_.read_memory(dram.base, dram.size_bytes));
}

}  // namespace ktpu::check
