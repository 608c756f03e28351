// SPDX-License-Identifier: Apache-2.0
// The interlink between meshes: packet header, registers, status words and the chain of meshes (memory.md
// section 11).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "arch/bits.h"

namespace ktpu::arch::interlink {

// Kinds of packets (section 11.1).
enum class Kind : std::uint8_t { kMemoryWrite = 1, kFlits = 2, kDoorbell = 3, kCredit = 4 };

// The 96-bit header on a packet's first beat, as two 64-bit words, low first (section 11.1).
namespace header {
inline constexpr Field kKind{"kind", 0, 4, "1 memory write, 2 flits, 3 doorbell, 4 credit"};
inline constexpr Field kDestination{"dmesh", 4, 2, "destination mesh"};
inline constexpr Field kSource{"smesh", 6, 2, "source mesh"};
inline constexpr Field kTxn{"txn", 8, 8, "node byte {y,x} of flits, tag of a doorbell, beats of a credit"};
inline constexpr Field kLen{"len", 16, 16, "beats - 1"};
inline constexpr Field kAddress{"address", 32, 40, "of a write; node byte {y,x} of flits; class of a credit"};
inline constexpr Field kOdd{"odd", 72, 1, "the number of beats is odd"};
inline constexpr std::array<Field, 7> kFields{kKind, kDestination, kSource, kTxn, kLen, kAddress, kOdd};
}  // namespace header
inline constexpr unsigned kHeaderBits = 96;
inline constexpr unsigned kBeatBits = 288;  // a flit

struct Header {
  Kind kind = Kind::kFlits;
  unsigned destination = 0;
  unsigned source = 0;
  unsigned txn = 0;
  unsigned beats = 1;  // 1..kMaxBeats
  std::uint64_t address = 0;
  bool operator==(const Header&) const = default;
};
constexpr std::array<std::uint64_t, 2> pack(const Header& h) {
  std::array<std::uint64_t, 2> words{};
  set(words.data(), header::kKind, static_cast<std::uint64_t>(h.kind));
  set(words.data(), header::kDestination, h.destination);
  set(words.data(), header::kSource, h.source);
  set(words.data(), header::kTxn, h.txn);
  set(words.data(), header::kLen, h.beats - 1);
  set(words.data(), header::kAddress, h.address);
  set(words.data(), header::kOdd, h.beats & 1);
  return words;
}
constexpr Header unpack(const std::array<std::uint64_t, 2>& words) {
  const auto field = [&](const Field& f) { return static_cast<unsigned>(get(words.data(), f)); };
  return {static_cast<Kind>(field(header::kKind)),
          field(header::kDestination),
          field(header::kSource),
          field(header::kTxn),
          field(header::kLen) + 1,
          get(words.data(), header::kAddress)};
}

inline constexpr unsigned kMaxBeats = 32;          // of a packet (section 11.1)
inline constexpr unsigned kCredits = 64;           // beats of each class a receiver holds (section 11.2)
inline constexpr unsigned kCreditReturn = 8;       // owed beats that go back even on a busy link
inline constexpr unsigned kMaxCreditPacket = 255;  // beats a credit packet returns at most
inline constexpr unsigned kWritesInFlight = 8;     // of the inbound writes of a mesh (section 11.4)

// Traffic classes: what stops at the next mesh, and what that mesh passes on (section 11.2).
inline constexpr unsigned kClasses = 2;
inline constexpr unsigned kStops = 0, kForwarded = 1;

// The chain 0 - 1 - 3 - 2: link 0 of a mesh goes to the lower position, link 1 to the higher.
inline constexpr unsigned kLinks = 2;
inline constexpr unsigned kMeshes = 4;
inline constexpr std::array<unsigned, kMeshes> kChain{0, 1, 3, 2};
constexpr unsigned position(unsigned mesh) {  // 0..3
  return mesh < 2 ? mesh : 5 - mesh;
}
// Which of `mesh`'s links leads to `other`; they must differ.
constexpr unsigned link_towards(unsigned mesh, unsigned other) {
  return position(other) > position(mesh) ? 1 : 0;
}
// The mesh at the other end of a link, kMeshes if the chain ends.
constexpr unsigned neighbour(unsigned mesh, unsigned link) {
  const unsigned p = position(mesh);
  if (link == 0) return p == 0 ? kMeshes : kChain[p - 1];
  return p == kMeshes - 1 ? kMeshes : kChain[p + 1];
}

// Registers, as byte offsets in the AUX window (section 11.5).
inline constexpr std::uint32_t kControl = 0x80, kMeshId = 0x88, kDoorbell = 0x90;
namespace control {
inline constexpr Field kEnable{"enable", 0, 1, "send and receive; reset value 1"};
inline constexpr Field kClearDoorbells{"clear_doorbells", 1, 1, "clears the counters of received doorbells"};
inline constexpr Field kClearFaults{"clear_faults", 2, 1, "clears the sticky faults"};
}  // namespace control
namespace doorbell {
inline constexpr Field kDestination{"mesh", 0, 2, "mesh whose counter is rung"};
inline constexpr Field kTag{"tag", 8, 8, "shown there as the last tag"};
}  // namespace doorbell

// Status words (section 11.5).
enum StatusWord : unsigned {
  kCapability = 0,
  kFaults = 1,
  kReceived = 2,      // + source mesh
  kSentBy = 6,        // + 2 * link; received by the link: + 1
  kIdleStalled = 10,  // + link
  kBlockedForwarded = 12,
  kCredit = 13,
  kDoorbellsSent = 14,
  kEgressBlocked = 15,
};
inline constexpr std::uint64_t kMagic = 0x494C;  // "IL"

// Sticky faults, bits of the fault word.
enum Fault : unsigned {
  kUnmarked = 0,     // a request names another mesh, but is not marked remote
  kNoAck = 1,        // remote CU_DATA without an explicit acknowledge node
  kSwitch = 2,       // a packet for a mesh that no link leads to
  kAxiError = 3,     // cannot happen behind the DRAM port (memory.md section 7.3)
  kFlitDropped = 4,  // something came while the interlink was disabled
};

}  // namespace ktpu::arch::interlink
