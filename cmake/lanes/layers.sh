#!/bin/bash
# layers.sh SOURCE: no file includes what the table in docs/architecture.md does not let it include.
set -u
cd "$1" || exit 1
page=docs/architecture.md
files=$(find lib kernels bench examples tests -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cl' -o -name '*.clh' -o -name '*.c' \) | sort)
[ -n "$files" ] || { echo "FAILED: no files in $1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$files" >"$work/files"
# FILE:LINE:#include ..., also of files that include nothing.
echo "$files" | tr '\n' '\0' | xargs -0 grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' >"$work/includes"
awk -v page="$page" -v edges="$work/edges" -f cmake/lanes/layers.awk \
  "$page" "$work/files" "$work/includes" || exit 1
# A table that lets rooms include each other in a circle has no layers.
tsort "$work/edges" >/dev/null 2>"$work/circle" || {
  echo "FAILED: $page: rooms include each other in a circle:"
  sed -n 's/^tsort: \([a-z].*\)/  \1/p' "$work/circle" | grep -v 'contains a loop'
  exit 1
}
