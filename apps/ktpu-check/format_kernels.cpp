// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/format_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/ktpu-check/format_arithmetic.h"
#include "arch/error.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr double kLog2E = 1.4426950408889634;
using Values = std::span<const Lane>;
using Halves = std::map<std::string, Half>;

class Kernels {
 public:
  Kernels(const Halves& inputs, const json& knobs, const FormatArithmetic& arithmetic)
      : inputs_(inputs), knobs_(knobs), with_(arithmetic) {}

  // One output under the empty name, or several.
  std::optional<Halves> evaluate(const std::string& kernel) {
    if (kernel == "kernels.group_stats") return group_stats();
    for (const auto& part : {&Kernels::element_wise, &Kernels::rows, &Kernels::products, &Kernels::custom})
      if (std::optional<Half> y = (this->*part)(kernel)) return Halves{{"", std::move(*y)}};
    return std::nullopt;
  }

 private:
  const Half& in(const std::string& name) const {
    const auto found = inputs_.find(name);
    if (found == inputs_.end())
      throw UserError::make("the evaluation in the machine's formats wants an input \"{}\"", name);
    return found->second;
  }
  double knob(const char* name, double otherwise) const {
    return knobs_.contains(name) && knobs_[name].is_number() ? knobs_[name].get<double>() : otherwise;
  }
  std::size_t count(const char* name, std::size_t otherwise) const {
    return static_cast<std::size_t>(knob(name, static_cast<double>(otherwise)));
  }
  bool flag(const char* name) const { return knobs_.contains(name) && knobs_[name] == true; }
  Lane c(double value) const { return with_.constant(value); }

  using Function = std::function<Lane(Values)>;
  Half on(std::initializer_list<const char*> names, const Function& f) const {
    std::vector<const Half*> operands;
    for (const char* name : names) operands.push_back(&in(name));
    return FormatArithmetic::each(operands, f);
  }
  static Half on(std::vector<const Half*> operands, const Function& f) {
    return FormatArithmetic::each(operands, f);
  }

  // --- Expressions of section 20, as they are written there.
  Lane sigmoid(Lane v) const { return recip(exp2(v * c(-kLog2E)) + c(1)); }
  Lane silu(Lane v) const { return v * sigmoid(v); }
  Lane gelu_tanh(Lane v) const {
    const Lane inner = v * v * v * c(0.044715) + v;
    return v * recip(exp2(inner * c(-(2 * 0.7978845608028654) * kLog2E)) + c(1));
  }
  Lane gelu_sigmoid(Lane v) const { return v * recip(exp2(v * c(-1.702 * kLog2E)) + c(1)); }
  Lane relu_abs(Lane v) const { return (v + absolute(v)) * c(0.5); }

  std::optional<Half> element_wise(const std::string& k) const {
    if (k == "ops.neg") return on({"x"}, [](Values v) { return -v[0]; });
    if (k == "ops.absolute") return on({"x"}, [](Values v) { return absolute(v[0]); });
    if (k == "ops.exp2") return on({"x"}, [](Values v) { return exp2(v[0]); });
    if (k == "ops.log2") return on({"x"}, [](Values v) { return log2(v[0]); });
    if (k == "ops.recip") return on({"x"}, [](Values v) { return recip(v[0]); });
    if (k == "ops.rsqrt") return on({"x"}, [](Values v) { return rsqrt(v[0]); });
    if (k == "ops.silu") return on({"x"}, [this](Values v) { return silu(v[0]); });
    if (k == "ops.gelu") return on({"x"}, [this](Values v) { return gelu_sigmoid(v[0]); });
    if (k == "ops.relu") return on({"x"}, [this](Values v) { return maximum(v[0], c(0)); });
    if (k == "ops.sub") return on({"a", "b"}, [](Values v) { return v[0] - v[1]; });
    if (k == "ops.mul") return on({"a", "b"}, [](Values v) { return v[0] * v[1]; });
    if (k == "ops.div") return on({"a", "b"}, [](Values v) { return v[0] / v[1]; });
    if (k == "ops.residual") return on({"a", "b"}, [](Values v) { return v[0] + v[1]; });
    if (k == "ops.maximum") return on({"a", "b"}, [](Values v) { return maximum(v[0], v[1]); });
    if (k == "ops.minimum") return on({"a", "b"}, [](Values v) { return minimum(v[0], v[1]); });
    if (k == "ops.where")
      return on({"c", "a", "b"}, [](Values v) { return (v[0].bits & 0x7FFFFF) != 0 ? v[1] : v[2]; });
    return std::nullopt;
  }

