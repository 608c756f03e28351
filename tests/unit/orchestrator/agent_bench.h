// SPDX-License-Identifier: Apache-2.0
// A control agent on the bench: the test puts beats on its register bus and flits on its mesh side in chosen
// cycles, and sees what comes out. No engine and no memory agent between.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "arch/encoding/codes.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"
#include "tlm/orchestrator/control_agent.h"

namespace ktpu::orchestrator::test {

using arch::Coord;
using arch::Flit;
using arch::FlitType;
using sim::Cycle;
namespace reg = arch::agent;

struct FixedAux final : memory::AuxWindow {
  struct Write {
    Cycle cycle;
    std::uint32_t offset;
    std::uint64_t data;
    bool operator==(const Write&) const = default;
  };
  std::uint64_t value = 0;
  std::vector<Write> writes;
  void aux_write(Cycle now, std::uint32_t offset, std::uint64_t data) override {
    writes.push_back({now, offset, data});
  }
  std::uint64_t aux_stat() const override { return value; }
  std::uint64_t aux_status(unsigned word) const override { return value != 0 ? 0x100 + word : 0; }
};

class AgentBench final : public AgentProbe {
 public:
  struct Sent {
    Cycle out;    // first cycle on the agent's output
    Cycle taken;  // left in this cycle
    Flit flit;
  };

  explicit AgentBench(const ControlAgentParams& params = {{0, 1}, 1, 2, 128, true})
      : agent(params, {&bus}, &aux) {
    agent.set_probe(this);
    agent.reset(0);
  }

  RegisterBus bus{"bus"};
  FixedAux aux;
  ControlAgent agent;
  Cycle now = 0;  // the next cycle to run

  std::function<bool(Cycle)> blocked = [](Cycle) { return false; };  // the mesh does not take the output
  std::vector<Sent> sent;
  std::vector<Cycle> pushes;
  std::map<Cycle, bool> accepted;              // arrivals: cycle to whether the agent kept the flit
  std::map<Cycle, std::uint64_t> read_values;  // by the cycle of the sample; known one cycle later

  void write(Cycle at, std::uint32_t offset, std::uint64_t data, std::uint8_t strobe = 0xFF) {
    BusBeat& beat = beats_[at];
    beat.write = true;
    beat.write_offset = offset;
    beat.data = data;
    beat.strobe = strobe;
  }
  void read(Cycle at, std::uint32_t offset) {
    BusBeat& beat = beats_[at];
    beat.read = true;
    beat.read_offset = offset;
  }
  void arrive(Cycle at, const Flit& flit) { arrivals_[at] = flit; }

  void step() {
    agent.drive(now);
    if (sampled_) read_values[now - 1] = bus.read_data;
    const auto beat = beats_.find(now);
    if (beat != beats_.end()) {
      bus.beat.offer(beat->second);
    } else {
      bus.beat.withdraw();
    }
    sampled_ = beat != beats_.end() && beat->second.read;
    const Flit* out = agent.out();
    if (out != nullptr && !showing_) {
      sent.push_back({now, sim::kNever, *out});
      showing_ = true;
    }
    const bool taken = out != nullptr && !blocked(now);
    if (taken) {
      sent.back().taken = now;
      showing_ = false;
    }
    if (const auto flit = arrivals_.find(now); flit != arrivals_.end())
      accepted[now] = agent.offer(now, flit->second);
    agent.clock(now, taken);
    ++now;
  }
  // Runs cycles now .. end-1: afterwards peek() shows what a read sampled in `end` gets.
  void run(Cycle end) {
    while (now < end) step();
  }
  std::uint64_t peek(std::uint32_t offset) const { return agent.peek(offset, now); }
  // Runs to `cycle` and looks.
  std::uint64_t at(Cycle cycle, std::uint32_t offset) {
    run(cycle);
    return peek(offset);
  }

  // Puts a flit into staging slot `slot`, one word a cycle from `from` on. Returns the first free cycle.
  Cycle stage(Cycle from, unsigned slot, const Flit& flit) {
    for (unsigned w = 0; w < reg::kWordsPerFlit; ++w) write(from + w, reg::stage_word(slot, w), flit.w[w]);
    return from + reg::kWordsPerFlit;
  }
  // Stages `count` numbered instructions from slot 0 on, sets destination (1,1), length, base and credit, and
  // kicks. Returns w, the cycle of the kick's beat.
  Cycle start(unsigned count, unsigned credit) {
    Cycle at = now;
    for (unsigned i = 0; i < count; ++i) at = stage(at, i, numbered(i));
    write(at, reg::kProgDst, 0x11);
    write(at + 1, reg::kProgLen, count);
    write(at + 2, reg::kProgBase, 0);
    write(at + 3, reg::kProgCred, credit);
    write(at + 6, reg::kProgKick, 1);
    return at + 6;
  }
  static Flit numbered(unsigned i) {
    Flit flit = arch::make_flit({15, 14}, {13, 12}, FlitType::kCuInst, i, i % 2 != 0, 5);
    for (unsigned w = 0; w < 4; ++w) flit.w[w] = 0x0123456789ABCDEFull * (4 * i + w + 1);
    return flit;
  }
  static Flit signal(Coord from, unsigned code, std::uint32_t argument) {
    Flit flit = arch::make_flit({0, 1}, from, FlitType::kCuSignal, 0x40, true);
    flit.w[3] = static_cast<std::uint64_t>(code) << 56 | static_cast<std::uint64_t>(argument) << 24;
    return flit;
  }
  static Flit reply(Coord from, std::uint64_t value) {
    Flit flit = arch::make_flit({0, 1}, from, FlitType::kCuCtrl, 1, true);
    flit.w[3] = 2ull << 56;
    flit.w[0] = value;  // not a field; only tells flits apart
    return flit;
  }

  void push(Cycle cycle, const Flit&) override { pushes.push_back(cycle); }

 private:
  std::map<Cycle, BusBeat> beats_;
  std::map<Cycle, Flit> arrivals_;
  bool showing_ = false, sampled_ = false;
};

}  // namespace ktpu::orchestrator::test
