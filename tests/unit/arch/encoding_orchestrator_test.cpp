// SPDX-License-Identifier: Apache-2.0
// orchestrator.md section 10: the worked host sequence, from the text of the example to every write of the
// host.
#include <fstream>
#include <sstream>

#include "arch/encoding/registers.h"
#include "arch/program/host_writes.h"
#include "arch/program/text.h"
#include "tests/unit/arch/encoding_support.h"

namespace ktpu::arch {
namespace {

Program example() {
  const std::string path = KTPU_SOURCE_DIR "/examples/matmul_32x32x128.kasm";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return assemble(text.str(), path);
}
template <class T>
const T& only(const Program& p) {
  const T* found = nullptr;
  for (const Step& s : p.steps)
    if (const T* t = std::get_if<T>(&s.action)) {
      EXPECT_EQ(found, nullptr);
      found = t;
    }
  EXPECT_NE(found, nullptr);
  return *found;
}

TEST(OrchestratorSection10, InstructionFlits) {
  const Program p = example();
  const auto& flits = only<StepStage>(p).flits;
  const std::array<std::string, 4> staged{
      "000054001000000000008000000128000000000000000000000000000000000000000000",
      "000054001000008000008200000128000000000000000000000000000000000000000000",
      "000054002000000000000008080428000000000000000000000000000000000000000000",
      "000054083000010000010000000128000000000000000000000000000000000000000000"};
  const std::array<std::string, 4> sent{
      "110154001000000000008000000128000000000000000000000000000000000000000000",
      "110154001000008000008200000128000000000000000000000000000000000000000000",
      "110154002000000000000008080428000000000000000000000000000000000000000000",
      "110154083000010000010000000128000000000000000000000000000000000000000000"};
  ASSERT_EQ(flits.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(to_hex(flits[i]), staged[i]);
    Flit dispatched = flits[i];
    dispatched.set_dst(kCluster);
    dispatched.set_src(kPort);
    EXPECT_EQ(to_hex(dispatched), sent[i]);
  }
}

TEST(OrchestratorSection10, StagingWrites) {
  const std::array<std::uint64_t, 20> data{0, 0, 0x0001280000000000, 0x1000000000008000, 0x5400,
                                           0, 0, 0x0001280000000000, 0x1000008000008200, 0x5400,
                                           0, 0, 0x0804280000000000, 0x2000000000000008, 0x5400,
                                           0, 0, 0x0001280000000000, 0x3000010000010000, 0x5408};
  const auto writes = staging_writes(only<StepStage>(example()));
  ASSERT_EQ(writes.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(writes[i], (HostWrite{static_cast<std::uint32_t>(0x10002000 + 8 * i), data[i]})) << i;
}

TEST(OrchestratorSection10, CommandWrites) {
  const std::array<std::array<std::uint64_t, 4>, 9> rows{{{1, 0x10000070, 0x0, 0x0},
                                                          {1, 0x10000060, 0x20, 0x0},
                                                          {2, 0x10000058, 0x0, 0x1},
                                                          {1, 0x10000040, 0x11, 0x0},
                                                          {1, 0x10000068, 0x0, 0x0},
                                                          {1, 0x10000048, 0x4, 0x0},
                                                          {1, 0x10000050, 0x1, 0x0},
                                                          {2, 0x10000070, 0x4, 0xFFFF},
                                                          {3, 0x00000000, 0x0, 0x0}}};
  const auto writes = command_writes(only<StepCommands>(example()).commands);
  ASSERT_EQ(writes.size(), 36u);
  for (std::size_t i = 0; i < writes.size(); ++i)
    EXPECT_EQ(writes[i], (HostWrite{static_cast<std::uint32_t>(0x1000 + 8 * i), rows[i / 4][i % 4]})) << i;
}

TEST(OrchestratorSection10, RequestsAndSignalsOfTheRun) {
  expect_encoding(make_header(kPort, kCluster, FlitType::kMemWrReq, 2, false),
                  MemReq{.addr = 0x4700, .len = 7},
                  "011110200000004700070000000000000000000000000000000000000000000000000000");
  for (unsigned i = 1; i <= 3; ++i)
    expect_encoding(make_header(kPort, kCluster, FlitType::kCuSignal, 0x40, true), Signal{0, i},
                    "01116408000000000" + std::to_string(i) + std::string(54, '0'));
}

TEST(OrchestratorSection10, StatusWordFields) {
  const std::uint64_t node = 0x0100000040000401;  // after the run, section 10.5
  namespace w = agent::node_status_word;
  EXPECT_EQ(get(&node, w::kCode), 1u);
  EXPECT_EQ(get(&node, w::kArg), 0x40u);
  EXPECT_EQ(get(&node, w::kCount), 4u);
  EXPECT_EQ(get(&node, w::kValid), 1u);
  EXPECT_EQ(node & w::kCountAndValidMask, 0x401u);
  EXPECT_EQ(agent::node_status(0x11), 0x1088u);
  const std::uint64_t run = 0x3E0007;  // section 10.7
  EXPECT_EQ(get(&run, agent::prog_stat::kRun), 1u);
  EXPECT_EQ(get(&run, agent::prog_stat::kLeft), 3u);
  EXPECT_EQ(get(&run, agent::prog_stat::kCredit), 31u);
  const std::uint64_t aux = 0x0000010042000800;
  EXPECT_EQ(get(&aux, agent::aux_stat::kMoves), 1u);
  EXPECT_EQ(get(&aux, agent::aux_stat::kReads), 66u);
  EXPECT_EQ(get(&aux, agent::aux_stat::kWrites), 8u);
  const std::uint64_t caps = 0x0000000201040120;
  EXPECT_EQ(get(&caps, agent::caps::kFlitWidth), kFlitBits);
  EXPECT_EQ(get(&caps, agent::caps::kPosWidth), kPosBits);
  EXPECT_EQ(get(&caps, agent::caps::kGridLo), 1u);
  EXPECT_EQ(get(&caps, agent::caps::kGridHi), 2u);
}

TEST(OrchestratorSection8, LongListsAreCutBeforeAKick) {
  std::vector<Command> list;
  const Command write{1, 0x10000040, 1, 0}, kick_poll{2, 0x10000058, 0, 1}, done{3, 0, 7, 0};
  for (int i = 0; i < 5; ++i) {
    list.push_back(kick_poll);
    for (int j = 0; j < 3; ++j) list.push_back(write);
  }
  list.push_back(done);
  const auto parts = split_commands(list, 10);
  ASSERT_EQ(parts.size(), 3u);
  std::vector<Command> joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_LE(parts[i].size(), 10u);
    EXPECT_EQ(parts[i].front(), kick_poll);
    EXPECT_EQ(parts[i].back().op, 3u);
    joined.insert(joined.end(), parts[i].begin(), parts[i].end() - (i + 1 < parts.size()));
  }
  EXPECT_EQ(joined, list);
  for (const auto& part : split_commands(list, 8))
    EXPECT_LE(part.size(), 8u);  // a poll stands just past the room
  EXPECT_EQ(split_commands(list, list.size()).size(), 1u);
  EXPECT_THROW(split_commands(list, 4),
               std::exception);  // three writes between two polls leave no room for DONE
}

}  // namespace
}  // namespace ktpu::arch
