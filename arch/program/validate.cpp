// SPDX-License-Identifier: Apache-2.0
#include "arch/program/validate.h"

#include <bitset>
#include <cmath>
#include <set>

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::arch {
namespace {

class Validator {
 public:
  explicit Validator(const Program& program) : p_(program) {}

  void run() {
    at_ = "needs";
    check_needs();
    for (std::size_t i = 0; i < p_.images.size(); ++i) {
      at_ = fmt::format("image {}", i);
      mesh(p_.images[i].first);
      image(p_.images[i].second);
    }
    tensors(p_.inputs, "input");
    tensors(p_.outputs, "output");
    for (std::size_t i = 0; i < p_.steps.size(); ++i) {
      const Step& s = p_.steps[i];
      at_ = fmt::format("step {} ({})", i, step_name(s.action));
      mesh(s.mesh);
      mesh_ = s.mesh;
      std::visit([this](const auto& a) { step(a); }, s.action);
    }
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw UserError(at_ + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  // --- shared checks
  void mesh(unsigned m) const {
    if (m >= p_.needs.meshes)
      fail("mesh {}; the program says it uses {} (0..{})", m, p_.needs.meshes, p_.needs.meshes - 1);
  }
  void coord(Coord c) const {
    if (c.x > 15 || c.y > 15) fail("node ({},{}); coordinates are 0..15", c.x, c.y);
  }
  void slots(std::uint64_t base, std::uint64_t count) const {
    const std::uint32_t limit = p_.needs.staging_flits ? p_.needs.staging_flits : kMaxStagingFlits;
    if (base + count > limit)
      fail("slots {}..{}, but the staging RAM of this program has {} (0..{})", base, base + count - 1, limit,
           limit - 1);
  }
  void range(std::uint64_t address, std::uint64_t bytes) const {
    if (address > address::kMask || bytes > address::kMask + 1 - address)
      fail("{} bytes from address {:#x} run past the 40-bit address space", bytes, address);
  }
  void agent_register(std::uint32_t offset) const {
    if (offset > 0xFFFF || offset % 8)
      fail("register offset {:#x} is not a multiple of 8 below 0x10000", offset);
  }
  void pollable(std::uint64_t mask, std::uint64_t want) const {
    if (want & ~mask) fail("wants {:#x} under mask {:#x}: no value can match", want, mask);
  }
  void count16(std::uint32_t count, std::string_view what) const {
    if (count == 0 || count > 0xFFFF) fail("{} {}; allowed are 1..65535", what, count);
  }
  void cycles(std::uint32_t n) const {
    if (n == 0 || n > kMaxWaitCycles) fail("{} cycles; allowed are 1..{}", n, kMaxWaitCycles);
  }
  void image(const MemoryImage& m) {
    std::uint64_t bytes = 0;
    try {
      bytes = image_bytes(m);
    } catch (const UserError& e) {
      fail("{}", e.what());
    }
    if (bytes == 0) fail("holds no bytes");
    if (const auto* raw = std::get_if<ImageBytes>(&m.content); raw && raw->data.size() > bytes)
      fail("size {} is less than the {} bytes given", bytes, raw->data.size());
    const auto* tensor = std::get_if<ImageTensor>(&m.content);
    const auto* lcg = tensor ? &tensor->values : std::get_if<ImageLcg>(&m.content);
    if (lcg && lcg->shift > 31) fail("generator shift {}; allowed are 0..31", lcg->shift);
    if (lcg && !std::isfinite(lcg->offset)) fail("generator offset is not a finite number");
    range(m.address, bytes);
    budget(bytes);
  }
  void budget(std::uint64_t bytes) {
    image_total_ += bytes;
    if (image_total_ > kMaxImageBytes) fail("images and loads together exceed {} bytes", kMaxImageBytes);
  }

  void check_needs() const {
    const MachineNeeds& n = p_.needs;
    if (n.meshes == 0 || n.meshes > kMaxMeshes) fail("meshes {}; allowed are 1..{}", n.meshes, kMaxMeshes);
    if (n.staging_flits > kMaxStagingFlits)
      fail("staging_flits {}; at most {}", n.staging_flits, kMaxStagingFlits);
    for (const UnitNeed& u : n.units) {
      mesh(u.mesh);
      coord(u.at);
      if (u.kind.empty()) fail("unit at ({},{}) has no kind", u.at.x, u.at.y);
    }
    for (const MemoryNeed& m : n.memory) {
      mesh(m.mesh);
      if (m.begin >= m.end || m.end > address::kMask + 1)
        fail("memory {:#x}..{:#x} is no address range", m.begin, m.end);
    }
  }

  void tensors(const std::vector<Tensor>& list, std::string_view role) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Tensor& t = list[i];
      at_ = fmt::format("{} {} (\"{}\")", role, i, t.name);
      if (t.name.empty()) fail("has no name");
      if (!names.insert(t.name).second) fail("the name is used twice");
      mesh(t.mesh);
      if (static_cast<std::size_t>(t.dtype) >= kDTypes)
        fail("data type {} is not known", static_cast<unsigned>(t.dtype));
      if (t.shape.empty() || t.shape.size() > 8)
        fail("shape of {} dimensions; allowed are 1..8", t.shape.size());
      const bool blocks = t.dtype == DType::kMxfp7;  // an entry of 128 values takes 128 bytes
      if (blocks && !t.layout.starts_with("entry:"))
        fail("mxfp7 needs an entry layout, not \"{}\"", t.layout);
      const unsigned element_bytes = blocks ? 1 : dtype_bits(t.dtype) / 8;
      try {
        range(t.address, TensorLayout(t.layout, t.shape, element_bytes).elements() * element_bytes);
      } catch (const UserError& e) {
        const std::string what = e.what();
        if (what.starts_with(at_)) throw;
        fail("{}", what);
      }
    }
  }

  // --- steps
  void step(const StepRound&) { baseline_[mesh_].reset(); }
  void step(const StepBaseline& s) {
    if (s.nodes.empty()) fail("names no node");
    for (const Coord c : s.nodes) {
      coord(c);
      baseline_[mesh_].set(c.node_byte());
    }
  }
  void step(const StepStage& s) const {
    if (s.flits.empty()) fail("stages no flit");
    slots(s.base, s.flits.size());
    for (std::size_t i = 0; i < s.flits.size(); ++i)
      if (s.flits[i].w[4] >> 32) fail("flit {} has bits above its 32-bit header", i);
  }
  void step(const StepCredit& s) const {
    if (s.seed > 0xFFFF) fail("seed {}; the counter has 16 bits", s.seed);
  }
  void step(const StepKick& s) const {
    coord(s.to);
    count16(s.count, "count");
    slots(s.base, s.count);
  }
  void step(const StepAwait& s) const {
    coord(s.node);
    count16(s.count, "count");
    if (!baseline_[mesh_].test(s.node.node_byte()))
      fail("node ({},{}) has no baseline in this round", s.node.x, s.node.y);
  }
  void step(const StepWrite& s) const { agent_register(s.offset); }
  void step(const StepPoll& s) const {
    agent_register(s.offset);
    pollable(s.mask, s.want);
  }
  void step(const StepCommands& s) const {
    if (s.commands.empty()) fail("the list is empty");
    for (std::size_t i = 0; i < s.commands.size(); ++i) {
      const Command& c = s.commands[i];
      const bool last = i + 1 == s.commands.size();
      const auto done = static_cast<std::uint32_t>(engine::CommandOp::kDone);
      if (c.op == 0 || c.op > done) fail("command {}: opcode {}; 1 WRITE, 2 POLL, 3 DONE exist", i, c.op);
      if (last != (c.op == done)) fail("command {}: the list must end with DONE and hold no other", i);
      if (!last && c.address % 8) fail("command {}: address {:#x} is not a multiple of 8", i, c.address);
      if (c.op == static_cast<std::uint32_t>(engine::CommandOp::kPoll)) pollable(c.mask, c.data);
    }
  }
  void step(const StepWindow& s) {
    if (s.write ? s.read_bytes != 0 : s.data.size != 0 || !s.data.data.empty())
      fail("a read carries no data, and a write no size to read");
    const std::uint64_t bytes = s.write ? checked_bytes(s.data) : s.read_bytes;
    // An upload that is no whole number of entries is for the linter: the machine takes it, and hangs.
    if (bytes == 0 || bytes % kWordBytes || s.address % kWordBytes)
      fail("{} bytes at {:#x}: the window moves whole {}-byte words from 32-byte boundaries", bytes,
           s.address, kWordBytes);
    if (bytes > kMaxImageBytes) fail("{} bytes; at most {}", bytes, kMaxImageBytes);
    range(s.address, bytes);
    budget(bytes);
  }
  void step(const StepLoad& s) { image(s.image); }
  void step(const StepQuiet& s) const { cycles(s.cycles); }
  void step(const StepRelayout& s) const {
    cycles(s.quiet_cycles);
    if (s.address % 2) fail("address {:#x} is odd", s.address);
    if (s.gather.empty()) fail("the gather list is empty");
    constexpr std::uint64_t kLimit = kMaxRelayoutBytes / 2;  // halfwords
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < s.gather.size(); ++i) {
      const GatherRun& g = s.gather[i];
      if (g.count == 0 || g.times == 0)
        fail("run {}: count {} times {}; both are at least 1", i, g.count, g.times);
      total += g.count > kLimit || g.times > kLimit ? kLimit + 1 : std::uint64_t{g.count} * g.times;
      if (total > kLimit) fail("run {}: more than {} halfwords in all", i, kLimit);
      if (g.source == -1) continue;
      // A run is linear in both indices, so its extremes are at the corners. All factors are far below 2^31.
      const auto limit = static_cast<std::int64_t>(kLimit);
      if (g.source < -1 || g.source > limit || g.advance < -limit || g.advance > limit)
        fail("run {}: source {} or advance {} out of range", i, g.source, g.advance);
      const std::int64_t along = static_cast<std::int64_t>(g.count - 1) * g.step;
      const std::int64_t across = static_cast<std::int64_t>(g.times - 1) * g.advance;
      const std::int64_t low =
          g.source + std::min<std::int64_t>(along, 0) + std::min<std::int64_t>(across, 0);
      const std::int64_t high =
          g.source + std::max<std::int64_t>(along, 0) + std::max<std::int64_t>(across, 0);
      if (low < 0 || high >= limit)
        fail("run {}: reads halfwords {}..{}, outside 0..{}", i, low, high, limit - 1);
      range(s.address, 2 * static_cast<std::uint64_t>(high + 1));
    }
    range(s.address, 2 * total);
  }
  void step(const StepReset& s) {
    cycles(s.cycles);
    baseline_[mesh_].reset();
  }
  void step(const StepPeStream& s) const {
    coord(s.node);
    if (s.data.empty()) fail("the stream is empty");
  }
  void step(const StepFirmware& s) const {
    coord(s.node);
    if (s.data.empty()) fail("the image is empty");
    if (s.address + std::uint64_t{s.data.size()} > 1ull << 32) fail("runs past the 32-bit address space");
  }
  std::uint64_t checked_bytes(const ImageBytes& data) const {
    const std::uint64_t bytes = data.size ? data.size : data.data.size();
    if (bytes < data.data.size()) fail("size {} is less than the {} bytes given", bytes, data.data.size());
    return bytes;
  }

  const Program& p_;
  std::string at_;
  unsigned mesh_ = 0;
  std::uint64_t image_total_ = 0;
  std::bitset<256> baseline_[kMaxMeshes];
};

}  // namespace

void validate(const Program& program) { Validator(program).run(); }

}  // namespace ktpu::arch
