#!/bin/bash
# intel.sh CLCOOK FOLDER: the whole conformance test on Intel's runtime for CPUs, which the user has
# installed: CLCOOK_INTEL is the folder of libintelocl.so, which ./cook test --intel PATH sets. Its
# licence is proprietary, so nothing here fetches it. FOLDER gets the vendor file and the caches.
set -u
clcook=$1 folder=$2 runtime=${CLCOOK_INTEL:-}
if [ -z "$runtime" ]; then
  echo "SKIP: no runtime was named; use ./cook test --intel PATH, the folder of libintelocl.so"
  exit 77
fi
if [ ! -e "$runtime/libintelocl.so" ]; then
  echo "FAILED: there is no libintelocl.so in '$runtime'"
  exit 1
fi
rm -rf "$folder"  # caches of an earlier run must not decide this one
mkdir -p "$folder"
echo "$runtime/libintelocl.so" >"$folder/intel.icd"
export OCL_ICD_VENDORS=$folder CLCOOK_DEVICE=intel CLCOOK_CACHE_DIR=$folder/clcook-cache
export LD_LIBRARY_PATH=$runtime${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if ! "$clcook" devices; then
  echo "FAILED: $runtime/libintelocl.so gives no usable device; what it needs and does not find:"
  ldd "$runtime/libintelocl.so" | grep 'not found'
  exit 1
fi
exec "$clcook" check
