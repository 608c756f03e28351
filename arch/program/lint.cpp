// SPDX-License-Identifier: Apache-2.0
#include "arch/program/lint.h"

#include <map>
#include <optional>

#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"
#include "arch/encoding/text.h"
#include "arch/encoding/vector_inst.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/lint_cluster.h"
#include "arch/program/lint_flits.h"
#include "arch/program/lint_vector.h"

namespace ktpu::arch {
namespace {

// What the host side of one mesh has done so far.
struct MeshState {
  std::map<std::uint32_t, Flit> staged;      // slot -> flit
  std::map<unsigned, ClusterLint> clusters;  // by node byte
  std::map<unsigned, VectorLint> vectors;
  FlitLint flits;
  std::map<unsigned, std::uint32_t> sent;  // flits kicked to a node since its baseline
  std::map<unsigned, bool> acked;          // node that acknowledges bursts in this round
  bool vector_kicked = false;              // in this round: its bursts are not visible here
  bool running = false;                    // a dispatch may still be streaming
  std::uint32_t run_base = 0, run_count = 0;
  std::uint32_t dst = 0, base = 0, length = 0;  // PROG registers
  bool seeded = false;
  std::uint32_t seed = 0;
  std::uint32_t unreturned = 0;                  // credits that do not come back: flits marked last
  std::map<unsigned, std::uint32_t> since_seed;  // flits by node
};

class Linter {
 public:
  Linter(const Program& p, const MachineNeeds* machine)
      : p_(p),
        units_(machine != nullptr ? machine->units : p.needs.units),
        machine_(machine),
        whole_(machine != nullptr) {}

  std::vector<LintFinding> run() {
    for (step_ = 0; step_ < p_.steps.size(); ++step_) {
      mesh_ = p_.steps[step_].mesh;
      std::visit([this](const auto& s) { step(s); }, p_.steps[step_].action);
    }
    if (!p_.steps.empty()) step_ = p_.steps.size() - 1;
    for (const auto& [mesh, state] : meshes_) {
      for (const auto& [node, cluster] : state.clusters) cluster.end(reporter(where(node)));
      state.flits.end([this](std::string_view rule, std::string text) { report(rule, std::move(text)); });
    }
    return std::move(findings_);
  }

