// SPDX-License-Identifier: Apache-2.0
// What policy best compiles and the reference refuses: rows of any width, parts that cut them, many operands.
// Results are those of the mathematics; the interpreter's and the simulator's are equal bit for bit, with
// the reference machine's quirks too, none of which is hit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/float64_kernels.h"
#include "apps/ktpu-check/live_machine.h"
#include "apps/ktpu-check/rig.h"
#include "arch/program/tensor_layout.h"
#include "compiler/base/refusal.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/program_file.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernels/kernels.h"
#include "tests/support/half.h"

namespace ktpu::driver {
namespace {

using nlohmann::json;

struct Call {
  kernel::Definition definition;
  std::map<std::string, kernel::Shape> inputs;
  kernel::Knobs knobs;
  // The mathematics; the library's by default.
  std::function<std::vector<double>(const check::Reals&)> expected = {};
  double tolerance = 2e-3;  // of the largest value
  bool positive = false;
  unsigned cores = 4;
  std::string small = {};  // an input of a sixteenth of the others' size
};
Call library(const std::string& name, std::map<std::string, kernel::Shape> inputs, kernel::Knobs knobs = {}) {
  return {*kernels::find(name), std::move(inputs), std::move(knobs)};
}

topo::Machine machine_with(unsigned cores) {
  const json all = {{1, 0}, {1, 4}, {2, 0}, {2, 4}};
  json machine = {{"MG", {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}}},
                  {"VC", json::array()},
                  {"agent", {0, 1}},
                  {"stage_flits", 128},
                  {"ncmd", 128},
                  {"inst_depth", 512}};
  for (unsigned i = 0; i < cores; ++i) machine["VC"].push_back(all[i]);
  return check::live_machine({{"machine", machine}});
}

std::vector<double> mathematics(const Call& call, const check::Reals& inputs,
                                const kernel::Knobs& effective) {
  if (call.expected) return call.expected(inputs);
  json knobs = json::object();
  for (const auto& [name, knob] : effective) {
    if (const auto* number = std::get_if<std::int64_t>(&knob)) knobs[name] = *number;
    if (const auto* number = std::get_if<double>(&knob)) knobs[name] = *number;
    if (const auto* flag = std::get_if<bool>(&knob)) knobs[name] = *flag;
  }
  return check::evaluate_float64(call.definition.name, inputs, knobs)->begin()->second.v;
}

struct Made {
  topo::Machine machine;
  Compiled compiled;
  arch::Program program;
  check::Reals reals;
};
Made compiled(const Call& call) {
  topo::Machine machine = machine_with(call.cores);
  const Machine target = machine_of(machine);
  std::mt19937_64 random(7);
  Inputs inputs;
  check::Reals reals;
  for (const auto& [name, shape] : call.inputs) {
    reals[name].shape = shape;
    for (std::size_t i = 0; i < kernel::elements(shape); ++i) {
      const auto sign = static_cast<std::uint16_t>(call.positive ? 0 : (random() & 1) << 15);
      inputs[name].push_back(static_cast<std::uint16_t>(
          sign | (12 - (name == call.small ? 4 : 0) + random() % 4) << 10 | random() % 1024));
      reals[name].v.push_back(test::value_of_half(inputs[name].back()));
    }
  }
  Compiled made = compile(call.definition, call.inputs, call.knobs, target);
  arch::Program program = program_file(made, target, inputs);
  return {std::move(machine), std::move(made), std::move(program), std::move(reals)};
}

void expect_right(const Call& call) {
  const Made made = compiled(call);
  for (const bool quirks : {true, false}) {
    SCOPED_TRACE(quirks ? "with quirks" : "without quirks");
    topo::Machine machine = made.machine;
    for (topo::Mesh& mesh : machine.meshes)
      for (topo::Node& node : mesh.nodes)
        node.quirks = quirks ? topo::Quirks::kReference : topo::Quirks::kNone;
    interpret::Interpreter interpreter(made.program, apps::interpreted_machine(machine));
    interpreter.run();
    const arch::Tensor& output = made.program.outputs.front();
    const std::vector<std::uint8_t> bytes = interpreter.output(output.name);
    const std::vector<double> wanted = mathematics(call, made.reals, made.compiled.kernel.knobs);
    ASSERT_EQ(bytes.size(), 2 * wanted.size());
    double largest = 1e-3, error = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (std::isnan(wanted[i])) continue;
      const double got =
          test::value_of_half(static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8));
      largest = std::max(largest, std::abs(wanted[i]));
      const double off = std::isnan(got) ? INFINITY : std::abs(got - wanted[i]);
      if (off > error) error = off, worst = i;
    }
    EXPECT_LT(error, call.tolerance * largest) << "element " << worst;

