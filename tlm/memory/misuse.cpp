// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/misuse.h"

namespace ktpu::memory {

std::string_view misuse_name(MisuseKind kind) {
  switch (kind) {
    case MisuseKind::kOutOfRange:
      return "out-of-range";
    case MisuseKind::kAperture:
      return "aperture";
    case MisuseKind::kForeignMesh:
      return "foreign-mesh";
    case MisuseKind::kDataWithoutSlot:
      return "data-without-slot";
    case MisuseKind::kWriteTooLong:
      return "write-burst";
    case MisuseKind::kTagOverflow:
      return "tag-overflow";
    case MisuseKind::kReadLanding:
      return "read-landing";
    case MisuseKind::kLoadLanding:
      return "load-landing";
    case MisuseKind::kOutputLanding:
      return "output-landing";
    case MisuseKind::kUnclaimedFlit:
      return "unclaimed-flit";
    case MisuseKind::kDroppedAperture:
      return "dropped-aperture";
    case MisuseKind::kStagingAlias:
      return "staging-alias";
    case MisuseKind::kRemoteWithoutAck:
      return "remote-ack";
    case MisuseKind::kNoWay:
      return "remote-route";
    case MisuseKind::kInterlinkOff:
      return "interlink-off";
    case MisuseKind::kMoverBusy:
      return "mover-busy";
    case MisuseKind::kMoverFault:
      return "mover-fault";
  }
  return "?";
}

void visit_occurrence(sim::Archive& a, Misuse& misuse) {
  a.kept("kind", misuse.kind);
  a.kept("cycle", misuse.cycle);
  a.kept("requester", misuse.requester);
  a.kept("address", misuse.address);
  a.kept("text", misuse.text);
}

}  // namespace ktpu::memory
