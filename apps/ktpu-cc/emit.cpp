// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/emit.h"

#include <array>

#include "arch/error.h"

namespace ktpu::apps {

using driver::Compiled;
using driver::Level;

namespace {

constexpr std::array<std::string_view, 5> kLevels{"kernel", "graph", "schedule", "program", "bytes"};

std::string text_of(const Compiled& compiled, Level level) {
  switch (level) {
    case Level::kKernel:
      return print(compiled.kernel);
    case Level::kGraph:
      return print(compiled.graph);
    case Level::kSchedule:
      return print(compiled.schedule);
    case Level::kProgram:
      return print(compiled.program);
    case Level::kBytes:
      return print(compiled.executable);
  }
  return {};
}

std::string tensors(const std::vector<arch::Tensor>& list) {
  std::string text;
  for (const arch::Tensor& tensor : list)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tensor.name, kernel::print(tensor.shape));
  return text;
}

std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

Level level_named(const std::string& emit) {
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (kLevels[i] == emit) return static_cast<Level>(i);
  return Level::kBytes;
}

std::string emitted(const Compiled& compiled, const std::string& emit) {
  if (emit != "all") {
    const Level level = level_named(emit);
    if (level < compiled.first)
      throw arch::UserError::make("--emit {}: the compilation began below, at level {}", emit,
                                  kLevels[static_cast<std::size_t>(compiled.first)]);
    return text_of(compiled, level);
  }
  std::string text;
  for (auto i = static_cast<std::size_t>(compiled.first); i < kLevels.size(); ++i)
    text += fmt::format("{}# {}\n{}", text.empty() ? "" : "\n", kLevels[i],
                        text_of(compiled, static_cast<Level>(i)));
  return text;
}

std::string summary(const Compiled& compiled, const arch::Program& program) {
  std::size_t rounds = 0, stages = 0;
  for (const bytes::ExecStep& step : compiled.executable.steps)
    if (const auto* dispatch = std::get_if<bytes::Dispatch>(&step)) {
      ++stages;
      rounds += dispatch->plan.rounds.size();
    }
  std::string text = fmt::format("{}: {}, {}, {}", compiled.name(), counted(stages, "stage"),
                                 counted(rounds, "round"), counted(compiled.executable.flits(), "word"));
  if (!program.inputs.empty() || !program.outputs.empty())
    text += fmt::format("; {} -> {}", tensors(program.inputs), tensors(program.outputs));
  return text;
}

}  // namespace ktpu::apps
