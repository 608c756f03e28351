// SPDX-License-Identifier: Apache-2.0
// A typed wire bundle with one writer a direction: data and valid from the sender, busy from the receiver
// (fabric.md section 5). A transfer happens in exactly the cycles with valid && !busy.
//
// Senders call offer()/withdraw() and receivers set_busy() in their drive() phase (a Mealy unit also in
// settle()); everybody samples in clock(). A sender calls sample_sent() exactly once in each of its clocks in
// which the link is valid: that is where transfers and stalls are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arch/flit.h"
#include "tlm/sim/archive.h"

namespace ktpu::sim {

class Unit;

// Data that travels on links is visited by a visit_data(Archive&, T&) beside its type.
inline void visit_data(Archive& archive, arch::Flit& flit) { archive.flit("data", flit); }
inline void visit_data(Archive& archive, bool& bit) { archive.state("data", bit, 1); }

// What all links have besides their data: names, ends and the wake-up of the receiver.
class alignas(64) LinkBase {
 public:
  LinkBase(std::string name, unsigned width) : cold_(std::make_unique<Cold>(std::move(name), width)) {}
  LinkBase(const LinkBase&) = delete;
  LinkBase& operator=(const LinkBase&) = delete;
  virtual ~LinkBase() = default;

  const std::string& name() const { return cold_->name; }
  unsigned width() const { return cold_->width; }  // data bits

  bool valid() const { return valid_; }
  bool busy() const { return busy_; }
  bool transfers() const { return valid_ && !busy_; }

  // Receiver side; returns true when the wire changed (what a Mealy unit's settle() must report).
  bool set_busy(bool busy) {
    const bool changed = busy != busy_;
    busy_ = busy;
    return changed;
  }

  // Sender side: counts the cycle and says whether the flit was taken in it.
  bool sample_sent() {
    if (busy_) {
      ++stalled_cycles_;
      return false;
    }
    ++transferred_;
    return true;
  }
  std::uint64_t& transferred() { return transferred_; }        // flits since the start
  std::uint64_t& stalled_cycles() { return stalled_cycles_; }  // cycles with valid && busy

  Unit* sender() const { return cold_->sender; }
  Unit* receiver() const { return cold_->receiver; }

  // Between cycles, for checkpoints: the wires and the counts. A restored link wakes nobody.
  virtual void visit(Archive& archive);

  // Elaboration. `mask`/`bit`: a word of the receiver that mirrors valid of its inputs (may be null).
  void bind_sender(Unit& unit);
  void bind_receiver(Unit& unit, std::uint32_t* mask = nullptr, std::uint32_t bit = 0);

 protected:
  friend class Engine;
  void raise() {
    valid_ = true;
    *receiver_mask_ |= receiver_bit_;
    *wake_word_ |= 1ull << wake_bit_;
  }
  void lower() {
    valid_ = false;
    *receiver_mask_ &= ~receiver_bit_;
  }
  void raise_asleep() {  // without the wake-up
    valid_ = true;
    *receiver_mask_ |= receiver_bit_;
  }

  // What the per-cycle path touches fills one cache line with the vtable pointer; the data follows in the
  // next.
  struct Cold {
    Cold(std::string link_name, unsigned data_width) : name(std::move(link_name)), width(data_width) {}
    std::string name;
    unsigned width;
    Unit* sender = nullptr;
    Unit* receiver = nullptr;
    std::uint32_t unused_mask = 0;  // where the mirrors point while nobody wants them
    std::uint64_t unused_word = 0;
  };

  bool valid_ = false;
  bool busy_ = false;
  std::uint8_t wake_bit_ = 0;  // of *wake_word_
  std::uint32_t receiver_bit_ = 0;
  std::unique_ptr<Cold> cold_;
  std::uint32_t* receiver_mask_ = &cold_->unused_mask;
  std::uint64_t* wake_word_ = &cold_->unused_word;
  std::uint64_t transferred_ = 0;
  std::uint64_t stalled_cycles_ = 0;
};

template <typename T>
class Link final : public LinkBase {
 public:
  using LinkBase::LinkBase;

  // Meaningful while valid().
  const T& data() const { return *shown_; }

  // Puts `data` on the wires. While it is not taken the sender must keep it there (L1): simply do nothing.
  void offer(const T& data) {
    data_ = data;
    shown_ = &data_;
    raise();
  }
  // The same without a copy: `data` must stay as it is until the end of the cycle in which it is taken.
  void offer_in_place(const T& data) {
    shown_ = &data;
    raise();
  }
  void withdraw() { lower(); }

  void visit(Archive& archive) override {
    LinkBase::visit(archive);
    if (archive.restores()) shown_ = &data_;  // data in place belongs to the time before
    if (!valid()) return;
    T data = *shown_;
    visit_data(archive, data);
    if (archive.restores()) data_ = data;
  }

 private:
  const T* shown_ = &data_;
  T data_{};
};

using FlitLink = Link<arch::Flit>;

// The two directions of a mesh attachment, seen from the unit: `in` it receives from, `out` it sends to.
struct FlitPort {
  FlitLink* in = nullptr;
  FlitLink* out = nullptr;
};

}  // namespace ktpu::sim
