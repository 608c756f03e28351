// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/vector_predicates.h"

#include <algorithm>

namespace ktpu::interpret {

namespace {
constexpr unsigned kFetch = 3, kStage = 15;  // section 12: E = F + 3; ALU latency
constexpr unsigned kCounterWraps = 32;       // beats of a group that its counter cannot tell from none (V6)
constexpr unsigned kPipe = 79;               // beat to an empty pipe
constexpr unsigned kLanes = 16;
}  // namespace

void Predicates::start() {
  landing_.clear();
  ready_.fill(0);
  fetch_ = 0;
}

void Predicates::drain() {
  fetch_ += kPipe;
  landing_.clear();
}

void Predicates::issue(const std::array<unsigned, 4>& registers, unsigned depth, unsigned beats, unsigned vd,
                       bool compare) {
  first_ = fetch_ + kFetch + 1 + 4 * (depth - 1);
  for (const unsigned r : registers) first_ = std::max(first_, ready_[r]);
  depth_ = depth;
  fetch_ = first_ + beats + 1;
  if (!compare && beats < kCounterWraps) ready_[vd] = first_ + beats - 1 + 3 + kStage * depth;
}

const PredicateBits& Predicates::read(unsigned p) const {
  // Beats of one group stand as far from their counterparts in the other as the first ones do.
  for (const Compare& c : landing_)
    if (c.predicate == p && first_ < c.first + 1 + kStage * static_cast<Cycle>(c.depth)) return c.before;
  return bits_[p];
}

PredicateBits Predicates::read_now(unsigned p) const {
  PredicateBits seen = bits_[p];
  const Cycle now = fetch_ + kFetch;
  for (auto c = landing_.rbegin(); c != landing_.rend(); ++c) {
    if (c->predicate != p) continue;
    for (unsigned e = 0; e < kMaxLength; ++e) {
      const Cycle beat = c->first + e / (kLanes / c->depth);
      if (now < beat + 3 + kStage * static_cast<Cycle>(c->depth)) seen[e] = c->before[e];
    }
  }
  return seen;
}

void Predicates::write(unsigned p, const PredicateBits& bits, unsigned count) {
  if (quirks_) {
    std::erase_if(landing_, [&](const Compare& c) { return c.first + 2 * kPipe < first_; });
    landing_.push_back({first_, depth_, p, bits_[p]});
  }
  for (unsigned e = 0; e < count; ++e) bits_[p][e] = bits[e];
}

}  // namespace ktpu::interpret
