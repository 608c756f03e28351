// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/fabric.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <queue>

#include "arch/error.h"

namespace ktpu::schedule {
namespace {

std::size_t place_of(std::span<const unsigned> path, unsigned mesh) {
  const auto found = std::find(path.begin(), path.end(), mesh);
  if (found == path.end())
    throw arch::UserError::make("mesh {} is not on the path {}", mesh, fmt::join(path, "-"));
  return static_cast<std::size_t>(found - path.begin());
}

}  // namespace

Fabric::Fabric(std::vector<Hop> links) : links_(std::move(links)) {
  if (const std::string problem = verify(); !problem.empty()) throw arch::UserError(problem);
}

std::vector<unsigned> Fabric::neighbours(unsigned mesh) const {
  std::vector<unsigned> found;
  for (const Hop& link : links_) {
    if (link.from == mesh) found.push_back(link.to);
    if (link.to == mesh) found.push_back(link.from);
  }
  std::sort(found.begin(), found.end());
  return found;
}

unsigned Fabric::hops(unsigned from, unsigned to) const {
  std::map<unsigned, unsigned> distance{{from, 0}};
  std::queue<unsigned> next({from});
  while (!next.empty() && !distance.contains(to)) {
    const unsigned mesh = next.front();
    next.pop();
    for (const unsigned other : neighbours(mesh))
      if (distance.emplace(other, distance.at(mesh) + 1).second) next.push(other);
  }
  const auto found = distance.find(to);
  if (found == distance.end()) throw arch::UserError::make("no links lead from mesh {} to mesh {}", from, to);
  return found->second;
}

std::vector<unsigned> Fabric::path(std::span<const unsigned> meshes) const {
  const auto refuse = [&](std::string_view why) {
    return arch::UserError::make("meshes {} are no path of links: {}", fmt::join(meshes, ", "), why);
  };
  if (meshes.empty()) throw refuse("there are none");
  const auto linked = [&](unsigned mesh) {  // among the given ones
    std::vector<unsigned> among;
    for (const unsigned other : neighbours(mesh))
      if (std::find(meshes.begin(), meshes.end(), other) != meshes.end()) among.push_back(other);
    return among;
  };
  std::vector<unsigned> walk;
  for (const unsigned mesh : meshes) {
    if (std::count(meshes.begin(), meshes.end(), mesh) != 1) throw refuse("one is named twice");
    const std::size_t links = linked(mesh).size();
    if (links > 2) throw refuse(fmt::format("it forks at {}", mesh));
    if (links < 2 && walk.empty()) walk.push_back(mesh);
  }
  if (walk.empty()) throw refuse("it is a ring");
  for (bool on = true; on;) {
    on = false;
    for (const unsigned other : linked(walk.back())) {
      if (std::find(walk.begin(), walk.end(), other) != walk.end()) continue;
      walk.push_back(other);
      on = true;
      break;
    }
  }
  if (walk.size() != meshes.size()) throw refuse("there is a gap");
  return walk;
}

std::string Fabric::print() const {
  std::string text;
  for (const Hop& link : links_) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.from, link.to);
  return text;
}

std::string Fabric::verify() const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Hop link = links_[i];
    if (link.from == link.to) return fmt::format("mesh {} has a link to itself", link.from);
    for (std::size_t k = 0; k < i; ++k)
      if (links_[k] == link || links_[k] == Hop{link.to, link.from})
        return fmt::format("the link {}-{} is named twice", link.from, link.to);
  }
  return {};
}

std::vector<Hop> converge(std::span<const unsigned> path, unsigned into) {
  const std::size_t at = place_of(path, into);
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < at; ++i) hops.push_back({path[i], path[i + 1]});
  for (std::size_t i = path.size() - 1; i > at; --i) hops.push_back({path[i], path[i - 1]});
  return hops;
}

unsigned hops_to(std::span<const unsigned> path, unsigned into) {
  const std::size_t at = place_of(path, into);
  return static_cast<unsigned>(std::max(at, path.size() - 1 - at));
}

}  // namespace ktpu::schedule
