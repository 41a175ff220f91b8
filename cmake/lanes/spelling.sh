#!/bin/bash
# spelling.sh SOURCE WORK: codespell knows no better spelling of what stands in pages, comments and
# messages, and finds a mistake that is planted. cmake/site/words.txt lists words that it takes for mistakes.
set -euo pipefail
source=$1 work=$2
cd "$source"
if ! cmake/site/environment.sh cmake/site/requirements_spelling.txt "$work/venv" >"$work.log" 2>&1; then
  cat "$work.log"
  [ "${CLCOOK_TEST_GRID:-full}" = short ] || exit 1
  echo "SKIP: codespell cannot be installed here"
  exit 77
fi
codespell=("$work/venv/bin/codespell" --builtin "clear,rare" --ignore-words cmake/site/words.txt)
echo "A kernel that is teh fastest recieves" >"$work/planted.md"
[ "$("${codespell[@]}" "$work/planted.md" | grep -c '==>')" -eq 2 ] || {
  echo "FAILED: planted mistakes were not found"
  exit 1
}
git rev-parse >/dev/null 2>&1 || { echo "FAILED: $source is no git repository"; exit 1; }
git ls-files -z -- '*.md' '*.hpp' '*.cpp' '*.cl' '*.clh' '*.cu' '*.py' '*.sh' '*.awk' '*.cmake' '*.txt' '*.yml' \
  cook .ci/run ':!cmake/site/words.txt' ':!cmake/lanes/spelling.sh' ':!tests/fuzz/seeds' ':!tests/data' \
  ':!lib/clcook/tuning' |
  xargs -0 "${codespell[@]}"
