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
  std::string_view name;  // in the SystemVerilog package
  unsigned value = 0;
  std::string_view meaning = {};
  constexpr operator unsigned() const { return value; }
};

namespace latency {
// Primitives, fabric.md section 1.2.
inline constexpr NamedConstant kFifo{"FifoLatency", 3, "sync FIFO, write to readable"};
inline constexpr NamedConstant kFifoExtra{"FifoExtra", 2, "words a sync FIFO holds beyond its depth"};
inline constexpr NamedConstant kAsyncFifo{"AsyncFifoLatency", 8,
                                          "async FIFO at equal clocks, write to readable"};
inline constexpr NamedConstant kAsyncFifoExtra{"AsyncFifoExtra", 1,
                                               "words an async FIFO holds beyond its depth"};
inline constexpr NamedConstant kSkid{"SkidLatency", 1, "two-entry skid"};
// Router, fabric.md section 7.
inline constexpr NamedConstant kRouterHop{"RouterHopLatency", 5,
                                          "accepted at an input to offered at an output: L_FIFO + 2"};
inline constexpr NamedConstant kRouterPorts{"NumPorts", 5,
                                            "N E S W L, and the period of the arbiter pointer"};
inline constexpr NamedConstant kRouterFifoReset{"FifoReset", 5, "cycles an input stays busy after reset"};
// Endpoint base, fabric.md section 8.1.
inline constexpr NamedConstant kSignalDepth{"SignalDepth", 16, "completion queue"};
inline constexpr NamedConstant kDoneToSignal{"DoneToSignal", 4, "exec_done to the completion on the output"};
inline constexpr NamedConstant kCtrlReply{"CtrlReply", 2, "CU_CTRL accepted to reply on the output"};
inline constexpr NamedConstant kAdapterUp{"AdapterUp", 1, "staging adapter, endpoint to router"};
// Control agent, orchestrator.md sections 2 to 5.
inline constexpr NamedConstant kTxDepth{"TxDepth", 16, "mailbox and dispatcher send FIFO"};
inline constexpr NamedConstant kRxDepth{"RxDepth", 16, "mailbox receive FIFO"};
inline constexpr NamedConstant kStageFlits{"StageFlits", 128, "staging slots"};
inline constexpr NamedConstant kKickToFlit{"KickToFlit", 11, "W beat of PROG_KICK to flit 0 on the output"};
inline constexpr NamedConstant kTxKickToFlit{"TxKickToFlit", 5,
                                             "W beat of TX_KICK to the flit on the output"};
inline constexpr NamedConstant kDispatchPeriod{"DispatchPeriod", 5, "cycles a dispatched flit takes"};
inline constexpr NamedConstant kEngineWrite{"EngineWrite", 5, "command engine: one WRITE"};
inline constexpr NamedConstant kEnginePoll{"EnginePoll", 36, "command engine: failed POLL to its retry"};
// Memory port and path to DRAM, memory.md sections 1, 4, 6, 7.
inline constexpr NamedConstant kMemQueueDepth{"MemQueueDepth", 64, "port intake queues"};
inline constexpr NamedConstant kMemQueueMargin{"MemQueueMargin", 4, "port busy this many before full"};
inline constexpr NamedConstant kMemWriteSlots{"MemWriteSlots", 16, "write reassembly slots a port"};
inline constexpr NamedConstant kMemWriteBeats{"MemWriteBeats", 8, "longest write"};
inline constexpr NamedConstant kMemReadAddress{"MemReadAddress", 4, "read request accepted to address valid"};
inline constexpr NamedConstant kMemWriteAddress{"MemWriteAddress", 7,
                                                "last data flit accepted to write address valid"};
inline constexpr NamedConstant kQuantDone{"QuantDone", 9, "quantiser: 8th beat to done"};
inline constexpr NamedConstant kDramAddress{"DramAddress", 10,
                                            "request valid to address on the DRAM bus, equal clocks"};
inline constexpr NamedConstant kDramReadReturn{"DramReadReturn", 8,
                                               "DRAM beat to first internal beat, equal clocks"};
inline constexpr NamedConstant kDramWriteResponse{"DramWriteResponse", 9,
                                                  "DRAM response to the requester's pulse"};
inline constexpr NamedConstant kDramWriteMux{"DramWriteMux", 6, "write address valid to first beat taken"};
inline constexpr NamedConstant kDramFifoAw{"DramFifoAw", 16, "write address FIFO"};
inline constexpr NamedConstant kDramFifoW{"DramFifoW", 64, "write data FIFO"};
inline constexpr NamedConstant kDramFifoB{"DramFifoB", 16, "write response FIFO"};
inline constexpr NamedConstant kDramFifoAr{"DramFifoAr", 16, "read address FIFO"};
inline constexpr NamedConstant kDramFifoR{"DramFifoR", 64, "read data FIFO"};
// Staging memory and host upload, memory.md sections 7.2 and 8.
inline constexpr NamedConstant kStagingRead{"StagingRead", 6,
                                            "converged staging: cycles a beat read, and grant to beat 0"};
inline constexpr NamedConstant kStagingEntry{"StagingEntry", 4,
                                             "port-local staging: read latency of an entry"};
inline constexpr NamedConstant kUploadAddress{"UploadAddress", 2, "upload: quantiser done to write address"};
// Memory mover, memory.md sections 10.3 and 10.4.
inline constexpr NamedConstant kMoverCommandDepth{"MoverCommandDepth", 128, "write command FIFO"};
inline constexpr NamedConstant kMoverDataDepth{"MoverDataDepth", 512, "read data FIFO, words"};
inline constexpr NamedConstant kMoverReads{"MoverReads", 16, "read bursts outstanding"};
inline constexpr NamedConstant kMoverResponses{"MoverResponses", 32, "write responses outstanding"};
inline constexpr NamedConstant kMoverGather{"MoverGather", 5, "cycles an element of a gather takes"};
inline constexpr NamedConstant kMoverGenerate{"MoverGenerate", 40, "generator: one half of a word"};
// Matmul cluster, cluster.md sections 2 and 13.3.
inline constexpr NamedConstant kAcuFifoDepth{"AcuFifoDepth", 64, "accumulator command FIFO"};
inline constexpr NamedConstant kDrainDepth{"DrainDepth", 128, "drain queue"};
inline constexpr NamedConstant kDrainLimit{"DrainLimit", 112, "granules outstanding that stop the issue"};
inline constexpr NamedConstant kDrainBurst{"DrainBurst", 8, "granules a write burst"};
inline constexpr NamedConstant kReuseMin{"ReuseMin", 5, "commands to one tile at least this far apart"};
inline constexpr NamedConstant kIssueToOperands{"IssueToOperands", 3, "sweep issue to operands in the array"};
inline constexpr NamedConstant kCascade{"Cascade", 17, "array, operands to partial sum"};
inline constexpr NamedConstant kIssueToCommand{"IssueToCommand", 20, "sweep issue to accumulator command"};
inline constexpr NamedConstant kAcuWrite{"AcuWrite", 6, "accumulator command to tile write"};
inline constexpr NamedConstant kAcuSend{"AcuSend", 7, "accumulator command to SEND output"};
inline constexpr NamedConstant kAcuEmit{"AcuEmit", 8, "accumulator command to FP16 output"};
inline constexpr NamedConstant kL1Read{"L1Read", 1, "cluster L1 read"};
inline constexpr NamedConstant kTileRead{"TileRead", 2, "tile RAM read"};

inline constexpr std::array kAll{kFifo,
                                 kFifoExtra,
                                 kAsyncFifo,
                                 kAsyncFifoExtra,
                                 kSkid,
                                 kRouterHop,
                                 kRouterPorts,
                                 kRouterFifoReset,
                                 kSignalDepth,
                                 kDoneToSignal,
                                 kCtrlReply,
                                 kAdapterUp,
                                 kTxDepth,
                                 kRxDepth,
                                 kStageFlits,
                                 kKickToFlit,
                                 kTxKickToFlit,
                                 kDispatchPeriod,
                                 kEngineWrite,
                                 kEnginePoll,
                                 kMemQueueDepth,
                                 kMemQueueMargin,
                                 kMemWriteSlots,
                                 kMemWriteBeats,
                                 kMemReadAddress,
                                 kMemWriteAddress,
                                 kQuantDone,
                                 kDramAddress,
                                 kDramReadReturn,
                                 kDramWriteResponse,
                                 kDramWriteMux,
                                 kDramFifoAw,
                                 kDramFifoW,
                                 kDramFifoB,
                                 kDramFifoAr,
                                 kDramFifoR,
                                 kAcuFifoDepth,
                                 kDrainDepth,
                                 kDrainLimit,
                                 kDrainBurst,
                                 kReuseMin,
                                 kIssueToOperands,
                                 kCascade,
                                 kIssueToCommand,
                                 kAcuWrite,
                                 kAcuSend,
                                 kAcuEmit,
                                 kL1Read,
                                 kTileRead,
                                 kStagingRead,
                                 kStagingEntry,
                                 kUploadAddress,
                                 kMoverCommandDepth,
                                 kMoverDataDepth,
                                 kMoverReads,
                                 kMoverResponses,
                                 kMoverGather,
                                 kMoverGenerate};
}  // namespace latency

}  // namespace ktpu::arch
