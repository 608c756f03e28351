// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/float64_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "arch/error.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double gelu_sigmoid(double x) { return x * sigmoid(1.702 * x); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double relu(double x) { return std::max(x, 0.0); }
double identity(double x) { return x; }

struct Call {
  const Reals& inputs;
  const json& knobs;

  const Real& in(const char* name) const {
    const auto found = inputs.find(name);
    if (found == inputs.end()) throw UserError::make("the FP64 reference wants an input \"{}\"", name);
    return found->second;
  }
  double knob(const char* name, double otherwise) const {
    return knobs.contains(name) && knobs[name].is_number() ? knobs[name].get<double>() : otherwise;
  }
  bool flag(const char* name) const { return knobs.contains(name) && knobs[name] == true; }
};

void same_size(const Real& a, const Real& b) {
  if (a.v.size() != b.v.size())
    throw UserError::make("the FP64 reference: operands of {} and {} elements", a.v.size(), b.v.size());
}

Real each(const Real& x, const std::function<double(double)>& f) {
  Real y = x;
  std::transform(x.v.begin(), x.v.end(), y.v.begin(), f);
  return y;
}

Real each(const Real& a, const Real& b, const std::function<double(double, double)>& f) {
  same_size(a, b);
  Real y = a;
  std::transform(a.v.begin(), a.v.end(), b.v.begin(), y.v.begin(), f);
  return y;
}

Real plus(const Real& a, const Real& b) { return each(a, b, std::plus<>()); }
Real times(const Real& a, const Real& b) { return each(a, b, std::multiplies<>()); }

// x [..., M, K] and w [N, K], shared by all: x times w transposed.
Real matmul(const Real& x, const Real& w) {
  const std::size_t k = x.columns(), n = w.rows();
  if (w.columns() != k) throw UserError::make("the FP64 reference: K is {} and {}", k, w.columns());
  Real c{x.shape, std::vector<double>(x.rows() * n)};
  c.shape.back() = static_cast<std::uint32_t>(n);
  for (std::size_t r = 0; r < x.rows(); ++r)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += x.v[r * k + i] * w.v[j * k + i];
      c.v[r * n + j] = sum;
    }
  return c;
}

// `f` on every row, in place.
Real by_rows(const Real& x, const std::function<void(double*, std::size_t)>& f) {
  Real y = x;
  for (std::size_t r = 0; r < x.rows(); ++r) f(&y.v[r * x.columns()], x.columns());
  return y;
}

void row_sum(double* row, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += row[i];
  std::fill(row, row + n, sum);
}

void row_max(double* row, std::size_t n) { std::fill(row, row + n, *std::max_element(row, row + n)); }

void softmax(double* row, std::size_t n) {
  const double top = *std::max_element(row, row + n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += row[i] = std::exp(row[i] - top);
  for (std::size_t i = 0; i < n; ++i) row[i] /= sum;
}

double mean_of(const double* row, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += row[i];
  return sum / static_cast<double>(n);
}

double variance_of(const double* row, std::size_t n, double mean) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += (row[i] - mean) * (row[i] - mean);
  return sum / static_cast<double>(n);
}

Real rmsnorm(const Call& c) {
  const double eps = c.knob("eps", 1e-5);
  const Real y = by_rows(c.in("x"), [&](double* row, std::size_t n) {
    const double scale = 1 / std::sqrt(variance_of(row, n, 0) + eps);
    for (std::size_t i = 0; i < n; ++i) row[i] *= scale;
  });
  return c.inputs.contains("w") ? times(y, c.in("w")) : y;
}

Real layernorm(const Call& c) {
  const double eps = c.knob("eps", 1e-5);
  Real y = by_rows(c.in("x"), [&](double* row, std::size_t n) {
    const double mean = mean_of(row, n), scale = 1 / std::sqrt(variance_of(row, n, mean) + eps);
    for (std::size_t i = 0; i < n; ++i) row[i] = (row[i] - mean) * scale;
  });
  if (c.inputs.contains("w")) y = times(y, c.in("w"));
  return c.inputs.contains("b") ? plus(y, c.in("b")) : y;
}

