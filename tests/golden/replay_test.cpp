// SPDX-License-Identifier: Apache-2.0
// ktpu-check --replay: import of compiled kernels (vectors/compiler/README.md), its checks, and the verdict.
#include "apps/ktpu-check/replay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/float64_kernels.h"
#include "apps/ktpu-check/live_machine.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/encoding/cluster_inst.h"
#include "arch/error.h"
#include "arch/program/host_writes.h"
#include "arch/program/image.h"

namespace ktpu::check {
namespace {

using arch::ClusterInst;
using arch::ClusterOp;
using nlohmann::json;

std::string sha_of_halves(const std::vector<std::uint16_t>& halves) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint16_t h : halves) {
    bytes.push_back(static_cast<std::uint8_t>(h));
    bytes.push_back(static_cast<std::uint8_t>(h >> 8));
  }
  return sha256_hex(bytes);
}

json tensor(std::vector<std::uint32_t> shape, std::uint32_t seed) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  return {{"shape", shape},
          {"sha256_le", sha_of_halves(arch::lcg_values({count, seed, 11, 0, false}))},
          {"lcg", {{"seed", seed}, {"shift", 11}, {"offset", 0.0}, {"abs", false}}}};
}

std::string word_of(const ClusterInst& inst) {
  const arch::Flit flit = arch::make_flit(0, inst);
  return to_hex(flit.w.data(), 256);
}

ClusterInst fill(unsigned side, std::uint64_t from) {
  ClusterInst inst;
  inst.op = static_cast<std::uint32_t>(ClusterOp::kFill);
  inst.sel = side;
  inst.n = 1;
  inst.addr = from;
  return inst;
}

// ops.matmul 4x32x4 on the cluster (1,1), as the reference compiler writes it (compiler.md section 17).
json matmul_file() {
  ClusterInst gemm, drain;
  gemm.op = static_cast<std::uint32_t>(ClusterOp::kGemm);
  gemm.gm = gemm.gn = 1;
  drain.op = static_cast<std::uint32_t>(ClusterOp::kDrain);
  drain.n = 1;
  drain.addr = 0x80101000;
  const json round{
      {"kicks", {{1, 1, 0, 4}}},
      {"awaits", {{1, 1, 4}}},
      {"seed", 512},
      {"flits", {word_of(fill(0, 0x80100000)), word_of(fill(1, 0x80100800)), word_of(gemm), word_of(drain)}},
      {"cmds",
       {{1, "10000060", "200", "0"},
        {2, "10000058", "0", "1"},
        {1, "10000040", "11", "0"},
        {1, "10000068", "0", "0"},
        {1, "10000048", "4", "0"},
        {1, "10000050", "1", "0"},
        {2, "10001088", "401", "ffff01"},
        {3, "0", "0", "0"}}}};
  const auto buffer = [](const char* role, json shape, const char* layout, unsigned bytes) {
    return json{
        {"role", role}, {"shape", shape}, {"layout", layout}, {"final_layout", layout}, {"nbytes", bytes}};
  };
  json file{{"id", "live/matmul/test"},
            {"kernel", "ops.matmul"},
            {"status", "ok"},
            {"knobs", json::object()},
            {"effective_knobs", {{"gm", 1}, {"gn", 1}, {"nk", 1}}},
            {"machine",
             {{"MG", {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}}},
              {"VC", {{1, 0}, {1, 4}, {2, 0}, {2, 4}}},
              {"agent", {1, 1}},
              {"stage_flits", 128},
              {"ncmd", 128},
              {"inst_depth", 512}}},
            {"inputs", {{"a", tensor({4, 32}, 1)}, {"b", tensor({4, 32}, 2)}}},
            {"buffers",
             {{"a", buffer("in", {4, 32}, "entry:1x1", 256)},
              {"b", buffer("in", {4, 32}, "entry:1x1", 256)},
              {"c", buffer("out", {4, 4}, "tile:1x1:1x1", 32)}}},
            {"addresses", {{"a", "80100000"}, {"b", "80100800"}, {"c", "80101000"}}},
            {"constants", json::object()},
            {"conversions", json::array()},
            {"dispatches", json::array({{{"unit", "MG"}, {"stage", 0}, {"rounds", json::array({round})}}})}};
  // What the functional model would have: here FP64 rounded, so that all of the error is the machine's.
  Reals inputs;
  for (const char* name : {"a", "b"}) {
    inputs[name].shape = {4, 32};
    for (const std::uint16_t h : tensor_values(file["inputs"][name], name))
      inputs[name].v.push_back(arch::fp16_to_double(h));
  }
  std::string digits;
  const std::optional<Reals> exact = evaluate_float64("ops.matmul", inputs, json::object());
  for (const double v : exact->at("").v) digits += to_hex(arch::double_to_fp16(v), 4);
  file["outputs"] = {{"c", {{"shape", {4, 4}}, {"fp16", digits}}}};
  return file;
}

