"""Medians and another rank of pictures; borders repeated."""
import kernels
from peers import (NotThisCase, NotTried, cpp_loop, cupy_event, cupy_version, gcc_version, npp,
                   npp_library, npp_version, opencv_version, package, peer, wall)


def cases(width, height, wanted):
    return [(f"{'median' if rank == 0.5 else f'rank {rank}'}, radius {radius}, "
             f"{width} x {height} {words}",
             f"width={width} height={height} radius={radius} rank={rank} pixel={pixel} border=clamp")
            for words, pixel, radius, rank in wanted]


CASES = {
    "cpu": cases(1920, 1080, [("8-bit", "r8", 1, 0.5), ("8-bit", "r8", 2, 0.5),
                              ("8-bit", "r8", 7, 0.5), ("8-bit RGBA", "rgba8", 3, 0.5),
                              ("16-bit", "r16", 2, 0.5), ("float", "r32f", 2, 0.5),
                              ("float", "r32f", 3, 0.25)]) +
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
TYPES = {"r8": ("uint8", 1), "rgba8": ("uint8", 4), "r16": ("uint16", 1), "r32f": ("float32", 1)}


def picture(case):
    """As (height, width), or (height, width, 4)."""
    s = case.shape
    kind, channels = TYPES[s["pixel"]]
    shape = (s["height"], s["width"]) + ((4,) if channels == 4 else ())
    return case.array("src", kind, *shape)


def side(case):
    return 2 * case.shape["radius"] + 1


def number(case):
    """Of the neighbours in order, from 0."""
    return int(case.shape["rank"] * (side(case) ** 2 - 1) + 0.5)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    s = case.shape
    kind, channels = TYPES[s["pixel"]]
    return cpp_loop(case, [("uint8", "uint16", "float32").index(kind), s["width"], s["height"],
                           s["radius"], number(case), channels])


def opencv_case(case):
    """OpenCV has the median alone, and beyond 5 x 5 that of bytes."""
    if case.shape["rank"] != 0.5 or (side(case) > 5 and picture(case).dtype != "uint8"):
        raise NotThisCase
    return picture(case)


@peer("OpenCV", "cpu", opencv_version)
def opencv(case):
    import cv2
    src = opencv_case(case)
    run = wall(lambda: cv2.medianBlur(src, side(case)))
    return run, lambda: {"dst": run.out}


@peer("OpenCV, its OpenCL kernels", "gpu", kernels.opencv_version)
def opencv_kernels(case):
    return kernels.opencv_median(case.device, opencv_case(case), side(case))


@peer("clEsperanto, its OpenCL kernels", "gpu", kernels.clesperanto_version)
def clesperanto(case):
    if case.shape["rank"] != 0.5:
        raise NotThisCase
    if side(case) > 7:
        raise NotTried("not tried with more than 7 x 7 pixels: an insertion sort for each pixel")
    return kernels.clesperanto_median(case.device, picture(case), side(case))


def ndimage_call(case, ndimage, src):
    """The calls of scipy.ndimage and of cupyx.scipy.ndimage, which are alike."""
    window = (side(case), side(case)) + (1,) * (src.ndim - 2)
    if case.shape["rank"] == 0.5:
        return lambda: ndimage.median_filter(src, size=window, mode="nearest")
    if case.shape["rank"] == 1:
        return lambda: ndimage.maximum_filter(src, size=window, mode="nearest")
    return lambda: ndimage.rank_filter(src, number(case), size=window, mode="nearest")


@peer("SciPy", "cpu", package("scipy"))
def scipy_ndimage(case):
    import scipy.ndimage
    if side(case) ** 2 * TYPES[case.shape["pixel"]][1] > 100:
        raise NotTried("not tried with more than 100 values for a pixel, it takes seconds")
    run = wall(ndimage_call(case, scipy.ndimage, picture(case)))
    return run, lambda: {"dst": run.out}


@peer("CuPy", "gpu", cupy_version)
def cupy_ndimage(case):
    import cupy
    import cupyx.scipy.ndimage
    run = cupy_event(ndimage_call(case, cupyx.scipy.ndimage, cupy.asarray(picture(case))))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


@peer("NPP", "gpu", npp_version, npp_library)
def npp_rank(case):
    """FilterMedianBorder, and FilterMaxBorder of bytes."""
    s = case.shape
    if s["rank"] == 0.5:
        which = {"r32f": 0, "r8": 4, "rgba8": 5, "r16": 6}[s["pixel"]]
    elif s["rank"] == 1 and s["pixel"] == "r8":
        which = 7
    else:
        raise NotThisCase
    kind, channels = TYPES[s["pixel"]]
    bytes_of = {"uint8": 1, "uint16": 2, "float32": 0}[kind]
    return npp(case, which, [s["width"], s["height"], side(case), channels, bytes_of])
