// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/stimulus.h"

#include <algorithm>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "arch/error.h"
#include "tests/support/random_vector_kernel.h"
#include "tests/support/wild_vector_kernel.h"
#include "tlm/sim/random.h"

namespace ktpu::cosim {

namespace {

using arch::Coord;
using arch::Flit;
using arch::FlitType;
using sim::Random;

Coord any_coord(Random& random) { return Coord::from_node_byte(random.below(256)); }

// Mostly small, so that what is asked for ends within an episode; now and then anything.
std::uint64_t mostly_small(Random& random) {
  const std::uint32_t kind = random.below(16);
  if (kind == 0) return random.next();
  return random.below(kind < 4 ? 64 : 6);
}

// Every field of a payload, whatever its meaning.
template <class S>
S random_fields(Random& random) {
  S s;
  for (const auto& binding : arch::Layout<S>::fields) {
    const std::uint64_t value = binding.wide != nullptr ? random.next() : mostly_small(random);
    binding.write(s, binding.wide != nullptr ? value & 0xFFFFFFFFFF : binding.field.mask() & value);
  }
  return s;
}

// A block that takes instructions, memory responses and CU_DATA bursts.
class UnitMessages {
 public:
  UnitMessages(const Block& block, Style style, Random& random)
      : at_(std::get<Endpoint>(block.shape).node.at),
        style_(style),
        random_(random),
        memory_(std::get<Endpoint>(block.shape).memory) {}
  virtual ~UnitMessages() = default;

  Stimulus make(sim::Cycle cycles) {
    sim::Cycle sent = 0;
    while (sent < cycles) {
      const std::size_t before = messages_.size();
      step();
      for (std::size_t m = before; m < messages_.size(); ++m)
        sent += messages_[m].gap + messages_[m].flits.size();
    }
    return std::move(messages_);
  }

 protected:
  virtual void program() = 0;
  bool wild() const { return style_ == Style::kWild; }

  void add(std::vector<Flit> flits) {
    const sim::Cycle gap = random_.below(4) == 0 ? random_.below(200) : random_.below(4);
    messages_.push_back({0, gap, std::move(flits)});
  }
  template <class Inst>
  void add_inst(const Inst& inst) {
    add({arch::make_flit(
        arch::make_header(at_, memory_, FlitType::kCuInst, random_.below(256), random_.below(4) == 0),
        inst)});
  }
  void burst(unsigned buffer, unsigned offset, unsigned words) {
    const Coord from = wild() ? any_coord(random_) : Coord{1, 1};
    arch::CuDataDesc desc;
    desc.buf_id = buffer;
    desc.offset = offset;
    desc.len = words - 1;
    desc.flags = random_.below(2);
    desc.ack_x = random_.below(wild() ? 16 : 2);
    desc.ack_y = random_.below(wild() ? 16 : 2);
    const unsigned txn = random_.below(256);
    std::vector<Flit> flits{
        arch::make_flit(arch::make_header(at_, from, FlitType::kCuData, txn, false), desc)};
    for (unsigned n = 0; n < words; ++n) {
      Flit data = memory_word(random_.next(), 0);
      data.w[4] = arch::make_header(at_, from, FlitType::kCuData, txn, n + 1 == words);
      flits.push_back(data);
    }
    add(std::move(flits));
  }

  Coord at_;
  Style style_;
  Random& random_;

 private:
  void step() {
    const std::uint32_t kind = random_.below(10);
    if (kind == 0) {  // registers, back to back
      arch::Ctrl ctrl;
      ctrl.index = wild() && random_.below(6) == 0 ? random_.below(256) : random_.below(4);
      add({arch::make_flit(
          arch::make_header(at_, {3, 2}, FlitType::kCuCtrl, random_.below(256), random_.below(2) == 0),
          ctrl)});
    } else if (kind == 1 && wild()) {  // types the unit drops
      const unsigned type =
          random_.below(2) == 0 ? static_cast<unsigned>(FlitType::kMemWrAck) : 9 + random_.below(7);
      add({arch::make_flit(at_, any_coord(random_), static_cast<FlitType>(type), random_.below(256), true)});
    } else {
      program();
    }
  }

  Coord memory_;
  Stimulus messages_;
};

class Cluster final : public UnitMessages {
 public:
  using UnitMessages::UnitMessages;

