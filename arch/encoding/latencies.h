// SPDX-License-Identifier: Apache-2.0
// Every latency and fixed depth of the machine, in cycles or entries, with the place that says so. The
// SystemVerilog package is generated from the same table, so model and RTL twin cannot drift apart.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ktpu::arch {

// Converts to an integer constant; `value` where a template needs the plain type.
struct NamedConstant {
  std::string_view name;
  unsigned value = 0;
  std::string_view meaning = {};
  constexpr operator unsigned() const { return value; }
};

namespace latency {
// Primitives, fabric.md section 1.2.
inline constexpr NamedConstant kFifo{"L_FIFO", 3, "sync FIFO, write to readable"};
inline constexpr NamedConstant kFifoExtra{"FIFO_EXTRA", 2, "words a sync FIFO holds beyond its depth"};
inline constexpr NamedConstant kAsyncFifo{"L_ASYNC_FIFO", 8, "async FIFO at equal clocks, write to readable"};
inline constexpr NamedConstant kAsyncFifoExtra{"ASYNC_FIFO_EXTRA", 1,
                                               "words an async FIFO holds beyond its depth"};
inline constexpr NamedConstant kSkid{"L_SKID", 1, "two-entry skid"};
// Router, fabric.md section 7.
inline constexpr NamedConstant kRouterHop{"L_ROUTER_HOP", 5,
                                          "accepted at an input to offered at an output: L_FIFO + 2"};
inline constexpr NamedConstant kRouterPorts{"ROUTER_PORTS", 5,
                                            "N E S W L, and the period of the arbiter pointer"};
inline constexpr NamedConstant kRouterFifoReset{"ROUTER_FIFO_RESET", 5,
                                                "cycles an input stays busy after reset"};
// Endpoint base, fabric.md section 8.1.
inline constexpr NamedConstant kSignalDepth{"SIGNAL_DEPTH", 16, "completion queue"};
inline constexpr NamedConstant kDoneToSignal{"L_DONE_TO_SIGNAL", 4,
                                             "exec_done to the completion on the output"};
inline constexpr NamedConstant kCtrlReply{"L_CTRL_REPLY", 2, "CU_CTRL accepted to reply on the output"};
inline constexpr NamedConstant kAdapterUp{"L_ADAPTER_UP", 1, "staging adapter, endpoint to router"};
// Control agent, orchestrator.md sections 2 to 5.
inline constexpr NamedConstant kTxDepth{"AGENT_TX_DEPTH", 16, "mailbox and dispatcher send FIFO"};
inline constexpr NamedConstant kRxDepth{"AGENT_RX_DEPTH", 16, "mailbox receive FIFO"};
inline constexpr NamedConstant kStageFlits{"STAGE_FLITS", 128, "staging slots"};
inline constexpr NamedConstant kKickToFlit{"L_KICK_TO_FLIT", 11,
                                           "W beat of PROG_KICK to flit 0 on the output"};
inline constexpr NamedConstant kTxKickToFlit{"L_TX_KICK_TO_FLIT", 5,
                                             "W beat of TX_KICK to the flit on the output"};
inline constexpr NamedConstant kDispatchPeriod{"DISPATCH_PERIOD", 5, "cycles a dispatched flit takes"};
inline constexpr NamedConstant kEngineWrite{"ENGINE_WRITE_PERIOD", 5, "command engine: one WRITE"};
inline constexpr NamedConstant kEnginePoll{"ENGINE_POLL_INTERVAL", 36,
                                           "command engine: failed POLL to its retry"};
// Memory port and path to DRAM, memory.md sections 1, 4, 6, 7.
inline constexpr NamedConstant kMemQueueDepth{"MEM_Q_DEPTH", 64, "port intake queues"};
inline constexpr NamedConstant kMemQueueMargin{"MEM_Q_MARGIN", 4, "port busy this many before full"};
inline constexpr NamedConstant kMemWriteSlots{"MEM_WR_SLOTS", 16, "write reassembly slots a port"};
inline constexpr NamedConstant kMemWriteBeats{"MEM_WBURST", 8, "longest write"};
inline constexpr NamedConstant kMemReadAddress{"L_MEM_RD_ADDR", 4, "read request accepted to address valid"};
inline constexpr NamedConstant kMemWriteAddress{"L_MEM_WR_ADDR", 7,
                                                "last data flit accepted to write address valid"};
inline constexpr NamedConstant kQuantDone{"L_QUANT", 9, "quantiser: 8th beat to done"};
inline constexpr NamedConstant kDramAddress{"L_DRAM_ADDR", 10,
                                            "request valid to address on the DRAM bus, equal clocks"};
inline constexpr NamedConstant kDramReadReturn{"L_DRAM_RD", 8,
                                               "DRAM beat to first internal beat, equal clocks"};
inline constexpr NamedConstant kDramWriteResponse{"L_DRAM_B", 9, "DRAM response to the requester's pulse"};
inline constexpr NamedConstant kDramWriteMux{"L_DRAM_WR_MUX", 6, "write address valid to first beat taken"};
inline constexpr NamedConstant kDramFifoAw{"DRAM_FIFO_AW", 16, "write address FIFO"};
inline constexpr NamedConstant kDramFifoW{"DRAM_FIFO_W", 64, "write data FIFO"};
inline constexpr NamedConstant kDramFifoB{"DRAM_FIFO_B", 16, "write response FIFO"};
inline constexpr NamedConstant kDramFifoAr{"DRAM_FIFO_AR", 16, "read address FIFO"};
inline constexpr NamedConstant kDramFifoR{"DRAM_FIFO_R", 64, "read data FIFO"};
// Matmul cluster, cluster.md sections 2 and 13.3.
inline constexpr NamedConstant kAcuFifoDepth{"ACU_FIFO_DEPTH", 64, "accumulator command FIFO"};
inline constexpr NamedConstant kDrainDepth{"DQ_DEPTH", 128, "drain queue"};
inline constexpr NamedConstant kDrainLimit{"DQ_LIMIT", 112, "granules outstanding that stop the issue"};
inline constexpr NamedConstant kDrainBurst{"WBURST", 8, "granules a write burst"};
inline constexpr NamedConstant kReuseMin{"REUSE_MIN", 5, "commands to one tile at least this far apart"};
inline constexpr NamedConstant kIssueToOperands{"L_ISSUE_TO_OPERANDS", 3,
                                                "sweep issue to operands in the array"};
inline constexpr NamedConstant kCascade{"L_CASCADE", 17, "array, operands to partial sum"};
inline constexpr NamedConstant kIssueToCommand{"L_ISSUE_TO_CMD", 20, "sweep issue to accumulator command"};
inline constexpr NamedConstant kAcuWrite{"L_ACU_WRITE", 6, "accumulator command to tile write"};
inline constexpr NamedConstant kAcuSend{"L_ACU_SEND", 7, "accumulator command to SEND output"};
inline constexpr NamedConstant kAcuEmit{"L_ACU_EMIT", 8, "accumulator command to FP16 output"};
inline constexpr NamedConstant kL1Read{"L_L1_READ", 1, "cluster L1 read"};
inline constexpr NamedConstant kTileRead{"L_TILE_READ", 2, "tile RAM read"};

inline constexpr std::array<NamedConstant, 49> kAll{
    kFifo,           kFifoExtra,       kAsyncFifo,     kAsyncFifoExtra, kSkid,           kRouterHop,
    kRouterPorts,    kRouterFifoReset, kSignalDepth,   kDoneToSignal,   kCtrlReply,      kAdapterUp,
    kTxDepth,        kRxDepth,         kStageFlits,    kKickToFlit,     kTxKickToFlit,   kDispatchPeriod,
    kEngineWrite,    kEnginePoll,      kMemQueueDepth, kMemQueueMargin, kMemWriteSlots,  kMemWriteBeats,
    kMemReadAddress, kMemWriteAddress, kQuantDone,     kDramAddress,    kDramReadReturn, kDramWriteResponse,
    kDramWriteMux,   kDramFifoAw,      kDramFifoW,     kDramFifoB,      kDramFifoAr,     kDramFifoR,
    kAcuFifoDepth,   kDrainDepth,      kDrainLimit,    kDrainBurst,     kReuseMin,       kIssueToOperands,
    kCascade,        kIssueToCommand,  kAcuWrite,      kAcuSend,        kAcuEmit,        kL1Read,
    kTileRead};
}  // namespace latency

}  // namespace ktpu::arch
