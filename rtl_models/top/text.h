// SPDX-License-Identifier: Apache-2.0
// SystemVerilog as lines: what the writer of tops puts together.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace ktpu::rtl {

// One instance: the connections in order.
class Instance {
 public:
  Instance(std::string module, std::string name) : module_(std::move(module)), name_(std::move(name)) {}
  void parameter(const std::string& name, std::uint64_t value) {
    parameters_.push_back(fmt::format(".{} ({})", name, value));
  }
  void pin(const std::string& name, const std::string& net) {
    pins_.push_back(fmt::format(".{} ({})", name, net));
  }
  void clocked();  // clk_i and rst_ni
  std::string text() const;

 private:
  std::string module_, name_;
  std::vector<std::string> parameters_, pins_;
};

class Lines {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  void add(const Instance& instance);
  void blank() { text_ += '\n'; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The ports of a module, in order, some with a comment above.
class Ports {
 public:
  void comment(std::string text) { comment_ = std::move(text); }
  void in(std::string type, std::string name) { add("input ", std::move(type), std::move(name)); }
  void out(std::string type, std::string name) { add("output", std::move(type), std::move(name)); }
  std::string text() const;

 private:
  struct Port {
    std::string comment;
    std::string_view direction;
    std::string type, name;
  };
  void add(std::string_view direction, std::string type, std::string name) {
    ports_.push_back({std::move(comment_), direction, std::move(type), std::move(name)});
    comment_.clear();
  }
  std::string comment_;
  std::vector<Port> ports_;
};

// A constant of `width` bits: 10'd512.
std::string constant(unsigned width, std::uint64_t value);
// Bits that hold 0..value.
unsigned bits_for(std::uint64_t value);
// "logic [7:0]", "logic".
std::string logic(unsigned width);

}  // namespace ktpu::rtl
