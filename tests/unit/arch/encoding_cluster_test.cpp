// SPDX-License-Identifier: Apache-2.0
// cluster.md section 14: the worked instruction payloads.
#include "tests/unit/arch/encoding_support.h"

namespace ktpu::arch {
namespace {

void expect_payload(const ClusterInst& inst, const std::string& payload, const std::string& line) {
  const std::uint32_t header = make_header({}, {}, FlitType::kCuInst, 0, false);
  expect_encoding(header, inst, "00005000" + payload);
  EXPECT_EQ(to_hex(from_line(line)), "00005000" + payload) << line;
}

TEST(ClusterSection14, Fill) {
  expect_payload({.op = 1, .n = 32}, "1000000000008000000128000000000000000000000000000000000000000000",
                 "fill a n=32 from=0x0");
  expect_payload({.op = 1, .addr = 0x2000, .n = 32, .sel = 1},
                 "1000008000008200000128000000000000000000000000000000000000000000",
                 "fill b n=32 from=0x2000");
  expect_payload({.op = 1, .addr = 0x12345600, .n = 240, .sel = 1, .preq = 1, .eoff = 16, .fbank = 1},
                 "1048d1580003c200000128000000220000010000000000000000000000000000",
                 "fill b n=240 preq fbank=1 eoff=16 from=0x12345600");
  expect_payload({.op = 1, .addr = 0x8000001000, .n = 8},
                 "1000004000002000000128000000000000000000000000100000000000000000",
                 "fill a n=8 from=0x8000001000");
  expect_payload({.op = 1,
                  .addr = 0x1000,
                  .n = 16,
                  .peer0 = Coord{2, 1}.node_byte(),
                  .peer1 = Coord{1, 2}.node_byte(),
                  .npeer = 2},
                 "1000004000004000000128002112800000000000000000000000000000000000",
                 "fill a n=16 from=0x1000 npeer=2 peer0=(2,1) peer1=(1,2)");
}

TEST(ClusterSection14, Gemm) {
  expect_payload({.op = 2, .gm = 8, .gn = 8, .nk = 4},
                 "2000000000000008080428000000000000000000000000000000000000000000", "gemm gm=8 gn=8 nk=4");
  expect_payload({.op = 2, .acc = 1, .gm = 16, .gn = 32, .nk = 8, .abank = 1},
                 "2000000000000110200828000000000000040000000000000000000000000000",
                 "gemm acc gm=16 gn=32 nk=8 abank=1");
  expect_payload({.op = 2, .addr = 0x4000, .acc = 1, .gm = 16, .gn = 32, .nk = 8, .aoff = 128, .emit = 1},
                 "2000010000000110200828000000001000100000000000000000000000000000",
                 "gemm acc emit to=0x4000 gm=16 gn=32 nk=8 aoff=128");
}

TEST(ClusterSection14, Drain) {
  expect_payload({.op = 3, .addr = 0x4000, .n = 64},
                 "3000010000010000000128000000000000000000000000000000000000000000", "drain n=64 to=0x4000");
  expect_payload({.op = 3, .addr = 0x4000, .n = 512, .fuse = 1},
                 "3000010000080000000128000000000000080000000000000000000000000000",
                 "drain n=512 fuse to=0x4000");
  expect_payload(
      {.op = 3, .n = 16, .dnode = 1, .dst_x = 1, .dst_y = 0, .dflags = 1, .dack_y = 1, .dack_x = 1},
      "3000000000004000000128000000000000008800008880000000000000000000",
      "drain n=16 to=0x0 dnode dst=(1,0) dflags=1 dack=(1,1)");
  expect_payload({.op = 3,
                  .addr = 8 * 32,
                  .n = 4,
                  .dnode = 1,
                  .dst_x = 2,
                  .dst_y = 3,
                  .dbuf = 2,
                  .dflags = 1,
                  .dack_y = 1,
                  .dack_x = 1},
                 "3000000400001000000128000000000000009181008880000000000000000000",
                 "drain n=4 to=0x100 dnode dst=(2,3) dbuf=2 dflags=1 dack=(1,1)");
}

// vector.md section 2.1; the digits come from an independent packer of that table.
TEST(VectorSection2, Envelopes) {
  const std::uint32_t header = make_header({}, {}, FlitType::kCuInst, 0x40, true);
  expect_encoding(header, VectorInst{.op = 1, .addr = 0x1FF, .word = 0x89ABCDEF},
                  "000054081ff8000000000000000000000000000000000000000000000000000089abcdef");
  expect_encoding(header, VectorInst{.op = 2, .ad = 7, .fld = 1, .value = 0xFFFFFFFFFF},
                  "000054082e7ffffffff000000000000000000000000000000000001f8000000000000000");
  expect_encoding(header, VectorInst{.op = 3, .addr = 5},
                  "000054083028000000000000000000000000000000000000000000000000000000000000");
}

}  // namespace
}  // namespace ktpu::arch
