#!/bin/bash
# To ask PoCL for a program's binary compiles every kernel of the program.
#
# Versions: pocl-binary-distribution 3.0 (PoCL 3.0-rc2), pyopencl 2026.1.4, numpy 2.4.6. It links kernels with the system's ld.
# Expected: CL_PROGRAM_BINARIES hands out what clBuildProgram() and the launches so far have made.
# Seen:     of a program with eight kernels, of which one has run, PoCL's cache has the machine code of one. Asked for the
#           binary it has nine: all eight kernels for work-groups of any size too.
# Matters:  a cache of binaries, such as PyOpenCL's, pays for kernels that nobody launches, in time and in bytes, and
#           PoCL's own has the program already. Turn yours off there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pocl-binary-distribution==3.0 pyopencl==2026.1.4 numpy==2.4.6
cd "$work"
mkdir cache
driver=$(echo "$work"/venv/lib/python3*/site-packages/pyopencl/.libs/libpocl-*.so)
[ -e "$driver" ] || driver=$(find "$work/venv" -name 'libpocl-*.so*' | head -n 1)
mkdir vendors && echo "$driver" >vendors/pocl.icd
POCL_CACHE_DIR=$work/cache OCL_ICD_VENDORS=$work/vendors PYOPENCL_NO_CACHE=1 "$work/venv/bin/python" - <<'PYTHON'
import pathlib
import sys

import numpy as np
import pyopencl as cl

device = [one for p in cl.get_platforms() for one in p.get_devices() if "3.0-rc2" in one.platform.version][0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
source = "\n".join(f"__kernel void k{n}(__global int* out) {{ out[get_global_id(0)] = {n}; }}" for n in range(8))
program = cl.Program(context, source).build(cache_dir=False)
out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)


def compiled():
    return sorted(str(one.parent.relative_to(one.parents[1].parent)) for one in pathlib.Path("cache").rglob("*.so"))


cl.Kernel(program, "k0")(queue, (16,), (16,), out)
queue.finish()
ran = compiled()
print(f"after the launch of k0: {ran}")
size = len(program.get_info(cl.program_info.BINARIES)[0])
asked = compiled()
print(f"after asking for the binary, of {size} bytes: {asked}")
seen = len(ran) == 1 and len(asked) == 9
print("as described" if seen else "CHANGED: asking for the binary compiles otherwise")
sys.exit(0 if seen else 1)
PYTHON
