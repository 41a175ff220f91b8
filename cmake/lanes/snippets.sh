#!/bin/bash
# snippets.sh SOURCE INCLUDE CLCOOK DEFINITIONS WORK: the snippets of README and of every page compile
# without a warning and run, see snippets.awk; and clcook knows every option of the commands that they
# show. INCLUDE is the folder of the generated headers. The short grid leaves out g++, the slower
# compiler, links the library DEFINITIONS, if there is one, and runs a quarter.
set -eu
source=$1 generated=$2 clcook=$3 definitions=$4 work=$5
rm -rf --one-file-system "$work"
mkdir -p "$work"
cd "$source"
pages=(README.md CONTRIBUTING.md docs/*.md)
awk=(awk -f cmake/lanes/snippets.awk)
"${awk[@]}" "${pages[@]}" >"$work/snippets.cpp"
"${awk[@]}" -v kind=cl "${pages[@]}" >"$work/snippets.cl"
flags=(-std=c++17 -Wall -Wextra -Werror -I lib -I "$generated")
for compiler in clang clang++; do
  command -v "$compiler" >/dev/null || { echo "FAILED: $compiler is not installed"; exit 1; }
done
if [ "${CLCOOK_TEST_GRID:-full}" = short ]; then
  run=(./snippets "${CLCOOK_TEST_SLICE:-0}" 4)
  [ -z "$definitions" ] || flags+=(-DCLCOOK_COMPILED)
else
  run=(./snippets)
  definitions=
  g++ "${flags[@]}" -fsyntax-only "$work/snippets.cpp"
fi
clang++ "${flags[@]}" -O0 "$work/snippets.cpp" -o "$work/snippets" ${definitions:+"$definitions"} \
  -lOpenCL -pthread
(cd "$work" && "${run[@]}")
clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra -Werror \
  -Wno-unused-parameter -I kernels "$work/snippets.cl"

# Commands stand at the beginning of a fenced line, where a # begins a comment, or in backticks.
commands() {
  awk '
    /^```/ { fenced = !fenced }
    fenced && /^(build\/bin\/)?clcook [a-z]/ {
      sub(/ #.*/, "")
      print FILENAME ":" FNR ":" $0
    }
    !fenced {
      while (match($0, /`(build\/bin\/)?clcook [a-z][^`]*`/)) {
        print FILENAME ":" FNR ":" substr($0, RSTART + 1, RLENGTH - 2)
        $0 = substr($0, RSTART + RLENGTH)
      }
    }' "${pages[@]}"
}
count=0 status=0
declare -A helps
while IFS=: read -r page line text; do
  read -r _ command _ <<<"$text"
  if [ -z "${helps[$command]-}" ]; then
    helps[$command]=$("$clcook" "$command" --help 2>&1) || {
      echo "FAILED: $page:$line: there is no command 'clcook $command'"
      status=1
      unset "helps[$command]"
      continue
    }
  fi
  count=$((count + 1))
  while read -r option; do
    grep -qE -- "(^|[ ,])$option([ ,=]|\$)" <<<"${helps[$command]}" || {
      echo "FAILED: $page:$line: clcook $command has no option $option"
      status=1
    }
  done < <(grep -oE -- '--[a-z][a-z-]*' <<<"$text" || true)
done < <(commands)
echo "$count commands looked at"
[ $count -gt 0 ] || status=1
exit $status
