#!/bin/bash
# table.sh RECORDS LOG: what timed.sh recorded, a line for each lane, and why tests were skipped,
# which is in ctest's log. Those that the short grid leaves out are only counted.
set -u
records=$1 log=$2
cat "$records"/* | awk '
  { lanes[$1]; tests[$1]++; cpu[$1] += $3; wall[$1] += $4 }
  $2 == "unfinished" { unfinished[$1]++; next }
  $2 == 77 { skipped[$1]++; next }
  $2 != 0 { failed[$1]++ }
  END {
    printf "%-12s %6s %7s %8s %11s %9s %9s\n", "lane", "tests", "failed", "skipped", "unfinished", "CPU s", "wall s"
    for (lane in lanes) {
      printf "%-12s %6d %7d %8d %11d %9.0f %9d\n", lane, tests[lane], failed[lane], skipped[lane], unfinished[lane], cpu[lane], wall[lane] | "sort"
      all += cpu[lane]; n += tests[lane]; w += wall[lane]
    }
    close("sort")
    printf "%-12s %6d %36.0f %9d\n", "all", n, all, w
  }'
awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
  /^SKIP: the short grid / { left_out[name]; next }
  /^SKIP: / { print "skipped: " name ": " substr($0, 7) }
  END {
    for (name in left_out) n++
    if (n > 0) print n " tests are left out of the short grid for this tree"
  }' "$log" 2>/dev/null | sort -u
