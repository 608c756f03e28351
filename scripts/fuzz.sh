#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the libFuzzer targets with clang and runs each for a while.
#   scripts/fuzz.sh [SECONDS] [TARGET...]     default: 600 seconds of topology, program and assembler each
# New inputs go to build/fuzz/corpus/TARGET, a crashing one to build/fuzz/crash-TARGET-*. Make it small
# (build/fuzz/bin/fuzz_TARGET -minimize_crash=1), name it for what was wrong and keep it in tests/fuzz/corpus/TARGET.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- topology program assembler
command -v clang++ >/dev/null || { echo "fuzz.sh: needs clang++ (Debian: clang)" >&2; exit 2; }
cmake --preset fuzz
cmake --build --preset fuzz -j "$(nproc)"
build/fuzz/bin/fuzz_write_seeds build/fuzz/seeds
# Words of the YAML and of the assembler, for the mutator.
grep -oh '[A-Za-z_][A-Za-z_0-9]\{2,\}' topologies/*.yaml topologies/keys.h examples/*.kasm | sort -u |
  sed 's/.*/"&"/' >build/fuzz/words.dict
status=0
for target in "$@"; do
  mkdir -p "build/fuzz/corpus/$target"
  build/fuzz/bin/fuzz_"$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=65536 \
    -dict=build/fuzz/words.dict -print_final_stats=1 -artifact_prefix="build/fuzz/crash-$target-" \
    "build/fuzz/corpus/$target" "build/fuzz/seeds/$target" "tests/fuzz/corpus/$target" || status=1
done
exit "$status"
