#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Format and static checks. Needs clang-format and clang-tidy (14), and for the latter a configured build/release.
#   scripts/lint.sh            format of all files
#   scripts/lint.sh tidy       clang-tidy over all sources, too (minutes)
set -eu
cd "$(dirname "$0")/.."
# The generated register header has the layout its generator gives it.
git ls-files '*.cpp' '*.h' | grep -v '^firmware/ktpu_regs.h$' | xargs clang-format --dry-run -Werror
if [ "${1:-}" = tidy ]; then
  git ls-files 'arch/*.cpp' 'topologies/*.cpp' 'tlm/*.cpp' 'apps/*.cpp' |
    xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/release
fi