json& round_of(json& file) { return file["dispatches"][0]["rounds"][0]; }

// The recorded outputs, all `by` off FP64.
void record_error(json& file, double by) {
  json& output = file["outputs"]["c"];
  std::string digits;
  for (const std::uint16_t h : hex_halves(output["fp16"], "fp16", 16))
    digits += to_hex(arch::double_to_fp16(arch::fp16_to_double(h) + by), 4);
  output["fp16"] = digits;
}

TEST(Replay, HoldsWithinTheModelsErrorAndNamesTheTimes) {
  json file = matmul_file();
  record_error(file, 0.25);  // what quantising to seven bits may well be off
  const Replayed row = replay(file, {});
  EXPECT_EQ(row.outcome, Outcome::kCompleted);
  EXPECT_EQ(row.verdict, "holds");
  EXPECT_TRUE(row.fine);
  EXPECT_GT(row.accuracy->error, 0);
  EXPECT_GT(row.machine_cycles, 0u);
  EXPECT_LT(row.machine_cycles, row.total_cycles);
}

TEST(Replay, AnErrorBeyondTheModelsIsNotFine) {
  json file = matmul_file();
  record_error(file, 0.25);
  round_of(file)["flits"][1] = word_of(fill(1, 0x80100000));  // A times A
  const Replayed row = replay(file, {});
  EXPECT_EQ(row.outcome, Outcome::kCompleted);
  EXPECT_GT(row.accuracy->error, row.accuracy->allowed);
  EXPECT_FALSE(row.fine);
  EXPECT_EQ(row.verdict, "WRONG, no cause found");
}

TEST(Replay, AFigureThatDoesNotFitTheOutputsIsAnError) {
  json file = matmul_file();
  record_error(file, 0.25);
  file["max_abs_err_vs_float64"] = 0.5;
  const Replayed row = replay(file, {});
  EXPECT_FALSE(row.fine);
  EXPECT_NE(row.verdict.find("max_abs_err_vs_float64 is 0.5"), std::string::npos) << row.verdict;
}

TEST(Replay, KnownWrongIsRunAndNotJudged) {
  json file = matmul_file();
  file["reference_wrong"] = true;
  const Replayed row = replay(file, {});
  EXPECT_EQ(row.outcome, Outcome::kCompleted);
  EXPECT_TRUE(row.fine && row.known_wrong);
}

TEST(Replay, AHangIsToldWithItsCause) {
  json file = matmul_file();
  round_of(file)["cmds"][6][2] = "501";  // a fifth completion
  const Replayed row = replay(file, {});
  EXPECT_EQ(row.outcome, Outcome::kHang);
  EXPECT_FALSE(row.fine);
  EXPECT_FALSE(row.verdict.empty());
}

TEST(Replay, SumsOfTheFileAreChecked) {
  json file = matmul_file();
  file["inputs"]["a"]["lcg"]["seed"] = 3;
  EXPECT_NE(replay(file, {}).verdict.find("sha256_le"), std::string::npos);
  file = matmul_file();
  round_of(file)["setup_sha256"] = std::string(64, '0');
  EXPECT_NE(replay(file, {}).verdict.find("setup_sha256"), std::string::npos);
  file = matmul_file();
  round_of(file)["flits_sha256"] = std::string(64, '0');
  EXPECT_NE(replay(file, {}).verdict.find("flits_sha256"), std::string::npos);
  file = matmul_file();
  file["kernel"] = "custom.k_other";
  EXPECT_NE(replay(file, {}).verdict.find("no FP64 reference"), std::string::npos);
  EXPECT_EQ(replay(json::object(), {}).outcome, Outcome::kError);
}

TEST(LiveImport, StagesWordsUnderAHeaderAndMarksTheLastOfAKick) {
  json file = matmul_file();
  json& round = round_of(file);
  round["kicks"] = {{1, 1, 0, 2}, {1, 1, 2, 2}};
  round["flits"][0] = "54001" + std::string(63, '0');  // a vector word: 68 digits, txn 0x40
  const LiveProgram live = import_live(file);
  EXPECT_EQ(live.machine.name, "reference_6c4v");
  const auto& stage = std::get<arch::StepStage>(live.program.steps[live.rounds[0] + 1].action);
  ASSERT_EQ(stage.flits.size(), 4u);
  for (std::size_t slot = 0; slot < 4; ++slot) {
    EXPECT_EQ(stage.flits[slot].type(), arch::FlitType::kCuInst);
    EXPECT_EQ(stage.flits[slot].txn(), slot == 0 ? 0x40u : 0u);
    EXPECT_EQ(stage.flits[slot].last(), slot % 2 == 1);
  }
  EXPECT_EQ(stage.flits[0].w[3], 0x1000000000000000u);
}

