// SPDX-License-Identifier: Apache-2.0
#include "arch/encoding/text.h"

#include <charconv>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "arch/error.h"
#include "arch/suggest.h"

namespace ktpu::arch {
namespace {

enum class Shape { kCluster, kVector, kMemReq, kSignal, kCtrl, kCuData };

struct Mnemonic {
  std::string_view name;
  FlitType type;
  Shape shape;
  unsigned op = 0;  // 0: the line says op= itself, or the payload has no opcode
};
constexpr std::array<Mnemonic, 13> kMnemonics{{
    {"fill", FlitType::kCuInst, Shape::kCluster, 1},
    {"gemm", FlitType::kCuInst, Shape::kCluster, 2},
    {"drain", FlitType::kCuInst, Shape::kCluster, 3},
    {"cluster", FlitType::kCuInst, Shape::kCluster},
    {"imem", FlitType::kCuInst, Shape::kVector, 1},
    {"desc", FlitType::kCuInst, Shape::kVector, 2},
    {"run", FlitType::kCuInst, Shape::kVector, 3},
    {"vector", FlitType::kCuInst, Shape::kVector},
    {"rd_req", FlitType::kMemRdReq, Shape::kMemReq},
    {"wr_req", FlitType::kMemWrReq, Shape::kMemReq},
    {"signal", FlitType::kCuSignal, Shape::kSignal},
    {"ctrl", FlitType::kCuCtrl, Shape::kCtrl},
    {"cu_data", FlitType::kCuData, Shape::kCuData},
}};
constexpr std::string_view kRaw = "flit";

const Mnemonic* find(std::string_view name) {
  for (const Mnemonic& m : kMnemonics)
    if (m.name == name) return &m;
  return nullptr;
}

// Two neighbouring 4-bit fields x and y that the text writes as one coordinate.
template <class S>
bool is_pair(std::size_t i) {
  const auto& f = Layout<S>::fields;
  if (i + 1 >= f.size()) return false;
  const Format a = f[i].format, b = f[i + 1].format;
  return (a == Format::kCoordX && b == Format::kCoordY) || (a == Format::kCoordY && b == Format::kCoordX);
}
template <class S>
std::string_view pair_name(std::size_t i) {
  const std::string_view n = Layout<S>::fields[i].field.name;
  return n.substr(0, n.size() - 2);
}

// The names a memory address goes by in an instruction line.
bool is_address_alias(std::string_view key) { return key == "from" || key == "to"; }

template <class S>
constexpr bool kIsCluster = std::is_same_v<S, ClusterInst>;

template <class S>
void print_fields(std::string& out, const S& s, unsigned implied_op) {
  const auto& fields = Layout<S>::fields;
  static constexpr S defaults{};
  const std::uint32_t op_bit = 1u << layout_op(s);
  auto put = [&out](std::string_view key, std::string_view value) {
    out += fmt::format(" {}={}", key, value);
  };
  if constexpr (kIsCluster<S>)
    if (implied_op == 1) out += s.sel ? " b" : " a";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& b = fields[i];
    if (!(b.ops & op_bit) || b.shift) continue;
    const std::uint64_t v = b.read(s);
    if (is_pair<S>(i)) {
      const auto& other = fields[i + 1];
      const std::uint64_t w = other.read(s);
      if (v || w)
        put(pair_name<S>(i),
            b.format == Format::kCoordX ? fmt::format("({},{})", v, w) : fmt::format("({},{})", w, v));
      ++i;
      continue;
    }
    std::string_view key = b.field.name;
    if (b.format == Format::kOp) {
      if (!implied_op) put(key, std::to_string(v));
      continue;
    }
    if constexpr (kIsCluster<S>) {
      if (implied_op == 1 && key == "sel") continue;
      if (key == "addr" && implied_op) {
        key = implied_op == 1 ? "from" : "to";
        if (v == 0 && implied_op == 2) continue;
        put(key, fmt::format("{:#x}", v));
        continue;
      }
    }
    if (v == b.read(defaults)) continue;
    switch (b.format) {
      case Format::kFlag:
        out += v == 1 ? fmt::format(" {}", key) : fmt::format(" {}={}", key, v);
        break;
      case Format::kHex:
        put(key, fmt::format("{:#x}", v));
        break;
      case Format::kNode: {
        const Coord c = Coord::from_node_byte(static_cast<unsigned>(v));
        put(key, fmt::format("({},{})", c.x, c.y));
        break;
      }
      default:
        put(key, std::to_string(v));
    }
  }
}

void print_header(std::string& out, const Flit& f) {
  auto coord = [&out](std::string_view key, Coord c) {
    if (c != Coord{}) out += fmt::format(" {}=({},{})", key, c.x, c.y);
  };
  coord("hdr_dst", f.dst());
  coord("hdr_src", f.src());
  if (f.rsvd()) out += fmt::format(" rsvd={}", f.rsvd());
  if (f.txn()) out += fmt::format(" txn={:#x}", f.txn());
  if (f.last()) out += " last";
}

template <class S>
std::string print(const Flit& f, Shape shape) {
  const S s = unpack<S>(f);
  // What the fields can't express stays raw.
  Flit again;
  again.w[4] = f.w[4];
  pack(again, s);
  if (again != f) return {};
  const Mnemonic* generic = nullptr;
  for (const Mnemonic& m : kMnemonics) {
    if (m.shape != shape || m.type != f.type()) continue;
    if (m.op == 0) generic = &m;
    if constexpr (requires { s.op; })
      if (m.op && m.op == s.op) {
        generic = &m;
        break;
      }
  }
  std::string out(generic->name);
  print_fields(out, s, generic->op);
  print_header(out, f);
  return out;
}

[[noreturn]] void fail(const TextArg& arg, std::string message) {
  throw TextProblem{arg.column, std::move(message)};
}

std::uint64_t number(const TextArg& arg, unsigned bits) {
  std::uint64_t v = 0;
  if (!parse_number(arg.value, v)) fail(arg, fmt::format("\"{}\" is not a number", arg.value));
  if (bits < 64 && v >> bits)
    fail(arg,
         fmt::format("{}={} does not fit {} bits (0..{:#x})", arg.key, arg.value, bits, (1ull << bits) - 1));
  return v;
}
Coord coordinate(const TextArg& arg) {
  Coord c;
  if (!parse_coord(arg.value, c))
    fail(arg, fmt::format("{} wants a coordinate (x,y) with 0..15, not \"{}\"", arg.key, arg.value));
  return c;
}

template <class S>
unsigned member_bits(std::size_t i) {  // a split member has the width of its parts together
  const auto& fields = Layout<S>::fields;
  unsigned bits = fields[i].field.width;
  for (const auto& other : fields)
    if (other.wide && other.wide == fields[i].wide && other.shift) bits = other.shift + other.field.width;
  return bits;
}

// Puts one argument into the struct; false when no field has that name.
template <class S>
bool assign(S& s, const Mnemonic& m, const TextArg& arg) {
  const auto& fields = Layout<S>::fields;
  const std::uint32_t op_bit = 1u << layout_op(s);
  std::string_view key = arg.key;
  if constexpr (kIsCluster<S>) {
    if (m.op == 1 && arg.value.empty() && (key == "a" || key == "b")) {
      s.sel = key == "b";
      return true;
    }
    if (is_address_alias(key)) key = "addr";
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& b = fields[i];
    if (!(b.ops & op_bit) || b.shift) continue;
    if (is_pair<S>(i)) {
      if (key == pair_name<S>(i)) {
        const Coord c = coordinate(arg);
        const bool x_first = b.format == Format::kCoordX;
        b.write(s, x_first ? c.x : c.y);
        fields[i + 1].write(s, x_first ? c.y : c.x);
        return true;
      }
      ++i;
      continue;
    }
    if (key != b.field.name || (b.format == Format::kOp && m.op)) continue;
    if (b.format == Format::kFlag && arg.value.empty()) {
      b.write(s, 1);
    } else if (b.format == Format::kNode && arg.value.starts_with('(')) {
      b.write(s, coordinate(arg).node_byte());
    } else {
      if (arg.value.empty()) fail(arg, fmt::format("{} wants a value", arg.key));
      b.write(s, number(arg, member_bits<S>(i)));
    }
    return true;
  }
  return false;
}

template <class S>
std::vector<std::string_view> keys(const Mnemonic& m) {
  std::vector<std::string_view> names{"txn", "last", "rsvd", "hdr_dst", "hdr_src"};
  for (std::size_t i = 0; i < Layout<S>::fields.size(); ++i) {
    const auto& b = Layout<S>::fields[i];
    if (b.shift || (b.format == Format::kOp && m.op) || (m.op && !(b.ops >> m.op & 1))) continue;
    names.push_back(is_pair<S>(i) ? pair_name<S>(i) : b.field.name);
    if (is_pair<S>(i)) ++i;
  }
  if constexpr (kIsCluster<S>) names.push_back(m.op == 1 ? "from" : "to");
  return names;
}

template <class S>
Flit parse(const Mnemonic& m, std::span<const TextArg> args) {
  S s{};
  Flit f;
  f.w[4] = make_header({}, {}, m.type, 0, false);
  if constexpr (requires { s.op; }) {
    s.op = m.op;
    if (!m.op)  // the opcode decides which fields exist, so it is read first
      for (const TextArg& a : args)
        if (a.key == "op") assign(s, m, a);
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const TextArg& arg = args[i];
    for (std::size_t j = 0; j < i; ++j)
      if (args[j].key == arg.key) fail(arg, fmt::format("{} is given twice", arg.key));
    if (arg.key == "txn")
      f.set(header::kTxn, number(arg, 8));
    else if (arg.key == "last")
      f.set(header::kLast, arg.value.empty() ? 1 : number(arg, 1));
    else if (arg.key == "rsvd")
      f.set(header::kRsvd, number(arg, 3));
    else if (arg.key == "hdr_dst")
      f.set_dst(coordinate(arg));
    else if (arg.key == "hdr_src")
      f.set_src(coordinate(arg));
    else if (!assign(s, m, arg))
      fail(arg, fmt::format("{} has no field \"{}\"{}", m.name, arg.key, did_you_mean(arg.key, keys<S>(m))));
  }
  pack(f, s);
  return f;
}

}  // namespace

