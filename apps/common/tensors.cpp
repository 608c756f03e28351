// SPDX-License-Identifier: Apache-2.0
#include "apps/common/tensors.h"

#include <algorithm>
#include <cmath>

#include "apps/common/npy.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::apps {

namespace {

std::string descr_of(const arch::Tensor& tensor) {
  switch (tensor.dtype) {
    case arch::DType::kFp16:
      return "<f2";
    case arch::DType::kFp32:
      return "<f4";
    case arch::DType::kU8:
      return "|u1";
    case arch::DType::kU16:
      return "<u2";
    case arch::DType::kU32:
      return "<u4";
    case arch::DType::kI8:
      return "|i1";
    case arch::DType::kI16:
      return "<i2";
    case arch::DType::kI32:
      return "<i4";
    case arch::DType::kMxfp7:
      break;
  }
  throw arch::UserError::make("\"{}\" is {}: a block format has no NumPy type", tensor.name,
                              arch::dtype_name(tensor.dtype));
}

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text;
  for (const std::uint32_t d : shape) text += fmt::format("{}{}", text.empty() ? "" : "x", d);
  return text.empty() ? "scalar" : text;
}

const arch::Tensor& find(const std::vector<arch::Tensor>& tensors, const std::string& name,
                         const char* what) {
  for (const arch::Tensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  std::string known;
  for (const arch::Tensor& tensor : tensors) known += (known.empty() ? "" : ", ") + tensor.name;
  throw arch::UserError::make("the program has no {} \"{}\"; it has: {}", what, name,
                              known.empty() ? "none" : known);
}

// Block formats have no NumPy file: their bytes can only come from an image.
bool holds_part_of(const arch::Program& program, const arch::Tensor& tensor) {
  const unsigned element_bytes = arch::dtype_bits(tensor.dtype) / 8;
  if (element_bytes == 0) return true;
  const std::uint64_t begin = tensor.address;
  const std::uint64_t end =
      begin + arch::TensorLayout(tensor.layout, tensor.shape, element_bytes).elements() * element_bytes;
  const auto holds = [&](unsigned mesh, const arch::MemoryImage& image) {
    return mesh == tensor.mesh && image.address < end && begin < image.address + arch::image_bytes(image);
  };
  for (const auto& [mesh, image] : program.images)
    if (holds(mesh, image)) return true;
  for (const arch::Step& step : program.steps)
    if (const auto* load = std::get_if<arch::StepLoad>(&step.action))
      if (holds(step.mesh, load->image)) return true;
  return false;
}

NpyArray fetch(const TensorMemory& memory, const arch::Tensor& tensor) {
  NpyArray array;
  array.descr = descr_of(tensor);
  array.shape = tensor.shape;
  const arch::TensorLayout layout(tensor.layout, tensor.shape, static_cast<unsigned>(array.element_bytes()));
  array.data =
      layout.unpack(memory.read(tensor.mesh, tensor.address, layout.elements() * array.element_bytes()));
  return array;
}

NpyArray read_expected(const arch::Tensor& tensor, const Binding& binding) {
  NpyArray expected = read_npy(binding.file);
  if (expected.shape != tensor.shape)
    throw arch::UserError::make("{}: shape {}, but output \"{}\" is {}", binding.file,
                                shape_text(expected.shape), tensor.name, shape_text(tensor.shape));
  return expected;
}

}  // namespace

Binding parse_binding(const std::string& option, const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
    throw arch::UserError::make("{} {}: expected NAME=FILE.npy", option, text);
  return {text.substr(0, equal), text.substr(equal + 1)};
}

void load_input(const TensorMemory& memory, const arch::Program& program, const Binding& binding) {
  const arch::Tensor& tensor = find(program.inputs, binding.name, "input");
  const NpyArray array = read_npy(binding.file);
  const std::string descr = descr_of(tensor);
  if (array.descr.substr(1) != descr.substr(1) || array.shape != tensor.shape)
    throw arch::UserError::make("{}: {} of {}, but input \"{}\" is {} of {}", binding.file, array.descr,
                                shape_text(array.shape), tensor.name, descr, shape_text(tensor.shape));
  const arch::TensorLayout layout(tensor.layout, tensor.shape, static_cast<unsigned>(array.element_bytes()));
  memory.write(tensor.mesh, tensor.address, layout.pack(array.data));
}

std::vector<std::string> missing_inputs(const arch::Program& program, const std::vector<Binding>& given) {
  std::vector<std::string> notes;
  for (const arch::Tensor& tensor : program.inputs) {
    if (std::ranges::any_of(given, [&](const Binding& binding) { return binding.name == tensor.name; }))
      continue;
    if (holds_part_of(program, tensor)) continue;
    notes.push_back(fmt::format("input \"{}\" ({} of {}) is not given (--in {}=FILE.npy): it is all zeros",
                                tensor.name, arch::dtype_name(tensor.dtype), shape_text(tensor.shape),
                                tensor.name));
  }
  return notes;
}

void check_output(const arch::Program& program, const Binding& binding, bool expected) {
  const arch::Tensor& tensor = find(program.outputs, binding.name, "output");
  descr_of(tensor);
  if (expected) read_expected(tensor, binding);
}

void save_output(const TensorMemory& memory, const arch::Program& program, const Binding& binding) {
  write_npy(binding.file, fetch(memory, find(program.outputs, binding.name, "output")));
}

Comparison compare_output(const TensorMemory& memory, const arch::Program& program, const Binding& binding,
                          double atol, double rtol) {
  const arch::Tensor& tensor = find(program.outputs, binding.name, "output");
  const NpyArray expected = read_expected(tensor, binding);
  const NpyArray got = fetch(memory, tensor);
  Comparison c;
  c.name = tensor.name;
  c.elements = got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double value = got.number(i), want = expected.number(i);
    const double error = std::abs(value - want);
    const bool same = value == want || (std::isnan(value) && std::isnan(want));
    if (same || error <= atol + rtol * std::abs(want)) continue;
    if (c.different++ == 0 || error > c.max_error || std::isnan(error)) {
      c.worst = i;
      c.worst_value = value;
      c.worst_expected = want;
      c.max_error = error;
    }
  }
  return c;
}

}  // namespace ktpu::apps
