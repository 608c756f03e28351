// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/inst_format.h"

#include <algorithm>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/vector_inst.h"
#include "arch/error.h"

namespace ktpu::bytes {
namespace {

using FieldInfo = InstFormat::FieldInfo;

std::uint64_t mask_of(const FieldInfo& f) { return arch::Field{{}, f.lsb, f.width}.mask(); }

template <class S, class Op>
InstFormat format_of(std::string name, Op op) {
  const auto code = static_cast<std::uint32_t>(op);
  static constexpr S kDefaults{};
  std::vector<FieldInfo> fields, constants;
  for (const auto& b : arch::Layout<S>::fields) {
    if ((b.ops >> code & 1) == 0) continue;
    FieldInfo f{std::string(b.field.name), b.field.lsb, b.field.width,
                b.read(kDefaults) >> b.shift & b.field.mask()};
    if (b.format == arch::Format::kOp) {
      f.initial = code;
      constants.push_back(std::move(f));
    } else if (!fields.empty() && f.name.starts_with("peer") && fields.back().name.starts_with("peer") &&
               f.lsb == fields.back().lsb + fields.back().width) {
      fields.back().name = "peers";  // the three nodes are one field here
      fields.back().width += f.width;
    } else {
      fields.push_back(std::move(f));
    }
  }
  return {std::move(name), std::move(fields), std::move(constants)};
}

}  // namespace

InstFormat::InstFormat(std::string name, std::vector<FieldInfo> fields, std::vector<FieldInfo> constants)
    : name_(std::move(name)), fields_(std::move(fields)), constants_(std::move(constants)) {
  std::sort(fields_.begin(), fields_.end(),
            [](const FieldInfo& a, const FieldInfo& b) { return a.lsb > b.lsb; });
}

arch::Flit InstFormat::encode(std::span<const Value> values) const {
  arch::Flit word;
  const auto put = [&word](const FieldInfo& f, std::uint64_t v) {
    arch::set_bits(word.w.data(), f.lsb, f.width, v);
  };
  for (const FieldInfo& f : constants_) put(f, f.initial);
  for (const FieldInfo& f : fields_) put(f, f.initial);
  for (const Value& v : values) {
    const auto f =
        std::find_if(fields_.begin(), fields_.end(), [&](const FieldInfo& i) { return i.name == v.name; });
    if (f == fields_.end()) throw arch::UserError::make("{} has no field {}", name_, v.name);
    if (v.value < 0 || (static_cast<std::uint64_t>(v.value) & ~mask_of(*f)) != 0)
      throw arch::UserError::make("{} {}={}: outside 0 to {:#x}", name_, v.name, v.value, mask_of(*f));
    put(*f, static_cast<std::uint64_t>(v.value));
  }
  return word;
}

bool InstFormat::matches(const arch::Flit& word) const {
  return std::all_of(constants_.begin(), constants_.end(),
                     [&](const FieldInfo& f) { return word.bits(f.lsb, f.width) == f.initial; });
}

std::vector<std::uint64_t> InstFormat::decode(const arch::Flit& word) const {
  for (const FieldInfo& f : constants_)
    if (const std::uint64_t got = word.bits(f.lsb, f.width); got != f.initial)
      throw arch::UserError::make("no {}: {} is {:#x}, not {:#x}", name_, f.name, got, f.initial);
  std::vector<std::uint64_t> values;
  for (const FieldInfo& f : fields_) values.push_back(word.bits(f.lsb, f.width));
  return values;
}

std::string InstFormat::disassemble(const arch::Flit& word) const {
  const std::vector<std::uint64_t> values = decode(word);
  std::string text = name_;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    text += fmt::format(" {}=0x{:x}", fields_[i].name, values[i]);
  return text;
}

const InstFormat* InstSet::find(std::string_view name) const {
  const auto f =
      std::find_if(formats_.begin(), formats_.end(), [&](const InstFormat& i) { return i.name() == name; });
  return f == formats_.end() ? nullptr : &*f;
}

const InstFormat* InstSet::find(const arch::Flit& word) const {
  const auto f =
      std::find_if(formats_.begin(), formats_.end(), [&](const InstFormat& i) { return i.matches(word); });
  return f == formats_.end() ? nullptr : &*f;
}

const InstSet& cluster_set() {
  using arch::ClusterInst, arch::ClusterOp;
  static const InstSet kSet({format_of<ClusterInst>("FILL", ClusterOp::kFill),
                             format_of<ClusterInst>("GEMM", ClusterOp::kGemm),
                             format_of<ClusterInst>("DRAIN", ClusterOp::kDrain)});
  return kSet;
}

const InstSet& vector_set() {
  using arch::VectorInst, arch::VectorOp;
  static const InstSet kSet({format_of<VectorInst>("IMEM", VectorOp::kImem),
                             format_of<VectorInst>("DESC", VectorOp::kDesc),
                             format_of<VectorInst>("RUN", VectorOp::kRun)});
  return kSet;
}

}  // namespace ktpu::bytes
