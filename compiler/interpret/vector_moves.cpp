// SPDX-License-Identifier: Apache-2.0
// What moves data between registers, L1, memory and other units (vector.md sections 4, 5 and 9).
#include <algorithm>

#include "arch/encoding/address_map.h"
#include "arch/error.h"
#include "arch/formats/e8m15.h"
#include "compiler/interpret/vector_core.h"

namespace ktpu::interpret {

using arch::UserError;
using arch::VectorWord;

namespace {

constexpr unsigned kMaxWalk = 256;
constexpr unsigned kHalves = 16, kSingles = 8;  // values of an L1 word

bool wide(const VectorWord& w) { return w.dtype == static_cast<unsigned>(arch::VectorType::kFp32); }

std::int64_t offset_of(const VectorWord& w) {
  constexpr std::int64_t kSign = 1 << 13;
  return (static_cast<std::int64_t>(w.offset) ^ kSign) - kSign;
}

// A finite value that FP16 holds only as its bound.
bool is_saturated(std::uint32_t e8m15, std::uint16_t half) {
  constexpr std::uint32_t kFirst = (15 + 127) << 15 | 0x7FF0;  // 65520
  return (half & 0x7FFF) == 0x7BFF && (e8m15 & 0x7FFFFF) >= kFirst;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) { return std::min<std::uint64_t>(a * b, 65535); }

std::uint64_t checked_total(const Descriptor& d) {
  const std::uint64_t total = d.total();
  if (total > kMaxWalk)
    throw UserError::make("a walk of {} words (fault F_LEN); at most {}", total, kMaxWalk);
  return total;
}

}  // namespace

std::uint64_t Descriptor::total() const { return product(bound[0], bound[1]) * product(bound[2], bound[3]); }

Walk::Walk(const Descriptor& descriptor, std::int64_t offset)
    : d_(descriptor), address_(descriptor.base + static_cast<std::uint64_t>(offset)) {}

std::uint64_t Walk::next() {
  const std::uint64_t at = address_ & arch::address::kMask;
  for (unsigned d = 0; d < index_.size(); ++d) {
    const auto stride = static_cast<std::uint64_t>(std::int64_t{d_.stride[d]});
    if (index_[d] + 1 < d_.bound[d]) {
      ++index_[d];
      address_ += stride;
      // Inner dimensions start over.
      for (unsigned inner = 0; inner < d; ++inner) {
        address_ -= static_cast<std::uint64_t>(std::int64_t{d_.stride[inner]}) * index_[inner];
        index_[inner] = 0;
      }
      return at;
    }
  }
  return at;
}

void VectorCore::convert(const VectorWord& w) {
  if (wide(w)) {
    std::copy_n(v_[w.va].begin(), moved(), v_[w.vd].begin());
    return;
  }
  const auto trip = [](std::uint32_t x) { return arch::fp16_to_e8m15(arch::e8m15_to_fp16(x)); };
  const Register from = v_[w.va];
  // Quirk V2: one register read behind; the first chunk is what a beat read last.
  Register before{};
  std::copy_n(v_[last_reg_].begin() + 16 * last_chunk_, 16, before.begin());
  std::copy_n(from.begin(), kMaxLength - 16, before.begin() + 16);
  const Register& source = quirks_ ? before : from;
  std::transform(source.begin(), source.begin() + moved(), v_[w.vd].begin(), trip);
}

void VectorCore::broadcast(const VectorWord& w) {
  if (w.sa == static_cast<unsigned>(arch::VectorSource::kScalar))
    std::fill_n(v_[w.vd].begin(), moved(), s_[w.va]);
  else
    s_[w.vd] = v_[w.va][0];
}

void VectorCore::shuffle(const VectorWord& w) {
  const Register from = v_[w.va];
  const unsigned by = s_[w.vb] & 15;
  for (unsigned e = 0; e < moved(); ++e) v_[w.vd][e] = from[(e & ~15u) | ((e + by) & 15)];
}

void VectorCore::load(const VectorWord& w, Wires& wires) {
  Walk walk(descriptors_[w.ad], offset_of(w));
  const unsigned per_word = wide(w) ? kSingles : kHalves;
  Register& to = v_[w.vd];
  for (unsigned first = 0; first < moved(); first += per_word) {
    const auto at = static_cast<std::size_t>(walk.next() % l1_.size());
    if (!l1_written_.test(at)) wires.warn(fmt::format("VLD reads L1 word {}, which nothing filled", at));
    const Word256& word = l1_[at];
    for (unsigned i = 0; i < per_word; ++i)
      to[first + i] = wide(w)
                          ? arch::fp32_to_e8m15(static_cast<std::uint32_t>(word[i / 2] >> (32 * (i % 2))))
                          : arch::fp16_to_e8m15(static_cast<std::uint16_t>(word[i / 4] >> (16 * (i % 4))));
  }
}

void VectorCore::store(const VectorWord& w) {
  Walk walk(descriptors_[w.ad], offset_of(w));
  const unsigned per_word = wide(w) ? kSingles : kHalves;
  const Register& from = v_[w.vd];
  std::size_t low_place = 0;
  for (unsigned first = 0; first < moved(); first += per_word) {
    Word256 word{};
    for (unsigned i = 0; i < per_word; ++i) {
      const std::uint32_t value = from[first + i];
      if (wide(w)) {
        word[i / 2] |= std::uint64_t{arch::e8m15_to_fp32(value)} << (32 * (i % 2));
      } else {
        const std::uint16_t half = arch::e8m15_to_fp16(value);
        if (is_saturated(value, half)) ++counters_.saturated;
        word[i / 4] |= std::uint64_t{half} << (16 * (i % 4));
      }
    }
    auto at = static_cast<std::size_t>(walk.next() % l1_.size());
    // Quirk V1: the high half of a chunk goes where its low half went.
    const bool high = wide(w) && first % kHalves != 0;
    if (high && quirks_) at = low_place;
    low_place = at;
    l1_[at] = word;
    l1_written_.set(at);
  }
}

void VectorCore::fill(const VectorWord& w, Wires& wires) {
  const std::uint64_t total = checked_total(descriptors_[w.ad]);
  p_.pass(static_cast<unsigned>(8 + 3 * total));
  Walk walk(descriptors_[w.ad], 0);
  for (std::uint64_t k = 0; k < total; ++k) {
    const auto at = static_cast<std::size_t>((w.offset + k) % l1_.size());
    wires.read(walk.next(), {reinterpret_cast<std::uint8_t*>(l1_[at].data()), arch::kWordBytes});
    l1_written_.set(at);
  }
}

void VectorCore::drain(const VectorWord& w, Wires& wires) {
  const std::uint64_t total = checked_total(descriptors_[w.ad]);
  p_.pass(static_cast<unsigned>(10 + 3 * total));
  if (w.peer) return drain_to_node(w, wires);
  Walk walk(descriptors_[w.ad], 0);
  for (std::uint64_t k = 0; k < total; ++k) {
    const auto at = static_cast<std::size_t>((w.offset + k) % l1_.size());
    if (!l1_written_.test(at)) wires.warn(fmt::format("VDRAIN sends L1 word {}, which nothing wrote", at));
    wires.write(walk.next(), {reinterpret_cast<const std::uint8_t*>(l1_[at].data()), arch::kWordBytes}, {});
  }
}

void VectorCore::drain_to_node(const VectorWord& w, Wires& wires) {
  const std::uint64_t base[2] = {descriptors_[w.ad].base, 0};
  const auto peer = arch::unpack_payload<arch::VectorPeer>(base);
  const std::uint64_t total = descriptors_[w.ad].total();
  std::vector<Word256> words(static_cast<std::size_t>(total));
  for (std::size_t k = 0; k < words.size(); ++k) words[k] = l1_[(w.offset + k) % l1_.size()];
  arch::CuDataDesc desc;
  desc.buf_id = w.buf;
  desc.offset = peer.offset;
  desc.len = static_cast<std::uint32_t>(total - 1);
  desc.flags = w.signal ? arch::kCuDataSignal : 0;
  desc.ack_x = peer.ack_x;
  desc.ack_y = peer.ack_y;
  wires.send({static_cast<std::uint8_t>(w.peer_x), static_cast<std::uint8_t>(w.peer_y)},
             {peer.final_node, peer.mesh}, desc, words);
}

}  // namespace ktpu::interpret
