#!/bin/bash
# links.sh SOURCE VENV WORK: no recipe's page is too long before its details, no line of text too wide; the tree knows each variable and
# file that a page names; every link and anchor of the pages leads somewhere, says lychee, from its Python
# package in the environment VENV. All find what is planted.
set -euo pipefail
source=$1 venv=$2 work=$3
rm -rf --one-file-system "$work"
mkdir -p "$work"
fail() {
  echo "FAILED: $1"
  exit 1
}

# short PAGE...: at most two screens before ## Details.
short() {
  awk '
    BEGIN { most["text"] = 110; most["kernels"] = 60 }
    FNR == 1 { split("", lines); part = "text" }
    /^## Details$/ { nextfile }
    /^<!-- clcook:kernel / { part = "kernels"; marker = 1 }
    marker { marker = !/-->/; next }
    /^<!-- \/clcook:kernel / { part = "text"; next }
    part == "kernels" && /^```/ { next }
    ++lines[part] == most[part] + 1 {
      printf "%s:%d: more than %d lines of %s before ## Details\n", FILENAME, FNR, most[part], part
      wrong = 1
    }
    END { exit wrong }' "$@"
}
cd "$work"
{
  for ((i = 0; i < 111; ++i)); do echo "A line."; done
  echo '<!-- clcook:kernel kernels/a.cl a -->'
  for ((i = 0; i < 61; ++i)); do echo "a line;"; done
} >long.md
if short long.md >said; then fail "a page that is too long was not found"; fi
for mistake in "long.md:111: more than 110 lines of text" "long.md:173: more than 60 lines of kernels"; do
  grep -qF -e "$mistake" said || fail "expected '$mistake', got: $(cat said)"
done
cd "$source"
pages=()
for card in lib/clcook/cookbook/*.hpp; do pages+=("docs/$(basename "$card" .hpp).md"); done
short "${pages[@]}" || exit 1

# promised PAGE...: CLCOOK_ variables that no other file of the tree has, and files between backquotes that are
# not in the tree, with *, my_recipe or a word in capitals for any part of a name, and whose name no code holds.
code=(':!*.md' ':!cmake/lanes/links.sh' ':!bench/results')
# shellcheck disable=SC2016  # the backquotes are the page's
promised() {
  local name pattern part bad=0
  while read -r name; do
    git grep -q -w -F -e "$name" -- "${code[@]}" && continue
    grep -n -H -w -F -e "$name" -- "$@"
    bad=1
  done < <(grep -o -h -E '\bCLCOOK_[A-Z0-9_]*[A-Z0-9]\b' -- "$@" | grep -v MY_RECIPE | sort -u)
  while read -r name; do
    pattern=$(sed -E 's/\{[^}]*\}|my_recipe/*/g; s/(^|[^A-Za-z])[A-Z_]{2,}([^A-Za-z]|$)/\1*\2/g' <<<"$name")
    [ -z "$(git ls-files -- ":(glob)**/${pattern#/}" | head -n 1)" ] || continue
    part=$(tr '*' '\n' <<<"${pattern##*/}" | awk '{ if (length > length(most)) most = $0 } END { print most }')
    git grep -q -F -e "$part" -- "${code[@]}" && continue
    grep -n -H -F -e "\`$name\`" -- "$@"
    bad=1
  done < <(grep -o -h -E '`[^` ]+\.(awk|cl|clbin|clh|cmake|cpp|hpp|in|json|lock|old|py|sh|svg|toml|txt|yml)`' -- "$@" |
    tr -d '`' | sort -u)
  return "$bad"
}
# shellcheck disable=SC2016
echo '`CLCOOK_NO_SUCH_VARIABLE` `attempt-*.txt` `CLCOOK_CACHE_DIR` `bench/results/RECIPE_*.json` `tuning.txt`' \
  >"$work/promises.md"
if promised "$work/promises.md" >"$work/said"; then fail "promises without code were not found"; fi
[ "$(wc -l <"$work/said")" -eq 2 ] || fail "expected two promises without code, got: $(cat "$work/said")"
mapfile -t all < <(git ls-files -- '*.md' ':!tests' ':!cmake')

# wide PAGE...: lines longer than 200 columns that could be broken, which rows of tables cannot.
wide() { ! LC_ALL=C.UTF-8 grep -n -H -E '.{201}' -- "$@" | grep -v -E '^[^:]+:[0-9]+: *[|]'; }
printf '%0201d\n| %0201d |\n%0200d\n' 0 0 0 >"$work/wide.md"
if wide "$work/wide.md" >"$work/said"; then fail "a line that is too wide was not found"; fi
[ "$(wc -l <"$work/said")" -eq 1 ] || fail "expected one line that is too wide, got: $(cat "$work/said")"
wide "${all[@]}" || fail "lines of pages have more than 200 columns"

promised "${all[@]}" || fail "pages name variables or files that nothing in the tree knows"

python3 bench/compile_time.py --page --check || fail "docs/install.md does not say what was measured"

if ! cmake/site/environment.sh cmake/site/requirements_links.txt "$venv" >"$work/pip.log" 2>&1; then
  cat "$work/pip.log"
  [ "${CLCOOK_TEST_GRID:-full}" = short ] || exit 1
  echo "SKIP: lychee cannot be installed here"
  exit 77
fi
lychee=("$venv/bin/lychee" --offline --include-fragments --no-progress)
cd "$work"
cat >planted.md <<'END'
[gone](gone.md) ![gone](gone.png) [gone](long.md#gone) [gone](#gone) `[code](code.md)`
END
if "${lychee[@]}" planted.md >said; then fail "planted mistakes were not found"; fi
for mistake in gone.md gone.png long.md#gone planted.md#gone "4 Errors"; do
  grep -qF -e "$mistake" said || fail "expected '$mistake', got: $(cat said)"
done
cd "$source"
"${lychee[@]}" README.md CONTRIBUTING.md CHANGELOG.md docs
