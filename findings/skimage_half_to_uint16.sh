#!/bin/bash
# scikit-image turns every picture of half floats into a black one of uint16, and white into the darkest of int16.
#
# Versions: scikit-image 0.26.0, numpy 2.4.6.
# Expected: img_as_uint of a half is what it is of the same value as a float: 0.5 becomes 32768 and 1 becomes 65535.
#           img_as_ubyte of the same picture does so.
# Seen:     img_as_uint gives 0 for all values from 0 to 1, and img_as_int -32768 for 1. numpy warns of an invalid value in a
#           multiplication: 65535 is infinite in half.
# Matters:  halves come from GPUs and from EXR files, and 16 bits are what keeps most of them. Make them float32 first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q scikit-image==0.26.0 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys
import warnings

import numpy as np
from skimage.util import img_as_int, img_as_ubyte, img_as_uint

warnings.simplefilter("ignore")  # numpy's, see above
answers = {}
for kind in ("float16", "float32"):
    values = np.array([0, 0.25, 0.5, 0.75, 1], kind)
    for convert in (img_as_ubyte, img_as_uint, img_as_int):
        answers[kind, convert.__name__] = convert(values).tolist()
        print(f"{convert.__name__} of {kind}: {answers[kind, convert.__name__]}")
seen = (answers["float16", "img_as_uint"] == [0] * 5 and answers["float16", "img_as_int"][4] == -32768
        and answers["float32", "img_as_uint"][4] == 65535 and answers["float16", "img_as_ubyte"][4] == 255)
print("as described" if seen else "CHANGED: halves no longer become 0 in uint16")
sys.exit(0 if seen else 1)
PYTHON
