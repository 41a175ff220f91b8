#!/bin/bash
# How fast NVIDIA's clEnqueueFillBuffer is depends on the length of the pattern, by 14 times.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.5.5. Needs an NVIDIA GPU.
# Expected: filling 1 GiB takes as long whatever the pattern, since the bytes that are written are the same.
# Seen:     bytes per second grow with the pattern up to 16 bytes and fall behind it: 425 GB/s with 1 byte, 1,690
#           with 4, 3,570 with 16, 460 with 32, 260 with 128. A zero of 4 bytes gets no shorter way.
# Matters:  clearing a buffer with one zero byte is what most programs write first. The same zero as 16 bytes
#           takes an eighth of the time.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyopencl==2026.1.4 numpy==2.5.5
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import pyopencl as cl

gpus = [d for p in cl.get_platforms() if "NVIDIA" in p.name for d in p.get_devices()]
if not gpus:
    print("SKIP: there is no NVIDIA GPU")
    sys.exit(77)
print(gpus[0].name, gpus[0].driver_version)
context = cl.Context(gpus[:1])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
size = 1 << 30
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, size)


def rate(pattern):
    times = []
    for _ in range(9):
        event = cl.enqueue_fill_buffer(queue, buffer, np.zeros(pattern, np.uint8), 0, size)
        event.wait()
        times.append(event.profile.end - event.profile.start)
    return size / sorted(times)[4]


rates = {pattern: rate(pattern) for pattern in (1, 2, 4, 8, 16, 32, 64, 128)}
for pattern, gb in rates.items():
    print(f"{pattern:4} bytes {gb:6.0f} GB/s")
seen = rates[16] > 4 * rates[1] and rates[16] > 1.5 * rates[4] and rates[16] > 4 * rates[32] > 4 * rates[128]
print("as described" if seen else "CHANGED: the pattern's length no longer matters as described")
sys.exit(0 if seen else 1)
PYTHON
