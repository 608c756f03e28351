// SPDX-License-Identifier: Apache-2.0
#include "arch/program/vector_asm.h"

#include <algorithm>
#include <array>

#include "arch/program/vector_kernel.h"
#include "arch/suggest.h"

namespace ktpu::arch {
namespace {

constexpr std::uint64_t kOneStep = 1;  // a dimension of stride 0 and bound 1

// "A3" or "A3.base": the descriptor's number; false for anything else.
bool descriptor_number(std::string_view text, std::uint32_t& ad) {
  if (text.size() < 2 || text[0] != 'A' || text[1] < '0' || text[1] > '7') return false;
  if (text.size() > 2 && text[2] != '.') return false;
  ad = static_cast<std::uint32_t>(text[1] - '0');
  return true;
}

constexpr std::array<std::string_view, 5> kHeaderKeys{"txn", "last", "rsvd", "hdr_dst", "hdr_src"};

}  // namespace

bool VectorAsm::statement(std::vector<Flit>& out) {
  const std::string name = in_.peek().text;
  if (!expand(out)) return false;
  const Token& t = in_.peek();
  if (t.kind != Token::Kind::kNewline && !t.is('}'))
    in_.fail(t, fmt::format("{} should end here, but {} follows", name, TokenReader::shown(t)));
  return true;
}

bool VectorAsm::expand(std::vector<Flit>& out) {
  const Token& t = in_.peek();
  const Token& ahead = in_.ahead();
  if (t.word("kernel")) {
    kernel(out);
    return true;
  }
  if (ahead.kind != Token::Kind::kWord) return false;
  if (t.word("desc") && ahead.text.starts_with('A')) {
    descriptor(out);
    return true;
  }
  const bool option = ahead.text == "addr" ||
                      std::find(kHeaderKeys.begin(), kHeaderKeys.end(), ahead.text) != kHeaderKeys.end();
  if (t.word("run") && !option) {
    run(out);
    return true;
  }
  return false;
}

bool VectorAsm::header_option(Header& header) {
  if (in_.take_word("last")) {
    header.last = true;
    return true;
  }
  if (!in_.take_word("txn")) return false;
  in_.expect('=');
  header.txn = static_cast<std::uint32_t>(in_.number("txn", 255));
  return true;
}

void VectorAsm::envelopes(std::vector<Flit>& out, const std::vector<VectorInst>& insts,
                          const Header& header) {
  for (std::size_t i = 0; i < insts.size(); ++i)
    out.push_back(make_flit(
        make_header({}, {}, FlitType::kCuInst, header.txn, header.last && i + 1 == insts.size()), insts[i]));
}

// kernel [at=WORD] [txn=N] [last] { instructions }
void VectorAsm::kernel(std::vector<Flit>& out) {
  in_.next();
  std::uint32_t at = 0;
  Header header;
  while (!in_.take('{')) {
    if (header_option(header)) continue;
    const Token t = in_.peek();
    if (!in_.take_word("at")) {
      static constexpr std::array<std::string_view, 3> kKeys{"at", "txn", "last"};
      in_.fail(t, fmt::format("at, txn, last or '{{' expected, not {}{}", TokenReader::shown(t),
                              did_you_mean(t.text, kKeys)));
    }
    in_.expect('=');
    at = static_cast<std::uint32_t>(in_.number("the word address", 511));
  }
  std::vector<VectorInst> insts;
  for (const std::uint32_t word : VectorKernel(in_, at, labels_).read()) {
    VectorInst i;
    i.op = static_cast<std::uint32_t>(VectorOp::kImem);
    i.addr = at + static_cast<std::uint32_t>(insts.size());
    i.word = word;
    insts.push_back(i);
  }
  envelopes(out, insts, header);
}

// (STRIDE,BOUND)
std::uint64_t VectorAsm::dimension() {
  in_.expect('(');
  const Token t = in_.peek();
  const std::int64_t stride = in_.signed_number("the stride");
  if (stride < -0x20000 || stride > 0x1FFFF)
    in_.fail(t, fmt::format("stride {} is outside -131072..131071", stride));
  in_.expect(',');
  const std::uint64_t bound = in_.number("the bound", 0xFFFF);
  in_.expect(')');
  return (static_cast<std::uint64_t>(stride) & 0x3FFFF) << 16 | bound;
}

// desc A0 base=ADDR | peer offset=N ack=(x,y) mesh=N final=(x,y), then dims=[(STRIDE,BOUND) ...]: all five
// fields. desc A0.base=ADDR, desc A0.dim1=(STRIDE,BOUND): one.
void VectorAsm::descriptor(std::vector<Flit>& out) {
  in_.next();
  const Token t = in_.next();
  std::uint32_t ad = 0;
  if (!descriptor_number(t.text, ad))
    in_.fail(t,
             fmt::format("A0..A7 expected, or one field as A0.base, A0.dim0 to A0.dim3, not \"{}\"", t.text));
  if (t.text.size() > 2) {
    descriptor_field(out, t, ad, std::string_view(t.text).substr(3));
    return;
  }
  Header header;
  VectorPeer peer;
  bool is_peer = false, has_base = false;
  std::uint64_t base = 0;
  std::array<std::uint64_t, 4> dims{kOneStep, kOneStep, kOneStep, kOneStep};
  while (in_.peek().kind == Token::Kind::kWord) {
    if (header_option(header)) continue;
    const Token key = in_.next();
    const std::string& k = key.text;
    if (k == "peer") {
      is_peer = true;
      continue;
    }
    if (k == "dims") {
      in_.expect('=');
      in_.expect('[');
      std::size_t n = 0;
      while (!in_.take(']')) {
        if (n == dims.size()) in_.fail(in_.peek(), "a descriptor has four dimensions");
        if (n != 0) in_.expect(',');
        dims[n++] = dimension();
      }
    } else if (k == "base") {
      in_.expect('=');
      base = in_.number("the base", (1ull << 40) - 1);
      has_base = true;
    } else if (is_peer && k == "offset") {
      in_.expect('=');
      peer.offset = static_cast<std::uint32_t>(in_.number("the first L1 word", 0xFFFF));
    } else if (is_peer && k == "ack") {
      in_.expect('=');
      const Coord c = in_.coord();
      peer.ack_x = c.x;
      peer.ack_y = c.y;
    } else if (is_peer && k == "mesh") {
      in_.expect('=');
      peer.mesh = static_cast<std::uint32_t>(in_.number("the mesh", 3));
    } else if (is_peer && k == "final") {
      in_.expect('=');
      peer.final_node = in_.coord().node_byte();
    } else {
      static constexpr std::array<std::string_view, 9> kKeys{"base", "dims",  "peer", "offset", "ack",
                                                             "mesh", "final", "txn",  "last"};
      in_.fail(key, fmt::format(
                        "\"{}\" is not known here (allowed: base, dims, txn, last; with peer: offset, ack, "
                        "mesh, final){}",
                        k, did_you_mean(k, kKeys)));
    }
  }
  if (is_peer == has_base) in_.fail(t, "a descriptor wants either base=ADDRESS or peer and its fields");
  if (is_peer) {
    std::array<std::uint64_t, 4> words{};
    pack_payload(words.data(), peer);
    base = words[0];
  }
  std::vector<VectorInst> insts;
  for (std::uint32_t fld = 0; fld <= dims.size(); ++fld) {
    VectorInst i;
    i.op = static_cast<std::uint32_t>(VectorOp::kDesc);
    i.ad = ad;
    i.fld = fld;
    i.value = fld == 0 ? base : dims[fld - 1];
    insts.push_back(i);
  }
  envelopes(out, insts, header);
}

void VectorAsm::descriptor_field(std::vector<Flit>& out, const Token& place, std::uint32_t ad,
                                 std::string_view field) {
  static constexpr std::array<std::string_view, 5> kFields{"base", "dim0", "dim1", "dim2", "dim3"};
  const auto* found = std::find(kFields.begin(), kFields.end(), field);
  if (found == kFields.end())
    in_.fail(place, fmt::format("a descriptor has the fields {}, not \"{}\"{}", fmt::join(kFields, " "),
                                field, did_you_mean(field, kFields)));
  VectorInst i;
  i.op = static_cast<std::uint32_t>(VectorOp::kDesc);
  i.ad = ad;
  i.fld = static_cast<std::uint32_t>(found - kFields.begin());
  in_.expect('=');
  i.value = i.fld == 0 ? in_.number("the base", (1ull << 40) - 1) : dimension();
  Header header;
  while (header_option(header)) {
  }
  envelopes(out, {i}, header);
}

// run LABEL|WORD [txn=N] [last]
void VectorAsm::run(std::vector<Flit>& out) {
  in_.next();
  const Token t = in_.next();
  std::uint64_t pc = 0;
  if (const auto it = labels_.find(t.text); it != labels_.end()) {
    pc = it->second;
  } else if (!parse_number(t.text, pc)) {
    std::vector<std::string_view> names{"addr"};
    for (const auto& n : labels_) names.push_back(n.first);
    in_.fail(t, fmt::format("no kernel above has a label \"{}\"{}", t.text, did_you_mean(t.text, names)));
  }
  if (pc > 511) in_.fail(t, fmt::format("word {}: the instruction memory ends at 511", t.text));
  VectorInst i;
  i.op = static_cast<std::uint32_t>(VectorOp::kRun);
  i.addr = static_cast<std::uint32_t>(pc);
  Header header;
  while (header_option(header)) {
  }
  envelopes(out, {i}, header);
}

}  // namespace ktpu::arch
