// SPDX-License-Identifier: Apache-2.0
// misc/layout, misc/memory and misc/mesh: what the schedule level decides (vectors/compiler/README.md).
#include <fmt/format.h>

#include <map>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "compiler/program/remote_drain.h"
#include "compiler/schedule/arena.h"
#include "compiler/schedule/entry_walk.h"
#include "compiler/schedule/fabric.h"
#include "compiler/schedule/layout.h"
#include "compiler/schedule/lifetime.h"
#include "compiler/schedule/pairing.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::int64_t kMaxExtent = 65535;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 36;
constexpr std::int64_t kNoMesh = 255;  // a mesh that does not exist is for the library to refuse
constexpr const char* kRefused = "refused";

std::int64_t number(const json& row, const char* field, std::int64_t low, std::int64_t high) {
  return integer(member(row, field), field, low, high);
}
unsigned extent(const json& row, const char* field) {
  return static_cast<unsigned>(number(row, field, 1, kMaxExtent));
}
template <typename T = unsigned>
std::vector<T> numbers(const json& value, const char* field, std::int64_t high) {
  if (!value.is_array()) throw UserError::make("field \"{}\" is no list", field);
  std::vector<T> all;
  for (const json& one : value) all.push_back(static_cast<T>(integer(one, field, 0, high)));
  return all;
}
arch::Coord coord(const json& row, const char* field) {
  const auto at = numbers<std::uint8_t>(list(row, field, 2), field, 15);
  return {at[0], at[1]};
}

template <typename Value>
json or_refused(const Value& value) {
  try {
    return value();
  } catch (const UserError&) {
    return kRefused;
  }
}

// A decision that does not hold its own rules is a difference, even where the recorded numbers agree.
void expect_holds(const std::string& problem) { KTPU_CHECK(problem.empty(), "{}", problem); }

schedule::Layout layout_of(const json& row) {
  const std::string& key = text(member(row, "layout"), "layout");
  const std::string kind = key.substr(0, key.find(':'));
  const json& p = member(row, "params");
  if (kind == "flat") return schedule::Layout::flat();
  if (kind == "entry") return schedule::Layout::entry(extent(p, "groups"), extent(p, "blocks"));
  if (kind == "bias") return schedule::Layout::channel_bias(extent(p, "gn"));
  if (kind == "conv" && number(p, "pad", 1, 1) == 1) return schedule::Layout::conv_entry(extent(p, "gm"));
  if (kind == "tile") {
    const auto grid = numbers(list(p, "grid", 2), "grid", kMaxExtent);
    return schedule::Layout::tile(grid[0], grid[1], extent(p, "gm"), extent(p, "gn"));
  }
  throw UserError::make("layout \"{}\" is none of flat, entry, tile, bias, conv", key);
}

