#!/bin/bash
# turn.sh NUMBER N COMMAND...: for checks of a kind that take long and seldom fail: on the short grid one
# in N runs, for another tree another.
set -eu
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
number=$1 of=$2
shift 2
in_slice "$number" "$of" || { echo "SKIP: the short grid has it on one tree in $of"; exit 77; }
# What the check itself leaves out must not depend on its turn.
[ -z "${CLCOOK_TEST_SLICE-}" ] || export CLCOOK_TEST_SLICE=$((CLCOOK_TEST_SLICE / of))
exec "$@"
