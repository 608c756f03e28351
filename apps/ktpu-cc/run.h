// SPDX-License-Identifier: Apache-2.0
// --run: the program file through the functional interpreter.
#pragma once

#include "apps/ktpu-cc/options.h"
#include "arch/error.h"
#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::apps {

// Every input's values must be in the program already. Throws UserError.
arch::ExitStatus run_program(const arch::Program& program, const topo::Machine& machine,
                             const CcOptions& options);

}  // namespace ktpu::apps
