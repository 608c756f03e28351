// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/recorded_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/check_formats/hex.h"
#include "compiler/program_to_bytes/lower.h"
#include "compiler/schedule_to_program/lower.h"
#include "tests/support/vectors.h"

namespace ktpu::recorded {

using nlohmann::json;
using schedule::Leaf;
using Value = Lanes::Value;

std::filesystem::path live_folder() { return test::vectors_folder() / "compiler" / "live"; }

json read(const std::string& name) {
  std::ifstream in(live_folder() / (name + ".json"));
  return json::parse(in);
}

// --- Expressions.
Value Lanes::leaf(const std::string& name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  const auto number = static_cast<std::uint32_t>(known - names_.begin());
  if (known == names_.end()) names_.push_back(name);
  return {this, expr_.leaf(number)};
}
Value Lanes::number(double value) { return leaf(fmt::format("#{}", value)); }
Value Lanes::op(base::LaneOp op, std::vector<Value> arguments, std::optional<base::RowShape> row) {
  std::array<base::Expr::Id, 3> ids{};
  for (std::size_t i = 0; i < arguments.size(); ++i) ids[i] = arguments[i].id;
  return {this, expr_.op(op, ids, row)};
}

base::Expr Lanes::expression(Value root, std::vector<std::string>& names) const {
  base::Expr all = expr_;
  all.set_root(root.id);
  std::vector<std::uint32_t> place(names_.size());
  for (const std::uint32_t leaf : all.leaves()) {
    place[leaf] = static_cast<std::uint32_t>(names.size());
    names.push_back(names_[leaf]);
  }
  base::Expr numbered;
  for (const base::Expr::Node& node : all.nodes()) {
    if (node.op == base::LaneOp::kLeaf)
      numbered.leaf(place[node.leaf]);
    else
      numbered.op(node.op, node.args, node.row);
  }
  numbered.set_root(root.id);
  return numbered;
}

Value operator+(Value a, Value b) { return a.lanes->op(base::LaneOp::kAdd, {a, b}); }
Value operator-(Value a, Value b) { return a.lanes->op(base::LaneOp::kSub, {a, b}); }
Value operator*(Value a, Value b) { return a.lanes->op(base::LaneOp::kMul, {a, b}); }
Value operator/(Value a, Value b) { return a.lanes->op(base::LaneOp::kDiv, {a, b}); }
Value operator+(Value a, double b) { return a + a.lanes->number(b); }
Value operator*(Value a, double b) { return a * a.lanes->number(b); }
Value operator/(Value a, double b) { return a / a.lanes->number(b); }

// --- Schedules.
namespace {

std::uint64_t hex_number(const std::string& text) { return std::stoull(text, nullptr, 16); }

std::vector<arch::Coord> coords(const json& list) {
  std::vector<arch::Coord> all;
  for (const json& at : list) all.push_back({at.at(0), at.at(1)});
  return all;
}

// "batch3:tile:1x1:8x8" holds 3 blocks.
std::uint64_t blocks_of(const std::string& layout) {
  return layout.starts_with("batch") ? std::stoull(layout.substr(5)) : 1;
}

// The word as recorded: the payload, or a whole flit.
std::string text_of(const arch::Flit& word, std::size_t digits) {
  return check::to_hex(word.w.data(), static_cast<unsigned>(digits) * 4);
}

}  // namespace

Case::Case(const std::string& name, schedule::Policy policy) : file_(read(name)) {
  schedule_.name = file_.at("kernel");
  schedule_.policy = policy;
  schedule_.part = file_.at("effective_knobs").value("part", 8192);
  schedule_.resources.clusters = static_cast<std::uint32_t>(file_["machine"]["MG"].size());
  schedule_.resources.vector_cores = static_cast<std::uint32_t>(file_["machine"]["VC"].size());
  const auto add = [&](const std::string& buffer, std::uint64_t bytes, std::uint64_t blocks) {
    schedule::Buffer b;
    b.name = buffer;
    b.nbytes = bytes;
    b.batched = blocks > 1;
    if (b.batched) b.batch_stride = bytes / blocks;
    b.held = b.held_widest = bytes / blocks / 2;
    b.address = schedule::global_address(0, hex_number(file_["addresses"].at(buffer)));
    schedule_.buffers.push_back(std::move(b));
  };
  for (const auto& [buffer, fields] : file_.at("buffers").items())
    add(buffer, fields.at("nbytes"), blocks_of(fields.at("layout")));
  for (const auto& [array, fields] : file_.at("constants").items())
    add(array, fields.at("elems").get<std::uint64_t>() * 2, 1);
}

schedule::Stage& Case::add_stage(
    const std::function<std::vector<schedule::Statement>(const std::vector<std::int32_t>&)>& statements) {
  const json& from = file_.at("stages").at(next_stage_++);
  schedule::Stage stage;
  stage.unit = from.at("unit") == "MG" ? schedule::UnitType::kCluster : schedule::UnitType::kVector;
  stage.grid = from.at("grid").get<std::vector<std::uint32_t>>();
  stage.body_grid = from.at("body_grid").get<std::vector<std::uint32_t>>();
  stage.batched = from.at("batched");
  stage.feeds_next = from.contains("acks");
  std::vector<std::int32_t> key(stage.grid.size());
  for (std::size_t i = 0; i < from.at("instances").get<std::size_t>(); ++i) {
    std::size_t rest = i;
    for (std::size_t axis = key.size(); axis-- > 0;) {
      key[axis] = static_cast<std::int32_t>(rest % stage.grid[axis]);
      rest /= stage.grid[axis];
    }
    schedule::Instance instance;
    instance.key = key;
    instance.batch = stage.batched ? static_cast<std::uint64_t>(key[0]) : 0;
    instance.statements = statements({key.begin() + (stage.batched ? 1 : 0), key.end()});
    stage.instances.push_back(std::move(instance));
  }
  schedule_.stages.push_back(std::move(stage));
  return schedule_.stages.back();
}

std::vector<schedule::Statement> Case::product(const std::string& a, const std::string& b, std::uint64_t k,
                                               const std::vector<std::int32_t>& key) const {
  const std::uint32_t gm = knob("gm"), gn = knob("gn"), nk = knob("nk");
  const std::uint64_t chunks = ((k + 31) / 32 + nk - 1) / nk;
  std::vector<schedule::Statement> statements;
  for (std::uint64_t c = 0; c < chunks; ++c) {
    schedule::Fill fill;
    fill.blocks = nk;
    fill.chunk = fill.step = c;
    fill.chunks = chunks;
    fill.buffer = id(a);
    fill.groups = gm;
    fill.tile = static_cast<std::uint64_t>(key[0]);
    statements.emplace_back(fill);
    fill.buffer = id(b);
    fill.side = schedule::Side::kB;
    fill.groups = gn;
    fill.tile = static_cast<std::uint64_t>(key[1]);
    statements.emplace_back(fill);
    schedule::Gemm gemm;
    gemm.gm = gm;
    gemm.gn = gn;
    gemm.nk = nk;
    gemm.acc = c;
    statements.emplace_back(gemm);
  }
  return statements;
}

schedule::Drain Case::drain(const std::string& to, const std::vector<std::int32_t>& key,
                            std::uint32_t columns) const {
  schedule::Drain drain;
  drain.gm = knob("gm");
  drain.gn = knob("gn");
  drain.buffer = id(to);
  drain.word = (static_cast<std::uint64_t>(key[0]) * columns + static_cast<std::uint64_t>(key[1])) *
               drain.gm * drain.gn;
  return drain;
}

schedule::Chain Case::chain(const std::string& result, const Build& build, std::uint64_t part) const {
  Lanes lanes;
  std::vector<std::string> names;
  schedule::Chain chain;
  chain.expr = lanes.expression(build(lanes), names);
  const std::uint64_t stride = schedule_.part;
  std::uint64_t room = schedule_.buffers[id(result)].held;
  for (const std::string& name : names)
    if (name[0] != '#') room = std::min(room, schedule_.buffers[id(name)].held);
  chain.result = {id(result), part * stride};
  chain.span = std::min(stride, room - part * stride);
  chain.asked_span = chain.span;
  chain.asked_at = chain.result.at;
  for (const std::string& name : names) {
    Leaf leaf;
    if (name[0] == '#') {
      leaf.kind = Leaf::Kind::kConstant;
      leaf.value = std::stod(name.substr(1));
      for (schedule::BufferId array = 0; array < schedule_.buffers.size(); ++array)
        if (schedule_.buffers[array].name.starts_with("const") &&
            std::stod(schedule_.buffers[array].name.substr(5)) == leaf.value)
          leaf.array = array;
    } else {
      leaf.stretch = {id(name), part * stride};
      leaf.asked_at = leaf.stretch.at;
    }
    chain.leaves.push_back(leaf);
  }
  return chain;
}

schedule::Chain Case::epilogue(const std::string& result, const Build& build, std::uint64_t tile,
                               std::uint64_t column) const {
  Lanes lanes;
  std::vector<std::string> names;
  schedule::Chain chain;
  chain.expr = lanes.expression(build(lanes), names);
  chain.gm = knob("gm");
  chain.gn = knob("gn");
  chain.span = 16ull * chain.gm * chain.gn;
  chain.result = {id(result), tile * chain.span};
  for (const std::string& name : names) {
    Leaf leaf;
    if (name[0] == '#') {
      leaf.kind = Leaf::Kind::kConstant;
      leaf.value = std::stod(name.substr(1));
    } else if (name[0] == '@') {
      leaf.kind = Leaf::Kind::kResident;
      leaf.slot = static_cast<std::uint32_t>(std::stoul(name.substr(1)));
    } else {
      leaf.kind = Leaf::Kind::kChannel;
      leaf.stretch = {id(name.substr(1)), column * chain.gn * 16};
    }
    chain.leaves.push_back(leaf);
  }
  return chain;
}

bytes::Machine Case::machine() const {
  const json& m = file_.at("machine");
  bytes::Machine machine{"recorded",
                         bytes::Units(coords(m.at("MG"))),
                         bytes::Units(coords(m.at("VC"))),
                         {},
                         {m.at("stage_flits"), m.at("ncmd"), m.at("inst_depth")},
                         0};
  if (!m.at("agent").is_null()) machine.agent = bytes::Units(coords(json::array({m.at("agent")})))[0];
  return machine;
}

void Case::expect_same_words(std::optional<std::size_t> only) const {
  const std::size_t stages = only ? next_stage_ : file_.at("stages").size();
  ASSERT_EQ(next_stage_, stages);
  const bytes::Executable made =
      program_to_bytes::lower(schedule_to_program::lower(schedule_), machine(), bytes::CommandLimit::kReport);
  std::vector<const bytes::Dispatch*> dispatches;
  for (const bytes::ExecStep& step : made.steps)
    if (const auto* dispatch = std::get_if<bytes::Dispatch>(&step)) dispatches.push_back(dispatch);
  std::size_t next = 0;
  for (const json& recorded : file_.at("dispatches")) {
    if (recorded.contains("relayout") || (only && recorded.at("stage") != *only)) continue;
    ASSERT_LT(next, dispatches.size());
    const bytes::Dispatch& dispatch = *dispatches[next++];
    SCOPED_TRACE(fmt::format("stage {}", dispatch.stage));
    EXPECT_EQ(dispatch.unit, recorded.at("unit"));
    const json& rounds = recorded.at("rounds");
    ASSERT_EQ(dispatch.plan.rounds.size(), rounds.size());
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      const bytes::Artifact& artifact = dispatch.plan.rounds[r].artifact;
      json kicks = json::array(), awaits = json::array();
      for (const bytes::RoundStep& step : artifact.steps) {
        if (const auto* kick = std::get_if<bytes::Kick>(&step))
          kicks.push_back({kick->to.x, kick->to.y, kick->base.index(), kick->count});
        if (const auto* await = std::get_if<bytes::Await>(&step))
          awaits.push_back({await->node.x, await->node.y, await->count});
      }
      EXPECT_EQ(kicks, rounds[r].at("kicks")) << "round " << r;
      EXPECT_EQ(awaits, rounds[r].at("awaits")) << "round " << r;
      const json& flits = rounds[r].at("flits");
      ASSERT_EQ(artifact.words.size(), flits.size()) << "round " << r;
      for (std::size_t w = 0; w < flits.size(); ++w) {
        const std::string& word = flits[w].get_ref<const std::string&>();
        ASSERT_EQ(text_of(artifact.words[w], word.size()), word) << "round " << r << ", word " << w;
      }
    }
  }
  EXPECT_EQ(next, dispatches.size());
}

}  // namespace ktpu::recorded
