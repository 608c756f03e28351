// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/host_registers.h"

#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::interpret {

namespace reg = arch::agent;
using arch::UserError;

HostRegisters::HostRegisters(unsigned staging_flits) : staging_(staging_flits) {}

void HostRegisters::stage(unsigned slot, const arch::Flit& flit) {
  if (slot >= staging_.size()) throw UserError::make("staging slot {} of {}", slot, staging_.size());
  staging_[slot] = flit;
}

Dispatch HostRegisters::kick(arch::Coord to, unsigned base, unsigned count) {
  if (base + count > staging_.size())
    throw UserError::make("a kick of staging slots {} up to {} of {}", base, base + count, staging_.size());
  return {to, {staging_.begin() + base, staging_.begin() + base + count}};
}

std::optional<Dispatch> HostRegisters::write(std::uint32_t offset, std::uint64_t value) {
  const auto half = static_cast<std::uint16_t>(value);
  if (offset >= reg::kStage && (offset - reg::kStage) / (8 * reg::kWordsPerFlit) < staging_.size()) {
    const std::uint32_t word = (offset - reg::kStage) / 8;
    staging_[word / reg::kWordsPerFlit].w[word % reg::kWordsPerFlit] = value;
    return std::nullopt;
  }
  switch (offset) {
    case reg::kProgDst:
      destination_ = half & 255;
      break;
    case reg::kProgLen:
      length_ = half;
      break;
    case reg::kProgBase:
      base_ = half;
      break;
    case reg::kProgCred:
      credit_ = half;
      break;
    case reg::kSigDone:
      done_ = 0;
      break;
    case reg::kCtrl:
      scratch_ = value;
      break;
    case reg::kIrqEn:
      interrupts_ = value;
      break;
    case reg::kIrqStat:
      break;
    case reg::kProgKick:
      return kick(arch::Coord::from_node_byte(destination_), base_, length_);
    default:
      throw UserError::make(
          "a write of register 0x{:x}: only dispatch is interpreted, not mailbox, mover or interlink",
          offset);
  }
  return std::nullopt;
}

std::uint64_t HostRegisters::read(std::uint32_t offset) const {
  if (offset >= reg::kNodeStatus && offset < reg::kStage) {
    const Node& node = nodes_[(offset - reg::kNodeStatus) / 8 % nodes_.size()];
    namespace field = reg::node_status_word;
    std::uint64_t word = 0;
    arch::set(&word, field::kValid, node.valid);
    arch::set(&word, field::kCount, node.count);
    arch::set(&word, field::kCode, node.code);
    arch::set(&word, field::kArg, node.arg);
    return word;
  }
  switch (offset) {
    case reg::kProgDst:
      return destination_;
    case reg::kProgLen:
      return length_;
    case reg::kProgBase:
      return base_;
    case reg::kProgCred:
      return credit_;
    case reg::kSigDone:
      return done_;
    case reg::kCtrl:
      return scratch_;
    case reg::kIrqEn:
      return interrupts_;
    case reg::kStatus: {
      std::uint64_t word = 0;
      arch::set(&word, reg::status::kMeshReady, 1);
      return word;
    }
    case reg::kProgStat: {  // nothing runs between two steps
      std::uint64_t word = 0;
      arch::set(&word, reg::prog_stat::kCredit, credit_);
      return word;
    }
    default:
      throw UserError::make("a read of register 0x{:x}, which is not interpreted", offset);
  }
}

void HostRegisters::signal(arch::Coord from, arch::SignalCode code, std::uint32_t arg) {
  Node& node = nodes_[from.node_byte()];
  node.valid = true;
  ++node.count;
  node.code = static_cast<std::uint8_t>(code);
  node.arg = arg;
  ++done_;
}

}  // namespace ktpu::interpret
