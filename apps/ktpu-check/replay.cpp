// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/replay.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/float64_kernels.h"
#include "apps/ktpu-check/implementations.h"
#include "apps/ktpu-check/logs.h"
#include "arch/encoding/quirks.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr Cycle kHang = 400'000;  // a poll not met in so many cycles
constexpr double kTimesModel = 1.25;
constexpr double kRounded = 1e-3;  // of the file's figures, which have four digits
constexpr std::uint32_t kQuiet = 256;

struct Run {
  Outcome outcome = Outcome::kError;
  std::string message;
  std::uint64_t machine_cycles = 0, total_cycles = 0;
  std::map<std::string, std::uint64_t> quirks;
  std::map<std::string, std::vector<double>> outputs;  // row-major
};

// Kicks, and what a round ends with, as they happen.
class RoundTimes final : public orchestrator::AgentProbe,
                         public memory::MemoryProbe,
                         public orchestrator::ScriptProbe {
 public:
  explicit RoundTimes(const std::vector<std::size_t>& rounds) : rounds_(rounds) {}

  void step(Cycle, std::size_t index) override {
    if (std::binary_search(rounds_.begin(), rounds_.end(), index)) armed_ = true;
  }
  void kick(Cycle pulse) override {
    if (!armed_) return;
    armed_ = false;
    close();
    first_ = last_ = pulse;
  }
  void received(Cycle now, const arch::Flit& flit) override {
    if (flit.type() == arch::FlitType::kCuSignal) last_ = std::max(last_, now);
  }
  void on_write_beat(Cycle now, const memory::DramWriteBeat&) override { last_ = std::max(last_, now); }

  std::uint64_t machine_cycles() {
    close();
    return sum_;
  }

 private:
  void close() {
    if (first_ != sim::kNever) sum_ += last_ - first_ + 1;
    first_ = sim::kNever;
  }

  const std::vector<std::size_t>& rounds_;
  bool armed_ = false;
  Cycle first_ = sim::kNever, last_ = 0;
  std::uint64_t sum_ = 0;
};

std::vector<double> read_output(const platform::MeshSystem& mesh, const arch::Tensor& tensor) {
  const arch::TensorLayout layout(tensor.layout, tensor.shape);
  const std::vector<std::uint8_t> bytes =
      layout.unpack(platform::read_memory(mesh, tensor.address, 2 * layout.elements()));
  std::vector<double> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = arch::fp16_to_double(static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8));
  return values;
}

// Rows that were not swept are zeros to the caller (compiler.md section 9, Tile).
void fill_up(const json& file, Run& run) {
  for (const auto& [name, output] : member(file, "outputs").items()) {
    std::size_t count = 1;
    for (const std::uint32_t extent : tensor_shape(output)) count *= extent;
    std::vector<double>& values = run.outputs[name];
    if (values.size() < count) values.resize(count, 0.0);
  }
}

Run run_on_machine(const json& file, const ReplayOptions& options) {
  LiveProgram live = import_live(file, options.import);
  for (topo::Mesh& mesh : live.machine.meshes)
    for (topo::Node& node : mesh.nodes) node.quirks = options.quirks;
  apply_implementations(live.machine);
  platform::System system(std::move(live.machine), all_units());
  platform::RunLimits limits;
  limits.watchdog = kHang;
  platform::Runner runner(system, &live.program, limits);
  RoundTimes times(live.rounds);
  runner.set_agent_probe(&times);
  runner.set_memory_probe(&times);
  runner.set_script_probe(&times);
  const platform::RunResult& result = runner.run();

  Run run;
  run.message = result.message;
  run.outcome = result.status == arch::ExitStatus::kOk           ? Outcome::kCompleted
                : result.status == arch::ExitStatus::kNoProgress ? Outcome::kHang
                : result.status == arch::ExitStatus::kUnitFault  ? Outcome::kFault
                                                                 : Outcome::kError;
  run.machine_cycles = times.machine_cycles();
  run.total_cycles = std::max(result.host_end, result.last_write_beat.value_or(0) + 1);
  for (const platform::Finding& finding : result.findings)
    if (arch::find_quirk(finding.id) != nullptr) run.quirks[finding.id] += finding.count;
  if (run.outcome == Outcome::kCompleted)
    for (const arch::Tensor& output : live.program.outputs)
      run.outputs[output.name] = read_output(system.mesh(), output);
  if (run.outcome == Outcome::kCompleted) fill_up(file, run);
  return run;
}

std::vector<double> doubles(const std::vector<std::uint16_t>& halves) {
  std::vector<double> values(halves.size());
  std::transform(halves.begin(), halves.end(), values.begin(), arch::fp16_to_double);
  return values;
}

std::optional<Reals> reference_of(const json& file) {
  Reals inputs;
  for (const auto& [name, tensor] : member(file, "inputs").items())
    inputs[name] = {tensor_shape(tensor), doubles(tensor_values(tensor, name))};
  std::optional<Reals> outputs =
      evaluate_float64(text(member(file, "kernel"), "kernel"), inputs, member(file, "effective_knobs"));
  if (outputs && outputs->size() == 1 && outputs->begin()->first.empty() &&
      member(file, "outputs").size() == 1) {
    Real only = std::move(outputs->begin()->second);
    outputs = Reals{{file["outputs"].begin().key(), std::move(only)}};
  }
  return outputs;
}

// An infinite or undefined result is infinitely wrong; an undefined reference takes anything.
double error_of(double got, double reference) {
  if (std::isnan(reference)) return 0;
  const double error = std::fabs(got - reference);
  return std::isnan(error) ? HUGE_VAL : error;
}

