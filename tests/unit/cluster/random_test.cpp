// SPDX-License-Identifier: Apache-2.0
// Random programs, legal and not: values against a model that computes every pipeline stage in its cycle, and
// runs with and without sleeping against each other.
#include <random>

#include "tests/unit/cluster/bench.h"
#include "tests/unit/cluster/programs.h"

namespace ktpu::test {
namespace {

using cluster::AccOp;

// Hashes what a unit lists.
class HashArchive final : public sim::Archive {
 public:
  std::uint64_t hash = 1469598103934665603ull;

 protected:
  void on_value(std::string_view, void* value, std::size_t bytes, const sim::ValueInfo&) override {
    add(value, bytes);
  }
  void on_computed(std::string_view, std::uint64_t value, const sim::ValueInfo&) override { add(&value, 8); }
  void on_memory(std::string_view, void* data, std::size_t bytes, std::size_t count) override {
    add(data, bytes * count);
  }
  void on_enter(std::string_view) override {}
  void on_leave() override {}

 private:
  void add(const void* data, std::size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 1099511628211ull;
  }
};

// Every stage in its own cycle: L1 read at the end of i+1, command at i+20, tile read at the end of c+2,
// write at the end of c+6 (cluster.md sections 7 and 13.3). Fed with commands and L1 writes as the probe
// reports them.
class PipelineModel {
 public:
  explicit PipelineModel(const cluster::ClusterParams& p)
      : params_(p), a_(p.l1_a), b_(p.l1_b), tile_(p.tiles) {}

  struct Sweep {
    ClusterInst inst;
    std::vector<Cycle> issues;  // in order
  };
  struct L1Write {
    Cycle enable;
    arch::Side side;
    unsigned entry;
    arch::OperandEntry value;
  };
  struct Command {
    Cycle cycle;
    AccOp op;
    unsigned tile;
    arch::SubTile operand;  // chain or peer value
  };

  // `peers`: values of the ADD_PEERs in order. Leaves the granules in the order of their pushes.
  void run(const std::vector<Sweep>& sweeps, const std::vector<L1Write>& writes,
           std::vector<Record::Command> commands, const std::vector<arch::SubTile>& peers) {
    // Chains, from the L1 as of the end of cycle i+1 (writes enabled up to i).
    std::map<Cycle, arch::SubTile> chain;
    std::size_t next_write = 0, next_peer = 0;
    for (const Sweep& s : sweeps) {
      const unsigned gm = s.inst.eff_gm(), gn = s.inst.eff_gn(), nk = s.inst.eff_nk();
      std::size_t k = 0;
      for (unsigned kb = 0; kb < nk; ++kb)
        for (unsigned g = 0; g < gm; ++g)
          for (unsigned h = 0; h < gn; ++h, ++k) {
            if (k >= s.issues.size()) continue;
            const Cycle issue = s.issues[k];
            for (; next_write < writes.size() && writes[next_write].enable <= issue; ++next_write) {
              const L1Write& w = writes[next_write];
              (w.side == arch::Side::kA ? a_ : b_)[w.entry] = w.value;
            }
            const unsigned ae =
                (s.inst.abank << 8 | ((s.inst.aoff + g * nk + kb) & 255)) & (params_.l1_a - 1);
            const unsigned be =
                (s.inst.bbank << 8 | ((s.inst.boff + h * nk + kb) & 255)) & (params_.l1_b - 1);
            arch::scalar_kernel(14).chain(a_[ae], b_[be], s.inst.anchor, chain[issue + 20]);
          }
    }
    // Tiles, cycle by cycle.
    struct Late {
      Cycle at;
      unsigned tile;
      arch::SubTile value;
    };
    std::vector<Late> late;
    for (const auto& c : commands) {
      if (c.lost) continue;
      // The tile as of the end of c+2: writes at the ends of cycles before that.
      std::erase_if(late, [&](const Late& l) {
        if (l.at >= c.cycle + 2) return false;
        tile_[l.tile] = l.value;
        return true;
      });
      arch::SubTile value = tile_[c.tile];
      const auto& kernel = arch::scalar_kernel(14);
      switch (c.op) {
        case AccOp::kLoad:
          value = arch::canonical(chain.at(c.cycle), 14);
          break;
        case AccOp::kAdd:
        case AccOp::kAddEmit:
          kernel.add(value, chain.at(c.cycle));
          break;
        case AccOp::kAddPeer:
          kernel.add(value, peers.at(next_peer++));
          break;
        default:
          break;
      }
      if (c.op == AccOp::kSend) {
        const auto g = arch::send_granules(value, 14);
        granules.push_back(g[0]);
        granules.push_back(g[1]);
      } else if (c.op == AccOp::kEmit || c.op == AccOp::kAddEmit) {
        granules.push_back(kernel.emit(value));
      }
      if (c.op != AccOp::kSend && c.op != AccOp::kEmit) late.push_back({c.cycle + 6, c.tile, value});
    }
    for (const Late& l : late) tile_[l.tile] = l.value;
  }
  const arch::SubTile& tile(unsigned t) const { return tile_[t]; }
  std::vector<arch::Word256> granules;

