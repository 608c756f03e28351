// SPDX-License-Identifier: Apache-2.0
// Arrays on a device: values against plain arithmetic, what is folded, cached, kept.
#include "compiler/device/device.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/trace.h"
#include "topologies/reader.h"

namespace ktpu::device {
namespace {

using tensor::Shape;
using testing::HasSubstr;

class DeviceTest : public testing::Test {
 protected:
  Array random(Shape shape, double scale = 1) {
    std::normal_distribution<float> normal(0, static_cast<float>(scale));
    std::vector<float> values(tensor::elements(shape));
    for (float& value : values) value = normal(generator);
    return dev.array(std::move(shape), values);
  }
  static std::vector<double> product(const Array& a, const Array& b) {
    const std::size_t k = a.shape().back(), n = b.shape()[0];
    const std::vector<float> x = a.values(), w = b.values();
    std::vector<double> made(x.size() / k * n);
    for (std::size_t i = 0; i < made.size(); ++i)
      for (std::size_t c = 0; c < k; ++c)
        made[i] += static_cast<double>(x[i / n * k + c]) * static_cast<double>(w[i % n * k + c]);
    return made;
  }
  // Within `atol` + `rtol` times the largest value: block formats err by the block's largest.
  static void expect_near(const Array& got, const std::vector<double>& want, double rtol,
                          double atol = 1e-3) {
    const std::vector<float> values = got.values();
    ASSERT_EQ(values.size(), want.size());
    double largest = 0;
    for (const double value : want) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(values[i], want[i], atol + rtol * largest) << "element " << i;
  }
  template <class F>
  static std::vector<double> mapped(const std::vector<double>& from, F&& f) {
    std::vector<double> made;
    for (const double value : from) made.push_back(f(value));
    return made;
  }
  static std::vector<double> doubles(const Array& a) {
    const std::vector<float> values = a.values();
    return {values.begin(), values.end()};
  }
  static std::vector<double> softmaxed(std::vector<double> rows, std::size_t columns) {
    for (std::size_t r = 0; r < rows.size(); r += columns) {
      double sum = 0, top = *std::max_element(rows.begin() + r, rows.begin() + r + columns);
      for (std::size_t c = r; c < r + columns; ++c) sum += rows[c] = std::exp(rows[c] - top);
      for (std::size_t c = r; c < r + columns; ++c) rows[c] /= sum;
    }
    return rows;
  }