std::string flit_to_text(const Flit& flit, Dialect dialect) {
  std::string out;
  if (!(flit.w[4] >> 32)) switch (flit.type()) {
      case FlitType::kCuInst:
        out = dialect == Dialect::kVector ? print<VectorInst>(flit, Shape::kVector)
                                          : print<ClusterInst>(flit, Shape::kCluster);
        break;
      case FlitType::kMemRdReq:
      case FlitType::kMemWrReq:
        out = print<MemReq>(flit, Shape::kMemReq);
        break;
      case FlitType::kCuSignal:
        out = print<Signal>(flit, Shape::kSignal);
        break;
      case FlitType::kCuCtrl:
        out = print<Ctrl>(flit, Shape::kCtrl);
        break;
      case FlitType::kCuData:
        out = print<CuDataDesc>(flit, Shape::kCuData);
        break;
      default:
        break;
    }
  return out.empty() ? fmt::format("{} {}", kRaw, to_hex(flit)) : out;
}

bool is_flit_mnemonic(std::string_view word) { return word == kRaw || find(word); }

std::vector<std::string_view> flit_mnemonics() {
  std::vector<std::string_view> names{kRaw};
  for (const Mnemonic& m : kMnemonics) names.push_back(m.name);
  return names;
}

Flit flit_from_text(std::string_view mnemonic, std::span<const TextArg> args) {
  if (mnemonic == kRaw) {
    if (args.size() != 1 || !args[0].value.empty())
      throw TextProblem{args.size() > 1 ? args[1].column : 0,
                        "flit wants exactly one number of 72 hex digits"};
    try {
      return flit_from_hex(args[0].key);
    } catch (const UserError& e) {
      throw TextProblem{args[0].column, e.what()};
    }
  }
  const Mnemonic* m = find(mnemonic);
  if (!m) {
    const auto names = flit_mnemonics();
    throw TextProblem{0, fmt::format("\"{}\" is no instruction{}", mnemonic, did_you_mean(mnemonic, names))};
  }
  switch (m->shape) {
    case Shape::kCluster:
      return parse<ClusterInst>(*m, args);
    case Shape::kVector:
      return parse<VectorInst>(*m, args);
    case Shape::kMemReq:
      return parse<MemReq>(*m, args);
    case Shape::kSignal:
      return parse<Signal>(*m, args);
    case Shape::kCtrl:
      return parse<Ctrl>(*m, args);
    case Shape::kCuData:
      return parse<CuDataDesc>(*m, args);
  }
  return {};
}

bool parse_number(std::string_view text, std::uint64_t& value) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
    base = text[1] == 'x' ? 16 : 2;
    text.remove_prefix(2);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool parse_coord(std::string_view text, Coord& coord) {
  const std::size_t comma = text.find(',');
  if (text.size() < 5 || text.front() != '(' || text.back() != ')' || comma == std::string_view::npos)
    return false;
  std::uint64_t x = 0, y = 0;
  if (!parse_number(text.substr(1, comma - 1), x) ||
      !parse_number(text.substr(comma + 1, text.size() - comma - 2), y))
    return false;
  if (x > 15 || y > 15) return false;
  coord = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
  return true;
}

}  // namespace ktpu::arch