 private:
  cluster::ClusterParams params_;
  std::vector<arch::OperandEntry> a_, b_;
  std::vector<arch::SubTile> tile_;
};

// Notes the instruction of each sweep and the value of each L1 write besides the rest.
struct FullRecord final : cluster::ClusterProbe {
  Record* to = nullptr;
  cluster::MatmulCluster* unit = nullptr;
  ClusterInst current;
  std::vector<PipelineModel::Sweep> sweeps;
  std::vector<PipelineModel::L1Write> writes;

  void on_issue(Cycle c, const ClusterInst& i) override {
    current = i;
    to->on_issue(c, i);
  }
  void on_gemm_start(Cycle c) override {
    sweeps.push_back({current, {}});
    to->on_gemm_start(c);
  }
  void on_command(Cycle c, AccOp op, unsigned tile, bool lost) override {
    to->on_command(c, op, tile, lost);
    if (op == AccOp::kLoad || op == AccOp::kAdd || op == AccOp::kAddEmit)
      sweeps.back().issues.push_back(c - 20);
  }
  void on_l1_write(Cycle c, arch::Side side, unsigned entry) override {
    writes.push_back({c, side, entry, unit->l1(side, entry)});
  }
};

struct Outcome {
  std::vector<FarEnd::Seen> seen;
  std::vector<Cycle> accepted;
  std::vector<std::uint64_t> hashes;
  std::uint64_t cycles_run = 0;
  std::uint64_t hits = 0;  // of quirk C1
};

Outcome run(const Program& p, bool idle_skip, bool check_values) {
  Bench b(p.params, idle_skip, false);
  FullRecord full;
  full.to = &b.record;
  full.unit = &b.unit();
  if (check_values) b.unit().set_probe(&full);
  std::mt19937_64 rng(p.seed * 77 + 1);
  b.far().busy = [&p](Cycle c) { return ((c * 2654435761u) >> 7) % 8 < p.busy_per_8; };
  b.far().on_flit = [&](const FarEnd::Seen& seen) {
    if (seen.flit.type() != FlitType::kMemRdReq) return;
    const unsigned count = static_cast<unsigned>(seen.flit.bits(192, 8));
    Cycle at = seen.taken + 1;
    for (unsigned i = 0; i < 4 * count; ++i) {
      at += rng() % 4 == 0 ? rng() % 9 : 0;
      b.far().send(at, random_operand_flit(rng, response(seen.flit.txn() + i / 4, i % 4)));
    }
  };
  std::vector<arch::SubTile> peers;
  for (const auto& [at, flit] : p.script) b.send(at, flit);
  Outcome o;
  for (unsigned i = 1; i <= 20; ++i) {
    b.run(i * 151);
    b.engine().sync();
    HashArchive hash;
    b.unit().visit(hash);
    o.hashes.push_back(hash.hash);
  }
  o.seen = b.far().seen;
  o.accepted = b.far().accepted;
  o.cycles_run = b.engine().cycles_run();
  for (const auto& hit : b.unit().quirk_hits()) o.hits += hit.count;
  if (!check_values) return o;

  // Peer values: the granule pairs of accepted buffer-2 streams, in order.
  arch::PeerGranules pair{};
  bool open = false, good = false;
  unsigned left = 0, offset = 0;
  for (const auto& [at, flit] : p.script) {
    if (flit.type() != FlitType::kCuData) continue;
    if (!open) {
      offset = static_cast<unsigned>(flit.bits(232, 16));
      left = static_cast<unsigned>(flit.bits(224, 8)) + 1;
      good = flit.bits(248, 8) == 2 && offset + left - 1 < 2 * p.params.tiles && offset % 2 == 0;
      open = true;
      continue;
    }
    if (good) {
      pair[offset % 2] = {flit.w[0], flit.w[1], flit.w[2], flit.w[3]};
      if (offset % 2) peers.push_back(arch::unpack_granules(pair, 14));
    }
    ++offset;
    open = --left != 0;
  }
  PipelineModel model(p.params);
  model.run(full.sweeps, full.writes, b.record.commands, peers);
  const Cycle now = b.engine().now();
  // Hung: some commands may still be under way. In the hole a lost ADD_EMIT leaves the batch open for ever.
  if (!b.unit().idle(now) && o.hits == 0) return o;
  for (unsigned t = 0; t < p.params.tiles; ++t)
    EXPECT_EQ(b.unit().tile(t), model.tile(t)) << "tile " << t << " of seed " << p.seed;
  std::vector<arch::Word256> out;
  unsigned in_burst = 0;  // data flits to come; a redirected burst may change its type half way
  for (const auto& [shown, taken, flit] : o.seen) {
    if (flit.type() != FlitType::kMemWrReq && flit.type() != FlitType::kMemWrData &&
        flit.type() != FlitType::kCuData)
      continue;
    if (in_burst != 0) {
      out.push_back({flit.w[0], flit.w[1], flit.w[2], flit.w[3]});
      --in_burst;
    } else {
      in_burst =
          1 + static_cast<unsigned>(flit.type() == FlitType::kCuData ? flit.bits(224, 8) : flit.bits(208, 8));
    }
  }
  std::size_t same = 0;
  while (same < out.size() && same < model.granules.size() && out[same] == model.granules[same]) ++same;
  EXPECT_TRUE(same == out.size() && same == model.granules.size())
      << "seed " << p.seed << ": " << same << " granules equal, " << out.size() << " sent, "
      << model.granules.size() << " expected";
  return o;
}

TEST(ClusterRandom, ValuesEqualThePipelineModel) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) run(random_program(seed), true, true);
}

TEST(ClusterRandom, TheHoleComputesWhatThePipelineComputes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Outcome o = run(hole_program(seed), true, true);
    EXPECT_EQ(o.hits, 1u) << seed;
  }
}

TEST(ClusterRandom, SleepingChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Program p = random_program(seed);
    const Outcome lazy = run(p, true, false), eager = run(p, false, false), probed = run(p, false, true);
    for (const Outcome* other : {&eager, &probed}) {
      ASSERT_EQ(lazy.accepted, other->accepted);
      ASSERT_EQ(lazy.seen.size(), other->seen.size());
      for (std::size_t i = 0; i < lazy.seen.size(); ++i) {
        ASSERT_EQ(lazy.seen[i].out, other->seen[i].out);
        ASSERT_EQ(lazy.seen[i].taken, other->seen[i].taken);
        ASSERT_EQ(lazy.seen[i].flit, other->seen[i].flit);
      }
      ASSERT_EQ(lazy.hashes, other->hashes);
    }
  }
}

}  // namespace
}  // namespace ktpu::test
