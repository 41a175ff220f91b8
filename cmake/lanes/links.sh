#!/bin/bash
# links.sh SOURCE VENV WORK: no recipe's page is too long before its details; every link and anchor of the
# pages leads somewhere, says lychee, from its Python package in the environment VENV. Both find what is planted.
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
    /^<!-- clcook:kernel / { part = "kernels"; next }
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
