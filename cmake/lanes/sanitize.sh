#!/bin/bash
# sanitize.sh CMAKE SOURCE BUILD: the test programs again, and the clcook command that some of them
# start, with ASan and UBSan, on the host code. Left out are tests of drivers, which run under Oclgrind, and
# the planted bugs, which damage memory on purpose; there are no examples. Kernels are not instrumented:
# the caches of BUILD serve them, and conformance runs its short grid. The short grid takes a tenth of
# those that read foreign input or manage memory, and the launches of every variant.
set -eu
cmake=$1 source=$2 build=$3/sanitized caches=$3
left_out="driver_bugs planted_bugs"
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
targets=() names="" number=0
[ "${CLCOOK_TEST_GRID:-full}" = short ] || targets+=(clcook_tool)
for file in "$source"/tests/*.cpp; do
  name=$(basename "$file" .cpp)
  case " $left_out " in *" $name "*) continue ;; esac
  case ${CLCOOK_TEST_GRID:-full}/$name in
    short/stub_launches) targets+=("test_$name") names="$names|$name" ;;
    full/* | short/core_* | short/io_* | short/registry_* | short/bench_results | short/pictures)
      ! in_slice $number 10 || { targets+=("test_$name"); names="$names|$name"; }
      number=$((number + 1))
      ;;
  esac
done
# clang++ compiles instrumented code five times as fast as g++, and is another opinion on our code.
options=(-DCMAKE_CXX_FLAGS=-O0)
mkdir -p "$build"
if echo 'int main() {}' | clang++ -x c++ -fsanitize=address,undefined - -o "$build/probe" 2>/dev/null; then
  options+=(-DCMAKE_CXX_COMPILER=clang++)
else
  echo "clang++ has no sanitizers here (Debian package libclang-rt-dev): the default compiler, slower"
fi
"$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None "${options[@]}" \
  -DCLCOOK_SANITIZE=address,undefined -DCLCOOK_BUILD_EXAMPLES=OFF -DCLCOOK_BUILD_TOOLS=ON \
  -DCLCOOK_INSTALL=OFF "-DCLCOOK_TEST_CACHES=$caches" >"$build/configure.log" ||
  { cat "$build/configure.log"; exit 1; }
"$cmake" --build "$build" --target "${targets[@]}" -- -j2
# PoCL and LLVM keep what they allocate until the process ends; that is not ours to report.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1 CLCOOK_TEST_GRID=short
cd "$build"
"${cmake%cmake}ctest" -R "^(${names#|})(\\.[a-z0-9_]+)?$" --output-on-failure --no-tests=error -j2
