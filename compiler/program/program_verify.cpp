// SPDX-License-Identifier: Apache-2.0
#include <bitset>
#include <map>
#include <set>

#include "arch/error.h"
#include "compiler/program/unit_program.h"
#include "compiler/program/vector_check.h"

namespace ktpu::program {
namespace {

using arch::UserError;

constexpr std::uint32_t kBankEntries = 256, kBanks = 2;
constexpr std::uint32_t kDrainBurst = 8;  // sub-tiles that one acknowledgement stands for

// What a cluster holds. The instances of one place run on the same unit in every stage, and a later stage
// may rely on what an earlier one has left (section 15).
struct Cluster {
  std::array<std::bitset<kBanks * kBankEntries>, 2> filled;  // by side
  std::uint64_t tiles = 0;                                   // of the accumulator's last sweep; 0: none yet
};

class ClusterCheck {
 public:
  ClusterCheck(Cluster& cluster, bool feeds_next) : cluster_(cluster), feeds_next_(feeds_next) {}

  // Empty, or what is wrong.
  std::string step(const ClusterStep& step) {
    const arch::ClusterInst& inst = step.inst;
    if (step.to_next && !(inst.is(arch::ClusterOp::kDrain) && feeds_next_))
      return "only a drain goes to the next stage, of a stage that feeds it";
    if (inst.is(arch::ClusterOp::kFill)) return fill(inst);
    if (inst.is(arch::ClusterOp::kGemm)) return gemm(inst);
    if (inst.is(arch::ClusterOp::kDrain)) return drain(step);
    return fmt::format("no cluster knows opcode {}", inst.op);
  }
  // Signals of the next stage's units on behalf of this instance. Drains that name their node themselves are
  // acknowledged to whoever they name.
  std::string acks(std::uint32_t said) const {
    if (said == acks_) return {};
    return fmt::format("its drains are acknowledged {} times, not {}", acks_, said);
  }

 private:
  std::string fill(const arch::ClusterInst& inst) {
    if (inst.sel > 1 || inst.fbank >= kBanks) return "there are 2 sides, of 2 banks";
    const std::uint64_t end = std::uint64_t{inst.eoff} + inst.eff_n();
    if (end > kBankEntries) return fmt::format("ends at entry {} of a bank of {}", end, kBankEntries);
    for (std::uint64_t e = inst.eoff; e < end; ++e)
      cluster_.filled[inst.sel].set(inst.fbank * kBankEntries + e);
    return {};
  }
  std::string operand(unsigned side, std::uint32_t bank, std::uint32_t offset, std::uint64_t entries) const {
    const char name = "AB"[side];
    if (bank >= kBanks || offset + entries > kBankEntries)
      return fmt::format("reads entries {}+{} of a bank of side {}, which has {}", offset, entries, name,
                         kBankEntries);
    for (std::uint64_t e = 0; e < entries; ++e)
      if (!cluster_.filled[side].test(bank * kBankEntries + offset + e))
        return fmt::format("reads entry {} of bank {} of side {}, which no FILL brought", offset + e, bank,
                           name);
    return {};
  }
  std::string gemm(const arch::ClusterInst& inst) {
    const std::uint64_t nk = inst.eff_nk();
    std::string wrong = operand(0, inst.abank, inst.aoff, inst.eff_gm() * nk);
    if (wrong.empty()) wrong = operand(1, inst.bbank, inst.boff, inst.eff_gn() * nk);
    const std::uint64_t tiles = std::uint64_t{inst.eff_gm()} * inst.eff_gn();
    if (wrong.empty() && inst.acc != 0 && tiles != cluster_.tiles)
      wrong = fmt::format("adds {} sub-tiles to an accumulator of {}", tiles, cluster_.tiles);
    cluster_.tiles = tiles;
    return wrong;
  }
  std::string drain(const ClusterStep& step) {
    const arch::ClusterInst& inst = step.inst;
    if (step.to_next) {
      if (inst.dnode != 0 || inst.dst_x != 0 || inst.dst_y != 0)
        return "goes to the next stage and names a node";
      acks_ += (inst.eff_n() + kDrainBurst - 1) / kDrainBurst;
    }
    // Towards another mesh go tiles that other meshes have sent.
    if (inst.dfin == 0 && inst.eff_n() > cluster_.tiles)
      return fmt::format("drains {} sub-tiles of {}", inst.eff_n(), cluster_.tiles);
    return {};
  }

  Cluster& cluster_;
  bool feeds_next_;
  std::uint32_t acks_ = 0;
};

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  void run() {
    for (stage_ = 0; stage_ < program_.stages.size(); ++stage_) {
      const Stage& s = program_.stages[stage_];
      std::set<std::vector<std::int32_t>> keys;
      for (const Instance& i : s.instances) {
        if (!keys.insert(i.key).second) fail(i, "stands twice in the stage");
        if (s.unit == UnitType::kCluster)
          cluster(s, i);
        else
          vector_core(i);
      }
      if (s.feeds_next) feeding(s, keys);
    }
  }

 private:
  [[noreturn]] void fail(const Instance& i, const std::string& what) const {
    throw UserError::make("stage {}, instance ({}): {}", stage_, fmt::join(i.key, ", "), what);
  }
  void feeding(const Stage& s, const std::set<std::vector<std::int32_t>>& keys) const {
    std::set<std::vector<std::int32_t>> next;
    const bool exists = stage_ + 1 < program_.stages.size();
    if (exists)
      for (const Instance& i : program_.stages[stage_ + 1].instances) next.insert(i.key);
    if (!exists || s.unit != UnitType::kCluster || program_.stages[stage_ + 1].unit != UnitType::kVector ||
        next != keys)
      throw UserError::make(
          "stage {}: feeds the next stage, which must run the same instances on vector cores", stage_);
  }
  void cluster(const Stage& s, const Instance& i) {
    const auto* steps = std::get_if<std::vector<ClusterStep>>(&i.steps);
    if (steps == nullptr) fail(i, "a vector core's program for a cluster");
    ClusterCheck check(clusters_[i.key], s.feeds_next);
    for (std::size_t n = 0; n < steps->size(); ++n)
      if (const std::string wrong = check.step((*steps)[n]); !wrong.empty())
        fail(i, fmt::format("step {}: {}", n, wrong));
    if (const std::string wrong = check.acks(i.acks); !wrong.empty()) fail(i, wrong);
  }
  void vector_core(const Instance& i) const {
    const auto* steps = std::get_if<std::vector<VectorStep>>(&i.steps);
    if (steps == nullptr) fail(i, "a cluster's program for a vector core");
    if (i.acks != 0) fail(i, "acknowledgements are due, but a vector core drains to no node");
    VectorCheck check;
    for (std::size_t n = 0; n < steps->size(); ++n)
      if (const std::string wrong = check.step((*steps)[n]); !wrong.empty())
        fail(i, fmt::format("step {}: {}", n, wrong));
  }

  const Program& program_;
  std::size_t stage_ = 0;
  std::map<std::vector<std::int32_t>, Cluster> clusters_;
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

}  // namespace ktpu::program
