// SPDX-License-Identifier: Apache-2.0
// cycles_vector.jsonl and vectors_veckernel.jsonl: one kernel on the small system's vector core.
#include <algorithm>
#include <map>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "arch/error.h"

namespace ktpu::check {

using arch::VectorOpcode;
using arch::VectorWord;
using nlohmann::json;

namespace {

constexpr std::uint64_t kSource = 0x1000, kResult = 0x4000;
constexpr unsigned kCredit = 512;  // never the limit
constexpr unsigned kInstTxn = 0x40;

constexpr unsigned kResultRegister = 8, kScratchRegister = 15;
constexpr unsigned kScalar = 3;  // of reductions
// Address descriptors of the recorded kernels: the fill, the operands, the store and the drain.
constexpr unsigned kFillWalk = 0, kStoreWalk = 3, kDrainWalk = 4;
constexpr std::array<unsigned, 3> kOperandWalk{1, 2, 5};

struct Kernel {
  unsigned vl = 0;
  unsigned operands = 0;
  bool scalar = false;  // a reduction: its result is stored as FP32
  std::vector<std::uint32_t> words;

  unsigned chunks() const { return (vl + 15) / 16; }
  unsigned result_words() const { return scalar ? 2 * chunks() : chunks(); }
};

VectorWord word_of(VectorOpcode op) {
  VectorWord w;
  w.op = static_cast<std::uint32_t>(op);
  return w;
}

VectorWord arithmetic(VectorOpcode op, unsigned vd, unsigned va, unsigned vb = 0, unsigned vc = 0) {
  VectorWord w = word_of(op);
  w.vd = vd;
  w.va = va;
  w.vb = vb;
  w.vc = vc;
  return w;
}

class KernelText {
 public:
  KernelText(const std::string& name, unsigned vl, unsigned operands) {
    kernel_.vl = vl;
    kernel_.operands = operands;
    VectorWord length = word_of(VectorOpcode::kVseti);
    add(length);
    kernel_.words.push_back(vl);
    add(word_of(VectorOpcode::kVsetvl));
    mode(arch::VectorMode::kFlat);
    add(word_of(VectorOpcode::kVfill));
    add(word_of(VectorOpcode::kVbar));
    for (unsigned i = 0; i < operands; ++i) {
      VectorWord load = word_of(VectorOpcode::kVld);
      load.dtype = static_cast<std::uint32_t>(arch::VectorType::kFp16);
      load.ad = kOperandWalk[i];
      load.vd = i;
      add(load);
    }
    body(name);
    VectorWord store = word_of(VectorOpcode::kVst);
    store.dtype =
        static_cast<std::uint32_t>(kernel_.scalar ? arch::VectorType::kFp32 : arch::VectorType::kFp16);
    store.ad = kStoreWalk;
    store.vd = kResultRegister;
    add(store);
    VectorWord drain = word_of(VectorOpcode::kVdrain);
    drain.ad = kDrainWalk;
    drain.offset = operands * kernel_.chunks();
    add(drain);
    add(word_of(VectorOpcode::kVhalt));
  }
  const Kernel& kernel() const { return kernel_; }

 private:
  void add(const VectorWord& word) { kernel_.words.push_back(arch::encode_vector_word(word)); }
  void mode(arch::VectorMode mode) {
    VectorWord w = word_of(VectorOpcode::kVsetmode);
    w.va = static_cast<std::uint32_t>(mode);
    add(w);
  }

  void body(const std::string& name) {
    static const std::map<std::string, VectorOpcode> kSingle{
        {"add", VectorOpcode::kVadd}, {"sub", VectorOpcode::kVsub},     {"mul", VectorOpcode::kVmul},
        {"fma", VectorOpcode::kVfma}, {"fnma", VectorOpcode::kVfnma},   {"max", VectorOpcode::kVmax},
        {"min", VectorOpcode::kVmin}, {"exp2", VectorOpcode::kVexp2},   {"log2", VectorOpcode::kVlog2},
        {"inv", VectorOpcode::kVinv}, {"rsqrt", VectorOpcode::kVrsqrt}, {"abs", VectorOpcode::kVabs},
        {"neg", VectorOpcode::kVneg}, {"mov", VectorOpcode::kVmov}};
    static const std::map<std::string, arch::ReduceKind> kReductions{
        {"red_sum", arch::ReduceKind::kSum}, {"red_max", arch::ReduceKind::kMax},
        {"red_min", arch::ReduceKind::kMin}, {"red_sumsq", arch::ReduceKind::kSumsq},
        {"red_dot", arch::ReduceKind::kDot}, {"red_expsum", arch::ReduceKind::kExpsum}};
    if (const auto single = kSingle.find(name); single != kSingle.end()) {
      const unsigned reads = arch::kVectorOpcodes[static_cast<unsigned>(single->second)].reads;
      const bool b = reads & 2, c = reads & 4;
      return add(arithmetic(single->second, kResultRegister, 0, b ? 1 : 0, c ? (b ? 2 : 1) : 0));
    }
    if (const auto reduction = kReductions.find(name); reduction != kReductions.end())
      return reduce(reduction->second);
    if (name == "add8_indep" || name == "add8_dep") {
      constexpr unsigned kCopies = 8;
      const bool chained = name == "add8_dep";
      for (unsigned i = 0; i < kCopies; ++i)
        add(arithmetic(VectorOpcode::kVadd, kResultRegister + (chained ? 0 : i),
                       chained && i != 0 ? kResultRegister : 0, 0, 1));
      return;
    }
    if (name == "exp2_then_mul_dep") {
      add(arithmetic(VectorOpcode::kVexp2, kResultRegister + 1, 0));
      return add(arithmetic(VectorOpcode::kVmul, kResultRegister, kResultRegister + 1, 1));
    }
    if (name == "chain_d4_fma") return chain();
    throw arch::UserError::make("kernel \"{}\" is not known", name);
  }

