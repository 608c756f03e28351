// SPDX-License-Identifier: Apache-2.0
#include "arch/program/vector_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "arch/program/vector_text.h"
#include "arch/suggest.h"

namespace ktpu::arch {
namespace {

constexpr std::uint32_t kImemWords = 512;
constexpr std::uint32_t kLoopWords = 15;
constexpr std::array<std::uint32_t VectorWord::*, 3> kSelectors{&VectorWord::sa, &VectorWord::sb,
                                                                &VectorWord::sc};
constexpr std::array<std::uint32_t VectorWord::*, 3> kNumbers{&VectorWord::va, &VectorWord::vb,
                                                              &VectorWord::vc};

// Registers of each file, by letter.
constexpr std::uint32_t file_size(char kind) {
  switch (kind) {
    case 'v':
    case 'S':
      return 16;
    case 'A':
      return 8;
    default:
      return 4;
  }
}

std::vector<std::string> mnemonics() {
  std::vector<std::string> names{".word", ".equ", ".mode"};
  for (std::size_t i = 0; i < kVectorOpcodes.size(); ++i) {
    const auto op = static_cast<VectorOpcode>(i);
    const std::string name(kVectorOpcodes[i].name);
    if (op == VectorOpcode::kVcvt || op == VectorOpcode::kVld || op == VectorOpcode::kVst)
      for (const std::size_t type : {1, 2})
        names.push_back(fmt::format("{}.{}", name, kVectorTypeNames[type]));
    else if (op == VectorOpcode::kVred)
      for (const std::string_view kind : kReduceNames) names.push_back(fmt::format("{}.{}", name, kind));
    else
      names.push_back(name);
  }
  return names;
}
std::string suggestion(std::string_view word) {
  static const std::vector<std::string> names = mnemonics();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(word, views);
}

std::string list_of(std::string_view kinds) {
  std::string out;
  for (const char kind : kinds) {
    if (!out.empty()) out += kind == kinds.back() ? " or " : ", ";
    out += kind == 'C' ? "C" : fmt::format("{}0..{}{}", kind, kind, file_size(kind) - 1);
  }
  return out;
}

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::vector<std::uint32_t> VectorKernel::read() {
  in_.skip_newlines();
  while (!in_.take('}')) {
    line();
    in_.skip_newlines();
  }
  for (const Loop& l : loops_) resolve(l);
  return std::move(words_);
}

void VectorKernel::emit(std::uint32_t word) {
  words_.push_back(word);
  place_.feed(word);
}

void VectorKernel::line() {
  const Token t = in_.peek();
  const std::string text = in_.word("an instruction, a label or '}'");
  if (text.ends_with(':')) {
    label(t);
    return;  // an instruction may follow
  }
  if (text.starts_with('.'))
    directive(t);
  else
    instruction(t);
  if (in_.peek().kind != Token::Kind::kNewline && !in_.peek().is('}'))
    in_.fail(in_.peek(),
             fmt::format("{} should end here, but {} follows", text, TokenReader::shown(in_.peek())));
  if (here() > kImemWords)
    in_.fail(t, fmt::format("word {}: the instruction memory ends at 511", here() - 1));
}

void VectorKernel::label(const Token& t) {
  const std::string name = t.text.substr(0, t.text.size() - 1);
  if (!is_name(name)) in_.fail(t, fmt::format("\"{}\" is no name for a label: letters, digits and _", name));
  if (const auto [old, fresh] = labels_.try_emplace(name, here()); !fresh)
    in_.fail(t, fmt::format("label \"{}\" stands at word {} already", name, old->second));
}

// --- directives

void VectorKernel::equ() {
  const Token t = in_.peek();
  const std::string name = in_.word("a name");
  Register r;
  if (!is_name(name) || is_register(t, r))
    in_.fail(t, fmt::format("\"{}\" can't be a name: letters, digits and _, no register", name));
  in_.expect('=');
  const Token v = in_.peek();
  in_.word("a register or a number");
  names_[name] = meaning(v);
}

void VectorKernel::directive(const Token& t) {
  if (t.text == ".word") {
    emit(in_.number32("the word"));
  } else if (t.text == ".equ") {
    equ();
  } else if (t.text == ".mode") {
    const Token m = in_.peek();
    const std::string name = in_.word("FLAT, D2, D4 or TREE");
    const auto* found = std::find(kVectorModeNames.begin(), kVectorModeNames.end(), name);
    if (found == kVectorModeNames.end())
      in_.fail(m, fmt::format("\"{}\" is no lane mode (FLAT D2 D4 TREE){}", name,
                              did_you_mean(name, kVectorModeNames)));
    place_.mode = static_cast<VectorMode>(found - kVectorModeNames.begin());
  } else {
    in_.fail(t, fmt::format("\"{}\" is no directive (.word .equ .mode){}", t.text, suggestion(t.text)));
  }
}

// --- operands

const std::string& VectorKernel::meaning(const Token& t) const {
  const auto it = names_.find(t.text);
  return it == names_.end() ? t.text : it->second;
}

std::uint32_t VectorKernel::number(std::string_view what, std::uint32_t max) {
  const Token& t = in_.peek();
  std::uint64_t v = 0;
  if (t.kind != Token::Kind::kWord || !parse_number(meaning(t), v))
    in_.fail(t, fmt::format("{} expected (a number), not {}", what, TokenReader::shown(t)));
  if (v > max) in_.fail(t, fmt::format("{} {} is above {}", what, meaning(t), max));
  in_.next();
  return static_cast<std::uint32_t>(v);
}

bool VectorKernel::is_register(const Token& t, Register& r) const {
  const std::string& text = meaning(t);
  if (t.kind != Token::Kind::kWord || text.empty() ||
      std::string_view("vSCKPA").find(text[0]) == std::string_view::npos)
    return false;
  r = {text[0], 0};
  if (text == "C") return true;
  std::uint64_t n = 0;
  const std::string_view digits = std::string_view(text).substr(1);
  if (text[0] == 'C' || digits.size() > 2 || digits.find_first_not_of("0123456789") != digits.npos ||
      !parse_number(digits, n) || n >= file_size(text[0]))
    return false;
  r.number = static_cast<std::uint32_t>(n);
  return true;
}

VectorKernel::Register VectorKernel::reg(std::string_view kinds) {
  const Token& t = in_.peek();
  Register r;
  if (!is_register(t, r) || kinds.find(r.kind) == std::string_view::npos) {
    std::vector<std::string_view> names;
    for (const auto& n : names_) names.push_back(n.first);
    in_.fail(t, fmt::format("{} expected, not {}{}", list_of(kinds), TokenReader::shown(t),
                            t.kind == Token::Kind::kWord && t.text.size() > 2 ? did_you_mean(t.text, names)
                                                                              : std::string()));
  }
  in_.next();
  return r;
}

void VectorKernel::set_slot(VectorWord& w, std::size_t slot, Register r) {
  w.*kSelectors[slot] = static_cast<std::uint32_t>(kSourceLetters.find(r.kind));
  w.*kNumbers[slot] = r.number;
}

// --- instructions

void VectorKernel::instruction(const Token& t) {
  const std::size_t dot = t.text.find('.');
  const std::string_view whole = t.text, name = whole.substr(0, dot);
  const std::string_view suffix = dot == std::string::npos ? std::string_view() : whole.substr(dot + 1);
  const auto* info = std::find_if(kVectorOpcodes.begin(), kVectorOpcodes.end(),
                                  [&](const VectorOpcodeInfo& i) { return i.name == name; });
  if (info == kVectorOpcodes.end())
    in_.fail(t, fmt::format("\"{}\" is no instruction of the vector core{}", t.text, suggestion(t.text)));
  VectorWord w;
  w.op = static_cast<std::uint32_t>(info - kVectorOpcodes.begin());
  const VectorOpcode op = w.opcode();
  const bool typed = op == VectorOpcode::kVcvt || op == VectorOpcode::kVld || op == VectorOpcode::kVst;
  if (!typed && op != VectorOpcode::kVred && dot != std::string::npos)
    in_.fail(t, fmt::format("{} has no kinds: write {}", name, name));
  if (place_.constant())
    in_.fail(t, "the word behind a VSETI is its constant: write it with .word, or VSETI S0, CONSTANT");
  if (w.arithmetic()) {
    arithmetic(w);
    emit(w);
    return;
  }
  if (place_.stage() > 0)
    in_.fail(t, fmt::format("stage {} of a chain must be arithmetic; the lanes take {} for another operation "
                            "(quirk V10)",
                            place_.stage(), name));
  switch (op) {
    case VectorOpcode::kVcvt:
      w.dtype = memory_type(t, suffix);
      w.vd = reg_number("v");
      comma();
      w.va = reg_number("v");
      break;
    case VectorOpcode::kVred:
      reduction(w, t, suffix);
      break;
    case VectorOpcode::kVld:
    case VectorOpcode::kVst:
      w.dtype = memory_type(t, suffix);
      w.vd = reg_number("v");
      comma();
      w.ad = reg_number("A");
      if (in_.take(',')) {
        const Token& o = in_.peek();
        const std::int64_t offset = in_.signed_number("the offset");
        if (offset < -8192 || offset > 8191)
          in_.fail(o, fmt::format("offset {} is outside -8192..8191", offset));
        w.offset = static_cast<std::uint32_t>(offset) & 0x3FFF;
      }
      break;
    case VectorOpcode::kVbcast: {
      const Register d = reg("vS");
      w.vd = d.number;
      w.sa = d.kind == 'v';
      comma();
      w.va = reg_number(d.kind == 'v' ? "S" : "v");
      break;
    }
    case VectorOpcode::kVshuf:
      w.vd = reg_number("v");
      comma();
      w.va = reg_number("v");
      comma();
      w.vb = reg_number("S");
      break;
    case VectorOpcode::kVsetvl:
      w.va = reg_number("S");
      break;
    case VectorOpcode::kVsetmode: {
      const Token m = in_.peek();
      directive({Token::Kind::kWord, ".mode", m.line, m.column});
      w.va = static_cast<std::uint32_t>(*place_.mode);
      break;
    }
    case VectorOpcode::kVseti:
      vseti(w);
      return;
    case VectorOpcode::kVloop:
      loop(w);
      break;
    case VectorOpcode::kVfill:
    case VectorOpcode::kVdrain:
      w.ad = reg_number("A");
      comma();
      w.offset = number("the first L1 word", 511);
      if (op == VectorOpcode::kVdrain) drain_target(w);
      break;
    default:
      break;
  }
  emit(w);
}

std::uint32_t VectorKernel::memory_type(const Token& t, std::string_view suffix) {
  for (const std::uint32_t type : {1u, 2u})
    if (suffix == kVectorTypeNames[type]) return type;
  const std::string name = t.text.substr(0, t.text.find('.'));
  in_.fail(t, fmt::format("{} wants a memory type: {}.fp16 or {}.fp32", name, name, name));
}

void VectorKernel::arithmetic(VectorWord& w) {
  const std::uint8_t reads = kVectorOpcodes[w.op].reads;
  bool chain = place_.depth(encode_vector_word(w)) > 1;
  if (w.compare()) {
    w.pr = reg_number("P");
  } else {
    const Register d = reg("vC");  // C: handed to the next stage, stored nowhere
    chain |= d.kind == 'C';
    w.vd = d.number;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(reads >> i & 1)) continue;
    comma();
    const Register r = reg("vSKC");
    chain |= r.kind == 'C';
    set_slot(w, i, r);
  }
  const SlotFill fill = slot_fill(chain);
  for (std::size_t i = 0; i < 3; ++i) {
    if (reads >> i & 1) continue;
    w.*kSelectors[i] = static_cast<std::uint32_t>(fill.source);
    w.*kNumbers[i] = fill.number;
  }
  predication(w);
}

// where [not] Pn, and the fields that the operation ignores and hazards and quirks do not: a= b= c= d= pr=
// pm=
void VectorKernel::predication(VectorWord& w) {
  const std::uint8_t reads = kVectorOpcodes[w.op].reads;
  while (in_.peek().kind == Token::Kind::kWord) {
    const Token t = in_.next();
    const std::size_t slot =
        t.text.size() == 1 ? std::string_view("abc").find(t.text[0]) : std::string_view::npos;
    if (t.text == "where") {
      if (w.compare()) in_.fail(t, "a compare writes every active element: no `where`");
      w.pm = in_.take_word("not") ? 2 : 1;
      w.pr = reg_number("P");
    } else if (slot != std::string_view::npos && !(reads >> slot & 1)) {
      in_.expect('=');
      set_slot(w, slot, reg("vSKC"));
    } else if (t.text == "d" && w.compare()) {
      in_.expect('=');
      w.vd = reg_number("v");
    } else if (t.text == "pm") {
      in_.expect('=');
      w.pm = number("pm", 3);
    } else if (t.text == "pr" && !w.compare()) {
      in_.expect('=');
      w.pr = reg_number("P");
    } else {
      static constexpr std::array<std::string_view, 2> kWords{"where", "pr"};
      in_.fail(
          t, fmt::format("\"{}\" is not known here (allowed: `where P0`, `where not P0`, fields {} does not "
                         "use){}",
                         t.text, kVectorOpcodes[w.op].name, did_you_mean(t.text, kWords)));
    }
  }
}

void VectorKernel::reduction(VectorWord& w, const Token& t, std::string_view name) {
  const auto* found = std::find(kReduceNames.begin(), kReduceNames.end(), name);
  if (found == kReduceNames.end())
    in_.fail(t, fmt::format("VRED wants a kind: VRED.{}{}", fmt::join(kReduceNames, " VRED."),
                            suggestion(t.text)));
  w.kind = static_cast<std::uint32_t>(found - kReduceNames.begin());
  const auto kind = static_cast<ReduceKind>(w.kind);
  const bool bits = kind == ReduceKind::kAny || kind == ReduceKind::kAll;
  const bool pair = kind == ReduceKind::kDot || kind == ReduceKind::kExpsum;
  w.vd = reg_number("S");
  comma();
  if (bits) {
    w.pr = reg_number("P");
  } else {
    w.va = reg_number("v");
    if (kind == ReduceKind::kSumsq) w.vb = w.va;  // the hardware multiplies va by vb
    if (pair) comma();
    if (pair || (kind == ReduceKind::kSumsq && in_.take(','))) w.vb = reg_number("v");
  }
  while (in_.peek().kind == Token::Kind::kWord) {
    const Token o = in_.next();
    const bool a = o.text == "a" && bits, b = o.text == "b" && !pair && kind != ReduceKind::kSumsq;
    if (!a && !b && (o.text != "pr" || bits)) in_.fail(o, fmt::format("\"{}\" is not known here", o.text));
    in_.expect('=');
    (a ? w.va : b ? w.vb : w.pr) = reg_number(a || b ? "v" : "P");
  }
}

void VectorKernel::vseti(VectorWord& w) {
  const Token& t = in_.peek();
  const Register d = reg("SK");
  if (d.kind == 'K') {
    if (d.number != 3) in_.fail(t, fmt::format("K{} is fixed; only K3 can be written", d.number));
    w.sa = 3;
  } else {
    w.vd = d.number;
  }
  comma();
  const std::uint32_t value = constant();
  emit(w);
  emit(value);
}

void VectorKernel::loop(VectorWord& w) {
  w.va = reg_number("S");
  comma();
  const Token t = in_.peek();
  std::uint64_t words = 0;
  if (t.kind == Token::Kind::kWord && parse_number(meaning(t), words)) {
    w.vb = number("the length of the loop", kLoopWords);
    return;
  }
  in_.word("the label behind the loop, or its number of words");
  loops_.push_back({words_.size(), t});
}

void VectorKernel::resolve(const Loop& l) {
  const auto it = labels_.find(l.label.text);
  if (it == labels_.end()) {
    std::vector<std::string_view> names;
    for (const auto& n : labels_) names.push_back(n.first);
    in_.fail(l.label,
             fmt::format("no label \"{}\" in this block{}", l.label.text, did_you_mean(l.label.text, names)));
  }
  const std::uint32_t top = at_ + static_cast<std::uint32_t>(l.word) + 1;
  const std::uint32_t end = it->second;
  if (end < top || end - top > kLoopWords)
    in_.fail(l.label, fmt::format("the body would be words {}..{}; VLOOP repeats the 0 to {} words behind it",
                                  top, static_cast<std::int64_t>(end) - 1, kLoopWords));
  VectorWord w = decode_vector_word(words_[l.word]);
  w.vb = end - top;
  words_[l.word] = encode_vector_word(w);
}

// to=(x,y) [signal] [buf=N]
void VectorKernel::drain_target(VectorWord& w) {
  while (in_.peek().kind == Token::Kind::kWord) {
    const Token t = in_.next();
    if (t.text == "to") {
      in_.expect('=');
      const Coord c = in_.coord();
      w.peer = 1;
      w.peer_x = c.x;
      w.peer_y = c.y;
    } else if (t.text == "signal" && w.peer) {
      w.signal = 1;
    } else if (t.text == "buf" && w.peer) {
      in_.expect('=');
      w.buf = number("the buffer", 15);
    } else {
      static constexpr std::array<std::string_view, 3> kWords{"to", "signal", "buf"};
      in_.fail(t,
               fmt::format("\"{}\" is not known here (to=(x,y) for a drain to a node, then signal, buf=N){}",
                           t.text, did_you_mean(t.text, kWords)));
    }
  }
}

// --- constants of VSETI

std::uint32_t VectorKernel::constant() {
  const Token t = in_.peek();
  const std::string word = in_.word("a constant");
  if (word == "int") return number("the integer", 0xFFFFFF);
  if (word == "round" || word == "trunc") {
    const Token f = in_.peek();
    in_.word("a number");
    return float_constant(f, word);
  }
  const std::string& text = meaning(t);
  std::uint64_t bits = 0;
  if (parse_number(text, bits)) {
    if (!text.starts_with("0x") && !text.starts_with("0b"))
      in_.fail(t,
               fmt::format("{} may be the number {}.0 or the count `int {}`: write which", text, text, text));
    if (bits > 0xFFFFFF) in_.fail(t, fmt::format("{} does not fit 24 bits", text));
    return static_cast<std::uint32_t>(bits);
  }
  return float_constant(t, {});
}

std::uint32_t VectorKernel::float_constant(const Token& t, std::string_view rounding) {
  const std::string& text = meaning(t);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument)
    in_.fail(t, fmt::format("a constant expected (1.5, int 64, 0x3fc000), not {}", TokenReader::shown(t)));
  if (std::isnan(value)) return 0x7FC000;
  // The top 24 bits of the FP32 pattern (vector.md 3.5).
  const auto pattern = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  std::uint32_t bits = pattern >> 8;
  if (rounding == "round") bits += (pattern & 0xFF) > 0x80 || ((pattern & 0xFF) == 0x80 && (bits & 1));
  const bool tiny = (bits & 0x7F8000) == 0 && value != 0;
  const bool huge = (bits & 0x7F8000) == 0x7F8000 && !std::isinf(value);
  if (tiny || huge || error != std::errc{})
    in_.fail(t, fmt::format("{} is outside the range of the format", text));
  if (rounding.empty() && vector_constant_value(bits) != value)
    in_.fail(t,
             fmt::format(
                 "{} is between two numbers of the format; `round {}` gives the nearest, `trunc {}` the one "
                 "towards zero",
                 text, text, text));
  return bits;
}

}  // namespace ktpu::arch
