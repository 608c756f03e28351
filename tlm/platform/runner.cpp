// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/runner.h"

#include <algorithm>

#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "tlm/platform/findings.h"
#include "tlm/sim/endless.h"
#include "tlm/sim/lockstep.h"
#include "tlm/vector/vector_core.h"
#include "topologies/needs.h"

namespace ktpu::platform {

namespace {

constexpr std::size_t kFindingLines = 8;  // findings told in a message
constexpr sim::Cycle kChecksPerWatchdog = 16;

// The first findings that are notes, or those that are not.
std::string finding_lines(const System& system, bool notes) {
  std::string text;
  std::size_t lines = 0;
  for (const Finding& finding : findings(system)) {
    if ((finding.severity == Finding::Severity::kNote) != notes) continue;
    if (++lines > kFindingLines) continue;
    if (!text.empty()) text += '\n';
    text += finding.line();
  }
  if (lines > kFindingLines) text += fmt::format("\nand {} more", lines - kFindingLines);
  return text;
}

}  // namespace

std::optional<sim::Cycle> RunResult::machine_cycles() const {
  if (!first_kick) return std::nullopt;
  const sim::Cycle last = std::max(last_write_beat.value_or(0), last_completion.value_or(0));
  if (last < *first_kick) return std::nullopt;
  return last - *first_kick + 1;
}

// Keeps the handful of cycles every report shows, and passes events on.
class Runner::Monitor final : public orchestrator::AgentProbe, public memory::MemoryProbe {
 public:
  explicit Monitor(RunResult& result) : result_(result) {}
  orchestrator::AgentProbe* agent = nullptr;
  memory::MemoryProbe* memory = nullptr;

  void kick(sim::Cycle pulse) override {
    if (!result_.first_kick) result_.first_kick = pulse;
    if (agent != nullptr) agent->kick(pulse);
  }
  void push(sim::Cycle now, const arch::Flit& flit) override {
    if (agent != nullptr) agent->push(now, flit);
  }
  void sent(sim::Cycle now, const arch::Flit& flit) override {
    if (agent != nullptr) agent->sent(now, flit);
  }
  void received(sim::Cycle now, const arch::Flit& flit) override {
    if (flit.type() == arch::FlitType::kCuSignal) result_.last_completion = now;
    if (agent != nullptr) agent->received(now, flit);
  }
  void on_read_address(sim::Cycle now, const memory::DramAddress& burst) override {
    if (memory != nullptr) memory->on_read_address(now, burst);
  }
  void on_read_beat(sim::Cycle now, unsigned requester, bool last) override {
    result_.last_read_beat = now;
    if (memory != nullptr) memory->on_read_beat(now, requester, last);
  }
  void on_write_address(sim::Cycle now, const memory::DramAddress& burst) override {
    if (memory != nullptr) memory->on_write_address(now, burst);
  }
  void on_write_beat(sim::Cycle now, const memory::DramWriteBeat& beat) override {
    result_.last_write_beat = now;
    if (memory != nullptr) memory->on_write_beat(now, beat);
  }
  void on_write_response(sim::Cycle now, unsigned requester) override {
    if (memory != nullptr) memory->on_write_response(now, requester);
  }

