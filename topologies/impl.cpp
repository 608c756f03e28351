// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "arch/error.h"
#include "topologies/description.h"
#include "topologies/names.h"
#include "topologies/suggest.h"

namespace ktpu::topo {

namespace {

// Nodes that stand for no hardware: they make and take flits, and nothing but a model can stand for them.
bool is_stimulus(std::string_view kind) {
  return kind == kind_short(Kind::kTraffic) || kind == kind_short(Kind::kNull);
}

// `pattern`: [mN.]KIND[@X,Y], with `*` for a coordinate or for every kind of hardware, and no `@` meaning
// every coordinate.
bool matches(std::string_view pattern, unsigned mesh, std::string_view kind, Coord at) {
  const std::string prefix = fmt::format("m{}.", mesh);
  if (pattern.starts_with(prefix))
    pattern.remove_prefix(prefix.size());
  else if (pattern.starts_with("m*."))
    pattern.remove_prefix(3);
  const std::size_t split = pattern.find('@');
  const std::string_view wanted_kind = pattern.substr(0, split);
  const std::string_view wanted_at = split == std::string_view::npos ? "*" : pattern.substr(split + 1);
  return (wanted_kind == "*" ? !is_stimulus(kind) : wanted_kind == kind) &&
         (wanted_at == "*" || wanted_at == fmt::format("{},{}", at.x, at.y));
}

}  // namespace

UserModule user_module(const std::filesystem::path& file, std::string top) {
  if (top.empty()) top = file.stem().string();
  return {std::filesystem::absolute(file).lexically_normal().string(), std::move(top)};
}

UserModule parse_user_module(std::string_view text, const std::string& shown) {
  const std::size_t colon = text.find(':');
  if (text.empty() || colon == 0)
    throw arch::UserError::make("{}: which file? Write FILE or FILE:TOP there", shown);
  return user_module(text.substr(0, colon),
                     std::string(colon == std::string_view::npos ? "" : text.substr(colon + 1)));
}

bool apply_impl_where_present(Machine& machine, std::string_view spec) {
  const std::string shown = "--impl " + std::string(spec);
  const std::size_t equals = spec.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw arch::UserError::make("{}: write it as NODE=IMPL, for instance cluster@2,1=rtl", shown);
  const std::string_view what = spec.substr(0, equals), value = spec.substr(equals + 1);
  const std::size_t colon = value.find(':');
  const std::string_view word = value.substr(0, colon);
  std::vector<std::string> words;
  const Word<Impl>* found = nullptr;
  for (const auto& w : kImplWords) {
    words.emplace_back(w.word);
    if (w.word == word) found = &w;
  }
  if (found == nullptr)
    throw arch::UserError::make("{}: {} is not allowed; allowed: {}{}", shown, show_text(word), join(words),
                                did_you_mean(word, words));
  const Impl impl = found->value;
  UserModule module;
  if (colon != std::string_view::npos) {
    if (impl == Impl::kModel)
      throw arch::UserError::make("{}: a module of your own is rtl, lockstep or pins, not model", shown);
    module = parse_user_module(value.substr(colon + 1), shown);
  }
  bool any = false;
  for (Mesh& mesh : machine.meshes) {
    for (Node& node : mesh.nodes)
      if (matches(what, mesh.id, kind_short(node.kind()), node.at))
        node.impl = impl, node.module = module, any = true;
    for (Router& router : mesh.routers)
      if (matches(what, mesh.id, kRouterShort, router.at))
        router.impl = impl, router.module = module, any = true;
    if (!mesh.agent) continue;
    const Coord agent = mesh.ports.empty() ? Coord{} : mesh.ports.front();
    const auto set_agent = [&](std::string_view kind, Impl& of, UserModule& its) {
      if (matches(what, mesh.id, kind, agent)) of = impl, its = module, any = true;
    };
    set_agent("agent", mesh.agent->impl, mesh.agent->module);
    if (machine.host.kind == HostKind::kCommandEngine)
      set_agent("engine", mesh.agent->engine_impl, mesh.agent->engine_module);
  }
  return any;
}

void apply_impl(Machine& machine, std::string_view spec) {
  if (apply_impl_where_present(machine, spec)) return;
  const std::string_view what = spec.substr(0, spec.find('='));
  const std::vector<std::string> ids = node_ids(machine);
  throw arch::UserError::make("--impl {}: there is no node {}{}; valid: {}", spec, show_text(what),
                              did_you_mean(what, ids), join(ids));
}

}  // namespace ktpu::topo
