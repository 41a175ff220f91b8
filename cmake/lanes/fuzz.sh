#!/bin/bash
# fuzz.sh CMAKE SOURCE BUILD: the programs of tests/fuzz, one for each format that is read from files or
# command lines, under ASan and UBSan: no crash, no input that takes 10 seconds or 512 MiB. Each runs
# CLCOOK_FUZZ_SECONDS seconds (60; short grid: 3), two at a time, from the files in tests/fuzz/seeds and
# from what earlier runs found in BUILD/fuzz/runs. Where libFuzzer is missing, tests/fuzz/replay.cpp
# changes the seeds at random instead. The random numbers are the same in each run.
set -eu
cmake=$1 source=$2 build=$3/fuzz
case ${CLCOOK_TEST_GRID:-full} in
  short) seconds=${CLCOOK_FUZZ_SECONDS:-3} ;;
  *) seconds=${CLCOOK_FUZZ_SECONDS:-60} ;;
esac
mkdir -p "$build"
compiles() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' "$3" |
    "$1" -x c++ "-fsanitize=$2" - -o "$build/probe" 2>/dev/null
}
if compiles clang++ fuzzer,address,undefined ""; then
  with=libFuzzer
  options=(-DCMAKE_CXX_COMPILER=clang++ "-DCLCOOK_SANITIZE=address,undefined,fuzzer-no-link")
else
  with=replay
  echo "clang++ has no libFuzzer here (Debian package libclang-rt-dev): random changes of the seeds"
  options=()
  if compiles c++ address,undefined 'int main() {}'; then
    options+=("-DCLCOOK_SANITIZE=address,undefined")
  else
    echo "and the default compiler has no sanitizers: only crashes are seen"
  fi
fi
"$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 \
  -DCLCOOK_FUZZ=$with "${options[@]}" -DCLCOOK_BUILD_EXAMPLES=OFF -DCLCOOK_BUILD_TOOLS=ON \
  -DCLCOOK_INSTALL=OFF >"$build/configure.log" || { cat "$build/configure.log"; exit 1; }
"$cmake" --build "$build" --target clcook_fuzz -- -j2

# one FORMAT: says how many inputs it tried; on a finding also the end of what the program said.
one() {
  local name=$1 program=$build/bin/fuzz/$1 seeds=$source/tests/fuzz/seeds/$1
  local dictionary=$source/tests/fuzz/$1.dict run=$build/runs/$1 status=0
  # What the readers print is of no interest: standard output, and of `command` its complaints too.
  local closed=1
  [ "$name" != command ] || closed=3
  mkdir -p "$run/corpus"
  cd "$run"
  export TMPDIR=$run
  if [ "$with" = libFuzzer ]; then
    "$program" -seed=1 "-max_total_time=$seconds" -rss_limit_mb=512 -timeout=10 "-close_fd_mask=$closed" \
      -print_final_stats=1 "-dict=$dictionary" corpus "$seeds" >log 2>&1 || status=$?
  else
    (ulimit -d 1048576; timeout $((seconds + 30)) "$program" "$seconds" "$dictionary" "$seeds") \
      2>log >/dev/null || status=$?
  fi
  if [ $status -ne 0 ]; then
    echo "FAILED: $name ended with $status; in $run:"
    grep -v '^#[0-9]' log | tail -n 60
    return 1
  fi
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: */runs: /p; s/^Done \(.*seeds\)/\1/p' log), $(
    sed -n 's/^stat::peak_rss_mb: */MiB at most: /p' log)"
}
export -f one
export build source seconds with
export UBSAN_OPTIONS=print_stacktrace=1
for file in "$source"/tests/fuzz/*.dict; do basename "$file" .dict; done |
  xargs -I{} -P 2 bash -c 'one {}'
