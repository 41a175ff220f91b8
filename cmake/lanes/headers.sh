#!/bin/bash
# headers.sh COMPILER STANDARD EXTRA_INCLUDE ROOT...: each header under the roots compiles alone.
# A header is included twice from an otherwise empty source, so a missing guard shows too.
set -u
compiler=$1 standard=$2 extra=$3
shift 3
if ! command -v "$compiler" >/dev/null; then
  echo "SKIP: $compiler is not installed"
  exit 77
fi
includes=()
for root in "$@"; do includes+=("-I$root"); done
export compiler standard
# Called by xargs below.
# shellcheck disable=SC2317
try() {
  header=$1
  shift
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
    "$compiler" -x c++ "-std=$standard" -fsyntax-only -Wall -Wextra -Wpedantic -Werror "$@" - ||
    { echo "FAILED: <$header> does not compile alone with $compiler -std=$standard"; return 1; }
}
export -f try
count=0 status=0
list=$(for root in "$@"; do (cd "$root" && find clcook -name '*.hpp'); done | sort -u)
[ -n "$list" ] || { echo "no headers under $*"; exit 1; }
count=$(echo "$list" | wc -l)
[ -z "$extra" ] || includes+=("-I$extra")
echo "$list" | xargs -P 2 -I{} bash -c 'try "$@"' _ {} "${includes[@]}" || status=1
echo "$count headers, $compiler, $standard"
exit $status