Real linear(const Call& c) { return matmul(c.in("x"), c.in("w")); }

// A vector along the last axis of every row.
Real add_bias(Real y, const Real& b) {
  if (b.v.size() != y.columns())
    throw UserError::make("the FP64 reference: a bias of {} for {} columns", b.v.size(), y.columns());
  for (std::size_t i = 0; i < y.v.size(); ++i) y.v[i] += b.v[i % y.columns()];
  return y;
}

Real mlp(const Call& c) {
  const std::string act =
      c.knobs.contains("act") && c.knobs["act"].is_string() ? c.knobs["act"].get<std::string>() : "silu";
  const Unary f = act == "silu" ? silu : act == "relu" ? relu : act == "gelu" ? gelu_sigmoid : nullptr;
  if (f == nullptr) throw UserError::make("the FP64 reference has no activation \"{}\"", act);
  return matmul(each(matmul(c.in("x"), c.in("up")), f), c.in("down"));
}

Real glu(const Call& c, const char* gate, const char* up, Unary act) {
  return times(each(matmul(c.in("x"), c.in(gate)), act), matmul(c.in("x"), c.in(up)));
}

// q [..., Lq, D] scaled by log2(e)/sqrt(D) beforehand, k [..., Lkv, D], v [..., Dv, Lkv].
Real attention(const Call& c) {
  const Real &q = c.in("q"), &k = c.in("k"), &v = c.in("v");
  const auto extent = [](const Real& t, std::size_t from_end) -> std::size_t {
    if (t.shape.size() < 2) throw UserError::make("the FP64 reference: attention wants matrices");
    return t.shape[t.shape.size() - from_end];
  };
  const std::size_t lq = extent(q, 2), d = extent(q, 1), lkv = extent(k, 2), dv = extent(v, 2);
  const std::size_t batch = q.v.size() / (lq * d);
  if (extent(k, 1) != d || extent(v, 1) != lkv || k.v.size() != batch * lkv * d ||
      v.v.size() != batch * dv * lkv)
    throw UserError::make("the FP64 reference: attention of shapes that do not fit");
  const auto keys = std::min(lkv, static_cast<std::size_t>(c.knob("keys", static_cast<double>(lkv))));
  Real o{q.shape, std::vector<double>(batch * lq * dv)};
  o.shape.back() = static_cast<std::uint32_t>(dv);
  std::vector<double> p(lkv);
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t i = 0; i < lq; ++i) {
      const std::size_t seen = c.flag("causal") ? std::min(i + 1, keys) : keys;
      for (std::size_t j = 0; j < seen; ++j) {
        double sum = 0;
        for (std::size_t e = 0; e < d; ++e) sum += q.v[(b * lq + i) * d + e] * k.v[(b * lkv + j) * d + e];
        p[j] = sum * std::numbers::ln2;  // the kernel works in powers of two
      }
      softmax(p.data(), seen);
      for (std::size_t e = 0; e < dv; ++e) {
        double sum = 0;
        for (std::size_t j = 0; j < seen; ++j) sum += p[j] * v.v[(b * dv + e) * lkv + j];
        o.v[(b * lq + i) * dv + e] = sum;
      }
    }
  return o;
}

// a [H, W, C], b [N, 9 C] ordered (tap, channel). Pixel (y, x) is row y (W + 2) + x of the result; the rows
// between are nobody's.
Real conv2d(const Call& c) {
  const Real &a = c.in("a"), &b = c.in("b");
  if (a.shape.size() != 3 || b.columns() != 9 * a.columns())
    throw UserError::make("the FP64 reference: conv2d of shapes that do not fit");
  const std::size_t h = a.shape[0], w = a.shape[1], channels = a.shape[2], n = b.rows(), wide = w + 2;
  const std::size_t plane = ((h + 2) * wide + 3) / 4 * 4;
  Real y{{static_cast<std::uint32_t>(plane), static_cast<std::uint32_t>(n)},
         std::vector<double>(plane * n, std::numeric_limits<double>::quiet_NaN())};
  for (std::size_t row = 0; row < h; ++row)
    for (std::size_t column = 0; column < w; ++column)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t tap = 0; tap < 9; ++tap) {
          const std::size_t from_row = row + tap / 3,
                            from_column = column + tap % 3;  // one more than in the picture
          if (from_row == 0 || from_row > h || from_column == 0 || from_column > w) continue;
          for (std::size_t e = 0; e < channels; ++e)
            sum += a.v[((from_row - 1) * w + from_column - 1) * channels + e] *
                   b.v[(j * 9 + tap) * channels + e];
        }
        y.v[(row * wide + column) * n + j] = sum;
      }
  return y;
}

