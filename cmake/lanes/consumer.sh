#!/bin/bash
# consumer.sh CMAKE KIND SOURCE BUILD WORK: a project of somebody else that uses clcook.
# KIND is find_package, subdirectory, fetch_content, two_tu (CMake projects under
# tests/consumer) or single_header (one file dropped into a folder, no CMake). The short grid builds
# with clang++, which takes two thirds of g++'s time.
set -eu
cmake=$1 kind=$2 source=$3 build=$4 work=$5
if [ "${CLCOOK_TEST_GRID:-full}" = short ] && command -v clang++ >/dev/null; then
  export CXX=clang++
fi
rm -rf "$work"
mkdir -p "$work"
options=(-G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0)
case $kind in
  single_header)
    "$cmake" --build "$build" --target single_header >/dev/null
    cp "$build/single_header/clcook.hpp" "$source/tests/consumer/blur.cpp" "$work"
    if grep -nE '^#include [<"]clcook/.*\.hpp' "$work/clcook.hpp"; then
      echo "FAILED: the single header includes another header of ours"
      exit 1
    fi
    cd "$work"
    # An older header of the bindings has the same include guard.
    printf '#define CL_HPP_\n#include "clcook.hpp"\n' >older.cpp
    if "${CXX:-g++}" -std=c++17 -DCLCOOK_SINGLE_HEADER -fsyntax-only older.cpp 2>said ||
      ! grep -q 'error: .*an older header, such as CL/cl.hpp, was included before it' said; then
      echo "FAILED: an older CL/cl.hpp in front of clcook's header is not named:"
      head -n 5 said
      exit 1
    fi
    "${CXX:-g++}" -std=c++17 -O0 -Wall -Wextra -Werror -DCLCOOK_SINGLE_HEADER blur.cpp -o consumer \
      -lOpenCL -pthread
    ./consumer
    # The same with the definitions in a file of their own; a file that only declares has none.
    printf '#define CLCOOK_IMPLEMENTATION\n#include "clcook.hpp"\n' >implementation.cpp
    "${CXX:-g++}" -std=c++17 -O0 -Wall -Wextra -Werror -DCLCOOK_SINGLE_HEADER -DCLCOOK_COMPILED -c blur.cpp
    "${CXX:-g++}" -std=c++17 -O0 -Wall -Wextra -Werror -c implementation.cpp
    if "${CXX:-g++}" blur.o -lOpenCL -pthread -o alone 2>/dev/null; then
      echo "FAILED: CLCOOK_COMPILED does not keep the definitions out"
      exit 1
    fi
    "${CXX:-g++}" blur.o implementation.o -lOpenCL -pthread -o split
    ./split
    exit 0
    ;;
  find_package)
    "$cmake" --install "$build" --component dev --prefix "$work/prefix" >/dev/null
    options+=("-DCMAKE_PREFIX_PATH=$work/prefix")
    # Nothing that is installed may point back at the source or build folder.
    if grep -rlF -e "$source" -e "$build" "$work/prefix"; then
      echo "FAILED: installed files name the source or build folder"
      exit 1
    fi
    ;;
  fetch_content)
    # As a download would: a folder without builds.
    mkdir "$work/fetched"
    (cd "$source" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./out .) |
      tar -xf - -C "$work/fetched"
    options+=("-DCLCOOK_LOCATION=$work/fetched" -DCMAKE_UNITY_BUILD=ON)  # the library in a third of the time
    ;;
  *) options+=("-DCLCOOK_LOCATION=$source") ;;
esac
"$cmake" -S "$source/tests/consumer/$kind" -B "$work/build" "${options[@]}" >"$work/log" ||
  { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build"
for program in "$work"/build/consumer*; do
  [ ! -f "$program" ] || "$program"
done
rm -rf "$work"
