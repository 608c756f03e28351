// SPDX-License-Identifier: Apache-2.0
#include "arch/program/lint.h"

#include <map>

#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"
#include "arch/encoding/text.h"
#include "arch/error.h"
#include "arch/program/lint_cluster.h"

namespace ktpu::arch {
namespace {

// What the host side of one mesh has done so far.
struct MeshState {
  std::map<std::uint32_t, Flit> staged;      // slot -> flit
  std::map<unsigned, ClusterLint> clusters;  // by node byte
  std::map<unsigned, std::uint32_t> sent;    // flits kicked to a node since its baseline
  std::map<unsigned, bool> acked;            // node that acknowledges bursts in this round
  bool vector_kicked = false;                // in this round: its bursts are not visible here
  bool running = false;                      // a dispatch may still be streaming
  std::uint32_t run_base = 0, run_count = 0;
  std::uint32_t dst = 0, base = 0, length = 0;  // PROG registers
  bool seeded = false;
  std::uint32_t seed = 0;
  std::uint32_t unreturned = 0;                  // credits that do not come back: flits marked last
  std::map<unsigned, std::uint32_t> since_seed;  // flits by node
};

class Linter {
 public:
  explicit Linter(const Program& p) : p_(p) {}

  std::vector<LintFinding> run() {
    for (step_ = 0; step_ < p_.steps.size(); ++step_) {
      mesh_ = p_.steps[step_].mesh;
      std::visit([this](const auto& s) { step(s); }, p_.steps[step_].action);
    }
    if (!p_.steps.empty()) step_ = p_.steps.size() - 1;
    for (const auto& [mesh, state] : meshes_)
      for (const auto& [node, cluster] : state.clusters) cluster.end(reporter(where(node)));
    return std::move(findings_);
  }

 private:
  MeshState& m() { return meshes_[mesh_]; }
  static std::string where(unsigned node) {
    const Coord c = Coord::from_node_byte(node);
    return fmt::format("node ({},{})", c.x, c.y);
  }
  void report(std::string_view rule, bool error, std::string text) {
    findings_.push_back({rule, error, step_, std::move(text)});
  }
  ClusterLint::Report reporter(std::string place) {
    return [this, place](std::string_view rule, bool error, std::string text) {
      report(rule, error, place + ": " + std::move(text));
    };
  }
  const UnitNeed* unit(unsigned node) const {
    for (const UnitNeed& u : p_.needs.units)
      if (u.mesh == mesh_ && u.at.node_byte() == node) return &u;
    return nullptr;
  }
  bool is_vector(unsigned node) const {
    const UnitNeed* u = unit(node);
    return u && u->kind == "vector_core";
  }
  bool is_cluster(unsigned node) const {
    const UnitNeed* u = unit(node);
    return !u || u->kind == "matmul_cluster";
  }

