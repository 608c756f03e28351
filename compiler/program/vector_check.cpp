// SPDX-License-Identifier: Apache-2.0
#include "compiler/program/vector_check.h"

#include <fmt/format.h>

#include "arch/program/vector_place.h"

namespace ktpu::program {
namespace {

// Footprints from here to all of L1, but not all, give wrong results on the machine (section 2).
constexpr std::uint64_t kL1Safe = 320, kL1Words = 512;
constexpr std::uint64_t kLongestWalk = 256;
constexpr std::uint32_t kWordLanes = 16;
constexpr unsigned kAddressBits = 40, kDimBits = 34;

}  // namespace

std::uint64_t VectorCheck::Descriptor::walk() const {
  std::uint64_t words = 1;
  for (const std::uint32_t bound : bounds) words *= std::max(1u, bound);  // 16 bits each
  return words;
}

void VectorCheck::touch(std::uint64_t first, std::uint64_t words) {
  l1_words_ = std::max(l1_words_, first + std::min(words, 2 * kL1Words));
}

std::string VectorCheck::step(const arch::VectorInst& inst) {
  if (inst.is(arch::VectorOp::kImem)) {
    if (inst.addr >= kImageWords)
      return fmt::format("word {} of an image; it has {}", inst.addr, kImageWords);
    image_[inst.addr] = inst.word;
    return {};
  }
  if (inst.is(arch::VectorOp::kDesc)) {
    if (inst.ad >= kDescriptors) return fmt::format("descriptor {}; there are {}", inst.ad, kDescriptors);
    if (inst.fld > kDims) return fmt::format("descriptors have no field {}", inst.fld);
    if (inst.value >> (inst.fld == 0 ? kAddressBits : kDimBits) != 0)
      return fmt::format("value {:#x} is too wide", inst.value);
    if (inst.fld == 0)
      descriptors_[inst.ad].base = inst.value;
    else
      descriptors_[inst.ad].bounds[inst.fld - 1] = inst.value & 0xFFFF;
    return {};
  }
  if (inst.is(arch::VectorOp::kRun)) return run(inst.addr);
  return fmt::format("no vector core knows opcode {}", inst.op);
}

std::string VectorCheck::run(std::uint32_t pc) {
  arch::VectorPlace place;
  l1_words_ = longest_ = 0;
  for (;; ++pc) {
    if (pc >= kImageWords || !image_[pc])
      return fmt::format("the kernel comes to word {}, which holds no instruction, before a VHALT", pc);
    const std::uint32_t bits = *image_[pc];
    const bool plain = !place.constant() && place.stage() == 0;
    place.feed(bits);
    if (!plain) continue;
    const std::optional<std::uint32_t> next = pc + 1 < kImageWords ? image_[pc + 1] : std::nullopt;
    if (!word(arch::decode_vector_word(bits), next.value_or(0))) break;
  }
  if (longest_ > kLongestWalk)
    return fmt::format("a descriptor walks {} words, at most {} are possible", longest_, kLongestWalk);
  if (l1_words_ > kL1Words || (l1_words_ > kL1Safe && l1_words_ != kL1Words))
    return fmt::format("the kernel uses {} words of L1: at most {}, or exactly {}", l1_words_, kL1Safe,
                       kL1Words);
  return {};
}

bool VectorCheck::word(const arch::VectorWord& w, std::uint32_t constant) {
  switch (w.opcode()) {
    case arch::VectorOpcode::kVhalt:
      return false;
    case arch::VectorOpcode::kVseti:
      if (w.sa != static_cast<std::uint32_t>(arch::VectorSource::kConstant) && w.vd < scalars_.size())
        scalars_[w.vd] = constant;
      break;
    case arch::VectorOpcode::kVsetvl:
      if (w.va < scalars_.size()) length_ = scalars_[w.va];
      break;
    case arch::VectorOpcode::kVfill:
    case arch::VectorOpcode::kVdrain:
      longest_ = std::max(longest_, descriptors_[w.ad].walk());
      touch(w.offset, descriptors_[w.ad].walk());
      break;
    case arch::VectorOpcode::kVld:
    case arch::VectorOpcode::kVst: {
      const std::int32_t offset = static_cast<std::int32_t>(w.offset << 18) >> 18;  // 14 bits, signed
      const std::int64_t first = static_cast<std::int64_t>(descriptors_[w.ad].base) + offset;
      touch(static_cast<std::uint64_t>(std::max<std::int64_t>(0, first)),
            (std::uint64_t{length_} + kWordLanes - 1) / kWordLanes);
      break;
    }
    default:
      break;
  }
  return true;
}

}  // namespace ktpu::program