// Mean and variance of each group of `rows` rows, in every column of the group's row.
Reals group_stats(const Call& c) {
  const Real& x = c.in("x");
  const auto rows = static_cast<std::size_t>(c.knob("rows", static_cast<double>(x.rows())));
  if (rows == 0 || x.rows() % rows != 0) throw UserError::make("the FP64 reference: groups of {} rows", rows);
  const std::size_t groups = x.rows() / rows, n = rows * x.columns();
  Real mean{{static_cast<std::uint32_t>(groups), static_cast<std::uint32_t>(x.columns())}, {}};
  Real variance = mean;
  for (std::size_t g = 0; g < groups; ++g) {
    const double m = mean_of(&x.v[g * n], n);
    mean.v.insert(mean.v.end(), x.columns(), m);
    variance.v.insert(variance.v.end(), x.columns(), variance_of(&x.v[g * n], n, m));
  }
  return {{"mean", mean}, {"var", variance}};
}

Real where(const Call& c) {
  for (const auto& [name, condition] : c.inputs) {
    if (name == "a" || name == "b") continue;
    const Real &a = c.in("a"), &b = c.in("b");
    same_size(a, b);
    same_size(a, condition);
    Real y = a;
    for (std::size_t i = 0; i < y.v.size(); ++i) y.v[i] = condition.v[i] != 0 ? a.v[i] : b.v[i];
    return y;
  }
  throw UserError::make("the FP64 reference: where wants a condition");
}

Real fma(const Call& c) { return plus(times(c.in("a"), c.in("b")), c.in("c")); }

using Kernel = std::function<Real(const Call&)>;

Kernel on_x(Unary f) {
  return [f](const Call& c) { return each(c.in("x"), f); };
}
Kernel on_a_b(Binary f) {
  return [f](const Call& c) { return each(c.in("a"), c.in("b"), f); };
}
Kernel on_rows(void (*f)(double*, std::size_t)) {
  return [f](const Call& c) { return by_rows(c.in("x"), f); };
}
Kernel after_linear(Unary f) {
  return [f](const Call& c) { return each(linear(c), f); };
}
Kernel after_linear_add(Unary f) {
  return [f](const Call& c) { return each(plus(linear(c), c.in("b")), f); };
}

