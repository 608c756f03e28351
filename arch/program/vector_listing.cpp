// SPDX-License-Identifier: Apache-2.0
#include "arch/program/vector_listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/program/vector_text.h"

namespace ktpu::arch {
namespace {

constexpr std::size_t kFields = 5;  // of a descriptor: base and four dimensions
constexpr std::uint64_t kOneStep = 1;

std::string loop_note(const VectorWord& w, std::uint32_t address) {
  return w.opcode() == VectorOpcode::kVloop ? fmt::format("  to {}", address + w.vb) : std::string();
}

}  // namespace

VectorListing::VectorListing(std::span<const Flit> flits, const std::function<bool(std::size_t)>& is_vector)
    : flits_(flits), plain_(flits.size()), insts_(flits.size()) {
  for (std::size_t i = 0; i < flits.size(); ++i) {
    const Flit& f = flits[i];
    if (f.type() != FlitType::kCuInst || !is_vector(i)) continue;
    insts_[i] = unpack<VectorInst>(f);
    plain_[i] = make_flit(make_header({}, {}, FlitType::kCuInst, f.txn(), f.last()), insts_[i]) == f;
  }
  find_kernels();
  find_labels();
  find_peers();
}

bool VectorListing::follows(std::size_t i, VectorOp op) const {
  return i < flits_.size() && plain_[i] && insts_[i].is(op) && !flits_[i - 1].last() &&
         flits_[i].txn() == flits_[i - 1].txn();
}

bool VectorListing::Kernel::starts_line(std::uint32_t address) const {
  if (address == at + words.size()) return true;
  return std::any_of(lines.begin(), lines.end(), [&](const Line& l) { return at + l.first == address; });
}

// Two words or more at rising addresses; a single one stays an `imem`.
void VectorListing::find_kernels() {
  for (std::size_t i = 0; i < flits_.size(); ++i) {
    if (!plain_[i] || !insts_[i].is(VectorOp::kImem)) continue;
    Kernel k;
    k.flit = i;
    k.at = insts_[i].addr;
    k.words.push_back(insts_[i].word);
    while (follows(i + 1, VectorOp::kImem) && insts_[i + 1].addr == insts_[i].addr + 1)
      k.words.push_back(insts_[++i].word);
    if (k.words.size() < 2) continue;
    VectorPlace place;
    for (std::size_t w = 0; w < k.words.size();) {
      Line line{w, 1, place};
      const bool pair = w + 1 < k.words.size() && !place.constant() && place.stage() == 0 &&
                        decode_vector_word(k.words[w]).opcode() == VectorOpcode::kVseti &&
                        !vector_word_to_text(k.words[w], place, {}, k.words[w + 1]).empty();
      if (pair) line.words = 2;
      for (std::size_t n = 0; n < line.words; ++n) place.feed(k.words[w++]);
      k.lines.push_back(line);
    }
    kernels_.push_back(std::move(k));
  }
}

const std::string& VectorListing::label(Kernel& k, std::uint32_t address, std::string_view name) {
  std::string& text = k.labels[address];
  if (!text.empty()) return text;
  const std::string plain = fmt::format("{}{}", name, address);
  text = plain;
  for (int n = 2; !used_.insert(text).second; ++n) text = fmt::format("{}_{}", plain, n);
  return text;
}

void VectorListing::find_labels() {
  for (std::size_t i = 0; i < flits_.size(); ++i) {
    if (!plain_[i] || !insts_[i].is(VectorOp::kRun)) continue;
    for (auto k = kernels_.rbegin(); k != kernels_.rend(); ++k) {
      if (k->flit > i || !k->holds(insts_[i].addr)) continue;
      if (k->starts_line(insts_[i].addr)) runs_[i] = label(*k, insts_[i].addr, "entry");
      break;
    }
  }
  for (Kernel& k : kernels_)
    for (const Line& l : k.lines) {
      const VectorWord w = decode_vector_word(k.words[l.first]);
      if (l.place.constant() || l.place.stage() > 0 || w.opcode() != VectorOpcode::kVloop) continue;
      const std::uint32_t end = k.at + static_cast<std::uint32_t>(l.first) + 1 + w.vb;
      if (k.starts_line(end)) label(k, end, "end");
    }
}

void VectorListing::find_peers() {
  std::set<std::uint32_t> others;
  for (const Kernel& k : kernels_)
    for (const Line& l : k.lines) {
      const VectorWord w = decode_vector_word(k.words[l.first]);
      if (l.place.constant()) continue;
      switch (w.opcode()) {
        case VectorOpcode::kVdrain:
          (w.peer ? peers_ : others).insert(w.ad);
          break;
        case VectorOpcode::kVfill:
        case VectorOpcode::kVld:
        case VectorOpcode::kVst:
          others.insert(w.ad);
          break;
        default:
          break;
      }
    }
  for (const std::uint32_t ad : others) peers_.erase(ad);
}

std::string VectorListing::header(std::size_t i) const {
  return fmt::format("{}{}", flits_[i].txn() ? fmt::format(" txn={:#x}", flits_[i].txn()) : std::string(),
                     flits_[i].last() ? " last" : "");
}

void VectorListing::print(const Kernel& k, std::string& out) const {
  auto put = [&out]<typename... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  };
  auto label_line = [&](std::uint32_t address) {
    if (const auto it = k.labels.find(address); it != k.labels.end()) put("   {}:\n", it->second);
  };
  put("  kernel at={}{} {{\n", k.at, header(k.flit + k.words.size() - 1));
  for (const Line& l : k.lines) {
    const std::uint32_t word = k.words[l.first];
    const std::uint32_t address = k.at + static_cast<std::uint32_t>(l.first);
    label_line(address);
    const VectorWord w = decode_vector_word(word);
    const auto end = k.labels.find(address + 1 + w.vb);
    const std::string_view loop_end =
        end != k.labels.end() ? std::string_view(end->second) : std::string_view();
    const std::uint32_t constant = l.words == 2 ? k.words[l.first + 1] : 0;
    std::string text = l.words == 1 && w.opcode() == VectorOpcode::kVseti
                           ? std::string()
                           : vector_word_to_text(word, l.place, loop_end, constant);
    std::string note;
    if (text.empty()) {
      text = fmt::format(".word {:#010x}", word);
      note = l.place.constant() ? "constant" : std::string(kVectorOpcodes[w.op].name);
    } else if (l.words == 2) {
      note = fmt::format("{:06x}", constant);
      if (text.ends_with(note)) note = fmt::format("{:.6g}", vector_constant_value(constant));
    } else {
      note = loop_note(w, address);
    }
    put("    {:<40}# {:3} {:08x}{}{}", text, address, word, note.empty() || note[0] == ' ' ? "" : " ", note);
    if (const unsigned depth = l.place.depth(word); depth > 1) {
      const unsigned stage = l.place.stage();
      put(" {} {}", l.place.mode ? kVectorModeNames[static_cast<std::size_t>(*l.place.mode)] : "chain",
          stage == 0          ? "["
          : stage + 1 < depth ? "|"
                              : "]");
    }
    out += '\n';
  }
  label_line(k.at + static_cast<std::uint32_t>(k.words.size()));
  out += "  }\n";
}

