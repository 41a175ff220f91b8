#!/bin/bash
# format.sh SOURCE [FILE...]: clang-format has nothing to change, in all sources or in these.
set -u
cd "$1" || exit 1
shift
if ! command -v clang-format >/dev/null; then
  echo "SKIP: clang-format is not installed"
  exit 77
fi
if [ $# -gt 0 ]; then
  exec clang-format --dry-run -Werror --style=file "$@"
fi
folders=()
for folder in lib kernels bench examples tests; do [ -d $folder ] && folders+=("$folder"); done
find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cl' -o -name '*.clh' \) -print0 |
  xargs -0 -r clang-format --dry-run -Werror --style=file
