#!/bin/bash
# Mapping a plain buffer moves its bytes at the speed of pinned memory; reading the buffer does not.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.5.5. Needs an NVIDIA GPU.
# Expected: a buffer without CL_MEM_ALLOC_HOST_PTR lives on the device alone, so that clEnqueueMapBuffer goes
#           through pageable memory, as fast as clEnqueueReadBuffer into an array: 11 to 16 GB/s.
# Seen:     64 MiB are mapped at 51 GB/s, as with CL_MEM_ALLOC_HOST_PTR and with CL_MEM_USE_HOST_PTR over an
#           ordinary array; reading takes three times as long. The first map of a buffer takes tens of
#           milliseconds, when the driver makes the pinned twin that it then keeps.
# Matters:  whoever uses one buffer often needs no staging memory of his own; whoever maps a buffer once pays more
#           than for a read; and each buffer that was ever mapped holds as much pinned host memory.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyopencl==2026.1.4 numpy==2.5.5
"$work/venv/bin/python" - <<'PYTHON'
import sys
import time

import numpy as np
import pyopencl as cl

gpus = [d for p in cl.get_platforms() if "NVIDIA" in p.name for d in p.get_devices()]
if not gpus:
    print("SKIP: there is no NVIDIA GPU")
    sys.exit(77)
print(gpus[0].name, gpus[0].driver_version)
context = cl.Context(gpus[:1])
queue = cl.CommandQueue(context)
size = 64 << 20
array = np.ones(size, np.uint8)
flags = cl.mem_flags
buffers = {
    "plain": cl.Buffer(context, flags.READ_WRITE, size),
    "ALLOC_HOST_PTR": cl.Buffer(context, flags.READ_WRITE | flags.ALLOC_HOST_PTR, size),
    "USE_HOST_PTR": cl.Buffer(context, flags.READ_WRITE | flags.USE_HOST_PTR, hostbuf=array),
}


def seconds(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def map_once(buffer):
    mapped, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (size,), np.uint8)
    mapped.base.release(queue).wait()


rates = {}
for name, buffer in buffers.items():
    cl.enqueue_fill_buffer(queue, buffer, np.uint8(7), 0, size).wait()
    first = seconds(lambda: map_once(buffer))
    rates[name] = size / sorted(seconds(lambda: map_once(buffer)) for _ in range(9))[4] / 1e9
    print(f"map {name}: first {first * 1000:.1f} ms, then {rates[name]:.1f} GB/s")
target = np.ones(size, np.uint8)
reads = sorted(seconds(lambda: cl.enqueue_copy(queue, target, buffers["plain"])) for _ in range(9))
rates["read"] = size / reads[4] / 1e9
print(f"read into an array: {rates['read']:.1f} GB/s")
seen = rates["plain"] > 1.8 * rates["read"] and rates["plain"] > 0.7 * rates["ALLOC_HOST_PTR"]
print("as described" if seen else "CHANGED: a plain buffer is no longer mapped like pinned memory")
sys.exit(0 if seen else 1)
PYTHON
