// SPDX-License-Identifier: Apache-2.0
// What the body of a kernel works with (compiler.md section 14). The body runs once; its values stand for
// memory and lanes, they have no numbers. So no branch, count or number can hang on them: those conversions
// are deleted, use where(). A value is good only while its own trace runs (FOREIGN_VALUE, TRACE_CLOSED).
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/kernel/definition.h"
#include "compiler/kernel/kernel.h"
#include "compiler/kernel/value.h"

namespace ktpu::kernel {

// How often an axis repeats. Made by parts(), it knows how many elements a part has.
struct Extent {
  base::Index count;
  std::uint64_t part = 0;  // 0: not of parts
  template <class T>
  requires std::integral<T> || std::same_as<T, base::Index> Extent(T n)
      : count(n) {}  // NOLINT(google-explicit-constructor)
  Extent(base::Index n, std::uint64_t elements_of_part) : count(std::move(n)), part(elements_of_part) {}
};

// The body's hold of its kernel: ports and knobs by name, and everything that opens something.
class Trace {
 public:
  // An empty kernel of bind(), to be filled. The trace is open until close() or its end.
  explicit Trace(Kernel bound, Takes takes = Takes::kReference);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  // Everything traced. Values of this trace are dead from here on.
  Kernel close();

  Ref port(std::string_view name) const;
  std::int64_t dim(std::string_view symbol) const;  // a solved extent
  std::uint64_t flat() const;                       // elements of the flat ports
  // Knobs. The kernel declared them, so a missing one is our bug.
  std::int64_t whole(std::string_view knob) const;
  double number(std::string_view knob) const;
  bool flag(std::string_view knob) const;
  std::string word(std::string_view knob) const;
  bool given(std::string_view knob) const;  // not none
  // Whether calls are taken that the reference's kernel refuses.
  bool takes_all() const { return takes_ == Takes::kAll; }

  Ref temp(const Shape& shape);                                      // the compiler places it
  Ref table(const Shape& shape, const std::vector<double>& values);  // fixed contents, rounded to FP16

  // A tiling that is also a barrier; one that may merge with its neighbour. Inside another tiling: a view.
  template <class F>
  void units(const Extent& a, F&& body) {
    tiling(true, {a}, [&](const auto& at) { body(at[0]); });
  }
  template <class F>
  void units(const Extent& a, const Extent& b, F&& body) {
    tiling(true, {a, b}, [&](const auto& at) { body(at[0], at[1]); });
  }
  template <class F>
  void grid(const Extent& a, F&& body) {
    tiling(false, {a}, [&](const auto& at) { body(at[0]); });
  }
  template <class F>
  void grid(const Extent& a, const Extent& b, F&& body) {
    tiling(false, {a, b}, [&](const auto& at) { body(at[0], at[1]); });
  }
  // Inside a tiling it repeats statements, outside whole stages.
  void loop(const Extent& n, const std::function<void(const base::Index&)>& body);
  using Indices = std::vector<base::Index>;
  void tiling(bool barrier, const std::vector<Extent>& axes, const std::function<void(const Indices&)>& body);

  Accumulator tile(std::int64_t gm, std::int64_t gn, std::int64_t nk);
  RegionRef region(std::int64_t groups, std::int64_t blocks);

  // One row fold as a statement of its own: the lone row_sum or row_max of section 18.6.
  void reduce(base::LaneOp fold, const Ref& target, const Ref& source);
  void reduce(base::LaneOp fold, const At& target, const At& source);

 private:
  std::shared_ptr<TraceState> state_;
  Takes takes_;
};

}  // namespace ktpu::kernel
