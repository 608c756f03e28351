// SPDX-License-Identifier: Apache-2.0
// Why a run ended as it did, in one word, and the cause in a few: deadlock, starvation, saturation and slow
// progress are told apart (docs/diagnosis.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/platform/activity.h"
#include "tlm/platform/causes.h"
#include "tlm/platform/system.h"

namespace ktpu::platform {

enum class Verdict : std::uint8_t {
  kFinished,    // the program's steps are done and nothing is left
  kOrphans,     // the steps are done, but something still waits and always will
  kDeadlock,    // something waits in a circle, or for what nobody will do
  kStarvation,  // others go on, this one does not
  kSaturation,  // the network is full and delivers: no error
  kSlow,        // steps go on, but the cycle limit came first
  kStopped,     // ended from outside: a fault, something not supported, a wrong program
};
std::string_view verdict_name(Verdict verdict);

// A cause with the places where it was found.
struct FoundCause {
  const Cause* cause = nullptr;
  std::vector<Evidence> evidence;
  // "[ID] at WHERE, since cycle N: MESSAGE: NUMBERS"
  std::string line() const;
};

struct Diagnosis {
  Verdict verdict = Verdict::kFinished;
  std::vector<FoundCause> causes;  // the first one explains it
  std::string text;                // the whole message; its first word is the verdict
  std::vector<std::string> notes;  // kFinished, kOrphans: one line each
};

// What a unit or the program waits for while nothing it depends on moves. `starved`: others moved; `held`:
// whose flit is not taken, if it is about that. `headline`: "no progress since cycle N".
Diagnosis diagnose_stand(System& system, bool starved, const Activity::Held& held, std::string_view headline);

// The cycle limit. `stood`: nothing moved for long enough to say so. `steps`: of the program, done and all; 0
// of 0 without.
struct StepCount {
  std::size_t done = 0, all = 0;
};
Diagnosis diagnose_limit(System& system, StepCount steps, bool stood, sim::Cycle moved_at,
                         std::string_view headline);

// All steps done, nothing moves any more.
Diagnosis diagnose_end(System& system);

}  // namespace ktpu::platform
