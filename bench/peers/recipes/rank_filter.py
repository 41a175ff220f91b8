"""Medians and other ranks of pictures."""
import kernels
from peers import (NotThisCase, NotTried, clamped, cpp_loop, cupy_event, cupy_version,
                   gcc_version, in_floats, mode_of, npp, npp_library, npp_version, opencv_border,
                   opencv_version, package, peer, pixel_of, umat, umat_version, wall)


def cases(width, height, wanted):
    return [(f"{'median' if rank == 0.5 else f'rank {rank}'}, radius {radius}, "
             f"{width} x {height} {words}",
             f"width={width} height={height} radius={radius} rank={rank} pixel={pixel} border=clamp")
            for words, pixel, radius, rank in wanted]


CASES = {
    "cpu": cases(1920, 1080, [("8-bit", "r8", 1, 0.5), ("8-bit", "r8", 2, 0.5),
                              ("8-bit", "r8", 7, 0.5), ("8-bit RGBA", "rgba8", 3, 0.5),
                              ("16-bit", "r16", 2, 0.5), ("float", "r32f", 2, 0.5),
                              ("float", "r32f", 3, 0.25), ("8-bit BGR", "rgb8", 2, 0.5),
                              ("8-bit BGR", "rgb8", 7, 0.5)]) +
           cases(1920, 1080, [("8-bit", "r8", 31, 0.5)]),
    "gpu": cases(3840, 2160, [("8-bit", "r8", 1, 0.5), ("8-bit", "r8", 2, 0.5),
                              ("8-bit", "r8", 3, 0.5), ("8-bit", "r8", 7, 0.5),
                              ("8-bit", "r8", 7, 1.0), ("8-bit RGBA", "rgba8", 3, 0.5),
                              ("16-bit", "r16", 2, 0.5), ("16-bit", "r16", 7, 0.5),
                              ("float", "r32f", 2, 0.5), ("float", "r32f", 3, 0.25),
                              ("float", "r32f", 7, 0.5)]) +
           cases(1920, 1080, [("8-bit", "r8", 15, 0.5)]),
}
QUICK = "width=320 height=240 radius=2 rank=0.5 pixel=r8 border=clamp"


def draw(of):
    rank = of.pick(0.5, 0.5, of.pick(0, 1), round(of.random(), 2))
    return f"{of.picture()} radius={of.whole(1, 32)} rank={rank} {of.pixel()} {of.border()}"


def picture(case):
    """As (height, width), or (height, width, channels)."""
    kind, channels = pixel_of(case)
    shape = (case.shape["height"], case.shape["width"]) + ((channels,) if channels > 1 else ())
    return case.array("src", kind, *shape)


def is_extreme(case):
    return case.shape["rank"] in (0, 1)


def side(case):
    return 2 * case.shape["radius"] + 1


def number(case):
    """Of the neighbours in order, from 0."""
    return int(case.shape["rank"] * (side(case) ** 2 - 1) + 0.5)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    s = case.shape
    kind, channels = pixel_of(case)
    clamped(case)
    if kind == "float16":
        raise NotThisCase
    if kind != "uint8" and s["width"] * s["height"] * channels * side(case) ** 2 > 5e8:
        raise NotTried("not tried with more than 5e8 values to sort, it takes seconds")
    return cpp_loop(case, [("uint8", "uint16", "float32").index(kind), s["width"], s["height"],
                           s["radius"], number(case), channels])


def opencv_case(case):
    """OpenCV has extremes and the median alone, this beyond 5 x 5 of bytes."""
    if is_extreme(case):
        return picture(case)
    clamped(case)
    kind, channels = pixel_of(case)
    if case.shape["rank"] != 0.5 or channels == 2 or (side(case) > 5 and kind != "uint8"):
        raise NotThisCase
    return picture(case)


def opencv_call(case):
    import cv2
    import numpy as np
    if not is_extreme(case):
        return lambda one: cv2.medianBlur(one, side(case))
    extreme, border = (cv2.erode, cv2.dilate)[int(case.shape["rank"])], opencv_border(case)
    mask = np.ones((side(case), side(case)), np.uint8)
    return lambda one: extreme(one, mask, borderType=border)


@peer("OpenCV", "cpu", opencv_version)
def opencv(case):
    src, call = opencv_case(case), opencv_call(case)
    run = wall(lambda: in_floats(call, src))
    return run, lambda: {"dst": run.out}


@peer("OpenCV, T-API", "cpu", umat_version)
def opencv_umat(case):
    return umat(opencv_call(case), opencv_case(case))


