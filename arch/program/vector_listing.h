// SPDX-License-Identifier: Apache-2.0
// The envelopes of a stage block that together are a kernel, a descriptor or a RUN of a vector core, as the
// statements vector_asm.h reads. Internal to the disassembler.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "arch/encoding/vector_inst.h"
#include "arch/program/vector_place.h"

namespace ktpu::arch {

class VectorListing {
 public:
  // `is_vector(i)`: flit i goes to a vector core.
  VectorListing(std::span<const Flit> flits, const std::function<bool(std::size_t)>& is_vector);

  // Appends the statement that begins with flit i; returns how many flits it stands for, 0 when there is
  // none.
  std::size_t print(std::size_t i, std::string& out) const;

 private:
  struct Line {  // one instruction: word `first`, for VSETI the next one too
    std::size_t first = 0, words = 1;
    VectorPlace place;
  };
  struct Kernel {
    std::size_t flit = 0;
    std::uint32_t at = 0;
    std::vector<std::uint32_t> words;
    std::vector<Line> lines;
    std::map<std::uint32_t, std::string> labels;  // by word address
    bool starts_line(std::uint32_t address) const;
    bool holds(std::uint32_t address) const { return address >= at && address - at < words.size(); }
  };
  bool follows(std::size_t i, VectorOp op) const;  // flit i continues what flit i-1 is part of
  void find_kernels();
  void find_labels();
  void find_peers();
  const std::string& label(Kernel& k, std::uint32_t address, std::string_view name);
  void print(const Kernel& k, std::string& out) const;
  std::size_t descriptor(std::size_t i, std::string& out) const;
  std::string header(std::size_t i) const;

  std::span<const Flit> flits_;
  std::vector<bool> plain_;  // an envelope whose header has nothing but txn and last
  std::vector<VectorInst> insts_;
  std::vector<Kernel> kernels_;
  std::map<std::size_t, std::string> runs_;  // entry labels, by flit
  std::set<std::string> used_;               // label names
  std::set<std::uint32_t> peers_;            // descriptors that only drains to nodes read
};

}  // namespace ktpu::arch
