// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/error.h"

namespace ktpu::rtl {

// An assertion of the RTL failed, or it called $stop or $fatal. The message names unit, cycle and assertion.
class RtlFailure : public arch::InternalError {
 public:
  using InternalError::InternalError;
};

}  // namespace ktpu::rtl
