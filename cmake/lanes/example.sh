#!/bin/bash
# example.sh PROGRAM SOURCE OUT: runs an example with the arguments of its line `// test: ARGS`, in
# which {out} stands for a folder to write to. Several such lines are several runs, one of them on the
# short grid.
set -eu
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
program=$1 source=$2 out=$3
mkdir -p "$out"
cd "$out"
lines=$(sed -n 's,^// test:[[:space:]]*,,p' "$source")
[ -n "$lines" ] || lines=" "
number=0 all=$(wc -l <<<"$lines")
while IFS= read -r line; do
  number=$((number + 1))
  in_slice $number "$all" || continue
  read -r -a arguments <<<"${line//\{out\}/$out}"
  echo "+ ${program##*/} ${arguments[*]-}"
  "$program" ${arguments[@]+"${arguments[@]}"}
done <<<"$lines"
