#!/bin/bash
# How many pixels one NaN spoils in SimpleITK's BoxMean depends on the number of threads.
#
# Versions: SimpleITK 2.5.7, numpy 2.4.6.
# Expected: either the 25 pixels of its windows of 5 x 5, as with the filter Mean, or all that running sums reach after it; the same
#           on every machine.
# Seen:     a NaN in row 10, column 20 of 64 x 64 spoils 2,576 pixels with one thread: all from row 8, column 18 on. With two threads
#           it is 1,104, with four 368: those in the strip of rows of its thread.
# Matters:  the same program gives other pictures on another machine, and a test on few rows finds nothing. Mean is confined to
#           the window.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q SimpleITK==2.5.7 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import SimpleITK as itk

pixels = np.ones((64, 64), np.float32)
pixels[10, 20] = np.nan
image = itk.GetImageFromArray(pixels)
spoilt = {}
for threads in (1, 2, 4):
    itk.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)
    for apply in (itk.BoxMean, itk.Mean):
        spoilt[apply.__name__, threads] = int(np.isnan(itk.GetArrayFromImage(apply(image, [2, 2]))).sum())
        print(f"{threads} threads, {apply.__name__}: {spoilt[apply.__name__, threads]} pixels are NaN")
seen = [spoilt["BoxMean", one] for one in (1, 2, 4)] == [2576, 1104, 368] and spoilt["Mean", 1] == spoilt["Mean", 4] == 25
print("as described" if seen else "CHANGED: BoxMean spoils other pixels")
sys.exit(0 if seen else 1)
PYTHON
