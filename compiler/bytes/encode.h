// SPDX-License-Identifier: Apache-2.0
// Instructions -> words of an artifact, with everything refused that the bits can't say (compiler.md sections
// 19 and 25). Bit positions are those of the layout tables in arch/encoding.
#pragma once

#include <cstdint>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "arch/flit.h"

namespace ktpu::bytes {

// All throw UserError that names instruction, field and limit.
// The payload alone. A FILL of more than 255 entries is refused (base::Refusal, FILL_OVER_255), although the
// field is wider.
arch::Flit encode(const arch::ClusterInst& inst);
// The payload, type CU_INST and the transaction number vector words travel with (section 12).
arch::Flit encode(const arch::VectorInst& inst);
std::uint32_t encode(const arch::VectorWord& word);

// A constant of a vector kernel: FP32 with its last eight bits cut off, not rounded.
std::uint32_t constant_bits(double value);

}  // namespace ktpu::bytes
