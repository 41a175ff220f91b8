#!/bin/bash
# oclgrind.sh CLCOOK PLANTED_BUGS WORK [BUG...]: Oclgrind must complain about each kernel that the test
# program planted_bugs breaks for it (all, or those named). Silence is the failure here. The short grid
# takes one of them.
set -u
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/../../cmake/lanes/grid.sh"
clcook=$1 planted_bugs=$2 work=$3
shift 3
if ! command -v oclgrind >/dev/null; then
  echo "SKIP: oclgrind is not installed"
  exit 77
fi
unset CLCOOK_DEVICE
# As the lane does: without guard bands, in which Oclgrind sees nothing wrong.
export CLCOOK_CACHE=0 CLCOOK_GUARD_BANDS=0
rm -rf "$work"
mkdir -p "$work"
list=$(CLCOOK_PLANTED_DIR="$work" CLCOOK_PLANTED_CATCHER=oclgrind "$planted_bugs" --no-skip \
  --test-case="child: write the kernels for another lane" | grep '^BUG ') || {
  echo "FAILED: no kernels were written"
  exit 1
}
failed=0 caught=0 number=-1
all=$(wc -l <<<"$list")
while read -r _ bug recipe variant shape; do
  if [ $# -gt 0 ] && [[ " $* " != *" $bug "* ]]; then
    continue
  fi
  number=$((number + 1))
  in_slice $number "$all" || continue
  log=$work/$bug.log
  check=(check "$recipe" --variant "$variant" --tiny --in-order)
  [ -z "$shape" ] || check+=(--shape "$shape")
  CLCOOK_KERNEL_DIR="$work/$bug" timeout -k 10 120 oclgrind --build-options -cl-opt-disable \
    --data-races --log "$log" "$clcook" "${check[@]}" >"$work/$bug.out" 2>&1
  test=$(dirname "$clcook")/tests/$recipe
  if [ ! -s "$log" ] && [ -x "$test" ]; then
    CLCOOK_KERNEL_DIR="$work/$bug" timeout -k 10 120 oclgrind --build-options -cl-opt-disable \
      --data-races --log "$log" "$test" --test-case="oclgrind:*" >>"$work/$bug.out" 2>&1
  fi
  if [ -s "$log" ]; then
    caught=$((caught + 1))
    echo "caught: $recipe/$variant $bug: $(grep -m1 . "$log")"
  else
    failed=1
    echo "FAILED: Oclgrind does not see $bug in $recipe/$variant"
  fi
done <<<"$list"
echo "$caught planted bugs caught by Oclgrind"
[ $caught -gt 0 ] || failed=1
exit $failed
