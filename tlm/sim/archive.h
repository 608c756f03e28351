// SPDX-License-Identifier: Apache-2.0
// The one list of a unit's state. Each unit names every register, memory and counter once, in
// visit(Archive&); digests, checkpoints, wave names, statistics and lock-step reports are all archives that
// read (or, to restore a checkpoint, write) that list, so a name is the same everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "arch/flit.h"

namespace ktpu::sim {

enum class ValueKind : std::uint8_t {
  kState,    // a register or memory of the machine
  kCounter,  // a statistic: only ever grows
};

// What is known of one visited value besides its name.
struct ValueInfo {
  ValueKind kind = ValueKind::kState;
  unsigned width = 64;             // bits that can be set
  std::string_view unit = {};      // counters: "cycles", "flits", "bytes", "commands", ...
  std::string_view sentence = {};  // counters: what one unit of it means
  std::string_view formula = {};   // counters that are derived: how
  unsigned priority = 0;           // exclusive states of an engine (attribution.h): 1 wins over 2; 0: none
};

class Archive {
 public:
  virtual ~Archive() = default;

  // A register of `width` bits held in any unsigned or signed integer, bool or enum.
  template <typename T>
  void state(std::string_view name, T& value, unsigned width = 8 * sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    on_value(name, &value, sizeof(T), ValueInfo{.width = width});
  }
  // A value that is worked out for the visit and has no fixed address (an occupancy): digests see it, a
  // registry of addresses cannot keep it.
  void computed(std::string_view name, std::uint64_t value, unsigned width = 64) {
    on_computed(name, value, ValueInfo{.width = width});
  }
  // Whether the archive walks what a queue holds now. A registry of fixed addresses does not.
  virtual bool walks_contents() const { return true; }
  // A block of memory of `count` elements.
  template <typename T>
  void memory(std::string_view name, T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    on_memory(name, values, sizeof(T), count);
  }
  void flit(std::string_view name, arch::Flit& value) { on_memory(name, value.w.data(), 8, 5); }
  void counter(std::string_view name, std::uint64_t& value, std::string_view unit, std::string_view sentence,
               std::string_view formula = {}) {
    on_value(name, &value, sizeof value, ValueInfo{ValueKind::kCounter, 64, unit, sentence, formula});
  }
  // A counter of the cycles of one exclusive state of an engine: see attribution.h.
  void exclusive(std::string_view name, std::uint64_t& value, unsigned priority, std::string_view sentence) {
    on_value(name, &value, sizeof value,
             ValueInfo{ValueKind::kCounter, 64, "cycles", sentence,
                       "counted in the run; the states of an engine add up to all its cycles", priority});
  }
  // A part of a unit: names inside are prefixed with `name` and a dot.
  template <typename F>
  void scope(std::string_view name, F&& body) {
    on_enter(name);
    body();
    on_leave();
  }

  // --- Checkpoints. A restored unit must go on as the saved one would have, so a checkpoint also keeps how
  // the model holds its state: counters brought up to date so far, what the wires already show, work put off,
  // messages for the user. No other archive sees these values (they depend on how the run was made), so their
  // names matter to nobody. Pointers are not kept: keep an index, or work the pointer out again when
  // restores() is true.
  virtual bool is_checkpoint() const { return false; }
  virtual bool restores() const { return false; }  // values are put back into the unit

  template <typename T>
  void kept(std::string_view name, T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && !std::is_pointer_v<T>);
    if (is_checkpoint()) on_value(name, &value, sizeof(T), ValueInfo{});
  }
  void kept(std::string_view name, std::string& text) {
    if (is_checkpoint()) on_text(name, text);
  }
  template <typename T>
  void kept(std::string_view name, std::optional<T>& value) {
    if (!is_checkpoint()) return;
    bool there = value.has_value();
    kept(name, there);
    if (restores()) value = there ? std::optional<T>(T{}) : std::nullopt;
    if (there) kept(name, *value);
  }
  // Elements without padding: equal values have equal bytes.
  template <typename T>
  void kept_memory(std::string_view name, T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    if (is_checkpoint()) on_memory(name, values, sizeof(T), count);
  }
  // A vector or deque whose length changes; `each(element)` visits one of them.
  template <typename List, typename F>
  void kept_list(std::string_view name, List& list, F&& each) {
    if (!is_checkpoint()) return;
    std::uint64_t size = list.size();
    on_length(name, size);
    if (restores()) {
      list.clear();
      list.resize(size);
    }
    for (auto& element : list) each(element);
  }
  // The unit holds state that no archive can reach: a checkpoint is refused with `what` ("state inside ...").
  virtual void unreachable(std::string_view /*what*/) {}

 protected:
  virtual void on_value(std::string_view name, void* value, std::size_t bytes, const ValueInfo& info) = 0;
  virtual void on_computed(std::string_view /*name*/, std::uint64_t /*value*/, const ValueInfo& /*info*/) {}
  virtual void on_memory(std::string_view name, void* data, std::size_t element_bytes, std::size_t count) = 0;
  virtual void on_enter(std::string_view name) = 0;
  virtual void on_leave() = 0;
  // Checkpoints only.
  virtual void on_text(std::string_view /*name*/, std::string& /*text*/) {}
  virtual void on_length(std::string_view /*name*/, std::uint64_t& /*length*/) {}
};

}  // namespace ktpu::sim
