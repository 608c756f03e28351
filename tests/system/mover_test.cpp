// SPDX-License-Identifier: Apache-2.0
// The memory mover in whole machines (memory.md section 10): a host program runs each of its modes, what lies
// in memory then is compared with plain loops, and a matmul uses what was moved.
#include <algorithm>
#include <numeric>
#include <random>

#include "arch/formats/philox.h"
#include "tests/system/run.h"
#include "tlm/platform/checkpoint.h"

namespace ktpu::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kWord = 32;

enum Mode : unsigned { kCopy = 0, kGather = 2, kGenerate = 3, kFill = 4 };

struct Dim {
  unsigned count;
  std::int64_t stride;  // bytes
  unsigned axis = 0;    // 0 none
  int step = 0;
};
struct Walk {
  std::uint64_t base;
  std::vector<Dim> dims;  // the last one is the fastest
  int first[2] = {0, 0};  // of axis 1 and 2
  unsigned extent[2] = {0, 0};
};
struct Move {
  Mode mode = kCopy;
  Walk from, to;
  bool coalesce = true;
  unsigned cap = 0, width = 1;
  std::uint32_t immediate = 0;
  std::uint64_t seed = 0;
  std::uint64_t index_at = 0;
  std::vector<std::uint32_t> indices = {};
  std::uint32_t pitch = 0, row_words = 1;
};

// --- As a program writes it.

std::string walk_text(const Walk& walk, unsigned destination) {
  std::string text = fmt::format("write MOVER_BASE = {:#x}\n",
                                 destination | walk.base << 4 | std::uint64_t{walk.dims.size()} << 44);
  for (std::size_t d = 0; d < walk.dims.size(); ++d) {
    const Dim& dim = walk.dims[d];
    text += fmt::format("write MOVER_DIMENSION = {:#x}\nwrite MOVER_AXIS = {:#x}\n",
                        destination | d << 1 | std::uint64_t{dim.count} << 4 |
                            (static_cast<std::uint64_t>(dim.stride) & 0xFFFFFFFF) << 20,
                        dim.axis | (static_cast<unsigned>(dim.step) & 0xFFFF) << 2);
  }
  for (unsigned a = 0; a < 2; ++a)
    text += fmt::format("write MOVER_EXTENT = {:#x}\n",
                        destination | a << 1 | (static_cast<std::uint64_t>(walk.first[a]) & 0xFFFF) << 2 |
                            std::uint64_t{walk.extent[a]} << 18);
  return text;
}

// The move, and the wait until `done` moves are complete and none failed. The reference counts a short fill
// before it has written it (memory.md section 10.4), so quiet cycles follow.
std::string move_text(const Move& move, unsigned done) {
  std::string text = walk_text(move.from, 0) + walk_text(move.to, 1);
  text += fmt::format("write MOVER_INDEX = {:#x}\nwrite MOVER_GATHER = {:#x}\n",
                      move.index_at | std::uint64_t{move.indices.size()} << 40,
                      move.pitch | std::uint64_t{move.row_words} << 32);
  text +=
      fmt::format("write MOVER_SEED = {:#x}\nwrite MOVER_IMMEDIATE = {:#x}\nwrite MOVER_CONTROL = {:#x}\n",
                  move.seed, move.immediate,
                  move.mode | move.width << 3 | unsigned{move.coalesce} << 11 | move.cap << 13 | 1u << 16);
  return text +
         fmt::format("poll AUX_STAT & 0xffffff00000000f1 == {:#x}\nquiet 64\n", std::uint64_t{done} << 40);
}

std::string image_text(std::uint64_t at, const Bytes& bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return fmt::format("image {:#x} bytes {{ {} }}\n", at, hex);
}
Bytes index_bytes(const std::vector<std::uint32_t>& indices) {
  Bytes bytes;
  for (const std::uint32_t index : indices)
    for (unsigned k = 0; k < 4; ++k) bytes.push_back(static_cast<std::uint8_t>(index >> 8 * k));
  bytes.resize((bytes.size() + kWord - 1) / kWord * kWord);
  return bytes;
}

// --- As plain loops over bytes of memory from `origin` on.

struct Memory {
  std::uint64_t origin;
  Bytes bytes;
  std::uint8_t* at(std::uint64_t address) { return bytes.data() + (address - origin); }
};

