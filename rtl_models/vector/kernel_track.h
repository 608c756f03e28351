// SPDX-License-Identifier: Apache-2.0
// Follows a kernel by the words that the RTL's events show, to tell one that comes to no VHALT (vector.md
// section 10): the only way back is a loop of at most 15 words, so whoever comes round the instruction memory
// has left all of it behind, without a VHALT.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tlm/sim/cycle.h"

namespace ktpu::rtl {

class KernelTrack {
 public:
  static constexpr int kWords = 512;  // of the instruction memory

  void start(sim::Cycle now, unsigned pc) {
    running_ = true;
    started_ = now;
    at_ = static_cast<int>(pc);
    way_ = furthest_ = 0;
  }
  void execute(unsigned pc) {
    int step = (static_cast<int>(pc) - at_ + kWords) % kWords;
    if (step >= kWords - kLoopWords) step -= kWords;  // back to the beginning of a loop
    at_ = static_cast<int>(pc);
    way_ += step;
    furthest_ = std::max(furthest_, way_);
  }
  void end() { running_ = false; }
  // When the kernel began that has gone round twice: at the second time VSETI's numbers may be words. kNever:
  // none has.
  sim::Cycle endless_since() const { return running_ && furthest_ >= 2 * kWords ? started_ : sim::kNever; }

 private:
  static constexpr int kLoopWords = 16;  // a loop's body, and the word that it begins with

  bool running_ = false;
  sim::Cycle started_ = 0;
  int at_ = 0;                 // the word executed last
  std::int64_t way_ = 0;       // words forward since the start, loops taken back
  std::int64_t furthest_ = 0;  // the most it was
};

}  // namespace ktpu::rtl
