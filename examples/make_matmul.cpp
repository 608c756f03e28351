// SPDX-License-Identifier: Apache-2.0
// Writes the program text of C[M,N] = A[M,K] B[N,K]^T on the matmul clusters of a machine: one instance of
// 4*gm x 4*gn results at a time on each cluster, K in chunks of 32*nk that alternate between the two L1
// banks. The examples beside this file show what comes out.
#include <CLI/CLI.hpp>
#include <cstring>
#include <iostream>

#include "arch/encoding/address_map.h"
#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/text.h"
#include "arch/error.h"
#include "arch/formats/quantise.h"
#include "arch/program/image.h"
#include "arch/program/text.h"

namespace {

using namespace ktpu::arch;

struct Job {
  std::string machine = "mesh1";
  std::vector<std::string> clusters{"(1,1)"};
  std::uint32_t m = 32, n = 32, k = 128;  // of the matmul
  std::uint32_t gm = 8, gn = 8, nk = 4;   // of an instance: groups of 4 rows, of 4 columns, blocks of 32
  std::uint64_t base = 0;                 // A; B and C follow
  std::uint32_t staging = 128, credit = 512;
  std::uint32_t fill = 128;  // most entries a FILL
  bool fused = false;
  bool staged = false;
};

constexpr std::uint32_t kTxn = 0x40;
constexpr std::uint64_t kAlign = 0x1000;
constexpr std::uint64_t kStaging = std::uint64_t{1} << address::kSpecial.lsb;  // of mesh 0

std::uint32_t up(std::uint32_t v, std::uint32_t to) { return (v + to - 1) / to; }

struct Cluster {
  Coord at;
  std::vector<std::vector<ClusterInst>> programs;  // one per instance
  std::uint32_t sweeps = 0;                        // parity = L1 bank
};

class Maker {
 public:
  explicit Maker(const Job& job) : j_(job) {
    for (const std::string& text : j_.clusters) {
      Coord c;
      if (!parse_coord(text, c)) throw UserError::make("--clusters: \"{}\" is no coordinate (x,y)", text);
      clusters_.push_back({c, {}, 0});
    }
    if (j_.gm * j_.nk > 256 || j_.gn * j_.nk > 256)
      throw UserError("a chunk of gm*nk or gn*nk entries must fit one L1 bank of 256");
    instances_m_ = up(j_.m, 4 * j_.gm);
    instances_n_ = up(j_.n, 4 * j_.gn);
    chunks_ = up(j_.k, 32 * j_.nk);
    entry_bytes_ = j_.staged ? address::kEntryBytesMxfp7 : address::kEntryBytesFp16;
    const std::uint64_t a_bytes = std::uint64_t{instances_m_} * chunks_ * j_.gm * j_.nk * entry_bytes_;
    const std::uint64_t b_bytes = std::uint64_t{instances_n_} * chunks_ * j_.gn * j_.nk * entry_bytes_;
    a_ = j_.staged ? kStaging : j_.base;
    b_ = (a_ + a_bytes + kAlign - 1) / kAlign * kAlign;
    c_ = j_.staged ? j_.base : (b_ + b_bytes + kAlign - 1) / kAlign * kAlign;
    if (j_.staged && b_ + b_bytes > kStaging + address::kStagingBytes)
      throw UserError::make("the operands need {} bytes, the staging memory has {}", b_ + b_bytes - kStaging,
                            address::kStagingBytes);
  }

