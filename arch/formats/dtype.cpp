// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/dtype.h"

#include <array>
#include <cmath>
#include <tuple>

#include "arch/error.h"
#include "arch/formats/operand.h"

namespace ktpu::arch {
namespace {

using Kind = NumberFormat::Kind;
using enum NumberType;

constexpr unsigned kCompilerAccMw = 16;

constexpr NumberFormat floating(std::string_view name, unsigned exp_bits, unsigned man_bits, int bias,
                                bool has_subnormals, unsigned places) {
  NumberFormat format;
  format.name = name;
  format.bits = 1 + exp_bits + man_bits;
  format.exp_bits = exp_bits;
  format.man_bits = man_bits;
  format.bias = bias;
  format.has_subnormals = has_subnormals;
  format.places = places;
  return format;
}

constexpr NumberFormat integer(std::string_view name, unsigned bits) {
  NumberFormat format;
  format.name = name;
  format.bits = bits;
  format.kind = Kind::kInt;
  return format;
}

constexpr NumberFormat accumulator(unsigned man_bits) {
  return floating("acc24", acc_bits(man_bits) - 1 - man_bits, man_bits, kAccExponentBias, false,
                  place::kMesh);
}

constexpr NumberFormat scale() {
  NumberFormat format = floating("e5m3", 5, 3, 20, true, 0);
  format.bits = 8;  // a scale has no sign
  return format;
}

constexpr NumberFormat block() {
  NumberFormat format;
  format.name = "mxfp7";
  format.bits = 7;
  format.kind = Kind::kBlock;
  format.block = kBlockK;
  format.places = place::kMemory;
  return format;
}

constexpr std::array<NumberFormat, kNumberTypes> kFormats{{
    floating("fp32", 8, 23, 127, true, place::kHost | place::kMemory | place::kMesh),
    floating("fp16", 5, 10, 15, true, place::kHost | place::kMemory | place::kMesh),
    floating("e8m15", 8, 15, 127, false, 0),
    accumulator(kCompilerAccMw),
    scale(),
    block(),
    integer("i8", 8),
    integer("i16", 16),
    integer("i32", 32),
}};

const NumberFormat& held(NumberType type) {
  const NumberFormat& format = number_format(type);
  return format.kind == Kind::kBlock ? number_format(format.value) : format;
}

std::string names(std::span<const NumberType> types) {
  std::string text;
  for (const NumberType type : types)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", number_format(type).name);
  return text;
}

}  // namespace

double NumberFormat::max_finite() const {
  return std::ldexp(2.0 - std::ldexp(1.0, -static_cast<int>(man_bits)), max_exp());
}
double NumberFormat::eps() const { return std::ldexp(1.0, -static_cast<int>(man_bits) - 1); }
double NumberFormat::smallest() const {
  return std::ldexp(1.0, has_subnormals ? min_exp() - static_cast<int>(man_bits) : min_exp());
}

bool NumberFormat::contains_range_of(const NumberFormat& other) const {
  return is_float() && other.is_float() && max_exp() >= other.max_exp() && min_exp() <= other.min_exp();
}
bool NumberFormat::is_exact_from(const NumberFormat& other) const {
  return contains_range_of(other) && man_bits >= other.man_bits;
}

const NumberFormat& number_format(NumberType type) { return kFormats[static_cast<std::size_t>(type)]; }

std::optional<NumberType> number_type(std::string_view name) {
  // In short or in full: f16 and fp16, i32 and int32.
  const auto short_name = [](std::string_view full) {
    if (full.starts_with("fp")) return fmt::format("f{}", full.substr(2));
    return full.starts_with("int") ? fmt::format("i{}", full.substr(3)) : std::string(full);
  };
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    if (short_name(kFormats[i].name) == short_name(name)) return static_cast<NumberType>(i);
  return std::nullopt;
}

NumberType number_type(VectorType type) { return type == VectorType::kFp32 ? kFp32 : kFp16; }

NumberFormat accumulator_format(unsigned man_bits) {
  if (!acc_mw_is_legal(man_bits))
    throw UserError::make("an accumulator mantissa of {} bits: it has {} to {}", man_bits, kMinAccMw,
                          kMaxAccMw);
  NumberFormat format = accumulator(man_bits);
  if (man_bits != kCompilerAccMw) format.name = "acc";
  return format;
}

NumberType converge(std::span<const NumberType> types) {
  if (types.empty()) throw UserError("no types to find a common one of");
  const Kind kind = held(types[0]).kind;
  for (const NumberType type : types)
    if (held(type).kind != kind)
      throw UserError::make("{}: integers and floats have no common type; convert one of them", names(types));
  const auto of = [](NumberType type) {
    return number_format(type).kind == Kind::kBlock ? number_format(type).value : type;
  };
  if (kind == Kind::kInt) {
    for (const NumberType type : types)
      if (type != types[0])
        throw UserError::make("{}: integers of unequal width have no common type; convert one of them",
                              names(types));
    return types[0];
  }
  std::optional<NumberType> best;
  const auto precision = [](NumberType type) {
    return std::tuple(number_format(type).man_bits, number_format(type).exp_bits);
  };
  for (const NumberType candidate : types) {
    bool contains_all = true;
    for (const NumberType other : types) contains_all &= held(candidate).contains_range_of(held(other));
    if (contains_all && (!best || precision(of(candidate)) > precision(*best))) best = of(candidate);
  }
  if (!best)
    throw UserError::make("{}: none of them contains the range of the others; convert one of them",
                          names(types));
  return *best;
}

void require_constant(double value, NumberType type) {
  if (value == 0) return;
  const NumberFormat& format = held(type);
  const auto refuse = [&](const std::string& why) {
    throw UserError::make("constant {} as {}: {}", value, number_format(type).name, why);
  };
  if (std::isnan(value)) refuse("it is no number");
  if (format.kind == Kind::kInt) {
    const double limit = std::ldexp(1.0, static_cast<int>(format.bits) - 1);
    if (value < -limit || value > limit - 1) refuse(fmt::format("outside {} to {}", -limit, limit - 1));
    if (value != std::trunc(value)) refuse("it has a fraction");
    return;
  }
  if (std::abs(value) > format.max_finite())
    refuse(fmt::format("the largest magnitude is {}", format.max_finite()));
  if (std::abs(value) < format.smallest() / 2)
    refuse(fmt::format("it would turn into zero: the smallest magnitude is {}", format.smallest()));
}

std::string saturation_note(NumberType from, NumberType to) {
  const NumberFormat &a = number_format(from), &b = held(to);
  if (!a.is_float() || !b.is_float() || b.max_finite() >= a.max_finite()) return {};
  return fmt::format("saturates at {}", b.max_finite());
}

std::string conversion_note(NumberType from, NumberType to) {
  const NumberFormat &a = number_format(from), &b = number_format(to);
  if (from == to || b.is_exact_from(a)) return {};
  std::string note = saturation_note(from, to);
  const auto add = [&](const std::string& what) {
    note += fmt::format("{}{}", note.empty() ? "" : "; ", what);
  };
  if (b.kind == Kind::kBlock)
    add(fmt::format("{} values share one scale, each keeps {} bits", b.block, b.bits));
  else if (!a.is_float() || !b.is_float())
    add("numbers of another kind");
  else {
    if (b.min_exp() > a.min_exp()) add(fmt::format("what is below {} is lost", b.smallest()));
    if (b.man_bits < a.man_bits) add(fmt::format("rounds to {} mantissa bits", b.man_bits));
  }
  return fmt::format("{} to {}: {}", a.name, b.name, note);
}

}  // namespace ktpu::arch
