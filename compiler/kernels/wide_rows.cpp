// SPDX-License-Identifier: Apache-2.0
// Rows wider than a vector (compiler.md section 20): a row is `rows` sub-rows of 128 that stand one below the
// other. A group's fold halves its sub-rows until one is left, at the group's first; it comes back with
// per_group(), a read that stands still within a group.
#include <algorithm>
#include <bit>
#include <variant>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using base::LaneOp;
using kernel::in;
using kernel::Knobs;
using kernel::out;
using kernel::Ref;
using kernel::Shape;
using kernel::Trace;
using kernel::Value;

namespace {

constexpr std::int64_t kWidth = 128;
using Join = Value (*)(const Value&, const Value&);

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& fix) {
  throw base::Refusal(base::Phase::kTrace, code, what, fix);
}

class Wide {
 public:
  explicit Wide(Trace& trace) : L(trace), rows(trace.whole("rows")) {
    const std::int64_t width = L.whole("width"), part = L.whole("part");
    if (width != kWidth)
      refuse("WIDE_WIDTH", fmt::format("sub-rows of {}", width), "give width 128, the vector's length");
    if (rows < 1 || !std::has_single_bit(static_cast<std::uint64_t>(rows)))
      refuse("WIDE_ROWS", fmt::format("groups of {} sub-rows", rows), "give rows a power of two");
    if (part % (rows * kWidth) != 0)
      refuse("WIDE_PART", fmt::format("parts of {} cut groups of {} elements", part, rows * kWidth),
             "give part a multiple of rows * 128");
  }

  // A port whose rows are whole groups, as sub-rows.
  Ref sub_rows(const char* port) const {
    const Ref ref = L.port(port);
    if (ref.columns() != rows * kWidth)
      refuse("WIDE_ROWS",
             fmt::format("{} has {} columns, {} sub-rows of 128 have {}", port, ref.columns(), rows,
                         rows * kWidth),
             "give rows = columns / 128; kernels for rows of any width: softmax, rmsnorm, layernorm");
    return ref.as_rows(kWidth);
  }
  Ref temp(std::int64_t height) const {
    return L.temp({static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(kWidth)});
  }
  Ref temp_like(const Ref& of) const { return temp(of.rows()); }

  template <class F>
  void pass(const Ref& result, const F& value) const {
    for_each_part(L, result, [&](const Index& e) { result(e) <<= value(e); });
  }
  template <class F>
  Ref made(std::int64_t height, const F& value) const {
    const Ref result = temp(height);
    pass(result, value);
    return result;
  }

  // Row 0 of every group becomes the fold of its sub-rows. Rows behind hold leftovers.
  Ref fold(Ref held, Join join) const {
    for (std::int64_t n = rows; n > 1; n /= 2) {
      const std::int64_t half = n / 2;
      held = made(held.rows() - half,
                  [&](const Index& e) { return join(held.rows_from(0)(e), held.rows_from(half)(e)); });
    }
    return held;
  }
  // The sum over each group of `value`, which goes through memory.
  template <class F>
  Ref total(std::int64_t height, const F& value) const {
    const Ref each = temp(height), sums = temp(height);
    for_each_part(L, each, [&](const Index& e) {
      each(e) <<= value(e);
      L.reduce(LaneOp::kRowSum, sums(e), each(e));
    });
    return fold(sums, add);
  }

  Ref divided(const Ref& by_what, double n) const {
    return made(by_what.rows(), [&](const Index& e) { return by_what(e) / n; });
  }
  // Both divide by one factor of the width before the sum and by the other behind it: FP16 partial sums.
  Ref mean(const Ref& of) const {
    const auto n = static_cast<double>(rows);
    return divided(total(of.rows(), [&](const Index& e) { return of(e) / n; }), static_cast<double>(kWidth));
  }
  Ref mean_square(const Ref& of) const {
    const auto n = static_cast<double>(kWidth);
    return divided(total(of.rows(), [&](const Index& e) { return of(e) / n * of(e); }),
                   static_cast<double>(rows));
  }
  Ref maximum_of(const Ref& of) const {
    const Ref held = fold(of, kernel::maximum);
    const Ref result = temp_like(held);
    for_each_part(L, result, [&](const Index& e) { L.reduce(LaneOp::kRowMax, result(e), held(e)); });
    return result;
  }
  Ref inverse_root(const Ref& of) const {
    return made(of.rows(), [&](const Index& e) { return rsqrt(of(e) + L.number("eps")); });
  }