  // --- what several steps share
  void kick(unsigned node, std::uint32_t base, std::uint32_t count) {
    MeshState& s = m();
    if (count == 0) {
      report("kick-empty", true, "a kick with PROG_LEN 0 is ignored");
      return;
    }
    s.running = true;
    s.run_base = base;
    s.run_count = count;
    s.vector_kicked |= is_vector(node);
    for (std::uint32_t slot = base; slot < base + count; ++slot) {
      const auto it = s.staged.find(slot);
      if (it == s.staged.end()) {
        report("kick-unstaged", true, fmt::format("slot {} was never staged", slot));
        continue;
      }
      dispatch(node, slot, it->second);
    }
    s.since_seed[node] += count;
    if (!s.seeded)
      report("credit-missing", true, "a kick before PROG_CRED was written: the dispatcher has no credit");
    else if (s.unreturned > s.seed)
      report("credit-low", true,
             fmt::format(
                 "{} flits marked last since the seed of {}: they return no credit, the dispatcher stops",
                 s.unreturned, s.seed));
    const UnitNeed* u = unit(node);
    const std::uint32_t at_once = std::min(s.seed, s.since_seed[node]);
    if (u && u->inst_depth && at_once > u->inst_depth)
      report("credit-depth", false,
             fmt::format("{} may have {} instructions at once, its FIFO takes {}: the mesh can lock up",
                         where(node), at_once, u->inst_depth));
  }
  void dispatch(unsigned node, std::uint32_t slot, const Flit& flit) {
    MeshState& s = m();
    const auto place =
        fmt::format("slot {} for {}, `{}`", slot, where(node),
                    flit_to_text(flit, is_vector(node) ? Dialect::kVector : Dialect::kCluster));
    if (flit.type() == FlitType::kMemWrReq && unpack<MemReq>(flit).len > kMaxWriteLen)
      report("write-burst", true, place + ": a write has at most 8 beats");
    if (flit.type() != FlitType::kCuInst) return;
    ++s.sent[node];
    s.unreturned += flit.last();
    if (!is_cluster(node)) return;
    const UnitNeed* u = unit(node);
    const ClusterLint::Sizes sizes =
        u ? ClusterLint::Sizes{u->tiles, u->l1_a, u->l1_b} : ClusterLint::Sizes{};
    const auto inst = unpack<ClusterInst>(flit);
    if (inst.dnode && inst.dflags & kCuDataSignal) {
      if (inst.dfin)
        meshes_[inst.dmesh].acked[inst.dfin] = true;  // in the far mesh
      else
        s.acked[inst.dst_y << 4 | inst.dst_x] = true;
    }
    s.clusters.try_emplace(node, Coord::from_node_byte(node), sizes)
        .first->second.instruction(inst, reporter(place));
  }
  void seed(std::uint32_t value) {
    MeshState& s = m();
    s.seeded = true;
    s.seed = value;
    s.unreturned = 0;
    s.since_seed.clear();
  }
  void register_write(std::uint32_t offset, std::uint64_t value) {
    MeshState& s = m();
    switch (offset) {
      case agent::kProgDst:
        if (s.running)
          report("dst-live", false,
                 "PROG_DST is written while a dispatch may run: it redirects what is left");
        s.dst = value & 0xFF;
        break;
      case agent::kProgBase:
        s.base = value & 0xFFFF;
        break;
      case agent::kProgLen:
        s.length = value & 0xFFFF;
        break;
      case agent::kProgCred:
        seed(value & 0xFFFF);
        break;
      case agent::kProgKick:
        if (s.running)
          report("kick-lost", true, "a kick without waiting for PROG_STAT run=0: lost if a dispatch runs");
        kick(s.dst, s.base, s.length);
        break;
      default:
        break;
    }
  }
  void register_poll(std::uint32_t offset, std::uint64_t mask, std::uint64_t want) {
    const bool idle = offset == agent::kProgStat && mask & 1 && !(want & 1);
    // All signals of the round are in, so all its flits have left the staging RAM.
    const bool signals =
        offset == agent::kSigDone || (offset >= agent::kNodeStatus && offset < agent::kStage);
    if (idle || signals) m().running = false;
  }

