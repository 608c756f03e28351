#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the tests.
#   scripts/test.sh            what CI runs: everything but the tests labelled nightly
#   scripts/test.sh nightly    the long forms, too
set -eu
cd "$(dirname "$0")/.."
scripts/install_packages.sh
jobs=$(nproc)
cmake --preset ci
cmake --build --preset ci -j "$jobs"
status=0
if [ "${1:-}" = nightly ]; then
  ctest --test-dir build/ci -j "$jobs" --output-on-failure --no-tests=error || status=$?
else
  ctest --test-dir build/ci -j "$jobs" --output-on-failure --no-tests=error -LE nightly || status=$?
fi
# The mutation tests once more with the sanitizers: broken input must never reach undefined behaviour.
cmake --preset asan -DKTPU_RTL=OFF
cmake --build --preset asan -j "$jobs" --target ktpu_fuzz_tests
if [ "${1:-}" = nightly ]; then
  ctest --test-dir build/asan -j "$jobs" --output-on-failure --no-tests=error -L fuzz || status=$?
else
  ctest --test-dir build/asan -j "$jobs" --output-on-failure --no-tests=error -L fuzz -LE nightly || status=$?
fi
exit "$status"
