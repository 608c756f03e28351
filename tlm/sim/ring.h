// SPDX-License-Identifier: Apache-2.0
// Fixed-capacity ring that keeps its working set small: storage for the whole capacity is reserved (untouched
// pages cost nothing), but slots are reused within the smallest power of two that the occupancy ever needed,
// so a 512-deep FIFO that holds three words stays in a few cache lines.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace ktpu::sim {

template <typename T>
class Ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Ring(std::uint32_t capacity)
      : capacity_(std::bit_ceil(capacity)),
        window_(capacity_ < 8 ? capacity_ : 8),
        slots_(static_cast<T*>(std::malloc(sizeof(T) * capacity_)), &std::free) {
    if (slots_ == nullptr) throw std::bad_alloc();
  }

  // Positions count up for ever (mod 2^32); base <= position < tail are live.
  std::uint32_t base() const { return base_; }
  std::uint32_t tail() const { return tail_; }
  std::uint32_t size() const { return tail_ - base_; }
  std::uint32_t capacity() const { return capacity_; }

  T& at(std::uint32_t position) { return slots_.get()[position & (window_ - 1)]; }
  const T& at(std::uint32_t position) const { return slots_.get()[position & (window_ - 1)]; }

  // The slot of a new last element, for the caller to fill.
  T& push() {
    if (size() == window_) widen();
    return at(tail_++);
  }
  void drop_front(std::uint32_t count = 1) { base_ += count; }
  void clear() { base_ = tail_ = 0; }

 private:
  void widen() {
    const std::uint32_t old = window_;
    window_ *= 2;  // never beyond capacity_: callers bound size() by it
    for (std::uint32_t p = base_; p != tail_; ++p)
      if ((p & (window_ - 1)) >= old) slots_.get()[p & (window_ - 1)] = slots_.get()[p & (old - 1)];
  }

  std::uint32_t capacity_;
  std::uint32_t window_;
  std::uint32_t base_ = 0;
  std::uint32_t tail_ = 0;
  std::unique_ptr<T, decltype(&std::free)> slots_;
};

}  // namespace ktpu::sim