 private:
  RunResult& result_;
};

Runner::Runner(System& system, const arch::Program* program, const RunLimits& limits)
    : system_(system),
      program_(program),
      limits_(limits),
      monitor_(std::make_unique<Monitor>(result_)),
      activity_(system) {
  for (MeshSystem& mesh : system.meshes()) {
    if (auto* agent = mesh.agent()) agent->set_probe(monitor_.get());
    if (mesh.has_memory()) mesh.set_memory_probe(monitor_.get());
  }
  next_check_ = system.timeline().now() + std::max<sim::Cycle>(1, limits_.watchdog / kChecksPerWatchdog);
  if (program == nullptr) return;
  topo::check_needs(*program, system.machine());
  if (system.host() == nullptr && !program->steps.empty())
    throw arch::UserError::make("machine \"{}\" has no host to run the program's steps",
                                system.machine().name);
  for (const auto& [mesh, image] : program->images) load_image(system.mesh(mesh), image);

  std::vector<orchestrator::ProgramScript::Buses> buses;
  std::uint8_t next_bus = 0;
  int next_window = 0;
  for (const MeshSystem& mesh : system.meshes()) {
    orchestrator::ProgramScript::Buses b;
    if (mesh.host_bus != nullptr) b.agent = next_bus++;
    if (mesh.engine_slave_bus != nullptr) {
      b.engine = next_bus++;
      b.commands = mesh.description->agent->commands;
    }
    if (mesh.window_bus != nullptr) b.window = next_window++;
    buses.push_back(b);
  }
  script_ = std::make_unique<orchestrator::ProgramScript>(
      *program, std::move(buses),
      orchestrator::ProgramScript::Backdoor{
          [this](std::uint8_t m, const arch::MemoryImage& image) { load(m, image); },
          [this](std::uint8_t m, const arch::StepRelayout& step) { relayout(m, step); }});
  if (system.host() != nullptr) system.host()->set_script(script_.get());
}

Runner::~Runner() {
  for (MeshSystem& mesh : system_.meshes()) {
    if (auto* agent = mesh.agent()) agent->set_probe(nullptr);
    if (mesh.has_memory()) mesh.set_memory_probe(nullptr);
  }
  if (system_.host() != nullptr) system_.host()->set_script(nullptr);
}

void Runner::set_script_probe(orchestrator::ScriptProbe* probe) {
  if (script_ != nullptr) script_->set_probe(probe);
}
void Runner::set_agent_probe(orchestrator::AgentProbe* probe) { monitor_->agent = probe; }
void Runner::watch_memory(std::size_t mesh, std::vector<MemoryWatch::Range> ranges, MemoryWatch::Sink sink) {
  MeshSystem& target = system_.mesh(mesh);
  if (!target.has_memory()) throw arch::UserError("this mesh has no memory to watch");
  watches_.resize(system_.meshes().size());
  watches_[mesh] =
      std::make_unique<MemoryWatch>(system_, target, std::move(ranges), monitor_.get(), std::move(sink));
  target.set_memory_probe(watches_[mesh].get());
}

// What the host does in no time between two transactions.
void Runner::load(std::uint8_t m, const arch::MemoryImage& image) {
  MeshSystem& mesh = system_.mesh(m);
  const sim::Cycle now = system_.engine().now();
  const std::uint64_t bytes = arch::image_bytes(image);
  if (mesh.memory_agent != nullptr) mesh.memory_agent->host_writes(now, image.address, bytes, "a load step");
  load_image(mesh, image);
  if (m < watches_.size() && watches_[m] != nullptr)
    watches_[m]->on_host(now, true, image.address, bytes, "a load step");
}

void Runner::relayout(std::uint8_t m, const arch::StepRelayout& step) {
  const std::uint64_t bytes = platform::relayout(system_.mesh(m), step);
  if (m < watches_.size() && watches_[m] != nullptr)
    watches_[m]->on_host(system_.engine().now(), true, step.address, bytes, "a relayout");
}

void Runner::set_memory_probe(memory::MemoryProbe* probe) { monitor_->memory = probe; }

double Runner::steps_done() const {
  if (script_ == nullptr || script_->steps() == 0) return 0;
  return static_cast<double>(script_->steps_done()) / static_cast<double>(script_->steps());
}

void Runner::finish(arch::ExitStatus status, std::string message) {
  finished_ = true;
  system_.timeline().sync();  // what units work out late may hold the last findings
  if (program_ != nullptr && status != arch::ExitStatus::kCycleLimit) check_outputs();
  result_.findings = findings(system_);
  for (const Finding& finding : result_.findings)
    if (finding.severity == Finding::Severity::kNote) result_.notes.push_back(finding.advice());
  result_.status = status;
  result_.message = std::move(message);
  result_.cycles = system_.timeline().now();
  if (system_.host() != nullptr && system_.host()->done()) result_.host_end = system_.host()->end_cycle();
}

// Called when nothing moves any more: what has not landed never will.
void Runner::check_outputs() {
  for (const arch::Tensor& output : program_->outputs) {
    const MeshSystem& mesh = system_.mesh(output.mesh);
    const unsigned element_bytes = arch::dtype_bits(output.dtype) / 8;
    if (mesh.memory_agent == nullptr || element_bytes == 0) continue;
    const arch::TensorLayout layout(output.layout, output.shape, element_bytes);
    mesh.memory_agent->check_output(system_.engine().now(), output.address, layout.elements() * element_bytes,
                                    output.name);
  }
}

std::string Runner::faults() const { return finding_lines(system_, false); }

std::string Runner::findings_text() const {
  const std::string text = faults();
  // What no program may do often explains it.
  const std::string notes = finding_lines(system_, true);
  return fmt::format("{}{}{}{}", text.empty() ? "" : "\nBefore that:\n", text,
                     notes.empty() ? "" : "\nNoticed:\n", notes);
}

void Runner::finish(arch::ExitStatus status, const Diagnosis& diagnosis) {
  result_.verdict = diagnosis.verdict;
  if (!diagnosis.causes.empty()) {
    result_.cause = diagnosis.causes.front().cause->id;
    result_.where = diagnosis.causes.front().evidence.front().where;
  }
  finish(status, status == arch::ExitStatus::kOk ? std::string() : diagnosis.text + findings_text());
  for (const std::string& note : diagnosis.notes) result_.notes.push_back(note);
}

void Runner::finish_normally() {
  if (const std::string text = faults(); !text.empty()) return finish(arch::ExitStatus::kUnitFault, text);
  if (script_ != nullptr && !script_->failure().empty())
    return finish(arch::ExitStatus::kUnitFault, script_->failure());
  system_.timeline().sync();
  finish(arch::ExitStatus::kOk, diagnose_end(system_));
}

// An external host acts when it likes; until then time goes by.
bool Runner::waits_for_world() const {
  return system_.machine().host.kind == topo::HostKind::kExternal && !host_less_ &&
         system_.host() != nullptr && !system_.host()->done();
}

// The program waits for one, or it is what keeps the run from ending.
bool Runner::waits_for_endless_kernel(bool host_done) {
  std::vector<const sim::Unit*> endless;
  for (const sim::Timeline::Clock& clock : system_.timeline().clocks())
    for (const sim::Unit* unit : clock.engine->units())
      if (const auto* work = sim::model_as<sim::Endless>(unit);
          work != nullptr && work->endless_since() != sim::kNever &&
          clock.engine->now() >= work->endless_since() + limits_.watchdog)
        endless.push_back(unit);
  if (endless.empty() || host_done) return !endless.empty();
  // Of RTL alone nobody can tell whose end the program waits for. The run cannot end well in any case.
  for (const MeshSystem& mesh : system_.meshes())
    if ((mesh.host_bus != nullptr && mesh.control_agent == nullptr) ||
        (mesh.engine_unit != nullptr && mesh.command_engine == nullptr))
      return true;
  system_.timeline().sync();
  const WaitGraph graph(system_);
  for (const WaitGraph::Poll& poll : graph.polls()) {
    const std::vector<bool> seen = graph.reach(poll.node);
    for (const sim::Unit* unit : endless)
      if (const std::size_t node = graph.find(unit, "sequencer"); node != WaitGraph::kNobody && seen[node])
        return true;
  }
  return false;
}

// True when the run is over.
bool Runner::check(sim::Cycle now) {
  for (const Finding& finding : findings(system_))
    if (finding.severity == Finding::Severity::kUnsupported) {
      finish(arch::ExitStatus::kUserError, finding.line());
      return true;
    }
  const bool external = waits_for_world();
  const bool host_done =
      system_.host() == nullptr || (script_ == nullptr && !external) || system_.host()->done();
  if (host_done && system_.drained()) {
    finish_normally();
    return true;
  }
  activity_.look(now);
  const bool external_waits = external && system_.timeline().next_wanted() == sim::kNever;
  if (external_waits)
    activity_.keep_alive(now);  // waits for the world outside, which is no stall of the machine
  if (now >= limits_.max_cycles) {
    const StepCount steps = script_ == nullptr
                                ? StepCount{}
                                : StepCount{script_->steps_done() - !script_->ended(), script_->steps()};
    finish(arch::ExitStatus::kCycleLimit,
           diagnose_limit(system_, steps,
                          now - activity_.moved_at() >= limits_.watchdog / kChecksPerWatchdog * 2,
                          activity_.moved_at(),
                          fmt::format("cycle limit of {} reached (--max-cycles)", limits_.max_cycles)));
    return true;
  }
  const bool asleep = !host_done && !external_waits && system_.timeline().next_wanted() == sim::kNever;
  const auto stands = [&](sim::Cycle since) { return now - since >= limits_.watchdog; };
  const auto end = [&](bool starved, const Activity::Held& held, sim::Cycle since) {
    finish(
        arch::ExitStatus::kNoProgress,
        diagnose_stand(
            system_, starved, held,
            fmt::format("cycle {}: no progress since cycle {}{}", now, since,
                        starved ? held.link == nullptr ? " of what the program waits for" : " there" : "")));
    return true;
  };
  if (asleep || stands(activity_.moved_at())) return end(false, {}, activity_.moved_at());
  if (script_ != nullptr && !host_done && stands(activity_.worked_at()))
    return end(true, {}, activity_.worked_at());
  // While others move: what stands since shortly after is no starvation, and is seen a little later.
  if (const Activity::Held held = activity_.longest_held();
      held.link != nullptr && stands(held.since) && now - activity_.moved_at() < limits_.watchdog / 2)
    return end(true, held, held.since);
  if (waits_for_endless_kernel(host_done)) {
    finish(arch::ExitStatus::kNoProgress,
           diagnose_stand(system_, false, {},
                          fmt::format("cycle {}: a kernel without end is no progress", now)));
    return true;
  }
  return false;
}

void Runner::at(sim::Cycle cycle, Action action) {
  next_action_ = std::min(next_action_, cycle);
  planned_.push_back({cycle, std::move(action)});
}

void Runner::act(sim::Cycle now) {
  next_action_ = sim::kNever;
  for (Planned& planned : planned_) {
    if (planned.cycle <= now) planned.cycle = std::max(planned.action(now), now + 1);
    next_action_ = std::min(next_action_, planned.cycle);
  }
}

void Runner::visit(sim::Archive& a) {
  a.kept("first_kick", result_.first_kick);
  a.kept("last_write_beat", result_.last_write_beat);
  a.kept("last_read_beat", result_.last_read_beat);
  a.kept("last_completion", result_.last_completion);
  activity_.visit(a);
  a.kept("next_check", next_check_);
  if (!a.restores()) return;
  finished_ = false;
  result_.status = arch::ExitStatus::kOk;
  result_.message.clear();
  result_.notes.clear();
  result_.cycles = result_.host_end = 0;
}

bool Runner::run_until(sim::Cycle end) {
  sim::Timeline& timeline = system_.timeline();
  const sim::Cycle interval = std::max<sim::Cycle>(1, limits_.watchdog / kChecksPerWatchdog);
  end = std::min(end, limits_.max_cycles);
  while (!finished_) {
    if (timeline.now() >= next_action_) act(timeline.now());
    if (timeline.now() >= next_check_ || timeline.now() >= limits_.max_cycles ||
        timeline.next_wanted() == sim::kNever) {
      next_check_ = timeline.now() + interval;
      if (check(timeline.now())) break;
    }
    if (timeline.now() >= end) break;
    const sim::Cycle stop = std::min({end, next_check_, next_action_});
    while (timeline.now() < stop) {
      const sim::Cycle event = timeline.next_wanted();
      if (event == sim::kNever && !waits_for_world()) break;  // over or dead: check() decides
      if (event >= stop) {
        timeline.run_until(stop);
        break;
      }
      timeline.step();
    }
  }
  return finished_;
}

const RunResult& Runner::run() {
  host_less_ = true;  // nobody can act before this returns
  run_until(sim::kNever);
  return result_;
}

}  // namespace ktpu::platform
