// SPDX-License-Identifier: Apache-2.0
// Random legal programs (cluster.md section 15) on the eight clusters: fills of both operands into
// alternating banks, sweeps that load, add and emit, drains to memory, to the next cluster's L1 and to its
// tiles, several kicks a round, any DRAM numbers. They end, and idle skip and probes change nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "apps/ktpu-check/instructions.h"
#include "tests/golden/run_events.h"

namespace ktpu::check {
namespace {

using arch::ClusterInst;

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed), machine_(shipped_machine("reference_mesh8")) {
    for (const topo::Node& node : machine_.meshes.front().nodes)
      if (node.kind() == topo::Kind::kMatmulCluster) clusters_.push_back(node.at);
    topo::DramSimple& dram = machine_.meshes.front().dram->simple;
    if (chance(2)) return;  // else the recorded numbers
    dram.first_read_beat = upto(1, 60);
    for (unsigned i = upto(0, 3); i != 0; --i) dram.read_gaps.push_back(upto(0, 4));
    dram.first_write_beat = upto(1, 9);
    for (unsigned i = upto(0, 3); i != 0; --i) dram.write_gaps.push_back(upto(0, 4));
    dram.write_response = upto(1, 30);
  }

  const topo::Machine& machine() const { return machine_; }

  arch::Program program() {
    arch::Program p;
    arch::ImageBytes noise;
    for (unsigned i = 0; i < 1 << 16; ++i) noise.data.push_back(static_cast<std::uint8_t>(random_()));
    noise.size = 1 << 20;
    p.images.push_back({0, {0, noise}});
    for (unsigned round = upto(1, 3); round != 0; --round) add_round(p);
    return p;
  }

 private:
  static constexpr std::uint64_t kResults = 0x200000;
  static constexpr unsigned kSlots = 128, kCredit = 512;
  static constexpr unsigned kPeerTile = 1000;  // first tile of what a neighbour adds

  std::uint32_t upto(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }
  bool chance(std::uint32_t n) { return random_() % n == 0; }
  std::uint64_t operand() { return std::uint64_t{upto(0, 0x7FF)} * 256; }

  void add_round(arch::Program& p) {
    std::vector<arch::Flit> staged;
    std::vector<arch::StepKick> kicks;
    std::vector<unsigned> counts(clusters_.size(), 0);
    // A cluster may start a sweep or receive sums (section 15, rule 7): in a round with sums, every other
    // one.
    sums_ = chance(3);
    for (unsigned k = upto(1, 10); k != 0; --k) {
      unsigned c = upto(0, static_cast<unsigned>(clusters_.size()) - 1);
      if (sums_) c &= ~1u;
      const auto list = job(c);
      const auto flits = instruction_flits(list, clusters_[c], {});
      if (staged.size() + flits.size() > kSlots) break;
      counts[(c + 1) % clusters_.size()] += acknowledges(list.back());
      kicks.push_back({clusters_[c], static_cast<std::uint32_t>(staged.size()),
                       static_cast<std::uint32_t>(flits.size())});
      counts[c] += static_cast<unsigned>(flits.size());
      staged.insert(staged.end(), flits.begin(), flits.end());
    }
    std::shuffle(kicks.begin(), kicks.end(), random_);
    arch::StepBaseline baseline;
    for (const arch::Coord at : clusters_) baseline.nodes.push_back(at);
    p.steps.push_back({0, arch::StepRound{}});
    p.steps.push_back({0, baseline});
    p.steps.push_back({0, arch::StepStage{0, staged}});
    // A kick returns one credit less than it takes, and there are at most ten.
    p.steps.push_back({0, arch::StepCredit{chance(3) ? upto(11, 16) : kCredit}});
    for (const arch::StepKick& kick : kicks) p.steps.push_back({0, kick});
    for (unsigned c = 0; c < clusters_.size(); ++c)
      if (counts[c] != 0) p.steps.push_back({0, arch::StepAwait{clusters_[c], counts[c]}});
    p.steps.push_back({0, arch::StepQuiet{256}});  // a drain's writes must land before the next round reads
  }

