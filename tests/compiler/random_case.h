// SPDX-License-Identifier: Apache-2.0
// Random kernel calls and machines, each from (seed, number) alone.
#pragma once

#include "tests/compiler/case.h"

namespace ktpu::test {

Case random_case(std::uint64_t seed, std::uint64_t number);
Target random_target(std::uint64_t seed, std::uint64_t number);

}  // namespace ktpu::test
