#!/bin/bash
# oclgrind.sh CLCOOK LOG races|uninitialized RECIPE: the tiny conformance shapes of every kernel in a
# simulator that sees races, accesses out of bounds, diverging barriers, wrong API calls, and, in a
# run of its own, uninitialised reads. One line of complaint is a failure.
set -u
clcook=$1 log=$2 mode=$3 recipe=$4
if ! command -v oclgrind >/dev/null; then
  echo "SKIP: oclgrind is not installed"
  exit 77
fi
# Oclgrind is a platform of its own; nothing that picks another may stay set.
unset CLCOOK_DEVICE
rm -f "$log"
export CLCOOK_CACHE=0
# Optimised code can hold an LLVM intrinsic that Oclgrind 21.10 does not know (noalias scopes, from
# inlined functions with restrict), and hides uninitialised reads.
options=(--build-options -cl-opt-disable --log "$log")
check=(check "$recipe" --tiny)
case $mode in
  races) options+=(--data-races --check-api) ;;
  uninitialized)
    # Oclgrind loses track of what is written through sub-buffers and at offsets, so the guarded
    # buffers of the tests do without.
    options+=(--uninitialized)
    check+=(--in-order)
    export CLCOOK_PLAIN_BUFFERS=1
    ;;
  *)
    echo "unknown mode $mode"
    exit 1
    ;;
esac
oclgrind "${options[@]}" "$clcook" "${check[@]}"
status=$?
if [ $status -ne 0 ]; then
  echo "FAILED: clcook ${check[*]} ended with $status under oclgrind"
fi
if [ -s "$log" ]; then
  echo "FAILED: oclgrind complains:"
  head -n 80 "$log"
  status=1
fi
exit $status
