// SPDX-License-Identifier: Apache-2.0
// Random field values through encoder, decoder and text; random bits through decoder and text. Tables without
// overlap.
#include <iostream>
#include <random>

#include "arch/encoding/codes.h"
#include "arch/encoding/latencies.h"
#include "arch/encoding/quirks.h"
#include "arch/encoding/registers.h"
#include "tests/unit/arch/encoding_support.h"

namespace ktpu::arch {
namespace {

constexpr std::uint64_t kSeed = 20240611;

template <class S>
class Payload : public testing::Test {};
using Payloads = testing::Types<MemReq, Signal, Ctrl, CuDataDesc, ClusterInst, VectorInst>;
TYPED_TEST_SUITE(Payload, Payloads);

template <class S>
FlitType type_of() {
  if constexpr (std::is_same_v<S, MemReq>) return FlitType::kMemRdReq;
  if constexpr (std::is_same_v<S, Signal>) return FlitType::kCuSignal;
  if constexpr (std::is_same_v<S, Ctrl>) return FlitType::kCuCtrl;
  if constexpr (std::is_same_v<S, CuDataDesc>) return FlitType::kCuData;
  return FlitType::kCuInst;
}
template <class S>
constexpr Dialect kDialect = std::is_same_v<S, VectorInst> ? Dialect::kVector : Dialect::kCluster;

TYPED_TEST(Payload, RandomFieldsSurviveBitsAndText) {
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  const auto& fields = Layout<TypeParam>::fields;
  for (int round = 0; round < 2000; ++round) {
    TypeParam s{};
    for (const auto& b : fields) {
      // Half the fields keep their default, so that the text form's omissions are tried too.
      if (b.format != Format::kOp && random() % 2) continue;
      b.write(s, b.shift ? (b.read(s) & ((1ull << b.shift) - 1)) | (random() & b.field.mask()) << b.shift
                         : random() & b.field.mask());
    }
    // Fields the opcode does not have stay at their default in the decoded struct.
    const std::uint32_t op_bit = 1u << layout_op(s);
    TypeParam clean{};
    for (const auto& b : fields)
      if (b.ops & op_bit) b.write(clean, b.read(s));
    const std::uint32_t header = make_header(Coord::from_node_byte(random() & 255), {}, type_of<TypeParam>(),
                                             random() & 255, random() & 1, random() & 7);
    const Flit flit = make_flit(header, clean);
    ASSERT_EQ(unpack<TypeParam>(flit), clean);
    for (const auto& b : fields)
      if (b.ops & op_bit) {
        ASSERT_EQ(flit.get(b.field), (b.read(clean) >> b.shift) & b.field.mask()) << b.field.name;
      }
    const std::string text = flit_to_text(flit, kDialect<TypeParam>);
    ASSERT_FALSE(text.starts_with("flit")) << text;
    ASSERT_EQ(from_line(text), flit) << text;
  }
}

TYPED_TEST(Payload, FieldsDoNotOverlapWithinAnOpcode) {
  const auto& fields = Layout<TypeParam>::fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    EXPECT_LE(fields[i].field.msb(), kPayloadBits - 1);
    for (std::size_t j = 0; j < i; ++j) {
      if (!(fields[i].ops & fields[j].ops)) continue;
      EXPECT_TRUE(fields[i].field.lsb > fields[j].field.msb() || fields[j].field.lsb > fields[i].field.msb())
          << fields[i].field.name << " and " << fields[j].field.name;
      EXPECT_NE(fields[i].field.name, fields[j].field.name);
    }
  }
}

TEST(FlitText, RandomBitsSurvive) {
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    Flit f;
    for (auto& w : f.w) w = random();
    f.w[4] &= 0xFFFFFFFF;
    const std::string text = flit_to_text(f, round % 2 ? Dialect::kVector : Dialect::kCluster);
    ASSERT_EQ(from_line(text), f) << text;
  }
}

TEST(FlitText, ErrorsNameTheFieldAndASuggestion) {
  const auto problem = [](const std::string& line) {
    try {
      from_line(line);
    } catch (const TextProblem& p) {
      return std::to_string(p.column) + ": " + p.message;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(problem("fil a n=3"), "0: \"fil\" is no instruction; did you mean \"fill\"?");
  EXPECT_EQ(problem("fill a n=3 eof=1"), "3: fill has no field \"eof\"; did you mean \"eoff\"?");
  EXPECT_EQ(problem("fill a n=70000"), "2: n=70000 does not fit 16 bits (0..0xffff)");
  EXPECT_EQ(problem("fill a from=0x10000000000"),
            "2: from=0x10000000000 does not fit 40 bits (0..0xffffffffff)");
  EXPECT_EQ(problem("fill a n=abc"), "2: \"abc\" is not a number");
  EXPECT_EQ(problem("fill a n"), "2: n wants a value");
  EXPECT_EQ(problem("fill a n=1 n=2"), "3: n is given twice");
  EXPECT_EQ(problem("drain n=1 dst=(1,16)"), "2: dst wants a coordinate (x,y) with 0..15, not \"(1,16)\"");
  EXPECT_EQ(problem("imem addr=512"), "1: addr=512 does not fit 9 bits (0..0x1ff)");
}

TEST(Quirks, TableIsIndexedByIdAndFoundByName) {
  for (const Quirk& q : kQuirks) {
    EXPECT_EQ(&quirk(q.id), &q);
    EXPECT_EQ(find_quirk(q.name), &q);
    for (const std::string_view text : {q.unit, q.where, q.reference, q.hit, q.none})
      EXPECT_FALSE(text.empty()) << q.name;
  }
  EXPECT_EQ(find_quirk("V8"), nullptr);
}

TEST(Registers, OffsetsAreAlignedUniqueAndAscending) {
  const auto check = [](const auto& table) {
    std::uint32_t end = 0;
    for (const Register& r : table) {
      EXPECT_EQ(r.offset % 8, 0u) << r.name;
      EXPECT_GE(r.offset, end) << r.name;
      end = r.offset + 8 * r.count;
    }
  };
  check(agent::kRegisters);
  check(engine::kRegisters);
  EXPECT_EQ(agent::stage_word(102, 0), 0x2FF0u);  // slot 102 straddles 0x3000, orchestrator.md section 3.3
  EXPECT_EQ(agent::stage_word(127, 4) + 8, 0x3400u);
}

TEST(Latencies, NamesAreUnique) {
  for (const NamedConstant& a : latency::kAll)
    for (const NamedConstant& b : latency::kAll) EXPECT_TRUE(&a == &b || a.name != b.name) << a.name;
  EXPECT_EQ(latency::kRouterHop, latency::kFifo + 2);
}

}  // namespace
}  // namespace ktpu::arch
