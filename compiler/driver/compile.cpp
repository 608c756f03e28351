// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/compile.h"

#include <algorithm>

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

void below_schedule(Compiled& out, const Machine& machine, const Options& options) {
  if (options.last < Level::kProgram) return;
  if (out.first <= Level::kSchedule) {
    out.program = schedule_to_program::lower(out.schedule);
    checked("schedule-to-program", out.program);
  }
  if (options.last < Level::kBytes) return;
  out.executable = program_to_bytes::lower(
      out.program, machine.bytes,
      options.policy == Policy::kCompat ? bytes::CommandLimit::kReport : bytes::CommandLimit::kCut);
  checked("program-to-bytes", out.executable);
}

void below_graph(Compiled& out, const Machine& machine, const Options& options, bool split) {
  const graph_to_schedule::Options how{options.policy, options.regrid, options.reuse_temps, split};
  out.schedule = graph_to_schedule::lower(out.graph, machine.resources, how);
  out.schedule.relaxed = out.relaxed;
  schedule_to_program::require_fusing(out.schedule);
  checked("graph-to-schedule", out.schedule);
  below_schedule(out, machine, options);
}

// A pass that reads its own results and fits no single program becomes a stage for each statement.
void below_graph(Compiled& out, const Machine& machine, const Options& options) {
  if (options.last < Level::kSchedule) return;
  try {
    below_graph(out, machine, options, false);
  } catch (const base::Refusal& refusal) {
    const bool splits = refusal.code() == "HAZARD" || refusal.code() == "RUN_CUT_READS_RESULT";
    if (options.policy != Policy::kBest || !splits) throw;
    below_graph(out, machine, options, true);
  }
}

// An operand that no arena can take is named before hours are spent on its instances. The reference comes to
// it last.
void require_arena(const kernel::Kernel& kernel, const Machine& machine) {
  std::uint64_t total = 0;
  for (const kernel::Buffer& buffer : kernel.buffers) {
    if (buffer.role != kernel::Role::kIn && buffer.role != kernel::Role::kOut) continue;
    std::uint64_t bytes = 2;
    for (const std::uint32_t extent : buffer.shape) bytes *= extent;  // at most 2^40: verified
    const std::uint64_t blocks = buffer.batched ? std::min<std::uint64_t>(kernel.batch, 1U << 20) : 1;
    total += bytes * blocks;
  }
  if (total > machine.resources.arena_bytes)
    throw base::Refusal(base::Phase::kAllocate, "OUT_OF_MEMORY",
                        fmt::format("operands and results of {} bytes, and machine {} has {} for them", total,
                                    machine.name, machine.resources.arena_bytes),
                        "split the call, or give the machine more DRAM");
}

// The fused form first; where it is refused, the staged one.
void from_graph(Compiled& out, const graph::Graph& fused, const Machine& machine, const Options& options) {
  const auto staged = [&] {
    out.relaxed = true;
    out.graph = graph_to_schedule::stage_epilogues(fused);
    out.graph.fuse = false;
    checked("stage-epilogues", out.graph);
    below_graph(out, machine, options);
  };
  if (!fused.fuse) return staged();
  try {
    out.graph = fused;
    below_graph(out, machine, options);
  } catch (const base::CannotFuse& refusal) {
    out.refused = refusal.what();
    if (out.first == Level::kKernel) {
      out.kernel.fuse = false;
      out.kernel.knobs.insert_or_assign("fuse", kernel::Knob(false));
    }
    staged();
  }
}

}  // namespace

const std::string& Compiled::name() const {
  return first == Level::kKernel     ? kernel.name
         : first == Level::kGraph    ? graph.name
         : first == Level::kSchedule ? schedule.name
         : first == Level::kProgram  ? program.name
                                     : executable.name;
}

Compiled compile(const kernel::Kernel& kernel, const Machine& machine, const Options& options) {
  Compiled out;
  out.kernel = kernel;
  checked("trace", out.kernel);
  if (options.last < Level::kGraph) return out;
  if (options.policy == Policy::kBest && options.last >= Level::kSchedule) require_arena(out.kernel, machine);
  const graph::Graph fused = kernel_to_graph::lower(out.kernel);
  checked("kernel-to-graph", fused);
  from_graph(out, fused, machine, options);
  return out;
}

Compiled compile(const kernel::Definition& definition, const std::map<std::string, kernel::Shape>& inputs,
                 const kernel::Knobs& knobs, const Machine& machine, const Options& options) {
  const bool best = options.policy == Policy::kBest;
  return compile(kernel::trace(definition, inputs, best ? kernel::settled(definition, inputs, knobs) : knobs,
                               best ? kernel::Takes::kAll : kernel::Takes::kReference),
                 machine, options);
}

Compiled compile(const graph::Graph& graph, const Machine& machine, const Options& options) {
  Compiled out;
  out.first = Level::kGraph;
  verify(graph);
  from_graph(out, graph, machine, options);
  return out;
}

Compiled compile(const schedule::Schedule& schedule, const Machine& machine, const Options& options) {
  if (!(schedule.resources == machine.resources))
    throw arch::UserError::make(
        "schedule {} was made for other resources than machine {} has: lower the graph for this machine",
        schedule.name, machine.name);
  verify(schedule);
  Compiled out;
  out.first = Level::kSchedule;
  out.schedule = schedule;
  out.relaxed = schedule.relaxed;
  Options its = options;
  its.policy = schedule.policy;
  below_schedule(out, machine, its);
  return out;
}

Compiled compile(const program::Program& program, const Machine& machine, const Options& options) {
  verify(program);
  Compiled out;
  out.first = Level::kProgram;
  out.program = program;
  below_schedule(out, machine, options);
  return out;
}

Compiled compile(const bytes::Executable& executable, const Machine& machine) {
  if (executable.machine != machine.name)
    throw arch::UserError::make("executable {} was made for machine {}, not for {}", executable.name,
                                executable.machine, machine.name);
  verify(executable);
  Compiled out;
  out.first = Level::kBytes;
  out.executable = executable;
  return out;
}

}  // namespace ktpu::driver
