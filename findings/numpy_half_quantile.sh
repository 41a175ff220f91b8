#!/bin/bash
# The quartiles of two half floats are infinite, and the first lies above the third.
#
# Versions: numpy 2.4.6.
# Expected: np.quantile of -60000 and 60000 in float16 lies between them: -30000, 0, 30000. np.median says 0.
# Seen:     np.quantile says inf, -inf, -inf for 0.25, 0.5 and 0.75. The difference of the two, 120000, is infinite in half, and a
#           share of it is added to the lower or taken from the upper value.
# Matters:  limits for showing or clipping a picture are quantiles, and two neighbours among its values that lie 65520 apart are
#           enough. Make halves float32 first; np.median needs no help.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")  # it warns of an overflow
values = np.array([-60000, 60000], np.float16)
quartiles = [float(one) for one in np.quantile(values, (0.25, 0.5, 0.75))]
print(f"quantiles of {values.tolist()}: {quartiles}; median: {float(np.median(values))}")
print(f"in float32: {np.quantile(values.astype(np.float32), (0.25, 0.5, 0.75)).tolist()}")
seen = quartiles == [np.inf, -np.inf, -np.inf] and np.median(values) == 0
print("as described" if seen else "CHANGED: quantiles of halves are no longer infinite")
sys.exit(0 if seen else 1)
PYTHON
