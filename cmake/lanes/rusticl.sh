#!/bin/bash
# rusticl.sh CLCOOK FOLDER: conformance, whole, on Mesa's rusticl, a second, independent OpenCL
# implementation. That of Debian 13, on every machine: Debian 12's is of 2022.
set -u
export RUSTICL_ENABLE=llvmpipe CLCOOK_DEVICE=rusticl
exec "$(dirname "$0")/root.sh" "$2" "$1" check
