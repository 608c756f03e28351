// SPDX-License-Identifier: Apache-2.0
// An archive that keeps track of the scopes it is in, for those that need the full name of what they visit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tlm/sim/archive.h"

namespace ktpu::observe {

class ScopedArchive : public sim::Archive {
 public:
  explicit ScopedArchive(std::string_view root) : prefix_(root) {}

 protected:
  // Full name of a value called `name` in the present scope.
  std::string path(std::string_view name) const {
    std::string full = prefix_;
    if (!full.empty()) full += '.';
    full += name;
    return full;
  }
  void on_enter(std::string_view name) override {
    ends_.push_back(prefix_.size());
    if (!prefix_.empty()) prefix_ += '.';
    prefix_ += name;
  }
  void on_leave() override {
    prefix_.resize(ends_.back());
    ends_.pop_back();
  }

 private:
  std::string prefix_;
  std::vector<std::size_t> ends_;
};

}  // namespace ktpu::observe
