#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Line coverage of the RTL under the campaigns of ktpu-cosim: per block and per file, with the lines that nothing
# executed. Fails when a block has less than 95 %. How lines are counted: docs/rtl.md.
#   scripts/rtl_coverage.sh [-n CYCLES] [BLOCK...]      CYCLES (1000000) from each of three seeds; all blocks
set -eu
cd "$(dirname "$0")/.."
cycles=1000000
least=95
if [ "${1:-}" = -n ]; then
  cycles=$2
  shift 2
fi
[ -f build/coverage/build.ninja ] || cmake --preset coverage
cmake --build --preset coverage
cosim=build/coverage/bin/ktpu-cosim
blocks=${*:-router cluster vector memory interlink agent engine quantiser}
out=build/coverage/rtl
mkdir -p "$out"
status=0
for block in $blocks; do
  parts=
  for seed in 1 10001 20001; do
    KTPU_RTL_COVERAGE_FILE="$out/$block.$seed.dat" "$cosim" "$block" --cycles "$cycles" --seed "$seed" --quiet | tail -n 1
    parts="$parts $out/$block.$seed.dat"
  done
  # shellcheck disable=SC2086  # a list of files
  verilator_coverage --write-info "$out/$block.info" $parts > "$out/$block.log"
  # SF:FILE, then DA:LINE,COUNT of every line that has code.
  awk -F'[:,]' -v block="$block" -v least="$least" '
    /^SF:/ { file = $2; sub(".*/rtl_models/", "", file) }
    /^DA:/ { lines[file]++; all++; if ($3 > 0) { hit[file]++; covered++ } else missed[file] = missed[file] " " $2 }
    END {
      if (all == 0) { print block ": no lines counted"; exit 1 }
      printf "%s: %d of %d lines, %.1f %%\n", block, covered, all, 100 * covered / all
      for (file in lines)
        printf "  %5.1f %%  %s%s\n", 100 * hit[file] / lines[file], file, (file in missed) ? ", not:" missed[file] : "" | "sort -k3"
      close("sort -k3")
      if (100 * covered < least * all) { printf "%s: less than %d %%\n", block, least; exit 1 }
    }' "$out/$block.info" || status=1
done
exit $status
