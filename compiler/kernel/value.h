// SPDX-License-Identifier: Apache-2.0
// The values of a trace (compiler.md section 14): views of buffers, accumulators, regions, expressions.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <optional>

#include "compiler/kernel/kernel.h"

namespace ktpu::kernel {

struct TraceState;
class Ref;
class At;
class Accumulator;
class RegionRef;
class Product;
struct Extent;

// A traced value is no number: it cannot be tested, counted or walked.
class NoNumber {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit operator T() const = delete;  // data-dependent control flow: write where(condition, a, b)
  void begin() const = delete;
  void end() const = delete;
  void size() const = delete;
};

// A lane expression: what a store computes for each element.
class Value : public NoNumber {
 public:
  struct Node {
    base::LaneOp op = base::LaneOp::kLeaf;
    std::array<std::shared_ptr<const Node>, 3> args;
    Leaf leaf;
    std::optional<base::RowShape> row;  // of its elements, when they are known to stand in rows
    std::shared_ptr<TraceState> trace;  // null: a constant
  };
  Value(double constant);         // NOLINT(google-explicit-constructor): a number is a value
  Value(const Ref& whole);        // NOLINT(google-explicit-constructor)
  Value(const At& part);          // NOLINT(google-explicit-constructor)
  Value(const Accumulator& acc);  // NOLINT(google-explicit-constructor)
  // Throws base::Refusal (FOREIGN_VALUE, TRACE_CLOSED).
  static Value op(base::LaneOp op, std::initializer_list<Value> args);
  const std::shared_ptr<const Node>& node() const { return node_; }
  // `+=` is for accumulators and contractions: ADD_TO_EXPRESSION.
  template <class T>
  Value& operator+=(const T&) {
    refuse_add();
    return *this;
  }

 private:
  explicit Value(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  [[noreturn]] static void refuse_add();
  std::shared_ptr<const Node> node_;
};

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
Value operator<(const Value& a, const Value& b);
Value operator>(const Value& a, const Value& b);
Value equal(const Value& a, const Value& b);
Value exp2(const Value& a);
Value log2(const Value& a);
Value recip(const Value& a);
Value rsqrt(const Value& a);
Value absolute(const Value& a);
Value maximum(const Value& a, const Value& b);
Value minimum(const Value& a, const Value& b);
Value where(const Value& condition, const Value& if_not_zero, const Value& if_zero);
Value fma(const Value& a, const Value& b, const Value& c);  // a * b + c
Value row_sum(const Value& a);                              // broadcast back along the row
Value row_max(const Value& a);
Value sqrt_approx(const Value& a);  // recip(rsqrt(a))
Value sqrt_newton(const Value& a);  // one step of Newton's on top

// A view between brackets.
class At : public NoNumber {
 public:
  At(std::shared_ptr<TraceState> trace, Access access)
      : trace_(std::move(trace)), access_(std::move(access)) {}
  void operator<<=(const Value& value) const;
  void operator<<=(const Product& product) const;  // refused: it needs an accumulator
  template <class T>
  void operator+=(const T&) const {
    refuse_add();
  }
  const Access& access() const { return access_; }
  const std::shared_ptr<TraceState>& trace() const { return trace_; }

 private:
  [[noreturn]] static void refuse_add();
  std::shared_ptr<TraceState> trace_;
  Access access_;
};

// A buffer, or a view of one.
class Ref : public NoNumber {
 public:
  Ref(std::shared_ptr<TraceState> trace, View view) : trace_(std::move(trace)), view_(std::move(view)) {}

  std::int64_t rows() const;     // all but the last axis
  std::int64_t columns() const;  // the last axis
  std::int64_t elements() const;
  // How many tiles of g row groups of 4, chunks of nk blocks of 32 columns, parts of p elements it has.
  // KNOB_NOT_POSITIVE for an argument below 1.
  Extent tiles(std::int64_t g) const;
  Extent chunks32(std::int64_t nk) const;
  Extent parts(std::int64_t p) const;

  Ref rows_from(std::int64_t row) const;
  Ref as_rows(std::int64_t width) const;
  Ref repeated() const;                    // the whole buffer again and again
  Ref per_group(std::int64_t rows) const;  // row 0 of every `rows` rows, in all of them
  Ref taps() const;                        // View::Kind::kTaps

  At operator()(const base::Index& part) const;
  At operator()(const base::Index& row, const base::Index& column) const;
  void operator<<=(const Value& value) const;
  void operator<<=(const Product& product) const;  // refused: WHOLE_BUFFER_CONTRACTION
  template <class T>
  void operator+=(const T&) const {
    refuse_add();
  }
  const View& view() const { return view_; }
  const std::shared_ptr<TraceState>& trace() const { return trace_; }

 private:
  [[noreturn]] static void refuse_add();
  std::shared_ptr<TraceState> trace_;
  View view_;
};

// A window of L1.
class RegionRef : public NoNumber {
 public:
  RegionRef(std::shared_ptr<TraceState> trace, OpenRegion region)
      : trace_(std::move(trace)), region_(region) {}
  void operator<<=(const At& source) const;
  const OpenRegion& region() const { return region_; }
  const std::shared_ptr<TraceState>& trace() const { return trace_; }

 private:
  std::shared_ptr<TraceState> trace_;
  OpenRegion region_;
};

// A tile of sums; what the contractions add up to.
class Accumulator : public NoNumber {
 public:
  Accumulator(std::shared_ptr<TraceState> trace, TileId tile) : trace_(std::move(trace)), tile_(tile) {}
  const Accumulator& operator+=(const Product& product) const;
  const Accumulator& operator+=(const Value& value) const;  // refused: ADD_TO_EXPRESSION
  TileId tile() const { return tile_; }
  const std::shared_ptr<TraceState>& trace() const { return trace_; }

 private:
  std::shared_ptr<TraceState> trace_;
  TileId tile_;
};

// a @ b^T, not yet added to anything.
class Product : public NoNumber {
 public:
  struct Side {
    Side(const Ref& whole);         // NOLINT(google-explicit-constructor): only to be refused
    Side(const At& part);           // NOLINT(google-explicit-constructor)
    Side(const RegionRef& region);  // NOLINT(google-explicit-constructor)
    Side(const Accumulator& acc);   // NOLINT(google-explicit-constructor): refused, TILE_IN_PRODUCT
    Side(const Value& value);       // NOLINT(google-explicit-constructor): refused, EXPRESSION_IN_PRODUCT
    std::shared_ptr<TraceState> trace;
    Factor factor;
    bool whole = false;
  };
  Side a, b;
};
Product matmul(const Product::Side& a, const Product::Side& b);

}  // namespace ktpu::kernel