  std::optional<Half> custom(const std::string& k) const {
    if (k == "custom.k_axpb") return on({"x"}, [this](Values v) { return v[0] * c(2) + c(1); });
    if (k == "custom.k_select")
      return on({"a", "b"}, [this](Values v) { return is_less(v[0], v[1]) ? v[0] * c(2) : v[1] + c(1); });
    if (k == "custom.k_select_simple")
      return on({"a", "b"}, [](Values v) { return is_less(v[0], v[1]) ? v[0] : v[1]; });
    if (k == "custom.k_cmp_alone")
      return on({"a", "b"}, [this](Values v) { return c(is_less(v[0], v[1]) ? 1 : 0); });
    if (k == "custom.k_fma") return on({"a", "b", "c"}, [](Values v) { return fma(v[0], v[1], v[2]); });
    if (k == "custom.k_sqrt_approx") return on({"x"}, [](Values v) { return recip(rsqrt(v[0])); });
    if (k == "custom.k_sqrt_newton")
      return on({"x"}, [this](Values v) {
        const Lane y = rsqrt(v[0]), s = v[0] * y;
        return s * (c(1.5) - s * y * c(0.5));
      });
    if (k == "custom.k_four")
      return on({"a", "b", "c", "d"}, [](Values v) { return v[0] * v[1] + v[2] * v[3]; });
    if (k == "custom.k_tree")
      return on({"a", "b"}, [this](Values v) { return (v[0] + c(1)) * (v[1] - c(1)); });
    if (k == "custom.k_shared")
      return on({"a", "b"}, [](Values v) {
        const Lane t = v[0] + v[1];
        return t * t - t;
      });
    if (k == "custom.k_twostage" || k == "custom.k_barriers" || k == "custom.k_hazard") {
      const Half t = on({"x"}, [](Values v) { return v[0] * v[0]; });
      return on({&t, &in("x")}, [](Values v) { return v[0] + v[1]; });
    }
    if (k == "custom.k_copy") return on({"x"}, [](Values v) { return v[0]; });
    if (k == "custom.k_fillc") return on({"x"}, [this](Values) { return c(3.5); });
    if (k == "custom.k_consts5")
      return on({"x"},
                [this](Values v) { return ((v[0] * c(0.5) + c(0.25)) * c(1.5) - c(0.75)) * c(3) + c(2); });
    if (k == "custom.k_region")
      return inputs_.contains("a") ? with_.matmul(in("a"), in("b")) : with_.matmul(in("x"), in("w"));
    if (k == "custom.k_gated") {
      const Half g = with_.matmul(in("x"), in("g")), u = with_.matmul(in("x"), in("u"));
      return on({&g, &u}, [this](Values v) { return silu(v[0]) * v[1]; });
    }
    return std::nullopt;
  }

  // --- Rows.
  static void all(std::span<Lane> row, const std::function<Lane(Lane)>& f) {
    for (Lane& v : row) v = f(v);
  }
  // The sum over the row of f(value).
  static Lane total(std::span<const Lane> row, const std::function<Lane(Lane)>& f) {
    std::vector<Lane> values;
    for (const Lane v : row) values.push_back(f(v));
    return sum(values);
  }
  void softmax(std::span<Lane> row) const {
    const Lane top = largest(row);
    all(row, [&](Lane v) { return exp2((v - top) * c(kLog2E)); });
    const Lane sum_of = sum(row);
    all(row, [&](Lane v) { return v / sum_of; });
  }
  void rms_normal(std::span<Lane> row) const {
    const Lane n = c(static_cast<double>(row.size()));
    const Lane scale = rsqrt(total(row, [&](Lane v) { return v / n * v; }) + c(knob("eps", 1e-5)));
    all(row, [&](Lane v) { return v * scale; });
  }
  void layer_normal(std::span<Lane> row) const {
    const Lane n = c(static_cast<double>(row.size())), mean = sum(row) / n;
    all(row, [&](Lane v) { return v - mean; });
    rms_normal(row);
  }
  // A wide row goes through memory between its steps: sub-rows of 128, folded one onto another.
  static std::uint16_t stored(Lane v) { return FormatArithmetic::store(v); }
  static Lane through_memory(Lane v) { return FormatArithmetic::lane(stored(v)); }
  static Lane wide_sum(std::span<const Lane> row) {
    std::vector<Lane> sums;
    for (std::size_t at = 0; at < row.size(); at += 128)
      sums.push_back(through_memory(sum(row.subspan(at, std::min<std::size_t>(128, row.size() - at)))));
    for (std::size_t n = sums.size(); n > 1; n = (n + 1) / 2)
      for (std::size_t i = 0; i < n / 2; ++i) sums[i] = through_memory(sums[i] + sums[i + (n + 1) / 2]);
    return sums.front();
  }
  Lane wide_mean(std::span<const Lane> row) const {
    const Lane rows = c(static_cast<double>(row.size()) / 128), width = c(128);
    std::vector<Lane> scaled;
    for (const Lane v : row) scaled.push_back(through_memory(v / rows));
    return through_memory(wide_sum(scaled) / width);
  }
  Lane wide_mean_square(std::span<const Lane> row) const {
    const Lane rows = c(static_cast<double>(row.size()) / 128), width = c(128);
    std::vector<Lane> squares;
    for (const Lane v : row) squares.push_back(through_memory(v / width * v));
    return through_memory(wide_sum(squares) / rows);
  }
  void softmax_wide(std::span<Lane> row) const {
    const Lane top = largest(row);
    all(row, [&](Lane v) { return through_memory(exp2((v - top) * c(kLog2E))); });
    const Lane sum_of = through_memory(wide_mean(row) * c(static_cast<double>(row.size())));
    all(row, [&](Lane v) { return v / sum_of; });
  }
  void rms_normal_wide(std::span<Lane> row) const {
    const Lane scale = through_memory(rsqrt(wide_mean_square(row) + c(knob("eps", 1e-5))));
    all(row, [&](Lane v) { return v * scale; });
  }
  void layer_normal_wide(std::span<Lane> row) const {
    const Lane mean = wide_mean(row);
    all(row, [&](Lane v) { return through_memory(v - mean); });
    rms_normal_wide(row);
    all(row, [](Lane v) { return through_memory(v); });
  }

