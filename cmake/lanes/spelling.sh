#!/bin/bash
# spelling.sh SOURCE WORK: pages, comments and messages hold no phrase of cmake/site/phrases.txt, and
# codespell knows no better spelling of what stands in them. Both find mistakes that are planted.
# cmake/site/words.txt lists words that codespell takes for mistakes. The phrases need no codespell: they
# are looked for first, also where it cannot be installed.
set -euo pipefail
source=$1 work=$2
cd "$source"
mkdir -p "$work"
git rev-parse >/dev/null 2>&1 || { echo "FAILED: $source is no git repository"; exit 1; }

files() {
  git ls-files -z -- '*.md' '*.hpp' '*.cpp' '*.cl' '*.clh' '*.cu' '*.py' '*.sh' '*.awk' '*.cmake' '*.txt' '*.yml' \
    cook .ci/run ':!cmake/site/words.txt' ':!cmake/site/phrases.txt' ':!cmake/lanes/spelling.sh' \
    ':!tests/fuzz/seeds' ':!tests/data' ':!lib/clcook/tuning'
}

# phrases: reads names of files, each ending with a zero byte, and prints FILE:LINE of each phrase that has a
# better one; fails where it has printed anything.
phrases() {
  local line pattern better found status bad=0
  cat >"$work/names"
  while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    pattern=${line% | *} better=${line##* | }
    found=$(xargs -0 grep -n -o -i -P -e "$pattern" -- /dev/null <"$work/names") && status=0 || status=$?
    # xargs says 123 where any grep found nothing, but a broken pattern is an error of all.
    [ "$status" -eq 0 ] || printf '\n' | grep -q -P -e "$pattern" || [ $? -eq 1 ] || return 2
    [ -n "$found" ] || continue
    bad=1
    printf '%s\n' "${found//$'\n'/ ==> $better$'\n'} ==> $better"
  done <cmake/site/phrases.txt
  return "$bad"
}

echo "The time hangs on the size." >"$work/phrase.md"
[ "$(printf '%s\0' "$work/phrase.md" | phrases)" = "$work/phrase.md:1:hangs on ==> depends on" ] || {
  echo "FAILED: a planted phrase was not found"
  exit 1
}
files | phrases || { echo "FAILED: cmake/site/phrases.txt has better phrases"; exit 1; }

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
files | xargs -0 "${codespell[@]}"
