// SPDX-License-Identifier: Apache-2.0
#include "tlm/traffic/link_checker.h"

#include <fmt/format.h>

namespace ktpu::traffic {

void LinkChecker::on_cycle(sim::Cycle now) {
  for (Watched& w : links_) {
    if (w.holds && !(w.link->valid() && w.link->data() == w.held)) {
      ++violations_;
      if (first_.size() < kKept)
        first_.push_back({now, fmt::format("{}: flit {} was refused in cycle {} and {} in cycle {}",
                                           w.link->name(), arch::to_hex(w.held), now - 1,
                                           w.link->valid() ? "replaced" : "withdrawn", now)});
    }
    w.holds = w.link->valid() && w.link->busy();
    if (w.holds) w.held = w.link->data();
  }
}

}  // namespace ktpu::traffic
