// SPDX-License-Identifier: Apache-2.0
// Registers of the control agent (orchestrator.md section 3) and of the command engine (section 8). Offsets
// are bytes from each block's base (address_map.h); every register is 8 bytes, 8-byte aligned.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "arch/bits.h"

namespace ktpu::arch {

enum class Access : std::uint8_t { kReadWrite, kReadOnly, kWriteOnly, kWriteOneClears, kReadWriteClears };

struct Register {
  std::string_view name;
  std::uint32_t offset = 0;
  unsigned width = 64;  // implemented bits
  Access access = Access::kReadWrite;
  std::uint64_t reset = 0;
  std::uint32_t count = 1;  // consecutive 8-byte words
  std::string_view meaning = {};
};

namespace agent {
inline constexpr std::uint32_t kCtrl = 0x0000, kStatus = 0x0008, kCaps = 0x0010, kIrqStat = 0x0018,
                               kIrqEn = 0x0020;
inline constexpr std::uint32_t kProgDst = 0x0040, kProgLen = 0x0048, kProgKick = 0x0050, kProgStat = 0x0058,
                               kProgCred = 0x0060, kProgBase = 0x0068, kSigDone = 0x0070;
inline constexpr std::uint32_t kAuxStat = 0x0078, kAuxStatW = 0x0080;
inline constexpr std::uint32_t kTxFlit = 0x0100, kTxKick = 0x0140, kTxStatus = 0x0148;
inline constexpr std::uint32_t kRxFlit = 0x0180, kRxPop = 0x01C0, kRxStatus = 0x01C8;
inline constexpr std::uint32_t kAuxCfgMover = 0x0800, kAuxCfgInterlink = 0x0880, kAuxCfgEnd = 0x0900;
inline constexpr std::uint32_t kNodeStatus = 0x1000;  // + 8 * node byte; the next 2 KiB alias it
inline constexpr std::uint32_t kStage = 0x2000;       // + 8 * (5 * slot + word)
inline constexpr unsigned kWordsPerFlit = 5, kAuxStatWords = 16;

constexpr std::uint32_t node_status(unsigned node_byte) { return kNodeStatus + 8 * (node_byte & 255); }
constexpr std::uint32_t stage_word(unsigned slot, unsigned word) {
  return kStage + 8 * (kWordsPerFlit * slot + word);
}

inline constexpr std::array<Register, 25> kRegisters{{
    {"CTRL", kCtrl, 64, Access::kReadWrite, 0, 1, "scratch"},
    {"STATUS", kStatus, 3, Access::kReadOnly, 4, 1, "[0] busy, [1] error, [2] mesh ready"},
    {"CAPS", kCaps, 48, Access::kReadOnly, 0, 1, "flit width, coordinate width, grid bounds"},
    {"IRQ_STAT", kIrqStat, 64, Access::kWriteOneClears, 0, 1, "nothing sets it"},
    {"IRQ_EN", kIrqEn, 64, Access::kReadWrite, 0, 1, "scratch"},
    {"PROG_DST", kProgDst, 8, Access::kReadWrite, 0, 1,
     "node byte {y,x} flits are sent to; live during a run"},
    {"PROG_LEN", kProgLen, 16, Access::kReadWrite, 0, 1, "flits to send, sampled at the kick"},
    {"PROG_KICK", kProgKick, 64, Access::kWriteOnly, 0, 1, "any write asks for a start"},
    {"PROG_STAT", kProgStat, 33, Access::kReadOnly, 0, 1, "run, flits left, credit"},
    {"PROG_CRED", kProgCred, 16, Access::kReadWrite, 0, 1, "dispatch credit"},
    {"PROG_BASE", kProgBase, 16, Access::kReadWrite, 0, 1, "first staging slot, sampled at the kick"},
    {"SIG_DONE", kSigDone, 16, Access::kReadWriteClears, 0, 1, "signals received; a write clears it"},
    {"AUX_STAT", kAuxStat, 64, Access::kReadOnly, 0, 1, "mover and memory traffic"},
    {"AUX_STATW", kAuxStatW, 64, Access::kReadOnly, 0, kAuxStatWords, "interlink status words"},
    {"TX_FLIT", kTxFlit, 64, Access::kWriteOnly, 0, 5, "mailbox flit, word 0 first"},
    {"TX_KICK", kTxKick, 64, Access::kWriteOnly, 0, 1, "sends TX_FLIT"},
    {"TX_STATUS", kTxStatus, 17, Access::kReadOnly, 0, 1, "[16] full"},
    {"RX_FLIT", kRxFlit, 64, Access::kReadOnly, 0, 5, "oldest received flit, word 0 first"},
    {"RX_POP", kRxPop, 64, Access::kWriteOnly, 0, 1, "drops the oldest received flit"},
    {"RX_STATUS", kRxStatus, 18, Access::kReadOnly, 0x10000, 1, "[16] empty, [17] overflow"},
    {"AUX_CFG_MOVER", kAuxCfgMover, 64, Access::kWriteOnly, 0, 16, "memory mover registers"},
    {"AUX_CFG_INTERLINK", kAuxCfgInterlink, 64, Access::kWriteOnly, 0, 16, "interlink registers"},
    {"NODE_STATUS", kNodeStatus, 64, Access::kReadOnly, 0, 256, "per node: last signal and count"},
    {"NODE_STATUS_ALIAS", kNodeStatus + 0x800, 64, Access::kReadOnly, 0, 256, "the same words again"},
    {"STAGE", kStage, 64, Access::kWriteOnly, 0, 640, "staging RAM, 5 words a flit"},
}};

// Fields of the status words.
namespace status {
inline constexpr Field kBusy{"busy", 0, 1, "TX FIFO not empty, or a dispatch runs"};
inline constexpr Field kError{"error", 1, 1, "tied to 0"};
inline constexpr Field kMeshReady{"mesh_ready", 2, 1, "tied to 1"};
}  // namespace status
namespace caps {
inline constexpr Field kFlitWidth{"flit_width", 0, 16, "288"};
inline constexpr Field kPosWidth{"pos_width", 16, 8, "4"};
inline constexpr Field kGridLo{"grid_lo", 24, 8, "first router row and column"};
inline constexpr Field kGridHi{"grid_hi", 32, 8, "last router row and column"};
}  // namespace caps
namespace prog_stat {
inline constexpr Field kRun{"run", 0, 1, "a dispatch runs"};
inline constexpr Field kLeft{"left", 1, 16, "flits left; stays 1 after a run"};
inline constexpr Field kCredit{"credit", 17, 16, "dispatch credit"};
}  // namespace prog_stat
namespace node_status_word {
inline constexpr Field kCode{"code", 56, 8, "last signal code"};
inline constexpr Field kArg{"arg", 24, 32, "last argument"};
inline constexpr Field kCount{"count", 8, 16, "signals from this node, wrapping"};
inline constexpr Field kValid{"valid", 0, 1, "a signal was received"};
inline constexpr std::uint64_t kCountAndValidMask = 0xFFFF01;  // what a completion poll compares
}  // namespace node_status_word
namespace aux_stat {
inline constexpr Field kMoves{"moves", 40, 24, "mover moves completed"};
inline constexpr Field kReads{"reads", 24, 16, "memory reads issued"};
inline constexpr Field kWrites{"writes", 8, 16, "memory writes issued"};
inline constexpr Field kFault{"fault", 4, 4, "mover fault"};
inline constexpr Field kBusy{"busy", 0, 1, "mover busy"};
}  // namespace aux_stat
}  // namespace agent

namespace engine {
inline constexpr std::uint32_t kCtrl = 0x0000, kPc = 0x0008, kCode = 0x0010, kPolls = 0x0018, kCmd = 0x1000;
inline constexpr unsigned kCommandBytes = 32;      // four 8-byte fields
inline constexpr unsigned kDefaultCommands = 128;  // capacity of the reference

enum class CommandOp : std::uint8_t { kWrite = 1, kPoll = 2, kDone = 3 };

constexpr std::uint32_t command_field(unsigned command, unsigned field) {
  return kCmd + command * kCommandBytes + field * 8;
}

inline constexpr std::array<Register, 5> kRegisters{{
    {"CTRL", kCtrl, 3, Access::kReadWrite, 0, 1, "W [0] go; R [0] busy, [1] done, [2] err"},
    {"PC", kPc, 7, Access::kReadOnly, 0, 1, "current command"},
    {"CODE", kCode, 64, Access::kReadOnly, 0, 1, "data of the DONE executed"},
    {"POLLS", kPolls, 64, Access::kReadOnly, 0, 1, "poll reads since go"},
    {"CMD", kCmd, 64, Access::kWriteOnly, 0, 512, "commands: opcode, address, data, mask"},
}};
}  // namespace engine

}  // namespace ktpu::arch
