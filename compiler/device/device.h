// SPDX-License-Identifier: Apache-2.0
// A machine to compute arrays on. What an application may ask of it beyond arrays is control, never data:
// sync(), empty_cache(), stats(), and pin() of an array (compiler.md section 1).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/device/array.h"
#include "compiler/device/runner.h"
#include "compiler/driver/compile.h"
#include "compiler/tensor_to_kernel/lower.h"
#include "topologies/description.h"

namespace ktpu::device {

// What tile choice and substitutions know of a machine.
tensor_to_kernel::Capacity capacity_of(const driver::Machine& machine);

struct Stats {
  std::uint64_t calls = 0;       // of kernels
  std::uint64_t compiled = 0;    // of these, compiled; the others were in the cache
  std::uint64_t host_steps = 0;  // broadcasts and transposes
  std::uint64_t relaxed = 0;     // calls whose epilogue went through memory
  std::uint64_t rounds = 0, flits = 0, saturated = 0, cycles = 0;
  std::uint64_t cached = 0;      // compiled kernels held now
  std::uint64_t held_bytes = 0;  // values of arrays held now
  std::string text() const;
};

class Device {
 public:
  // Runs on the functional interpreter unless a runner is given. One mesh of the machine.
  explicit Device(const topo::Machine& machine, std::unique_ptr<Runner> runner = nullptr, unsigned mesh = 0);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Row-major; rounded to FP16, what is too large becomes 65504. Throws UserError unless there are as many
  // values as the shape holds.
  Array array(tensor::Shape shape, const std::vector<float>& values);
  Array halves(tensor::Shape shape, Values patterns);

  // A kernel by hand: inputs by port, its results in the order of its ports, computed at once.
  std::vector<Array> call(const kernel::Definition& kernel, const std::map<std::string, Array>& inputs,
                          const kernel::Knobs& knobs = {});

  // The results of a graph, not computed yet; `inputs` by name. Throws UserError for an input without values.
  std::vector<Array> evaluate(const tensor::Graph& graph, const std::map<std::string, Array>& inputs);

  // Substitutions tried before those already there (compiler.md section 22).
  void substitute(tensor_to_kernel::Substitution substitution);
  void set_options(const driver::Options& options);

  // Computes everything the application holds.
  void sync();
  // Forgets compiled kernels.
  void empty_cache();
  Stats stats() const;

  // The graph behind these arrays, and the calls it becomes, as text.
  std::string explain(const std::vector<Array>& arrays);
  tensor::Graph graph(const std::vector<Array>& arrays);

 private:
  friend class Array;
  struct State;
  void hold(const std::shared_ptr<ArrayHandle>& handle);
  void compute(const std::vector<std::shared_ptr<ArrayNode>>& wanted);
  std::unique_ptr<State> state_;
};

}  // namespace ktpu::device
