// SPDX-License-Identifier: Apache-2.0
// The words of every closed set of the topology file: one table serves reader, printer, schema and messages.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "topologies/description.h"

namespace ktpu::topo {

template <typename E>
struct Word {
  E value;
  std::string_view word;
  bool supported = true;  // false: known and checked, but refused by this version
};

inline constexpr std::array<Word<Kind>, 7> kKindWords{{{Kind::kMatmulCluster, "matmul_cluster"},
                                                       {Kind::kVectorCore, "vector_core"},
                                                       {Kind::kMemoryPort, "memory_port"},
                                                       {Kind::kController, "controller", false},
                                                       {Kind::kPe, "pe", false},
                                                       {Kind::kTraffic, "traffic"},
                                                       {Kind::kNull, "null"}}};
// The part of a node id before the `@`; same order as Kind.
inline constexpr std::array<std::string_view, 7> kKindShort{"cluster", "vector",  "memory", "controller",
                                                            "pe",      "traffic", "null"};
inline constexpr std::string_view kRouterShort = "router";

inline constexpr std::array<Word<Impl>, 4> kImplWords{
    {{Impl::kModel, "model"}, {Impl::kRtl, "rtl"}, {Impl::kLockstep, "lockstep"}, {Impl::kPins, "pins"}}};
inline constexpr std::array<Word<Quirks>, 2> kQuirksWords{
    {{Quirks::kReference, "reference"}, {Quirks::kNone, "none"}}};
inline constexpr std::array<Word<Pattern>, 4> kPatternWords{{{Pattern::kScript, "script"},
                                                             {Pattern::kUniform, "uniform"},
                                                             {Pattern::kHotspot, "hotspot"},
                                                             {Pattern::kTranspose, "transpose"}}};
inline constexpr std::array<Word<Presence>, 3> kPresenceWords{
    {{Presence::kAbsent, "absent"}, {Presence::kIdle, "idle"}, {Presence::kBuilt, "built"}}};
inline constexpr std::array<Word<StagingPlacement>, 2> kStagingPlacementWords{
    {{StagingPlacement::kConverged, "converged"}, {StagingPlacement::kPort, "port"}}};
inline constexpr std::array<Word<DramModel>, 2> kDramModelWords{
    {{DramModel::kSimple, "simple"}, {DramModel::kBanked, "banked"}}};
inline constexpr std::array<Word<HostKind>, 5> kHostKindWords{{{HostKind::kNone, "none"},
                                                               {HostKind::kCommandEngine, "command_engine"},
                                                               {HostKind::kScript, "script"},
                                                               {HostKind::kExternal, "external"},
                                                               {HostKind::kFirmware, "firmware", false}}};

template <typename E, std::size_t N>
constexpr std::string_view word_of(const std::array<Word<E>, N>& words, E value) {
  for (const auto& w : words)
    if (w.value == value) return w.word;
  return "?";
}

}  // namespace ktpu::topo