TEST(LiveImport, AcknowledgementsGoToThisMachinesAgent) {
  json file = matmul_file();
  ClusterInst drain;
  drain.op = static_cast<std::uint32_t>(ClusterOp::kDrain);
  drain.n = 8;
  drain.dnode = drain.dst_x = drain.dflags = drain.dack_x = drain.dack_y = 1;
  round_of(file)["flits"][2] = word_of(drain);
  drain.dack_x = 2;  // somebody else: left as it is
  round_of(file)["flits"][3] = word_of(drain);
  const LiveProgram live = import_live(file);
  const auto& stage = std::get<arch::StepStage>(live.program.steps[live.rounds[0] + 1].action);
  const auto first = arch::unpack<ClusterInst>(stage.flits[2]),
             second = arch::unpack<ClusterInst>(stage.flits[3]);
  EXPECT_EQ((arch::Coord{static_cast<std::uint8_t>(first.dack_x), static_cast<std::uint8_t>(first.dack_y)}),
            (arch::Coord{0, 1}));
  EXPECT_EQ(second.dack_x, 2u);
}

TEST(LiveImport, WaitsBetweenRoundsOnlyIfAskedTo) {
  json file = matmul_file();
  json& rounds = file["dispatches"][0]["rounds"];
  rounds.push_back(rounds[0]);
  const auto waits = [&](std::uint32_t quiet) {  // in front of each round
    const LiveProgram live = import_live(file, {quiet});
    std::vector<std::uint32_t> cycles;
    for (const std::size_t round : live.rounds) {
      const auto* step =
          round == 0 ? nullptr : std::get_if<arch::StepQuiet>(&live.program.steps[round - 1].action);
      cycles.push_back(step == nullptr ? 0 : step->cycles);
    }
    return cycles;
  };
  EXPECT_EQ(waits(300), (std::vector<std::uint32_t>{0, 300}));
  EXPECT_EQ(waits(0), (std::vector<std::uint32_t>{0, 0}));
}

// A temporary's batch blocks have the stride of its widest order, in every order.
TEST(LiveImport, RelayoutsKeepTheStrideOfTheWidestOrder) {
  json file = matmul_file();
  file["buffers"]["t"] = {{"role", "temp"},
                          {"shape", {2, 32, 32}},
                          {"layout", "batch2:flat"},
                          {"final_layout", "batch2:entry:8x2"},
                          {"nbytes", 8192}};
  file["addresses"]["t"] = "80102000";
  file["conversions"] = json::array({{0, "t", "batch2:flat", "batch2:entry:8x2"}});
  const json relayout{
      {"relayout",
       {{"addr", "80102000"}, {"shape", {2, 32, 32}}, {"from", "batch2:flat"}, {"to", "batch2:entry:8x2"}}}};
  file["dispatches"].insert(file["dispatches"].begin(), relayout);
  const LiveProgram live = import_live(file);
  const auto& step = std::get<arch::StepRelayout>(live.program.steps[0].action);
  std::vector<std::int64_t> sources;
  for (const arch::GatherRun& run : step.gather)
    for (std::uint32_t k = 0; k < run.count; ++k)
      sources.push_back(run.source < 0 ? -1 : run.source + std::int64_t{run.step} * k);
  ASSERT_EQ(sources.size(), 4096u);
  for (std::int64_t block = 0; block < 2; ++block)
    for (std::int64_t row = 0; row < 32; ++row)
      for (std::int64_t column = 0; column < 64; ++column) {
        const std::int64_t to = block * 2048 + ((row / 4 * 2 + column / 32) * 4 + row % 4) * 32 + column % 32;
        ASSERT_EQ(sources[static_cast<std::size_t>(to)], column < 32 ? block * 2048 + row * 32 + column : -1);
      }
  file["conversions"] = json::array();
  EXPECT_THROW(import_live(file), arch::UserError);
}