    check::Rig rig(machine, &made.program, check::Watch::kOutside);
    const platform::RunResult& result = rig.run_unchecked({});
    ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
    EXPECT_TRUE(result.notes.empty()) << fmt::format("{}", fmt::join(result.notes, "\n"));
    const arch::TensorLayout layout(output.layout, output.shape);
    EXPECT_EQ(rig.read_memory(output.address, 2 * layout.elements()),
              interpreter.read_memory(0, output.address, 2 * layout.elements()));
  }
}

std::string refused(const Call& call) {
  try {
    compiled(call);
  } catch (const base::Refusal& refusal) {
    return refusal.code();
  }
  return "";
}

TEST(BestRows, WidthsThatAreNoMultipleOf16) {
  for (const kernel::Shape& shape :
       {kernel::Shape{4, 8}, kernel::Shape{3, 7}, kernel::Shape{5, 100}, kernel::Shape{9, 1},
        kernel::Shape{2, 127}, kernel::Shape{50, 40}, kernel::Shape{2, 3, 20}}) {
    SCOPED_TRACE(kernel::print(shape));
    expect_right(library("kernels.softmax", {{"x", shape}}));
    expect_right(library("kernels.rmsnorm", {{"x", shape}, {"w", shape}}));
    expect_right(library("kernels.group_norm", {{"x", shape}, {"w", shape}, {"b", shape}}));
    expect_right(library("ops.row_sum", {{"x", shape}}));
    expect_right(library("ops.row_max", {{"x", shape}}));
  }
}

TEST(BestRows, WidthsAbove128) {
  for (const kernel::Shape& shape : {kernel::Shape{4, 136}, kernel::Shape{2, 300}, kernel::Shape{1, 1000},
                                     kernel::Shape{2, 2048}, kernel::Shape{3, 256}}) {
    SCOPED_TRACE(kernel::print(shape));
    expect_right(library("kernels.softmax", {{"x", shape}}));
    expect_right(library("ops.layernorm", {{"x", shape}}));
    expect_right(library("ops.row_sum", {{"x", shape}}));
    expect_right(library("ops.row_max", {{"x", shape}}));
    expect_right(library("kernels.layernorm", {{"x", shape}, {"w", shape}, {"b", shape}}));
  }
}

TEST(BestRows, TheWidestRowsL1Holds) {
  expect_right(library("kernels.softmax", {{"x", {2, 5120}}}));
  EXPECT_EQ(refused(library("kernels.softmax", {{"x", {2, 5121}}})), "L1_FOOTPRINT");
  EXPECT_EQ(refused(library("kernels.layernorm", {{"x", {1, 1800}}, {"w", {1, 1800}}, {"b", {1, 1800}}})),
            "L1_FOOTPRINT");
}

// The kernels of rows of 128 take any row that is whole in L1.
TEST(BestRows, KernelsForWideRows) {
  const auto knobs = [](std::int64_t rows, std::int64_t part = 8192) {
    return kernel::Knobs{{"rows", rows}, {"part", part}};
  };
  expect_right(library("kernels.softmax_wide", {{"x", {3, 384}}}, knobs(3)));
  expect_right(library("kernels.softmax_wide", {{"x", {2, 1000}}}, knobs(8)));
  expect_right(library("kernels.softmax_wide", {{"x", {5, 256}}}, knobs(2, 384)));
  expect_right(library("kernels.rmsnorm_wide", {{"x", {3, 640}}, {"w", {3, 640}}}, knobs(5)));
  expect_right(
      library("kernels.layernorm_wide", {{"x", {3, 300}}, {"w", {3, 300}}, {"b", {3, 300}}}, knobs(3)));
  EXPECT_EQ(refused(library("kernels.softmax_wide", {{"x", {3, 384}}}, knobs(5))), "WIDE_ROWS");
  EXPECT_EQ(refused(library("kernels.softmax_wide", {{"x", {1, 6144}}}, knobs(48))), "L1_FOOTPRINT");
}

