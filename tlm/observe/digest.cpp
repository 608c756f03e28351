// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/digest.h"

#include <cstring>
#include <string_view>

namespace ktpu::observe {
namespace {

class DigestArchive final : public sim::Archive {
 public:
  explicit DigestArchive(DigestOf what) : counters_(what == DigestOf::kStateAndCounters) {}

  std::uint64_t result() const { return mix(hash_ ^ length_); }

  // A multiply-xor chain over 64-bit words: every word changes the whole state, order matters.
  void word(std::uint64_t value) {
    hash_ = mix(hash_ ^ value);
    ++length_;
  }
  void block(const void* data, std::size_t bytes) {
    word(bytes);
    const auto* at = static_cast<const unsigned char*>(data);
    for (; bytes >= 8; bytes -= 8, at += 8) {
      std::uint64_t value;
      std::memcpy(&value, at, 8);
      word(value);
    }
    if (bytes == 0) return;
    std::uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    word(value);
  }
  void text(std::string_view text) { block(text.data(), text.size()); }

 protected:
  void on_value(std::string_view name, void* value, std::size_t bytes, const sim::ValueInfo& info) override {
    if (info.kind == sim::ValueKind::kCounter && !counters_) return;
    text(name);
    block(value, bytes);
  }
  void on_computed(std::string_view name, std::uint64_t value, const sim::ValueInfo&) override {
    text(name);
    word(value);
  }
  void on_memory(std::string_view name, void* data, std::size_t element_bytes, std::size_t count) override {
    text(name);
    block(data, element_bytes * count);
  }
  void on_enter(std::string_view name) override { text(name); }
  void on_leave() override { word(0x2E); }

 private:
  // The finaliser of the SplitMix64 generator: a bijection that spreads every bit.
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }

  bool counters_;
  std::uint64_t hash_ = 0;
  std::uint64_t length_ = 0;
};

void add_link(DigestArchive& archive, sim::LinkBase& link, DigestOf what) {
  archive.text(link.name());
  archive.word(static_cast<std::uint64_t>(link.valid()) | static_cast<std::uint64_t>(link.busy()) << 1);
  if (const auto* flits = dynamic_cast<const sim::FlitLink*>(&link); flits != nullptr && link.valid())
    archive.block(flits->data().w.data(), sizeof flits->data().w);
  if (what == DigestOf::kState) return;
  archive.word(link.transferred());
  archive.word(link.stalled_cycles());
}

}  // namespace

std::uint64_t digest(sim::Unit& unit, DigestOf what) {
  DigestArchive archive(what);
  archive.text(unit.name());
  unit.visit(archive);
  return archive.result();
}

std::uint64_t combine(std::uint64_t first, std::uint64_t second) {
  DigestArchive archive(DigestOf::kStateAndCounters);
  archive.word(first);
  archive.word(second);
  return archive.result();
}

std::uint64_t digest(sim::Engine& engine, DigestOf what) {
  engine.sync();
  DigestArchive archive(what);
  for (sim::Unit* unit : engine.units()) {
    archive.text(unit->name());
    unit->visit(archive);
  }
  for (sim::LinkBase* link : engine.links()) add_link(archive, *link, what);
  return archive.result();
}

}  // namespace ktpu::observe