std::vector<std::size_t> position(const Walk& walk, std::uint64_t element) {
  std::vector<std::size_t> at(walk.dims.size());
  for (std::size_t d = at.size(); d-- > 0;) {
    at[d] = element % walk.dims[d].count;
    element /= walk.dims[d].count;
  }
  return at;
}
std::uint64_t elements(const Walk& walk) {
  std::uint64_t n = 1;
  for (const Dim& dim : walk.dims) n *= dim.count;
  return n;
}
std::uint64_t address(const Walk& walk, std::uint64_t element) {
  std::uint64_t a = walk.base;
  const auto at = position(walk, element);
  for (std::size_t d = 0; d < at.size(); ++d) a += at[d] * static_cast<std::uint64_t>(walk.dims[d].stride);
  return a;
}
bool inside(const Walk& walk, std::uint64_t element) {
  const auto at = position(walk, element);
  for (unsigned a = 0; a < 2; ++a) {
    if (walk.extent[a] == 0) continue;
    int where = walk.first[a];
    for (std::size_t d = 0; d < at.size(); ++d)
      if (walk.dims[d].axis == a + 1) where += static_cast<int>(at[d]) * walk.dims[d].step;
    if (where < 0 || where >= static_cast<int>(walk.extent[a])) return false;
  }
  return true;
}
void carry_out(const Move& move, Memory& memory) {
  for (std::uint64_t e = 0; e < elements(move.to); ++e) {
    if (!inside(move.to, e)) continue;
    const std::uint64_t to = address(move.to, e);
    Bytes word(kWord);
    const std::uint64_t source = std::min(e, elements(move.from) - 1);
    if (move.mode == kGenerate) {
      const auto generated = arch::generated_word(move.seed, to);
      for (unsigned k = 0; k < kWord; ++k)
        word[k] = static_cast<std::uint8_t>(generated[k / 8] >> 8 * (k % 8));
    } else if (move.mode == kGather) {
      const std::uint64_t from = move.from.base +
                                 std::uint64_t{move.indices[e / move.row_words]} * move.pitch +
                                 kWord * (e % move.row_words);
      std::copy_n(memory.at(from), kWord, word.begin());
    } else if (move.mode == kCopy && inside(move.from, source)) {
      std::copy_n(memory.at(address(move.from, source)), kWord, word.begin());
    } else {
      for (unsigned k = 0; k < kWord; ++k)
        word[k] = static_cast<std::uint8_t>(move.immediate >> 8 * (k % (1u << move.width)));
    }
    std::copy(word.begin(), word.end(), memory.at(to));
  }
}

// --- The job: moves of every kind, then C = A B^T of operands that went through the mover.

constexpr std::uint64_t kA = 0x0, kB = 0x2000, kTurned = 0x10000, kScattered = 0x14000, kMovedA = 0x18000,
                        kMovedB = 0x1C000, kC = 0x20000, kIndex = 0x28000, kBack = 0x28800,
                        kScratch = 0x30000, kBytes = 0x50000;
constexpr unsigned kEntries = 32, kEntryWords = 8;

struct Job {
  std::string text;  // without the machine's head
  Memory memory;     // afterwards, but for C
};

