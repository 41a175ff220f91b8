"""Dilation, median and neighbourhood clamp of pictures, dilation of volumes; borders repeated."""
import kernels
from peers import (NotThisCase, cpp_loop, cupy_event, cupy_version, gcc_version, npp, npp_library,
                   npp_version, opencv_version, package, peer, torch_event, torch_version, wall)

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
             "filter=dilation width=128 height=128 depth=128 radius=1 pixel=r32f border=clamp")],
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


def sizes(case):
    s = case.shape
    return (s["filter"], s["width"], s["height"], s.get("depth", 1), s["radius"],
            4 if s["pixel"] == "rgba32f" else 1)


def picture(case, name="src"):
    """As (height, width, channels), or (depth, height, width)."""
    import numpy as np
    _, width, height, depth, _, channels = sizes(case)
    shape = (depth, height, width) if depth > 1 else (height, width, channels)
    return case.array(name, np.float32, *shape)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    name, *rest = sizes(case)
    return cpp_loop(case, [("dilation", "median", "clamp").index(name), *rest])


@peer("OpenCV", "cpu", opencv_version)
def opencv(case):
    import cv2
    import numpy as np
    name, _, _, depth, radius, _ = sizes(case)
    if depth > 1:
        raise NotThisCase
    src = picture(case)
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    if name == "median":
        run = wall(lambda: cv2.medianBlur(src, 3))
    elif name == "dilation":
        run = wall(lambda: cv2.dilate(src, kernel, borderType=cv2.BORDER_REPLICATE))
    else:
        history = picture(case, "history")

        def call():
            high = cv2.dilate(src, kernel, borderType=cv2.BORDER_REPLICATE)
            low = cv2.erode(src, kernel, borderType=cv2.BORDER_REPLICATE)
            return cv2.max(low, cv2.min(high, history))
        run = wall(call)
    return run, lambda: {"dst": np.ascontiguousarray(run.out)}


def ndimage_call(case, ndimage, minimum, maximum, src, history):
    """The calls of scipy.ndimage and of cupyx.scipy.ndimage, which are alike."""
    name, _, _, depth, radius, _ = sizes(case)
    side = 2 * radius + 1
    window = (side, side, side) if depth > 1 else (side, side, 1)
    if name == "median":
        return lambda: ndimage.median_filter(src, size=window, mode="nearest")
    if name == "dilation":
        return lambda: ndimage.maximum_filter(src, size=window, mode="nearest")
    return lambda: maximum(ndimage.minimum_filter(src, size=window, mode="nearest"),
                           minimum(ndimage.maximum_filter(src, size=window, mode="nearest"),
                                   history))


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
    if depth > 1 or name == "clamp":
        raise NotThisCase
    if name == "median":
        return kernels.opencv_median(case.device, picture(case), 2 * radius + 1)
    return kernels.opencv_dilation(case.device, picture(case), radius)


@peer("clEsperanto, its OpenCL kernels", "gpu", kernels.clesperanto_version)
def clesperanto(case):
    name, _, _, _, radius, _ = sizes(case)
    if name == "clamp":
        raise NotThisCase
    if name == "median":
        return kernels.clesperanto_median(case.device, picture(case), 2 * radius + 1)
    return kernels.clesperanto_separable(case.device, picture(case), "maximum", 2 * radius + 1,
                                         radius)


def npp_peer(case, which, wanted, channels):
    name, width, height, depth, radius, there = sizes(case)
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
    src = cupy.asarray(picture(case))
    history = cupy.asarray(picture(case, "history")) if sizes(case)[0] == "clamp" else None
    run = cupy_event(ndimage_call(case, cupyx.scipy.ndimage, cupy.minimum, cupy.maximum, src,
                                  history))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


@peer("PyTorch, max_pool", "gpu", torch_version)
def torch_pool(case):
    # Its border is -infinity: the same as repeated pixels, which are in the window anyway.
    import torch
    from torch.nn import functional
    name, _, _, depth, radius, _ = sizes(case)
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
    else:
        history = planes(picture(case, "history"))
        run = torch_event(lambda: torch.maximum(-largest(-src),
                                                torch.minimum(largest(src), history)))

    def result():
        out = run.out[0, 0] if depth > 1 else run.out[0].permute(1, 2, 0).contiguous()
        return {"dst": out.cpu().numpy()}
    return run, result
