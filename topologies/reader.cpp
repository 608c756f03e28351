// SPDX-License-Identifier: Apache-2.0
#include "topologies/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "arch/encoding/interlink.h"
#include "arch/error.h"
#include "topologies/loader.h"
#include "topologies/map_reader.h"
#include "topologies/mesh_reader.h"
#include "topologies/suggest.h"

#ifndef KTPU_TOPOLOGY_FOLDERS
#error "the build defines KTPU_TOPOLOGY_FOLDERS: source and install folder, separated by '|'"
#endif

namespace ktpu::topo {

namespace fs = std::filesystem;

namespace {

struct MachineKeys {
  std::uint64_t version = 0;
  const Doc* name = nullptr;
  std::optional<double> clock_mhz;
  const Doc* clocks = nullptr;
  Quirks quirks = Quirks::kReference;
  const Doc* meshes = nullptr;
  const Doc* host = nullptr;
};

bool is_plain_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || text[0] == '-' || text[0] == '.' || is_null_word(text))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; });
}

std::vector<Clock> read_clocks(const MapReader& top, const MachineKeys& keys) {
  constexpr double kLo = 0.001, kHi = 100000;
  if (keys.clocks == nullptr) {
    if (!keys.clock_mhz)
      fail_key(top.doc().mark, "", "required key 'clock_mhz' is missing (or give 'clocks')");
    return {{"fabric", *keys.clock_mhz}};
  }
  if (keys.clock_mhz) fail_key(keys.clocks->mark, "clocks", "give either clocks or clock_mhz, not both");
  if (!keys.clocks->is_map())
    fail_key(keys.clocks->mark, "clocks",
             fmt::format("{} where a map of name: MHz is needed", keys.clocks->what()));
  std::vector<Clock> clocks(1);
  for (const DocEntry& entry : keys.clocks->entries) {
    const std::string path = "clocks." + entry.key;
    if (!is_plain_name(entry.key))
      fail_key(entry.key_mark, "clocks", fmt::format("{} is no name", show_text(entry.key)));
    const Clock clock{entry.key, parse_number(entry.value, path, kLo, kHi, "MHz")};
    if (entry.key == "fabric")
      clocks[0] = clock;
    else
      clocks.push_back(clock);
  }
  if (clocks[0].name.empty()) fail_key(keys.clocks->mark, "clocks", "required key 'fabric' is missing");
  return clocks;
}

Host read_host(const Doc& doc) {
  MapReader reader(doc, "host");
  Host host;
  host.place = doc.mark.place();
  const bool has_kind = doc.find("kind") != nullptr;
  if (!has_kind && doc.find("script") != nullptr)
    host.kind = HostKind::kScript;  // `host: {script: {...}}` says it all
  visit(reader, host);
  reader.finish();
  if (!has_kind && host.kind != HostKind::kScript) {
    std::vector<std::string> words;
    for (const auto& w : kHostKindWords) words.emplace_back(w.word);
    fail_key(doc.mark, "host", fmt::format("required key 'kind' is missing; allowed: {}", join(words)));
  }
  return host;
}

// Interlinks join neighbours of the chain of mesh ids (memory.md section 11). One that has no neighbour, or
// whose packets would have to pass a mesh without one, is no machine. `meshes` are the documents, `ids` their
// ids.
void check_interlinks(const Machine& machine, const std::vector<Doc>& docs,
                      const std::vector<unsigned>& ids) {
  namespace il = arch::interlink;
  const auto built = [&](unsigned id) {
    return std::any_of(machine.meshes.begin(), machine.meshes.end(),
                       [&](const Mesh& mesh) { return mesh.id == id && mesh.interlink == Presence::kBuilt; });
  };
  for (std::size_t i = 0; i < docs.size(); ++i) {
    if (!built(ids[i])) continue;
    const Mark& mark = docs[i].find("interlink")->value.mark;
    const std::string path = fmt::format("meshes.{}.interlink", i);
    const unsigned at = il::position(ids[i]);
    unsigned others = 0;
    for (unsigned p = 0; p < il::kMeshes; ++p) {
      if (p == at || !built(il::kChain[p])) continue;
      ++others;
      for (unsigned q = std::min(p, at) + 1; q < std::max(p, at); ++q)
        if (!built(il::kChain[q]))
          fail_key(
              mark, path,
              fmt::format(
                  "mesh {} and mesh {} are to be linked, but mesh {} between them in the chain 0 - 1 - 3 "
                  "- 2 has no interlink",
                  ids[i], il::kChain[p], il::kChain[q]));
    }
    if (others == 0)
      fail_key(
          mark, path,
          fmt::format("mesh {} has no neighbour with an interlink in the chain 0 - 1 - 3 - 2; allowed alone: "
                      "absent, idle",
                      ids[i]));
  }
}

// What stands for a block that is not there would never be looked at.
void check_command_engines(const Machine& machine, const std::vector<Doc>& docs) {
  if (machine.host.kind == HostKind::kCommandEngine) return;
  for (std::size_t i = 0; i < docs.size(); ++i) {
    const DocEntry* agent = docs[i].find("agent");
    const DocEntry* engine =
        agent == nullptr || !agent->value.is_map() ? nullptr : agent->value.find("command_engine");
    if (engine != nullptr)
      fail_key(
          engine->key_mark, fmt::format("meshes.{}.agent.command_engine", i),
          fmt::format("there is no command engine: it comes with host: {{kind: command_engine}}, and the "
                      "host's kind is '{}'",
                      host_kind_name(machine.host.kind)));
  }
}

