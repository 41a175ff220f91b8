#!/bin/bash
# lint.sh KERNEL_FOLDER [MORE_KERNELS]: clang checks every kernel file as plain OpenCL C 1.2 and as 3.0, with
# the defaults that the file sets itself, with and without the builtins that the host may define, and
# every device header alone. None may ask for the time: Runtime::build() keeps what is embedded.
set -u
more=${2-none}
cd "$1" || exit 1
if ! command -v clang >/dev/null; then
  echo "SKIP: clang is not installed"
  exit 77
fi
flags=(-x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra -Werror -Wdate-time
  -Wno-unused-parameter -I .)
status=0 kernels=0 headers=0
while read -r file; do
  kernels=$((kernels + 1))
  clang "${flags[@]}" "$file" || { echo "FAILED: $file"; status=1; }
  clang "${flags[@]}" -cl-std=CL3.0 -DCLCOOK_BUILTIN_PREFETCH "$file" ||
    { echo "FAILED: $file as OpenCL C 3.0"; status=1; }
  # An application sees a kernel by this name in a profiler: it starts with the recipe.
  recipe=${file#./} recipe=${recipe#"$more/"} recipe=${recipe%%/*} recipe=${recipe%.cl}
  for kernel in $(clang "${flags[@]}" -Xclang -ast-dump "$file" 2>/dev/null |
    sed 's/\x1b\[[0-9;]*m//g' | awk '/FunctionDecl/ {fn = $0} /OpenCLKernelAttr/ {print fn}' |
    sed -n "s/.* \([A-Za-z_][A-Za-z0-9_]*\) '.*/\1/p" | sort -u); do
    case $kernel in
      "$recipe"_*) ;;
      *) echo "FAILED: kernel $kernel in $file must be named ${recipe}_<variant>"; status=1 ;;
    esac
  done
done < <(find . ${2+"$more"} -name '*.cl' | sort)
while read -r file; do
  headers=$((headers + 1))
  printf '#include <%s>\n#include <%s>\n' "${file#./}" "${file#./}" | clang "${flags[@]}" - ||
    { echo "FAILED: $file does not compile alone"; status=1; }
  if grep -nE '#[[:space:]]*define[[:space:]]+(__)?CLK_' "$file"; then
    echo "FAILED: $file defines a CLK_ macro; that prefix belongs to OpenCL"
    status=1
  fi
done < <(find clcook -name '*.clh' 2>/dev/null | sort)
echo "$kernels kernel files, $headers device headers"
exit $status
