#!/bin/bash
# clEsperanto takes arrays of int64 and keeps the lower half of each number.
#
# Versions: pyclesperanto 0.25.1, numpy 2.4.6. Needs an OpenCL device, a CPU's too.
# Expected: an error, as for float16, since its types end at 32 bits; float64 becomes float32, which loses digits alone.
# Seen:     push of 2^40 + 1 comes back as 1 of int32, and of 3,000,000,000 as -1,294,967,296, without a warning. Of complex numbers
#           the real part stays.
# Matters:  int64 is what numpy makes of lists and what many labellings give. Labels that encode more than an index, such as
#           plane * 2^32 + number, merge.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyclesperanto==0.25.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys
import warnings

import numpy as np

try:
    import pyclesperanto as cle

    devices = cle.list_available_devices()
except (ImportError, RuntimeError):
    devices = []
if not devices:
    print("SKIP: there is no OpenCL device")
    sys.exit(77)
given = np.array([[2**40 + 1, 3_000_000_000, -1]])
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    back = np.asarray(cle.pull(cle.push(given)))
print(f"{given.dtype} {given.tolist()} comes back as {back.dtype} {back.tolist()}, with {len(warned)} warnings")
try:
    half = str(np.asarray(cle.pull(cle.push(np.ones((1, 3), np.float16)))).dtype)
except TypeError:
    half = "refused"
print(f"float16 is {half}")
seen = back.dtype == np.int32 and back.tolist() == [[1, -1294967296, -1]] and not warned and half == "refused"
print("as described" if seen else "CHANGED: int64 is refused, kept, or comes with a warning")
sys.exit(0 if seen else 1)
PYTHON