  // In one program, `affine` is applied before the result is rounded to memory.
  Half normal(void (Kernels::*norm)(std::span<Lane>) const, bool last_silu = false) const {
    const Half& x = in("x");
    const Half *w = inputs_.contains("w") ? &in("w") : nullptr,
               *b = inputs_.contains("b") ? &in("b") : nullptr;
    std::size_t at = 0;
    return FormatArithmetic::by_rows(x, [&](std::span<Lane> row) {
      (this->*norm)(row);
      for (Lane& v : row) {
        if (w != nullptr) v = v * FormatArithmetic::lane(w->v.at(at));
        if (b != nullptr) v = v + FormatArithmetic::lane(b->v.at(at));
        if (last_silu) v = silu(through_memory(v));
        ++at;
      }
    });
  }
  // group_norm_silu: every step of the norm goes through memory.
  void layer_normal_staged(std::span<Lane> row) const {
    const Lane n = c(static_cast<double>(row.size()));
    const Lane mean = through_memory(through_memory(sum(row)) / n);
    all(row, [&](Lane v) { return through_memory(v - mean); });
    const Lane var = through_memory(total(row, [&](Lane v) { return through_memory(v / n * v); }));
    const Lane scale = through_memory(rsqrt(var + c(knob("eps", 1e-5))));
    all(row, [&](Lane v) { return through_memory(v * scale); });
  }

  std::optional<Half> rows(const std::string& k) const {
    const auto by = [&](const std::function<void(std::span<Lane>)>& f) {
      return FormatArithmetic::by_rows(in("x"), f);
    };
    if (k == "ops.row_sum")
      return by([](std::span<Lane> row) {
        const Lane s = sum(row);
        std::fill(row.begin(), row.end(), s);
      });
    if (k == "ops.row_max")
      return by([](std::span<Lane> row) {
        const Lane s = largest(row);
        std::fill(row.begin(), row.end(), s);
      });
    if (k == "kernels.softmax") return by([&](std::span<Lane> row) { softmax(row); });
    if (k == "kernels.softmax_wide") return by([&](std::span<Lane> row) { softmax_wide(row); });
    if (k == "ops.rmsnorm" || k == "kernels.rmsnorm") return normal(&Kernels::rms_normal);
    if (k == "kernels.rmsnorm_wide") return normal(&Kernels::rms_normal_wide);
    if (k == "ops.layernorm" || k == "kernels.layernorm" || k == "kernels.group_norm")
      return normal(&Kernels::layer_normal);
    if (k == "kernels.layernorm_wide") return normal(&Kernels::layer_normal_wide);
    if (k == "kernels.group_norm_silu") return normal(&Kernels::layer_normal_staged, true);
    return std::nullopt;
  }