  Device dev{topo::read_file("mesh8")};
  std::mt19937 generator{5};
};

TEST_F(DeviceTest, AProductWithBiasAndSoftmax) {
  const Array a = random({32, 64}), b = random({48, 64}, 0.2), bias = random({48});
  const Array y = softmax(matmul(a, b) + bias);
  EXPECT_EQ(dev.stats().calls, 0U);  // only noted
  std::vector<double> want = product(a, b);
  const std::vector<double> add = doubles(bias);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += add[i % 48];
  expect_near(y, softmaxed(want, 48), 0.04);
  EXPECT_EQ(dev.stats().calls, 2U);
}

TEST_F(DeviceTest, ElementwiseRunsAreOneCall) {
  const Array x = random({3, 5, 16}), y = random({3, 5, 16});
  const Array z = silu(x * 2.0 + y) - 0.5;
  const std::vector<double> p = doubles(x), q = doubles(y);
  std::vector<double> want;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double v = 2 * p[i] + q[i];
    want.push_back(v / (1 + std::exp(-v)) - 0.5);
  }
  expect_near(z, want, 2e-3);
  EXPECT_EQ(dev.stats().calls, 1U);
  expect_near(
      maximum(1.0 / (x * x + 1.0), y),
      [&] {
        std::vector<double> made;
        for (std::size_t i = 0; i < p.size(); ++i) made.push_back(std::max(1 / (p[i] * p[i] + 1), q[i]));
        return made;
      }(),
      2e-3);
}

TEST_F(DeviceTest, EveryElementwiseOperation) {
  const Array x = random({4, 32}), y = random({4, 32}), c = maximum(x, 0.0);
  const std::vector<double> p = doubles(x), q = doubles(y), r = doubles(c);
  const auto check = [&](const Array& got, auto&& f) {
    std::vector<double> want;
    for (std::size_t i = 0; i < p.size(); ++i) want.push_back(f(p[i], q[i], r[i]));
    expect_near(got, want, 2e-3);
  };
  check(x + y, [](double a, double b, double) { return a + b; });
  check(x - y, [](double a, double b, double) { return a - b; });
  check(x * y, [](double a, double b, double) { return a * b; });
  check(x / (absolute(y) + 1.0), [](double a, double b, double) { return a / (std::abs(b) + 1); });
  check(1.0 - x, [](double a, double, double) { return 1 - a; });
  check(-x, [](double a, double, double) { return -a; });
  check(minimum(x, y), [](double a, double b, double) { return std::min(a, b); });
  check(where(c, x, y), [](double a, double b, double z) { return z != 0 ? a : b; });
  check(exp2(x), [](double a, double, double) { return std::exp2(a); });
  check(log2(absolute(x) + 1.0), [](double a, double, double) { return std::log2(std::abs(a) + 1); });
  check(recip(absolute(x) + 1.0), [](double a, double, double) { return 1 / (std::abs(a) + 1); });
  check(rsqrt(absolute(x) + 1.0), [](double a, double, double) { return 1 / std::sqrt(std::abs(a) + 1); });
  check(relu(x), [](double a, double, double) { return std::max(a, 0.0); });
  check(gelu(x), [](double a, double, double) { return a / (1 + std::exp(-1.702 * a)); });
  check(gelu_tanh(x), [](double a, double, double) {
    return 0.5 * a * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
  });
}

// Whatever the arrays, constants and operations of a run: it is cut so that it compiles.
TEST_F(DeviceTest, RandomElementwiseRunsCompile) {
  struct Pair {
    Array array;
    std::vector<double> want;
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<Pair> pool;
    for (int i = 0; i < 5; ++i) {
      const Array x = random({2, 64});
      pool.push_back({x, doubles(x)});
    }
    const auto pick = [&](std::size_t n) {
      return std::uniform_int_distribution<std::size_t>(0, n - 1)(generator);
    };
    const auto combine = [&](const Pair& a, const Pair& b, auto&& f) {
      std::vector<double> made;
      for (std::size_t i = 0; i < a.want.size(); ++i) made.push_back(f(a.want[i], b.want[i]));
      return made;
    };
    for (int step = 0; step < 20; ++step) {
      const Pair a = pool[pick(pool.size())], b = pool[pick(pool.size())];
      const double c = static_cast<double>(pick(9)) / 4 - 1;
      switch (pick(7)) {
        case 0:
          pool.push_back(
              {(a.array + b.array) * 0.5, combine(a, b, [](double p, double q) { return (p + q) / 2; })});
          break;
        case 1:
          pool.push_back(
              {minimum(a.array, b.array), combine(a, b, [](double p, double q) { return std::min(p, q); })});
          break;
        case 2:
          pool.push_back({maximum(a.array - c, b.array),
                          combine(a, b, [&](double p, double q) { return std::max(p - c, q); })});
          break;
        case 3:
          pool.push_back(
              {silu(a.array), combine(a, b, [](double p, double) { return p / (1 + std::exp(-p)); })});
          break;
        case 4:
          pool.push_back({gelu_tanh(a.array), combine(a, b, [](double p, double) {
                            return 0.5 * p *
                                   (1 + std::tanh(std::sqrt(2 / M_PI) * (p + 0.044715 * p * p * p)));
                          })});
          break;
        case 5:
          pool.push_back(
              {c - absolute(a.array), combine(a, b, [&](double p, double) { return c - std::abs(p); })});
          break;
        default:
          pool.push_back(
              {relu(a.array) * c, combine(a, b, [&](double p, double) { return std::max(p, 0.0) * c; })});
      }
    }
    expect_near(pool.back().array, pool.back().want, 0.02, 0.02);
  }
}

TEST_F(DeviceTest, ActivationsBehindAProduct) {
  const Array x = random({64, 64}), w = random({32, 64}, 0.2), b = random({64, 32}), g = random({64, 32});
  const std::vector<double> m = product(x, w), add = doubles(b), gate = doubles(g);
  const auto silu_of = [](double v) { return v / (1 + std::exp(-v)); };
  const auto gelu_of = [](double v) {
    return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  const auto relu_of = [](double v) { return std::max(v, 0.0); };
  std::vector<double> sum, gated;
  for (std::size_t i = 0; i < m.size(); ++i) {
    sum.push_back(m[i] + add[i]);
    gated.push_back(m[i] * gate[i] + add[i]);
  }
  expect_near(silu(matmul(x, w)), mapped(m, silu_of), 0.04);
  expect_near(relu(matmul(x, w)), mapped(m, relu_of), 0.04);
  expect_near(gelu_tanh(matmul(x, w)), mapped(m, gelu_of), 0.04);
  expect_near(matmul(x, w) * 0.5, mapped(m, [](double v) { return v / 2; }), 0.04);
  expect_near(matmul(x, w) + b, sum, 0.04);
  expect_near(relu(matmul(x, w) + b), mapped(sum, relu_of), 0.04);
  expect_near(silu(b + matmul(x, w)), mapped(sum, silu_of), 0.04);
  expect_near(gelu_tanh(matmul(x, w) + b), mapped(sum, gelu_of), 0.04);
  expect_near(matmul(x, w) * g + b, gated, 0.04);
  EXPECT_EQ(dev.stats().calls, 9U);
}

TEST_F(DeviceTest, AGatedMlp) {
  const Array x = random({16, 64}), wg = random({96, 64}, 0.2), wu = random({96, 64}, 0.2);
  const std::vector<double> g = product(x, wg), u = product(x, wu);
  std::vector<double> want;
  for (std::size_t i = 0; i < g.size(); ++i) want.push_back(g[i] / (1 + std::exp(-g[i])) * u[i]);
  expect_near(silu(matmul(x, wg)) * matmul(x, wu), want, 0.05);
  EXPECT_EQ(dev.stats().calls, 1U);
}

TEST_F(DeviceTest, NormsAndRowsOfAnyPowerOfTwo) {
  for (const std::uint32_t n : {32U, 128U, 256U, 1024U}) {
    const Array x = random({4, n}), w = random({n}), b = random({n});
    std::vector<double> rms = doubles(x), layer = rms;
    const std::vector<double> p = rms, scale = doubles(w), shift = doubles(b);
    for (std::size_t row = 0; row < p.size(); row += n) {
      double square = 0, mean = 0, var = 0;
      for (std::size_t i = row; i < row + n; ++i) square += p[i] * p[i] / n, mean += p[i] / n;
      for (std::size_t i = row; i < row + n; ++i) var += (p[i] - mean) * (p[i] - mean) / n;
      for (std::size_t i = row; i < row + n; ++i) {
        rms[i] = p[i] / std::sqrt(square + 1e-5) * scale[i - row];
        layer[i] = (p[i] - mean) / std::sqrt(var + 1e-5) * scale[i - row] + shift[i - row];
      }
    }
    expect_near(rmsnorm(x, w), rms, 4e-3);
    expect_near(layernorm(x, w, b), layer, 4e-3);
    expect_near(softmax(x), softmaxed(p, n), 4e-3, 1e-4);
  }
}

TEST_F(DeviceTest, AttentionAndItsMask) {
  const std::uint32_t lq = 64, d = 32;
  const Array q = random({lq, d}), k = random({lq, d}), v = random({lq, d});
  for (const bool causal : {false, true}) {
    std::vector<double> scores = product(q, k);
    for (std::size_t i = 0; i < scores.size(); ++i)
      scores[i] = causal && i % lq > i / lq ? -1e9 : scores[i] / std::sqrt(static_cast<double>(d));
    const std::vector<double> weights = softmaxed(scores, lq), values = doubles(v);
    std::vector<double> want(lq * d);
    for (std::size_t i = 0; i < want.size(); ++i)
      for (std::size_t j = 0; j < lq; ++j) want[i] += weights[i / d * lq + j] * values[j * d + i % d];
    expect_near(attention(q, k, v, causal), want, 0.05);
  }
}

TEST_F(DeviceTest, BatchesShareTheWeight) {
  const Array x = random({2, 3, 16, 32}), w = random({24, 32});
  const Array y = matmul(x, w);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 16, 24}));
  expect_near(y, product(x, w), 0.04);
}

