// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/minimise.h"

#include <algorithm>

namespace ktpu::cosim {

Stimulus minimise(Stimulus stimulus, const std::function<bool(const Stimulus&)>& fails, unsigned tries) {
  const auto still_fails = [&](const Stimulus& shorter) { return tries != 0 && (--tries, fails(shorter)); };
  // Ever smaller pieces are left out, from the end: what came after the failure goes first.
  std::size_t piece = std::max<std::size_t>(1, stimulus.size() / 2);
  while (tries != 0) {
    bool any = false;
    for (std::size_t end = stimulus.size(); end != 0;) {
      const std::size_t begin = end - std::min(piece, end);
      Stimulus shorter(stimulus.begin(), stimulus.begin() + static_cast<std::ptrdiff_t>(begin));
      shorter.insert(shorter.end(), stimulus.begin() + static_cast<std::ptrdiff_t>(end), stimulus.end());
      if (still_fails(shorter)) {
        stimulus = std::move(shorter);
        any = true;
      }
      end = begin;
    }
    if (piece == 1 && !any) break;
    if (piece > 1) piece = std::max<std::size_t>(1, std::min(piece, stimulus.size()) / 2);
  }
  for (std::size_t m = 0; m < stimulus.size(); ++m) {
    if (stimulus[m].gap == 0) continue;
    Stimulus sooner = stimulus;
    sooner[m].gap = 0;
    if (still_fails(sooner)) stimulus = std::move(sooner);
  }
  return stimulus;
}

}  // namespace ktpu::cosim