std::size_t VectorListing::descriptor(std::size_t i, std::string& out) const {
  const VectorInst& first = insts_[i];
  std::size_t n = 1;
  std::array<std::string, kFields - 1> dims;
  std::size_t used = 0;
  if (first.fld == 0)
    while (n < kFields && follows(i + n, VectorOp::kDesc) && insts_[i + n].ad == first.ad &&
           insts_[i + n].fld == n) {
      const std::string text = descriptor_field_to_text(insts_[i + n]);
      if (text.empty()) break;
      dims[n - 1] = text.substr(text.find('('));
      if (insts_[i + n].value != kOneStep) used = n;
      ++n;
    }
  if (n < kFields) {
    const std::string text = descriptor_field_to_text(first);
    if (text.empty()) return 0;
    out += fmt::format("  desc {}{}\n", text, header(i));
    return 1;
  }
  const std::uint64_t base[2] = {first.value, 0};
  const auto peer = unpack_payload<VectorPeer>(base);
  std::uint64_t again[2] = {0, 0};
  pack_payload(again, peer);
  if (peers_.contains(first.ad) && again[0] == first.value) {
    out += fmt::format("  desc A{} peer offset={:#x}", first.ad, peer.offset);
    if (peer.ack_x || peer.ack_y) out += fmt::format(" ack=({},{})", peer.ack_x, peer.ack_y);
    if (peer.mesh) out += fmt::format(" mesh={}", peer.mesh);
    if (const Coord c = Coord::from_node_byte(peer.final_node); peer.final_node)
      out += fmt::format(" final=({},{})", c.x, c.y);
  } else {
    out += fmt::format("  desc A{} base={:#x}", first.ad, first.value);
  }
  out += fmt::format(" dims=[{}]{}\n",
                     fmt::join(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(used), ", "),
                     header(i + n - 1));
  return n;
}

std::size_t VectorListing::print(std::size_t i, std::string& out) const {
  if (!plain_[i]) return 0;
  const VectorInst& inst = insts_[i];
  if (inst.is(VectorOp::kImem)) {
    for (const Kernel& k : kernels_) {
      if (k.flit != i) continue;
      print(k, out);
      return k.words.size();
    }
    return 0;
  }
  if (inst.is(VectorOp::kDesc)) return descriptor(i, out);
  if (const auto it = runs_.find(i); it != runs_.end()) {
    out += fmt::format("  run {}{}\n", it->second, header(i));
    return 1;
  }
  return 0;
}

}  // namespace ktpu::arch