std::string hex_bytes(const std::vector<std::uint8_t>& bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::vector<std::uint8_t> generated(const json& lcg, schedule::Shape shape) {
  arch::ImageLcg values;
  values.count = 1;
  for (const std::uint32_t n : shape) values.count *= n;
  values.seed = static_cast<std::uint32_t>(number(lcg, "seed", 0, 0xFFFFFFFF));
  values.shift = static_cast<std::uint32_t>(number(lcg, "shift", 0, 31));
  if (lcg.contains("offset")) values.offset = lcg["offset"].get<double>();
  if (lcg.contains("abs")) values.abs = lcg["abs"].get<bool>();
  std::vector<std::uint8_t> bytes;
  for (const std::uint16_t value : arch::lcg_values(values)) {
    bytes.push_back(static_cast<std::uint8_t>(value));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  }
  return bytes;
}

json spread_json(const schedule::Spread& spread) {
  if (spread.is_partial()) return "partial";
  return spread.is_copied() ? json() : json(spread.axis());
}
schedule::Spread spread_of(const json& row, const char* field) {
  const json& value = member(row, field);
  if (value.is_null()) return schedule::Spread::copied();
  if (value == "partial") return schedule::Spread::partial();
  return schedule::Spread::split(static_cast<unsigned>(integer(value, field, 0, 7)));
}

json topology_answer(const json& row) {
  static const schedule::Fabric kFabric;
  if (row.contains("hops")) {
    const auto ends = numbers(list(row, "hops", 2), "hops", kNoMesh);
    return or_refused([&] { return json(kFabric.hops(ends[0], ends[1])); });
  }
  if (row.contains("path")) {
    const auto meshes = numbers(row["path"], "path", kNoMesh);
    return or_refused([&] { return json(kFabric.path(meshes)); });
  }
  if (row.contains("neighbours"))
    return kFabric.neighbours(static_cast<unsigned>(number(row, "neighbours", 0, kNoMesh)));
  const json& at = list(row, "global_addr", 2);
  const std::uint64_t local = hex_value(at[0], "global_addr", 64);
  const auto mesh = static_cast<unsigned>(integer(at[1], "global_addr", 0, kNoMesh));
  return or_refused([&] { return json(fmt::format("{:x}", schedule::global_address(mesh, local).value())); });
}

schedule::StageAccess access_of(const json& step) {
  if (!step.is_array() || step.size() != 2) throw UserError::make("a step is no pair [reads, writes]");
  return {step[0].get<std::vector<std::string>>(), step[1].get<std::vector<std::string>>()};
}

// In the order in which the steps name them: JSON keeps no order of its own.
std::vector<schedule::ScratchBuffer> buffers_of(const json& sizes,
                                                const std::vector<schedule::StageAccess>& steps) {
  std::vector<schedule::ScratchBuffer> buffers;
  const auto take = [&](const std::string& name) {
    for (const schedule::ScratchBuffer& b : buffers)
      if (b.name == name) return;
    if (sizes.contains(name))
      buffers.push_back({name, static_cast<std::uint64_t>(integer(sizes[name], name.c_str(), 0, kMaxBytes))});
  };
  for (const schedule::StageAccess& step : steps) {
    for (const std::string& name : step.reads) take(name);
    for (const std::string& name : step.writes) take(name);
  }
  for (const auto& [name, bytes] : sizes.items()) take(name);
  return buffers;
}

}  // namespace

void check_layout_pack(const json& row, Differences& differences) {
  const schedule::Layout layout = layout_of(row);
  const auto shape = numbers<std::uint32_t>(member(row, "shape"), "shape", kMaxExtent);
  expect_holds(layout.verify(shape));
  const auto values = generated(member(row, "lcg"), shape);
  const auto image = layout.pack(values, shape);
  KTPU_CHECK(layout.unpack(image, shape) == values, "{} does not come back", layout.key());
  const json got = {{"layout", layout.key()},
                    {"nbytes", layout.nbytes(shape)},
                    // Of longer images only the hash is recorded.
                    {"bytes_hex", row.value("bytes_hex", json()).is_null() ? json() : json(hex_bytes(image))},
                    {"sha256", sha256_hex(image)}};
  compare_fields(row, got, {"params", "shape", "lcg"}, "", differences);
}

void check_conv_geometry(const json& row, Differences& differences) {
  const std::uint32_t shape[] = {extent(row, "h"), extent(row, "w"), extent(row, "c")};
  const unsigned gm = extent(row, "gm");
  const arch::ConvGeometry g = arch::conv_geometry(shape[0], shape[1], gm);
  const json got = {{"wp_plane_tail", {g.row, g.plane, g.tail_entries}},
                    {"nbytes", schedule::Layout::conv_entry(gm).nbytes(shape)}};
  compare_fields(row, got, {"h", "w", "c", "gm"}, "", differences);
}

void check_entry_walk(const json& row, Differences& differences) {
  const auto a = numbers<std::uint64_t>(list(row, "args", 6), "args", kMaxExtent);
  json dims;
  if (const auto walk = schedule::entry_walk({a[0], a[1], a[2], a[3], a[4], a[5]})) {
    dims = json::array();
    for (const schedule::WalkDim& dim : *walk) dims.push_back({dim.stride, dim.bound});
  }
  compare_fields(row, {{"walk", dims}}, {"args"}, "", differences);
}

