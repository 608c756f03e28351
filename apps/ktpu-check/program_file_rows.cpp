// SPDX-License-Identifier: Apache-2.0
// Whole recorded programs (vectors/programs/README.md).
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/program_measure.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr Cycle kHang = 400'000;  // a poll not met in so many cycles

// What the run is made from, and what the README calls information only.
const FieldNames kProgramSkip{"id", "machine", "kernel", "knobs", "effective_knobs", "host", "cause", "dram",
                              "unit", "base", "fused_form_refused", "inputs", "stages", "flit_words",
                              "modelled", "accuracy", "accuracy_functional_model", "functional_model",
                              "model_saturated", "simulated_cycles", "wrong",
                              "bits_different_under_quiet_host", "flags",
                              // compared part by part below
                              "steps", "outputs", "memory_sha256"};
const FieldNames kRoundSkip{"op", "n", "unit", "stage", "index", "of", "seed", "kicks", "awaits", "slots"};
const FieldNames kRelayoutSkip{"op",           "addr",        "shape",  "layout_before", "layout_after",
                               "bytes_before", "bytes_after", "gather", "model_same"};
const FieldNames kOutputSkip{"name", "shape", "addr", "nbytes", "layout", "gather", "functional_model"};

void compare_steps(const json& expected, const json& got, Differences& differences) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string path = fmt::format("steps[{}]", i);
    const std::string& op = expected[i].at("op").get_ref<const std::string&>();
    if (op == "round") {
      compare_fields(expected[i], got[i], kRoundSkip, path, differences);
      // A round without `clusters` is one in which no cluster issued.
      if (!expected[i].contains("clusters") && got[i].contains("clusters"))
        differences.add(path + ".clusters", "(none issued)", got[i]["clusters"].dump());
      if (!expected[i].contains("vector_runs") && got[i].contains("vector_runs"))
        differences.add(path + ".vector_runs", "(no kernel)", got[i]["vector_runs"].dump());
    } else if (op == "relayout") {
      compare_fields(expected[i], got[i], kRelayoutSkip, path, differences);
    }
  }
}

std::string join(const std::vector<std::string>& list) {
  std::string all;
  for (const std::string& item : list) all += (all.empty() ? "" : ", ") + item;
  return all;
}

}  // namespace

void check_program(const json& file, Differences& differences) {
  const ImportedProgram program = import_program(file);
  if (!program.unsupported.empty())
    throw arch::UserError::make("not supported by this version: {}", join(program.unsupported));
  Rig rig(program.machine, &program.program);
  rig.set_quiet_before_round(program.quiet_before_round);
  ProgramMeasure measure(file, program, rig);
  platform::RunLimits limits;
  limits.watchdog = kHang;
  const platform::RunResult& result = rig.run_unchecked(limits);
  const bool hung = result.status == arch::ExitStatus::kNoProgress;
  if (!hung && result.status != arch::ExitStatus::kOk) throw arch::UserError(result.message, result.status);

  json got = json::object();
  got["status"] = hung ? "hang" : "ok";
  got["cycles"] = measure.cycles();
  got["dram_totals"] = measure.dram_totals();
  got["memory_port_stall_cycles"] = measure.memory_port_stall_cycles();
  compare_fields(file, got, kProgramSkip, {}, differences);
  compare_steps(file["steps"], measure.steps(), differences);
  if (file.contains("outputs")) {
    const json outputs = measure.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      compare_fields(file["outputs"][i], outputs[i], kOutputSkip, fmt::format("outputs[{}]", i), differences);
  }
  if (file.contains("memory_sha256"))
    compare(file["memory_sha256"], measure.memory_sha256(), "memory_sha256", differences);
}

}  // namespace ktpu::check
