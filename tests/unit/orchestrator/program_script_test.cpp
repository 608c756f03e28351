// SPDX-License-Identifier: Apache-2.0
// From steps to register accesses: orchestrator.md section 9, vectors/programs/README.md (Host) and the split
// of long command lists (orchestrator.md section 8).
#include "tlm/orchestrator/program_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::orchestrator::test {
namespace {

namespace reg = arch::agent;
namespace eng = arch::engine;
using Kind = HostAction::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

// Runs a script as a host would, on a register file that the test fills.
struct Driver {
  explicit Driver(arch::Program p, int engine = -1, unsigned commands = 128)
      : program(std::move(p)), script(program, {{0, engine, commands}}, backdoor()) {}
  arch::Program program;
  std::vector<std::string> log;  // "w bus offset data", "r bus offset", "quiet n", "load", "relayout"
  std::map<std::pair<unsigned, std::uint32_t>, std::uint64_t> registers;
  std::function<void(const HostAction&)> on_write;
  ProgramScript script;
  sim::Cycle now = 0;

  ProgramScript::Backdoor backdoor() {
    return {[this](std::uint8_t, const arch::MemoryImage& i) {
              log.push_back(fmt::format("load {:x}", i.address));
            },
            [this](std::uint8_t, const arch::StepRelayout& s) {
              log.push_back(fmt::format("relayout {:x}", s.address));
            }};
  }
  // False: done.
  bool one() {
    const HostAction a = script.next(now);
    now += 3;
    switch (a.kind) {
      case Kind::kWrite:
        log.push_back(fmt::format("w{} {:04x} {:x}", a.bus, a.offset, a.data));
        if (on_write) on_write(a);
        return true;
      case Kind::kRead:
        log.push_back(fmt::format("r{} {:04x}", a.bus, a.offset));
        script.read_data(now - 1, registers[{a.bus, a.offset}]);
        return true;
      case Kind::kQuiet:
        log.push_back(fmt::format("quiet {}", a.cycles));
        return true;
      default:
        return false;
    }
  }
  void run(unsigned limit = 100000) {
    while (limit-- != 0 && one()) {
    }
  }
};

arch::Program steps(std::vector<arch::Action> actions) {
  arch::Program p;
  for (arch::Action& a : actions) p.steps.push_back({0, std::move(a)});
  return p;
}

TEST(Orchestrator_S9_Round, TransactionOrder) {
  arch::Flit flit;
  flit.w = {1, 2, 3, 4, 5};
  Driver d(steps({arch::StepRound{"r"}, arch::StepBaseline{{{1, 1}, {2, 0}}}, arch::StepStage{2, {flit}},
                  arch::StepCredit{32}, arch::StepKick{{1, 1}, 2, 1}, arch::StepKick{{2, 0}, 2, 1},
                  arch::StepAwait{{1, 1}, 1}, arch::StepAwait{{2, 0}, 1}}));
  d.registers[{0, reg::node_status(0x11)}] = 0x0000000000FFFF01;
  d.registers[{0, reg::node_status(0x02)}] = 0;
  d.on_write = [&](const HostAction& a) {  // the completions come with the second kick
    if (a.offset != reg::kProgKick) return;
    d.registers[{0, reg::node_status(0x11)}] = 0x0100000040000001;  // the count wraps
    d.registers[{0, reg::node_status(0x02)}] = 0x0100000040000101;
  };
  d.run();
  EXPECT_THAT(d.log,
              ElementsAre("r0 1088", "r0 1010",                                             //
                          "w0 2050 1", "w0 2058 2", "w0 2060 3", "w0 2068 4", "w0 2070 5",  //
                          "w0 0060 20",                                                     //
                          "r0 0058", "w0 0040 11", "w0 0068 2", "w0 0048 1", "w0 0050 1",   //
                          "r0 0058", "w0 0040 2", "w0 0050 1",  // unchanged registers are not written again
                          "r0 1088", "r0 1010"));
}

TEST(Orchestrator_S9_Round, EveryRoundWritesTheKickRegistersAgain) {
  Driver d(steps({arch::StepRound{"a"}, arch::StepKick{{1, 1}, 0, 1}, arch::StepRound{"b"},
                  arch::StepKick{{1, 1}, 0, 1}}));
  d.run();
  EXPECT_EQ(std::count(d.log.begin(), d.log.end(), "w0 0048 1"), 2);
}

TEST(Orchestrator_S9_Round, PollsRepeatUntilMet) {
  Driver d(steps({arch::StepPoll{reg::kSigDone, 0xFF, 4}, arch::StepWrite{reg::kCtrl, 9}}));
  for (unsigned i = 0; i < 5; ++i) d.one();
  EXPECT_THAT(d.log, testing::Each("r0 0070"));
  EXPECT_THAT(d.script.waiting_for(), HasSubstr("SIG_DONE"));
  d.registers[{0, reg::kSigDone}] = 0xA04;
  d.run();
  EXPECT_THAT(d.log,
              ElementsAre("r0 0070", "r0 0070", "r0 0070", "r0 0070", "r0 0070", "r0 0070", "w0 0000 9"));
  EXPECT_EQ(d.script.waiting_for(), "");
}

TEST(Orchestrator_S9_Round, QuietBeforeEveryRoundAndRelayout) {
  arch::StepRelayout relayout;
  relayout.address = 0x100;
  Driver d(steps({arch::StepRound{"a"}, arch::StepCredit{1}, relayout, arch::StepRound{"b"},
                  arch::StepLoad{{0x40, arch::ImageBytes{}}}, arch::StepQuiet{7}}));
  d.script.set_quiet_before_round(256);
  d.run();
  EXPECT_THAT(d.log, ElementsAre("quiet 256", "w0 0060 1", "quiet 256", "relayout 100", "quiet 256",
                                 "load 40", "quiet 7"));
}

// --- Command lists

arch::Command write_command(std::uint32_t offset, std::uint64_t data) {
  return {1, 0x10000000 + offset, data, 0};
}
const arch::Command kKickBoundary{2, 0x10000000 + reg::kProgStat, 0, 1};
const arch::Command kDone{3, 0, 0, 0};

// Executes what the script loads: the list as the engine gets it, part by part.
struct EngineParts {
  explicit EngineParts(Driver& d) {
    d.on_write = [this, &d](const HostAction& a) {
      if (a.bus != 1) return;
      if (a.offset >= eng::kCmd) {
        auto& c = ram[(a.offset - eng::kCmd) / 32];
        c[(a.offset / 8) % 4] = a.data;
        return;
      }
      std::vector<std::array<std::uint64_t, 4>> part;
      for (unsigned n = 0; n < ram.size() && (part.empty() || part.back()[0] != 3); ++n)
        part.push_back(ram[n]);
      parts.push_back(part);
      d.registers[{1, eng::kCtrl}] = status;
    };
  }
  std::map<unsigned, std::array<std::uint64_t, 4>> ram;
  std::vector<std::vector<std::array<std::uint64_t, 4>>> parts;
  std::uint64_t status = 2;
};

TEST(Orchestrator_S8_Lists, OneListIsOneLoadGoAndPoll) {
  arch::StepCommands list{{write_command(reg::kSigDone, 0), kDone}};
  Driver d(steps({list}), 1);
  EngineParts engine(d);
  d.run();
  EXPECT_THAT(d.log, ElementsAre("w1 1000 1", "w1 1008 10000070", "w1 1010 0", "w1 1018 0",  //
                                 "w1 1020 3", "w1 1028 0", "w1 1030 0", "w1 1038 0",         //
                                 "w1 0000 1", "r1 0000", "r1 0000"));
}

TEST(Orchestrator_S8_Lists, LongListsAreCutAtKickBoundaries) {
  arch::StepCommands list;
  std::vector<std::uint64_t> order;
  for (unsigned kick = 0; kick < 60; ++kick) {  // 301 commands
    list.commands.push_back(kKickBoundary);
    for (unsigned i = 0; i < 4; ++i) list.commands.push_back(write_command(reg::kCtrl, 4 * kick + i));
  }
  list.commands.push_back(kDone);
  Driver d(steps({list}), 1);
  EngineParts engine(d);
  d.run();
  ASSERT_EQ(engine.parts.size(), 3u);
  std::uint64_t expected = 0;
  for (const auto& part : engine.parts) {
    EXPECT_LE(part.size(), 128u);
    EXPECT_EQ(part.front()[0], 2u) << "a part begins with the poll";
    EXPECT_EQ(part.front()[1] & 0xFFFF, reg::kProgStat);
    EXPECT_EQ(part.back()[0], 3u);
    for (const auto& c : part)
      if (c[0] == 1) {
        EXPECT_EQ(c[2], expected++);
      }
  }
  EXPECT_EQ(expected, 240u);
}

TEST(Orchestrator_S8_Lists, AListOf128IsNotCut) {
  arch::StepCommands list;
  for (unsigned i = 0; i < 127; ++i)
    list.commands.push_back(i % 10 == 0 ? kKickBoundary : write_command(0, i));
  list.commands.push_back(kDone);
  Driver d(steps({list}), 1);
  EngineParts engine(d);
  d.run();
  EXPECT_EQ(engine.parts.size(), 1u);
}

TEST(Orchestrator_S8_Lists, APartHasRoomForItsDone) {
  arch::StepCommands list;
  for (unsigned i = 0; i < 200; ++i)
    list.commands.push_back(i == 60 || i == 128 ? kKickBoundary : write_command(0, i));
  list.commands.push_back(kDone);
  Driver d(steps({list}), 1);
  EngineParts engine(d);
  d.run();
  ASSERT_EQ(engine.parts.size(), 3u);
  EXPECT_EQ(engine.parts[0].size(), 61u);
  EXPECT_EQ(engine.parts[1].size(), 69u);
}

TEST(Orchestrator_S8_Lists, OtherPollsOfProgStatAreNoBoundary) {
  arch::StepCommands list;
  for (unsigned i = 0; i < 140; ++i)
    list.commands.push_back(i == 100 ? arch::Command{2, 0x10000058, 0x3E0002, 0xFFFFFFFF}
                                     : write_command(0, i));
  list.commands[20] = kKickBoundary;
  list.commands.push_back(kDone);
  Driver d(steps({list}), 1);
  EngineParts engine(d);
  d.run();
  ASSERT_EQ(engine.parts.size(), 2u);
  EXPECT_EQ(engine.parts[0].size(), 21u);
}

TEST(Orchestrator_S8_Lists, AListWithoutABoundaryIsRefused) {
  arch::StepCommands list;
  for (unsigned i = 0; i < 130; ++i) list.commands.push_back(write_command(0, i));
  Driver d(steps({list}), 1);
  try {
    d.run();
    FAIL() << "accepted";
  } catch (const arch::UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("step 0"));
    EXPECT_THAT(e.what(), HasSubstr("128"));
    EXPECT_THAT(e.what(), HasSubstr("PROG_STAT"));
  }
}