  // --- steps
  void step(const StepRound&) {
    MeshState& s = m();
    s.sent.clear();
    s.acked.clear();
    s.vector_kicked = false;
  }
  void step(const StepBaseline& b) {
    for (const Coord c : b.nodes) m().sent[c.node_byte()] = 0;
  }
  void step(const StepStage& st) {
    MeshState& s = m();
    const auto count = static_cast<std::uint32_t>(st.flits.size());
    if (s.running && st.base < s.run_base + s.run_count && s.run_base < st.base + count)
      report("stage-overwrite", true,
             fmt::format("slots {}..{} are written while the kick of slots {}..{} may still stream them",
                         st.base, st.base + count - 1, s.run_base, s.run_base + s.run_count - 1));
    for (std::uint32_t i = 0; i < count; ++i) s.staged[st.base + i] = st.flits[i];
  }
  void step(const StepCredit& s) { seed(s.seed); }
  void step(const StepKick& k) {
    m().running = false;  // the step polls PROG_STAT first
    m().dst = k.to.node_byte();
    m().base = k.base;
    m().length = k.count;
    kick(k.to.node_byte(), k.base, k.count);
  }
  void step(const StepAwait& a) {
    MeshState& s = m();
    const unsigned node = a.node.node_byte();
    if (!s.vector_kicked && !s.acked[node] && a.count > s.sent[node])
      report("await-count", true,
             fmt::format("waits for {} signals of {}, which was sent {} instructions", a.count, where(node),
                         s.sent[node]));
    if (a.count >= s.sent[node]) s.running = false;
  }
  void step(const StepWrite& w) { register_write(w.offset, w.value); }
  void step(const StepPoll& s) { register_poll(s.offset, s.mask, s.want); }
  void step(const StepCommands& list) {
    for (const Command& c : list.commands) {
      if ((c.address & ~0xFFFFu) != address::kAgentBase) continue;
      if (c.op == static_cast<std::uint32_t>(engine::CommandOp::kWrite))
        register_write(c.address & 0xFFFF, c.data);
      else if (c.op == static_cast<std::uint32_t>(engine::CommandOp::kPoll))
        register_poll(c.address & 0xFFFF, c.mask, c.data);
    }
  }
  void step(const StepWindow& w) {
    const std::uint64_t bytes = w.data.size != 0 ? w.data.size : w.data.data.size();
    if (w.write && address::upload(w.address) && bytes % address::kEntryBytesFp16 != 0)
      report("window-upload", true,
             fmt::format(
                 "{} bytes through an upload aperture: the memory window takes whole entries of {} bytes "
                 "and waits for ever for the rest of the last one",
                 bytes, address::kEntryBytesFp16));
    const bool staged =
        address::in_aperture(w.address) && address::aperture(w.address) == address::kApertureStaging;
    if (staged && (w.address & 0xFFFF'FFFF) + (w.write ? bytes : w.read_bytes) > address::kStagingBytes)
      report("staging-end", true,
             fmt::format("an access at {:#x} runs past the {} MiB of the staging memory and wraps", w.address,
                         address::kStagingBytes >> 20));
  }
  void step(const StepReset&) { meshes_.erase(mesh_); }
  template <class Other>
  void step(const Other&) {}

  const Program& p_;
  std::size_t step_ = 0;
  unsigned mesh_ = 0;
  std::map<unsigned, MeshState> meshes_;
  std::vector<LintFinding> findings_;
};

}  // namespace

std::vector<LintFinding> lint(const Program& program) { return Linter(program).run(); }

std::string to_text(const LintFinding& f) {
  return fmt::format("step {}: {}: {} [{}]", f.step, f.error ? "error" : "warning", f.text, f.rule);
}

const std::vector<LintRule>& lint_rules() {
  static const std::vector<LintRule> kRules{
      {"fill-count", "FILL of more than 255 entries"},
      {"fill-bank", "FILL past the end of its L1 bank"},
      {"fill-peers", "FILL shared between clusters"},
      {"fill-race", "FILL over entries that a sweep may still read"},
      {"l1-capacity", "L1 entries the unit does not have"},
      {"gemm-bank", "GEMM operand past the end of its L1 bank"},
      {"gemm-anchor", "anchor other than 40"},
      {"tile-capacity", "more sub-tiles than the unit holds"},
      {"tile-unloaded", "a tile read before a GEMM loaded it"},
      {"window-upload", "upload of a part of an entry"},
      {"staging-end", "host access past the end of the staging memory"},
      {"acc-shape", "accumulating GEMM of another shape than the one that opened the tile"},
      {"emit-load", "emit with acc=0 and nk=1"},
      {"emit-buffer", "emit to buffer 2"},
      {"emit-order", "emitting GEMM not followed by its fused DRAIN first"},
      {"fuse-alone", "fused DRAIN without an emitting GEMM"},
      {"fuse-count", "fused DRAIN with another count than its sweep"},
      {"fuse-destination", "fused DRAIN with another destination than its sweep"},
      {"peer-self", "raw tiles sent to the sender itself"},
      {"peer-odd", "raw tiles to an odd granule"},
      {"drain-align", "result address not on a memory word"},
      {"cluster-opcode", "opcode without meaning"},
      {"write-burst", "memory write of more than 8 beats"},
      {"kick-empty", "kick of no flits"},
      {"kick-unstaged", "kick of slots that were never staged"},
      {"kick-lost", "kick that may fall into a running dispatch"},
      {"dst-live", "PROG_DST written during a dispatch"},
      {"stage-overwrite", "slots overwritten while they may be streamed"},
      {"credit-missing", "kick before any credit"},
      {"credit-low", "less credit than programs in the round"},
      {"credit-depth", "more credit than a node's instruction FIFO holds"},
      {"await-count", "wait for more signals than can come"},
  };
  return kRules;
}

}  // namespace ktpu::arch
