// SPDX-License-Identifier: Apache-2.0
// fabric.md section 15: all 22 worked encodings.
#include "arch/encoding/codes.h"
#include "tests/unit/arch/encoding_support.h"

namespace ktpu::arch {
namespace {

constexpr auto kRd = FlitType::kMemRdReq;
constexpr auto kSignal = FlitType::kCuSignal;
constexpr auto kCtrl = FlitType::kCuCtrl;

std::uint32_t code(SignalCode c) { return static_cast<std::uint32_t>(c); }

TEST(FabricSection15, Rows1To5ReadRequests) {
  MemReq quant_a{.addr = 0, .len = 3, .flags = kMemFlagStream | kMemFlagQuant, .count = 32};
  expect_encoding(make_header(kPort, kCluster, kRd, 0, true), quant_a,
                  "011100080000000000035020000000000000000000000000000000000000000000000000");
  MemReq quant_b{
      .addr = 0x2000, .len = 3, .flags = kMemFlagStream | kMemFlagBLayout | kMemFlagQuant, .count = 32};
  expect_encoding(make_header(kPort, kCluster, kRd, 0, true), quant_b,
                  "011100080000002000037020000000000000000000000000000000000000000000000000");
  MemReq peer{.addr = 0x12345680,
              .len = 3,
              .flags = kMemFlagStream,
              .count = 8,
              .peer0 = kCluster2.node_byte(),
              .n_peer = 1};
  expect_encoding(make_header(kPort, kCluster, kRd, 0x10, true), peer,
                  "011101080012345680034008000012400000000000000000000000000000000000000000");
  MemReq plain{.addr = 0x0FFFFFF000, .len = 7};
  expect_encoding(make_header({0, 2}, {2, 2}, kRd, 0xA5, true), plain,
                  "02220a580ffffff000070000000000000000000000000000000000000000000000000000");
  MemReq staging{.addr = 0xA000001000, .flags = kMemFlagStream, .count = 4, .entry_words = 2};
  expect_encoding(make_header(kPort, kCluster, kRd, 0x20, true), staging,
                  "01110208a000001000004004000000008000000000000000000000000000000000000000");
}

TEST(FabricSection15, Rows6To9ResponsesAndWrites) {
  Flit response = make_flit(kCluster, kPort, FlitType::kMemRdResp, 0x1F, true, 3);
  response.w[3] = response.w[1] = 0x0011223344556677;
  response.w[2] = response.w[0] = 0x8899aabbccddeeff;
  EXPECT_EQ(to_hex(response), "110121fb00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");

  expect_encoding(make_header(kPort, kCluster, FlitType::kMemWrReq, 2, false),
                  MemReq{.addr = 0x4000, .len = 7},
                  "011110200000004000070000000000000000000000000000000000000000000000000000");
  Flit data = make_flit(kPort, kCluster, FlitType::kMemWrData, 2, true);
  data.w[0] = data.w[1] = data.w[2] = data.w[3] = 0x3C003C003C003C00;
  EXPECT_EQ(to_hex(data), "011140283c003c003c003c003c003c003c003c003c003c003c003c003c003c003c003c00");
  EXPECT_EQ(to_hex(make_flit(kCluster, kPort, FlitType::kMemWrAck, 2, true)),
            "110130280000000000000000000000000000000000000000000000000000000000000000");
}

TEST(FabricSection15, Rows10To12CuData) {
  const CuDataDesc local{
      .buf_id = 2, .offset = 16, .len = 15, .flags = kCuDataSignal, .ack_y = 1, .ack_x = 0};
  const std::string hex = "211180200200100f01100000000000000000000000000000000000000000000000000000";
  expect_encoding(make_header(kCluster2, kCluster, FlitType::kCuData, 2, false), local, hex);
  EXPECT_EQ(local.ack(), kPort);
  // The five host words, low word first.
  const Flit flit = flit_from_hex(hex);
  EXPECT_EQ(flit.w, (std::array<std::uint64_t, 5>{0, 0, 0, 0x0200100f01100000, 0x0000000021118020}));

  Flit data = make_flit(kCluster2, kCluster, FlitType::kCuData, 2, true);
  data.w[0] = 0x0123456789abcdef;
  EXPECT_EQ(to_hex(data), "211180280000000000000000000000000000000000000000000000000123456789abcdef");

  const CuDataDesc remote{
      .buf_id = 0, .offset = 64, .len = 3, .flags = kCuDataSignal, .ack_y = 1, .ack_x = 0};
  expect_encoding(
      make_header(kPort, kCluster, FlitType::kCuData, kCluster2.node_byte(), false, kRsvdRemote | 3), remote,
      "011181270000400301100000000000000000000000000000000000000000000000000000");
}

TEST(FabricSection15, Rows13To16Signals) {
  expect_encoding(make_header(kPort, kCluster, kSignal, 0x40, true),
                  Signal{code(SignalCode::kInstComplete), 1},
                  "011164080000000001000000000000000000000000000000000000000000000000000000");
  expect_encoding(make_header(kPort, kCluster, kSignal, 0x40, true),
                  Signal{code(SignalCode::kBatchComplete), 0x40},
                  "011164080100000040000000000000000000000000000000000000000000000000000000");
  expect_encoding(make_header(kPort, kVectorNode, kSignal, 0x41, true), Signal{code(SignalCode::kFault), 5},
                  "012064180400000005000000000000000000000000000000000000000000000000000000");
  expect_encoding(make_header(kPort, kCluster2, kSignal, 2, true), Signal{code(SignalCode::kDataReceived), 2},
                  "012160280300000002000000000000000000000000000000000000000000000000000000");
}

TEST(FabricSection15, Rows17To20Control) {
  const std::string request = "110170180000000000000000000000000000000000000000000000000000000000000000";
  expect_encoding(make_header(kCluster, kPort, kCtrl, 1, true), Ctrl{kCtrlRead, 0, 0}, request);
  EXPECT_EQ(flit_from_hex(request).w, (std::array<std::uint64_t, 5>{0, 0, 0, 0, 0x11017018}));
  const std::uint64_t caps = make_cu_caps(UnitType::kMatmulCluster, 4, 2, 512);
  EXPECT_EQ(caps, 0x4D47042020000000u);
  expect_encoding(make_header(kPort, kCluster, kCtrl, 1, true), Ctrl{kCtrlReply, 0, caps},
                  "0111701802004d4704202000000000000000000000000000000000000000000000000000");
  std::uint64_t status = 0;
  set(&status, cu_status::kBusy, 1);
  set(&status, cu_status::kInstSpace, 509);
  expect_encoding(make_header(kPort, kCluster, kCtrl, 2, true), Ctrl{kCtrlReply, 1, status},
                  "011170280201800001fd0000000000000000000000000000000000000000000000000000");
  expect_encoding(make_header(kCluster, kPort, kCtrl, 7, true), Ctrl{kCtrlWrite, 0xE1, 0xF0000000},
                  "1101707801e100000000f000000000000000000000000000000000000000000000000000");
}

TEST(FabricSection15, Rows21And22Instruction) {
  const ClusterInst fill{.op = 1, .n = 32};
  expect_encoding(make_header({}, {}, FlitType::kCuInst, 0x40, false), fill,
                  "000054001000000000008000000128000000000000000000000000000000000000000000");
  Flit sent = make_flit(make_header({}, {}, FlitType::kCuInst, 0x40, false), fill);
  sent.set_dst(kCluster);
  sent.set_src(kPort);
  EXPECT_EQ(to_hex(sent), "110154001000000000008000000128000000000000000000000000000000000000000000");
}

TEST(FabricSection2, HeaderFieldsAndAccessorsAgree) {
  const Flit f = make_flit({1, 2}, {3, 4}, FlitType::kCuCtrl, 0xAB, true, 5);
  EXPECT_EQ(f.hdr(), 0x12u << 24 | 0x34u << 16 | 7u << 12 | 0xABu << 4 | 1u << 3 | 5u);
  EXPECT_EQ(f.get(header::kDstX), f.dst_x());
  EXPECT_EQ(f.get(header::kDstY), f.dst_y());
  EXPECT_EQ(f.get(header::kSrcX), f.src_x());
  EXPECT_EQ(f.get(header::kSrcY), f.src_y());
  EXPECT_EQ(f.get(header::kType), f.type_code());
  EXPECT_EQ(f.get(header::kTxn), f.txn());
  EXPECT_EQ(f.get(header::kLast), f.last());
  EXPECT_EQ(f.get(header::kRsvd), f.rsvd());
}

}  // namespace
}  // namespace ktpu::arch
