// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/executable.h"

namespace ktpu::bytes {

std::size_t Executable::flits() const {
  std::size_t count = 0;
  for (const ExecStep& step : steps)
    if (const Dispatch* dispatch = std::get_if<Dispatch>(&step))
      for (const Round& round : dispatch->plan.rounds) count += round.artifact.words.size();
  return count;
}

}  // namespace ktpu::bytes
