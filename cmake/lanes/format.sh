#!/bin/bash
# format.sh SOURCE [FILE...]: clang-format has nothing to change, in all sources or in these. Versions
# format differently: that of Debian 12 counts, under whichever of its names it is installed.
set -u
cd "$1" || exit 1
shift
formatter=clang-format-14
command -v $formatter >/dev/null || formatter=clang-format
if ! command -v $formatter >/dev/null; then
  echo "SKIP: clang-format is not installed"
  exit 77
fi
version=$($formatter --version)
case $version in
  *"version 14."*) ;;
  *)
    echo "SKIP: clang-format 14 decides here, not $version"
    exit 77
    ;;
esac
if [ $# -gt 0 ]; then
  exec $formatter --dry-run -Werror --style=file "$@"
fi
folders=()
for folder in lib kernels bench examples tests; do [ -d $folder ] && folders+=("$folder"); done
find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cl' -o -name '*.clh' \) -print0 |
  xargs -0 -r $formatter --dry-run -Werror --style=file