  static Value add(const Value& a, const Value& b) { return a + b; }

  Trace& L;
  std::int64_t rows;
};

// Rows that are no groups of sub-rows, or that parts would cut, where they are taken: each row as a whole.
template <class F>
bool whole_rows(Trace& L, const F& value) {
  if (!L.takes_all() || !L.given("rows") || L.whole("width") != kWidth) return false;
  const Ref y = L.port("y");
  const std::int64_t rows = L.whole("rows");
  const bool groups = rows >= 1 && std::has_single_bit(static_cast<std::uint64_t>(rows)) &&
                      y.columns() == rows * kWidth && L.whole("part") % (rows * kWidth) == 0;
  // `rows` still has to be what the columns make.
  if (groups || (rows != y.columns() / kWidth && rows != (y.columns() + kWidth - 1) / kWidth)) return false;
  for_each_part(L, y, [&](const Index& e) { y(e) <<= value(e); });
  return true;
}

void softmax_wide(Trace& L) {
  if (whole_rows(L, [&](const Index& e) { return softmax(L.port("x")(e)); })) return;
  const Wide wide(L);
  const Ref x = wide.sub_rows("x"), y = wide.sub_rows("y");
  const Ref hi = wide.maximum_of(x).per_group(wide.rows);
  const Ref ex = wide.made(x.rows(), [&](const Index& e) { return exp2((x(e) - hi(e)) * kLog2E); });
  const Ref mean = wide.mean(ex);
  const auto width = static_cast<double>(wide.rows * kWidth);
  const Ref sum = wide.made(mean.rows(), [&](const Index& e) { return mean(e) * width; });
  const Ref each = sum.per_group(wide.rows);
  wide.pass(y, [&](const Index& e) { return ex(e) / each(e); });
}

void rmsnorm_wide(Trace& L) {
  if (whole_rows(L, [&](const Index& e) { return rms_normal(L, L.port("x")(e)) * L.port("w")(e); })) return;
  const Wide wide(L);
  const Ref x = wide.sub_rows("x"), w = wide.sub_rows("w"), y = wide.sub_rows("y");
  const Ref inverse = wide.inverse_root(wide.mean_square(x)).per_group(wide.rows);
  wide.pass(y, [&](const Index& e) { return x(e) * inverse(e) * w(e); });
}

void layernorm_wide(Trace& L) {
  if (whole_rows(L, [&](const Index& e) {
        return layer_normal(L, L.port("x")(e)) * L.port("w")(e) + L.port("b")(e);
      }))
    return;
  const Wide wide(L);
  const Ref x = wide.sub_rows("x"), w = wide.sub_rows("w"), b = wide.sub_rows("b"), y = wide.sub_rows("y");
  const Ref mu = wide.mean(x).per_group(wide.rows);
  const Ref dev = wide.made(x.rows(), [&](const Index& e) { return x(e) - mu(e); });
  const Ref inverse = wide.inverse_root(wide.mean_square(dev)).per_group(wide.rows);
  const Ref scaled = wide.made(x.rows(), [&](const Index& e) { return dev(e) * inverse(e); });
  wide.pass(y, [&](const Index& e) { return scaled(e) * w(e) + b(e); });
}

