// SPDX-License-Identifier: Apache-2.0
// What a vector core tells about itself: state list, waits, quirks, faults. Nothing here changes what it
// does.
#include <fmt/format.h>

#include "tlm/vector/vector_core.h"

namespace ktpu::vector {

using arch::QuirkId;

std::string_view fault_name(VectorFault fault) {
  constexpr std::array<std::string_view, 10> kNames{"none",  "F_DTYPE", "F_VSRC", "F_CHAIN", "F_OPCODE",
                                                    "F_LEN", "F_LOOP",  "F_VL",   "F_REDVL", "F_CUDATA"};
  return kNames[static_cast<std::size_t>(fault)];
}

namespace {

std::string_view fault_cause(VectorFault fault) {
  constexpr std::array<std::string_view, 10> kCauses{
      "",
      "the memory type is neither FP16 nor FP32",
      "a later word of a chain group names a vector register",
      "a FLAT instruction or the head of a group names the chain as a source",
      "the operation does not exist in this lane mode",
      "the walk is longer than 256 words",
      "a loop is active already",
      "the vector length is not 1 to 128",
      "a reduction needs a vector length that is a multiple of 16",
      "a CU_DATA burst was rejected or mixed with another one"};
  return kCauses[static_cast<std::size_t>(fault)];
}

}  // namespace

std::string VectorCore::instruction_text() const {
  return fmt::format("{} at word {}", arch::kVectorOpcodes[word_.op].name, word_pc_);
}

void VectorCore::hit(QuirkId id, Cycle cycle, std::uint64_t count) {
  if (!params_.quirks) return;
  noc::QuirkHits& hits = quirks_hit_[static_cast<std::size_t>(id)];
  if (hits.count == 0) {
    hits.id = id;
    hits.first = cycle;
    hits.text = fmt::format("{} of the kernel that started in cycle {}", instruction_text(), started_);
  }
  hits.count += count;
}

// Quirk V7 is met in the lanes.
void VectorCore::note_wrapped() {
  const LaneArray::Wrapped wrapped = lanes_.take_wrapped();
  hit(QuirkId::kV7, wrapped.first, wrapped.count);
}

std::vector<noc::QuirkHits> VectorCore::quirk_hits() const {
  std::vector<noc::QuirkHits> list;
  for (const noc::QuirkHits& hits : quirks_hit_)
    if (hits.count != 0) list.push_back(hits);
  return list;
}

void VectorCore::report_fault(Cycle now, VectorFault code) {
  const bool before = now < started_ || step_ == Step::kFetch;
  misuse_.add(
      {"vector-fault", now,
       fmt::format("fault {} ({}) {}: {}", static_cast<unsigned>(code), fault_name(code),
                   before ? fmt::format("before word {}", pc_) : instruction_text(), fault_cause(code))});
}

void VectorCore::report_burst(Cycle now, Scratchpad::Effect effect) {
  misuse_.add(
      {"vector-burst", now,
       effect == Scratchpad::Effect::kRejected
           ? fmt::format(
                 "a CU_DATA burst from ({},{}) names another buffer than 0 or words past the end of L1: "
                 "it is dropped and the kernel faults",
                 l1_.source().x, l1_.source().y)
           : fmt::format(
                 "a CU_DATA flit from another node came into the open burst from ({},{}): the rest is "
                 "dropped and the kernel faults",
                 l1_.source().x, l1_.source().y)});
}

void VectorCore::visit(sim::Archive& a) {
  a.scope("endpoint", [&] { base_.visit(a); });
  a.scope("lanes", [&] { lanes_.visit(a); });
  a.scope("l1", [&] { l1_.visit(a); });
  a.scope("slot", [&] { slot_.visit(a); });
  a.memory("imem", imem_.data(), imem_.size());
  if (a.restores()) decode_all();
  for (unsigned d = 0; d < descriptors_.size(); ++d)
    a.scope(fmt::format("a{}", d), [&] {
      a.state("base", descriptors_[d].base, 40);
      a.memory("stride", descriptors_[d].stride.data(), kDimensions);
      a.memory("bound", descriptors_[d].bound.data(), kDimensions);
    });
  a.memory("s", s_.data(), s_.size());
  a.memory("k", k_.data(), k_.size());
  a.state("vl", vl_, 8);
  a.state("mode", mode_, 2);
  a.state("entered", entered_, 1);
  a.state("running", running_, 1);
  a.state("result", result_, 32);
  a.state("faulted", faulted_, 1);
  a.state("step", step_, 5);
  a.state("cycles", cycles_, 32);
  a.state("pc", pc_, 9);
  a.state("word_pc", word_pc_, 9);
  a.state("loop_active", loop_active_, 1);
  a.state("loop_top", loop_top_, 9);
  a.state("loop_end", loop_end_, 9);
  a.state("loop_count", loop_count_, 24);
  a.state("last_pr", last_pr_, 2);
  a.state("last_pm", last_pm_, 2);
  a.state("position", position_, 16);
  a.state("positions", positions_, 16);
  a.scope("walk", [&] { walk_.visit(a); });
  a.state("high_half", high_half_, 1);
  a.memory("drained", drained_.data(), drained_.size());
  a.kept("at", at_);
  a.kept("started", started_);
  a.kept_memory("walk_steps_at", walk_steps_at_.data(), walk_steps_at_.size());
  a.kept("after_pipe", after_pipe_);
  a.kept("between", between_);
  a.kept("held", held_);
  if (a.restores()) word_ = decoded_[word_pc_];
  a.scope("sequencer", [&] { cycle_states_.visit(a); });
  a.counter("imem_writes", imem_writes_, "instructions", "Instruction words stored.");
  a.counter("desc_writes", desc_writes_, "instructions", "Descriptor fields written.");
  a.counter("runs", runs_, "instructions", "Kernels started.");
  a.counter("faults", faults_, "instructions", "Kernels that ended in a fault.");
  a.counter("unknown_ops", unknown_, "instructions", "Envelopes with an opcode the unit does not know.");
  a.counter("kernel_cycles", kernel_cycles_, "cycles",
            "Cycles of all kernels, as their completions report them.");
  a.counter("instructions", instructions_, "instructions", "Instruction words executed; VSETI counts once.");
  a.counter("fills", fills_, "instructions", "VFILL instructions.");
  a.counter("fill_words", fill_words_, "words", "256-bit words asked for by VFILL.");
  a.counter("drains", drains_, "instructions", "VDRAIN instructions.");
  a.counter("drain_words", drain_words_, "words", "256-bit words sent by VDRAIN.");
  a.kept("words_moved", words_moved_);
  for (noc::QuirkHits& hits : quirks_hit_) {
    a.kept("quirk", hits.id);
    a.kept("quirk_count", hits.count);
    a.kept("quirk_first", hits.first);
    a.kept("quirk_text", hits.text);
  }
  misuse_.visit(a);
}

std::string VectorCore::responses_text() const {
  constexpr unsigned kMost = 256, kCount = 1024;  // words of the one fill under way; of the 10-bit count
  const unsigned missing = l1_.outstanding();
  const arch::Coord port = params_.memory_port;
  if (missing <= kMost) return fmt::format("{} read responses from ({},{})", missing, port.x, port.y);
  return fmt::format(
      "its count of read responses, which wrapped: {} came that no VFILL had asked ({},{}) for",
      kCount - missing, port.x, port.y);
}

std::string VectorCore::hazard_text() const {
  if (step_ == Step::kPredicateRead) return "a predicate that is being written";
  for (const std::uint8_t reg : checked_registers()) {
    if (lanes_.never_written(reg))
      return fmt::format(
          "v{}, which nothing will write: it is the destination of an arithmetic group in TREE mode (V9)",
          reg);
    if (lanes_.pending(reg)) return fmt::format("v{}, which is being written", reg);
  }
  return fmt::format("P{}, which is being written", lanes_.group().pr);
}

bool VectorCore::never_halts() const {
  if (!running_ || faulted_ || step_ == Step::kIdle || step_ == Step::kDone) return false;
  if (held_ && *held_ != VectorCycle::kHazard) return false;
  if (held_ && step_ != Step::kPredicateRead)
    for (const std::uint8_t reg : checked_registers())
      if (lanes_.never_written(reg)) return false;
  unsigned at = word_pc_;
  for (unsigned words = 0; words < 2 * kWords; ++words) {  // twice: VSETI's numbers may be read as words
    const arch::VectorOpcode op = decoded_[at].opcode();
    if (op == arch::VectorOpcode::kVhalt) return false;
    at = (at + (op == arch::VectorOpcode::kVseti ? 2 : 1)) % kWords;
  }
  return true;
}

// Parts: sequencer, receiver (head of the receive FIFO), output (the slot) and the endpoint's.
std::vector<sim::Wait> VectorCore::waits(Cycle now) const {
  std::vector<sim::Wait> list;
  const auto add = [&](std::string_view kind, std::string what, std::string on_part,
                       std::optional<arch::Coord> node = {}) {
    list.push_back({.what = fmt::format("{}: {}", instruction_text(), what),
                    .part = "sequencer",
                    .on_part = std::move(on_part),
                    .kind = kind,
                    .node = node});
  };
  if (held_) {
    switch (*held_) {
      case VectorCycle::kFill:
        add("read-response", responses_text(), "reads", params_.memory_port);
        if (base_.input_blocked(now))
          add("own-input", "its own input is blocked, so no response can come in", "input");
        break;
      case VectorCycle::kSend:
        add("send-slot", "the flit before it to leave", "output");
        break;
      case VectorCycle::kHazard:
        add("hazard", hazard_text(), "");
        break;
      default:
        add("l1-port", "the L1 write port", "receiver");
    }
  }
  if (never_halts())
    list.push_back({.what = fmt::format("{}: no VHALT lies ahead of it", instruction_text()),
                    .part = "sequencer",
                    .kind = "halt",
                    .since = started_});
  else if (running_ && !held_)
    list.push_back({.what = fmt::format("its kernel, which started in cycle {}, goes on: {}", started_,
                                        instruction_text()),
                    .part = "sequencer",
                    .kind = "kernel"});
  if (l1_.ack() != nullptr)
    list.push_back({.what = "the acknowledgement of a CU_DATA burst to leave",
                    .part = "receiver",
                    .on_part = "output",
                    .kind = "acknowledge"});
  if (l1_.stream())
    list.push_back({.what = fmt::format("{} data flits of the CU_DATA burst from ({},{})", l1_.left(),
                                        l1_.source().x, l1_.source().y),
                    .part = "receiver",
                    .kind = "peer-stream",
                    .node = l1_.source()});
  base_.waits(now, list);
  return list;
}

}  // namespace ktpu::vector
