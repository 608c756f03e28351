// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 11 and 12 on every recorded kernel: from the words of its instances to rounds, control
// programs and staging writes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/sha256.h"
#include "compiler/bytes/control_program.h"
#include "compiler/bytes/dispatch.h"
#include "tests/support/vectors.h"

namespace ktpu::bytes {
namespace {

using nlohmann::json;

std::filesystem::path live_folder() { return test::vectors_folder() / "compiler" / "live"; }

arch::Coord coord(const json& list) { return {list.at(0), list.at(1)}; }

// The words each instance had, told from the kicks: the next instance begins behind a load that was not full
// and at another node. False when a full load leaves that open.
bool instances_of(const json& dispatch, std::uint32_t staging, std::vector<Instance>& instances) {
  std::optional<arch::Coord> before;
  bool full = false;
  for (const json& round : dispatch.at("rounds"))
    for (const json& kick : round.at("kicks")) {
      const arch::Coord to = coord(kick);
      const std::size_t base = kick.at(2), count = kick.at(3);
      if (full && before == to && dispatch.at("nodes").size() == 1) return false;
      if (!full || before != to) {
        instances.emplace_back();
        instances.back().key = {static_cast<std::int32_t>(instances.size())};
      }
      for (std::size_t i = base; i < base + count; ++i) {
        arch::Flit word;
        check::hex_words(round.at("flits").at(i), "flits", arch::kFlitBits, word.w.data());
        instances.back().words.push_back(word);
      }
      before = to;
      full = count == staging;
    }
  return true;
}

json rows_of(const Artifact& artifact) {
  json row = {{"kicks", json::array()}, {"awaits", json::array()}};
  for (const RoundStep& step : artifact.steps) {
    if (const Seed* seed = std::get_if<Seed>(&step)) row["seed"] = seed->credit;
    if (const Kick* kick = std::get_if<Kick>(&step))
      row["kicks"].push_back({kick->to.x, kick->to.y, kick->base.index(), kick->count});
    if (const Await* await = std::get_if<Await>(&step))
      row["awaits"].push_back({await->node.x, await->node.y, await->count});
  }
  return row;
}

std::string setup_sum(const std::vector<arch::HostWrite>& writes) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&bytes](std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  for (const arch::HostWrite& write : writes) {
    put(write.address);
    put(write.data);
  }
  return check::sha256_hex(bytes);
}

std::string hex(std::uint64_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

// Acknowledgements by instance in the order of the keys "0,0", "0,1", ...
void put_acks(const json& stage, std::vector<Instance>& instances) {
  if (!stage.contains("acks")) return;
  std::map<std::vector<int>, json> sorted;
  for (const auto& [key, ack] : stage["acks"].items()) {
    std::vector<int> numbers;
    std::istringstream in(key);
    for (std::string part; std::getline(in, part, ',');) numbers.push_back(std::stoi(part));
    sorted[numbers] = ack;
  }
  ASSERT_EQ(sorted.size(), instances.size());
  std::size_t i = 0;
  for (const auto& [key, ack] : sorted)
    instances[i++].ack = Ack{Units({coord(ack.at(0))})[0], ack.at(1).get<std::uint32_t>()};
}

struct Counts {
  std::size_t kernels = 0, rounds = 0, overruns = 0;
};

void check_kernel(const json& file, Counts& counts) {
  const json& machine = file.at("machine");
  const Limits limits{machine.at("stage_flits"), machine.at("ncmd"), machine.at("inst_depth")};
  Baselines before;
  for (const json& dispatch : file.at("dispatches")) {
    if (dispatch.contains("relayout")) continue;
    const json& stage = file.at("stages").at(dispatch.at("stage").get<std::size_t>());
    std::vector<Instance> instances;
    ASSERT_TRUE(instances_of(dispatch, limits.staging_flits, instances));
    ASSERT_EQ(instances.size(), stage.at("instances").get<std::size_t>());
    put_acks(stage, instances);
    std::vector<arch::Coord> nodes;
    for (const json& node : dispatch.at("nodes")) nodes.push_back(coord(node));
    const Plan plan = plan_dispatch(instances, Units(nodes), limits);
    verify(plan);
    const json& rounds = dispatch.at("rounds");
    ASSERT_EQ(plan.rounds.size(), rounds.size());
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      const Artifact& artifact = plan.rounds[r].artifact;
      const json made = rows_of(artifact);
      for (const auto& [name, value] : made.items()) EXPECT_EQ(value, rounds[r].at(name)) << name;
      ASSERT_EQ(artifact.words.size(), rounds[r].at("flits").size());
      for (std::size_t w = 0; w < artifact.words.size(); ++w) {
        const std::string& recorded = rounds[r].at("flits").at(w).get_ref<const std::string&>();
        const unsigned bits = static_cast<unsigned>(recorded.size()) * 4;
        EXPECT_EQ(check::to_hex(artifact.words[w].w.data(), bits), recorded);
      }
      json commands = json::array();
      for (const arch::Command& c : control_program(artifact, before))
        commands.push_back({c.op, hex(c.address), hex(c.data), hex(c.mask)});
      EXPECT_EQ(commands, rounds[r].at("cmds"));
      EXPECT_EQ(plan.rounds[r].commands, rounds[r].at("ncmd").get<std::size_t>());
      const std::vector<arch::HostWrite> setup = setup_writes(artifact);
      EXPECT_EQ(setup.size(), rounds[r].at("setup_writes").get<std::size_t>());
      EXPECT_EQ(setup_sum(setup), rounds[r].at("setup_sha256"));
      counts.overruns += plan.rounds[r].commands > limits.commands;
      ++counts.rounds;
      before.add(artifact);
    }
  }
  ++counts.kernels;
}

TEST(Compiler12, EveryRecordedRoundIsMadeAgain) {
  const std::filesystem::path folder = live_folder();
  KTPU_NEEDS_VECTORS("compiler/live");
  Counts counts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream in(entry.path());
    const json file = json::parse(in);
    if (file.at("status") == "ok") check_kernel(file, counts);
    if (HasFailure()) break;
  }
  EXPECT_GT(counts.kernels, 0u);
  RecordProperty("rounds", static_cast<int>(counts.rounds));
  RecordProperty("overruns", static_cast<int>(counts.overruns));
}

}  // namespace
}  // namespace ktpu::bytes