TEST(BestRows, PartsThatCutRows) {
  for (const std::int64_t part : {16, 48, 100, 1000}) {
    SCOPED_TRACE(part);
    expect_right(library("kernels.softmax", {{"x", {10, 64}}}, {{"part", part}}));
    expect_right(library("kernels.softmax", {{"x", {10, 100}}}, {{"part", part}}));
    expect_right(library("ops.rmsnorm", {{"x", {7, 300}}}, {{"part", part}}));
  }
}

TEST(BestRows, StatementsInStages) {
  for (const kernel::Shape& shape : {kernel::Shape{6, 20}, kernel::Shape{2, 200}})
    expect_right(library("kernels.group_norm_silu", {{"x", shape}, {"w", shape}, {"b", shape}}));
}

TEST(BestRows, MoreOperandsThanDescriptors) {
  const kernel::Shape shape{300};
  Call four = library("custom.k_four", {{"a", shape}, {"b", shape}, {"c", shape}, {"d", shape}});
  expect_right(four);
}

// A pass over parts of `operands` blocks of one shape.
Call pass(std::size_t operands, const kernel::Shape& shape,
          const std::function<kernel::Value(const std::vector<kernel::Value>&)>& value,
          const std::function<double(const std::vector<double>&)>& number) {
  std::vector<kernel::Port> ports;
  Call call;
  for (std::size_t i = 0; i < operands; ++i) {
    ports.push_back(kernel::in(fmt::format("x{:02}", i), {"..."}));
    call.inputs[ports.back().name] = shape;
  }
  ports.push_back(kernel::out("y", {"..."}));
  call.definition = {"test.pass", ports, {{"part", 8192}}, [operands, value](kernel::Trace& L) {
                       const kernel::Ref y = L.port("y");
                       L.units(y.parts(L.whole("part")), [&](const base::Index& e) {
                         std::vector<kernel::Value> all;
                         for (std::size_t i = 0; i < operands; ++i)
                           all.emplace_back(L.port(fmt::format("x{:02}", i))(e));
                         y(e) <<= value(all);
                       });
                     }};
  call.expected = [number](const check::Reals& in) {
    std::vector<double> out(in.begin()->second.v.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::vector<double> all;
      for (const auto& [name, one] : in) all.push_back(one.v[i]);
      out[i] = number(all);
    }
    return out;
  };
  return call;
}

// Twelve values, each used twice, the second time all at the end.
template <typename T>
T late_uses(const std::vector<T>& x) {
  std::vector<T> made;
  for (std::size_t i = 0; i < 12; ++i) made.push_back(x[i % x.size()] * (0.25 + 0.125 * double(i)));
  T sum = made[0];
  for (std::size_t i = 1; i < made.size(); ++i) sum = sum + made[i];
  for (std::size_t i = made.size(); i-- > 0;) sum = sum * 0.5 + made[i];
  return sum;
}
template <typename T>
T long_chain(const T& x, int turns) {
  T y = x;
  for (int i = 0; i < turns; ++i) y = y * 0.5 + x;
  return y;
}
template <typename T>
T many_constants(const T& x) {
  T y = x;
  for (int i = 0; i < 20; ++i) y = y * (0.3 + 0.05 * i) + (0.1 * i);
  return y;
}

