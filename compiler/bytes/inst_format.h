// SPDX-License-Identifier: Apache-2.0
// Instructions by the names of their fields: encode, decode, match and disassemble from one table
// (compiler.md section 19). The tables are made from those in arch/encoding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/bits.h"
#include "arch/flit.h"

namespace ktpu::bytes {

class InstFormat {
 public:
  struct FieldInfo {
    std::string name;
    unsigned lsb = 0, width = 0;
    std::uint64_t initial = 0;  // where the instruction does not say
  };
  struct Value {
    std::string_view name;
    std::int64_t value = 0;
  };

  InstFormat(std::string name, std::vector<FieldInfo> fields, std::vector<FieldInfo> constants);

  const std::string& name() const { return name_; }
  const std::vector<FieldInfo>& fields() const { return fields_; }  // highest bit first

  // The payload. Throws UserError for a field the format lacks and for a value its bits can't hold.
  arch::Flit encode(std::span<const Value> values) const;
  bool matches(const arch::Flit& word) const;  // all constants agree
  // The values in the order of `fields`. Throws UserError when a constant disagrees.
  std::vector<std::uint64_t> decode(const arch::Flit& word) const;
  // "NAME field=0x0 ...", constants left out.
  std::string disassemble(const arch::Flit& word) const;

 private:
  std::string name_;
  std::vector<FieldInfo> fields_, constants_;
};

// Formats are tried in the order they stand in.
class InstSet {
 public:
  explicit InstSet(std::vector<InstFormat> formats) : formats_(std::move(formats)) {}
  const InstFormat* find(std::string_view name) const;
  const InstFormat* find(const arch::Flit& word) const;
  const std::vector<InstFormat>& formats() const { return formats_; }

 private:
  std::vector<InstFormat> formats_;
};

const InstSet& cluster_set();  // FILL, GEMM, DRAIN
const InstSet& vector_set();   // IMEM, DESC, RUN

}  // namespace ktpu::bytes
