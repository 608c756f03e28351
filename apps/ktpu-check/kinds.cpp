// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/kinds.h"

#include <algorithm>

#include "apps/check_formats/check_formats.h"
#include "apps/ktpu-check/row_kinds.h"
#include "apps/ktpu-check/rows.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

template <std::size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&value)[N]) { std::copy_n(value, N, text); }
};

template <Name kStem>
void check_formats(const json& row, Differences& differences) {
  RowResult result;
  check_formats_row(kStem.text, row, result);
  if (!result.equal) differences.add(result.field, result.expected, result.got);
}

template <Name kStem>
Kind formats(std::vector<std::string_view> fields) {
  return {"formats", kStem.text, check_formats<kStem>, {}, false, std::move(fields)};
}

Kind rtl(std::string_view stem, void (*check)(const json&, Differences&),
         std::vector<std::string_view> fields) {
  return {"rtl", stem, check, {}, false, std::move(fields)};
}

// A group of compiler rows: many in one file, known by the file's id.
Kind compiler(std::string_view group, void (*check)(const json&, Differences&)) {
  return {"compiler", group, check};
}

Kind later(std::string_view folder, std::string_view stem, std::string_view why,
           std::vector<std::string_view> fields = {}) {
  return {folder, stem, nullptr, why, false, std::move(fields)};
}

constexpr std::string_view kController = "needs the controller";
constexpr std::string_view kCompiler = "needs the compiler";

// Where one kind's fields include another's, the longer list comes first.
std::vector<Kind> make_kinds() {
  return {
      {"programs", "", check_program, {}, false, {"flit_words", "steps", "machine"}},

      rtl("noc", check_noc, {"kind", "flits", "fields"}),
      rtl("noc", check_noc, {"flits", "sink_busy_runs"}),
      rtl("noc", check_noc, {"src", "dst", "accept_to_deliver"}),
      rtl("cycles_cluster", check_cycles_cluster, {"op", "inject_to_issue"}),
      rtl("cycles_dispatch", check_cycles_dispatch, {"target", "instruction", "unit_signal_out"}),
      rtl("cycles_mover", check_cycles_mover, {"op", "coalesce", "first_read_to_last_write_beat"}),
      rtl("cycles_mesh8", check_cycles_mesh8, {"clusters", "first_kick_cycle"}),
      rtl("cycles_matmul", check_cycles_matmul, {"M", "N", "K", "start", "cycles_to_last_signal"}),
      rtl("vectors_matmul", check_vectors_matmul, {"M", "N", "K", "A", "B", "C"}),
      rtl("vectors_acc", check_vectors_acc, {"a_words", "b_words", "anchor"}),
      rtl("vectors_quant", check_vectors_quant, {"b_layout", "src", "words"}),
      {"rtl", "sim_speed", nullptr, {}, true, {"design", "cycles_per_cpu_second"}},
      rtl("cycles_vector", check_cycles_vector, {"kernel", "vl", "instr_cycles"}),
      rtl("vectors_veckernel", check_vectors_veckernel, {"kernel", "vl", "inputs"}),
      rtl("vectors_valu", check_vectors_valu, {"op", "alu_opcode", "cases"}),
      rtl("cycles_interlink", check_cycles_interlink, {"kind", "destination_mesh"}),

      formats<"mxfp7_entry">({"side", "lanes", "entry"}),
      formats<"mxfp7_quant">({"h", "scale", "q"}),
      formats<"acc_from_partial">({"part", "fa", "fb", "acc"}),
      formats<"acc_add">({"a", "b", "sum"}),
      formats<"subtile_chain">({"nk", "A", "B", "acc"}),
      formats<"acc_to_fp16">({"acc", "fp16"}),
      formats<"acc_to_e8m15">({"acc", "e8m15"}),
      formats<"e8m15_to_mem">({"e8m15", "fp16", "fp32"}),
      formats<"fp16_to_e8m15">({"fp16", "e8m15"}),
      formats<"fp32_to_e8m15">({"fp32", "e8m15"}),

      {"vector", "program", check_vector_program, {}, false, {"imem", "desc", "pc"}},
      {"vector", "cvt", check_convert, {}, false, {"cvt", "in", "out"}},
      {"vector", "reduce", check_reduce, {}, false, {"kind", "vl", "va"}},
      {"vector", "", check_lane, {}, false, {"op", "a", "r"}},
      later("controller", "", kController, {"rl", "wl", "quirks"}),

      compiler("misc/dispatch/plan", check_dispatch_plan),
      compiler("misc/dispatch/cost_model_deal", check_block_deal),
      compiler("misc/program/shadow", check_control_program),
      compiler("misc/isa/cluster", check_cluster_inst),
      compiler("misc/isa/addr40", check_address40),
      compiler("misc/isa/e8m15_truncate", check_constant),
      compiler("misc/isa/vector_flits", check_vector_flit),
      compiler("misc/isa/vector_words", check_vector_word),
      compiler("misc/layout/pack", check_layout_pack),
      compiler("misc/layout/conv_geometry", check_conv_geometry),
      compiler("misc/layout/entry_walk", check_entry_walk),
      compiler("misc/memory/pack", check_scratch_block),
      {"compiler", "misc/memory/arena", check_arena, {}, false, {"base", "align", "trace"}},
      compiler("misc/mesh/pairing", check_mesh_pairing),
      compiler("misc/mesh/topology", check_mesh_topology),
      compiler("misc/mesh/remote_drain", check_remote_drain),
      {"compiler", "live", check_live, {}, false, {"kernel", "knobs", "machine", "inputs"}},
      compiler("misc/framework/passes", check_framework),
      compiler("misc/tinygrad_tiling/plan", check_fused_tile),
      compiler("misc/vec/require_l1", check_vector_l1),
      compiler("misc/vec/rows_per_pass", check_rows_per_pass),
      compiler("misc/vec/lower_op", check_lane_words),
      compiler("retired/grid/covers", check_grid_covers),
      compiler("retired/grid/correspondence", check_grid_correspondence),
      compiler("retired/grid/epilogue", check_grid_epilogue),
      compiler("retired/grid/ownership", check_grid_ownership),
      compiler("retired/tile/table", check_tile_choice),
      {"compiler", "retired/tile", check_tile_choice, {}, false, {"target", "M", "N", "K", "status"}},
      {"compiler", "retired/dtype", check_dtypes, {}, false, {"dtypes", "path"}},
      {"compiler", "retired/plan", check_gemm_plan, {}, false, {"l1plan", "caps", "rounds"}},
      {"compiler", "retired/pack", check_entry_order, {}, false, {"groups", "blocks", "memory_order"}},
      {"compiler", "retired/packmx", check_entry_words, {}, false, {"groups", "blocks", "input_fp16"}},
      {"compiler",
       "retired/schedule",
       check_traced_schedule,
       {},
       false,
       {"graph", "target", "opts", "status"}},
      {"compiler", "retired/sharedA", check_shared_a, {}, false, {"graph", "inputs", "result"}},
      later("compiler", "", kCompiler, {"id", "path"}),
  };
}

