// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/cluster.h"

#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using base::Phase;
using base::Refusal;
using schedule::Policy;

constexpr std::uint64_t kEntryBytes = 256, kLaneBytes = 64;
constexpr std::uint32_t kBanks = 2, kSecondBank = 256, kLongestFill = 255, kDrainBurst = 8;

arch::ClusterInst instruction(arch::ClusterOp op) {
  arch::ClusterInst inst;
  inst.op = static_cast<std::uint32_t>(op);
  return inst;
}

class Emitter {
 public:
  Emitter(const schedule::Schedule& schedule, const schedule::Instance& instance, bool keeps_l1)
      : schedule_(schedule), batch_(instance.batch), keeps_l1_(keeps_l1) {}

  void add(const schedule::Fill& fill) {
    const std::uint64_t span = std::uint64_t{fill.groups} * fill.blocks;
    const std::uint64_t bank_entries = schedule_.resources.bank_entries;
    if (span > bank_entries)
      throw Refusal(
          Phase::kBuild, "CHUNK_OVER_BANK",
          fmt::format("a chunk of {} x {} entries; a bank holds {}", fill.groups, fill.blocks, bank_entries),
          "make the tile or nk smaller");
    const std::uint64_t offset = region(fill, span);
    if (offset + span > bank_entries)
      throw Refusal(Phase::kBuild, "REGION_OVER_BANK",
                    fmt::format("the operands of one side need {} entries; a bank holds {}", offset + span,
                                bank_entries),
                    "make the tile or nk smaller");
    const schedule::Buffer& buffer = schedule_.buffers.at(fill.buffer);
    const std::uint64_t from =
        (fill.tile * fill.chunks + fill.chunk) * span * kEntryBytes + fill.lane * kLaneBytes;
    const std::uint64_t held = best() ? buffer.held_widest : buffer.held;
    if (from + span * kEntryBytes > held * 2)
      throw Refusal(Phase::kBuild, "FILL_PAST_END",
                    fmt::format("'{}' has {} bytes; a fill reads bytes {} to {}", buffer.name, held * 2, from,
                                from + span * kEntryBytes),
                    "choose tiles and nk so that the operand is padded to whole chunks");
    const std::uint32_t bank = fill.step % kBanks;
    arch::ClusterInst inst = instruction(arch::ClusterOp::kFill);
    inst.sel = fill.side == schedule::Side::kB;
    inst.fbank = near() ? 0 : bank;
    // Only as many entries as one FILL can name; the reference leaves that to its encoder, which refuses.
    for (std::uint64_t first = 0; first < span; first += inst.n) {
      inst.n =
          static_cast<std::uint32_t>(best() ? std::min<std::uint64_t>(kLongestFill, span - first) : span);
      inst.addr = start(fill.buffer) + from + first * kEntryBytes;
      inst.eoff = place(bank) + static_cast<std::uint32_t>(offset + first);
      program_.steps.push_back({inst});
    }
    brought_.insert({fill.side, fill.operand, bank});
    landed_[{fill.side, bank}] = static_cast<std::uint32_t>(offset);
  }

  void add(const schedule::Gemm& gemm) {
    const std::uint32_t bank = gemm.acc % kBanks;
    arch::ClusterInst inst = instruction(arch::ClusterOp::kGemm);
    inst.gm = gemm.gm;
    inst.gn = gemm.gn;
    inst.nk = gemm.nk;
    inst.acc = gemm.acc > 0;
    inst.abank = inst.bbank = near() ? 0 : bank;
    inst.aoff = place(bank) + filled(schedule::Side::kA, gemm.a_operand, bank);
    inst.boff = place(bank) + filled(schedule::Side::kB, gemm.b_operand, bank);
    program_.steps.push_back({inst});
  }

  void add(const schedule::Drain& drain) {
    const std::uint32_t tiles = drain.gm * drain.gn;
    arch::ClusterInst inst = instruction(arch::ClusterOp::kDrain);
    inst.n = tiles;
    if (drain.buffer) {
      inst.addr = start(*drain.buffer) + drain.word * kWordBytes;
      program_.steps.push_back({inst});
      return;
    }
    // The address of a drain to a node is a place in the receiver's L1.
    inst.addr = drain.slot * whole_steps(tiles) * kWordBytes;
    inst.dflags = 1;
    program_.steps.push_back({inst, true});
    program_.acks += (tiles + kDrainBurst - 1) / kDrainBurst;
  }

  void add(const schedule::Chain&) { KTPU_CHECK(false, "a vector statement in a cluster's stage"); }

  ClusterProgram take() { return std::move(program_); }

 private:
  bool best() const { return schedule_.policy == Policy::kBest; }
  // The cluster's second bank begins at entry 256. An L1 without it has both in the first, one behind the
  // other.
  bool near() const { return 2 * schedule_.resources.bank_entries <= kSecondBank; }
  std::uint32_t place(std::uint32_t bank) const {
    return near() ? bank * schedule_.resources.bank_entries : 0;
  }
  std::uint64_t start(schedule::BufferId buffer) const { return start_of(schedule_, buffer, batch_); }

  // Each operand of a side keeps its own entries, in every bank.
  std::uint64_t region(const schedule::Fill& fill, std::uint64_t span) {
    const auto [place, fresh] = regions_.try_emplace({fill.side, fill.operand}, used_[side(fill.side)]);
    if (fresh) used_[side(fill.side)] += span;
    return place->second;
  }
  static std::size_t side(schedule::Side s) { return static_cast<std::size_t>(s); }

  std::uint32_t filled(schedule::Side s, std::uint32_t operand, std::uint32_t bank) const {
    const auto last = landed_.find({s, bank});
    if (!best()) return last == landed_.end() ? 0 : last->second;
    const auto own = regions_.find({s, operand});
    if (brought_.contains({s, operand, bank})) return static_cast<std::uint32_t>(own->second);
    // What an earlier stage has filled stands at the first entry, if nothing else has come there.
    if (!keeps_l1_ || (own == regions_.end() ? used_[side(s)] != 0 : own->second != 0))
      throw Refusal(
          Phase::kBuild, "GEMM_WITHOUT_FILL",
          "a product uses an operand that its stage has not filled: another instance may have run on "
          "the cluster in between",
          "fill the operand in the same stage");
    return 0;
  }

  const schedule::Schedule& schedule_;
  std::uint64_t batch_;
  bool keeps_l1_;
  ClusterProgram program_;
  std::map<std::pair<schedule::Side, std::uint32_t>, std::uint64_t> regions_;  // by operand
  std::array<std::uint64_t, 2> used_{};
  std::map<std::pair<schedule::Side, std::uint32_t>, std::uint32_t> landed_;    // by bank
  std::set<std::tuple<schedule::Side, std::uint32_t, std::uint32_t>> brought_;  // operand, bank
};

}  // namespace

ClusterProgram cluster_program(const schedule::Schedule& schedule, const schedule::Instance& instance,
                               bool keeps_l1) {
  Emitter emitter(schedule, instance, keeps_l1);
  for (const schedule::Statement& statement : instance.statements)
    std::visit([&](const auto& s) { emitter.add(s); }, statement);
  return emitter.take();
}

}  // namespace ktpu::schedule_to_program
