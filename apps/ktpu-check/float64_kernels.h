// SPDX-License-Identifier: Apache-2.0
// The kernel library of compiler.md section 20, and the custom kernels of vectors/compiler/README.md, in
// double precision from the mathematics alone: nothing of the machine, of layouts or of number formats.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ktpu::check {

struct Real {
  std::vector<std::uint32_t> shape;  // outermost first
  std::vector<double> v;             // row-major

  std::size_t columns() const { return shape.empty() ? 1 : shape.back(); }
  std::size_t rows() const { return v.size() / columns(); }
};
using Reals = std::map<std::string, Real>;  // by port

// The outputs (one: under the empty name), NaN where a kernel leaves an element to chance; nothing for a
// kernel not in the list. `knobs` are the effective ones. Throws UserError when an input is missing or shapes
// do not fit.
std::optional<Reals> evaluate_float64(const std::string& kernel, const Reals& inputs,
                                      const nlohmann::json& knobs);

}  // namespace ktpu::check
