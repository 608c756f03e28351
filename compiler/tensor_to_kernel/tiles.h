// SPDX-License-Identifier: Apache-2.0
// Tiles for a kernel's products where the caller gave none (compiler.md section 6).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/base/tile_choice.h"
#include "compiler/kernel/definition.h"
#include "compiler/tensor_to_kernel/plan.h"

namespace ktpu::tensor_to_kernel {

struct Product {
  base::ProductShape shape;
  bool epilogue = false;  // something is computed on its accumulator
};
// The products of a traced kernel, each once.
std::vector<Product> products(const kernel::Kernel& kernel);

base::TileLimits limits_of(const Capacity& capacity);

// `given` with gm, gn and nk for the kernel's largest product, if the kernel has these knobs and `given` has
// none of them: the tile that keeps an epilogue on the vector cores where there is one, else the tile of
// section 6. nk follows from what both sides' banks hold.
kernel::Knobs with_tiles(const kernel::Definition& definition,
                         const std::map<std::string, kernel::Shape>& inputs, const kernel::Knobs& given,
                         const Capacity& capacity);

// Every candidate for each product of `kernel`, and what the kernel's own tile comes to.
std::string explain_tiles(const kernel::Kernel& kernel, const Capacity& capacity);

}  // namespace ktpu::tensor_to_kernel
