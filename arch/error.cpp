// SPDX-License-Identifier: Apache-2.0
#include "arch/error.h"

namespace ktpu::arch {

void fail_check(const char* file, int line, const char* condition, const std::string& detail) {
  throw InternalError(fmt::format("{}:{}: broken invariant `{}`{}{}", file, line, condition,
                                  detail.empty() ? "" : ": ", detail));
}

}  // namespace ktpu::arch
