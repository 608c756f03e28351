// SPDX-License-Identifier: Apache-2.0
#include "arch/error.h"
#include "arch/program/image.h"
#include "compiler/device/array_node.h"

namespace ktpu::device {

using tensor::Op;
using tensor::Shape;

namespace {

Values transposed(const Shape& from, const Values& values) {
  const std::size_t rows = from[from.size() - 2], columns = from.back(), block = rows * columns;
  Values result(values.size());
  for (std::size_t base = 0; base < values.size(); base += block)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) result[base + c * rows + r] = values[base + r * columns + c];
  return result;
}

Values repeated(const Shape& from, const Shape& to, const Values& values) {
  Values result(tensor::elements(to));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t rest = i, at = 0, stride = 1;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      const std::uint32_t extent = from[from.size() - 1 - axis], wide = to[to.size() - 1 - axis];
      at += (extent == 1 ? 0 : rest % wide) * stride;
      rest /= wide;
      stride *= extent;
    }
    result[i] = values[at];
  }
  return result;
}

}  // namespace

Values host_step(const tensor::Node& step, const tensor::Node& argument, const Values& values) {
  switch (step.op) {
    case Op::kReshape:
      return values;
    case Op::kTranspose:
      return transposed(argument.shape, values);
    case Op::kBroadcast:
      if (argument.op == Op::kConstant)
        return Values(tensor::elements(step.shape), arch::double_to_fp16(argument.value));
      return repeated(argument.shape, step.shape, values);
    default:
      break;
  }
  KTPU_CHECK(false, "{} is no step of the host", info(step.op).name);
  return {};
}

}  // namespace ktpu::device
