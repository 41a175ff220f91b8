#!/bin/bash
# oclgrind.sh CLCOOK LOG races|uninitialized RECIPE: the tiny conformance shapes of every kernel in a
# simulator that sees races, accesses out of bounds, diverging barriers, wrong API calls, and, in a
# run of its own, uninitialised reads. One line of complaint is a failure. The short grid takes about
# one shape of each variant.
set -u
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
clcook=$1 log=$2 mode=$3 recipe=$4
if ! command -v oclgrind >/dev/null; then
  echo "SKIP: oclgrind is not installed. Debian 12 has a package, Debian 13 has none: nothing else looks" \
    "for races and for accesses out of bounds, so run this lane on Debian 12"
  exit 77
fi
# Oclgrind is a platform of its own; nothing that picks another may stay set.
unset CLCOOK_DEVICE
rm -f "$log"
# Without guard bands: Oclgrind looks at the bounds of buffers itself, and a read of a guard band is
# within them.
export CLCOOK_CACHE=0 CLCOOK_GUARD_BANDS=0
# Optimised code can hold an LLVM intrinsic that Oclgrind 21.10 does not know (noalias scopes, from
# inlined functions with restrict), and hides uninitialised reads.
options=(--build-options -cl-opt-disable --log "$log")
failed=0
run() {
  rm -f "$log"
  oclgrind "${options[@]}" "$clcook" check "$@" >"$log.out" 2>&1 || {
    # A variant that does not take this one shape was skipped, visibly; that is no failure.
    if [[ " $* " = *" --shape "* ]] && grep -q "nothing was checked" "$log.out" &&
      grep -q ", 0 failed" "$log.out"; then
      return
    fi
    cat "$log.out"
    echo "FAILED: clcook check $* under oclgrind"
    failed=1
  }
  if [ -s "$log" ]; then
    echo "FAILED: oclgrind complains about clcook check $*:"
    head -n 100 "$log"
    failed=1
  fi
}
plan=$("$clcook" check "$recipe" --tiny --plan)
[ "${CLCOOK_TEST_GRID:-full}" = full ] || plan=$(grep -vE ' tiny=2( |$)' <<<"$plan")  # a minute each
# One more than there are shapes: each variant gets another shape.
mine=() number=0 of=$(($(cut -f3 <<<"$plan" | sort -u | wc -l) + 1))
while IFS= read -r line; do
  if in_slice $number $of; then mine+=("$line"); fi
  number=$((number + 1))
done <<<"$plan"
case $mode in
  races)
    options+=(--data-races --check-api)
    if [ ${#mine[@]} -eq $number ]; then
      run "$recipe" --tiny
    else
      for line in "${mine[@]}"; do
        IFS=$'\t' read -r _ variant shape <<<"$line"
        run "$recipe" --tiny --variant "$variant" --shape "$shape"
      done
    fi
    tail -n 1 "$log.out"
    # What no tiny shape reaches: test cases of the recipe's test program.
    test=$(dirname "$clcook")/tests/$recipe
    if [ -x "$test" ] && "$test" --list-test-cases | grep -q '^oclgrind:'; then
      rm -f "$log"
      oclgrind "${options[@]}" "$test" --test-case="oclgrind:*" >"$log.out" 2>&1 || failed=1
      if [ $failed -ne 0 ] || [ -s "$log" ]; then
        echo "FAILED: $test under oclgrind:"
        head -n 100 "$log.out" "$log"
        failed=1
      fi
    fi
    ;;
  uninitialized)
    # Oclgrind loses track of what is written through sub-buffers and at offsets, so the guarded
    # buffers of the tests do without; and of memory that a process uses again, so every shape of
    # every variant is a process of its own.
    options+=(--uninitialized)
    export CLCOOK_PLAIN_BUFFERS=1
    runs=0
    for line in "${mine[@]}"; do
      IFS=$'\t' read -r _ variant shape <<<"$line"
      # typed: an image over a buffer
      if [[ $variant = image* || $variant = typed || $variant = linear_pairs ]]; then
        echo "SKIPPED: $recipe/$variant: Oclgrind reports values of float images as uninitialised, see docs/driver_bugs.md"
        continue
      fi
      # Its search for uninitialised values alone; the run for races and bounds has this shape.
      if [[ $recipe/$variant/$shape = group_swizzle/cpu_tiles/work=filter* ]]; then
        echo "SKIPPED: $recipe/$variant ($shape): Oclgrind 21.10 ends the process here"
        continue
      fi
      # The shape with 16 thresholds in a vector.
      if [[ $recipe/$variant/$shape = threshold_count/vector_compare/*" n=33 "* ]]; then
        echo "SKIPPED: $recipe/$variant ($shape): Oclgrind 21.10 reports sums of the halves of a vector of 16 as uninitialised"
        continue
      fi
      # A vector of three has a fourth place, which nobody writes, and a struct is copied with it.
      if [[ $variant/$shape = columns_first/*pixel=rgb8* ]]; then
        echo "SKIPPED: $recipe/$variant ($shape): Oclgrind 21.10 reports the fourth place of vectors of three bytes as uninitialised"
        continue
      fi
      # Behind the end of a row: what comes of it is not written.
      if [[ $recipe/$variant/$shape = gaussian_blur/cpu_bytes/*pixel=u8* ]]; then
        echo "SKIPPED: $recipe/$variant ($shape): the last vector of a row reads places of local memory that nobody wrote"
        continue
      fi
      run "$recipe" --tiny --in-order --variant "$variant" --shape "$shape"
      runs=$((runs + 1))
    done
    echo "$runs runs looked at"
    [ $runs -gt 0 ] || [ ${#mine[@]} -lt $number ] || failed=1
    ;;
  *)
    echo "unknown mode $mode"
    failed=1
    ;;
esac
exit $failed
