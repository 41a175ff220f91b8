#!/bin/bash
# Groups start at a fixed rate, which is what limits a copy of one float per work-item in groups of 128.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.5.5. Needs an NVIDIA GPU.
# Expected: a kernel b[i] = a[i] on 1 GiB of floats is limited by memory, whatever the size of its groups: the reads
#           of a warp are one line of 128 bytes either way. An empty launch of a million groups takes longer the
#           more work-items the groups have.
# Seen:     a million empty groups take 0.61 ms with 1, 32, 64 or 256 work-items. The copy in groups of 128 makes
#           two million groups and moves 1,690 GB/s, just what that rate lets through; groups of 256 move 2,770 and
#           groups of 1,024 2,300; four floats for each work-item 4,250.
# Matters:  'memory-bound' kernels lose more than half to their launch on the fastest memory. Give a work-item 16 bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyopencl==2026.1.4 numpy==2.5.5
"$work/venv/bin/python" - <<'PYTHON'
import sys

import pyopencl as cl

gpus = [d for p in cl.get_platforms() if "NVIDIA" in p.name for d in p.get_devices()]
if not gpus:
    print("SKIP: there is no NVIDIA GPU")
    sys.exit(77)
print(gpus[0].name, gpus[0].driver_version)
context = cl.Context(gpus[:1])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
text = """
__kernel void empty(__global const float* a, __global float* b) {}
__kernel void copy(__global const float* a, __global float* b) { b[get_global_id(0)] = a[get_global_id(0)]; }
__kernel void copy4(__global const float4* a, __global float4* b) { b[get_global_id(0)] = a[get_global_id(0)]; }
"""
program = cl.Program(context, text).build()
kernels = {name: cl.Kernel(program, name) for name in ("empty", "copy", "copy4")}
floats = 1 << 28
a, b = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * floats) for _ in range(2))


def microseconds(name, items, group):
    times = []
    for _ in range(9):
        event = kernels[name](queue, (items,), (group,), a, b)
        event.wait()
        times.append((event.profile.end - event.profile.start) / 1000)
    return sorted(times)[4]


empty = {group: microseconds("empty", 1_000_000 * group, group) for group in (1, 32, 64, 256)}
for group, us in empty.items():
    print(f"a million empty groups of {group}: {us:.0f} us")
rates = {}
for name, items, group in (("copy", floats, 128), ("copy", floats, 256), ("copy", floats, 1024),
                           ("copy4", floats // 4, 256)):
    rates[name, group] = 8 * floats / microseconds(name, items, group) / 1000
    print(f"{name} in groups of {group}: {rates[name, group]:.0f} GB/s")
seen = (max(empty.values()) < 1.2 * min(empty.values()) and rates["copy", 128] < 0.5 * rates["copy4", 256]
        and rates["copy", 256] < 0.8 * rates["copy4", 256])
print("as described" if seen else "CHANGED: groups no longer start at a rate that limits the copy")
sys.exit(0 if seen else 1)
PYTHON
