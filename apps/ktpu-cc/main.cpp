// SPDX-License-Identifier: Apache-2.0
// ktpu-cc: kernel -> prog.bin.
#include <cstdio>
#include <new>

#include "apps/ktpu-cc/options.h"
#include "apps/ktpu-cc/session.h"
#include "arch/error.h"

int main(int argc, char** argv) {
  using ktpu::arch::ExitStatus;
  try {
    ktpu::apps::CcOptions options;
    if (const auto status = ktpu::apps::parse_options(argc, argv, options)) return *status;
    return static_cast<int>(ktpu::apps::run_session(options));
  } catch (const ktpu::arch::UserError& error) {
    fmt::print(stderr, "ktpu-cc: {}\n", error.what());
    return static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ktpu-cc: out of memory: the kernel is too large for this computer\n");
    return static_cast<int>(ExitStatus::kUserError);
  } catch (const std::exception& error) {
    fmt::print(stderr,
               "ktpu-cc: internal error: {}\nPlease report this with the command line and the input.\n",
               error.what());
    return static_cast<int>(ExitStatus::kInternal);
  }
}
