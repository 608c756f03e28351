// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/cluster.h"

#include <algorithm>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/error.h"
#include "arch/formats/quantise.h"

namespace ktpu::interpret {

using arch::ClusterInst;
using arch::ClusterOp;
using arch::OperandEntry;
using arch::UserError;

namespace {

constexpr unsigned kBankEntries = 256, kMaxFill = 255, kBurst = 8;
constexpr unsigned kRawBuffer = 2;  // CU_DATA buffer of resident tiles
constexpr char kSideName[] = {'A', 'B'};

Word256 word_at(const std::uint8_t* bytes) {
  Word256 word;
  std::memcpy(word.data(), bytes, arch::kWordBytes);
  return word;
}

// Whether a fused DRAIN sends its results where the sweep does (section 5.5).
bool same_destination(const ClusterInst& a, const ClusterInst& b) {
  if (a.addr != b.addr || a.dnode != b.dnode || a.dfin != b.dfin || (a.dfin != 0 && a.dmesh != b.dmesh))
    return false;
  return a.dnode == 0 || (a.dst_x == b.dst_x && a.dst_y == b.dst_y && a.dbuf == b.dbuf &&
                          a.dflags == b.dflags && a.dack_x == b.dack_x && a.dack_y == b.dack_y);
}

}  // namespace

Cluster::Cluster(const UnitFacts& facts, Rounding rounding, Counters& counters)
    : facts_(facts), counters_(counters), accumulator_(facts.tiles, facts.acc_mw, rounding) {
  const std::array<unsigned, 2> depth{facts.l1_a, facts.l1_b};
  for (unsigned side = 0; side < 2; ++side) {
    l1_[side].entries.resize(depth[side]);
    l1_[side].written.resize(depth[side]);
  }
}

bool Cluster::execute(const ClusterInst& inst, Wires& wires) {
  if (inst.is(ClusterOp::kFill)) {
    if (!fill(inst, wires)) return false;
    ++counters_.fills;
  } else if (inst.is(ClusterOp::kGemm)) {
    gemm(inst, wires);
    ++counters_.gemms;
  } else if (inst.is(ClusterOp::kDrain)) {
    drain(inst, wires);
    ++counters_.drains;
  } else {
    return true;  // any other op retires without effect and does not count
  }
  ++retired_;
  return true;
}

bool Cluster::leads(const ClusterInst& inst) const {
  for (unsigned i = 0; i < inst.npeer; ++i)
    if (inst.peer(i) < facts_.at.node_byte()) return false;
  return true;
}

void Cluster::check_sweep(unsigned side, unsigned begin, unsigned end, const char* who) const {
  const Range& r = swept_[side];
  if (begin < r.end && r.begin < end)
    throw UserError::make(
        "{} writes L1 {} entries {} up to {}, which the sweep in flight reads ({} up to {}); use the other "
        "bank or drain first",
        who, kSideName[side], begin, end, r.begin, r.end);
}

void Cluster::put(unsigned side, unsigned entry, const SharedEntry& from) {
  const std::size_t at = entry % l1_[side].entries.size();
  OperandEntry& to = l1_[side].entries[at];
  if (side == static_cast<unsigned>(from.side))
    to = from.entry;
  else  // the words were packed for the other side
    for (unsigned w = 0; w < arch::kEntryWords; ++w)
      arch::store_operand_word(static_cast<arch::Side>(side), w,
                               arch::operand_word(from.side, w, from.entry).data(), to);
  l1_[side].written[at] = true;
}

bool Cluster::fill(const ClusterInst& inst, Wires& wires) {
  const unsigned n = inst.eff_n();
  if (n > kMaxFill) throw UserError::make("a FILL of {} entries never completes; at most {}", n, kMaxFill);
  const std::size_t bank = std::min<std::size_t>(kBankEntries, l1_[inst.sel].entries.size());
  if (inst.eoff + n > bank)
    throw UserError::make("a FILL of entries {} up to {} overruns its L1 {} bank of {}", inst.eoff,
                          inst.eoff + n, kSideName[inst.sel], bank);
  const unsigned first = inst.fbank * kBankEntries;
  check_sweep(inst.sel, first + inst.eoff, first + inst.eoff + n, "a FILL");
  if (!leads(inst)) {
    if (shared_.size() < n) return false;
    for (unsigned i = 0; i < n; ++i) {
      put(inst.sel, first + shared_.front().slot, shared_.front());
      shared_.pop_front();
    }
    return true;
  }
  const auto side = static_cast<arch::Side>(inst.sel);
  const unsigned entry_bytes = inst.preq ? arch::address::kEntryBytesMxfp7 : arch::address::kEntryBytesFp16;
  std::vector<std::uint8_t> bytes(std::size_t{n} * entry_bytes);
  wires.read(inst.addr, bytes);
  SharedEntry entry;
  entry.side = side;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint8_t* from = bytes.data() + std::size_t{i} * entry_bytes;
    if (inst.preq) {
      for (unsigned w = 0; w < arch::kEntryWords; ++w)
        arch::store_operand_word(side, w, word_at(from + w * arch::kWordBytes).data(), entry.entry);
    } else {
      std::array<std::uint16_t, arch::kLanes * arch::kBlockK> source;
      std::memcpy(source.data(), from, sizeof source);
      entry.entry = arch::quantise_entry(source);
    }
    entry.slot = (inst.eoff + i) & 255;
    put(inst.sel, first + entry.slot, entry);
    for (unsigned p = 0; p < inst.npeer; ++p) wires.share(inst.peer(p), entry);
  }
  return true;
}