TEST(BestRows, AnyExpression) {
  using Values = std::vector<kernel::Value>;
  using Numbers = std::vector<double>;
  for (const std::size_t operands : {4, 6, 7, 8, 10, 20}) {
    SCOPED_TRACE(operands);
    expect_right(pass(
        operands, {777},
        [](const Values& x) {
          kernel::Value y = x[0];
          for (std::size_t i = 1; i < x.size(); ++i) y = y * 0.5 + x[i];
          return y;
        },
        [](const Numbers& x) {
          double y = x[0];
          for (std::size_t i = 1; i < x.size(); ++i) y = y * 0.5 + x[i];
          return y;
        }));
  }
  expect_right(pass(
      3, {4000}, [](const Values& x) { return late_uses(x); },
      [](const Numbers& x) { return late_uses(x); }));
  for (const int turns : {30, 300, 1000})
    expect_right(pass(
        1, {500}, [&](const Values& x) { return long_chain(x[0], turns); },
        [turns](const Numbers& x) { return long_chain(x[0], turns); }));
  expect_right(pass(
      1, {500}, [](const Values& x) { return many_constants(x[0]); },
      [](const Numbers& x) { return many_constants(x[0]); }));
}

// Channel weights beside rows; a result that is read in the same instance.
TEST(BestRows, ChannelsBesideRows) {
  for (const std::uint32_t n : {20u, 100u, 300u, 64u}) {
    SCOPED_TRACE(n);
    Call call;
    call.inputs = {{"x", {6, n}}, {"w", {n}}};
    call.definition = {"test.channels",
                       {kernel::in("x", {"M", "N"}), kernel::in("w", {"N"}), kernel::out("y", {"M", "N"})},
                       {{"part", 8192}},
                       [](kernel::Trace& L) {
                         const kernel::Ref x = L.port("x"), w = L.port("w"), y = L.port("y"),
                                           t = L.temp(x.view().shape), u = L.temp(x.view().shape);
                         L.units(y.parts(L.whole("part")), [&](const base::Index& e) {
                           t(e) <<= x(e) * w(e) - row_max(x(e));
                           u(e) <<= t(e) + row_sum(t(e)) * 0.125;
                           y(e) <<= u(e) * w(e) + x(e);
                         });
                       }};
    call.expected = [n](const check::Reals& in) {
      std::vector<double> out;
      const std::vector<double>&x = in.at("x").v, &w = in.at("w").v;
      for (std::size_t row = 0; row < 6; ++row) {
        double top = -1e9, sum = 0;
        for (std::size_t c = 0; c < n; ++c) top = std::max(top, x[row * n + c]);
        for (std::size_t c = 0; c < n; ++c) sum += x[row * n + c] * w[c] - top;
        for (std::size_t c = 0; c < n; ++c)
          out.push_back((x[row * n + c] * w[c] - top + sum * 0.125) * w[c] + x[row * n + c]);
      }
      return out;
    };
    expect_right(call);
  }
}

TEST(BestRows, AttentionOfAnyHead) {
  for (const std::uint32_t head : {20u, 40u, 64u, 100u})
    for (const std::uint32_t batch : {1u, 2u})
      for (const std::uint32_t keys : {head, head - 7}) {
        SCOPED_TRACE(fmt::format("head {} batch {} keys {}", head, batch, keys));
        Call call =
            library("kernels.flash_attention",
                    {{"q", {batch, head, head}}, {"k", {batch, head, head}}, {"v", {batch, head, head}}},
                    {{"block", std::int64_t{head}}, {"keys", std::int64_t{keys}}});
        call.small =
            std::string("q");  // small differences of large scores would be those of the cluster's formats
        call.tolerance = 0.03;
        expect_right(call);
      }
}

TEST(BestRows, ComparisonsAsValues) {
  const kernel::Shape shape{200};
  Call call = library("custom.k_cmp_alone", {{"a", shape}, {"b", shape}});
  call.expected = [](const check::Reals& in) {
    std::vector<double> out;
    for (std::size_t i = 0; i < in.at("a").v.size(); ++i) out.push_back(in.at("a").v[i] < in.at("b").v[i]);
    return out;
  };
  expect_right(call);
  expect_right(library("custom.k_select", {{"a", shape}, {"b", shape}}));
}

}  // namespace
}  // namespace ktpu::driver
