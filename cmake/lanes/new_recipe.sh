#!/bin/bash
# new_recipe.sh CMAKE SOURCE WORK: in a copy of the tree, new_recipe.cmake writes a short recipe that
# lints, is formatted, builds, conforms and is tuned; it refuses bad names and never overwrites. The
# short grid builds with clang++, which is faster than g++.
set -eu
cmake=$1 source=$2 work=$3
name=lane_recipe
rm -rf "$work"
mkdir -p "$work/tree"
(cd "$source" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./out .) |
  tar -xf - -C "$work/tree"
cd "$work/tree"
for bad in "" Upper 9lives a-b a__b core ../x int text; do
  if "$cmake" "-DNAME=$bad" -P cmake/new_recipe.cmake >/dev/null 2>&1; then
    echo "FAILED: new_recipe.cmake accepts the name '$bad'"
    exit 1
  fi
done
"$cmake" -DNAME=$name -P cmake/new_recipe.cmake
before=$(cat kernels/$name.cl lib/clcook/$name.hpp | cksum)
if "$cmake" -DNAME=$name -P cmake/new_recipe.cmake >"$work/again.log" 2>&1; then
  echo "FAILED: new_recipe.cmake overwrites a recipe"
  exit 1
fi
[ "$before" = "$(cat kernels/$name.cl lib/clcook/$name.hpp | cksum)" ]

# A recipe in a sitting: all that its author reads and changes.
lines=$(find . -name "$name.*" -type f -exec cat {} + | wc -l)
echo "$lines lines"
[ "$lines" -le 220 ] || { echo "FAILED: a new recipe has more than 220 lines"; exit 1; }

cmake/lanes/lint.sh kernels
cmake/lanes/layers.sh .
cmake/lanes/format.sh . {kernels,tests,examples}/$name.c* lib/clcook{,/reference,/cookbook}/$name.hpp ||
  [ $? -eq 77 ]
# Beside the one that the tools start up with: the rest would only take time to compile.
for card in lib/clcook/cookbook/*.hpp; do
  other=$(basename "$card" .hpp)
  case " $name gaussian_blur " in *" $other "*) continue ;; esac
  rm -rf "$card" "tests/planted/$other.txt" {kernels,lib/clcook,tests}/"$other"{,[._]*}
done
if [ "${CLCOOK_TEST_GRID:-full}" = short ] && command -v clang++ >/dev/null; then
  export CXX=clang++
fi
options=(-G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 -DCLCOOK_WERROR=ON
  -DCLCOOK_BUILD_TOOLS=OFF)
"$cmake" -S . -B build "${options[@]}" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
"$cmake" --build build --target test_$name test_conformance test_planted_bugs \
  example_$name -- -j2
"./build/bin/tests/$name"
CLCOOK_TEST_RECIPE=$name CLCOOK_TEST_GRID=full "./build/bin/tests/conformance" \
  --test-case="every *,inputs *"

# chosen TUNE: what the recipe's example says that it runs.
chosen() {
  CLCOOK_TUNING_FILE=$work/tuning.txt "./build/bin/$name" | tee "$work/chosen.log"
  grep -qF "10 by $1, " "$work/chosen.log" || { echo "FAILED: '$1' was expected"; exit 1; }
}
chosen "vectorised group=64"
for choice in "naive group=128" "vectorised group=256"; do
  {
    echo "clcook-tuning 1"
    for type in cpu gpu accelerator; do
      printf '%s\t' "$name" x x x x "$type" 1 5 best "${choice% *}" "${choice#* }"
      echo
    done
  } >"$work/tuning.txt"
  chosen "$choice"
done
cmake/lanes/usage.sh "$PWD" "$PWD/build/generated" "$work/usage" lib/clcook/$name.hpp
CLCOOK_TEST_RECIPE=$name CLCOOK_TEST_GRID=full "./build/bin/tests/planted_bugs" \
  --test-case="unchanged copies pass*"

# missing WHAT: configuring fails and names it.
missing() {
  if "$cmake" -S . -B build >"$work/missing.log" 2>&1; then
    echo "FAILED: configuring does not notice what is missing: $1"
    exit 1
  fi
  grep -qF "  $1" "$work/missing.log" || { cat "$work/missing.log"; exit 1; }
}
mv docs/$name.md kept.md
missing docs/$name.md
mv kept.md docs/$name.md
planted=tests/planted/$name.txt
mv "$planted" kept.txt
missing "$planted"
grep -v '^bug' kept.txt >"$planted"
missing "a planted bug in $planted"
mv kept.txt "$planted"
"$cmake" -S . -B build >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
rm -rf "$work"
