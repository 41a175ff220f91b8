#!/bin/bash
# An image of a format that NVIDIA's OpenCL does not list is made all the same, and fails when it is written.
#
# Versions: NVIDIA OpenCL 3.0, driver 580.159.04, H200; pyopencl 2026.1.4, numpy 2.4.6. Needs an NVIDIA GPU.
# Expected: CL_RGB with CL_UNSIGNED_INT8 is not among clGetSupportedImageFormats, so clCreateImage answers
#           CL_IMAGE_FORMAT_NOT_SUPPORTED, which is how most programs find out whether they have to pad to four channels.
# Seen:     clCreateImage succeeds. The first write of pixels fails with CL_OUT_OF_RESOURCES, the answer that usually
#           means a kernel that went wrong.
# Matters:  'try it, else convert' takes the wrong way, and the error comes later and elsewhere. Ask for the list.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyopencl==2026.1.4 numpy==2.4.6
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
queue = cl.CommandQueue(context)
wanted = cl.ImageFormat(cl.channel_order.RGB, cl.channel_type.UNSIGNED_INT8)
listed = wanted in cl.get_supported_image_formats(context, cl.mem_flags.READ_WRITE, cl.mem_object_type.IMAGE2D)
print(f"RGB of UNSIGNED_INT8 is {'listed' if listed else 'not listed'}")
made, written = "succeeds", "succeeds"
try:
    image = cl.create_image(context, cl.mem_flags.READ_WRITE, wanted, shape=(64, 64))
except cl.Error as error:
    made = cl.status_code.to_string(error.code)
if made == "succeeds":
    try:
        pixels = np.zeros((64, 64, 3), np.uint8)
        cl.enqueue_copy(queue, image, pixels, origin=(0, 0), region=(64, 64))
        queue.finish()
    except cl.Error as error:
        written = cl.status_code.to_string(error.code)
print(f"making it: {made}; writing it: {written}")
seen = not listed and made == "succeeds" and written == "OUT_OF_RESOURCES"
print("as described" if seen else "CHANGED: the format is listed, or is refused when the image is made")
sys.exit(0 if seen else 1)
PYTHON
