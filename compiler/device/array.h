// SPDX-License-Identifier: Apache-2.0
// An array of FP16 values on a device, and what can be computed with it. Operations are only noted; they run
// when values are asked for, so that what belongs together runs in one kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/tensor/graph.h"

namespace ktpu::device {

class Device;
struct ArrayNode;
struct ArrayHandle;

class Array {
 public:
  const tensor::Shape& shape() const;
  Device& device() const;

  // Computes it first where that has not happened. Throws base::Refusal, UserError.
  std::vector<float> values() const;
  std::vector<std::uint16_t> halves() const;  // FP16 patterns
  // The bytes of a NumPy .npy file, type <f2.
  std::vector<std::uint8_t> numpy() const;

  // A pinned array is computed once and as a whole. Without that it may become part of another array's
  // kernel, and is computed again when its own values are asked for.
  void pin() const;
  void unpin() const;

  Array reshape(tensor::Shape shape) const;
  Array broadcast(tensor::Shape shape) const;
  Array transpose() const;  // the last two axes

 private:
  friend class Device;
  friend Array make(tensor::Op op, const std::vector<Array>& args, double value, bool causal);
  friend Array scalar_op(tensor::Op op, const Array& a, double b, bool scalar_first);
  explicit Array(std::shared_ptr<ArrayNode> node);
  std::shared_ptr<ArrayHandle> handle_;  // shared by the copies of one array; the last one lets go of it
  const std::shared_ptr<ArrayNode>& node() const;
};

// [..., M, K] with [N, K] to [..., M, N]: every row of `a` with every row of `b`, as a weight is stored.
Array matmul(const Array& a, const Array& b);

// Operands of one shape; an array of fewer or shorter axes is repeated to the other's. Or a number.
Array operator+(const Array& a, const Array& b);
Array operator-(const Array& a, const Array& b);
Array operator*(const Array& a, const Array& b);
Array operator/(const Array& a, const Array& b);
Array operator+(const Array& a, double b);
Array operator-(const Array& a, double b);
Array operator*(const Array& a, double b);
Array operator/(const Array& a, double b);
Array operator+(double a, const Array& b);
Array operator-(double a, const Array& b);
Array operator*(double a, const Array& b);
Array operator/(double a, const Array& b);
Array operator-(const Array& a);
Array maximum(const Array& a, const Array& b);
Array minimum(const Array& a, const Array& b);
Array maximum(const Array& a, double b);
Array minimum(const Array& a, double b);
Array where(const Array& condition, const Array& if_not_zero, const Array& if_zero);
Array absolute(const Array& x);
Array exp2(const Array& x);
Array log2(const Array& x);
Array recip(const Array& x);
Array rsqrt(const Array& x);
Array relu(const Array& x);
Array silu(const Array& x);
Array gelu(const Array& x);  // x * sigmoid(1.702 x)
Array gelu_tanh(const Array& x);

// Along the last axis; sums and maxima stand in every column of it.
Array row_sum(const Array& x);
Array row_max(const Array& x);
Array softmax(const Array& x);
Array rmsnorm(const Array& x, double eps = 1e-5);
Array rmsnorm(const Array& x, const Array& weight, double eps = 1e-5);
Array layernorm(const Array& x, double eps = 1e-5);
Array layernorm(const Array& x, const Array& weight, const Array& bias, double eps = 1e-5);

// softmax(q k^T / sqrt(D)) v for q [..., Lq, D], k [..., Lk, D], v [..., Lk, Dv]. Causal: row i sees keys up
// to i.
Array attention(const Array& q, const Array& k, const Array& v, bool causal = false);

}  // namespace ktpu::device
