#!/bin/bash
# site.sh SOURCE CLCOOK WORK: the site builds without a warning, all its links and anchors lead somewhere,
# every page opens in headless Chromium without a complaint; and cmake/site/pages.py finds what is planted.
set -eu
source=$1 clcook=$2 work=$3
mkdir -p "$work"
cd "$source"
# What a page of these two parts is complained of.
planted=$work/planted
rm -rf --one-file-system "$planted"
mkdir -p "$planted"
found() {
  printf '<!doctype html><meta name="viewport" content="width=device-width"><body>%s\n' "$1" \
    >"$planted/index.html"
  if python3 cmake/site/pages.py "$planted" "$work/planted_screenshots" >"$work/said"; then
    echo "FAILED: not found: $1"
    exit 1
  fi
  grep -qF -e "$2" "$work/said" || {
    echo "FAILED: expected '$2', got:"
    cat "$work/said"
    exit 1
  }
}
found '<a href="gone.html">gone</a>' 'index.html:1: there is no gone.html'
found '<a href="index.html#gone">gone</a>' 'index.html:1: index.html#gone: no such anchor'
found '<script>console.error("planted")</script>' 'index.html at 360 pixels: console: planted'
found '<script>throw new Error("planted")</script>' 'index.html at 1280 pixels: exception: Error: planted'
found '<div style="width: 600px">wide</div>' 'index.html at 360 pixels: scrolls sideways'
found '<img src="http://127.0.0.1:9/picture.png" alt="">' \
  'index.html at 360 pixels: loads http://127.0.0.1:9/picture.png'
found '<p>no search here</p>' "index.html: the search for 'halo' finds nothing"
echo "7 mistakes planted"

rm -rf --one-file-system "$work/drawings"
mkdir -p "$work/drawings"
python3 cmake/site/drawings.py "$work/drawings"
for drawing in "$work"/drawings/*.svg docs/images/{primer,start,drawing,course}_*.svg; do
  cmp "$work/drawings/$(basename "$drawing")" "docs/images/$(basename "$drawing")" || {
    echo "FAILED: run python3 cmake/site/drawings.py docs/images"
    exit 1
  }
done
cmake/site/build.sh "$clcook" "$work" "$work/site"
# A copy with a page that nothing leads to, and a link and an anchor that lead nowhere.
copy=$work/copy
rm -rf --one-file-system "$copy"
mkdir -p "$copy"
tar -cf - README.md CONTRIBUTING.md CHANGELOG.md cmake/site docs bench/results lib kernels examples \
  tests/*.cpp tests/driver_bugs | tar -xf - -C "$copy"
printf '# Left out\n\n[dead](gone.md) and [dead](start.md#gone)\n' >"$copy/docs/left_out.md"
if "$copy/cmake/site/mkdocs.sh" "$work" "$copy/out" >"$work/said"; then
  echo "FAILED: a page that is left out, a dead link and a dead anchor were not found"
  exit 1
fi
for mistake in "- left_out.md" "contains a link 'gone.md'" "anchor '#gone'"; do
  grep -qF -e "$mistake" "$work/said" || {
    echo "FAILED: expected '$mistake', got:"
    cat "$work/said"
    exit 1
  }
done
rm -rf --one-file-system "$copy"
python3 cmake/site/pages.py "$work/site" "$work/screenshots"
