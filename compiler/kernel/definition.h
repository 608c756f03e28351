// SPDX-License-Identifier: Apache-2.0
// A kernel as its author writes it: ports with symbolic shapes, knobs, a body (compiler.md section 14).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace ktpu::kernel {

class Trace;

// One axis of a port: a number, a symbol, or arithmetic over symbols ("(H+2)*(W+2)").
class Dim {
 public:
  Dim(int value) : index_(value) {}                      // NOLINT(google-explicit-constructor)
  Dim(const char* symbol) : Dim(std::string(symbol)) {}  // NOLINT(google-explicit-constructor): "M"
  Dim(std::string symbol);                               // NOLINT(google-explicit-constructor): "..." too
  Dim(base::Index index) : index_(std::move(index)) {}   // NOLINT(google-explicit-constructor)
  bool is_ellipsis() const { return ellipsis_; }
  const base::Index& index() const { return index_; }

 private:
  base::Index index_;
  bool ellipsis_ = false;
};
inline base::Index symbol(std::string name) { return base::Index::axis(std::move(name)); }

// "..." alone: one contiguous block of any rank. "..." before named axes: batch. Absent: shared by all batch
// elements.
struct Port {
  std::string name;
  Role role = Role::kIn;
  std::vector<Dim> shape;
};
inline Port in(std::string name, std::vector<Dim> shape) {
  return {std::move(name), Role::kIn, std::move(shape)};
}
inline Port out(std::string name, std::vector<Dim> shape) {
  return {std::move(name), Role::kOut, std::move(shape)};
}

struct Definition {
  std::string name;  // "ops.matmul"
  std::vector<Port> ports;
  Knobs knobs;  // defaults. `fuse` may be given to every kernel, declared or not.
  std::function<void(Trace&)> body;
  // Knobs that a call's shapes do not go with (a part that cuts rows, tiles that blocks are no multiple of)
  // are made to: for policy best, before the body. Empty: the knobs are as they are.
  std::function<void(const Kernel& bound, Knobs& knobs)> settle = {};
};

// Extents from the shapes of the inputs, buffers of all ports, effective knobs; an empty body. Throws
// base::Refusal of phase kBind.
Kernel bind(const Definition& definition, const std::map<std::string, Shape>& inputs, const Knobs& knobs);
// The effective knobs, settled.
Knobs settled(const Definition& definition, const std::map<std::string, Shape>& inputs, const Knobs& knobs);
// What a body may take: what the reference's takes, or all that the compiler can (policy best).
enum class Takes : std::uint8_t { kReference, kAll };
// bind, then the body once, then verify.
Kernel trace(const Definition& definition, const std::map<std::string, Shape>& inputs, const Knobs& knobs,
             Takes takes = Takes::kReference);

}  // namespace ktpu::kernel