  Program run() {
    Program p;
    p.name = fmt::format("matmul {}x{}x{}{}", j_.m, j_.n, j_.k, j_.fused ? ", fused drain" : "");
    p.needs.machine = j_.machine;
    p.needs.staging_flits = j_.staging;
    for (const Cluster& c : clusters_)
      p.needs.units.push_back({0, c.at, "matmul_cluster", j_.gm * j_.gn, 512, 512, j_.credit});
    const std::uint64_t c_bytes =
        std::uint64_t{instances_m_} * instances_n_ * j_.gm * j_.gn * address::kSubTileBytes;
    p.needs.memory.push_back({0, j_.base, c_ + c_bytes});
    const std::string layout_a = fmt::format("entry:{}x{}", j_.gm, j_.nk),
                      layout_b = fmt::format("entry:{}x{}", j_.gn, j_.nk);
    const MemoryImage a{a_,
                        ImageTensor{{std::uint64_t{j_.m} * j_.k, 139, 10, 0, false}, {j_.m, j_.k}, layout_a}};
    const MemoryImage b{b_,
                        ImageTensor{{std::uint64_t{j_.n} * j_.k, 151, 10, 0, false}, {j_.n, j_.k}, layout_b}};
    if (j_.staged) {
      stage_operand(p, a, Side::kA);
      stage_operand(p, b, Side::kB);
    } else {
      p.images.push_back({0, a});
      p.images.push_back({0, b});
      p.inputs.push_back({"a", 0, a_, DType::kFp16, {j_.m, j_.k}, layout_a});
      p.inputs.push_back({"b", 0, b_, DType::kFp16, {j_.n, j_.k}, layout_b});
    }
    p.outputs.push_back({"c",
                         0,
                         c_,
                         DType::kFp16,
                         {j_.m, j_.n},
                         fmt::format("tile:{}x{}:{}x{}", instances_m_, instances_n_, j_.gm, j_.gn)});
    for (std::uint32_t i = 0; i < instances_m_ * instances_n_; ++i)
      instance(clusters_[i % clusters_.size()], i);
    rounds(p);
    return p;
  }

 private:
  // The host writes the operand, quantised already, through the memory window.
  static void stage_operand(Program& p, const MemoryImage& operand, Side side) {
    std::vector<std::uint8_t> bytes;
    generate(operand, [&](std::uint64_t, std::span<const std::uint8_t> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    });
    StepWindow step;
    step.address = operand.address;
    for (std::size_t at = 0; at + address::kEntryBytesFp16 <= bytes.size(); at += address::kEntryBytesFp16) {
      std::array<std::uint16_t, kLanes * kBlockK> halves;
      std::memcpy(halves.data(), &bytes[at], sizeof halves);
      const OperandEntry entry = quantise_entry(halves);
      for (unsigned w = 0; w < kEntryWords; ++w) {
        const Word256 word = operand_word(side, w, entry);
        const auto* first = reinterpret_cast<const std::uint8_t*>(word.data());
        step.data.data.insert(step.data.data.end(), first, first + sizeof word);
      }
    }
    p.steps.push_back({0, std::move(step)});
  }
  void fills(std::vector<ClusterInst>& program, std::uint64_t address, std::uint32_t entries, bool b,
             std::uint32_t bank) {
    for (std::uint32_t first = 0; first < entries; first += j_.fill) {
      ClusterInst f;
      f.op = 1;
      f.sel = b;
      f.addr = address + std::uint64_t{first} * entry_bytes_;
      f.preq = j_.staged;
      f.n = std::min(j_.fill, entries - first);
      f.eoff = first;
      f.fbank = bank;
      program.push_back(f);
    }
  }
  void instance(Cluster& c, std::uint32_t index) {
    const std::uint32_t row = index / instances_n_, column = index % instances_n_;
    const std::uint32_t a_entries = j_.gm * j_.nk, b_entries = j_.gn * j_.nk;
    const std::uint64_t result = c_ + std::uint64_t{index} * j_.gm * j_.gn * address::kSubTileBytes;
    std::vector<ClusterInst> program;
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::uint32_t bank = c.sweeps++ % 2;
      fills(program, a_ + std::uint64_t{row * chunks_ + chunk} * a_entries * entry_bytes_, a_entries, false,
            bank);
      fills(program, b_ + std::uint64_t{column * chunks_ + chunk} * b_entries * entry_bytes_, b_entries, true,
            bank);
      ClusterInst g;
      g.op = 2;
      g.acc = chunk > 0;
      g.gm = j_.gm;
      g.gn = j_.gn;
      g.nk = j_.nk;
      g.abank = g.bbank = bank;
      if (j_.fused && chunk + 1 == chunks_) {
        g.emit = 1;
        g.addr = result;
      }
      program.push_back(g);
    }
    ClusterInst d;
    d.op = 3;
    d.n = j_.gm * j_.gn;
    d.addr = result;
    d.fuse = j_.fused;
    program.push_back(d);
    c.programs.push_back(std::move(program));
  }
  // Rounds of one program a cluster, as many clusters as the staging RAM takes.
  void rounds(Program& p) {
    struct Part {
      const Cluster* cluster;
      const std::vector<ClusterInst>* program;
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; !clusters_.empty() && i < clusters_[0].programs.size(); ++i)
      for (const Cluster& c : clusters_)
        if (i < c.programs.size()) parts.push_back({&c, &c.programs[i]});
    for (std::size_t first = 0; first < parts.size();) {
      std::size_t last = first, slots = 0;
      while (last < parts.size() && slots + parts[last].program->size() <= j_.staging &&
             (last == first || parts[last].cluster->at != parts[first].cluster->at))
        slots += parts[last++].program->size();
      if (last == first)
        throw UserError::make("one program of {} flits exceeds the staging RAM",
                              parts[first].program->size());
      p.steps.push_back({0, StepRound{fmt::format("round {}", rounds_++)}});
      StepBaseline baseline;
      StepStage stage;
      for (std::size_t i = first; i < last; ++i) {
        baseline.nodes.push_back(parts[i].cluster->at);
        for (const ClusterInst& inst : *parts[i].program) {
          const bool end = &inst == &parts[i].program->back();
          stage.flits.push_back(make_flit(make_header({}, {}, FlitType::kCuInst, kTxn, end), inst));
        }
      }
      p.steps.push_back({0, std::move(baseline)});
      p.steps.push_back({0, std::move(stage)});
      p.steps.push_back({0, StepCredit{j_.credit}});
      std::uint32_t slot = 0;
      for (std::size_t i = first; i < last; ++i) {
        const auto count = static_cast<std::uint32_t>(parts[i].program->size());
        p.steps.push_back({0, StepKick{parts[i].cluster->at, slot, count}});
        slot += count;
      }
      for (std::size_t i = first; i < last; ++i)
        p.steps.push_back(
            {0, StepAwait{parts[i].cluster->at, static_cast<std::uint32_t>(parts[i].program->size())}});
      first = last;
    }
  }

