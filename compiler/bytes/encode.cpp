// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/encode.h"

#include <bit>

#include "arch/error.h"
#include "compiler/base/refusal.h"

namespace ktpu::bytes {
namespace {

constexpr std::uint32_t kVectorTxn = 0x40;
constexpr std::uint32_t kLongestFill = 255;

// Every value within the bits its fields have together.
template <class S>
void check_ranges(const S& s) {
  const std::uint32_t op_bit = 1u << arch::layout_op(s);
  for (const auto& b : arch::Layout<S>::fields) {
    std::uint64_t held = 0;
    for (const auto& other : arch::Layout<S>::fields)
      if ((other.ops & op_bit) != 0 && other.narrow == b.narrow && other.wide == b.wide)
        held |= other.field.mask() << other.shift;
    if ((b.ops & op_bit) != 0 && (b.read(s) & ~held) != 0)
      throw arch::UserError::make("{} op {}: {} is {:#x}, at most {:#x} can be encoded",
                                  arch::Layout<S>::name, s.op, b.field.name, b.read(s), held);
  }
}

}  // namespace

arch::Flit encode(const arch::ClusterInst& inst) {
  check_ranges(inst);
  if (inst.is(arch::ClusterOp::kFill) && inst.n > kLongestFill)
    throw base::Refusal(
        base::Phase::kEncode, "FILL_OVER_255", fmt::format("FILL of {} entries", inst.n),
        fmt::format("one FILL names at most {}: split it or make the chunk smaller", kLongestFill));
  return arch::make_flit(0, inst);
}

arch::Flit encode(const arch::VectorInst& inst) {
  check_ranges(inst);
  return arch::make_flit(arch::make_header({}, {}, arch::FlitType::kCuInst, kVectorTxn, false), inst);
}

std::uint32_t encode(const arch::VectorWord& word) {
  check_ranges(word);
  return arch::encode_vector_word(word);
}

std::uint32_t constant_bits(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 8;
}

}  // namespace ktpu::bytes
