// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "arch/error.h"

namespace ktpu::schedule {

// The message of the refusal; empty: none came.
template <typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const arch::UserError& error) {
    return error.what();
  }
  return {};
}

}  // namespace ktpu::schedule
