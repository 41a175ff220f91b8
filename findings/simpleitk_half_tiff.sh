#!/bin/bash
# SimpleITK reads a TIFF of half floats without a complaint, as 16-bit integers that are the halves' bits.
#
# Versions: SimpleITK 2.5.7, tifffile 2026.3.3, numpy 2.4.6.
# Expected: an error, as of OpenCV 5.0.0 and of Pillow, which know no half floats in a TIFF, or floats, as of libvips 8.18.
# Seen:     the values 0, 0.125, 0.25, ... become 0, 12288, 13312, ... of type '16-bit unsigned integer'. The file says
#           SampleFormat 3, floating point.
# Matters:  order is kept for positive values, so thresholds and medians look plausible; means and blurs are those of logarithms,
#           nearly. Write float32 for ITK.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q SimpleITK==2.5.7 tifffile==2026.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import SimpleITK as itk
import tifffile

values = (np.arange(64).reshape(8, 8) / 8).astype(np.float16)
tifffile.imwrite("half.tif", values)
print(f"tifffile reads {tifffile.imread('half.tif').dtype}, {tifffile.imread('half.tif')[0, :4].tolist()}")
image = itk.ReadImage("half.tif")
pixels = itk.GetArrayFromImage(image)
print(f"SimpleITK reads {image.GetPixelIDTypeAsString()}, {pixels[0, :4].tolist()}")
seen = pixels.dtype == np.uint16 and np.array_equal(pixels, values.view(np.uint16))
print("as described" if seen else "CHANGED: SimpleITK refuses halves or reads them as floats")
sys.exit(0 if seen else 1)
PYTHON