Job job(std::uint64_t base, arch::Coord cluster, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> forth(kEntries), back(kEntries);
  std::iota(forth.begin(), forth.end(), 0u);
  std::shuffle(forth.begin(), forth.end(), random);
  for (std::uint32_t i = 0; i < kEntries; ++i) back[forth[i]] = i;

  std::vector<Move> moves;
  const unsigned words = kEntries * kEntryWords;
  // Every word of A to the other end, and once more.
  const auto line = [&](std::uint64_t at) { return Walk{base + at, {{words, kWord}}}; };
  const auto reversed = [&](std::uint64_t at) {
    return Walk{base + at + (words - 1) * kWord, {{words, -static_cast<std::int64_t>(kWord)}}};
  };
  moves.push_back({kCopy, line(kA), reversed(kTurned)});
  moves.push_back({kCopy, reversed(kTurned), line(kMovedA), false});
  // Entries of B in another order, and back.
  Move gather{kGather, line(kB), line(kScattered)};
  gather.index_at = base + kIndex;
  gather.indices = forth;
  gather.pitch = kEntryWords * kWord;
  gather.row_words = kEntryWords;
  moves.push_back(gather);
  gather.from.base = base + kScattered;
  gather.to.base = base + kMovedB;
  gather.index_at = base + kBack;
  gather.indices = back;
  gather.cap = 3;
  moves.push_back(gather);
  // The others into the scratch.
  const std::uint64_t scratch = base + kScratch;
  moves.push_back({kCopy, {base + kA, {{16, 256}, {8, 32}}}, {scratch, {{16, 32}, {8, 512}}}});  // transpose
  Move padded{kCopy, {base + kB - 64, {{12, 32, 1, 1}}, {-2, 0}, {8, 0}}, {scratch + 0x2000, {{12, 32}}}};
  padded.immediate = 0x3C00;
  moves.push_back(padded);
  Move cropped{kCopy,
               {base + kA, {{6, 32}, {7, 256}}},
               {scratch + 0x3000, {{6, 0x400, 1, 1}, {7, 96, 2, -1}}, {-1, 4}, {4, 5}}};
  moves.push_back(cropped);
  for (const unsigned width : {0u, 1u, 2u}) {
    Move fill{kFill, line(0), {scratch + 0x6000 + 0x800 * width, {{8 + width, 64}}}};
    fill.width = width;
    fill.immediate = 0xC3B2A190;
    fill.coalesce = width != 1;
    moves.push_back(fill);
  }
  Move generate{kGenerate, line(0), {scratch + 0x8000, {{3, 0x200}, {5, 32}}}};
  generate.seed = 0x0123456789ABCDEF ^ std::uint64_t{seed};
  moves.push_back(generate);
  moves.push_back({kCopy, {base + kB, {{1, 0}}}, {scratch + 0xA000, {{2, 64}, {3, 4096}}}});  // broadcast
  Move deep{kCopy, {base + kA, {{2, 0x1000}, {2, 0x800}, {2, 0x400}, {2, 0x200}, {2, 0x100}, {2, 0x20}}}, {}};
  deep.to = {scratch + 0x10000, {{2, 0x20}, {2, 0x40}, {2, 0x80}, {2, 0x100}, {2, 0x200}, {2, 0x400}}};
  deep.cap = 1;
  moves.push_back(deep);

  Job result;
  result.memory = {base, Bytes(kBytes)};
  const auto put = [&](std::uint64_t at, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), result.memory.at(base + at));
  };
  put(kA, plain::to_entries(plain::lcg(32 * 128, 139, 10), 32, 128, 8, 4));
  put(kB, plain::to_entries(plain::lcg(32 * 128, 151, 10), 32, 128, 8, 4));
  put(kIndex, index_bytes(forth));
  put(kBack, index_bytes(back));
  result.text = fmt::format(
      "image {:#x} tensor [32,128] layout=entry:8x4 seed=139 shift=10\n"
      "image {:#x} tensor [32,128] layout=entry:8x4 seed=151 shift=10\n",
      base + kA, base + kB);
  result.text += image_text(base + kIndex, index_bytes(forth)) + image_text(base + kBack, index_bytes(back));
  unsigned done = 0;
  for (const Move& move : moves) {
    result.text += move_text(move, ++done);
    carry_out(move, result.memory);
  }
  const std::string node = fmt::format("({},{})", cluster.x, cluster.y);
  result.text += fmt::format(
      "round \"matmul\"\nbaseline {0}\nstage 0 {{\nfill a n=32 from={1:#x}\nfill b n=32 from={2:#x}\n"
      "gemm gm=8 gn=8 nk=4\ndrain n=64 to={3:#x} last\n}}\ncredit 32\nkick {0} slots=0..3\nawait {0} "
      "4\nquiet 256\n",
      node, base + kMovedA, base + kMovedB, base + kC);
  return result;
}

struct Machine {
  const char* name;
  std::uint64_t base;
  arch::Coord cluster;
  topo::Overrides sets = {};
};
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }

