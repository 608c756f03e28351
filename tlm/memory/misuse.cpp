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
    case MisuseKind::kRemoteWithoutAck:
      return "remote_without_ack";
    case MisuseKind::kNoWay:
      return "no_way";
    case MisuseKind::kInterlinkOff:
      return "interlink_off";
    case MisuseKind::kMoverBusy:
      return "mover_busy";
    case MisuseKind::kMoverFault:
      return "mover_fault";
  }
  return "?";
}

}  // namespace ktpu::memory