void check_clock_domains(const Machine& machine, const MachineKeys& keys) {
  for (std::size_t i = 1; i < machine.clocks.size(); ++i) {
    bool used = false;
    for (const Mesh& mesh : machine.meshes) {
      used |= mesh.dram && mesh.dram->clock == i;
      for (const Node& node : mesh.nodes) used |= node.clock == i;
    }
    if (!used)
      fail_key(keys.clocks->find(machine.clocks[i].name)->key_mark, "clocks",
               fmt::format("clock '{}' is defined but no unit and no DRAM has it", machine.clocks[i].name));
  }
}

Machine read_machine(const Doc& doc, const Mark& start) {
  if (doc.is_null()) fail_at(start, "the file is empty; a topology starts with version: 1");
  MapReader top(doc, "");
  MachineKeys keys;
  visit_machine(top, keys);
  top.finish();

  Machine machine;
  machine.name = parse_text(*keys.name, "name");
  if (!is_plain_name(machine.name))
    fail_key(
        keys.name->mark, "name",
        fmt::format("{} is no name; allowed: 1..64 letters, digits, '_', '-', '.'", show_text(machine.name)));
  machine.clocks = read_clocks(top, keys);
  if (!keys.meshes->is_sequence())
    fail_key(keys.meshes->mark, "meshes",
             fmt::format("{} where a list of meshes is needed", keys.meshes->what()));
  const std::vector<Doc>& meshes = keys.meshes->items;
  if (meshes.empty() || meshes.size() > kMaxMeshes)
    fail_key(keys.meshes->mark, "meshes",
             fmt::format("{} meshes; allowed: 1..{}", meshes.size(), kMaxMeshes));
  std::vector<unsigned> ids;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    Mesh mesh = read_mesh(meshes[i], static_cast<unsigned>(i), machine.clocks, keys.quirks);
    for (std::size_t j = 0; j < i; ++j)
      if (machine.meshes[j].id == mesh.id)
        fail_key(meshes[i].mark, fmt::format("meshes.{}", i),
                 fmt::format("mesh id {} is taken by meshes.{}; ids are unique", mesh.id, j));
    ids.push_back(mesh.id);
    machine.meshes.push_back(std::move(mesh));
  }
  std::sort(machine.meshes.begin(), machine.meshes.end(),
            [](const Mesh& a, const Mesh& b) { return a.id < b.id; });
  check_interlinks(machine, meshes, ids);
  if (keys.host != nullptr) machine.host = read_host(*keys.host);
  const bool has_agent = std::any_of(machine.meshes.begin(), machine.meshes.end(),
                                     [](const Mesh& mesh) { return mesh.agent.has_value(); });
  if (machine.host.kind != HostKind::kNone && !has_agent)
    fail_key(top.mark("host"), "host",
             fmt::format("host kind '{}' drives a control agent, but no mesh has the key 'agent'",
                         host_kind_name(machine.host.kind)));
  check_command_engines(machine, meshes);
  check_clock_domains(machine, keys);
  return machine;
}

Machine read_text_as(std::string_view text, const std::string& name, const Overrides& overrides) {
  Budget budget;
  Doc doc = parse_document(text, name, budget);
  resolve_includes(doc, fs::path(name).parent_path(), budget);
  const Mark start{std::make_shared<const std::string>(name), 1, 1};
  // An override must not turn an empty file into a half machine with odd messages.
  if (!doc.is_null()) apply_overrides(doc, overrides, budget);
  return read_machine(doc, start);
}

}  // namespace

std::vector<fs::path> shipped_folders() {
  std::vector<fs::path> folders;
  std::string_view rest = KTPU_TOPOLOGY_FOLDERS;
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    const fs::path folder(rest.substr(0, bar));
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
    std::error_code error;
    if (fs::is_directory(folder, error)) folders.push_back(folder);
  }
  return folders;
}

std::vector<std::string> shipped_names(const std::vector<fs::path>& shipped) {
  std::set<std::string> names;
  for (const fs::path& folder : shipped) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

fs::path find_topology(const std::string& name, const std::vector<fs::path>& shipped) {
  if (name.empty()) throw arch::UserError("the topology name is empty");
  const auto is_file = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
  };
  if (name.find('/') != std::string::npos) return name;  // read_text says what is wrong with it
  std::vector<fs::path> folders{fs::path()};
  folders.insert(folders.end(), shipped.begin(), shipped.end());
  for (const fs::path& folder : folders)
    for (const char* ending : {"", ".yaml"}) {
      const fs::path path = folder / (name + ending);
      if (is_file(path)) return path;
    }
  const std::vector<std::string> names = shipped_names(shipped);
  const std::string stem = name.ends_with(".yaml") ? name.substr(0, name.size() - 5) : name;
  throw arch::UserError::make(
      "no topology {}: neither a file in the current folder nor one of the shipped machines{}; "
      "shipped: {}",
      show_text(name), did_you_mean(stem, names), join(names));
}

Machine read_file(const std::string& name, const Overrides& overrides, const std::vector<fs::path>& shipped) {
  const fs::path path = find_topology(name, shipped);
  return read_text_as(read_text(path, path.string(), nullptr), path.string(), overrides);
}

Machine read_string(std::string_view text, const std::string& name, const Overrides& overrides) {
  return read_text_as(text, name, overrides);
}

}  // namespace ktpu::topo
