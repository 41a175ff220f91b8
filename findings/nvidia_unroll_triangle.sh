#!/bin/bash
# A median of 31 values costs 7.6 times one of 27, as NVIDIA's compiler does not unroll what `#pragma unroll` asks for.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.4.6. Needs an NVIDIA GPU.
# Expected: a median of N values by forgetful selection has loops of constant length alone, each under
#           `#pragma unroll`, so that the array of values becomes registers for every N.
# Seen:     up to 27 values nothing is in local memory, and four million medians take 25 to 107 us. From 31 values on
#           loops are left as loops, the array is in local memory, with 43 to 256 loads in the PTX, and they take
#           805 to 2,630 us.
# Matters:  medians and ranks of volumes are written so. The build log says nothing unless it is asked with
#           -cl-nv-verbose.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyopencl==2026.1.4 numpy==2.4.6
PYOPENCL_NO_CACHE=1 "$work/venv/bin/python" -W ignore - <<'PYTHON'
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
source = """
#define ORDER(a, b)               \
  {                               \
    const float low = fmin(a, b); \
    b = fmax(a, b);               \
    a = low;                      \
  }
#define LOWER (N / 2)
#define HELD (N - LOWER + 1)
__kernel void middle(__global const float* src, __global float* dst) {
  const int at = get_global_id(0);
  float v[HELD];
#pragma unroll
  for (int j = 0; j < HELD; ++j) v[j] = src[at + 64 * j];
#pragma unroll
  for (int s = 0; s < LOWER; ++s) {
    const int k = HELD - s;  // values that are left: the least and the greatest of them go
#pragma unroll
    for (int i = 0; i < k / 2; ++i) ORDER(v[i], v[k - 1 - i])
#pragma unroll
    for (int i = 1; i < (k + 1) / 2; ++i) ORDER(v[0], v[i])
#pragma unroll
    for (int i = k / 2; i < k - 1; ++i) ORDER(v[i], v[k - 1])
    if (s < LOWER - 1) v[0] = src[at + 64 * (HELD + s)];
  }
  dst[at] = v[1];
}
"""
count = 1 << 22
values = np.random.default_rng(1).random(count + 64 * 64, np.float32)
src = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
dst = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, 4 * count)
locals_of, times_of = {}, {}
for n in (9, 15, 21, 27, 31, 35, 41, 49):
    program = cl.Program(context, source).build(f"-DN={n}")
    ptx = program.get_info(cl.program_info.BINARIES)[0]
    kernel = program.middle
    times = []
    for _ in range(9):
        event = kernel(queue, (count,), (256,), src, dst)
        event.wait()
        times.append(event.profile.end - event.profile.start)
    out = np.empty(256, np.float32)
    cl.enqueue_copy(queue, out, dst)
    window = values[np.arange(256)[:, None] + 64 * np.arange(n)]
    assert np.array_equal(out, np.median(window, axis=1)), n
    locals_of[n], times_of[n] = ptx.count(b"ld.local"), sorted(times)[4] / 1000
    print(f"{n:3} values: {locals_of[n]:4} loads of local memory, {times_of[n]:7.1f} us")
seen = all((locals_of[n] > 0) == (n > 27) for n in locals_of) and times_of[31] > 4 * times_of[27]
print("as described" if seen else "CHANGED: other sizes are unrolled")
sys.exit(0 if seen else 1)
PYTHON
