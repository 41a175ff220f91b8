"""Dilation, erosion, median and neighbourhood clamp of pictures, extremes of volumes."""
import kernels
from peers import (NotThisCase, clamped, cpp_loop, cupy_event, cupy_version, gcc_version, in_floats,
                   mode_of, npp, npp_library, npp_version, opencv_border, opencv_version, package,
                   peer, pixel_of, torch_event, torch_version, umat, umat_version, wall)

CASES = {
    "cpu": [("dilation 1920 x 1080 RGBA float, radius 1",
             "filter=dilation width=1920 height=1080 radius=1 pixel=rgba32f border=clamp"),
            ("dilation 1920 x 1080 RGBA float, radius 4",
             "filter=dilation width=1920 height=1080 radius=4 pixel=rgba32f border=clamp"),
            ("median 3 x 3, 1920 x 1080 float",
             "filter=median width=1920 height=1080 radius=1 pixel=r32f border=clamp"),
            ("neighbourhood clamp 1920 x 1080 RGBA float",
             "filter=clamp width=1920 height=1080 radius=1 pixel=rgba32f border=clamp"),
            ("dilation 128 x 128 x 128 float, radius 1",
             "filter=dilation width=128 height=128 depth=128 radius=1 pixel=r32f border=clamp"),
            *((f"{name} 1920 x 1080 BGR 8-bit, radius {radius}",
               f"filter={name} width=1920 height=1080 radius={radius} pixel=rgb8 border=clamp")
              for name in ("dilation", "erosion") for radius in (1, 2, 4, 7))],
    "gpu": [("dilation 3840 x 2160 RGBA float, radius 1",
             "filter=dilation width=3840 height=2160 radius=1 pixel=rgba32f border=clamp"),
            ("dilation 3840 x 2160 RGBA float, radius 4",
             "filter=dilation width=3840 height=2160 radius=4 pixel=rgba32f border=clamp"),
            ("median 3 x 3, 3840 x 2160 float",
             "filter=median width=3840 height=2160 radius=1 pixel=r32f border=clamp"),
            ("neighbourhood clamp 3840 x 2160 RGBA float",
             "filter=clamp width=3840 height=2160 radius=1 pixel=rgba32f border=clamp"),
            ("dilation 256 x 256 x 256 float, radius 1",
             "filter=dilation width=256 height=256 depth=256 radius=1 pixel=r32f border=clamp")],
}
QUICK = "filter=dilation width=320 height=240 radius=1 pixel=rgba32f border=clamp"


def draw(of):
    name = of.pick("dilation", "erosion", "median", "clamp", "volume")
    if name == "volume":
        sides = " ".join(f"{side}={of.whole(16, 400)}" for side in ("width", "height", "depth"))
        return (f"filter={of.pick('dilation', 'erosion')} {sides} radius={of.whole(1, 8)} "
                f"pixel={of.pick('r8', 'r16', 'r16f', 'r32f')} {of.border()}")
    radius = 1 if name == "median" else of.whole(1, 32)
    return f"filter={name} {of.picture()} radius={radius} {of.pixel()} {of.border()}"


def sizes(case):
    s = case.shape
    return (s["filter"], s["width"], s["height"], s.get("depth", 1), s["radius"], pixel_of(case)[1])


def picture(case, name="src"):
    """As (height, width, channels), or (depth, height, width)."""
    _, width, height, depth, _, channels = sizes(case)
    shape = (depth, height, width) if depth > 1 else (height, width, channels)
    return case.array(name, pixel_of(case)[0], *shape)


def of_floats(case):
    """For those that take floats and repeat the border."""
    clamped(case)
    if pixel_of(case)[0] != "float32":
        raise NotThisCase


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    of_floats(case)
    name, *rest = sizes(case)
    return cpp_loop(case, [("dilation", "median", "clamp", "erosion").index(name), *rest])


@peer("OpenCV", "cpu", opencv_version)
def opencv(case):
    import cv2
    import numpy as np
    name, _, _, depth, radius, channels = sizes(case)
    if depth > 1 or (name == "median" and channels == 2):
        raise NotThisCase
    src, border = picture(case), opencv_border(case)
    mask = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    if name == "median":
        clamped(case)
        run = wall(lambda: in_floats(lambda one: cv2.medianBlur(one, 3), src))
    elif name in ("dilation", "erosion"):
        extreme = cv2.dilate if name == "dilation" else cv2.erode
        run = wall(lambda: in_floats(lambda one: extreme(one, mask, borderType=border), src))
    else:
        history = picture(case, "history")

        def call(one):
            high = cv2.dilate(one, mask, borderType=border)
            low = cv2.erode(one, mask, borderType=border)
            past = history if history.dtype == one.dtype else history.astype(one.dtype)
            return cv2.max(low, cv2.min(high, past.reshape(high.shape)))
        run = wall(lambda: in_floats(call, src))
    return run, lambda: {"dst": np.ascontiguousarray(run.out)}


@peer("OpenCV, T-API", "cpu", umat_version)
def opencv_umat(case):
    import cv2
    import numpy as np
    name, _, _, depth, radius, channels = sizes(case)
    if depth > 1 or name == "clamp" or (name == "median" and channels == 2):
        raise NotThisCase
    if name == "median":
        clamped(case)
        return umat(lambda src: cv2.medianBlur(src, 3), picture(case))
    border, mask = opencv_border(case), np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    extreme = cv2.dilate if name == "dilation" else cv2.erode
    return umat(lambda src: extreme(src, mask, borderType=border), picture(case))