TEST(Orchestrator_S8_Lists, ErrOfTheEngineIsAFailure) {
  Driver d(steps({arch::StepCommands{{write_command(0, 1)}}, arch::StepCredit{1}}), 1);
  EngineParts engine(d);
  engine.status = 6;
  d.run();
  EXPECT_THAT(d.script.failure(), HasSubstr("End the list with DONE"));
  EXPECT_EQ(d.log.back(), "r1 0000") << "nothing after it";
}

TEST(Orchestrator_S8_Lists, WithoutAnEngineTheHostExecutesTheList) {  // section 10.4
  Driver d(steps({arch::StepCommands{
      {write_command(reg::kSigDone, 0), {2, 0x10000070, 0, 0xFFFF}, kDone, write_command(0, 1)}}}));
  d.run();
  EXPECT_THAT(d.log, ElementsAre("w0 0070 0", "r0 0070"));
}

TEST(ProgramScript, StepsOfLaterVersionsAreRefusedByName) {
  const std::vector<std::pair<arch::Action, std::string>> later{{arch::StepWindow{}, "window"},
                                                                {arch::StepReset{}, "reset"},
                                                                {arch::StepPeStream{}, "stream"},
                                                                {arch::StepFirmware{}, "firmware"}};
  for (const auto& [action, word] : later) {
    try {
      Driver d(steps({arch::StepCredit{1}, action}));
      FAIL() << word << " accepted";
    } catch (const arch::UserError& e) {
      EXPECT_THAT(e.what(), HasSubstr("step 1"));
      EXPECT_THAT(e.what(), HasSubstr(word));
    }
  }
  arch::Program other = steps({arch::StepCredit{1}});
  other.steps[0].mesh = 1;
  EXPECT_THROW(Driver{other}, arch::UserError);
}

}  // namespace
}  // namespace ktpu::orchestrator::test
