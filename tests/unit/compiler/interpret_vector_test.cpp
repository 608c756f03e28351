// SPDX-License-Identifier: Apache-2.0
// Random vector kernels on the interpreter: without quirks as the straight-line witness, with the reference's
// as the model of the core. KTPU_LONG=1 runs 10^5 of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "apps/ktpu-check/vector_rig.h"
#include "arch/error.h"
#include "compiler/interpret/vector_core.h"
#include "tests/support/random_vector_kernel.h"
#include "tests/support/vector_isa.h"

namespace ktpu::test {
namespace {

using interpret::Word256;

class MapWires final : public interpret::Wires {
 public:
  std::map<std::uint64_t, Word256> memory;  // by byte address / 32

  void read(std::uint64_t address, std::span<std::uint8_t> out) override {
    const auto found = memory.find(address / 32);
    const Word256 word = found == memory.end() ? Word256{} : found->second;
    std::memcpy(out.data(), word.data(), out.size());
  }
  void write(std::uint64_t address, std::span<const std::uint8_t> bytes, interpret::Remote) override {
    std::memcpy(memory[address / 32].data(), bytes.data(), bytes.size());
  }
  void send(arch::Coord, interpret::Remote, const arch::CuDataDesc&, std::span<const Word256>) override {}
  void share(unsigned, const interpret::SharedEntry&) override {}
  void warn(const std::string&) override {}
};

struct Interpreted {
  explicit Interpreted(bool quirks, unsigned l1_words = 512)
      : core(facts(quirks, l1_words), interpret::Rounding::kHardware, counters) {}
  static interpret::UnitFacts facts(bool quirks, unsigned l1_words) {
    interpret::UnitFacts f;
    f.kind = interpret::UnitKind::kVectorCore;
    f.quirks = quirks;
    f.l1_words = l1_words;
    return f;
  }

  // The message of a fault, empty without one.
  std::string run(const RandomVectorKernel& kernel) {
    wires.memory = kernel.memory;
    arch::VectorInst inst;
    inst.op = static_cast<std::uint32_t>(arch::VectorOp::kImem);
    for (const std::uint32_t word : kernel.words) {
      inst.word = word;
      core.execute(inst, wires);
      ++inst.addr;
    }
    inst.op = static_cast<std::uint32_t>(arch::VectorOp::kDesc);
    for (unsigned d = 0; d < 8; ++d) {
      inst.ad = d;
      inst.fld = 0;
      inst.value = kernel.walks[d].base;
      core.execute(inst, wires);
      for (unsigned i = 0; i < 4; ++i) {
        inst.fld = i + 1;
        inst.value = (static_cast<std::uint64_t>(kernel.walks[d].stride[i]) & 0x3FFFF) << 16 |
                     kernel.walks[d].bound[i];
        core.execute(inst, wires);
      }
    }
    inst = {};
    inst.op = static_cast<std::uint32_t>(arch::VectorOp::kRun);
    try {
      core.execute(inst, wires);
    } catch (const arch::UserError& error) {
      return error.what();
    }
    return {};
  }

