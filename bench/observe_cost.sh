#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What looking at a run costs, in instructions of the whole process (callgrind: exact, whatever else the computer does).
# Two builds, with tracing compiled in and without, then one run per way of looking. Needs valgrind.
#   bench/observe_cost.sh [TOPOLOGY EXAMPLE]     default: mesh8 matmul_256x256x256
set -eu
cd "$(dirname "$0")/.."
topology=${1:-mesh8}
example=${2:-matmul_256x256x256}
command -v valgrind >/dev/null || { echo "observe_cost.sh: needs valgrind" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tracing in ON OFF; do
  cmake --preset release -B "build/tracing-$tracing" -DKTPU_TRACING=$tracing -DKTPU_BUILD_TESTS=OFF -DKTPU_RTL=OFF >/dev/null
  cmake --build "build/tracing-$tracing" -j "$(nproc)" --target ktpu-sim ktpu_examples >/dev/null
done
instructions() {  # BUILD arguments...
  build=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    "build/tracing-$build/bin/ktpu-sim" -t "$topology" "build/tracing-ON/examples/$example.bin" -q "$@" 2>&1 >/dev/null |
    sed -n 's/.*Collected : //p'
}
base=$(instructions ON)
row() {
  printf '| %s | %s | %s |\n' "$1" "$2" "$(echo "$2 $base" | awk '{printf "%+.3f %%", 100*($1/$2-1)}')"
}
printf '| %s on %s | instructions | against the first |\n|---|---|---|\n' "$example" "$topology"
row "nothing asked for" "$base"
row "built without tracing" "$(instructions OFF)"
row "--stats" "$(instructions ON --stats "$work/s.json")"
row "--vcd, one unit's wires" "$(instructions ON --vcd "$work/w.vcd" --vcd-scope 'cluster@1,1.*')"
row "--vcd, all wires" "$(instructions ON --vcd "$work/w.vcd")"
row "--wave-on-error 1000, all wires" "$(instructions ON --vcd "$work/w.vcd" --wave-on-error 1000)"
row "--no-check" "$(instructions ON --no-check)"
