#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Line coverage of the RTL under the campaigns of ktpu-cosim: a table of the blocks, and the lines of each file that
# nothing executed. Files of other blocks inside one do not count. Fails (1) when a block has less than 95 %, or a
# campaign does: a difference, or nothing counted.
# How lines are counted: docs/rtl.md.
#   scripts/rtl_coverage.sh [-n CYCLES] [BLOCK...]      CYCLES (1000000) from each of three seeds; all blocks
set -eu
cd "$(dirname "$0")/.."
cycles=1000000
least=95
if [ "${1:-}" = -n ]; then
  cycles=${2:?-n needs a number of cycles}
  shift 2
fi
[ -f build/coverage/build.ninja ] || cmake --preset coverage
cmake --build --preset coverage
cosim=build/coverage/bin/ktpu-cosim
blocks=${*:-router cluster vector memory interlink agent engine quantiser}
out=build/coverage/rtl
mkdir -p "$out"
table="$out/table.txt"
: > "$table"
status=0

# fail BLOCK WHY: a row of the table; the other blocks still run.
fail() {
  printf '%-10s  FAILED: %s\n' "$1" "$2" >> "$table"
  status=1
}

# measure BLOCK: its campaigns, their counts added up in $out/BLOCK.info. Counts of an earlier run must not stand in
# for those of a campaign that wrote none.
measure() {
  parts=
  for seed in 1 10001 20001; do
    counts="$out/$1.$seed.dat"
    rm -f "$counts"
    # No pipe: its status would be that of the last command, and a difference would pass.
    if ! KTPU_RTL_COVERAGE_FILE="$counts" "$cosim" "$1" --cycles "$cycles" --seed "$seed" --quiet > "$out/$1.$seed.log"; then
      cat "$out/$1.$seed.log"
      fail "$1" "the campaign from seed $seed, see $out/$1.$seed.log"
      return 1
    fi
    tail -n 1 "$out/$1.$seed.log"
    parts="$parts $counts"
  done
  # shellcheck disable=SC2086  # a list of files
  if ! verilator_coverage --write-info "$out/$1.info" $parts > "$out/$1.log" 2>&1; then
    cat "$out/$1.log"
    fail "$1" "verilator_coverage, see $out/$1.log"
    return 1
  fi
}

for block in $blocks; do
  measure "$block" || continue
  # SF:FILE, then DA:LINE,COUNT of every line that has code.
  awk -F'[:,]' -v block="$block" -v least="$least" -v table="$table" '
    # What belongs to another block is that campaign'"'"'s to cover: an interlink, say, sits in a memory agent.
    BEGIN {
      split("router cluster vector memory interlink agent command_engine quantiser", folders, " ")
      home = block == "engine" ? "command_engine" : block
      for (k in folders) if (folders[k] != home) foreign[folders[k]] = 1
    }
    /^SF:/ { file = $2; sub(".*/rtl_models/", "", file); folder = file; sub("/.*", "", folder); counts = !(folder in foreign) }
    /^DA:/ && counts { lines[file]++; all++; if ($3 > 0) { hit[file]++; covered++ } else missed[file] = missed[file] " " $2 }
    END {
      if (all == 0) {
        printf "%-10s  FAILED: no lines counted\n", block >> table
        exit 1
      }
      for (file in lines)
        printf("  %5.1f %%  %s%s\n", 100 * hit[file] / lines[file], file,
               (file in missed) ? ", not:" missed[file] : "") | "sort -k3"
      close("sort -k3")
      low = 100 * covered < least * all
      printf "%-10s  %5d of %5d lines  %5.1f %%%s\n", block, covered, all, 100 * covered / all,
             low ? "  FAILED: less than " least " %" : "" >> table
      exit low
    }' "$out/$block.info" || status=1
done
printf '\n'
cat "$table"
exit $status