@peer("clcook, from numpy", "caller", package("clcook"))
def caller(case):
    import clcook
    name, _, _, depth, radius, _ = sizes(case)
    if depth > 1 or name == "clamp" or radius > 32:
        raise NotThisCase
    src, rank = picture(case), {"dilation": 1.0, "erosion": 0.0, "median": 0.5}[name]
    run = wall(lambda: clcook.rank_filter(src, radius, rank, mode=mode_of(case), channel_axis=-1))
    return run, lambda: {"dst": run.out}


def ndimage_call(case, ndimage, minimum, maximum, src, history):
    """The calls of scipy.ndimage and of cupyx.scipy.ndimage, which are alike."""
    name, _, _, depth, radius, _ = sizes(case)
    side = 2 * radius + 1
    window = (side, side, side) if depth > 1 else (side, side, 1)
    how = {"size": window, "mode": mode_of(case)}
    known = {"median": "median_filter", "dilation": "maximum_filter", "erosion": "minimum_filter"}
    if name in known:
        call = getattr(ndimage, known[name])
        return lambda: in_floats(lambda one: call(one, **how), src)
    return lambda: in_floats(
        lambda one: maximum(ndimage.minimum_filter(one, **how),
                            minimum(ndimage.maximum_filter(one, **how),
                                    history.astype(one.dtype, copy=False))), src)


@peer("SciPy", "cpu", package("scipy"))
def scipy_ndimage(case):
    import numpy as np
    import scipy.ndimage
    history = picture(case, "history") if sizes(case)[0] == "clamp" else None
    run = wall(ndimage_call(case, scipy.ndimage, np.minimum, np.maximum, picture(case), history))
    return run, lambda: {"dst": run.out}


@peer("OpenCV, its OpenCL kernels", "gpu", kernels.opencv_version)
def opencv_kernels(case):
    name, _, _, depth, radius, _ = sizes(case)
    clamped(case)
    if depth > 1 or name not in ("dilation", "median") or pixel_of(case)[0] == "float16":
        raise NotThisCase
    if name == "median":
        return kernels.opencv_median(case.device, picture(case), 2 * radius + 1)
    return kernels.opencv_dilation(case.device, picture(case), radius)


@peer("clEsperanto, its OpenCL kernels", "gpu", kernels.clesperanto_version)
def clesperanto(case):
    name, _, _, _, radius, _ = sizes(case)
    of_floats(case)
    if name not in ("dilation", "median"):
        raise NotThisCase
    if name == "median":
        return kernels.clesperanto_median(case.device, picture(case), 2 * radius + 1)
    return kernels.clesperanto_separable(case.device, picture(case), "maximum", 2 * radius + 1,
                                         radius)


def npp_peer(case, which, wanted, channels):
    name, width, height, depth, radius, there = sizes(case)
    of_floats(case)
    if name != wanted or depth > 1 or there != channels:
        raise NotThisCase
    return npp(case, which, [width, height, 2 * radius + 1, channels, 0])


@peer("NPP, FilterMedianBorder", "gpu", npp_version, npp_library)
def npp_median(case):
    return npp_peer(case, 0, "median", 1)


@peer("NPP, FilterMaxBorder", "gpu", npp_version, npp_library)
def npp_max(case):
    return npp_peer(case, 1, "dilation", 4)


@peer("NPP, DilateBorder", "gpu", npp_version, npp_library)
def npp_dilate(case):
    return npp_peer(case, 2, "dilation", 4)


@peer("CuPy", "gpu", cupy_version)
def cupy_ndimage(case):
    import cupy
    import cupyx.scipy.ndimage
    names = ("src", "history") if sizes(case)[0] == "clamp" else ("src",)
    there = [picture(case, name) for name in names]

    def call_on(src, history=None):
        return ndimage_call(case, cupyx.scipy.ndimage, cupy.minimum, cupy.maximum, src, history)
    run = cupy_event(call_on(*map(cupy.asarray, there)),
                     lambda: cupy.asnumpy(call_on(*map(cupy.asarray, there))()))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


@peer("PyTorch, max_pool", "gpu", torch_version)
def torch_pool(case):
    # Its border is -infinity: the same as repeated pixels, which are in the window anyway.
    import torch
    from torch.nn import functional
    name, _, _, depth, radius, _ = sizes(case)
    of_floats(case)
    if name == "median":
        raise NotThisCase

    def planes(array):
        tensor = torch.from_numpy(array).cuda()
        return tensor[None, None] if depth > 1 else tensor.permute(2, 0, 1)[None].contiguous()
    src, pool = planes(picture(case)), functional.max_pool3d if depth > 1 else functional.max_pool2d

    def largest(of):
        return pool(of, 2 * radius + 1, stride=1, padding=radius)
    if name == "dilation":
        run = torch_event(lambda: largest(src))
    elif name == "erosion":
        run = torch_event(lambda: -largest(-src))
    else:
        history = planes(picture(case, "history"))
        run = torch_event(lambda: torch.maximum(-largest(-src),
                                                torch.minimum(largest(src), history)))

    def result():
        out = run.out[0, 0] if depth > 1 else run.out[0].permute(1, 2, 0).contiguous()
        return {"dst": out.cpu().numpy()}
    return run, result
