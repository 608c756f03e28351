// SPDX-License-Identifier: Apache-2.0
// One run of ktpu-sim, from options to exit status.
#pragma once

#include "apps/ktpu-sim/options.h"
#include "arch/error.h"

namespace ktpu::apps {

// Prints results to stdout and what went wrong to stderr. Throws UserError and LockstepError.
arch::ExitStatus run_session(const Options& options);

// Throws UserError when `path` cannot be written, as far as it shows without creating the file.
void require_writable(const std::string& path);

}  // namespace ktpu::apps
