"""The blur: the same taps and, but for torchvision, the same border, the nearest pixel inside.
torchvision mirrors, so it is compared where the border is out of reach. All are compared with the
exact filter in double. The library's rows are the default promise of 60 dB, and what is as exact as
the float filters of others."""
import os
import subprocess

import blur
import kernels
from blur import at_most, picture, weights
from peers import (NotInstalled, NotThisCase, clamped, in_floats, mode_of, opencv_version, package,
                   peer, pixel_of, torch_event, wall)


def cases(size):
    width, height = size.split(" x ")
    out = []
    for truncate, sigmas in ((2, (2, 8, 32)), (4, (32, 200))):
        for kind, name in (("f32", "float"), ("u8", "8-bit")):
            for sigma in sigmas:
                taps = 2 * int(truncate * sigma + 0.5) + 1
                out.append((f"{size} RGBA {name}, sigma {sigma}, {taps} taps",
                            f"width={width} height={height} sigma={sigma} truncate={truncate} "
                            f"pixel={kind} peak={1 if kind == 'f32' else 0} quality=60"))
    return out


CASES = {"cpu": [*cases("1920 x 1080"),
                 *((f"1920 x 1080 BGR 8-bit, sigma 1, {taps} taps",
                    f"width=1920 height=1080 sigma=1 truncate={(taps - 1) // 2} pixel=u8 channels=3 "
                    "peak=0 quality=60") for taps in (5, 9))],
         "gpu": cases("3840 x 2160")}
OURS = {"cpu": [("automatic", ""), ("cpu_fused", "quality=0")],
        "gpu": [("automatic", ""), ("tensor_split", "quality=0"), ("separable", "quality=0")]}
QUICK = "width=161 height=119 sigma=2 truncate=2 pixel=f32 peak=1 quality=60"


def draw(of):
    return (f"{of.picture()} sigma={of.real(0.5, 50)} truncate={of.pick(2, 3, 4)} "
            f"pixel={of.pick('u8', 'u16', 'f16', 'f32')} channels={of.pick(1, 2, 3, 4)} "
            f"{of.border()} quality=60")


def more(ours):
    return {"set_sigma_us": ours.ask("set_sigma 1920 1080")}


# No filter of these taps, but a fast blur that looks like it where the filter is not cut off early.
APPROXIMATE = ("OpenCV, shrink-blur-enlarge", "darktable, its OpenCL kernels, a recursion")


def approximate(case):
    clamped(case)
    if case.shape["truncate"] < 4:
        raise NotThisCase


def judge(case, folder, who):
    return blur.judge(case, folder, who == "torchvision", who in APPROXIMATE)


blur.declare()


@peer("OpenCV, shrink-blur-enlarge", "cpu", opencv_version)
def shrink(case):
    import cv2
    approximate(case)
    src, sigma, factor = picture(case), case.shape["sigma"], 1
    while sigma / (2 * factor) >= 4:
        factor *= 2
    height, width, _ = src.shape
    small = (max(1, width // factor), max(1, height // factor))
    rest = (sigma * sigma - (factor * factor - 1) / 12) ** 0.5 / factor

    def shrunk(src):
        less = cv2.resize(src, small, interpolation=cv2.INTER_AREA)
        less = cv2.GaussianBlur(less, (0, 0), rest, borderType=cv2.BORDER_REPLICATE)
        return cv2.resize(less, (width, height), interpolation=cv2.INTER_LINEAR)
    run = wall(lambda: in_floats(shrunk, src))
    return run, lambda: {"dst": run.out}


@peer("clcook, from numpy", "caller", package("clcook"))
def caller(case):
    import clcook
    src, shape = picture(case), case.shape
    run = wall(lambda: clcook.gaussian_blur(src, shape["sigma"], truncate=shape["truncate"],
                                            mode=mode_of(case), channel_axis=-1))
    return run, lambda: {"dst": run.out}


def darktable_folder():
    return os.environ.get("DARKTABLE_KERNELS", "/usr/share/darktable/kernels")


def darktable_version(threads):
    if not os.path.exists(os.path.join(darktable_folder(), "gaussian.cl")):
        raise NotInstalled("no kernels of darktable, see DARKTABLE_KERNELS")
    return os.environ.get("DARKTABLE_VERSION") or subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "darktable"], capture_output=True, text=True,
        check=True).stdout


@peer("darktable, its OpenCL kernels, a recursion", "gpu", darktable_version)
def darktable(case):
    # As dt_gaussian_blur_cl() launches them: a recursion down the columns, a transposition, twice.
    import numpy as np
    import pyopencl as cl
    approximate(case)
    blur.of_four(case, "float32")
    queue = kernels.queue_of(case.device)
    src = picture(case)
    height, width, _ = src.shape
    with open(os.path.join(darktable_folder(), "gaussian.cl"), encoding="utf-8") as file:
        program = cl.Program(queue.context, file.read()).build(["-I", darktable_folder()])
    column, transpose = program.gaussian_column_4c, program.gaussian_transpose_4c
    alpha = 1.695 / case.shape["sigma"]
    ema = np.exp(-alpha)
    k = (1 - ema) ** 2 / (1 + 2 * alpha * ema - ema ** 2)
    a = [k, k * (alpha - 1) * ema, k * (alpha + 1) * ema, -k * ema ** 2]
    b = [-2 * ema, ema ** 2]
    ends = [(a[0] + a[1]) / (1 + b[0] + b[1]), (a[2] + a[3]) / (1 + b[0] + b[1])]
    factors = [np.float32(one) for one in a + b + ends]
    limits = [np.full(4, np.inf, np.float32), np.full(4, -np.inf, np.float32)]
    source = kernels.uploaded(queue, src)
    one, other = (kernels.empty(queue, src.nbytes) for _ in range(2))
    side = 32 if queue.device.max_work_group_size >= 1024 else 16
    local = cl.LocalMemory(16 * side * (side + 1))
    u = np.uint32

    def pass_of(start, between, end, w, h):
        tiles = kernels.rounded_up(w, side), kernels.rounded_up(h, side)
        return [column(queue, (kernels.rounded_up(w, 64), 1), None, start, between, u(w), u(h),
                       *factors, *limits),
                transpose(queue, tiles, (side, side), between, end, u(w), u(h), u(side), local)]

    def call():
        return (pass_of(source, one, other, width, height) +
                pass_of(other, one, target, height, width))
    target = kernels.empty(queue, src.nbytes)
    return kernels.by_event(call), lambda: {"dst": kernels.downloaded(queue, target, src)}


def vision_version(threads):
    import torch
    import torchvision
    if not torch.cuda.is_available():
        raise NotInstalled("no CUDA device")
    return f"{torchvision.__version__}, PyTorch {torch.__version__}"


@peer("torchvision", "gpu", vision_version)
def vision(case):
    import torch
    from torchvision.transforms.v2 import functional
    at_most(case, 150)
    clamped(case)
    if pixel_of(case)[0] not in ("float32", "uint8"):
        raise NotThisCase
    size, sigma = len(weights(case)), case.shape["sigma"]
    src = torch.from_numpy(picture(case)).cuda().permute(2, 0, 1).contiguous()
    run = torch_event(lambda: functional.gaussian_blur(src, [size, size], [sigma, sigma]))
    return run, lambda: {"dst": run.out.permute(1, 2, 0).contiguous().cpu().numpy()}
