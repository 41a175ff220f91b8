#!/bin/bash
# layers.sh SOURCE: no file includes what the table in docs/architecture.md does not let it include. What is
# planted is found.
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
layers() { awk -v page="$page" -v edges="$work/edges" -f cmake/lanes/layers.awk "$page" "$work/files" "$1"; }
cat >"$work/planted" <<'END'
lib/clcook/core/view.hpp:7:#include <clcook/line_blur.hpp>
lib/clcook/reference/line_blur.hpp:8:#include "../core/view.hpp"
kernels/clcook/halo.clh:9:#include "../line_blur.cl"
bench/tool/command.cpp:10:#include "try/recipe.hpp"
bench/results.hpp:11:#include "isa/listing.hpp"
END
if layers "$work/planted" >"$work/said"; then echo "FAILED: includes that are planted were not found"; exit 1; fi
for mistake in 'view.hpp:7: core may not include operations' 'line_blur.hpp:8: reference may not include core' \
  'halo.clh:9: device headers may not include kernels' 'command.cpp:10: bench/tool may not include bench/try' \
  'results.hpp:11: bench/results may not include bench/isa'; do
  grep -qF -e "$mistake" "$work/said" || { echo "FAILED: expected '$mistake', got: $(cat "$work/said")"; exit 1; }
done
layers "$work/includes" || exit 1
# A table that lets rooms include each other in a circle has no layers.
tsort "$work/edges" >/dev/null 2>"$work/circle" || {
  echo "FAILED: $page: rooms include each other in a circle:"
  sed -n 's/^tsort: \([a-z].*\)/  \1/p' "$work/circle" | grep -v 'contains a loop'
  exit 1
}
