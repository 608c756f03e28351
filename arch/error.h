// SPDX-License-Identifier: Apache-2.0
// The two kinds of error of this project, never mixed.
//   UserError   the user can fix it: carries the exit status of design.md section 7.
//   KTPU_CHECK  we broke an invariant: message, then std::abort through InternalError.
// Libraries throw; only main() prints and exits.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace ktpu::arch {

// Exit statuses of every executable (design.md section 7).
enum class ExitStatus : int {
  kOk = 0,
  kExpectFailed = 1,
  kUserError = 2,
  kUnitFault = 3,
  kNoProgress = 4,
  kCycleLimit = 5,
  kLockstepMismatch = 6,
  kStrict = 7,
  kInternal = 70,
};

// Something the user can fix. `what()` is the whole message: place, cause, cure.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& message, ExitStatus status = ExitStatus::kUserError)
      : std::runtime_error(message), status_(status) {}
  template <typename... Args>
  static UserError make(fmt::format_string<Args...> format, Args&&... args) {
    return UserError(fmt::format(format, std::forward<Args>(args)...));
  }
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

// A broken invariant of ours; main() turns it into exit status 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& detail);

}  // namespace ktpu::arch

// KTPU_CHECK(condition, "fmt {}", args...): always compiled in; not for the per-cycle path of a hot loop.
#define KTPU_CHECK(condition, ...)                                                             \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::ktpu::arch::fail_check(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