  void reduce(arch::ReduceKind kind) {
    const bool expsum = kind == arch::ReduceKind::kExpsum;
    mode(arch::VectorMode::kTree);
    VectorWord w = word_of(VectorOpcode::kVred);
    w.vd = kScalar;
    w.kind = static_cast<std::uint32_t>(kind);
    w.vb = expsum ? kResultRegister : kind == arch::ReduceKind::kDot ? 1 : 0;
    add(w);
    mode(arch::VectorMode::kFlat);
    if (expsum) return;
    kernel_.scalar = true;
    VectorWord spread = word_of(VectorOpcode::kVbcast);
    spread.sa = static_cast<std::uint32_t>(arch::VectorSource::kScalar);
    spread.vd = kResultRegister;
    spread.va = kScalar;
    add(spread);
  }

  // v0 times, plus, times, plus 1.0.
  void chain() {
    constexpr auto kChain = static_cast<std::uint32_t>(arch::VectorSource::kChain);
    constexpr auto kConstant = static_cast<std::uint32_t>(arch::VectorSource::kConstant);
    mode(arch::VectorMode::kD4);
    for (unsigned t = 0; t < 4; ++t) {
      const bool adds = t % 2 != 0;
      VectorWord w = arithmetic(adds ? VectorOpcode::kVadd : VectorOpcode::kVmul,
                                t == 3 ? kResultRegister : kScratchRegister, t == 0 ? 0 : kScratchRegister, 1,
                                adds ? 1 : 0);
      if (t != 0) w.sa = kChain;
      w.sb = w.sc = kConstant;
      add(w);
    }
    mode(arch::VectorMode::kFlat);
  }

  Kernel kernel_;
};

std::vector<arch::Flit> kernel_flits(const Kernel& kernel, arch::Coord to, arch::Coord from) {
  std::vector<arch::VectorInst> list;
  const auto inst = [&](arch::VectorOp op) -> arch::VectorInst& {
    list.emplace_back().op = static_cast<std::uint32_t>(op);
    return list.back();
  };
  const auto field = [&](unsigned descriptor, unsigned number, std::uint64_t value) {
    arch::VectorInst& i = inst(arch::VectorOp::kDesc);
    i.ad = descriptor;
    i.fld = number;
    i.value = value;
  };
  const auto walk = [&](unsigned descriptor, std::uint64_t base, unsigned stride, unsigned words) {
    field(descriptor, 0, base);
    field(descriptor, 1, std::uint64_t{stride} << 16 | words);
  };
  for (std::size_t at = 0; at < kernel.words.size(); ++at) {
    arch::VectorInst& i = inst(arch::VectorOp::kImem);
    i.addr = static_cast<std::uint32_t>(at);
    i.word = kernel.words[at];
  }
  const unsigned n = kernel.chunks();
  walk(kFillWalk, kSource, arch::kWordBytes, kernel.operands * n);
  for (unsigned i = 0; i < kernel.operands; ++i) walk(kOperandWalk[i], i * n, 1, n);
  walk(kStoreWalk, kernel.operands * n, 1, kernel.result_words());
  walk(kDrainWalk, kResult, arch::kWordBytes, kernel.result_words());
  inst(arch::VectorOp::kRun);
  std::vector<arch::Flit> flits;
  for (const arch::VectorInst& i : list)
    flits.push_back(
        arch::make_flit(arch::make_header(to, from, arch::FlitType::kCuInst, kInstTxn, false), i));
  return flits;
}

unsigned number(const json& row, const char* field, std::int64_t low, std::int64_t high) {
  return static_cast<unsigned>(integer(member(row, field), field, low, high));
}

// The machine with the kernel kicked off; `memory` is what lies at the source.
struct KernelRun {
  KernelRun(const json& row, const Kernel& kernel, const std::vector<std::uint8_t>& memory) {
    topo::Machine machine = shipped_machine("reference_small");
    apply_dram(row, machine);
    for (const topo::Node& node : machine.meshes.front().nodes)
      if (node.kind() == topo::Kind::kVectorCore) at = node.at;
    program = dispatch_program(kernel_flits(kernel, at, {0, 1}), at, kCredit);
    rig = std::make_unique<Rig>(std::move(machine), &program);
    rig->write_memory(kSource, memory);
    rig->run();
  }