  // Mean and variance of the one group.
  Halves group_stats() const {
    const Half& x = in("x");
    std::vector<Lane> all_of;
    for (const std::uint16_t v : x.v) all_of.push_back(FormatArithmetic::lane(v));
    const Lane mean = wide_mean(all_of);
    for (Lane& v : all_of) v = through_memory(v - mean);
    const Lane variance = wide_mean_square(all_of);
    const Half row{{1, static_cast<std::uint32_t>(x.columns())}, {}};
    Half m = row, v = row;
    m.v.assign(x.columns(), stored(mean));
    v.v.assign(x.columns(), stored(variance));
    return {{"mean", m}, {"var", v}};
  }

  // --- Products. An epilogue reads the product in FP16, fused or not.
  std::optional<Half> products(const std::string& k) const {
    if (k == "ops.matmul") return with_.matmul(in("a"), in("b"));
    if (k == "kernels.mlp") return mlp();
    if (k == "kernels.geglu" || k == "kernels.swiglu") return gated(k == "kernels.geglu");
    if (k == "kernels.flash_attention") return attention();
    if (k == "ops.conv2d" || k == "kernels.conv2d_bias") return convolution(k == "kernels.conv2d_bias");
    if (!k.starts_with("kernels.linear_")) return std::nullopt;
    const Half h = with_.matmul(in("x"), in("w"));
    const auto one = [&](const Function& f) { return on(std::vector<const Half*>{&h}, f); };
    const auto two = [&](const Function& f) { return on({&h, &in("b")}, f); };
    const std::string epilogue = k.substr(15);
    if (epilogue == "silu") return one([&](Values v) { return silu(v[0]); });
    if (epilogue == "relu") return one([&](Values v) { return relu_abs(v[0]); });
    if (epilogue == "gelu") return one([&](Values v) { return gelu_tanh(v[0]); });
    if (epilogue == "scale") return one([&](Values v) { return v[0] * c(knob("s", 1)); });
    if (epilogue == "add") return two([](Values v) { return v[0] + v[1]; });
    if (epilogue == "add_relu") return two([&](Values v) { return relu_abs(v[0] + v[1]); });
    if (epilogue == "add_silu") return two([&](Values v) { return silu(v[0] + v[1]); });
    if (epilogue == "add_gelu") return two([&](Values v) { return gelu_tanh(v[0] + v[1]); });
    if (epilogue == "gate_add")
      return on({&h, &in("g"), &in("r")}, [](Values v) { return v[0] * v[1] + v[2]; });
    if (epilogue == "bias") {
      std::size_t at = 0;
      const Half& b = in("b");
      return one([&](Values v) { return v[0] + FormatArithmetic::lane(b.v.at(at++ % b.v.size())); });
    }
    return std::nullopt;
  }

  Half mlp() const {
    const std::string act =
        knobs_.contains("act") && knobs_["act"].is_string() ? knobs_["act"].get<std::string>() : "silu";
    Half h = with_.matmul(in("x"), in("up"));
    h = on(std::vector<const Half*>{&h}, [&](Values v) {
      return act == "silu" ? silu(v[0]) : act == "relu" ? maximum(v[0], c(0)) : gelu_sigmoid(v[0]);
    });
    return with_.matmul(h, in("down"));
  }

  Half gated(bool gelu) const {
    Half g = with_.matmul(in("x"), in("wg"));
    g = on(std::vector<const Half*>{&g}, [&](Values v) { return gelu ? gelu_sigmoid(v[0]) : silu(v[0]); });
    const Half u = with_.matmul(in("x"), in("wu"));
    return on({&g, &u}, [](Values v) { return v[0] * v[1]; });
  }

