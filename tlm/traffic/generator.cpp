// SPDX-License-Identifier: Apache-2.0
#include "tlm/traffic/generator.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::traffic {

GapDraw::GapDraw(double rate) {
  double power = 1 - rate;  // q^(2^j)
  while (digits_ < kMaxDigits && power > 0x1p-32) {
    threshold_[digits_++] = static_cast<std::uint32_t>(power / (1 + power) * 0x1p32);  // below 2^31
    power *= power;
  }
}

Generator::Generator(const RandomTraffic& traffic, arch::Coord self)
    : limit_(traffic.flits == 0 ? ~0ull : traffic.flits),
      pattern_(traffic.pattern),
      type_(traffic.type),
      hotspot_(traffic.hotspot),
      gap_(traffic.rate > 0 ? std::min(traffic.rate, 1.0) : 1.0),
      seed_(sim::scramble(traffic.seed + 0x100ull * (self.node_byte() + 1u))),
      share_(sim::chance_threshold(traffic.hotspot_share)),
      first_(traffic.first) {
  if (!(traffic.rate >= 0 && traffic.rate <= 1))
    throw arch::UserError::make("traffic at ({},{}): rate {} is not within 0..1 flits per cycle", self.x,
                                self.y, traffic.rate);
  for (const arch::Coord to : traffic.destinations) {
    if (pattern_ == Pattern::kTranspose ? to == arch::Coord{self.y, self.x} && to != self : to != self)
      destinations_.push_back(to);
  }
  const bool hotspot_only = pattern_ == Pattern::kHotspot && share_ == ~0ull;
  silent_ = traffic.rate <= 0 || (destinations_.empty() && !hotspot_only);
  reset();
}

void Generator::reset() {
  random_ = sim::Random(seed_);
  born_ = 0;
  birth_ = silent_ ? sim::kNever : first_ + gap_.draw(random_);
}

arch::Coord Generator::destination() {
  if (pattern_ == Pattern::kHotspot && random_.chance(share_)) return hotspot_;
  if (destinations_.size() == 1) return destinations_.front();
  return destinations_[random_.below(static_cast<std::uint32_t>(destinations_.size()))];
}

void Generator::advance() { birth_ = ++born_ == limit_ ? sim::kNever : birth_ + 1 + gap_.draw(random_); }

}  // namespace ktpu::traffic
