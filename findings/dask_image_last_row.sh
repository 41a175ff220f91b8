#!/bin/bash
# A sheared picture gets black pixels as soon as it is cut into blocks: those that lie on the last row of the source.
#
# Versions: dask-image 2026.5.0, dask 2026.8.0, scipy 1.17.1, numpy 2.4.6.
# Expected: dask_image.ndinterp.affine_transform gives what scipy.ndimage gives, whatever the blocks, as its
#           filters do.
# Seen:     with blocks of 32 twelve pixels of 12,707 are 0 instead of 1.1 to 1.9. All of them read exactly the last row of the
#           source. With one block there is no difference.
# Matters:  twelve black pixels pass every comparison by mean or PSNR of a large picture, and are stars or defects for what
#           comes next. With mode='nearest' there is no difference.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q dask-image==2026.5.0 dask==2026.8.0 scipy==1.17.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys

import dask.array as da
import numpy as np
from dask_image import ndinterp
from scipy import ndimage

picture = np.random.default_rng(1).random((97, 131)).astype("float32") + 1
matrix = np.array([[1, 0.2], [0, 1.0]])
whole = ndimage.affine_transform(picture, matrix, order=1)
wrong = {}
for size in (32, 200):
    blocks = da.from_array(picture, chunks=size)
    parts = np.asarray(ndinterp.affine_transform(blocks, matrix, order=1, output_chunks=(size, size)))
    wrong[size] = np.argwhere(np.abs(parts - whole) > 1e-5)
    print(f"blocks of {size}: {len(wrong[size])} of {picture.size} pixels differ, theirs {parts[tuple(wrong[size].T)].tolist()}")
rows = {round(float(y + 0.2 * x), 9) for y, x in wrong[32]}
print(f"rows of the source that these read: {sorted(rows)} of 0 to {picture.shape[0] - 1}")
near = np.asarray(ndinterp.affine_transform(da.from_array(picture, chunks=32), matrix, order=1, mode="nearest", output_chunks=(32, 32)))
agrees = np.allclose(near, ndimage.affine_transform(picture, matrix, order=1, mode="nearest"), atol=1e-5)
print(f"mode='nearest' in blocks of 32 {'agrees' if agrees else 'differs'}")
seen = agrees and len(wrong[32]) == 12 and rows == {96.0} and len(wrong[200]) == 0
print("as described" if seen else "CHANGED: other pixels than those on the last row differ, or none")
sys.exit(0 if seen else 1)
PYTHON
