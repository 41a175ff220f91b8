#!/bin/bash
# shell.sh SOURCE: our scripts parse, and shellcheck has nothing to say where it is installed.
set -eu
cd "$1"
scripts=(cook .ci/run bench/*.sh cmake/lanes/*.sh cmake/site/*.sh packaging/wheels/*.sh tests/planted/*.sh)
for script in "${scripts[@]}"; do bash -n "$script"; done
if ! command -v shellcheck >/dev/null; then
  echo "SKIP: shellcheck is not installed (the scripts do parse)"
  exit 77
fi
shellcheck "${scripts[@]}"