 private:
  MeshState& m() { return meshes_[mesh_]; }
  static std::string where(unsigned node) {
    const Coord c = Coord::from_node_byte(node);
    return fmt::format("node ({},{})", c.x, c.y);
  }
  void report(std::string_view rule, std::string text) {
    const MisuseRule* known = find_misuse(rule);
    KTPU_CHECK(known != nullptr, "no rule {}", rule);
    findings_.push_back({known, step_, slot_, std::move(text)});
  }
  ClusterLint::Report reporter(std::string place) {
    return [this, place](std::string_view rule, std::string text) {
      report(rule, place + ": " + std::move(text));
    };
  }
  const UnitNeed* unit(unsigned node) const {
    for (const UnitNeed& u : units_)
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

  ClusterLint::Report plain() {
    return [this](std::string_view rule, std::string text) { report(rule, std::move(text)); };
  }

  // --- what several steps share
  // With the whole machine known: memory that is not there, units that are not there.
  void addresses(const ClusterInst& i, const std::string& place) {
    if (!whole_) return;
    std::uint64_t bytes = 0;
    const bool emits = i.is(ClusterOp::kGemm) && i.emit, drains = i.is(ClusterOp::kDrain) && !i.fuse;
    if (i.is(ClusterOp::kFill))
      bytes = std::uint64_t{i.preq ? address::kEntryBytesMxfp7 : address::kEntryBytesFp16} * i.eff_n();
    else if (i.dfin != 0)
      return;
    else if ((emits || drains) && i.dnode != 0) {
      if (unit(i.dst_y << 4 | i.dst_x) == nullptr)
        report("destination", fmt::format("{}: sends results to {}, where the machine has no unit", place,
                                          where(i.dst_y << 4 | i.dst_x)));
      return;
    } else if (emits || drains)
      bytes = std::uint64_t{address::kSubTileBytes} * (emits ? i.eff_gm() * i.eff_gn() : i.eff_n());
    if (bytes == 0 || address::special(i.addr)) return;
    const std::uint64_t begin = address::local(i.addr);
    bool any = false, inside = false;
    for (const MemoryNeed& m : machine_->memory) {
      if (m.mesh != mesh_) continue;
      any = true;
      inside |= begin >= m.begin && begin + bytes <= m.end;
    }
    if (any && !inside)
      report("out-of-range", fmt::format("{}: {:#x}..{:#x} is outside the memory of the machine", place,
                                         begin, begin + bytes - 1));
  }
  void kick(unsigned node, std::uint32_t base, std::uint32_t count) {
    MeshState& s = m();
    if (count == 0) {
      report("kick-empty", "a kick with PROG_LEN 0 is ignored");
      return;
    }
    s.running = true;
    s.run_base = base;
    s.run_count = count;
    s.vector_kicked |= is_vector(node);
    if (whole_ && unit(node) == nullptr)
      report("destination",
             fmt::format("{} flits for {}, where the machine has no unit", count, where(node)));
    for (std::uint32_t slot = base; slot < base + count; ++slot) {
      const auto it = s.staged.find(slot);
      if (it == s.staged.end()) {
        report("kick-unstaged", fmt::format("slot {} was never staged", slot));
        continue;
      }
      slot_ = slot;
      dispatch(node, slot, it->second);
    }
    slot_.reset();
    s.since_seed[node] += count;
    if (!s.seeded)
      report("credit-missing", "a kick before PROG_CRED was written: the dispatcher has no credit");
    else if (s.unreturned > s.seed)
      report("credit-low",
             fmt::format(
                 "{} flits marked last since the seed of {}: they return no credit, the dispatcher stops",
                 s.unreturned, s.seed));
    const UnitNeed* u = unit(node);
    const std::uint32_t at_once = std::min(s.seed, s.since_seed[node]);
    if (u && u->inst_depth && at_once > u->inst_depth)
      report("credit-depth",
             fmt::format("{} may have {} instructions at once, its FIFO takes {}: the mesh can lock up",
                         where(node), at_once, u->inst_depth));
  }
  void dispatch(unsigned node, std::uint32_t slot, const Flit& flit) {
    MeshState& s = m();
    const auto place =
        fmt::format("slot {} for {}, `{}`", slot, where(node),
                    flit_to_text(flit, is_vector(node) ? Dialect::kVector : Dialect::kCluster));
    s.flits.flit(node, flit, reporter(place));
    if (flit.type() != FlitType::kCuInst) return;
    ++s.sent[node];
    s.unreturned += flit.last();
    if (is_vector(node)) s.vectors[node].envelope(unpack<VectorInst>(flit), reporter(place));
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
    addresses(inst, place);
    s.flits.instruction(node, inst, reporter(place));
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
          report("dst-live", "PROG_DST is written while a dispatch may run: it redirects what is left");
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
          report("kick-lost", "a kick without waiting for PROG_STAT run=0: lost if a dispatch runs");
        kick(s.dst, s.base, s.length);
        break;
      case agent::kSigDone:
        if (s.running)
          report("done-live", "SIG_DONE is cleared while a dispatch may run: signals may be arriving");
        break;
      default:
        s.flits.mailbox(offset, value, plain());
        break;
    }
  }
  void register_poll(std::uint32_t offset, std::uint64_t mask, std::uint64_t want) {
    if ((want & ~mask) != 0)
      report("poll-never", fmt::format("polls {:#06x} until (value & {:#x}) == {:#x}, which has other bits",
                                       offset, mask, want));
    if (offset == agent::kRxStatus) m().flits.replies_read();
    if (offset == agent::kAuxStat) m().flits.landed();  // the write count of memory.md section 4.6
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
    if (whole_ && machine_->staging_flits != 0 && st.base + count > machine_->staging_flits)
      report("stage-capacity", fmt::format("slots {}..{}, the staging RAM has {}", st.base,
                                           st.base + count - 1, machine_->staging_flits));
    if (s.running && st.base < s.run_base + s.run_count && s.run_base < st.base + count)
      report("stage-overwrite",
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
      report("await-count", fmt::format("waits for {} signals of {}, which was sent {} instructions", a.count,
                                        where(node), s.sent[node]));
    if (a.count >= s.sent[node]) {
      s.running = false;
      s.flits.awaited(node);
    }
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
  void step(const StepReset&) { meshes_.erase(mesh_); }
  void step(const StepQuiet&) { m().flits.landed(); }
  void step(const StepRelayout&) { m().flits.landed(); }
  void step(const StepWindow& w) {
    const std::uint64_t bytes = w.write ? image_bytes(w.data) : w.read_bytes;
    if (!w.write)
      m().flits.read(w.address, bytes, "the window", plain());
    else if (address::upload(w.address) && bytes % address::kEntryBytesFp16 != 0)
      report("upload-beats",
             fmt::format("an upload of {} bytes: an entry is {}", bytes, address::kEntryBytesFp16));
    const bool staged =
        address::in_aperture(w.address) && address::aperture(w.address) == address::kApertureStaging;
    if (staged && (w.address & 0xFFFF'FFFF) + bytes > address::kStagingBytes)
      report("staging-alias", fmt::format("an access at {:#x} runs past the {} MiB of the staging memory",
                                          w.address, address::kStagingBytes >> 20));
  }
  template <class Other>
  void step(const Other&) {}

  const Program& p_;
  const std::vector<UnitNeed>& units_;
  const MachineNeeds* machine_;
  bool whole_;  // units_ are all the units of the machine
  std::size_t step_ = 0;
  std::optional<std::uint32_t> slot_;  // of the flit being looked at
  unsigned mesh_ = 0;
  std::map<unsigned, MeshState> meshes_;
  std::vector<LintFinding> findings_;
};

}  // namespace

std::vector<LintFinding> lint(const Program& program, const MachineNeeds* machine) {
  return Linter(program, machine).run();
}

std::string to_text(const LintFinding& f) {
  return fmt::format("step {}: {}: {} [{}]; fix: {}", f.step, f.error() ? "error" : "warning", f.text,
                     f.rule->id, f.rule->fix);
}

}  // namespace ktpu::arch