@peer("OpenCV, its OpenCL kernels", "gpu", kernels.opencv_version)
def opencv_kernels(case):
    src = opencv_case(case)
    clamped(case)
    if src.dtype == "float16" or case.shape["rank"] == 0:
        raise NotThisCase
    if is_extreme(case):
        return kernels.opencv_dilation(case.device, src, case.shape["radius"])
    return kernels.opencv_median(case.device, src, side(case))


@peer("scikit-image", "cpu", package("skimage"))
def skimage_rank(case):
    """Its ranks of bytes; what lies outside is put around the picture first."""
    import numpy as np
    from skimage.filters.rank import percentile
    if pixel_of(case)[0] != "uint8" or is_extreme(case):
        raise NotThisCase
    src, radius = np.atleast_3d(picture(case)), case.shape["radius"]
    mask = np.ones((side(case), side(case)), np.uint8)
    share = (number(case) + 0.5) / side(case) ** 2
    mode = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}

    def call():
        wide = np.pad(src, ((radius, radius), (radius, radius), (0, 0)), mode[mode_of(case)])
        planes = [percentile(np.ascontiguousarray(wide[..., i]), mask, p0=share)
                  for i in range(src.shape[2])]
        return np.stack([one[radius:-radius, radius:-radius] for one in planes], axis=-1)
    run = wall(call)
    return run, lambda: {"dst": run.out}


@peer("clcook, from numpy", "caller", package("clcook"))
def caller(case):
    import clcook
    src, shape = picture(case), case.shape
    run = wall(lambda: clcook.rank_filter(src, shape["radius"], float(shape["rank"]),
                                          mode=mode_of(case),
                                          channel_axis=-1 if src.ndim == 3 else None))
    return run, lambda: {"dst": run.out}


@peer("clEsperanto, its OpenCL kernels", "gpu", kernels.clesperanto_version)
def clesperanto(case):
    clamped(case)
    if case.shape["rank"] != 0.5 or pixel_of(case)[0] == "float16":
        raise NotThisCase
    if side(case) > 7:
        raise NotTried("not tried with more than 7 x 7 pixels: an insertion sort for each pixel")
    return kernels.clesperanto_median(case.device, picture(case), side(case))


def ndimage_call(case, ndimage, src):
    """The calls of scipy.ndimage and of cupyx.scipy.ndimage, which are alike."""
    how = {"size": (side(case), side(case)) + (1,) * (src.ndim - 2), "mode": mode_of(case)}
    known = {0: "minimum_filter", 0.5: "median_filter", 1: "maximum_filter"}
    if case.shape["rank"] in known:
        call = getattr(ndimage, known[case.shape["rank"]])
        return lambda: in_floats(lambda one: call(one, **how), src)
    return lambda: in_floats(lambda one: ndimage.rank_filter(one, number(case), **how), src)


@peer("SciPy", "cpu", package("scipy"))
def scipy_ndimage(case):
    import scipy.ndimage
    values = side(case) ** 2 * pixel_of(case)[1]
    if values > 100 and values * case.shape["width"] * case.shape["height"] > 1e8 and \
            not is_extreme(case):
        raise NotTried("not tried with more than 100 values for a pixel, it takes seconds")
    run = wall(ndimage_call(case, scipy.ndimage, picture(case)))
    return run, lambda: {"dst": run.out}


@peer("CuPy", "gpu", cupy_version)
def cupy_ndimage(case):
    import cupy
    import cupyx.scipy.ndimage as ndimage
    src = picture(case)
    run = cupy_event(
        ndimage_call(case, ndimage, cupy.asarray(src)),
        lambda: cupy.asnumpy(ndimage_call(case, ndimage, cupy.asarray(src))()))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


@peer("NPP", "gpu", npp_version, npp_library)
def npp_rank(case):
    """FilterMedianBorder, and FilterMaxBorder of bytes."""
    s = case.shape
    clamped(case)
    if s["rank"] == 0.5:
        which = {"r32f": 0, "r8": 4, "rgba8": 5, "r16": 6}.get(s["pixel"])
    else:
        which = 7 if s["rank"] == 1 and s["pixel"] == "r8" else None
    if which is None:
        raise NotThisCase
    kind, channels = pixel_of(case)
    bytes_of = {"uint8": 1, "uint16": 2, "float32": 0}[kind]
    # We found no stated limit of the median. Beyond 5 x 5 pixels, NPP 13.2 on an H100 took 1.63e9
    # bytes of neighbours and made an illegal access with 1.87e9, which the process does not survive.
    neighbours = s["width"] * s["height"] * channels * (bytes_of or 4) * side(case) ** 2
    if s["rank"] == 0.5 and side(case) > 5 and neighbours > 1.63e9:
        raise NotTried("not tried with more than 1.63e9 bytes of neighbours, where it fails")
    return npp(case, which, [s["width"], s["height"], side(case), channels, bytes_of])