 private:
  void program() override {
    if (random_.below(5) == 0)
      return wild() ? burst(random_.below(8) ? random_.below(3) : random_.below(256), 2 * random_.below(40),
                            1 + random_.below(20))
                    : burst(random_.below(2), 4 * random_.below(8), 4 * (1 + random_.below(4)));
    if (wild()) {
      auto inst = random_fields<arch::ClusterInst>(random_);
      if (random_.below(8) != 0) inst.op = 1 + random_.below(3);
      // A sweep of 255 x 255 x 255 outlasts every episode.
      inst.gm %= 40, inst.gn %= 8, inst.nk %= 5, inst.n %= 200;
      inst.anchor = random_.below(3) != 0 ? 40 : random_.below(256);
      return add_inst(inst);
    }
    // Both operands, the product of what is there, its results.
    const unsigned gm = 1 + random_.below(4), gn = 1 + random_.below(4), nk = 1 + random_.below(3);
    arch::ClusterInst fill;
    fill.op = static_cast<unsigned>(arch::ClusterOp::kFill);
    fill.fbank = random_.below(2);
    for (const unsigned side : {0u, 1u}) {
      fill.sel = side;
      fill.n = nk * (side == 0 ? gm : gn);
      fill.addr = 32ull * random_.below(1 << 15);
      add_inst(fill);
    }
    arch::ClusterInst gemm;
    gemm.op = static_cast<unsigned>(arch::ClusterOp::kGemm);
    gemm.gm = gm, gemm.gn = gn, gemm.nk = nk;
    gemm.abank = gemm.bbank = fill.fbank;
    gemm.acc = random_.below(2);
    gemm.emit = nk > 1 && random_.below(2) == 0;
    gemm.addr = 32ull * random_.below(1 << 15);
    add_inst(gemm);
    arch::ClusterInst drain;
    drain.op = static_cast<unsigned>(arch::ClusterOp::kDrain);
    drain.n = gm * gn;
    drain.addr = gemm.addr;
    drain.fuse = gemm.emit;
    add_inst(drain);
  }
};

// Where memory_word() has FP16 numbers around 1.
constexpr std::uint64_t kNumbers = 0x1000, kNumbersEnd = 0x2000;

constexpr std::uint32_t kHalt = [] {
  arch::VectorWord word{};
  word.op = static_cast<std::uint32_t>(arch::VectorOpcode::kVhalt);
  return arch::encode_vector_word(word);
}();

class Vector final : public UnitMessages {
 public:
  using UnitMessages::UnitMessages;

