// SPDX-License-Identifier: Apache-2.0
// memory.md section 13: the worked flits, and the address map of section 3.
#include "arch/encoding/address_map.h"
#include "tests/unit/arch/encoding_support.h"

namespace ktpu::arch {
namespace {

constexpr auto kRd = FlitType::kMemRdReq;
constexpr auto kWr = FlitType::kMemWrReq;

// Bytes 0, 1, .. 31 in memory order.
Flit counting(std::uint32_t header) {
  Flit f;
  f.w[4] = header;
  for (unsigned i = 0; i < 32; ++i) f.w[i / 8] |= static_cast<std::uint64_t>(i) << (8 * (i % 8));
  return f;
}
const std::string kCounting = "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100";

TEST(MemorySection13, Rows1To7ReadRequests) {
  const auto header = [](unsigned tag) { return make_header(kPort, kCluster, kRd, tag, true); };
  expect_encoding(header(0), MemReq{.addr = 0, .len = 3, .flags = 0x50, .count = 32},
                  "011100080000000000035020000000000000000000000000000000000000000000000000");
  expect_encoding(header(0), MemReq{.addr = 0x2000, .len = 3, .flags = 0x70, .count = 32},
                  "011100080000002000037020000000000000000000000000000000000000000000000000");
  MemReq raw{.addr = 0x8000, .len = 3, .flags = 0x40, .count = 16};
  expect_encoding(header(0x20), raw,
                  "011102080000008000034010000000000000000000000000000000000000000000000000");
  raw.peer0 = Coord{2, 1}.node_byte();
  raw.peer1 = Coord{1, 2}.node_byte();
  raw.n_peer = 2;
  expect_encoding(header(0x20), raw,
                  "011102080000008000034010002112800000000000000000000000000000000000000000");
  expect_encoding(header(0), MemReq{.addr = 0x100000, .flags = 0x40, .count = 64, .entry_words = 1},
                  "011100080000100000004040000000004000000000000000000000000000000000000000");
  expect_encoding(header(0x11), MemReq{.addr = 0x40},
                  "011101180000000040000000000000000000000000000000000000000000000000000000");
  expect_encoding(header(8), MemReq{.addr = 0x8000000000, .len = 3, .flags = 0x40, .count = 4},
                  "011100888000000000034004000000000000000000000000000000000000000000000000");
}

TEST(MemorySection13, Rows8To10Responses) {
  const auto header = [](unsigned entry, bool last, unsigned word) {
    return make_header(kCluster, kPort, FlitType::kMemRdResp, entry, last, word);
  };
  EXPECT_EQ(to_hex(counting(header(0, false, 0))), "11012000" + kCounting);
  EXPECT_EQ(to_hex(counting(header(0, true, 3))), "1101200b" + kCounting);
  EXPECT_EQ(to_hex(counting(header(31, false, 2))), "110121f2" + kCounting);
}

TEST(MemorySection13, Rows11To16Writes) {
  expect_encoding(make_header(kPort, kCluster, kWr, 2, false), MemReq{.addr = 0x4000, .len = 7},
                  "011110200000004000070000000000000000000000000000000000000000000000000000");
  EXPECT_EQ(to_hex(counting(make_header(kPort, kCluster, FlitType::kMemWrData, 2, false))),
            "01114020" + kCounting);
  EXPECT_EQ(to_hex(counting(make_header(kPort, kCluster, FlitType::kMemWrData, 2, true))),
            "01114028" + kCounting);
  expect_encoding(make_header(kPort, kCluster, kWr, 5, false), MemReq{.addr = 0x8000000080},
                  "011110508000000080000000000000000000000000000000000000000000000000000000");
  expect_encoding(make_header(kPort, kCluster, kWr, kPort.node_byte(), false, kRsvdRemote | 2),
                  MemReq{.addr = 0x2000001000, .len = 3},
                  "011111062000001000030000000000000000000000000000000000000000000000000000");
  EXPECT_EQ(to_hex(make_flit(kCluster, kPort, FlitType::kMemWrAck, 2, true)),
            "110130280000000000000000000000000000000000000000000000000000000000000000");
}

TEST(MemorySection3, AddressExamples) {
  namespace a = address;
  EXPECT_FALSE(a::special(0x0000004000));
  EXPECT_EQ(a::mesh(0x2000000000), 2u);
  EXPECT_TRUE(a::special(0x8000000080));
  EXPECT_EQ(a::aperture(0x8000000080), a::kApertureStaging);
  EXPECT_EQ(a::mesh(0xA000000000), 2u);
  EXPECT_EQ(a::aperture(0xA000000000), a::kApertureStaging);
  EXPECT_EQ(a::aperture(0x8400001000), a::kApertureUploadA);
  EXPECT_EQ(a::host_outside(2, 0x1000), 0x30000001000u);
}

}  // namespace
}  // namespace ktpu::arch
