#!/bin/bash
# new_recipe.sh CMAKE SOURCE WORK: in a copy of the tree, new_recipe.cmake writes a recipe that
# lints, is formatted, builds and passes; it refuses bad names and never overwrites.
set -eu
cmake=$1 source=$2 work=$3
name=lane_recipe
rm -rf "$work"
mkdir -p "$work/tree"
(cd "$source" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./out .) |
  tar -xf - -C "$work/tree"
cd "$work/tree"
for bad in "" Upper 9lives a-b a__b core ../x int; do
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

cmake/lanes/lint.sh kernels
cmake/lanes/format.sh . {kernels,tests,examples}/$name.c* lib/clcook{,/reference,/cookbook}/$name.hpp
options=(-G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 -DCLCOOK_WERROR=ON
  -DCLCOOK_BUILD_TOOLS=OFF)
"$cmake" -S . -B build "${options[@]}" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
"$cmake" --build build --target test_$name example_$name -- -j2
"./build/bin/tests/$name"
"./build/bin/$name"

# A missing partner is named.
mv docs/$name.md kept.md
if "$cmake" -S . -B build >"$work/missing.log" 2>&1; then
  echo "FAILED: configuring does not notice the missing docs/$name.md"
  exit 1
fi
grep -q "docs/$name.md" "$work/missing.log"
rm -rf "$work"
