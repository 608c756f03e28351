// SPDX-License-Identifier: Apache-2.0
// A graph of operations as calls of kernels, in order, and the little the host does between them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/definition.h"
#include "compiler/tensor/graph.h"

namespace ktpu::tensor_to_kernel {

// What the compiler may know of the machine to choose tiles.
struct Capacity {
  std::uint32_t tiles = 512;                    // sub-tiles of a cluster's accumulator
  std::uint32_t bank_entries = 128, banks = 2;  // of a cluster's L1, per side
  std::uint32_t vector_cores = 2;
};

struct KernelCall {
  std::shared_ptr<const kernel::Definition> kernel;
  std::string why;  // the substitution that matched, or what a pass of elementwise operations computes
  // Ports and the values they take. A port may want the value in another shape of as many elements.
  struct Operand {
    std::string port;
    tensor::Id value = 0;
    kernel::Shape shape;
  };
  std::vector<Operand> operands;
  std::string port;  // of the result
  tensor::Id result = 0;
  kernel::Knobs knobs;  // those that differ from the kernel's defaults
};
// Values that change places, by the host: broadcast, reshape, transpose.
struct HostStep {
  tensor::Id result = 0;
};
struct Plan {
  std::vector<std::variant<KernelCall, HostStep>> steps;
};

// Every decision as text: which values a call covers, by which substitution, with which knobs.
std::string print(const tensor::Graph& graph, const Plan& plan);

}  // namespace ktpu::tensor_to_kernel
