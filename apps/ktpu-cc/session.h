// SPDX-License-Identifier: Apache-2.0
// One run of ktpu-cc, from options to exit status.
#pragma once

#include "apps/ktpu-cc/options.h"
#include "arch/error.h"

namespace ktpu::apps {

// Results to stdout, notes to stderr. Throws UserError, base::Refusal among them.
arch::ExitStatus run_session(const CcOptions& options);

}  // namespace ktpu::apps