  // Taps of a padded picture as the rows of a matmul; K runs over taps, then channels.
  Half convolution(bool bias) const {
    const Half &a = in("a"), &b = in("b");
    const std::size_t h = a.shape.at(0), w = a.shape.at(1), channels = a.shape.at(2), wide = w + 2;
    Half taps{{static_cast<std::uint32_t>(h * w), static_cast<std::uint32_t>(9 * channels)}, {}};
    taps.v.assign(h * w * 9 * channels, 0);
    for (std::size_t pixel = 0; pixel < h * w; ++pixel)
      for (std::size_t tap = 0; tap < 9; ++tap) {
        const std::size_t y = pixel / w + tap / 3, x = pixel % w + tap % 3;  // one more than in the picture
        if (y == 0 || y > h || x == 0 || x > w) continue;
        std::copy_n(a.v.begin() + static_cast<std::ptrdiff_t>(((y - 1) * w + x - 1) * channels), channels,
                    taps.v.begin() + static_cast<std::ptrdiff_t>((pixel * 9 + tap) * channels));
      }
    const Half product = with_.matmul(taps, b);
    const std::size_t n = b.rows(), plane = ((h + 2) * wide + 3) / 4 * 4;
    Half y{{static_cast<std::uint32_t>(plane), static_cast<std::uint32_t>(n)}, {}};
    y.v.assign(plane * n, kNobodys);
    for (std::size_t pixel = 0; pixel < h * w; ++pixel)
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t at = (pixel / w * wide + pixel % w) * n + j;
        const std::uint16_t value = product.v[pixel * n + j];
        y.v[at] = bias ? stored(FormatArithmetic::lane(value) + FormatArithmetic::lane(in("bias").v.at(at)))
                       : value;
      }
    return y;
  }
  static constexpr std::uint16_t kNobodys = 0x7E00;  // an element that a kernel leaves to chance

  // Blocks of keys with a running maximum and sum; a masked block comes first.
  Half attention() const {
    const Half &q = in("q"), &k = in("k"), &v = in("v");
    const auto extent = [](const Half& t, std::size_t from_end) -> std::size_t {
      return t.shape.at(t.shape.size() - from_end);
    };
    const std::size_t lq = extent(q, 2), lkv = extent(k, 2), dv = extent(v, 2);
    const std::size_t batch = q.rows() / lq, block = count("block", 64);
    const std::size_t keys = count("keys", lkv), ragged = keys % block;
    const bool causal = flag("causal");
    const std::size_t span = count("qblock", causal || ragged != 0 ? block : lq);
    Half o{q.shape, {}};
    o.shape.back() = static_cast<std::uint32_t>(dv);
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t first = 0; first < lq; first += span) {
        const Half queries = q.rows_from(b * lq + first, span);
        std::vector<Lane> top(span, through_memory(c(-60000))), sums(span, c(0)), out(span * dv, c(0));
        const auto add = [&](std::size_t j, const std::function<bool(std::size_t, std::size_t)>& seen) {
          const Half scores = with_.matmul(queries, k.rows_from(b * lkv + j * block, block));
          Half weights = scores;
          std::vector<Lane> correction(span);
          for (std::size_t r = 0; r < span; ++r) {
            std::vector<Lane> row, all_weights;
            for (std::size_t e = 0; e < block; ++e)
              row.push_back(FormatArithmetic::lane(scores.v[r * block + e]));
            const Lane now = maximum(top[r], largest(row)), scale = exp2(top[r] - now);
            correction[r] = through_memory(scale);
            for (std::size_t e = 0; e < block; ++e) {
              Lane p = exp2(row[e] - now);
              if (seen) p = through_memory(p) * c(seen(r, e) ? 1 : 0);
              all_weights.push_back(p);
              weights.v[r * block + e] = stored(p);
            }
            sums[r] = through_memory(sums[r] * scale + sum(all_weights));
            top[r] = through_memory(now);
          }
          Half values{{static_cast<std::uint32_t>(dv), static_cast<std::uint32_t>(block)}, {}};
          for (std::size_t d = 0; d < dv; ++d)
            for (std::size_t e = 0; e < block; ++e)
              values.v.push_back(v.v[(b * dv + d) * lkv + j * block + e]);
          const Half part = with_.matmul(weights, values);
          for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = through_memory(out[i] * correction[i / dv] + FormatArithmetic::lane(part.v[i]));
        };
        const std::size_t diagonal = first / span;
        if (causal) add(diagonal, [](std::size_t row, std::size_t column) { return column <= row; });
        if (ragged != 0) add(keys / block, [&](std::size_t, std::size_t column) { return column < ragged; });
        for (std::size_t j = 0; j < (causal ? diagonal : keys / block); ++j) add(j, nullptr);
        for (std::size_t i = 0; i < out.size(); ++i) o.v.push_back(stored(out[i] / sums[i / dv]));
      }
    return o;
  }

  const Halves& inputs_;
  const json& knobs_;
  const FormatArithmetic& with_;
};

}  // namespace

std::optional<Reals> evaluate_formats(const std::string& kernel, const Reals& inputs, const json& knobs,
                                      bool truncated_constants, unsigned acc_mw) {
  Halves halves;
  for (const auto& [name, real] : inputs) halves[name] = half_of(real);
  using Constants = FormatArithmetic::Constants;
  const FormatArithmetic arithmetic(truncated_constants ? Constants::kTruncated : Constants::kHalf, acc_mw);
  const std::optional<Halves> outputs = Kernels(halves, knobs, arithmetic).evaluate(kernel);
  if (!outputs) return std::nullopt;
  Reals reals;
  for (const auto& [name, half] : *outputs) reals[name] = real_of(half);
  return reals;
}

}  // namespace ktpu::check
