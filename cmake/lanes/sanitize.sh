#!/bin/bash
# sanitize.sh CMAKE SOURCE BUILD: the test programs again, with ASan and UBSan, on the host code. Left
# out are tests that start other programs of ours, and the planted bugs, which
# damage memory on purpose.
set -eu
cmake=$1 source=$2 build=$3
left_out="bench explore isa occupancy_tool pictures planted_bugs report report_markdown tool"
targets=() names=""
for file in "$source"/tests/*.cpp; do
  name=$(basename "$file" .cpp)
  case " $left_out " in
    *" $name "*) ;;
    *) targets+=("test_$name") names="$names|$name" ;;
  esac
done
"$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 \
  -DCLCOOK_SANITIZE=address,undefined -DCLCOOK_BUILD_EXAMPLES=OFF -DCLCOOK_BUILD_TOOLS=OFF \
  -DCLCOOK_INSTALL=OFF >"$build.configure.log" || { cat "$build.configure.log"; exit 1; }
"$cmake" --build "$build" --target "${targets[@]}" -- -j2
# PoCL and LLVM keep what they allocate until the process ends; that is not ours to report.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
cd "$build"
"${cmake%cmake}ctest" -R "^(${names#|})(\\.[a-z0-9_]+)?$" --output-on-failure --no-tests=error -j2