  // One result: chunks of K into alternating banks, then one or two drains. Every program starts with bank 0
  // after a drain, so no fill meets a running sweep.
  std::vector<ClusterInst> job(unsigned c) {
    std::vector<ClusterInst> list;
    const unsigned gm = upto(1, 6), gn = upto(1, 6), chunks = upto(1, 3);
    const std::uint64_t to = kResults + std::uint64_t{c} * 0x20000 + std::uint64_t{upto(0, 15)} * 0x1000;
    bool fused = false;
    for (unsigned i = 0; i < chunks; ++i) {
      const unsigned nk = upto(1, 4), bank = i % 2;
      append_fills(list, arch::Side::kA, operand(), gm * nk, bank, chance(4), upto(8, 128));
      append_fills(list, arch::Side::kB, operand(), gn * nk, bank, chance(4), upto(8, 128));
      ClusterInst sweep = gemm(gm, gn, nk);
      sweep.abank = sweep.bbank = bank;
      sweep.acc = i != 0;
      if (i + 1 == chunks && chance(2) && (sweep.acc || nk > 1)) {
        fused = true;
        sweep.emit = 1;
        sweep.addr = to;
      }
      list.push_back(sweep);
    }
    list.push_back(drain(gm * gn, to));
    list.back().fuse = fused;
    if (chance(3)) list.push_back(to_neighbour(c, gm * gn));
    return list;
  }

  // One sender per receiver: FP16 results as operand words into entries that no sweep reads, or sub-tiles
  // added to tiles that no sweep uses (and none has loaded: they start at zero). Some ask for an acknowledge
  // a burst, sent to the agent.
  ClusterInst to_neighbour(unsigned c, unsigned tiles) {
    ClusterInst inst = sums_ ? drain(tiles, std::uint64_t{2 * kPeerTile} * 32)
                             : drain(std::max(4u, tiles / 4 * 4), std::uint64_t{4 * (192 + 256)} * 32);
    const arch::Coord next = clusters_[(c + 1) % clusters_.size()];
    inst.dnode = 1;
    inst.dst_x = next.x;
    inst.dst_y = next.y;
    inst.dbuf = sums_ ? 2 : upto(0, 1);
    if (chance(2)) {
      inst.dflags = 1;
      inst.dack_x = machine_.meshes.front().ports.front().x;
      inst.dack_y = machine_.meshes.front().ports.front().y;
    }
    return inst;
  }
  static unsigned acknowledges(const ClusterInst& inst) {
    if (!inst.dnode || inst.dflags == 0) return 0;
    const unsigned granules = inst.dbuf == 2 ? 2 * inst.n : inst.n;
    return (granules + 7) / 8;
  }

  std::mt19937 random_;
  topo::Machine machine_;
  std::vector<arch::Coord> clusters_;
  bool sums_ = false;  // of the round being made
};

TEST(RandomPrograms, EndAndDoNotDependOnObservation) {
  const char* seeds = std::getenv("KTPU_TEST_SEEDS");
  const std::uint32_t count = seeds != nullptr ? static_cast<std::uint32_t>(std::atoi(seeds)) : 10;
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    Generator generator(seed);
    const arch::Program program = generator.program();
    const std::string plain = run_events(generator.machine(), program, Watch::kOutside, true);
    const std::string every_cycle = run_events(generator.machine(), program, Watch::kOutside, false);
    const std::string watched = run_events(generator.machine(), program, Watch::kInside, true);
    // The generator drains tiles that nothing loaded: the model's zeros.
    expect_no_findings(plain, program, fmt::format("seed {}", seed), "tile-unloaded");
    EXPECT_TRUE(plain == every_cycle)
        << "seed " << seed << " idle skip: " << first_difference(plain, every_cycle);
    EXPECT_TRUE(plain == watched) << "seed " << seed << " probes: " << first_difference(plain, watched);
  }
  std::printf("seeds 1..%u\n", count);
}

}  // namespace
}  // namespace ktpu::check