TEST_F(DeviceTest, TheTransposeOfAProductIsAProduct) {
  const Array x = random({16, 32}), w = random({24, 32});
  std::vector<double> want(24 * 16);
  const std::vector<double> m = product(x, w);
  for (std::size_t i = 0; i < m.size(); ++i) want[i % 24 * 16 + i / 24] = m[i];
  expect_near(matmul(x, w).transpose(), want, 0.04);
  EXPECT_EQ(dev.stats().host_steps, 0U);
  EXPECT_EQ(doubles(x.transpose().transpose()), doubles(x));
  EXPECT_EQ(x.reshape({4, 4, 32}).values(), x.values());
}

TEST_F(DeviceTest, AKernelIsCompiledOnceForEachShapeAndOption) {
  const Array x = random({4, 32}), y = random({4, 32}), z = random({8, 32});
  (x * y).values();
  (y * x).values();
  EXPECT_EQ(dev.stats().compiled, 1U);
  (z * z).values();
  EXPECT_EQ(dev.stats().compiled, 2U);
  (x * 2.0 * y).values();
  (x * 3.0 * y).values();  // another constant is another kernel
  EXPECT_EQ(dev.stats().compiled, 4U);
  dev.set_options({schedule::Policy::kCompat, false, false});
  (x * y).values();
  EXPECT_EQ(dev.stats().compiled, 5U);
  EXPECT_EQ(dev.stats().cached, 5U);
  dev.empty_cache();
  EXPECT_EQ(dev.stats().cached, 0U);
  EXPECT_THAT(dev.stats().text(), HasSubstr("5 compiled"));
}