 private:
  void program() override {
    if (random_.below(4) == 0)
      return burst(random_.below(wild() ? 4 : 1), random_.below(wild() ? 512 : 64), 1 + random_.below(16));
    std::vector<std::uint32_t> words;
    std::vector<arch::VectorInst> walks;
    if (wild()) {
      if (random_.below(4) != 0) {
        std::mt19937_64 kernel(random_.next());
        words = test::WildVectorKernel(kernel).make();
      } else {
        for (unsigned n = 4 + random_.below(30); n != 0; --n)
          words.push_back(static_cast<std::uint32_t>(random_.next()));
        words.push_back(kHalt);
      }
      for (unsigned n = random_.below(6); n != 0; --n) {
        auto inst = random_fields<arch::VectorInst>(random_);
        inst.op = static_cast<unsigned>(random_.below(8) == 0 ? random_.below(16) : 2);
        if (inst.op == 1 || inst.op == 3) inst.op = 0;
        walks.push_back(inst);
      }
    } else if (random_.below(3) == 0) {
      words = reductions(walks);
    } else {
      test::RandomVectorKernel kernel(random_.next());
      kernel.make();
      words = kernel.words;
      for (unsigned d = 0; d < kernel.walks.size(); ++d) describe(d, kernel.walks[d], walks);
    }
    for (const arch::VectorInst& walk : walks) add_inst(walk);
    for (std::size_t n = 0; n < words.size(); ++n) {
      arch::VectorInst inst;
      inst.op = static_cast<unsigned>(arch::VectorOp::kImem);
      inst.addr = static_cast<unsigned>(n % 512);
      inst.word = words[n];
      add_inst(inst);
    }
    arch::VectorInst run;
    run.op = static_cast<unsigned>(arch::VectorOp::kRun);
    add_inst(run);
  }
  // Inlined, GCC 12 takes the word for uninitialised.
  [[gnu::noinline]] static std::uint32_t encoded(const arch::VectorWord& word) {
    return arch::encode_vector_word(word);
  }
  // Of numbers, in TREE mode: random kernels have little but NaN left for it.
  std::vector<std::uint32_t> reductions(std::vector<arch::VectorInst>& walks) {
    using Op = arch::VectorOpcode;
    std::vector<std::uint32_t> words;
    const auto add = [&](Op op, auto fields) {
      arch::VectorWord word{};
      word.op = static_cast<std::uint32_t>(op);
      fields(word);
      words.push_back(encoded(word));
    };
    describe(0, {kNumbers, {32, 0, 0, 0}, {32, 1, 1, 1}}, walks);
    describe(1, {0, {1, 0, 0, 0}, {8, 1, 1, 1}}, walks);
    add(Op::kVseti, [](arch::VectorWord& w) { w.vd = 14; });
    words.push_back(16 * (1 + random_.below(8)));
    add(Op::kVsetvl, [](arch::VectorWord& w) { w.va = 14; });
    add(Op::kVfill, [](arch::VectorWord&) {});
    add(Op::kVbar, [](arch::VectorWord&) {});
    for (unsigned r = 0; r < 4; ++r)
      add(Op::kVld, [&](arch::VectorWord& w) { w.vd = r, w.ad = 1, w.dtype = 1, w.offset = 8 * r; });
    add(Op::kVsetmode, [](arch::VectorWord& w) { w.va = 3; });
    for (unsigned s = 0; s < 8; ++s)
      add(Op::kVred, [&](arch::VectorWord& w) {
        w.kind = random_.below(8), w.vd = s, w.va = random_.below(4), w.vb = random_.below(4),
        w.pr = random_.below(4);
      });
    // To memory: through a register each.
    add(Op::kVsetmode, [](arch::VectorWord&) {});
    describe(2, {random_.below(1 << 10) * 32ull, {32, 0, 0, 0}, {8, 1, 1, 1}}, walks);
    for (unsigned s = 0; s < 8; ++s) {
      add(Op::kVbcast, [&](arch::VectorWord& w) { w.sa = 1, w.vd = 5, w.va = s; });
      add(Op::kVst, [](arch::VectorWord& w) { w.vd = 5, w.ad = 1, w.dtype = 2; });
      add(Op::kVdrain, [](arch::VectorWord& w) { w.ad = 2; });
    }
    words.push_back(kHalt);
    return words;
  }
  static void describe(unsigned d, const test::VectorIsa::Walk& walk, std::vector<arch::VectorInst>& out) {
    arch::VectorInst inst;
    inst.op = static_cast<unsigned>(arch::VectorOp::kDesc);
    inst.ad = d;
    inst.value = walk.base & 0xFFFFFFFFFF;
    out.push_back(inst);
    for (unsigned n = 0; n < 4; ++n) {
      inst.fld = n + 1;
      inst.value = (static_cast<std::uint64_t>(walk.stride[n]) & 0x3FFFF) << 16 | (walk.bound[n] & 0xFFFF);
      out.push_back(inst);
    }
  }
};

}  // namespace

// Flits with anything in them to anywhere; kLegal: to what the turn masks let through.
Stimulus router_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  Stimulus messages;
  const auto& router = std::get<noc::RouterParams>(block.shape);
  // In the mesh or at its edge, where nodes are; itself as often as any.
  const auto near = [&] {
    return Coord{static_cast<std::uint8_t>(random.below(router.grid.x_hi + 2)),
                 static_cast<std::uint8_t>(random.below(router.grid.y_hi + 2))};
  };
  for (unsigned p = 0; p < noc::kPorts; ++p)
    for (sim::Cycle sent = 0; sent < cycles;) {
      Flit flit;
      for (std::uint64_t& word : flit.w) word = random.next();
      flit.w[4] = static_cast<std::uint32_t>(flit.w[4]);
      if (random.below(4) != 0) flit.set_dst(near());
      while (style == Style::kLegal &&
             noc::turn_suppressed(router.position, router.grid, static_cast<noc::Direction>(p),
                                  noc::route(router.position, router.grid, flit.dst())))
        flit.set_dst(random.below(4) != 0 ? near() : any_coord(random));
      const sim::Cycle gap = random.below(6) == 0 ? random.below(60) : random.below(3);
      messages.push_back({p, gap, {flit}});
      sent += gap + 1;
    }
  return messages;
}

Stimulus cluster_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  return Cluster(block, style, random).make(cycles);
}

Stimulus vector_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  return Vector(block, style, random).make(cycles);
}

Flit memory_word(std::uint64_t seed, std::uint64_t address) {
  Random random(seed + address / arch::kWordBytes);
  Flit flit;
  for (unsigned w = 0; w < 4; ++w) flit.w[w] = random.next();
  if (address >= kNumbers && address < kNumbersEnd) {
    for (unsigned h = 0; h < 16; ++h) {
      const std::uint64_t half = (12 + random.below(6)) << 10;
      flit.w[h / 4] &= ~(0x7C00ull << (16 * (h % 4)));
      flit.w[h / 4] |= half << (16 * (h % 4));
    }
    return flit;
  }
  // As scales: in the middle of the range, so that sums neither vanish nor saturate at once.
  if (random.below(4) != 0)
    flit.w[0] = (flit.w[0] & ~0xFFFFFFFFull) |
                (0xA0A0A0A0u ^ (static_cast<std::uint32_t>(random.next()) & 0x1F1F1F1Fu));
  if (random.below(6) == 0)
    for (unsigned w = 0; w < 4; ++w) flit.w[w] &= random.next() & random.next();
  return flit;
}

}  // namespace ktpu::cosim