void Cluster::gather(unsigned side, unsigned bank, unsigned offset, unsigned count,
                     std::vector<const OperandEntry*>& list, Wires& wires) {
  if (offset + count > kBankEntries)
    throw UserError::make("a GEMM reads L1 {} entries {} up to {}, past its bank of {}", kSideName[side],
                          offset, offset + count, kBankEntries);
  const L1& l1 = l1_[side];
  list.resize(count);
  bool missing = false;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t at = (bank * kBankEntries + offset + i) % l1.entries.size();
    list[i] = &l1.entries[at];
    missing = missing || !l1.written[at];
  }
  if (missing)
    wires.warn(fmt::format("a GEMM reads L1 {} entries among {} up to {} of bank {} that nothing filled",
                           kSideName[side], offset, offset + count, bank));
  swept_[side] = {bank * kBankEntries + offset, bank * kBankEntries + offset + count};
}

void Cluster::gemm(const ClusterInst& inst, Wires& wires) {
  const unsigned gm = inst.eff_gm(), gn = inst.eff_gn(), nk = inst.eff_nk();
  if (gm * gn > accumulator_.tiles())
    throw UserError::make("a GEMM of {} x {} sub-tiles does not fit the {} of the accumulator", gm, gn,
                          accumulator_.tiles());
  if (inst.emit && !inst.acc && nk == 1)
    throw UserError("a GEMM with emit, acc = 0 and nk = 1 emits nothing and hangs");
  if (inst.emit && inst.dnode && inst.dbuf == kRawBuffer)
    throw UserError("a GEMM cannot emit raw tiles (dbuf 2)");
  if (inst.emit && emission_) throw UserError("a second GEMM emits before the fused DRAIN of the first");
  gather(0, inst.abank, inst.aoff, gm * nk, a_, wires);
  gather(1, inst.bbank, inst.boff, gn * nk, b_, wires);
  for (unsigned g = 0; g < gm; ++g)
    for (unsigned h = 0; h < gn; ++h) {
      const unsigned tile = g * gn + h;
      if (inst.acc && !accumulator_.loaded(tile))
        wires.warn(fmt::format("a GEMM adds to tile {}, which nothing loaded", tile));
      accumulator_.sweep(tile, &a_[g * nk], &b_[h * nk], nk, inst.anchor, inst.acc != 0);
    }
  if (!inst.emit) return;
  granules_.resize(gm * gn);
  for (unsigned t = 0; t < gm * gn; ++t) granules_[t] = accumulator_.emit(t, counters_.saturated);
  write_back(inst, granules_, wires);
  emission_ = Emission{inst, gm * gn};
}

