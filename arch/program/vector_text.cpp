// SPDX-License-Identifier: Apache-2.0
#include "arch/program/vector_text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <utility>

namespace ktpu::arch {
namespace {

constexpr std::array<std::uint32_t VectorWord::*, 3> kSelectors{&VectorWord::sa, &VectorWord::sb,
                                                                &VectorWord::sc};
constexpr std::array<std::uint32_t VectorWord::*, 3> kNumbers{&VectorWord::va, &VectorWord::vb,
                                                              &VectorWord::vc};

// Takes the fields out of a word one by one. What is left at the end has no words in the language.
class WordPrinter {
 public:
  WordPrinter(const VectorWord& w, const VectorPlace& place) : w_(w), place_(place) {}

  std::string run(std::string_view loop_end, std::uint32_t constant) {
    const std::string_view name = kVectorOpcodes[w_.op].name;
    if (w_.arithmetic()) {
      arithmetic(name);
    } else if (place_.stage() > 0) {
      return {};  // the lanes take it for something else (quirk V10)
    } else {
      other(name, loop_end, constant);
    }
    VectorWord nothing;
    nothing.op = w_.op;
    return sayable_ && w_ == nothing ? out_ : std::string();
  }

 private:
  std::uint32_t take(std::uint32_t VectorWord::*field) { return std::exchange(w_.*field, 0); }
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string operand(VectorSource source, std::uint32_t number) {
    if (source == VectorSource::kChain) {
      sayable_ &= number == 0;
      return "C";
    }
    sayable_ &= source != VectorSource::kConstant || number < 4;
    return fmt::format("{}{}", kSourceLetters[static_cast<std::size_t>(source)], number);
  }
  std::string slot(std::size_t i) {
    const auto source = static_cast<VectorSource>(take(kSelectors[i]));
    return operand(source, take(kNumbers[i]));
  }

  void arithmetic(std::string_view name) {
    const std::uint8_t reads = kVectorOpcodes[w_.op].reads;
    bool chain = place_.stage() > 0 || chain_depth(place_.mode) > 1;
    for (std::size_t i = 0; i < 3; ++i)
      chain |= (reads >> i & 1) && static_cast<VectorSource>(w_.*kSelectors[i]) == VectorSource::kChain;
    const bool compare = w_.compare();
    if (compare)
      put("{} P{}", name, take(&VectorWord::pr));
    else
      put("{} v{}", name, take(&VectorWord::vd));
    for (std::size_t i = 0; i < 3; ++i)
      if (reads >> i & 1) put(", {}", slot(i));
    if (!compare && (w_.pm == 1 || w_.pm == 2)) {
      const bool set = take(&VectorWord::pm) == 1;
      put(" where {}P{}", set ? "" : "not ", take(&VectorWord::pr));
    } else {
      if (w_.pm != 0) put(" pm={}", take(&VectorWord::pm));
      if (w_.pr != 0) put(" pr=P{}", take(&VectorWord::pr));
    }
    const SlotFill fill = slot_fill(chain);
    for (std::size_t i = 0; i < 3; ++i) {
      if (reads >> i & 1) continue;
      const bool filled =
          static_cast<VectorSource>(w_.*kSelectors[i]) == fill.source && w_.*kNumbers[i] == fill.number;
      const std::string text = slot(i);
      if (!filled) put(" {}={}", "abc"[i], text);
    }
    if (w_.vd != 0) put(" d=v{}", take(&VectorWord::vd));
  }

  void memory_type() {
    const std::uint32_t type = take(&VectorWord::dtype);
    sayable_ &= type == 1 || type == 2;
    if (sayable_) put(".{}", kVectorTypeNames[type]);
  }