  Job j_;
  std::vector<Cluster> clusters_;
  std::uint32_t instances_m_ = 1, instances_n_ = 1, chunks_ = 1, rounds_ = 0;
  std::uint64_t a_ = 0, b_ = 0, c_ = 0, entry_bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Prints the program text of a matmul C[M,N] = A[M,K] B[N,K]^T."};
  Job job;
  app.add_option("-m", job.m, "rows of A and C");
  app.add_option("-n", job.n, "rows of B, columns of C");
  app.add_option("-k", job.k, "columns of A and B");
  app.add_option("--gm", job.gm, "groups of 4 rows an instance");
  app.add_option("--gn", job.gn, "groups of 4 columns an instance");
  app.add_option("--nk", job.nk, "blocks of 32 along K a chunk");
  app.add_option("--machine", job.machine, "topology the program is for");
  app.add_option("--clusters", job.clusters, "coordinates (x,y) of the clusters, in order");
  app.add_option("--base", job.base, "address of A");
  app.add_option("--staging", job.staging, "staging slots");
  app.add_option("--credit", job.credit, "dispatch credit a round");
  app.add_option("--fill", job.fill, "most entries a FILL")->check(CLI::Range(1, 255));
  app.add_flag("--staged", job.staged, "the host puts quantised operands into the staging memory first");
  app.add_flag("--fused", job.fused, "results leave while the last sweep runs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  try {
    if (job.m == 0 || job.n == 0 || job.k == 0 || job.gm == 0 || job.gn == 0 || job.nk == 0)
      throw UserError("sizes are at least 1");
    std::string options;
    for (int i = 1; i < argc; ++i) options += fmt::format(" {}", argv[i]);
    std::cout << "# SPDX-License-Identifier: Apache-2.0\n# make_matmul" << options << "\n"
              << disassemble(Maker(job).run());
    return 0;
  } catch (const UserError& e) {
    fmt::print(stderr, "make_matmul: {}\n", e.what());
    return static_cast<int>(e.status());
  }
}
