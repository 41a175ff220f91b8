#!/bin/bash
# example.sh PROGRAM SOURCE OUT: runs an example with the arguments of its line `// test: ARGS`, in
# which {out} stands for a folder to write to. Several such lines are several runs.
set -eu
program=$1 source=$2 out=$3
mkdir -p "$out"
cd "$out"
lines=$(sed -n 's,^// test:[[:space:]]*,,p' "$source")
[ -n "$lines" ] || lines=" "
while IFS= read -r line; do
  read -r -a arguments <<<"${line//\{out\}/$out}"
  echo "+ ${program##*/} ${arguments[*]-}"
  "$program" ${arguments[@]+"${arguments[@]}"}
done <<<"$lines"
