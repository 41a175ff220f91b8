#!/bin/bash
# headers.sh COMPILER STANDARD NUMBER EXTRA_INCLUDE ROOT...: each header under the roots compiles alone.
# A header is included twice from an otherwise empty source, so a missing guard shows too. It gets the
# macros that Qt's and Windows' headers define by lower-case words. In the short grid each of the four
# runs, whose NUMBERs are 0 to 3, takes an eighth of the headers, all of them others.
set -u
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
compiler=$1 standard=$2 number=$3 extra=$4
shift 4
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
    "$compiler" -x c++ "-std=$standard" -fsyntax-only -Wall -Wextra -Wpedantic -Werror \
      -Dslots= -Dsignals=public -Dnear= -Dfar= "$@" - ||
    { echo "FAILED: <$header> does not compile alone with $compiler -std=$standard"; return 1; }
}
export -f try
count=0 status=0
list=$(for root in "$@"; do (cd "$root" && find clcook -name '*.hpp'); done | sort -u)
list=$(while read -r header; do
  if in_slice "$number" 8; then echo "$header"; fi
  number=$((number + 1))
done <<<"$list")
[ -n "$list" ] || { echo "no headers under $*"; exit 1; }
count=$(echo "$list" | wc -l)
[ -z "$extra" ] || includes+=("-I$extra")
echo "$list" | xargs -P 2 -I{} bash -c 'try "$@"' _ {} "${includes[@]}" || status=1
echo "$count headers, $compiler, $standard"
exit $status
