#!/bin/bash
# layers_test.sh SOURCE WORK: layers.sh finds violations that are planted in a copy of the tree.
set -eu
source=$1 work=$2
rm -rf --one-file-system "$work"
mkdir -p "$work/kept"
cd "$source"
tar -cf - cmake/lanes docs/architecture.md lib kernels bench/*.?pp bench/*/*.?pp examples \
  tests/*.?pp tests/*/*.?pp tests/*/*.c tests/consumer tests/course | tar -xf - -C "$work/kept"
planted=0 failed=0

# tree: a fresh copy to plant in.
tree() {
  rm -rf --one-file-system "$work/tree"
  cp -r "$work/kept" "$work/tree"
  cd "$work/tree"
}
# found TEXT: layers.sh fails and says TEXT.
found() {
  planted=$((planted + 1))
  if cmake/lanes/layers.sh . >"$work/said" 2>&1; then
    echo "FAILED: not found: $1"
    failed=1
  elif ! grep -qF -e "$1" "$work/said"; then
    echo "FAILED: expected '$1', got:"
    cat "$work/said"
    failed=1
  fi
}
# include FILE HEADER TEXT: HEADER in the first line of FILE is found.
include() {
  tree
  sed -i "1i #include $2" "$1"
  found "$1:1: $3"
}

tree
cmake/lanes/layers.sh . || { echo "FAILED: the tree as it is"; exit 1; }
include lib/clcook/core/view.hpp '<clcook/line_blur.hpp>' 'core may not include operations'
include lib/clcook/core/view.hpp '<CL/cl.h>' 'core may not include CL'
include lib/clcook/reference/line_blur.hpp '<clcook/core/view.hpp>' 'reference may not include core'
include lib/clcook/model/halo.hpp '<fmt/format.h>' 'model may not include libraries'
include lib/clcook/io/dds.hpp '<clcook/core/runtime.hpp>' 'io may not include core'
include lib/clcook/line_blur.hpp '"cookbook/line_blur.hpp"' 'operations may not include cookbook'
include lib/clcook/line_blur.hpp '<clcook/reference/line_blur.hpp>' 'operations may not include reference'
include lib/clcook/registry/recipe.hpp '<clcook/cookbook/line_blur.hpp>' 'registry may not include cookbook'
include examples/line_blur.cpp '<clcook/cookbook/line_blur.hpp>' 'examples may not include cookbook'
include kernels/clcook/halo.clh '"../line_blur.cl"' 'device headers may not include kernels'
include tests/consumer/blur.cpp '<clcook/registry/recipe.hpp>' 'consumer may not include registry'
include bench/main.cpp '<clcook/cookbook/line_blur.hpp>' 'bench may not include cookbook'
include bench/tool/command.cpp '"try/recipe.hpp"' 'bench/tool may not include bench/try'
include bench/results.hpp '"isa/listing.hpp"' 'bench/results may not include bench/isa'

tree
mkdir lib/clcook/attic
echo '#pragma once' >lib/clcook/attic/old.hpp
found "lib/clcook/attic/old.hpp: belongs to no room"
tree
printf '\n| known exception: from | to | why |\n|---|---|---|\n| core | cookbook | none |\n' >>docs/architecture.md
found "the exception core -> cookbook does not occur any more"
tree
sed -i 's/^\(| model | [^|]*|\) std /\1 std, cellar /' docs/architecture.md
found "there is no room cellar"
tree
sed -i 's/^| places |/| attic | lib\/clcook\/attic\/ | std | |\n&/' docs/architecture.md
found "no file lies in the room attic"
tree
sed -i 's/^\(| model | [^|]*|\) std /\1 std, cookbook /' docs/architecture.md
found "include each other in a circle"
tree
sed -i '/^| /d' docs/architecture.md
found "belongs to no room"
rm -rf --one-file-system "$work"
echo "$planted violations planted"
exit $failed
