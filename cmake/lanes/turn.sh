#!/bin/bash
# turn.sh NUMBER N COMMAND...: for checks of a kind that take long and seldom fail: on the short grid one
# in N runs, another the next day.
set -eu
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
number=$1 of=$2
shift 2
in_slice "$number" "$of" || { echo "SKIP: on the short grid it runs every $of days"; exit 77; }
exec "$@"
