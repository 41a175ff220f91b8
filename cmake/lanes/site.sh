#!/bin/bash
# site.sh SOURCE CLCOOK VENV WORK: the site builds without a warning, all its links and anchors lead somewhere,
# every page opens in Chromium without a complaint; and what is planted is found. VENV is the one of the lane
# links. Selenium is Debian's, for Debian's Python.
set -euo pipefail
source=$1 clcook=$2 venv=$3 work=$4
mkdir -p "$work"
cd "$source"
cmake/site/environment.sh cmake/site/requirements_links.txt "$venv"
fail() {
  echo "FAILED: $1"
  exit 1
}
# expect MISTAKE...: what the last command said.
expect() {
  local mistake
  for mistake in "$@"; do
    grep -qF -e "$mistake" "$work/said" || fail "expected '$mistake', got: $(cat "$work/said")"
  done
  echo "$# mistakes planted"
}
# But for the page that only a server shows, and a slip of Doxygen's: headings of classes that it hides.
links() {
  "$venv/bin/lychee" --offline --include-fragments --no-progress --exclude-path 404.html \
    --exclude 'headers/.*#nested-classes' "$1/**/*.html"
}
look() { /usr/bin/python3 cmake/site/pages.py "$1" "$work/screenshots"; }

planted=$work/planted
rm -rf --one-file-system "$planted" "$work/copy"
mkdir -p "$planted" "$work/copy"
cat >"$planted/index.html" <<'END'
<!doctype html><meta name="viewport" content="width=device-width"><body>
<script>console.error("planted")</script>
<script>throw new Error("planted")</script>
<div style="width: 600px">wide</div>
<img src="https://example.org/picture.png" alt="">
<a href="gone.html">gone</a> <a href="#gone">gone</a>
END
if links "$planted" >"$work/said"; then fail "a dead link and a dead anchor were not found"; fi
expect 'gone.html' 'index.html#gone'
if look "$planted" >"$work/said"; then fail "complaints that are planted were not found"; fi
expect 'index.html 1:16 "planted"' 'Uncaught Error: planted' 'index.html at 360 pixels: scrolls sideways' \
  'https://example.org/picture.png - Failed to load' "index.html: the search for 'halo' finds nothing"

if ! said=$(cmake/site/build.sh "$clcook" "$work" "$work/site" 2>&1) || [ -n "$said" ]; then fail "$said"; fi
# A copy with a page that nothing leads to, and a link and an anchor that lead nowhere.
tar -cf - README.md CONTRIBUTING.md CHANGELOG.md cmake/site docs bench/results lib kernels examples \
  tests/*.cpp tests/driver_bugs | tar -xf - -C "$work/copy"
printf '# Left out\n\n[dead](gone.md) and [dead](start.md#gone)\n' >"$work/copy/docs/left_out.md"
if "$work/copy/cmake/site/mkdocs.sh" "$work" "$work/copy/out" >"$work/said"; then
  fail "a page that is left out, a dead link and a dead anchor were not found"
fi
expect "- left_out.md" "contains a link 'gone.md'" "anchor '#gone'"
rm -rf --one-file-system "$work/copy"
links "$work/site"
look "$work/site"