void Cluster::drain(const ClusterInst& inst, Wires& wires) {
  const unsigned n = inst.eff_n();
  swept_ = {};
  if (inst.fuse) {
    if (!emission_) throw UserError("a fused DRAIN without a GEMM that emits never completes");
    if (n != emission_->tiles)
      throw UserError::make("a fused DRAIN of {} sub-tiles behind a GEMM that emits {}", n, emission_->tiles);
    if (!same_destination(inst, emission_->gemm))
      throw UserError("a fused DRAIN and its GEMM name different destinations");
    emission_.reset();
    return;
  }
  if (emission_) throw UserError("a DRAIN in front of the fused DRAIN of the GEMM that emits");
  if (n > accumulator_.tiles())
    throw UserError::make("a DRAIN of {} sub-tiles of {}", n, accumulator_.tiles());
  granules_.clear();
  bool missing = false;
  for (unsigned t = 0; t < n; ++t) {
    missing = missing || !accumulator_.loaded(t);
    if (inst.dnode && inst.dbuf == kRawBuffer) {
      for (const Word256& half : accumulator_.send(t)) granules_.push_back(half);
    } else {
      granules_.push_back(accumulator_.emit(t, counters_.saturated));
    }
  }
  if (missing) wires.warn(fmt::format("a DRAIN of {} sub-tiles reads some that nothing loaded", n));
  write_back(inst, granules_, wires);
}

void Cluster::write_back(const ClusterInst& inst, std::span<const Word256> granules, Wires& wires) {
  const Remote remote{inst.dfin, inst.dmesh};
  for (std::size_t first = 0; first < granules.size(); first += kBurst) {
    const auto burst = granules.subspan(first, std::min<std::size_t>(kBurst, granules.size() - first));
    if (inst.dnode == 0) {
      wires.write(inst.addr + arch::kWordBytes * first,
                  {reinterpret_cast<const std::uint8_t*>(burst.data()), burst.size_bytes()}, remote);
      continue;
    }
    arch::CuDataDesc desc;
    desc.buf_id = inst.dbuf;
    desc.offset = static_cast<std::uint32_t>(((inst.addr >> 5) + first) & 0xFFFF);
    desc.len = static_cast<std::uint32_t>(burst.size() - 1);
    desc.flags = inst.dflags;
    desc.ack_x = inst.dack_x;
    desc.ack_y = inst.dack_y;
    wires.send({static_cast<std::uint8_t>(inst.dst_x), static_cast<std::uint8_t>(inst.dst_y)}, remote, desc,
               burst);
  }
}

void Cluster::receive(const Stream& stream, Wires&) {
  const unsigned first = stream.desc.offset, last = first + stream.desc.len, buf = stream.desc.buf_id;
  const std::size_t granules = buf > kRawBuffer    ? 0
                               : buf == kRawBuffer ? std::size_t{2} * accumulator_.tiles()
                                                   : arch::kEntryWords * l1_[buf].entries.size();
  if (buf > kRawBuffer || last >= granules || (buf == kRawBuffer && first % 2 != 0))
    throw UserError::make("data for granules {} up to {} of buffer {} is rejected: out of range", first,
                          last + 1, buf);
  if (buf == kRawBuffer) {
    for (unsigned g = first; g + 1 <= last; g += 2)
      accumulator_.add_peer(
          g / 2,
          arch::unpack_granules({stream.words[g - first], stream.words[g + 1 - first]}, facts_.acc_mw));
    return;
  }
  check_sweep(buf, first / arch::kEntryWords, last / arch::kEntryWords + 1, "data from another unit");
  for (unsigned g = first; g <= last; ++g) {
    const std::size_t at = g / arch::kEntryWords;
    arch::store_operand_word(static_cast<arch::Side>(buf), g % arch::kEntryWords,
                             stream.words[g - first].data(), l1_[buf].entries[at]);
    if (g % arch::kEntryWords == arch::kEntryWords - 1) l1_[buf].written[at] = true;
  }
}

}  // namespace ktpu::interpret
