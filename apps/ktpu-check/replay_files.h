// SPDX-License-Identifier: Apache-2.0
// ktpu-check --replay and --export.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/ktpu-check/replay.h"
#include "arch/error.h"

namespace ktpu::check {

// Replays every compiled kernel of `files`, prints one line each and a total. kOk: all are fine;
// kExpectFailed: some are not; kUserError: a file cannot be read, or there is no kernel to run.
arch::ExitStatus replay_files(const std::vector<std::filesystem::path>& files, const ReplayOptions& options);

// Writes every compiled kernel of `files` as a program file below `folder`, under the name of its id, and a
// topology beside it if that is no shipped one.
arch::ExitStatus export_files(const std::vector<std::filesystem::path>& files, const ReplayOptions& options,
                              const std::filesystem::path& folder);

}  // namespace ktpu::check