class MoverRun {
 public:
  MoverRun(const std::string& machine, const std::string& text, const topo::Overrides& sets = {})
      : program_(arch::assemble(text, "mover.kasm")) {
    platform::Registry models;
    platform::register_models(models);
    system_ = std::make_unique<platform::System>(topo::read_file(machine, sets), models);
    registry_.add(system_->timeline());
    runner_ =
        std::make_unique<platform::Runner>(*system_, &program_, platform::RunLimits{5'000'000, 100'000});
  }
  platform::System& system() { return *system_; }
  std::uint64_t counter(const std::string& name) {
    system_->timeline().sync();
    return registry_.at(name).read();
  }
  platform::Runner& runner() { return *runner_; }
  const platform::RunResult& finish() { return runner_->run(); }
  Bytes read(std::uint64_t address, std::uint64_t bytes) {
    return platform::read_memory(system_->mesh(), address, bytes);
  }

 private:
  arch::Program program_;
  std::unique_ptr<platform::System> system_;
  observe::Registry registry_;
  std::unique_ptr<platform::Runner> runner_;
};

class Mover : public testing::TestWithParam<Machine> {
 protected:
  void expect_right(MoverRun& run, const Job& job) {
    const Machine& machine = GetParam();
    const plain::Halves a = plain::lcg(32 * 128, 139, 10), b = plain::lcg(32 * 128, 151, 10);
    EXPECT_EQ(plain::from_tiles(run.read(machine.base + kC, 32 * 32 * 2), 1, 1, 8, 8),
              plain::matmul(a, b, 32, 32, 128));
    const Bytes got = run.read(machine.base, kBytes);
    for (std::uint64_t at = 0; at < kBytes; at += kWord) {
      if (at >= kC && at < kC + 32 * 32 * 2) continue;
      ASSERT_TRUE(std::equal(got.begin() + static_cast<std::ptrdiff_t>(at),
                             got.begin() + static_cast<std::ptrdiff_t>(at + kWord),
                             job.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at)))
          << fmt::format("word at {:#x}", machine.base + at);
    }
  }
};

TEST_P(Mover, EveryModeAndAMatmulOfWhatWasMoved) {
  const Machine& machine = GetParam();
  for (const unsigned seed : {1u, 2u}) {
    const Job work = job(machine.base, machine.cluster, seed);
    MoverRun run(machine.name, work.text, machine.sets);
    const platform::RunResult& result = run.finish();
    ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
    expect_right(run, work);
    if (HasFailure()) return;
  }
}

TEST_P(Mover, ACheckpointInTheMiddleChangesNothing) {
  const Machine& machine = GetParam();
  const auto seed = static_cast<unsigned>(std::random_device{}());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const Job work = job(machine.base, machine.cluster, 3);
  MoverRun whole(machine.name, work.text, machine.sets);
  const sim::Cycle end = whole.finish().cycles;
  const std::uint64_t digest = platform::state_digest(whole.system());
  for (unsigned round = 0; round < 8; ++round) {
    const sim::Cycle k = random() % end;
    MoverRun first(machine.name, work.text, machine.sets), second(machine.name, work.text, machine.sets);
    ASSERT_FALSE(first.runner().run_until(k));
    platform::restore_state(second.system(), second.runner(),
                            platform::save_state(first.system(), first.runner()));
    EXPECT_EQ(second.finish().cycles, end) << "restored at " << k;
    EXPECT_EQ(platform::state_digest(second.system()), digest) << "restored at " << k;
    expect_right(second, work);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Mover,
                         testing::Values(Machine{"reference_small", 0, {2, 1}},
                                         Machine{"mesh8", 0x80000000, {1, 1}}, Machine{"quad", 0, {1, 1}},
                                         Machine{"reference_mesh8", 0, {1, 1}}),
                         [](const auto& machine) { return std::string(machine.param.name); });

// Quantised operands from staging memory to DRAM, from there to another place in staging memory, and a matmul
// that fills from there.
TEST(MoverStaging, OperandsInStagingMemoryAreMovedAndUsed) {
  std::ifstream file(std::string(KTPU_SOURCE_DIR) + "/examples/matmul_32x32x128_staged.kasm");
  std::stringstream buffer;
  buffer << file.rdbuf();
  std::string text = buffer.str();
  const std::uint64_t staging = 0x8000000000, there = staging + 0x12340 * 0x10;
  constexpr unsigned kWords = 2 * 32 * 128 / 32;  // 32 entries of 128 bytes each of A and B
  Move out{kCopy, {staging, {{kWords, 32}}}, {0x80100000, {{kWords, 32}}}};
  Move in{kCopy,
          {0x80100000, {{kWords / 4, 32}, {4, kWords / 4 * 32}}},
          {there, {{kWords / 4, 32}, {4, kWords / 4 * 32}}}};
  const std::size_t at = text.find("round \"");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, move_text(out, 1) + move_text(in, 2));
  const auto replace = [&](const std::string& what, const std::string& with) {
    const std::size_t found = text.find(what, at);
    ASSERT_NE(found, std::string::npos) << what;
    text.replace(found, what.size(), with);
  };
  replace("fill a from=0x8000000000", fmt::format("fill a from={:#x}", there));
  replace("fill b from=0x8000001000", fmt::format("fill b from={:#x}", there + 0x1000));
  const std::size_t memory = text.find("0x80000000..0x80000800");
  ASSERT_NE(memory, std::string::npos);
  text.replace(memory, 22, "0x80000000..0x80110000");
  for (const char* adapters : {"as shipped", "none"}) {
    topo::Overrides sets;
    if (std::string(adapters) == "none")
      sets = {
          "meshes.0.units.mat={kind: matmul_cluster, tiles: 4096, l1_a: 512, l1_b: 512, inst_depth: 512, "
          "recv_depth: 512}"};
    MoverRun run("staged", text, sets);
    const platform::RunResult& result = run.finish();
    ASSERT_EQ(result.status, arch::ExitStatus::kOk) << adapters << ": " << result.message;
    EXPECT_EQ(plain::from_tiles(run.read(0x80000000, 32 * 32 * 2), 1, 1, 8, 8),
              expected(example("matmul_32x32x128_staged")))
        << adapters;
  }
}

// memory.md 10.1: the burst cap of the flags, with both widths of the DRAM bus. Reads and coalesced writes
// come in bursts of at most the cap, other writes one word at a time; what lies in memory is the same.
TEST(MoverCap, BurstsAreAtMostTheCapOnBothBuses) {
  constexpr unsigned kWords = 50;
  for (const char* bus : {"256", "512"})
    for (unsigned code = 0; code < 8; ++code)
      for (const bool coalesce : {false, true}) {
        Move copy{kCopy, {0x80001000, {{kWords, 32}}}, {0x80008000, {{kWords, 32}}}, coalesce, code};
        MoverRun run("mesh8", "image 0x80001000 tensor [50,16] layout=flat seed=7\n" + move_text(copy, 1),
                     {fmt::format("meshes.0.dram.bus_bits={}", bus)});
        const platform::RunResult& result = run.finish();
        ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
        const unsigned cap = code == 0 ? 128 : 1u << (code - 1);
        const unsigned bursts = (kWords + cap - 1) / cap;
        SCOPED_TRACE(fmt::format("bus {} cap {} coalesce {}", bus, cap, coalesce));
        EXPECT_EQ(run.counter("memory.dram_path.read_bursts"), bursts);
        EXPECT_EQ(run.counter("memory.dram_path.write_bursts"), coalesce ? bursts : kWords);
        EXPECT_EQ(run.read(0x80008000, kWords * kWord), run.read(0x80001000, kWords * kWord));
      }
}

// --- To another mesh (memory.md section 11).

constexpr std::uint64_t kMesh1 = std::uint64_t{1} << 36, kFar = 0x8000;
constexpr const char* kRingMesh1 =
    "write AUX_CFG_INTERLINK[2] = 0x501\npoll AUX_STATW[2] & 0xffffffff == 1 mesh=1\n";
const topo::Overrides kSlowFarMemory{"meshes.1.dram.first_write_beat=300"};

Bytes far_bytes(MoverRun& run, std::uint64_t bytes) {
  return platform::read_memory(run.system().mesh(1), kFar, bytes);
}
// What lies in mesh 1 in the cycle in which the doorbell has been counted there, and at the end.
std::pair<Bytes, Bytes> at_the_doorbell(MoverRun& run, std::uint64_t bytes) {
  sim::Cycle now = 0;
  while (run.counter("m1.memory.interlink.ingress.doorbells") == 0)
    if (run.runner().run_until(++now)) return {};
  const Bytes then = far_bytes(run, bytes);
  EXPECT_EQ(run.finish().status, arch::ExitStatus::kOk) << run.runner().result().message;
  return {then, far_bytes(run, bytes)};
}
std::string remote_move(unsigned words) {
  return "machine \"quad\" meshes=2\nimage 0x1000 tensor [40,16] layout=flat seed=7\n" +
         move_text({kCopy, {0x1000, {{words, 32}}}, {kMesh1 + kFar, {{words, 32}}}}, 1);
}

// X7: a doorbell is behind every write of the mover...
TEST(MoverRemote, Rule11_7X7ADoorbellIsBehindTheMoversWrites) {
  for (const unsigned words : {1u, 8u, 9u, 40u}) {
    MoverRun run("quad", remote_move(words) + kRingMesh1, kSlowFarMemory);
    const auto [then, end] = at_the_doorbell(run, words * kWord);
    EXPECT_EQ(then, platform::read_memory(run.system().mesh(0), 0x1000, words * kWord)) << words;
    EXPECT_EQ(then, end) << words;
  }
}

// ...and of nothing else: a cluster's drain into the far memory travels as flits, which it passes.
TEST(MoverRemote, Rule11_7X7ADoorbellPassesWritesThatTravelAsFlits) {
  MoverRun run(
      "quad",
      "machine \"quad\" meshes=2\nimage 0 tensor [32,128] layout=entry:8x4 seed=139 shift=10\n"
      "image 0x2000 tensor [32,128] layout=entry:8x4 seed=151 shift=10\nround \"r\"\nbaseline (1,1)\n"
      "stage 0 {\nfill a n=2 from=0x0\nfill b n=4 from=0x2000\ngemm gm=2 gn=4 nk=1\n" +
          fmt::format("drain n=8 to={:#x} dmesh=1 dfin=(0,1) last\n}}\n", kMesh1 + kFar) +
          "credit 8\nkick (1,1) slots=0..3\nawait (1,1) 4\n" + kRingMesh1 + "quiet 1000\nquiet 1000 mesh=1\n",
      kSlowFarMemory);
  const auto [then, end] = at_the_doorbell(run, 8 * 32);
  EXPECT_EQ(then, Bytes(8 * 32)) << "nothing had landed yet";
  EXPECT_NE(end, Bytes(8 * 32));
}

TEST(MoverRemote, ACheckpointOnTheWayChangesNothing) {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const std::string text = remote_move(40) + kRingMesh1;
  MoverRun whole("quad", text, kSlowFarMemory);
  const sim::Cycle end = whole.finish().cycles;
  const std::uint64_t digest = platform::state_digest(whole.system());
  for (unsigned round = 0; round < 12; ++round) {
    const sim::Cycle k = random() % end;
    MoverRun first("quad", text, kSlowFarMemory), second("quad", text, kSlowFarMemory);
    ASSERT_FALSE(first.runner().run_until(k));
    second.runner().run_until(random() % end);
    platform::restore_state(second.system(), second.runner(),
                            platform::save_state(first.system(), first.runner()));
    for (unsigned step = 1; step <= 60 && k + step < end; ++step) {
      first.runner().run_until(k + step);
      second.runner().run_until(k + step);
      ASSERT_EQ(platform::state_digest(second.system()), platform::state_digest(first.system()))
          << "restored at " << k << ", after " << step;
    }
    EXPECT_EQ(second.finish().cycles, end) << "restored at " << k;
    EXPECT_EQ(platform::state_digest(second.system()), digest) << "restored at " << k;
  }
}

// memory.md 10.4 and 11.6: first and last write beat after the first read beat, one read run. An interlink
// that is built puts a split into the way of the write address: one cycle more for each uncoalesced word, one
// in all for bursts. Idle or not, enabled or not.
TEST(MoverSplit, AnIdleInterlinkKeepsItsCycle) {
  for (const unsigned n : {1u, 2u, 9u, 40u})
    for (const bool coalesce : {false, true})
      for (const char* interlink : {"absent", "alone", "built", "disabled"}) {
        Move copy{kCopy, {0x1000, {{n, 32}}}, {0x9000, {{n, 32}}}, coalesce};
        const bool built = std::string(interlink) != "absent";
        std::string text = std::string(interlink) == "disabled" ? "write AUX_CFG_INTERLINK[0] = 0\n" : "";
        const bool alone = std::string(interlink) == "alone";  // no mesh to be joined with
        MoverRun run(built && !alone ? "quad" : "mesh1", text + move_text(copy, 1),
                     alone ? topo::Overrides{"meshes.0.interlink=idle"} : topo::Overrides{});
        const platform::RunResult& result = run.finish();
        ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
        const sim::Cycle first_read = *result.last_read_beat - (n - 1);
        // A burst cannot start before its first word can be read.
        const sim::Cycle last_write = coalesce ? std::max(26u, 23 + n) + built + n - 1
                                      : built  ? 27 + 8 * (n - 1)
                                               : 26 + 7 * (n - 1);
        EXPECT_EQ(*result.last_write_beat - first_read, last_write)
            << n << " words, " << (coalesce ? "coalesced" : "one by one") << ", interlink " << interlink;
      }
}

}  // namespace
}  // namespace ktpu::test