bool has_fields(const json& row, const std::vector<std::string_view>& fields) {
  return row.is_object() && !fields.empty() &&
         std::all_of(fields.begin(), fields.end(), [&](std::string_view f) { return row.contains(f); });
}

// The nearest folder above the file that is one of the recorded tree's; empty: none.
std::string_view tree_folder(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::path full = std::filesystem::absolute(file, ignored).lexically_normal();
  for (std::filesystem::path at = full.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    const std::string name = at.filename().string();
    for (const Kind& kind : kinds())
      if (kind.folder == name) return kind.folder;
  }
  return {};
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = make_kinds();
  return all;
}

const Kind* kind_of(const std::filesystem::path& file, const json& row) {
  const std::string stem = file_stem(file);
  const std::string_view folder = tree_folder(file);
  const auto find = [&](auto&& matches) -> const Kind* {
    const auto found = std::find_if(kinds().begin(), kinds().end(), matches);
    return found == kinds().end() ? nullptr : &*found;
  };
  const auto in_folder = [&](const Kind& k) { return k.folder == folder; };
  if (const Kind* k = find([&](const Kind& c) { return in_folder(c) && c.stem == stem; })) return k;
  if (const Kind* k = find([&](const Kind& c) { return in_folder(c) && has_fields(row, c.fields); }))
    return k;
  if (const Kind* k = find([&](const Kind& c) { return has_fields(row, c.fields); })) return k;
  if (const Kind* k = find([&](const Kind& c) { return in_folder(c) && c.stem.empty(); })) return k;
  return find([&](const Kind& c) { return !c.stem.empty() && c.stem == stem; });
}

const Kind* kind_of_group(const json& file) {
  if (!file.is_object() || !file.contains("id") || !file["id"].is_string()) return nullptr;
  if (!file.contains("rows") || !file["rows"].is_array() || file["rows"].empty()) return nullptr;
  std::string group = file["id"].get<std::string>();
  // "_a", "_even": which part of the rows the file holds.
  for (const std::string_view part : {"_a", "_b", "_even", "_odd"})
    if (group.ends_with(part)) {
      group.resize(group.size() - part.size());
      break;
    }
  const auto found = std::find_if(kinds().begin(), kinds().end(),
                                  [&](const Kind& k) { return k.stem == group && k.check != nullptr; });
  return found == kinds().end() ? nullptr : &*found;
}

}  // namespace ktpu::check