// An output as the recorded model had it: all elements, or every `step`-th.
struct Recorded {
  std::size_t step = 1;
  std::vector<double> values;
};

Recorded recorded_output(const json& output, std::size_t count) {
  if (output.contains("fp16")) return {1, doubles(hex_halves(output["fp16"], "fp16", count))};
  const auto step =
      static_cast<std::size_t>(integer(member(output, "sample_step"), "sample_step", 1, 1 << 24));
  return {step, doubles(hex_halves(member(output, "sample_fp16"), "sample_fp16", (count + step - 1) / step))};
}

double fp16_ulp(double value) {
  constexpr int kLowest = -14, kFraction = 10;
  return value == 0 ? std::ldexp(1, kLowest - kFraction)
                    : std::ldexp(1, std::max(std::ilogb(value), kLowest) - kFraction);
}

Accuracy accuracy_of(const json& file, const Run& run, const Reals& reference) {
  Accuracy a;
  double model = 0, largest = 0;
  for (const auto& [name, output] : member(file, "outputs").items()) {
    const auto exact = reference.find(name);
    const auto got = run.outputs.find(name);
    if (exact == reference.end() || got == run.outputs.end() || exact->second.v.size() != got->second.size())
      throw UserError::make("output \"{}\" and its FP64 reference do not fit", name);
    const Recorded recorded = recorded_output(output, got->second.size());
    for (std::size_t i = 0; i < got->second.size(); ++i) {
      const double value = exact->second.v[i], error = error_of(got->second[i], value);
      if (!std::isnan(value)) largest = std::max(largest, std::fabs(value));
      a.error = std::max(a.error, error);
      if (i % recorded.step != 0) continue;
      a.error_seen = std::max(a.error_seen, error);
      model = std::max(model, error_of(recorded.values[i / recorded.step], value));
    }
    a.sampled = a.sampled || recorded.step != 1;
  }
  if (file.contains("max_abs_err_vs_float64")) {
    const double own = file["max_abs_err_vs_float64"].get<double>();
    if (!a.sampled && std::fabs(own - model) > kRounded * own)
      throw UserError::make(
          "max_abs_err_vs_float64 is {}, but the recorded outputs are {} from the FP64 reference", own,
          model);
    model = own;
    a.sampled = false;
  }
  a.allowed = kTimesModel * model + fp16_ulp(largest);
  return a;
}

std::string names(const std::map<std::string, std::uint64_t>& quirks) {
  std::string all;
  for (const auto& [id, hits] : quirks) all += fmt::format("{}{}", all.empty() ? "" : ", ", id);
  return all;
}

// Why the error is beyond the bound: what has to be changed for it to hold.
std::string cause_of(const json& file, const ReplayOptions& options, const Run& first,
                     const Reals& reference) {
  const auto holds = [&](const ReplayOptions& other) {
    const Run run = run_on_machine(file, other);
    return run.outcome == Outcome::kCompleted && accuracy_of(file, run, reference).holds();
  };
  ReplayOptions quiet = options, intended = options;
  quiet.import.quiet_cycles = std::max(options.import.quiet_cycles, kQuiet);
  intended.quirks = topo::Quirks::kNone;
  if (!first.quirks.empty() && holds(intended)) return fmt::format("quirk {}", names(first.quirks));
  if (options.import.quiet_cycles < kQuiet && holds(quiet)) return "stale read";
  quiet.quirks = topo::Quirks::kNone;
  if (!first.quirks.empty() && options.import.quiet_cycles < kQuiet && holds(quiet))
    return fmt::format("quirk {} and stale read", names(first.quirks));
  return {};
}

void judge(const json& file, const ReplayOptions& options, Replayed& row) {
  const Run run = run_on_machine(file, options);
  row.outcome = run.outcome;
  row.machine_cycles = run.machine_cycles;
  row.total_cycles = run.total_cycles;
  row.quirks = run.quirks;
  if (run.outcome != Outcome::kCompleted) {
    row.verdict = run.message;
    return;
  }
  const std::optional<Reals> reference = reference_of(file);
  if (!reference) {
    row.verdict = fmt::format("no FP64 reference for kernel {}", file["kernel"].dump());
    return;
  }
  row.accuracy = accuracy_of(file, run, *reference);
  row.fine = true;
  if (row.known_wrong) {
    row.verdict = "compiled wrongly by the reference, not judged";
  } else if (row.accuracy->holds()) {
    row.verdict = "holds";
  } else if (const std::string cause = cause_of(file, options, run, *reference); !cause.empty()) {
    row.verdict = cause;
  } else {
    row.fine = false;
    row.verdict = "WRONG, no cause found";
  }
}

}  // namespace

Replayed replay(const json& file, const ReplayOptions& options) {
  Replayed row;
  try {
    row.name = text(member(file, "id"), "id");
    row.known_wrong = file.contains("reference_wrong") && file["reference_wrong"] == true;
    if (text(member(file, "status"), "status") == "refused") {
      row.outcome = Outcome::kRefused;
      row.fine = true;
      row.verdict = "refused by the compiler, nothing to run";
      return row;
    }
    judge(file, options, row);
  } catch (const UserError& error) {
    row.verdict = error.what();
  } catch (const json::exception& error) {
    row.verdict = error.what();
  } catch (const arch::InternalError&) {
    throw;
  } catch (const std::exception& error) {
    row.verdict = fmt::format("internal error: {}", error.what());
  }
  return row;
}

}  // namespace ktpu::check
