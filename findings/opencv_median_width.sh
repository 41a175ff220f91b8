#!/bin/bash
# What OpenCV's medianBlur makes of a window with a NaN depends on how wide the picture around it is.
#
# Versions: opencv-python-headless 5.0.0.93, numpy 2.4.6.
# Expected: something that depends on the window alone: NaN, or the median of the eight others, 4 or 5.
# Seen:     1 NaN 2 / 3 4 5 / 6 7 8 gives 4 in a picture of 9 columns, wherever it lies, and 6 in one of 40 or 131. Where the
#           NaN is in the middle, the median is NaN; elsewhere in the window it is 3 to 6.
# Matters:  a test on a small picture says nothing of a large one, and 6 is no median of these values by any rule. Replace NaNs
#           before a median.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q opencv-python-headless==5.0.0.93 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys

import cv2
import numpy as np

found = {}
for width in (9, 40, 131):
    found[width] = set()
    for x in range(1, width - 1):
        picture = np.full((9, width), 4.5, np.float32)
        picture[3:6, x - 1 : x + 2] = [[1, np.nan, 2], [3, 4, 5], [6, 7, 8]]
        found[width].add(float(cv2.medianBlur(picture, 3)[4, x]))
    print(f"{width} columns: {sorted(found[width])}")
seen = found == {9: {4.0}, 40: {6.0}, 131: {6.0}}
print("as described" if seen else "CHANGED: the width does not matter, or gives other medians")
sys.exit(0 if seen else 1)
PYTHON
