// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/compile.h"

#include "compiler/base/refusal.h"
#include "compiler/graph_to_schedule/lower.h"
#include "compiler/kernel_to_graph/lower.h"
#include "compiler/program_to_bytes/lower.h"
#include "compiler/schedule_to_program/lower.h"

namespace ktpu::driver {
namespace {

using schedule::Policy;

// A level that does not keep its rules is the fault of the pass that made it.
template <typename Level>
void checked(const char* pass, const Level& level) {
  try {
    verify(level);
  } catch (const base::Refusal&) {
    throw;
  } catch (const arch::UserError& error) {
    throw arch::UserError::make("after pass {}: {}", pass, error.what());
  }
}

void below_graph(Compiled& out, const Machine& machine, const Options& options) {
  const graph_to_schedule::Options how{options.policy, options.regrid, options.reuse_temps};
  out.schedule = graph_to_schedule::lower(out.graph, machine.resources, how);
  out.schedule.relaxed = out.relaxed;
  checked("graph-to-schedule", out.schedule);
  out.program = schedule_to_program::lower(out.schedule);
  checked("schedule-to-program", out.program);
  out.executable = program_to_bytes::lower(
      out.program, machine.bytes,
      options.policy == Policy::kCompat ? bytes::CommandLimit::kReport : bytes::CommandLimit::kCut);
  checked("program-to-bytes", out.executable);
}

}  // namespace

Compiled compile(const kernel::Definition& definition, const std::map<std::string, kernel::Shape>& inputs,
                 const kernel::Knobs& knobs, const Machine& machine, const Options& options) {
  Compiled out;
  out.kernel = kernel::trace(definition, inputs, knobs);
  checked("trace", out.kernel);
  const graph::Graph fused = kernel_to_graph::lower(out.kernel);
  checked("kernel-to-graph", fused);
  const auto staged = [&] {
    out.graph = graph_to_schedule::stage_epilogues(fused);
    out.graph.fuse = false;
    checked("stage-epilogues", out.graph);
    below_graph(out, machine, options);
  };
  if (!fused.fuse) {
    out.relaxed = true;
    staged();
    return out;
  }
  try {
    out.graph = fused;
    below_graph(out, machine, options);
  } catch (const base::CannotFuse&) {
    out.relaxed = true;
    out.kernel.fuse = false;
    out.kernel.knobs.insert_or_assign("fuse", kernel::Knob(false));
    staged();
  }
  return out;
}

}  // namespace ktpu::driver