  void other(std::string_view name, std::string_view loop_end, std::uint32_t constant) {
    using V = VectorWord;
    out_ = name;
    switch (w_.opcode()) {
      case VectorOpcode::kVcvt:
        memory_type();
        put(" v{}, v{}", take(&V::vd), take(&V::va));
        break;
      case VectorOpcode::kVred:
        reduction();
        break;
      case VectorOpcode::kVld:
      case VectorOpcode::kVst: {
        memory_type();
        put(" v{}, A{}", take(&V::vd), take(&V::ad));
        const auto offset = static_cast<std::int32_t>(take(&V::offset) << 18) >> 18;
        if (offset != 0) put(", {}", offset);
        break;
      }
      case VectorOpcode::kVbcast:
        sayable_ &= w_.sa <= 1;
        if (take(&V::sa) == 1)
          put(" v{}, S{}", take(&V::vd), take(&V::va));
        else
          put(" S{}, v{}", take(&V::vd), take(&V::va));
        break;
      case VectorOpcode::kVshuf:
        put(" v{}, v{}, S{}", take(&V::vd), take(&V::va), take(&V::vb));
        break;
      case VectorOpcode::kVsetvl:
        put(" S{}", take(&V::va));
        break;
      case VectorOpcode::kVsetmode:
        sayable_ &= w_.va < 4;
        put(" {}", kVectorModeNames[take(&V::va) & 3]);
        break;
      case VectorOpcode::kVseti:
        sayable_ &= w_.sa == 0 || (w_.sa == 3 && w_.vd == 0);
        if (take(&V::sa) == 3)
          put(" K3");
        else
          put(" S{}", take(&V::vd));
        put(", {}", vector_constant_to_text(constant));
        break;
      case VectorOpcode::kVloop: {
        put(" S{}", take(&V::va));
        const std::uint32_t words = take(&V::vb);
        put(", {}", loop_end.empty() ? std::to_string(words) : std::string(loop_end));
        break;
      }
      case VectorOpcode::kVfill:
        put(" A{}, {}", take(&V::ad), take(&V::offset));
        break;
      case VectorOpcode::kVdrain:
        put(" A{}, {}", take(&V::ad), take(&V::offset));
        if (take(&V::peer) != 0) {
          put(" to=({},{})", take(&V::peer_x), take(&V::peer_y));
          if (take(&V::signal) != 0) put(" signal");
          if (w_.buf != 0) put(" buf={}", take(&V::buf));
        }
        break;
      default:  // VBAR, VHALT
        break;
    }
  }

  void reduction() {
    using V = VectorWord;
    const auto kind = static_cast<ReduceKind>(w_.kind);
    put(".{} S{}", kReduceNames[take(&V::kind)], take(&V::vd));
    if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) {
      put(", P{}", take(&V::pr));
      if (w_.va != 0) put(" a=v{}", take(&V::va));
    } else {
      const std::uint32_t a = take(&V::va);
      put(", v{}", a);
      const bool square = kind == ReduceKind::kSumsq && w_.vb == a;
      const bool pair = kind == ReduceKind::kDot || kind == ReduceKind::kExpsum || kind == ReduceKind::kSumsq;
      if (pair) {
        const std::uint32_t b = take(&V::vb);
        if (!square) put(", v{}", b);
      }
    }
    if (w_.vb != 0) put(" b=v{}", take(&V::vb));
    if (w_.pr != 0) put(" pr=P{}", take(&V::pr));
  }

  VectorWord w_;
  const VectorPlace& place_;
  bool sayable_ = true;
  std::string out_;
};

}  // namespace

std::string vector_word_to_text(std::uint32_t word, const VectorPlace& place, std::string_view loop_end,
                                std::uint32_t constant) {
  if (place.constant()) return {};
  const VectorWord w = decode_vector_word(word);
  if (w.opcode() == VectorOpcode::kVseti && constant >> 24 != 0) return {};
  return WordPrinter(w, place).run(loop_end, constant);
}

double vector_constant_value(std::uint32_t bits) {
  return static_cast<double>(std::bit_cast<float>(bits << 8));
}

std::string vector_constant_to_text(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> 15 & 0xFF;
  const bool negative = (bits >> 23 & 1) != 0;
  if ((bits & 0x7FFFFF) == 0) return negative ? "-0.0" : "0.0";
  if (bits == 0x7F8000 || bits == 0xFF8000) return negative ? "-inf" : "inf";
  if (exponent == 0 && !negative) return fmt::format("int {}", bits);
  // A number stands as one when it is short; the digits read back exactly.
  if (exponent != 0 && exponent != 255) {
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), vector_constant_value(bits)).ptr;
    std::string text(digits.data(), end);
    if (text.size() <= 10) {
      if (text.find_first_of(".e") == std::string::npos) text += ".0";
      return text;
    }
  }
  return fmt::format("{:#08x}", bits);
}

std::string descriptor_field_to_text(const VectorInst& desc) {
  if (desc.fld == 0) return fmt::format("A{}.base={:#x}", desc.ad, desc.value);
  if (desc.fld > 4 || desc.value >> 34 != 0) return {};
  const auto stride = static_cast<std::int32_t>(desc.value >> 16 << 14 & 0xFFFFFFFF) >> 14;
  return fmt::format("A{}.dim{}=({},{})", desc.ad, desc.fld - 1, stride, desc.value & 0xFFFF);
}

}  // namespace ktpu::arch
