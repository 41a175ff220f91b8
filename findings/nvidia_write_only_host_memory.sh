#!/bin/bash
# A CL_MEM_WRITE_ONLY buffer over host memory is uploaded before the kernel that overwrites all of it.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.5.5. Needs an NVIDIA GPU.
# Expected: the kernel cannot read such a buffer, so nothing goes up: the first launch on a result of 256 MiB over
#           an array (CL_MEM_USE_HOST_PTR) costs what the second costs.
# Seen:     the first launch takes 5.2 ms, the time of 256 MiB on the bus, the second 0.1 ms; with READ_WRITE alike.
#           Pinning, which one might blame, was paid when the buffer was made: 27 us per MiB.
# Matters:  a result in host memory costs the bus twice. A plain device buffer that is read or mapped afterwards
#           costs it once.
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
text = "__kernel void k(__global uint4* a) { a[get_global_id(0)] = (uint4)(7); }"
kernel = cl.Kernel(cl.Program(context, text).build(), "k")
size = 256 << 20


def milliseconds(action):
    begin = time.perf_counter()
    result = action()
    return (time.perf_counter() - begin) * 1000, result


def launch(buffer):
    kernel(queue, (size // 16,), (256,), buffer)
    queue.finish()


flags = cl.mem_flags
warm = cl.Buffer(context, flags.READ_WRITE, size)
launch(warm)
times = {}
for name, access in (("WRITE_ONLY", flags.WRITE_ONLY), ("READ_WRITE", flags.READ_WRITE)):
    array = np.ones(size, np.uint8)
    made, buffer = milliseconds(lambda: cl.Buffer(context, access | flags.USE_HOST_PTR, hostbuf=array))
    first, _ = milliseconds(lambda: launch(buffer))
    second, _ = milliseconds(lambda: launch(buffer))
    times[name] = (first, second)
    print(f"{name}: made in {made:.1f} ms, first launch {first:.2f} ms, second {second:.2f} ms")
seen = all(first > 8 * second for first, second in times.values())
print("as described" if seen else "CHANGED: the first launch no longer waits for an upload")
sys.exit(0 if seen else 1)
PYTHON