  interpret::Counters counters;
  MapWires wires;
  interpret::VectorCore core;
};

// The first difference in what a kernel leaves, in words.
template <typename Other>
std::string difference(const Interpreted& got, const Other& want) {
  for (unsigned r = 0; r < 16; ++r) {
    if (got.core.scalar(r) != want.scalar(r))
      return fmt::format("S{}: {:06x} instead of {:06x}", r, got.core.scalar(r), want.scalar(r));
    for (unsigned e = 0; e < 128; ++e)
      if (got.core.element(r, e) != want.element(r, e))
        return fmt::format("v{}[{}]: {:06x} instead of {:06x}", r, e, got.core.element(r, e),
                           want.element(r, e));
  }
  for (unsigned p = 0; p < 4; ++p)
    for (unsigned e = 0; e < 128; ++e)
      if (got.core.predicate(p, e) != want.predicate(p, e)) return fmt::format("P{}[{}]", p, e);
  for (unsigned w = 0; w < got.core.l1_words(); ++w)
    if (got.core.l1(w) != want.l1(w)) return fmt::format("L1 word {}", w);
  return got.wires.memory == want.memory() ? "" : "memory";
}

struct Witness {
  const VectorIsa& isa;
  std::uint32_t scalar(unsigned r) const { return isa.s[r]; }
  std::uint32_t element(unsigned r, unsigned e) const { return isa.v[r][e]; }
  bool predicate(unsigned p, unsigned e) const { return isa.p[p][e]; }
  const Word256& l1(unsigned w) const { return isa.l1[w]; }
  const std::map<std::uint64_t, Word256>& memory() const { return isa.memory; }
};

struct Model {
  check::VectorRig& rig;
  std::uint32_t scalar(unsigned r) const { return rig.core().scalar(r); }
  std::uint32_t element(unsigned r, unsigned e) const { return rig.core().element(r, e); }
  bool predicate(unsigned p, unsigned e) const {
    return (rig.core().predicate(p).bits[e / 64] >> (e % 64)) & 1;
  }
  Word256 l1(unsigned w) const { return rig.core().l1(w); }
  const std::map<std::uint64_t, Word256>& memory() const { return rig.memory; }
};

std::string against_witness(const RandomVectorKernel& kernel) {
  VectorIsa isa;
  std::copy(kernel.words.begin(), kernel.words.end(), isa.imem.begin());
  isa.walks = kernel.walks;
  isa.memory = kernel.memory;
  const int fault = isa.run(0, 10'000);
  Interpreted interpreted(false);
  const std::string message = interpreted.run(kernel);
  if ((fault != 0) != !message.empty()) return fmt::format("fault {}, but \"{}\"", fault, message);
  return difference(interpreted, Witness{isa});
}

enum class Result { kEqual, kSkipped, kDifferent };

// Skipped: a kernel that ends in a fault or hangs, one that meets the wrapping counter (V6), and what the
// interpreter takes for an error (V9, V10, V12).
Result against_model(const RandomVectorKernel& kernel, unsigned l1_words, std::string& what) {
  vector::VectorParams params = check::VectorRig::recorded_params();
  params.quirks = true;
  params.l1_words = l1_words;
  check::VectorRig rig(params);
  rig.memory = kernel.memory;
  rig.write_imem(0, kernel.words);
  for (unsigned d = 0; d < 8; ++d) {
    rig.write_descriptor(d, 0, kernel.walks[d].base);
    for (unsigned i = 0; i < 4; ++i)
      rig.write_descriptor(
          d, 1 + i,
          (static_cast<std::uint64_t>(kernel.walks[d].stride[i]) & 0x3FFFF) << 16 | kernel.walks[d].bound[i]);
  }
  const auto result = rig.run(0, 200'000);
  if (!result.completed || result.code == 4) return Result::kSkipped;
  for (const auto& hit : rig.core().quirk_hits())
    if (hit.id == arch::QuirkId::kV6 || hit.id == arch::QuirkId::kV9 || hit.id == arch::QuirkId::kV10 ||
        hit.id == arch::QuirkId::kV12)
      return Result::kSkipped;
  Interpreted interpreted(true, l1_words);
  what = interpreted.run(kernel);
  if (what.empty()) what = difference(interpreted, Model{rig});
  return what.empty() ? Result::kEqual : Result::kDifferent;
}

TEST(InterpretVector, RandomKernels) {
  const char* given = std::getenv("KTPU_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 20261130;
  const unsigned kernels = std::getenv("KTPU_LONG") != nullptr ? 100'000 : 400;
  unsigned equal = 0;
  for (unsigned i = 0; i < kernels; ++i) {
    RandomVectorKernel kernel(seed + i);
    kernel.make();
    ASSERT_EQ(against_witness(kernel), "") << "seed " << seed + i;
    std::string what;
    const unsigned l1_words = i % 4 == 0 ? 32u << i / 4 % 4 : 512;  // smaller: addresses wrap
    const Result result = against_model(kernel, l1_words, what);
    ASSERT_NE(result, Result::kDifferent)
        << what << ", quirks: reference, L1 of " << l1_words << " words, seed " << seed + i;
    equal += result == Result::kEqual;
  }
  std::cout << kernels << " kernels equal the witness, " << equal << " the model with quirks\n";
  EXPECT_GT(equal, kernels / 4);
}

arch::VectorWord word_of(arch::VectorOpcode op) {
  arch::VectorWord w;
  w.op = static_cast<std::uint32_t>(op);
  return w;
}

void put(RandomVectorKernel& kernel, const arch::VectorWord& w) {
  kernel.words.push_back(arch::encode_vector_word(w));
}

void put_seti(RandomVectorKernel& kernel, unsigned r, std::uint32_t value) {
  arch::VectorWord w = word_of(arch::VectorOpcode::kVseti);
  w.vd = r;
  put(kernel, w);
  kernel.words.push_back(value);
}

// A group whose last word is `last`, of v0 and K3; the words in front of it hand v0 on.
void put_group(RandomVectorKernel& kernel, unsigned mode, arch::VectorOpcode last, unsigned vd, unsigned pm) {
  const unsigned depth = 1u << mode;
  for (unsigned t = 0; t < depth; ++t) {
    arch::VectorWord w = word_of(t + 1 == depth ? last : arch::VectorOpcode::kVmov);
    w.sa = static_cast<std::uint32_t>(t == 0 ? arch::VectorSource::kVector : arch::VectorSource::kChain);
    w.sb = w.sc = static_cast<std::uint32_t>(arch::VectorSource::kConstant);
    w.vb = w.vc = 3;
    w.vd = vd;
    w.pm = pm;
    put(kernel, w);
  }
}

// ANY or a predicated move behind a compare that is true in one chunk only; between them instructions of 4
// and 6 cycles.
RandomVectorKernel behind_compare(unsigned mode, unsigned chunks, unsigned chunk,
                                  const std::vector<unsigned>& filler, bool any) {
  using arch::VectorOpcode;
  constexpr std::uint64_t kFrom = 0x1000, kOnes = 0x3C003C003C003C00;
  RandomVectorKernel kernel(0);
  kernel.memory[kFrom / 32 + chunk] = {kOnes, kOnes, kOnes, kOnes};
  kernel.walks[0] = {kFrom, {32, 0, 0, 0}, {8, 1, 1, 1}};
  kernel.walks[1] = {0, {1, 0, 0, 0}, {8, 1, 1, 1}};
  put_seti(kernel, 0, 16 * chunks);
  put(kernel, word_of(VectorOpcode::kVsetvl));
  put(kernel, word_of(VectorOpcode::kVfill));
  put(kernel, word_of(VectorOpcode::kVbar));
  arch::VectorWord w = word_of(VectorOpcode::kVld);
  w.dtype = w.ad = 1;
  put(kernel, w);
  w = word_of(VectorOpcode::kVsetmode);
  w.va = mode;
  put(kernel, w);
  put_group(kernel, mode, VectorOpcode::kVcmpgt, 0, 0);
  for (const unsigned cycles : filler)
    if (cycles == 4)
      put(kernel, word_of(VectorOpcode::kVsetvl));
    else
      put_seti(kernel, 1, 0);
  w = word_of(VectorOpcode::kVred);
  w.vd = 2;
  w.kind = static_cast<std::uint32_t>(arch::ReduceKind::kAny);
  if (any)
    put(kernel, w);
  else
    put_group(kernel, mode, VectorOpcode::kVmov, 5, 1);
  put(kernel, word_of(VectorOpcode::kVhalt));
  return kernel;
}

TEST(InterpretVector, PredicatesLandWhenTheModelsDo) {
  const std::vector<std::vector<unsigned>> fillers{
      {}, {4}, {6}, {4, 4}, {4, 6}, {6, 6}, {4, 4, 6}, {6, 6, 4, 4}, {6, 6, 6, 6}, {4, 4, 4, 4, 4, 4}};
  for (unsigned mode = 0; mode < 3; ++mode)
    for (unsigned chunks = 1; chunks <= 8; ++chunks)
      for (unsigned chunk = 0; chunk < chunks; ++chunk)
        for (const auto& filler : fillers)
          for (const bool any : {false, true}) {
            std::string what;
            const Result result = against_model(behind_compare(mode, chunks, chunk, filler, any), 512, what);
            ASSERT_NE(result, Result::kDifferent)
                << what << ": mode " << mode << ", chunk " << chunk << " of " << chunks << ", "
                << filler.size() << " between, " << (any ? "ANY" : "VMOV");
          }
}

}  // namespace
}  // namespace ktpu::test
