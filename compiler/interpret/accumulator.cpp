// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arch/error.h"
#include "arch/program/image.h"

namespace ktpu::interpret {

namespace {

constexpr double kFp16Max = 65504;
constexpr std::uint16_t kFp16MaxBits = 0x7BFF;
constexpr unsigned kModelBits = 17;  // significand of the model's sums

// Nearest value of 17 significant bits, ties to even; the exponent has no bound.
double round17(double value) {
  constexpr unsigned kDrop = 53 - kModelBits;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  bits += (1ull << (kDrop - 1)) - 1 + (bits >> kDrop & 1);
  return std::bit_cast<double>(bits & ~((1ull << kDrop) - 1));
}

std::uint16_t half_of(const Word256& word, unsigned lane) {
  return static_cast<std::uint16_t>(word[lane / 4] >> (16 * (lane % 4)));
}

// Magnitudes from 65520 on have no FP16 value next to them.
bool is_saturated(std::uint32_t acc, unsigned mw) {
  const int exponent =
      static_cast<int>(arch::acc_exponent(acc, mw)) - static_cast<int>(arch::kAccExponentBias);
  const double magnitude =
      std::ldexp(std::ldexp(arch::acc_mantissa(acc, mw), -static_cast<int>(mw)) + 1, exponent);
  return magnitude >= 65520;
}

}  // namespace

Accumulator::Accumulator(unsigned tiles, unsigned mw, Rounding rounding)
    : tiles_(tiles), mw_(mw), rounding_(rounding), kernel_(arch::accumulate_kernel(mw)), loaded_(tiles) {
  if (rounding == Rounding::kHardware)
    bits_.resize(tiles);
  else
    reals_.resize(tiles);
}

void Accumulator::sweep(unsigned tile, const arch::OperandEntry* const* a, const arch::OperandEntry* const* b,
                        unsigned nk, unsigned anchor, bool add) {
  const unsigned t = tile % tiles_;
  loaded_[t] = true;
  if (rounding_ == Rounding::kReferenceModel) return sweep_reals(reals_[t], a, b, nk, add);
  arch::SubTile& sum = bits_[t];
  for (unsigned k = 0; k < nk; ++k) {
    if (k == 0 && !add)
      kernel_.load_chain(*a[k], *b[k], anchor, sum);
    else
      kernel_.add_chain(*a[k], *b[k], anchor, sum);
  }
}

void Accumulator::sweep_reals(Reals& tile, const arch::OperandEntry* const* a,
                              const arch::OperandEntry* const* b, unsigned nk, bool add) const {
  Reals sum{};
  for (unsigned k = 0; k < nk; ++k) {
    for (unsigned lane = 0; lane < arch::kSubTileLanes; ++lane) {
      const unsigned i = lane / arch::kLanes, j = lane % arch::kLanes;
      int dot = 0;
      for (unsigned e = 0; e < arch::kBlockK; ++e) dot += a[k]->q[i][e] * b[k]->q[j][e];
      const unsigned fa = a[k]->scale[i], fb = b[k]->scale[j];
      const double scales = static_cast<double>((8 + (fa & 7)) * (8 + (fb & 7)));
      const int exponent = static_cast<int>(fa >> 3) + static_cast<int>(fb >> 3) - 40 - 6;
      sum[lane] = round17(sum[lane] + std::ldexp(dot * scales, exponent));
    }
  }
  for (unsigned lane = 0; lane < arch::kSubTileLanes; ++lane)
    tile[lane] = add ? round17(tile[lane] + sum[lane]) : sum[lane];
}

Word256 Accumulator::emit(unsigned tile, std::uint64_t& saturated) const {
  const unsigned t = tile % tiles_;
  if (rounding_ == Rounding::kHardware) {
    const Word256 word = kernel_.emit(bits_[t]);
    for (unsigned lane = 0; lane < arch::kSubTileLanes; ++lane)
      if ((half_of(word, lane) & 0x7FFF) == kFp16MaxBits && is_saturated(bits_[t].lane[lane], mw_))
        ++saturated;
    return word;
  }
  Word256 word{};
  for (unsigned lane = 0; lane < arch::kSubTileLanes; ++lane) {
    const double value = reals_[t][lane];
    if (std::fabs(value) > kFp16Max) ++saturated;
    const std::uint64_t half = arch::double_to_fp16(std::clamp(value, -kFp16Max, kFp16Max));
    word[lane / 4] |= half << (16 * (lane % 4));
  }
  return word;
}

arch::PeerGranules Accumulator::send(unsigned tile) const {
  if (rounding_ != Rounding::kHardware)
    throw arch::UserError(
        "the reference model has no raw tiles to send; interpret with the hardware's rounding");
  return arch::send_granules(bits_[tile % tiles_], mw_);
}

void Accumulator::add_peer(unsigned tile, const arch::SubTile& x) {
  if (rounding_ != Rounding::kHardware)
    throw arch::UserError("the reference model takes no raw tiles; interpret with the hardware's rounding");
  kernel_.add(bits_[tile % tiles_], x);
}

}  // namespace ktpu::interpret
