// SPDX-License-Identifier: Apache-2.0
// Arguments to ports: extents, leading axes, knobs (compiler.md section 14).
#include <algorithm>
#include <optional>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/definition.h"

namespace ktpu::kernel {

using base::Index;
using base::Phase;
using base::Refusal;

Dim::Dim(std::string symbol) : ellipsis_(symbol == "...") {
  if (!ellipsis_) index_ = Index::axis(std::move(symbol));
}

namespace {

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& fix) {
  throw Refusal(Phase::kBind, code, what, fix);
}

bool is_flat(const Port& port) { return port.shape.size() == 1 && port.shape[0].is_ellipsis(); }
bool is_batched(const Port& port) { return port.shape.size() > 1 && port.shape[0].is_ellipsis(); }

class Binder {
 public:
  Binder(const Definition& definition, const std::map<std::string, Shape>& inputs)
      : definition_(definition), inputs_(inputs) {
    kernel_.name = definition.name;
  }

  Kernel bind(const Knobs& knobs) {
    bind_knobs(knobs);
    check_names();
    for (const Port& port : definition_.ports)
      if (port.role == Role::kIn) solve(port, inputs_.at(port.name));
    bool any_batched = false;
    for (const Port& port : definition_.ports) {
      any_batched = any_batched || is_batched(port);
      add_buffer(port);
    }
    kernel_.lead = lead_.value_or(Shape{});
    if (any_batched) kernel_.batch = elements(kernel_.lead);
    return std::move(kernel_);
  }

 private:
  void bind_knobs(const Knobs& knobs) {
    kernel_.knobs = definition_.knobs;
    for (const auto& [name, value] : knobs) {
      const auto found = kernel_.knobs.find(name);
      if (found == kernel_.knobs.end() && name != "fuse") {
        std::string known;
        for (const auto& [other, ignored] : kernel_.knobs) known += " " + other;
        refuse("UNKNOWN_KNOB", fmt::format("{} has no knob {}", definition_.name, name),
               fmt::format("its knobs are:{} fuse", known));
      }
      kernel_.knobs[name] = value;
    }
    if (const auto fuse = kernel_.knobs.find("fuse"); fuse != kernel_.knobs.end()) {
      if (!std::holds_alternative<bool>(fuse->second))
        refuse("KNOB_TYPE", fmt::format("knob fuse is {}", print(fuse->second)), "give it true or false");
      kernel_.fuse = std::get<bool>(fuse->second);
    }
    if (const auto part = kernel_.knobs.find("part"); part != kernel_.knobs.end()) {
      const auto* n = std::get_if<std::int64_t>(&part->second);
      if (!n)
        refuse("KNOB_TYPE", fmt::format("knob part is {}", print(part->second)), "give it a whole number");
      if (*n < 1)
        throw Refusal(Phase::kTrace, "KNOB_NOT_POSITIVE", fmt::format("knob part is {}", *n),
                      "give it 1 or more elements");
      kernel_.part = static_cast<std::uint64_t>(*n);
    }
  }

  void check_names() const {
    for (const auto& [name, shape] : inputs_) {
      const auto found = std::find_if(definition_.ports.begin(), definition_.ports.end(),
                                      [&name = name](const Port& p) { return p.name == name; });
      if (found == definition_.ports.end())
        refuse("UNEXPECTED_ARGUMENT", fmt::format("{} has no port {}", definition_.name, name),
               "leave it out");
      if (found->role == Role::kOut)
        refuse("OUT_PASSED", fmt::format("{} of {} is a result", name, definition_.name),
               "leave it out: the compiler allocates results");
      if (std::find(shape.begin(), shape.end(), 0U) != shape.end())
        refuse("EXTENT_ZERO", fmt::format("{} is {}", name, print(shape)), "give every axis 1 or more");
    }
    for (const Port& port : definition_.ports)
      if (port.role == Role::kIn && !inputs_.contains(port.name))
        refuse("MISSING_ARGUMENT", fmt::format("{} needs {}", definition_.name, port.name), "pass it");
  }

