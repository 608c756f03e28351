// SPDX-License-Identifier: Apache-2.0
// Machine -> YAML, and the machine's fingerprint.
#pragma once

#include <cstdint>
#include <string>

#include "topologies/description.h"

namespace ktpu::topo {

// The resolved machine as YAML text that reads back to an equal Machine: every key with its value, no
// includes, anchors or defaults. Comment lines say which memory port every node is bound to.
std::string print_resolved(const Machine& machine);

// 64-bit FNV-1a (offset 0xcbf29ce484222325, prime 0x100000001b3) over the bytes of print_resolved() without
// its comment lines. Equal machines have equal fingerprints, on every host and in every build of one format
// version.
std::uint64_t fingerprint(const Machine& machine);

// The same over the machine with everything set to its default that cannot change whether a program fits:
// name, clocks, `impl`, `quirks`, DRAM model and timing, host, router FIFOs, reads in flight. What prog.bin
// carries.
std::uint64_t program_fingerprint(const Machine& machine);

}  // namespace ktpu::topo
