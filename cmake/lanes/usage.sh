#!/bin/bash
# usage.sh SOURCE INCLUDE WORK [HEADER...]: the usage block at the top of every public header, or of
# these, compiles without a warning and runs, see usage.awk. INCLUDE is the folder of the generated
# headers. The short grid takes an eighth of the headers, and leaves out g++, the slower compiler.
set -eu
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
source=$1 generated=$2 work=$3
shift 3
rm -rf --one-file-system "$work"
mkdir -p "$work"
cd "$source"
# What applications include; an operation is there without being listed.
headers=(lib/clcook/*.hpp lib/clcook/core/{runtime,device,source,defines,launch,view,sub_group,staging,strips}.hpp
  lib/clcook/io/{dds,exr,pfm,obj,quad_patches,whole_file}.hpp)
failed=0 number=0 turn=()
for header in "${headers[@]}"; do
  ! in_slice $number 8 || turn+=("$header")
  number=$((number + 1))
done
headers=("${turn[@]}")
[ $# -eq 0 ] || headers=("$@")
for header in "${headers[@]}"; do
  page=docs/$(basename "$header" .hpp).md
  [ -e "$page" ] || page=
  # shellcheck disable=SC2086
  awk -f cmake/lanes/usage.awk $page "$header" >"$work/$(basename "$header").md" || failed=1
done
printf '// A header.\n//\n//   without code\n#pragma once\n' >"$work/none.hpp"
if awk -f cmake/lanes/usage.awk "$work/none.hpp" >/dev/null 2>&1; then
  echo "FAILED: a header without a usage block is not noticed"
  exit 1
fi
[ $failed -eq 0 ] || { echo "FAILED: public headers show how they are used"; exit 1; }
{
  echo '#include <sstream>'
  (cd "$work" && awk -f "$source/cmake/lanes/snippets.awk" ./*.md)
} >"$work/usage.cpp"
flags=(-std=c++17 -Wall -Wextra -Werror -Wno-unused-variable
  -Wno-unused-but-set-variable -I lib -I "$generated")
clang++ "${flags[@]}" -O0 "$work/usage.cpp" -o "$work/usage" -lOpenCL -pthread
(cd "$work" && ./usage)
[ "${CLCOOK_TEST_GRID:-full}" = short ] || g++ "${flags[@]}" -fsyntax-only "$work/usage.cpp"
echo "${#headers[@]} headers"
