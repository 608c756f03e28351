// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ktpu::observe {

std::uint64_t EngineCycles::total() const {
  std::uint64_t sum = 0;
  for (const Entry* state : states) sum += state->read();
  return sum;
}

std::vector<unsigned> EngineCycles::tenths() const {
  std::vector<std::uint64_t> parts;
  for (const Entry* state : states) parts.push_back(state->read());
  return tenths_of_percent(parts);
}

std::vector<EngineCycles> engines_of(const Registry& registry) {
  std::vector<EngineCycles> engines;
  for (const Entry& entry : registry.entries()) {  // the states of an engine follow each other
    if (entry.priority == 0) continue;
    if (engines.empty() || engines.back().name != entry.engine()) engines.push_back({entry.engine(), {}});
    engines.back().states.push_back(&entry);
  }
  return engines;
}

std::vector<const Entry*> states_of(std::string_view engine, const Registry& registry) {
  for (EngineCycles& found : engines_of(registry))
    if (found.name == engine) return std::move(found.states);
  return {};
}

std::string_view short_name(const Entry& state) {
  return std::string_view(state.path).substr(state.path.rfind('.') + 1);
}

std::vector<unsigned> tenths_of_percent(const std::vector<std::uint64_t>& parts) {
  constexpr unsigned kWhole = 1000;
  std::vector<unsigned> tenths(parts.size(), 0);
  const std::uint64_t total = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  if (total == 0) return tenths;
  std::vector<std::pair<std::uint64_t, std::size_t>> rest;  // remainder, part
  unsigned given = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    __extension__ using Wide = unsigned __int128;
    const Wide scaled = static_cast<Wide>(parts[i]) * kWhole;
    tenths[i] = static_cast<unsigned>(scaled / total);
    rest.emplace_back(static_cast<std::uint64_t>(scaled % total), i);
    given += tenths[i];
  }
  std::stable_sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; given < kWhole; ++i, ++given) ++tenths[rest[i].second];
  return tenths;
}

std::string shares_text(const Registry& registry, bool zeros) {
  const std::vector<EngineCycles> engines = engines_of(registry);
  std::size_t width = 0;
  for (const EngineCycles& engine : engines) width = std::max(width, engine.name.size());
  std::string text;
  for (const EngineCycles& engine : engines) {
    const bool rests = engine.states.back()->read() == engine.total();
    if (rests && !zeros) continue;
    const std::vector<unsigned> tenths = engine.tenths();
    text += fmt::format("{:<{}} ", engine.name, width);
    for (std::size_t i = 0; i < tenths.size(); ++i)
      if (zeros || engine.states[i]->read() != 0)
        text += fmt::format(" {} {}.{} ", short_name(*engine.states[i]), tenths[i] / 10, tenths[i] % 10);
    text += "%\n";
  }
  return text;
}

}  // namespace ktpu::observe
