#!/bin/bash
# isa.sh CLCOOK RECIPE...: kernels that changed since bench/isa_gate.json was recorded have no worse
# machine code than it says, and recording the others again gives the figures that are there. The short
# grid records a recipe in four for one target.
set -eu
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
clcook=$1
shift
"$clcook" isa --gate
gate=$(mktemp)
trap 'rm -f "$gate"' EXIT
cp bench/isa_gate.json "$gate"
# Without ptxas, whose figures stay where they are.
export CLCOOK_PTXAS=0 CLCOOK_NVDISASM=0
mapfile -t targets < <(sed -n 's/^   "\([^"]*\)": .*/\1/p' bench/isa_gate.json | sort -u)
for t in "${!targets[@]}"; do
  chosen=() number=$t
  for recipe in "$@"; do
    if in_slice "$number" 32; then chosen+=("$recipe"); fi
    number=$((number + ${#targets[@]}))
  done
  [ ${#chosen[@]} -eq 0 ] || "$clcook" isa "${chosen[@]}" --target "${targets[$t]}" "--update-gate=$gate"
done
awk -F '"key": ' '
  FNR == NR { figures[$2] = $0; next }
  NF == 2 && $2 in figures && figures[$2] != $0 {
    print "FAILED: recorded" figures[$2] ", measured" $0
    status = 1
  }
  END { exit status }' bench/isa_gate.json "$gate"
