// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernel/knobs.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "arch/error.h"

namespace ktpu::kernel {
namespace {

struct Printer {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(std::int64_t n) const { return std::to_string(n); }
  std::string operator()(double d) const {
    std::string text = fmt::format("{}", d);
    // A double keeps looking like one.
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }
  std::string operator()(const std::string& word) const { return fmt::format("\"{}\"", word); }
};

template <class T>
bool read(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string print(const Knob& knob) { return std::visit(Printer{}, knob); }

Knob parse_knob(std::string_view text) {
  if (text == "none") return {};
  if (text == "true" || text == "false") return text == "true";
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return std::string(text.substr(1, text.size() - 2));
  std::int64_t whole = 0;
  if (read(text, whole)) return whole;
  double number = 0;
  if (read(text, number)) return number;
  throw arch::UserError::make("{} is no value of a knob: none, true, false, a number or \"a word\"", text);
}

}  // namespace ktpu::kernel