const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> all{
      {"ops.matmul", [](const Call& c) { return matmul(c.in("a"), c.in("b")); }},
      {"ops.neg", on_x([](double x) { return -x; })},
      {"ops.absolute", on_x([](double x) { return std::fabs(x); })},
      {"ops.exp2", on_x([](double x) { return std::exp2(x); })},
      {"ops.log2", on_x([](double x) { return std::log2(x); })},
      {"ops.recip", on_x([](double x) { return 1 / x; })},
      {"ops.rsqrt", on_x([](double x) { return 1 / std::sqrt(x); })},
      {"ops.silu", on_x(silu)},
      {"ops.gelu", on_x(gelu_sigmoid)},
      {"ops.relu", on_x(relu)},
      {"ops.sub", on_a_b([](double a, double b) { return a - b; })},
      {"ops.mul", on_a_b([](double a, double b) { return a * b; })},
      {"ops.div", on_a_b([](double a, double b) { return a / b; })},
      {"ops.residual", on_a_b([](double a, double b) { return a + b; })},
      {"ops.maximum", on_a_b([](double a, double b) { return std::max(a, b); })},
      {"ops.minimum", on_a_b([](double a, double b) { return std::min(a, b); })},
      {"ops.where", where},
      {"ops.row_sum", on_rows(row_sum)},
      {"ops.row_max", on_rows(row_max)},
      {"ops.rmsnorm", rmsnorm},
      {"ops.layernorm", layernorm},
      {"ops.conv2d", conv2d},
      {"kernels.softmax", on_rows(softmax)},
      {"kernels.softmax_wide", on_rows(softmax)},
      {"kernels.rmsnorm", rmsnorm},
      {"kernels.rmsnorm_wide", rmsnorm},
      {"kernels.layernorm", layernorm},
      {"kernels.layernorm_wide", layernorm},
      {"kernels.group_norm", layernorm},
      {"kernels.group_norm_silu", [](const Call& c) { return each(layernorm(c), silu); }},
      {"kernels.linear_silu", after_linear(silu)},
      {"kernels.linear_relu", after_linear(relu)},
      {"kernels.linear_gelu", after_linear(gelu_tanh)},
      {"kernels.linear_scale",
       [](const Call& c) {
         const double s = c.knob("s", 1);
         return each(linear(c), [s](double x) { return x * s; });
       }},
      {"kernels.linear_bias", [](const Call& c) { return add_bias(linear(c), c.in("b")); }},
      {"kernels.linear_add", after_linear_add(identity)},
      {"kernels.linear_add_relu", after_linear_add(relu)},
      {"kernels.linear_add_silu", after_linear_add(silu)},
      {"kernels.linear_add_gelu", after_linear_add(gelu_tanh)},
      {"kernels.linear_gate_add", [](const Call& c) { return plus(times(linear(c), c.in("g")), c.in("r")); }},
      {"kernels.mlp", mlp},
      {"kernels.geglu", [](const Call& c) { return glu(c, "wg", "wu", gelu_sigmoid); }},
      {"kernels.swiglu", [](const Call& c) { return glu(c, "wg", "wu", silu); }},
      {"kernels.flash_attention", attention},
      {"kernels.conv2d_bias", [](const Call& c) { return plus(conv2d(c), c.in("bias")); }},
      {"custom.k_axpb", on_x([](double x) { return x * 2 + 1; })},
      {"custom.k_select", on_a_b([](double a, double b) { return a < b ? a * 2 : b + 1; })},
      {"custom.k_select_simple", on_a_b([](double a, double b) { return a < b ? a : b; })},
      {"custom.k_fma", fma},
      {"custom.k_sqrt_approx", on_x([](double x) { return std::sqrt(x); })},
      {"custom.k_sqrt_newton", on_x([](double x) { return std::sqrt(x); })},
      {"custom.k_four",
       [](const Call& c) { return plus(times(c.in("a"), c.in("b")), times(c.in("c"), c.in("d"))); }},
      {"custom.k_tree", on_a_b([](double a, double b) { return (a + 1) * (b - 1); })},
      {"custom.k_shared", on_a_b([](double a, double b) { return (a + b) * (a + b) - (a + b); })},
      {"custom.k_twostage", on_x([](double x) { return x * x + x; })},
      {"custom.k_barriers", on_x([](double x) { return x * x + x; })},
      {"custom.k_copy", on_x(identity)},
      {"custom.k_fillc", on_x([](double) { return 3.5; })},
      {"custom.k_consts5", on_x([](double x) { return ((x * 0.5 + 0.25) * 1.5 - 0.75) * 3 + 2; })},
      {"custom.k_region",
       [](const Call& c) { return c.inputs.contains("a") ? matmul(c.in("a"), c.in("b")) : linear(c); }},
      {"custom.k_gated", [](const Call& c) { return glu(c, "g", "u", silu); }},
  };
  return all;
}

}  // namespace

std::optional<Reals> evaluate_float64(const std::string& kernel, const Reals& inputs, const json& knobs) {
  const Call call{inputs, knobs};
  if (kernel == "kernels.group_stats") return group_stats(call);
  const auto found = kernels().find(kernel);
  if (found == kernels().end()) return std::nullopt;
  return Reals{{"", found->second(call)}};
}

}  // namespace ktpu::check
