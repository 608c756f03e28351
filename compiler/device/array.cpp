// SPDX-License-Identifier: Apache-2.0
#include "compiler/device/array.h"

#include <cmath>

#include "arch/error.h"
#include "arch/program/image.h"
#include "compiler/device/array_node.h"
#include "compiler/device/device.h"

namespace ktpu::device {

using tensor::Op;
using tensor::Shape;

ArrayNode::~ArrayNode() {
  // Without recursion: a chain of operations may be long.
  std::vector<std::shared_ptr<ArrayNode>> open = std::move(args);
  while (!open.empty()) {
    const std::shared_ptr<ArrayNode> last = std::move(open.back());
    open.pop_back();
    if (last.use_count() != 1) continue;
    for (std::shared_ptr<ArrayNode>& arg : last->args) open.push_back(std::move(arg));
    last->args.clear();
  }
}

void ArrayNode::become(Values computed) {
  values = std::move(computed);
  tensor::Node input;
  input.shape = std::move(op.shape);
  op = std::move(input);
  args.clear();
}

Array::Array(std::shared_ptr<ArrayNode> node)
    : handle_(std::make_shared<ArrayHandle>(ArrayHandle{std::move(node)})) {
  this->node()->device->hold(handle_);
}

const std::shared_ptr<ArrayNode>& Array::node() const { return handle_->node; }
const Shape& Array::shape() const { return node()->op.shape; }
Device& Array::device() const { return *node()->device; }

std::vector<std::uint16_t> Array::halves() const {
  if (!node()->values) device().compute({node()});
  return *node()->values;
}

std::vector<float> Array::values() const {
  const std::vector<std::uint16_t> patterns = halves();
  std::vector<float> made(patterns.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<float>(arch::fp16_to_double(patterns[i]));
  return made;
}

std::vector<std::uint8_t> Array::numpy() const {
  constexpr std::size_t kAlign = 64, kFixed = 10;
  std::string axes;
  for (const std::uint32_t extent : shape()) axes += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '<f2', 'fortran_order': False, 'shape': ({}), }}", axes);
  header.append((kAlign - (kFixed + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::vector<std::uint8_t> file{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  file.push_back(static_cast<std::uint8_t>(header.size()));
  file.push_back(static_cast<std::uint8_t>(header.size() >> 8));
  file.insert(file.end(), header.begin(), header.end());
  for (const std::uint16_t pattern : halves()) {
    file.push_back(static_cast<std::uint8_t>(pattern));
    file.push_back(static_cast<std::uint8_t>(pattern >> 8));
  }
  return file;
}

void Array::pin() const { node()->pinned = true; }
void Array::unpin() const { node()->pinned = false; }

namespace {

std::shared_ptr<ArrayNode> node_of(Device* device, Op op, Shape shape) {
  auto made = std::make_shared<ArrayNode>();
  made->device = device;
  made->op.op = op;
  made->op.shape = std::move(shape);
  return made;
}

}  // namespace

Array make(Op op, const std::vector<Array>& args, double value = 0, bool causal = false) {
  std::vector<Shape> shapes;
  for (const Array& arg : args) {
    if (&arg.device() != &args[0].device())
      throw arch::UserError::make("{} of arrays of two devices: copy one over", info(op).name);
    shapes.push_back(arg.shape());
  }
  auto made = node_of(&args[0].device(), op, tensor::shape_of(op, shapes));
  for (const Array& arg : args) made->args.push_back(arg.node());
  made->op.value = value;
  made->op.causal = causal;
  return Array(std::move(made));
}

Array scalar_op(Op op, const Array& a, double b, bool scalar_first = false) {
  if (!std::isfinite(b)) throw arch::UserError::make("{} with {}: give a finite number", info(op).name, b);
  const auto scalar = node_of(&a.device(), Op::kConstant, {});
  scalar->op.value = b;
  const auto made = node_of(&a.device(), op, a.shape());
  made->args = {a.node(), scalar};
  if (scalar_first) std::swap(made->args[0], made->args[1]);
  return Array(made);
}

Array Array::reshape(Shape to) const {
  if (tensor::elements(to) != tensor::elements(shape()) || to.empty())
    throw arch::UserError::make("{} does not reshape to {}", tensor::print(shape()), tensor::print(to));
  auto made = node_of(&device(), Op::kReshape, std::move(to));
  made->args = {node()};
  return Array(std::move(made));
}

Array Array::broadcast(Shape to) const {
  if (to == shape()) return *this;
  if (!tensor::broadcasts(shape(), to))
    throw arch::UserError::make("{} does not repeat to {}", tensor::print(shape()), tensor::print(to));
  auto made = node_of(&device(), Op::kBroadcast, std::move(to));
  made->args = {node()};
  return Array(std::move(made));
}

Array Array::transpose() const {
  // The product the other way round needs nobody to move values.
  const ArrayNode& of = *node();
  if (of.op.op == Op::kMatmul && !of.values && !of.pinned && of.args[0]->op.shape.size() == 2)
    return make(Op::kMatmul, {Array(of.args[1]), Array(of.args[0])});
  return make(Op::kTranspose, {*this});
}

namespace {

// Both in the shape of the larger.
Array both(Op op, const Array& a, const Array& b) {
  if (a.shape() == b.shape()) return make(op, {a, b});
  if (tensor::broadcasts(b.shape(), a.shape())) return make(op, {a, b.broadcast(a.shape())});
  if (tensor::broadcasts(a.shape(), b.shape())) return make(op, {a.broadcast(b.shape()), b});
  return make(op, {a, b});  // refused
}

}  // namespace

Array matmul(const Array& a, const Array& b) { return make(Op::kMatmul, {a, b}); }
Array operator+(const Array& a, const Array& b) { return both(Op::kAdd, a, b); }
Array operator-(const Array& a, const Array& b) { return both(Op::kSub, a, b); }
Array operator*(const Array& a, const Array& b) { return both(Op::kMul, a, b); }
Array operator/(const Array& a, const Array& b) { return both(Op::kDiv, a, b); }
Array operator+(const Array& a, double b) { return scalar_op(Op::kAdd, a, b); }
Array operator-(const Array& a, double b) { return scalar_op(Op::kSub, a, b); }
Array operator*(const Array& a, double b) { return scalar_op(Op::kMul, a, b); }
Array operator/(const Array& a, double b) { return scalar_op(Op::kDiv, a, b); }
Array operator+(double a, const Array& b) { return scalar_op(Op::kAdd, b, a, true); }
Array operator-(double a, const Array& b) { return scalar_op(Op::kSub, b, a, true); }
Array operator*(double a, const Array& b) { return scalar_op(Op::kMul, b, a, true); }
Array operator/(double a, const Array& b) { return scalar_op(Op::kDiv, b, a, true); }
Array operator-(const Array& a) { return make(Op::kNeg, {a}); }
Array maximum(const Array& a, const Array& b) { return both(Op::kMaximum, a, b); }
Array minimum(const Array& a, const Array& b) { return both(Op::kMinimum, a, b); }
Array maximum(const Array& a, double b) { return scalar_op(Op::kMaximum, a, b); }
Array minimum(const Array& a, double b) { return scalar_op(Op::kMinimum, a, b); }
Array where(const Array& condition, const Array& if_not_zero, const Array& if_zero) {
  return make(Op::kWhere, {condition, if_not_zero, if_zero});
}
Array absolute(const Array& x) { return make(Op::kAbsolute, {x}); }
Array exp2(const Array& x) { return make(Op::kExp2, {x}); }
Array log2(const Array& x) { return make(Op::kLog2, {x}); }
Array recip(const Array& x) { return make(Op::kRecip, {x}); }
Array rsqrt(const Array& x) { return make(Op::kRsqrt, {x}); }
Array relu(const Array& x) { return make(Op::kRelu, {x}); }
Array silu(const Array& x) { return make(Op::kSilu, {x}); }
Array gelu(const Array& x) { return make(Op::kGelu, {x}); }
Array gelu_tanh(const Array& x) { return make(Op::kGeluTanh, {x}); }
Array row_sum(const Array& x) { return make(Op::kRowSum, {x}); }
Array row_max(const Array& x) { return make(Op::kRowMax, {x}); }
Array softmax(const Array& x) { return make(Op::kSoftmax, {x}); }
Array rmsnorm(const Array& x, double eps) { return make(Op::kRmsnorm, {x}, eps); }
Array rmsnorm(const Array& x, const Array& weight, double eps) {
  return make(Op::kRmsnorm, {x, weight.broadcast(x.shape())}, eps);
}
Array layernorm(const Array& x, double eps) { return make(Op::kLayernorm, {x}, eps); }
Array layernorm(const Array& x, const Array& weight, const Array& bias, double eps) {
  return make(Op::kLayernorm, {x, weight.broadcast(x.shape()), bias.broadcast(x.shape())}, eps);
}
Array attention(const Array& q, const Array& k, const Array& v, bool causal) {
  constexpr double kLog2E = 1.4426950408889634;
  const double scale = kLog2E / std::sqrt(static_cast<double>(q.shape().back()));
  return make(Op::kAttention, {q * scale, k, v.transpose()}, 0, causal);
}

}  // namespace ktpu::device