void check_arena(const json& file, Differences& differences) {
  schedule::Arena arena(static_cast<std::uint64_t>(number(file, "base", 0, kMaxBytes)),
                        static_cast<std::uint64_t>(number(file, "size", 0, kMaxBytes)),
                        static_cast<std::uint64_t>(number(file, "align", 1, kMaxBytes)));
  std::map<std::uint64_t, schedule::Address> given;  // addresses come from the arena alone
  json trace = json::array();
  for (const json& event : member(file, "trace")) {
    const std::string& op = text(event.at(0), "trace");
    const auto argument = static_cast<std::uint64_t>(integer(event.at(1), "trace", 0, kMaxBytes));
    json got = {op, argument};
    if (op == "alloc" || op == "a") {  // "a": one that was refused, with the class of the refusal
      try {
        const schedule::Address at = arena.allocate(argument);
        given.insert_or_assign(at.value(), at);
        got.push_back(at.value());
      } catch (const schedule::OutOfMemory&) {
        got.push_back("OutOfMemory");
      }
    } else if (op == "release") {
      const auto found = given.find(argument);
      if (found == given.end()) throw UserError::make("the trace releases {}, never allocated", argument);
      arena.release(found->second);
    } else if (op == "trim") {
      got[1] = arena.trim();
    } else {
      throw UserError::make("\"{}\" is none of alloc, release, trim", op);
    }
    expect_holds(arena.verify());
    trace.push_back(got);
  }
  const schedule::ArenaStats s = arena.stats();
  const json stats = {{"live", s.live},
                      {"used", s.used},
                      {"peak", s.peak},
                      {"free_spans", s.free_spans},
                      {"largest_free", s.largest_free},
                      {"fragmentation", s.fragmentation}};
  compare_fields(file, {{"trace", trace}, {"stats", stats}}, {"id", "path", "base", "size", "align"}, "",
                 differences);
}

void check_scratch_block(const json& row, Differences& differences) {
  std::vector<schedule::StageAccess> steps;
  for (const json& step : member(row, "steps")) steps.push_back(access_of(step));
  const auto buffers = buffers_of(member(row, "sizes"), steps);
  const schedule::ScratchBlock block =
      schedule::pack(steps, buffers, static_cast<std::uint64_t>(number(row, "align", 1, kMaxBytes)));
  expect_holds(block.verify());
  json life = json::object(), offsets = json::object();
  for (const schedule::Placement& p : block.placements) {
    life[p.name] = {p.life.first, p.life.last};
    offsets[p.name] = p.offset;
  }
  compare_fields(row, {{"life", life}, {"offsets", offsets}, {"bytes", block.bytes}},
                 {"steps", "sizes", "align"}, "", differences);
}

void check_mesh_pairing(const json& row, Differences& differences) {
  const schedule::Spread a = spread_of(row, "a"), b = spread_of(row, "b");
  const json result = or_refused([&] { return spread_json(schedule::pair_matmul(a, b)); });
  compare_fields(row, {{"result", result}}, {"a", "b"}, "", differences);
}

void check_mesh_topology(const json& row, Differences& differences) {
  json got;
  if (row.contains("converge")) {
    const json& question = list(row, "converge", 2);
    const auto path = numbers(question[0], "converge", kNoMesh);
    const auto into = static_cast<unsigned>(integer(question[1], "converge", 0, kNoMesh));
    got["v"] = json::array();
    for (const schedule::Hop& hop : schedule::converge(path, into)) got["v"].push_back({hop.from, hop.to});
    got["hops_to"] = schedule::hops_to(path, into);
  } else {
    got["v"] = topology_answer(row);
  }
  compare_fields(row, got, {"hops", "path", "neighbours", "global_addr", "converge"}, "", differences);
}

void check_remote_drain(const json& row, Differences& differences) {
  std::uint64_t words[4] = {};
  hex_words(member(row, "in"), "in", 256, words);
  const program::FarTarget target{
      coord(row, "agent"), static_cast<unsigned>(number(row, "dst_mesh", 0, kNoMesh)), coord(row, "fin")};
  const json out = or_refused([&] {
    arch::pack_payload(words, program::remote_drain(arch::unpack_payload<arch::ClusterInst>(words), target));
    return json(to_hex(words, 256));
  });
  compare_fields(row, {{"out", out}}, {"in", "agent", "dst_mesh", "fin"}, "", differences);
}

}  // namespace ktpu::check
