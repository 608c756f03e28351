// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/interpreter.h"

#include "arch/error.h"
#include "arch/program/tensor_layout.h"
#include "compiler/interpret/interpreter_machine.h"

namespace ktpu::interpret {

using arch::UserError;

namespace {

const arch::Tensor& find(const std::vector<arch::Tensor>& tensors, std::string_view name, const char* what) {
  for (const arch::Tensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw UserError::make("the program has no {} \"{}\"", what, name);
}

arch::TensorLayout layout_of(const arch::Tensor& tensor) {
  const unsigned bits = arch::dtype_bits(tensor.dtype);
  if (bits == 0) throw UserError::make("tensor \"{}\" is in a block format", tensor.name);
  return {tensor.layout, tensor.shape, bits / 8};
}

unsigned element_bytes(const arch::Tensor& tensor) { return arch::dtype_bits(tensor.dtype) / 8; }

}  // namespace

Interpreter::Interpreter(const arch::Program& program, MachineFacts machine, const Options& options)
    : machine_(std::make_unique<Machine>(program, std::move(machine), options)) {}
Interpreter::~Interpreter() = default;

void Interpreter::run() { machine_->run(0, machine_->program.steps.size()); }
void Interpreter::run(std::size_t first, std::size_t last) { machine_->run(first, last); }

void Interpreter::set_input(std::string_view name, std::span<const std::uint8_t> row_major) {
  const arch::Tensor& tensor = find(machine_->program.inputs, name, "input");
  const arch::TensorLayout layout = layout_of(tensor);
  if (row_major.size() != layout.values() * element_bytes(tensor))
    throw UserError::make("input \"{}\" takes {} bytes, not {}", name,
                          layout.values() * element_bytes(tensor), row_major.size());
  write_memory(tensor.mesh, tensor.address, layout.pack(row_major));
}

std::vector<std::uint8_t> Interpreter::output(std::string_view name) const {
  const arch::Tensor& tensor = find(machine_->program.outputs, name, "output");
  const arch::TensorLayout layout = layout_of(tensor);
  return layout.unpack(read_memory(tensor.mesh, tensor.address, layout.elements() * element_bytes(tensor)));
}

std::vector<std::uint8_t> Interpreter::read_memory(unsigned mesh, std::uint64_t address,
                                                   std::uint64_t bytes) const {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(bytes));
  machine_->memory(mesh).read(address, out);
  return out;
}

void Interpreter::write_memory(unsigned mesh, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  machine_->memory(mesh).write(address, bytes, Memory::kHost);
}

const Counters& Interpreter::counters() const { return machine_->counters; }
const Traffic& Interpreter::traffic() const { return machine_->traffic; }
const std::vector<std::string>& Interpreter::warnings() const { return machine_->warnings; }

}  // namespace ktpu::interpret
