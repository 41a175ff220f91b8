#!/bin/bash
# timed.sh RECORD LANE COMMAND...: runs the command and leaves "LANE CODE CPU WALL" in the file RECORD:
# its exit code, and the seconds that it and what it started took. Until it ends, CODE is "unfinished".
set -u
record=$1 lane=$2
shift 2
mkdir -p "$(dirname "$record")"
echo "$lane unfinished 0 0" >"$record"
SECONDS=0
"$@"
code=$?
times >"$record"  # not in a pipe: that would be another process
cpu=$(awk 'NR == 2 { split($1 " " $2, t, /[ms ]+/); printf "%.1f", 60 * t[1] + t[2] + 60 * t[3] + t[4] }' "$record")
echo "$lane $code $cpu $SECONDS" >"$record"
exit $code
