#!/bin/bash
# test.sh WHEELS DRIVER: the wheel for this Python, of the folder WHEELS, into a fresh environment, from
# which functions on arrays and a plan are called. DRIVER is what brings a device: a package of Debian,
# pyopencl[pocl], or '' for what is there. The wheel needs no compiler.
set -euo pipefail
wheels=$1 driver=$2
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)
if [ "$driver" = "pyopencl[pocl]" ]; then
  "${pip[@]}" install "$driver"
  # It links kernels as gcc does.
  command -v gcc >/dev/null || apt-get install -y --no-install-recommends gcc libc6-dev
  # The system's loader does not know it.
  OCL_ICD_VENDORS=$(find "$work/venv" -name 'libpocl-*.so')
  export OCL_ICD_VENDORS
else
  [ -z "$driver" ] || apt-get install -y --no-install-recommends "$driver"
fi
"${pip[@]}" install --only-binary :all: --no-index --find-links "$wheels" --no-deps clcook
"${pip[@]}" install --only-binary :all: numpy pyopencl
export POCL_CACHE_DIR=$work/pocl CLCOOK_CACHE_DIR=$work/cache
mkdir "$POCL_CACHE_DIR"
cd "$work"
venv/bin/python -I - <<'EOF'
import pickle

import clcook
import numpy as np
import pyopencl.array
from clcook import ndimage

a = np.random.default_rng(1).integers(0, 256, (64, 48), np.uint8)
windows = np.lib.stride_tricks.sliding_window_view(np.pad(a, 1, "edge"), (3, 3))
expected = np.median(windows, (2, 3)).astype(np.uint8)
print(clcook.__version__, clcook.device())
np.testing.assert_array_equal(clcook.median3x3(a), expected)
plan = clcook.RankFilter(clcook.queue(), width=48, height=64, radius=1, rank=0.5, pixel="r8")
for one in (plan, pickle.loads(pickle.dumps(plan))):
    x = pyopencl.array.to_device(clcook.queue(), a)
    y = pyopencl.array.empty_like(x)
    one(x, y)
    np.testing.assert_array_equal(y.get(), expected)
np.testing.assert_array_equal(clcook.gaussian_blur(np.full((64, 48), 7, np.uint8), 3), 7)
np.testing.assert_array_equal(ndimage.median_filter(a, 3, mode="nearest"), expected)
np.testing.assert_array_equal(ndimage.maximum_filter(a, 3, mode="nearest"), windows.max((2, 3)))
np.testing.assert_array_equal(ndimage.uniform_filter(np.full((64, 48), 7, np.uint8), 5), 7)
np.testing.assert_allclose(ndimage.gaussian_filter(np.full((64, 48), 7, np.float32), 3), 7, 1e-6)
EOF
