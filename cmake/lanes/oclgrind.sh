#!/bin/bash
# oclgrind.sh CLCOOK LOG [ARGS...]: the tiny conformance shapes of every kernel in a simulator that
# sees races, bounds, uninitialised reads and wrong API calls. One line of complaint is a failure.
set -u
clcook=$1 log=$2
shift 2
if ! command -v oclgrind >/dev/null; then
  echo "SKIP: oclgrind is not installed"
  exit 77
fi
# Oclgrind is a platform of its own; nothing that picks another may stay set.
unset CLCOOK_DEVICE
rm -f "$log"
export CLCOOK_CACHE=0
oclgrind --data-races --uninitialized --check-api --log "$log" "$clcook" check --tiny "$@"
status=$?
if [ $status -ne 0 ]; then
  echo "FAILED: clcook check ended with $status under oclgrind"
fi
if [ -s "$log" ]; then
  echo "FAILED: oclgrind complains:"
  head -n 80 "$log"
  status=1
fi
exit $status
