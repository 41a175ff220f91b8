#!/bin/bash
# mkdocs.sh WORK OUT: the last step of build.sh alone. Warnings are errors; --quiet would hide them from
# --strict as well, so what MkDocs says is shown only when it fails.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
export CLCOOK_SITE_WORK=$work CLCOOK_SITE_DIR=$out NO_MKDOCS_2_WARNING=1
"$work/venv/bin/mkdocs" build --strict --clean -f cmake/site/mkdocs.yml >"$work/mkdocs.log" 2>&1 || {
  cat "$work/mkdocs.log"
  exit 1
}
