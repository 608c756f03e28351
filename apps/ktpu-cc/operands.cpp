// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/operands.h"

#include <cmath>
#include <cstring>

#include "apps/common/npy.h"
#include "apps/common/tensors.h"
#include "arch/error.h"
#include "arch/program/image.h"

namespace ktpu::apps {

Operands read_operands(const std::vector<std::string>& bindings) {
  Operands operands;
  for (const std::string& text : bindings) {
    const Binding binding = parse_binding("--in", text);
    const NpyArray array = read_npy(binding.file);
    std::vector<std::uint16_t> values(array.size());
    std::size_t rounded = 0, clamped = 0;
    if (array.descr == "<f2") {
      std::memcpy(values.data(), array.data.data(), array.data.size());
    } else {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = array.number(i);
        const double held = std::isnan(value) ? value : std::fmin(std::fmax(value, -65504.0), 65504.0);
        values[i] = arch::double_to_fp16(held);
        clamped += held != value && !std::isnan(value);
        rounded += held == value && arch::fp16_to_double(values[i]) != value;
      }
    }
    if (rounded + clamped != 0)
      operands.notes.push_back(
          fmt::format("{}: {} of {} values of {} are rounded to FP16, {} clamped to 65504", binding.file,
                      rounded, values.size(), array.descr, clamped));
    operands.shapes[binding.name] = array.shape;
    if (!operands.values.emplace(binding.name, std::move(values)).second)
      throw arch::UserError::make("--in {}: {} is given twice", text, binding.name);
  }
  return operands;
}

}  // namespace ktpu::apps
