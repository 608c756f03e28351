// SPDX-License-Identifier: Apache-2.0
// L1 to L0: every step becomes a word, every instance gets a unit, every stage becomes rounds (compiler.md
// sections 12 and 19).
#pragma once

#include "compiler/bytes/executable.h"
#include "compiler/program/unit_program.h"

namespace ktpu::program_to_bytes {

// `commands`: what happens to a round that needs more commands than the engine holds. The reference reports
// it (kReport); cutting is right on every machine. Throws base::Refusal: UNIT_ABSENT (the machine lacks the
// units a stage runs on), AGENT_ABSENT (tiles go from unit to unit and nobody takes the acknowledgements),
// FILL_OVER_255; UserError for a value its field can't hold.
bytes::Executable lower(const program::Program& program, const bytes::Machine& machine,
                        bytes::CommandLimit commands);

}  // namespace ktpu::program_to_bytes
