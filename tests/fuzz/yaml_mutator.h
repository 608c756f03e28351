// SPDX-License-Identifier: Apache-2.0
// Broken topologies: one to four edits of a good text, of the kinds people make and of kinds nobody makes.
#pragma once

#include <string>

#include "tests/fuzz/random.h"

namespace ktpu::fuzz {

std::string mutate_yaml(std::string text, Random& random);

}  // namespace ktpu::fuzz
