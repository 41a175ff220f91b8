#!/bin/bash
# links_test.sh SOURCE WORK: cmake/site/links.py finds mistakes that are planted in a copy of the pages.
set -eu
source=$1 work=$2
rm -rf --one-file-system "$work"
mkdir -p "$work"
cd "$source"
tar -cf - cmake/site/links.py README.md CONTRIBUTING.md CHANGELOG.md docs bench lib kernels \
  tests/*.cpp tests/driver_bugs examples | tar -xf - -C "$work"
cd "$work"
planted=0 failed=0

# found PAGE TEXT MISTAKE: with the line TEXT at its end, PAGE is complained of by the words MISTAKE.
found() {
  planted=$((planted + 1))
  cp "$1" kept
  printf '\n%s\n' "$2" >>"$1"
  local line
  line=$(wc -l <"$1")
  if python3 cmake/site/links.py . >said; then
    echo "FAILED: not found: $2"
    failed=1
  elif ! grep -qF -e "$1:$line: $3" said; then
    echo "FAILED: expected '$1:$line: $3', got:"
    cat said
    failed=1
  fi
  mv kept "$1"
}
python3 cmake/site/links.py . || { echo "FAILED: the pages as they are"; exit 1; }
found docs/bench.md '[gone](gone.md)' 'there is no gone.md'
found README.md '![gone](docs/images/gone.png)' 'there is no docs/images/gone.png'
found docs/bench.md '[no such part](start.md#by-magic)' 'start.md has no heading #by-magic'
found docs/bench.md '[no such part](#by-magic)' 'docs/bench.md has no heading #by-magic'
found docs/bench.md \
  'It is <!-- clcook:value h200_startup /rows/0/method {} -->?<!-- /clcook:value -->.' \
  "the marker 'value h200_startup /rows/0/method {}' has no result"
found docs/bench.md '<!-- clcook:table recipes -->' "the marker 'table recipes' has no end"
found docs/bench.md '<!-- clcook:value gone_bench /seed -->1<!-- /clcook:value -->' \
  'there is no bench/results/gone_bench.json'
found docs/bench.md \
  'It is <!-- clcook:gain gone_bench bc6h_mode switch -->as fast as<!-- /clcook:gain --> that.' \
  'there is no bench/results/gone_bench.json'
# long LINES FROM TO: as many lines behind line 2 of a recipe's page, FROM and TO around them.
long() {
  planted=$((planted + 1))
  cp docs/bc6h_mode.md kept
  { sed -n 1,2p kept; echo "$2"; for ((i = 0; i < $1; ++i)); do echo "A line."; done; echo "$3"; sed 1,2d kept; } \
    >docs/bc6h_mode.md
  if python3 cmake/site/links.py . >said || ! grep -qE "^docs/bc6h_mode.md:[0-9]+: more than $1 lines of $4 before" said; then
    echo "FAILED: not found: $1 more lines of $4 before ## Details"
    cat said
    failed=1
  fi
  mv kept docs/bc6h_mode.md
}
long 110 "" "" text
long 60 '<!-- clcook:kernel kernels/bc6h_mode.cl bc6h_mode_switch_of -->' '<!-- /clcook:kernel -->' kernels
cd "$source"
rm -rf --one-file-system "$work"
echo "$planted mistakes planted"
exit $failed
