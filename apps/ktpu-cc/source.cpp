// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/source.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "arch/error.h"
#include "arch/suggest.h"
#include "compiler/kernels/kernels.h"

namespace ktpu::apps {

using arch::UserError;

namespace {

const kernel::Definition* by_last_word(const std::string& name) {
  const kernel::Definition* found = nullptr;
  for (const kernel::Definition* one : kernels::all()) {
    if (!one->name.ends_with("." + name)) continue;
    if (found != nullptr)
      throw UserError::make("{} is the last word of {} and of {}: give the whole name", name, found->name,
                            one->name);
    found = one;
  }
  return found;
}

std::string first_word(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string::npos) return {};
    if (text[at] != '#') break;
    at = std::min(text.find('\n', at), text.size());
  }
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at);
  return text.substr(at, end - at);
}

Source parse_source(const std::string& text, const std::string& file) {
  const std::string word = first_word(text);
  if (word == "tensors") return tensor::parse(text, file);
  if (word == "kernel") return kernel::parse(text, file);
  if (word == "graph") return graph::parse(text, file);
  if (word == "schedule") return schedule::parse(text, file);
  if (word == "program") return program::parse(text, file);
  if (word == "executable") return bytes::parse(text, file);
  throw UserError::make(
      "{}: begins with neither tensors, kernel, graph, schedule, program nor executable: it is no text of a "
      "level",
      file);
}

// "name=rest" of an option.
std::pair<std::string, std::string> split(const char* option, const std::string& text, const char* form) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
    throw UserError::make("{} {}: expected {}", option, text, form);
  return {text.substr(0, equal), text.substr(equal + 1)};
}

bool is_word(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
}

// "M", "(H + 2) * (W + 2)".
std::string axis_text(const kernel::Dim& dim) {
  if (dim.is_ellipsis()) return "...";
  std::string text = dim.index().print();
  std::erase(text, '%');
  return text;
}

}  // namespace

Source find_source(const std::string& name) {
  if (const kernel::Definition* found = kernels::find(name)) return found;
  if (const kernel::Definition* found = by_last_word(name)) return found;
  std::ifstream file(name, std::ios::binary);
  if (!file || std::filesystem::is_directory(name)) {
    std::vector<std::string_view> known;
    for (const kernel::Definition* one : kernels::all()) {
      known.push_back(one->name);
      known.push_back(std::string_view(one->name).substr(one->name.find('.') + 1));
    }
    throw UserError::make("{} is neither a kernel of the library nor a file{} (ktpu-cc --list names all)",
                          name, arch::did_you_mean(name, known));
  }
  return parse_source({std::istreambuf_iterator<char>(file), {}}, name);
}

std::map<std::string, kernel::Shape> parse_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, kernel::Shape> shapes;
  for (const std::string& text : texts) {
    const auto [name, rest] = split("--shape", text, "PORT=64x128");
    kernel::Shape shape;
    const char* at = rest.data();
    const char* const end = at + rest.size();
    while (true) {
      std::uint32_t extent = 0;
      const auto [stop, error] = std::from_chars(at, end, extent);
      if (error != std::errc() || (stop != end && *stop != 'x'))
        throw UserError::make("--shape {}: expected PORT=64x128", text);
      shape.push_back(extent);
      if (stop == end) break;
      at = stop + 1;
    }
    if (!shapes.emplace(name, std::move(shape)).second)
      throw UserError::make("--shape {}: the shape of {} is given twice", text, name);
  }
  return shapes;
}

kernel::Knobs parse_knobs(const std::vector<std::string>& texts) {
  kernel::Knobs knobs;
  for (const std::string& text : texts) {
    const auto [name, rest] = split("--knob", text, "NAME=VALUE");
    const bool word = is_word(rest) && rest != "true" && rest != "false" && rest != "none";
    const kernel::Knob value = word ? kernel::Knob(rest) : kernel::parse_knob(rest);
    if (!knobs.emplace(name, value).second) throw UserError::make("--knob {}: {} is given twice", text, name);
  }
  return knobs;
}

std::string list_line(const kernel::Definition& definition) {
  std::string ports[2], knobs;
  for (const kernel::Port& port : definition.ports) {
    std::string axes;
    for (const kernel::Dim& dim : port.shape)
      axes += fmt::format("{}{}", axes.empty() ? "" : ",", axis_text(dim));
    std::string& to = ports[port.role == kernel::Role::kIn ? 0 : 1];
    to += fmt::format("{}{}[{}]", to.empty() ? "" : " ", port.name, axes);
  }
  for (const auto& [name, value] : definition.knobs)
    knobs += fmt::format(" {}={}", name, kernel::print(value));
  return fmt::format("{}: {} -> {}{}{}", definition.name, ports[0], ports[1], knobs.empty() ? "" : " ;",
                     knobs);
}

}  // namespace ktpu::apps
