// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/misuse.h"

namespace ktpu::memory {

std::string_view misuse_name(MisuseKind kind) {
  switch (kind) {
    case MisuseKind::kOutOfRange:
      return "out_of_range";
    case MisuseKind::kAperture:
      return "aperture";
    case MisuseKind::kForeignMesh:
      return "foreign_mesh";
    case MisuseKind::kDataWithoutSlot:
      return "data_without_slot";
    case MisuseKind::kWriteTooLong:
      return "write_too_long";
    case MisuseKind::kTagOverflow:
      return "tag_overflow";
    case MisuseKind::kUnclaimedFlit:
      return "unclaimed_flit";
    case MisuseKind::kDroppedAperture:
      return "dropped_aperture";
    case MisuseKind::kStagingAlias:
      return "staging_alias";
  }
  return "?";
}

void MisuseLog::visit(sim::Archive& a) {
  a.kept("misuse_total", total_);
  a.kept_list("misuse", kept_, [&](Misuse& misuse) {
    a.kept("kind", misuse.kind);
    a.kept("cycle", misuse.cycle);
    a.kept("requester", misuse.requester);
    a.kept("address", misuse.address);
    a.kept("text", misuse.text);
  });
}

}  // namespace ktpu::memory
