#!/bin/bash
# What a forked child writes into mapped memory of an NVIDIA buffer with CL_MEM_ALLOC_HOST_PTR, its parent sees.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.4.6. Needs an NVIDIA GPU and Linux.
# Expected: behind fork() a child has a copy of its parent's memory. It may scale a batch in place, and the parent's
#           pixels stay, as those of an ordinary array beside it do.
# Seen:     the mapping is a shared one (/dev/zero, `rw-s`), so that parent and child have one memory: the parent
#           finds the child's value in its own array.
# Matters:  pinned arrays are what loaders of pictures and multiprocessing's workers are handed. Nothing fails: the
#           batch that is uploaded next is one that another process has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyopencl==2026.1.4 numpy==2.4.6
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import os
import sys

import numpy as np
import pyopencl as cl

gpus = [d for p in cl.get_platforms() if "NVIDIA" in p.name for d in p.get_devices()]
if not gpus:
    print("SKIP: there is no NVIDIA GPU")
    sys.exit(77)
print(gpus[0].name, gpus[0].driver_version)
queue = cl.CommandQueue(cl.Context(gpus[:1]))
size = 1 << 22
buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, size)
pinned, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.WRITE, 0, (size,), np.uint8)
pinned[:] = 1
plain = np.ones(size, np.uint8)

address = pinned.__array_interface__["data"][0]
for line in open("/proc/self/maps"):
    first, last = (int(end, 16) for end in line.split()[0].split("-"))
    if first <= address < last:
        mapping = line.split()[1]
child = os.fork()
if child == 0:  # touches no OpenCL
    pinned[0] = 2
    plain[0] = 2
    os._exit(0)
os.waitpid(child, 0)
print(f"mapped as {mapping}; behind a child that wrote 2: pinned {pinned[0]}, plain {plain[0]}")
seen = mapping == "rw-s" and pinned[0] == 2 and plain[0] == 1
print("as described" if seen else "CHANGED: the child has a memory of its own")
sys.exit(0 if seen else 1)
PYTHON
