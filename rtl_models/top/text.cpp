// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/top/text.h"

#include <bit>

namespace ktpu::rtl {

namespace {

std::string joined(const std::vector<std::string>& items, std::string_view indent) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}{}{}\n", indent, items[i], i + 1 < items.size() ? "," : "");
  return text;
}

}  // namespace

std::string Ports::text() const {
  std::size_t width = 0;
  for (const Port& port : ports_) width = std::max(width, port.type.size());
  std::string text;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const Port& port = ports_[i];
    if (!port.comment.empty()) text += fmt::format("{}  // {}\n", i == 0 ? "" : "\n", port.comment);
    text += fmt::format("  {} {:<{}} {}{}\n", port.direction, port.type, width, port.name,
                        i + 1 < ports_.size() ? "," : "");
  }
  return text;
}

void Lines::add(const Instance& instance) { text_ += instance.text(); }

void Instance::clocked() {
  pins_.emplace_back(".clk_i");
  pins_.emplace_back(".rst_ni");
}

std::string Instance::text() const {
  std::string text = fmt::format("  {}", module_);
  if (!parameters_.empty()) text += fmt::format(" #(\n{}  )", joined(parameters_, "    "));
  return text + fmt::format(" {} (\n{}  );\n", name_, joined(pins_, "    "));
}

std::string constant(unsigned width, std::uint64_t value) { return fmt::format("{}'d{}", width, value); }

unsigned bits_for(std::uint64_t value) {
  return value == 0 ? 1 : static_cast<unsigned>(std::bit_width(value));
}

std::string logic(unsigned width) { return width == 1 ? "logic" : fmt::format("logic [{}:0]", width - 1); }

}  // namespace ktpu::rtl