// Mean and variance of one group of `rows` rows of 128: pairwise folds down, doubling up.
void group_stats(Trace& L) {
  const Wide wide(L);
  const Ref x = L.port("x"), mean = L.port("mean"), var = L.port("var");
  const std::int64_t n = wide.rows;
  if (x.rows() != n || x.columns() != kWidth)
    refuse("WIDE_ROWS", fmt::format("x is {}", kernel::print(x.view().shape)),
           "give it rows x 128: one group");
  const auto rows = static_cast<double>(n), width = static_cast<double>(kWidth);
  const Ref scaled = wide.temp(n), dev = wide.temp(n), square = wide.temp(n), sums = wide.temp(n);
  const auto fold = [&](Ref held) {
    for (std::int64_t half = n / 2; half >= 1; half /= 2)
      held = wide.made(half, [&](const Index& e) { return held.rows_from(0)(e) + held.rows_from(half)(e); });
    return held;
  };
  wide.pass(scaled, [&](const Index& e) { return x(e) / rows; });
  const Ref held = fold(scaled);
  const Ref total = wide.temp(1), mu = wide.temp(1);
  for_each_part(L, total, [&](const Index& e) {
    L.reduce(LaneOp::kRowSum, total(e), held(e));
    mu(e) <<= total(e) / width;
  });
  wide.pass(mean, [&](const Index& e) { return mu(e); });
  Ref spread = mu;
  for (std::int64_t height = 1; height < n; height *= 2) {
    const Ref twice = wide.temp(2 * height);
    for (const std::int64_t row : {std::int64_t{0}, height})
      for_each_part(L, spread, [&](const Index& e) { twice.rows_from(row)(e) <<= spread(e); });
    spread = twice;
  }
  wide.pass(dev, [&](const Index& e) { return x(e) - spread(e); });
  for_each_part(L, square, [&](const Index& e) {
    square(e) <<= dev(e) / width * dev(e);
    L.reduce(LaneOp::kRowSum, sums(e), square(e));
  });
  const Ref last = fold(sums);
  wide.pass(var, [&](const Index& e) { return last(e) / rows; });
}

bool left_open(const Knobs& knobs, const char* name) {
  const auto found = knobs.find(name);
  return found != knobs.end() && std::holds_alternative<std::monostate>(found->second);
}

// As many sub-rows as a row has; parts of whole groups.
void settle_groups(const kernel::Kernel& bound, Knobs& knobs) {
  const std::int64_t columns = bound.extents.at("W");
  if (left_open(knobs, "rows")) knobs.insert_or_assign("rows", std::max<std::int64_t>(1, columns / kWidth));
  settle_part(knobs, knob_of(knobs, "rows") * kWidth);
}

// One group, all rows.
void settle_group(const kernel::Kernel& bound, Knobs& knobs) {
  if (left_open(knobs, "rows")) knobs.insert_or_assign("rows", bound.extents.at("R"));
  settle_part(knobs, knob_of(knobs, "rows") * kWidth);
}

}  // namespace

void add_wide_rows(Definitions& all) {
  const std::vector<kernel::Dim> rows{"...", "R", "W"};
  const Knobs plain{{"part", 8192}, {"width", kWidth}, {"rows", {}}};
  Knobs eps = plain;
  eps["eps"] = 1e-5;
  all.push_back(
      {"kernels.softmax_wide", {in("x", rows), out("y", rows)}, plain, softmax_wide, settle_groups});
  all.push_back({"kernels.rmsnorm_wide",
                 {in("x", rows), in("w", rows), out("y", rows)},
                 eps,
                 rmsnorm_wide,
                 settle_groups});
  all.push_back({"kernels.layernorm_wide",
                 {in("x", rows), in("w", rows), in("b", rows), out("y", rows)},
                 eps,
                 layernorm_wide,
                 settle_groups});
  all.push_back({"kernels.group_stats",
                 {in("x", {"R", "W"}), out("mean", {1, "W"}), out("var", {1, "W"})},
                 plain,
                 group_stats,
                 settle_group});
}

}  // namespace ktpu::kernels