  void set_lead(const Port& port, Shape lead) {
    if (!lead_) {
      lead_ = std::move(lead);
      lead_of_ = port.name;
    } else if (*lead_ != lead) {
      refuse("LEADING_AXES_DISAGREE",
             fmt::format("the leading axes of {} are [{}], those of {} [{}]", port.name, print(lead),
                         lead_of_, print(*lead_)),
             "give both the same");
    }
  }

  void solve(const Port& port, const Shape& shape) {
    if (is_flat(port)) {
      set_lead(port, shape);
      kernel_.flat = elements(shape);
      return;
    }
    const std::size_t named = port.shape.size() - (is_batched(port) ? 1 : 0);
    if (is_batched(port) ? shape.size() < named : shape.size() != named)
      refuse("WRONG_RANK", fmt::format("{} is {}, {} axes", port.name, print(shape), shape.size()),
             fmt::format("give it {}{} axes", is_batched(port) ? "at least " : "", named));
    const std::size_t skip = shape.size() - named;
    if (is_batched(port))
      set_lead(port, Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(skip)));
    for (std::size_t i = 0; i < named; ++i) {
      const Index& dim = port.shape[port.shape.size() - named + i].index();
      if (!dim.is_axis()) continue;
      const std::string symbol = *dim.axes().begin();
      const auto [at, fresh] = kernel_.extents.try_emplace(symbol, shape[skip + i]);
      if (fresh) {
        extent_of_[symbol] = port.name;
      } else if (at->second != shape[skip + i]) {
        refuse("EXTENT_DISAGREES",
               fmt::format("{} is {} in {} and {} in {}", symbol, at->second, extent_of_[symbol],
                           shape[skip + i], port.name),
               "give operands that fit together");
      }
    }
  }

  std::uint32_t value(const Port& port, const Index& dim) const {
    base::Bindings known(kernel_.extents.begin(), kernel_.extents.end());
    for (const auto& [name, knob] : kernel_.knobs)
      if (const auto* n = std::get_if<std::int64_t>(&knob)) known.emplace(name, *n);
    for (const std::string& axis : dim.axes())
      if (!known.contains(axis))
        refuse("EXTENT_UNSOLVED", fmt::format("{} of {} stands alone in no operand", axis, port.name),
               "name it as an axis of an operand, arithmetic does not solve for it");
    const std::int64_t n = dim.at(known);
    if (n < 1 || n > UINT32_MAX)
      refuse("EXTENT_ZERO", fmt::format("an axis of {} comes to {}", port.name, n),
             "give every axis 1 or more");
    return static_cast<std::uint32_t>(n);
  }

  void add_buffer(const Port& port) {
    Buffer buffer;
    buffer.name = port.name;
    buffer.role = port.role;
    buffer.flat = is_flat(port);
    if (buffer.flat || is_batched(port)) {
      if (!lead_)
        refuse("EXTENT_UNSOLVED", fmt::format("no operand has the leading axes of {}", port.name),
               "begin the shape of an operand with ...");
    }
    if (buffer.flat) {
      buffer.shape = lead_->empty() ? Shape{1} : *lead_;
    } else {
      buffer.batched = is_batched(port) && !lead_->empty();
      for (const Dim& dim : port.shape)
        if (!dim.is_ellipsis()) buffer.shape.push_back(value(port, dim.index()));
      if (port.role == Role::kIn) check_arithmetic(port, buffer.shape);
    }
    kernel_.buffers.push_back(std::move(buffer));
  }

  // Axes written as numbers or arithmetic solve nothing, but they have to come out.
  void check_arithmetic(const Port& port, const Shape& want) const {
    const Shape& got = inputs_.at(port.name);
    if (!std::equal(want.begin(), want.end(), got.end() - static_cast<std::ptrdiff_t>(want.size())))
      refuse("EXTENT_DISAGREES",
             fmt::format("{} is {}, it ends in {} here", port.name, print(got), print(want)),
             "give operands that fit together");
  }

  const Definition& definition_;
  const std::map<std::string, Shape>& inputs_;
  Kernel kernel_;
  std::optional<Shape> lead_;
  std::string lead_of_;
  std::map<std::string, std::string> extent_of_;
};

}  // namespace

Kernel bind(const Definition& definition, const std::map<std::string, Shape>& inputs, const Knobs& knobs) {
  return Binder(definition, inputs).bind(knobs);
}

}  // namespace ktpu::kernel