TEST(LiveMachine, UnitsStandWhereTheFileSays) {
  const auto place = [](std::uint8_t x, std::uint8_t y) { return arch::Coord{x, y}; };
  EXPECT_EQ(live_machine({{"machine", {{"MG", {{1, 1}, {2, 1}}}, {"VC", {{1, 0}}}}}}).name, "reference_6c4v");
  const topo::Machine other = live_machine(
      {{"machine", {{"MG", {{1, 1}, {2, 2}}}, {"VC", {{0, 1}, {3, 2}, {1, 3}}}, {"inst_depth", 32}}}});
  const topo::Mesh& mesh = other.meshes[0];
  EXPECT_EQ(mesh.hi, place(2, 2));
  EXPECT_EQ(mesh.node_at(place(2, 2))->get<topo::MatmulCluster>()->inst_depth, 32u);
  EXPECT_EQ(mesh.node_at(place(0, 1))->kind(), topo::Kind::kVectorCore);
  EXPECT_EQ(mesh.node_at(place(3, 2))->kind(), topo::Kind::kVectorCore);
  EXPECT_EQ(mesh.ports, (std::vector<arch::Coord>{place(3, 1), place(0, 2)}));  // (0,1) is taken
  EXPECT_THROW(live_machine({{"machine", {{"MG", {{0, 0}}}}}}), arch::UserError);
  EXPECT_THROW(live_machine({{"machine", {{"MG", {{1, 1}}}, {"VC", {{1, 1}}}}}}), arch::UserError);
}

double only(const std::optional<Reals>& outputs, std::size_t i) { return outputs->at("").v.at(i); }

TEST(Float64Kernels, KnownValues) {
  const json none = json::object();
  const Real row{{1, 4}, {1, 1, 1, 1}};
  EXPECT_DOUBLE_EQ(only(evaluate_float64("kernels.softmax", {{"x", row}}, none), 2), 0.25);
  EXPECT_DOUBLE_EQ(only(evaluate_float64("ops.row_sum", {{"x", row}}, none), 3), 4);
  EXPECT_NEAR(only(evaluate_float64("ops.layernorm", {{"x", {{1, 2}, {1, 3}}}}, none), 1), 1, 1e-5);
  EXPECT_NEAR(only(evaluate_float64("ops.rmsnorm", {{"x", {{1, 2}, {3, 3}}}}, none), 1), 1, 1e-5);
  EXPECT_DOUBLE_EQ(only(evaluate_float64("ops.gelu", {{"x", row}}, none), 0), 1 / (1 + std::exp(-1.702)));
  EXPECT_NEAR(
      only(evaluate_float64("kernels.linear_gelu", {{"x", {{1, 1}, {1}}}, {"w", {{1, 1}, {1}}}}, none), 0),
      0.8412, 1e-4);
  const auto stats = evaluate_float64("kernels.group_stats", {{"x", {{2, 2}, {1, 2, 3, 4}}}}, {{"rows", 2}});
  EXPECT_DOUBLE_EQ(stats->at("mean").v.at(1), 2.5);
  EXPECT_DOUBLE_EQ(stats->at("var").v.at(0), 1.25);
  EXPECT_FALSE(evaluate_float64("ops.unheard_of", {}, none).has_value());
  EXPECT_THROW(evaluate_float64("ops.neg", {}, none), arch::UserError);
}

// Scores are powers of two; the first query of a causal one sees its own key only.
TEST(Float64Kernels, Attention) {
  const Reals inputs{{"q", {{2, 1}, {1, 1}}}, {"k", {{2, 1}, {0, 1}}}, {"v", {{1, 2}, {3, 6}}}};
  EXPECT_NEAR(only(evaluate_float64("kernels.flash_attention", inputs, json::object()), 0), 5, 1e-12);
  const auto causal = evaluate_float64("kernels.flash_attention", inputs, {{"causal", true}});
  EXPECT_NEAR(only(causal, 0), 3, 1e-12);
  EXPECT_NEAR(only(causal, 1), 5, 1e-12);
  EXPECT_NEAR(only(evaluate_float64("kernels.flash_attention", inputs, {{"keys", 1}}), 1), 3, 1e-12);
}

// One tap only: the picture moves by a pixel.
TEST(Float64Kernels, ConvolutionTapsAndRows) {
  Real a{{2, 2, 1}, {1, 2, 3, 4}};
  for (std::size_t tap = 0; tap < 9; ++tap) {
    Real b{{1, 9}, std::vector<double>(9, 0.0)};
    b.v[tap] = 1;
    const auto c = evaluate_float64("ops.conv2d", {{"a", a}, {"b", b}}, json::object());
    for (std::size_t y = 0; y < 2; ++y)
      for (std::size_t x = 0; x < 2; ++x) {
        const std::size_t from_y = y + tap / 3 - 1, from_x = x + tap % 3 - 1;  // wraps when outside
        EXPECT_EQ(only(c, y * 4 + x), from_y < 2 && from_x < 2 ? a.v[from_y * 2 + from_x] : 0);
      }
    EXPECT_TRUE(std::isnan(only(c, 2)));
  }
}

}  // namespace
}  // namespace ktpu::check
