#!/bin/bash
# rusticl.sh CLCOOK: the tiny conformance shapes on a second, independent OpenCL implementation.
set -u
clcook=$1
if ! ls /etc/OpenCL/vendors/*rusticl* >/dev/null 2>&1; then
  echo "SKIP: rusticl is not installed (Debian package mesa-opencl-icd)"
  exit 77
fi
export RUSTICL_ENABLE=llvmpipe CLCOOK_DEVICE=rusticl
if ! "$clcook" devices 2>&1 | grep -qi 'rusticl'; then
  echo "SKIP: rusticl is installed and shows no device"
  exit 77
fi
exec "$clcook" check --tiny
