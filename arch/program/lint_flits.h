// SPDX-License-Identifier: Apache-2.0
// Rules over what one mesh's program sends and stores, beside the instructions of a cluster: raw memory
// writes, CU_CTRL requests, bursts between units, results read back too early. Internal to lint.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arch/encoding/cluster_inst.h"
#include "arch/flit.h"

namespace ktpu::arch {

class FlitLint {
 public:
  using Report = std::function<void(std::string_view rule, std::string text)>;

  // A flit that goes to `node`, from the dispatcher or the mailbox.
  void flit(unsigned node, const Flit& flit, const Report& report);
  // A register write: the mailbox.
  void mailbox(std::uint32_t offset, std::uint64_t value, const Report& report);
  void replies_read() { asked_.clear(); }

  // An instruction of cluster `node`.
  void instruction(unsigned node, const ClusterInst& inst, const Report& report);
  // Something reads [address, address + bytes).
  void read(std::uint64_t address, std::uint64_t bytes, std::string_view who, const Report& report) const;
  void landed() { writes_.clear(); }  // memory has come to rest
  void awaited(unsigned node);        // all of a node's instructions are complete
  void end(const Report& report) const;

 private:
  struct Write {
    std::uint64_t begin, end;
    unsigned node;
  };
  std::map<unsigned, std::uint32_t> open_writes_;  // by node: data flits to come
  std::map<unsigned, bool> asked_;                 // nodes with a CU_CTRL request not read back
  std::array<std::uint64_t, 5> tx_{};
  std::vector<Write> writes_;             // results since memory last came to rest
  std::map<unsigned, unsigned> streams_;  // receiver -> sender, not known to be over
};

}  // namespace ktpu::arch
