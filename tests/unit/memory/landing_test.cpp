// SPDX-License-Identifier: Apache-2.0
// Writes on their way to memory and who reads too early (memory.md section 5.4, orchestrator.md section 9).
#include "tlm/memory/landing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/encoding/payloads.h"

namespace ktpu::memory {
namespace {

using testing::HasSubstr;

constexpr arch::Coord kPort{0, 1}, kUnit{1, 1}, kOther{2, 1};

arch::Flit request(std::uint64_t address, unsigned words, arch::Coord from = kUnit, arch::Coord to = kPort,
                   unsigned rsvd = 0) {
  arch::MemReq fields;
  fields.addr = address;
  fields.len = words - 1;
  return arch::make_flit(arch::make_header(to, from, arch::FlitType::kMemWrReq, 2, false, rsvd), fields);
}

struct Landing : testing::Test {
  MisuseLog log;
  LandingTracker tracker{log};
  Landing() { tracker.add_port(kPort); }
  // Findings of reading `words` at `address`.
  std::uint64_t reads(std::uint64_t address, std::uint32_t words) {
    const std::uint64_t before = log.total();
    tracker.read(100, kOther, address, words);
    return log.total() - before;
  }
};

TEST_F(Landing, AReadIsEarlyUntilTheResponse) {
  EXPECT_EQ(reads(0x1000, 8), 0u);
  tracker.write_sent(10, request(0x1000, 8));
  EXPECT_EQ(reads(0x1000, 1), 1u);
  tracker.write_arrived(20, request(0x1000, 8));
  EXPECT_EQ(tracker.count(), 1u);
  EXPECT_EQ(reads(0x10E0, 1), 1u);
  tracker.write_granted(30, 0, kUnit, 0x1000, 8);
  EXPECT_EQ(tracker.count(), 1u);
  EXPECT_EQ(reads(0x0FE0, 2), 1u);
  tracker.write_landed(0);
  EXPECT_EQ(reads(0x1000, 8), 0u);
  EXPECT_EQ(log.kept()[0].kind, MisuseKind::kReadLanding);
  EXPECT_EQ(log.kept()[0].requester, kOther);
  EXPECT_EQ(log.kept()[0].cycle, 100u);
  EXPECT_THAT(log.kept()[0].text,
              HasSubstr("a write of (1,1) to 0x1000..0x10ff, on its way since cycle 10 (in the mesh)"));
  EXPECT_THAT(log.kept()[1].text, HasSubstr("(at the memory port)"));
  EXPECT_THAT(log.kept()[2].text, HasSubstr("(on the way to DRAM)"));
}

TEST_F(Landing, NeighboursAreNotTouched) {
  tracker.write_sent(10, request(0x1000, 8));
  EXPECT_EQ(reads(0x1100, 4), 0u);
  EXPECT_EQ(reads(0x0F80, 4), 0u);
  EXPECT_EQ(reads(0x0F80, 5), 1u);
}

TEST_F(Landing, MayBeginAnywhere) {
  tracker.write_arrived(20, request(0x1000, 1));   // of a unit that nobody watches
  tracker.write_granted(30, 2, kPort, 0x2000, 4);  // of a requester without a mesh node
  EXPECT_EQ(reads(0x1000, 1), 1u);
  EXPECT_EQ(reads(0x2000, 1), 1u);
  tracker.write_landed(2);
  EXPECT_EQ(reads(0x2000, 1), 0u);
  EXPECT_EQ(reads(0x1000, 1), 1u);
  tracker.write_acknowledged(kUnit, 0x1000);  // it never came to the DRAM port
  EXPECT_EQ(tracker.count(), 0u);
}

TEST_F(Landing, ResponsesComeInTheOrderOfGrants) {
  tracker.write_arrived(20, request(0x1000, 1));
  tracker.write_arrived(21, request(0x2000, 1, kOther));
  tracker.write_granted(30, 0, kOther, 0x2000, 1);
  tracker.write_granted(31, 0, kUnit, 0x1000, 1);
  tracker.write_granted(32, 1, kUnit, 0x3000, 1);
  tracker.write_landed(0);
  EXPECT_EQ(reads(0x2000, 1), 0u);
  EXPECT_EQ(reads(0x1000, 1), 1u);
  tracker.write_landed(0);
  EXPECT_EQ(reads(0x1000, 1), 0u);
  EXPECT_EQ(reads(0x3000, 1), 1u);
}

TEST_F(Landing, RemoteWritesAndOtherPlacesDoNotCount) {
  tracker.write_sent(10, request(0x1000, 1, kUnit, kPort, arch::kRsvdRemote | 1));
  tracker.write_sent(10, request(0x1000, 1, kUnit, kOther));
  EXPECT_EQ(tracker.count(), 0u);
  tracker.set_enabled(false);
  tracker.write_sent(10, request(0x1000, 1));
  EXPECT_EQ(tracker.count(), 0u);
}

TEST_F(Landing, MoreThanAnybodyCanHaveUnderWayIsForgotten) {
  for (unsigned i = 0; i < 1000; ++i) tracker.write_sent(i, request(0x1000 + 32 * i, 1));
  EXPECT_LE(tracker.count(), 256u);
  EXPECT_EQ(reads(0x1000 + 32 * 999, 1), 1u);
}

}  // namespace
}  // namespace ktpu::memory
