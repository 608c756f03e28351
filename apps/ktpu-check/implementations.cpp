// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/implementations.h"

#include "apps/common/register_units.h"

namespace ktpu::check {

namespace {

struct Wanted {
  std::string spec;
  bool used = false;
};
std::vector<Wanted> wanted;  // the tool's command line, for the life of the process

}  // namespace

void set_implementations(std::vector<std::string> specs) {
  wanted.clear();
  for (std::string& spec : specs) wanted.push_back({std::move(spec)});
}

void apply_implementations(topo::Machine& machine) {
  for (Wanted& w : wanted) w.used = topo::apply_impl_where_present(machine, w.spec) || w.used;
}

std::string unused_implementation() {
  for (const Wanted& w : wanted)
    if (!w.used) return w.spec;
  return {};
}

const platform::Registry& all_units() {
  static const platform::Registry registry = [] {
    platform::Registry r;
    apps::register_units(r);
    return r;
  }();
  return registry;
}

}  // namespace ktpu::check
