// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/machine.h"

#include <cmath>

namespace ktpu::cost {

Cycles CrossingCost::cycles(double writer, double reader) const {
  return std::llround(write * writer + ((writer == reader ? sync : sync_apart) + read) * reader);
}

}  // namespace ktpu::cost
