// SPDX-License-Identifier: Apache-2.0
// The second set of links of a lock-step pair: the model stands on the machine's links, the twin on shadows
// that are fed the same inputs and whose outputs are compared with the model's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/encoding/text.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/link.h"

namespace ktpu::sim {

// The first wire in which two values of one output differ, as text for the report.
struct FieldDifference {
  std::string field;     // "valid", "busy", or a field of the data: "dst_x", "payload[63:0]"
  std::string expected;  // the model's value
  std::string got;       // the twin's
};

// One overload per type of data that travels on links in lock-step.
std::optional<FieldDifference> first_difference(const arch::Flit& expected, const arch::Flit& got);
std::string wire_text(const arch::Flit& data);  // hexadecimal, most significant digit first
std::string wire_bits(const arch::Flit& data);  // binary, for waves
// Whose instructions the unit at a place takes: a flit alone does not say.
using DialectAt = std::function<arch::Dialect(arch::Coord)>;
std::string wire_words(const arch::Flit& data, const DialectAt& dialect);  // as the assembler writes it

// One mirrored link.
class Shadow {
 public:
  enum class Role : std::uint8_t { kInput, kOutput };  // as the unit sees the data

  Shadow(std::string port, Role role) : port_(std::move(port)), role_(role) {}
  virtual ~Shadow() = default;

  const std::string& port() const { return port_; }
  Role role() const { return role_; }

  virtual void lower() = 0;
  // Real inputs of the unit (valid and data, or busy) to the shadow.
  virtual void copy_inputs() = 0;
  // Whether all outputs of the two units on this link are the same now; `values` grows by what was compared.
  virtual bool same(std::uint64_t& values) const = 0;
  virtual std::optional<FieldDifference> difference() const = 0;
  // Keeps the wires of both sides in `slot` of the history, and what is handed over in cycle `now`.
  virtual void record(std::size_t slot, Cycle now) = 0;

  // A cycle in which data was handed over, at least on one side; empty: not on this one.
  struct Transfer {
    Cycle cycle = 0;
    std::string model, twin;
    bool same = true;
  };
  // The last ones, oldest first, in words.
  static constexpr std::size_t kTransfers = 16;
  virtual std::vector<Transfer> transfers(const DialectAt& dialect) const = 0;

  struct Wires {
    bool valid = false;
    bool busy = false;
    std::string data;  // empty unless valid
    bool operator==(const Wires&) const = default;
  };
  enum class Form : std::uint8_t { kHex, kBinary };
  virtual Wires recorded(std::size_t slot, bool twin, Form form) const = 0;
  virtual unsigned width() const = 0;  // bits of the data

 private:
  std::string port_;
  Role role_;
};

template <typename T>
class ShadowOf final : public Shadow {
 public:
  ShadowOf(std::string port, Role role, Link<T>& real, std::size_t history)
      : Shadow(std::move(port), role), real_(real), shadow_(real.name() + ".twin", real.width()) {
    samples_.resize(history);
  }

  Link<T>& link() { return shadow_; }

  void lower() override {
    shadow_.withdraw();
    shadow_.set_busy(false);
  }
  void copy_inputs() override {
    if (role() == Role::kOutput) {
      shadow_.set_busy(real_.busy());
    } else if (real_.valid()) {
      shadow_.offer(real_.data());
    } else if (shadow_.valid()) {
      shadow_.withdraw();
    }
  }
  bool same(std::uint64_t& values) const override {
    ++values;
    if (role() == Role::kInput) return real_.busy() == shadow_.busy();
    if (real_.valid() != shadow_.valid()) return false;
    if (!real_.valid()) return true;
    ++values;
    return real_.data() == shadow_.data();
  }
  std::optional<FieldDifference> difference() const override {
    const auto text = [](bool bit) { return std::string(bit ? "1" : "0"); };
    if (role() == Role::kInput) {
      if (real_.busy() == shadow_.busy()) return std::nullopt;
      return FieldDifference{"busy", text(real_.busy()), text(shadow_.busy())};
    }
    if (real_.valid() != shadow_.valid())
      return FieldDifference{"valid", text(real_.valid()), text(shadow_.valid())};
    if (!real_.valid()) return std::nullopt;
    return first_difference(real_.data(), shadow_.data());
  }
  void record(std::size_t slot, Cycle now) override {
    keep(samples_[slot].model, real_);
    keep(samples_[slot].twin, shadow_);
    if (!real_.transfers() && !shadow_.transfers()) return;
    Handover& handover = handovers_[handed_over_++ % kTransfers];
    handover.cycle = now;
    keep(handover.model, real_);
    keep(handover.twin, shadow_);
    handover.same = real_.transfers() && shadow_.transfers() && handover.model.data == handover.twin.data;
  }
  std::vector<Transfer> transfers(const DialectAt& dialect) const override {
    const auto words = [&](const Sample& s) {
      return s.valid && !s.busy ? wire_words(s.data, dialect) : std::string();
    };
    std::vector<Transfer> list;
    for (std::uint64_t k = handed_over_ - std::min<std::uint64_t>(handed_over_, kTransfers); k < handed_over_;
         ++k) {
      const Handover& handover = handovers_[k % kTransfers];
      list.push_back({handover.cycle, words(handover.model), words(handover.twin), handover.same});
    }
    return list;
  }
  Wires recorded(std::size_t slot, bool twin, Form form) const override {
    const Sample& s = twin ? samples_[slot].twin : samples_[slot].model;
    return {s.valid, s.busy,
            !s.valid             ? std::string()
            : form == Form::kHex ? wire_text(s.data)
                                 : wire_bits(s.data)};
  }
  unsigned width() const override { return real_.width(); }

 private:
  struct Sample {
    bool valid = false;
    bool busy = false;
    T data{};
  };
  struct Pair {
    Sample model, twin;
  };
  struct Handover : Pair {
    Cycle cycle = 0;
    bool same = true;
  };
  static void keep(Sample& sample, const Link<T>& link) {
    sample.valid = link.valid();
    sample.busy = link.busy();
    if (link.valid()) sample.data = link.data();
  }

  Link<T>& real_;
  Link<T> shadow_;
  std::vector<Pair> samples_;
  std::vector<Handover> handovers_{kTransfers};
  std::uint64_t handed_over_ = 0;
};

// All shadows of one pair. Made first, so that the twin can be constructed on its links; then handed to the
// Lockstep.
class Shadows {
 public:
  // `history`: cycles of wires kept for the report of a mismatch, at least 1.
  explicit Shadows(std::size_t history = 128);

  // The twin's link in place of `real`; null stays null (nothing is attached there, and nothing compared).
  template <typename T>
  Link<T>* mirror(std::string port, Shadow::Role role, Link<T>* real) {
    if (real == nullptr) return nullptr;
    auto shadow = std::make_unique<ShadowOf<T>>(std::move(port), role, *real, history_);
    Link<T>* link = &shadow->link();
    all_.push_back(std::move(shadow));
    return link;
  }
  // Both directions of a mesh attachment, reported as `port`.in and `port`.out.
  FlitPort mirror(const std::string& port, const FlitPort& real) {
    return {mirror(port + ".in", Shadow::Role::kInput, real.in),
            mirror(port + ".out", Shadow::Role::kOutput, real.out)};
  }

  std::size_t history() const { return history_; }
  const std::vector<std::unique_ptr<Shadow>>& all() const { return all_; }

 private:
  std::size_t history_;
  std::vector<std::unique_ptr<Shadow>> all_;
};

}  // namespace ktpu::sim