  arch::Coord at;
  arch::Program program;
  std::unique_ptr<Rig> rig;
};

}  // namespace

void check_cycles_vector(const json& row, Differences& differences) {
  const std::string& name = text(member(row, "kernel"), "kernel");
  const KernelText source(name, number(row, "vl", 1, 128), number(row, "operands", 1, kOperandWalk.size()));
  const Kernel& kernel = source.kernel();
  const std::vector<std::uint8_t> memory(std::size_t{kernel.operands} * kernel.chunks() * arch::kWordBytes,
                                         0x3C);
  KernelRun run(row, kernel, memory);

  const VectorLog& log = run.rig->vector(run.at);
  json got = json::object();
  if (log.runs.size() == 1 && log.runs.front().done) {
    const VectorLog::Run& r = log.runs.front();
    const Cycle busy_end = r.start + r.cycles;
    got["kernel_cycles"] = r.cycles;
    got["signal_code"] =
        static_cast<unsigned>(r.fault ? arch::SignalCode::kFault : arch::SignalCode::kInstComplete);
    json list = json::array();
    for (std::size_t i = 0; i < r.executed.size(); ++i) {
      const Cycle next = i + 1 < r.executed.size() ? r.executed[i + 1].cycle : busy_end;
      list.push_back({arch::kVectorOpcodes[arch::decode_vector_word(r.executed[i].word).op].name,
                      next - r.executed[i].cycle});
    }
    got["instr_cycles"] = list;
    Cycle accepted = 0;
    for (const FlitEvent& e : run.rig->in(run.at).flits)
      if (e.flit.type() == arch::FlitType::kCuInst) accepted = e.cycle;
    got["run_flit_to_busy"] = r.start - accepted;
    const Cycles signals = cycles_of(run.rig->agent.arrivals, arch::FlitType::kCuSignal);
    if (!signals.empty()) got["busy_end_to_signal_at_agent"] = signals.back() - busy_end;
    if (!run.rig->dram.write_beats.empty())
      got["last_dram_beat_from_run"] = run.rig->dram.write_beats.back() - accepted;
  }
  got["mem_read_words"] = run.rig->dram.read_beats.size();
  compare_fields(row, got, {"dram", "kernel", "vl", "operands"}, {}, differences);
}

void check_vectors_veckernel(const json& row, Differences& differences) {
  const json& inputs = member(row, "inputs");
  Kernel kernel;
  kernel.vl = number(row, "vl", 1, 128);
  kernel.operands = static_cast<unsigned>(std::min(inputs.size(), kOperandWalk.size()));
  kernel.scalar = row.contains("scalar_fp32");
  for (const json& word : member(row, "words"))
    kernel.words.push_back(static_cast<std::uint32_t>(hex_value(word, "words", 32)));
  std::vector<std::uint8_t> memory(std::size_t{kernel.operands} * kernel.chunks() * arch::kWordBytes, 0);
  for (unsigned i = 0; i < kernel.operands; ++i) {
    const auto values = hex_halves(inputs[i], "inputs", kernel.vl);
    for (std::size_t e = 0; e < values.size(); ++e) {
      const std::size_t at = std::size_t{i} * kernel.chunks() * arch::kWordBytes + 2 * e;
      memory[at] = static_cast<std::uint8_t>(values[e]);
      memory[at + 1] = static_cast<std::uint8_t>(values[e] >> 8);
    }
  }
  KernelRun run(row, kernel, memory);
  const auto out = run.rig->read_memory(kResult, std::uint64_t{kernel.result_words()} * arch::kWordBytes);
  json got = json::object();
  if (kernel.scalar) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint64_t{out[i]} << (8 * i);
    got["scalar_fp32"] = to_hex(value, 8);
  } else {
    std::string digits;
    for (unsigned e = 0; e < kernel.vl; ++e)
      digits += to_hex(static_cast<std::uint64_t>(out[2 * e] | out[2 * e + 1] << 8), 4);
    got["out_fp16"] = digits;
  }
  compare_fields(row, got, {"dram", "kernel", "vl", "words", "inputs"}, {}, differences);
}

}  // namespace ktpu::check