TEST_F(DeviceTest, SyncComputesWhatIsHeldAndPinKeepsItWhole) {
  const Array x = random({64, 64}), w = random({32, 64});
  Array y = silu(matmul(x, w));
  dev.sync();
  EXPECT_EQ(dev.stats().calls, 1U);
  y.values();
  EXPECT_EQ(dev.stats().calls, 1U);
  const Array m = matmul(x, w);
  m.pin();
  silu(m).values();
  EXPECT_EQ(dev.stats().calls, 3U);  // the product by itself
  m.values();
  EXPECT_EQ(dev.stats().calls, 3U);
  const Array n = matmul(x, w);
  silu(n).values();
  EXPECT_EQ(dev.stats().calls, 4U);  // inside
  n.unpin();
  n.values();
  EXPECT_EQ(dev.stats().calls, 5U);
}

TEST_F(DeviceTest, AKernelOfTheUsersOwn) {
  using kernel::Ref;
  const kernel::Definition cube{
      "mine.cube", {kernel::in("x", {"..."}), kernel::out("y", {"..."})}, {}, [](kernel::Trace& L) {
        const Ref x = L.port("x"), y = L.port("y");
        y <<= kernel::Value(x) * x * x;
      }};
  const Array x = random({4, 32});
  const auto cubed = [](double v) { return v * v * v; };
  expect_near(dev.call(cube, {{"x", x}}).at(0), mapped(doubles(x), cubed), 2e-3);
  using tensor_to_kernel::Pattern;
  dev.substitute(
      {"cube",
       Pattern::op(tensor::Op::kMul, {Pattern::op(tensor::Op::kMul, {Pattern::any("x"), Pattern::any("x")}),
                                      Pattern::any("x")}),
       std::make_shared<const kernel::Definition>(cube),
       {{"x", "x"}}});
  const Array y = x * x * x;
  EXPECT_THAT(dev.explain({y}), HasSubstr("call mine.cube"));
  expect_near(y, mapped(doubles(x), cubed), 2e-3);
}

TEST_F(DeviceTest, RefusalsReachTheUserAndLeaveTheDeviceUsable) {
  const Array x = random({4, 384});
  EXPECT_EQ(softmax(x).values().size(), 4U * 384U);
  // Neither a power of two of vectors nor a row that L1 holds.
  EXPECT_THROW(softmax(random({1, 6144})).values(), base::Refusal);
  EXPECT_THROW(x + random({5, 5}), base::Refusal);
  EXPECT_THROW(dev.array({2, 2}, {1, 2, 3}), arch::UserError);
  EXPECT_THROW(x / 0.0 * INFINITY, arch::UserError);
  EXPECT_EQ((x + x).values().size(), 4U * 384U);
}

TEST_F(DeviceTest, NumpyBytesAndTooLargeValues) {
  const Array x = dev.array({2}, {1e9F, 0.5F});
  EXPECT_EQ(x.values(), (std::vector<float>{65504, 0.5F}));
  const std::vector<std::uint8_t> file = x.numpy();
  EXPECT_EQ(file.size(), 128U + 4U);
  EXPECT_THAT(std::string(file.begin(), file.end()), HasSubstr("'shape': (2, ), }"));
}

TEST_F(DeviceTest, AChainOfAHundredThousandOperations) {
  Array x = random({4, 4});
  for (int i = 0; i < 100'000; ++i) x = -x;
  EXPECT_EQ(dev.graph({x}).nodes.size(), 100'001U);
}

}  // namespace
}  // namespace ktpu::device
