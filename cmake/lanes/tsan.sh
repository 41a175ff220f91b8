#!/bin/bash
# tsan.sh CMAKE SOURCE BUILD: the tests with many threads under ThreadSanitizer, on the stub OpenCL:
# a driver is not instrumented, and hides what it orders. The short grid leaves out the test of all
# recipes, which take a while to compile.
set -eu
cmake=$1 source=$2 build=$3/tsan
compiler=""
mkdir -p "$build"
for one in clang++ g++; do
  if echo 'int main() {}' | $one -x c++ -fsanitize=thread - -o "$build/probe" 2>/dev/null && "$build/probe"; then
    compiler=$one
    break
  fi
done
if [ -z "$compiler" ]; then
  echo "SKIP: no compiler here has ThreadSanitizer (Debian packages libclang-rt-dev, libtsan2)"
  exit 77
fi
tests=(stub_opencl stub_threads stub_staging stub_strips)
[ "${CLCOOK_TEST_GRID:-full}" = short ] || tests+=(stub_every)
"$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_COMPILER=$compiler" \
  -DCMAKE_CXX_FLAGS=-O0 -DCLCOOK_SANITIZE=thread -DCLCOOK_BUILD_EXAMPLES=OFF \
  -DCLCOOK_BUILD_TOOLS=OFF -DCLCOOK_INSTALL=OFF >"$build/configure.log" ||
  { cat "$build/configure.log"; exit 1; }
"$cmake" --build "$build" --target "${tests[@]/#/test_}" -- -j2
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1"
cd "$build"
"${cmake%cmake}ctest" -R "^($(IFS='|' && echo "${tests[*]}"))\$" --output-on-failure --no-tests=error
