// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/refusal.h"

namespace ktpu::base {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::kBind:
      return "bind";
    case Phase::kTrace:
      return "trace";
    case Phase::kStages:
      return "stages";
    case Phase::kLayout:
      return "layout";
    case Phase::kPack:
      return "pack";
    case Phase::kTransfer:
      return "transfer";
    case Phase::kAllocate:
      return "allocate";
    case Phase::kBuild:
      return "build";
    case Phase::kEncode:
      return "encode";
  }
  return "";
}

Refusal::Refusal(Phase phase, std::string code, const std::string& what, const std::string& fix)
    : UserError(fmt::format("{} ({}, {}): {}", what, code, name(phase), fix)),
      phase_(phase),
      code_(std::move(code)) {}

}  // namespace ktpu::base
