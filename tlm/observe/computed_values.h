// SPDX-License-Identifier: Apache-2.0
// The values of a unit that have no address: occupancies and the like, worked out while visiting it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tlm/sim/archive.h"
#include "tlm/sim/unit.h"

namespace ktpu::observe {

class ComputedValues final : public sim::Archive {
 public:
  // All of them in visiting order; good until the next call. What queues hold is not walked, so a value has
  // the same place in every call.
  const std::vector<std::uint64_t>& of(sim::Unit& unit) {
    values_.clear();
    unit.visit(*this);
    return values_;
  }
  bool walks_contents() const override { return false; }

 protected:
  void on_value(std::string_view, void*, std::size_t, const sim::ValueInfo&) override {}
  void on_computed(std::string_view, std::uint64_t value, const sim::ValueInfo&) override {
    values_.push_back(value);
  }
  void on_memory(std::string_view, void*, std::size_t, std::size_t) override {}
  void on_enter(std::string_view) override {}
  void on_leave() override {}

 private:
  std::vector<std::uint64_t> values_;
};

}  // namespace ktpu::observe
