#!/usr/bin/env python3
"""What the same words mean in other libraries: asked of the libraries themselves, for docs/moving.md.

    python3 -m venv venv && venv/bin/pip install $(bench/peers/conventions.py --requirements)
    venv/bin/python bench/peers/conventions.py [--out bench/results/conventions.json] [--only NAME...]

Run it by hand when a version changes, then `clcook report --markdown`. What is not installed here, or in
another version than the one that is pinned, keeps the rows of the file, with their version and date, and is
named. ImageMagick is Debian's; pyclesperanto and gputools take the first OpenCL device; CuPy, NPP and NVIDIA
need a GPU. Files and machine code come from the build in $CLCOOK_BIN_DIR, by default build/bin.
"""

import argparse
import ctypes
import datetime
import functools
import importlib.metadata
import io
import itertools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

import opencl
import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("CLCOOK_BIN_DIR", ROOT / "build/bin"))  # of a build of clcook
PACKAGES = {}  # by name: how pip calls it ("" for others), its version, what asks it, what says which version is here, and columns


def package(name, pip, version, here=None, columns=()):
    """Adds what asks a package: a function that yields questions and answers, a list of them where there are columns."""

    def add(asks):
        PACKAGES[name] = pip, version, asks, here or functools.partial(of_pip, pip), columns
        return asks

    return add


def of_pip(name):
    """"name version" of what is installed; nothing otherwise."""
    name = name.partition("[")[0]
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def of_debian():
    program = shutil.which("convert-im6.q16")
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stdout if program else ""
    return " ".join(said.split()[1:3])


# ---- Questions ----

# What lies outside, as clcook calls it, and as numpy.pad does.
BORDERS = {"clamp": "edge", "mirror": "symmetric", "reflect_101": "reflect", "wrap": "wrap", "constant": "constant"}


def most_of(kind):
    import numpy as np

    return np.iinfo(kind).max if np.issubdtype(kind, np.integer) else 1


def picture(kind, height=28, width=31):
    import numpy as np

    values = np.random.default_rng(1).random((height, width))
    return (values * most_of(kind)).astype(kind)


def line(apply, kind, size=65):
    """A row across a bright column."""
    import numpy as np

    black = np.zeros((size, size), kind)
    black[:, size // 2] = most_of(kind)
    return np.asarray(apply(black))[size // 2]


def taps(apply, *kinds):
    """How many pixels a bright line becomes wide, by type."""
    import numpy as np

    return ", ".join(f"{kind} {np.count_nonzero(line(apply, kind))}" for kind in kinds)


def gaussian(sigma, radius):
    import numpy as np

    weights = np.exp(-np.arange(-radius, radius + 1.0) ** 2 / (2 * sigma**2))
    return weights / weights.sum()


def centre(apply, sigma):
    """The largest weight against that of a sampled Gaussian of as many taps."""
    import numpy as np

    row = line(apply, "float32").astype(float)
    usual = gaussian(sigma, np.count_nonzero(row) // 2)
    difference = 100 * (row.max() / row.sum() / usual.max() - 1)
    return "that of exp(-k² / (2 sigma²))" if abs(difference) < 0.05 else f"{difference:+.1f} % of that of exp(-k² / (2 sigma²))"


def same(one, other):
    import numpy as np

    tolerance = 1e-5 if np.issubdtype(one.dtype, np.floating) else 0
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=tolerance, equal_nan=True)


def border(apply, kind="float32"):
    """Which of our borders gives what a filter does at the rim."""
    import numpy as np

    given, pad = picture(kind), 20
    got = np.asarray(apply(given))
    for ours, mode in BORDERS.items():
        around = np.ascontiguousarray(np.pad(given, pad, mode))
        if same(got, np.asarray(apply(around))[pad:-pad, pad:-pad]):
            return ours
    return "none of clcook's"


def left_out(apply, kind="float32", radius=2):
    """Which of a median's values stands where only a part of the window is inside."""
    import numpy as np

    given = picture(kind)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(given.astype(float), radius, constant_values=np.nan), [2 * radius + 1] * 2)
    inside = np.sort(windows.reshape(*given.shape, -1), axis=-1)  # NaNs last
    count = np.sum(~np.isnan(inside), axis=-1)
    for which, at in (("upper", count // 2), ("lower", (count - 1) // 2)):
        if same(np.asarray(apply(given)).astype(float), np.take_along_axis(inside, at[..., None], -1)[..., 0]):
            return f"none: what lies outside is left out, and of two in the middle the {which} counts"
    return "none of clcook's"


def border_of_median(apply, kind="float32"):
    """The same as border() of a window of 5."""
    found = border(apply, kind)
    return found if found in BORDERS else left_out(apply, kind)


def ours(given, sigma, truncate, mode):
    """clcook's definition of a blur: weights normalised, rounded once."""
    import numpy as np

    radius = int(truncate * sigma + 0.5)
    weights = gaussian(sigma, radius)
    wide = np.pad(given.astype(float), radius, BORDERS[mode])
    rows = sum(weight * wide[:, at : at + given.shape[1]] for at, weight in enumerate(weights))
    sums = sum(weight * rows[at : at + given.shape[0]] for at, weight in enumerate(weights))
    return np.floor(sums + 0.5) if np.issubdtype(given.dtype, np.integer) else sums


def distance(apply, sigma, truncate, mode, *kinds):
    """The largest difference from clcook's definition: levels of integers, or of a peak of 1."""
    import numpy as np

    found = []
    for kind in kinds:
        given = picture(kind)
        most = np.abs(np.asarray(apply(given)).astype(float) - ours(given, sigma, truncate, mode)).max()
        found.append(f"{kind} {most:.0f}" if np.issubdtype(np.dtype(kind), np.integer) else f"{kind} {'below 1e-6' if most < 1e-6 else f'{most:.1g}'}")
    return ", ".join(found)


def flat(apply, kind="uint8"):
    import numpy as np

    return str(np.asarray(apply(np.full((41, 41), most_of(kind), kind)))[20, 20])


def with_nan(apply):
    """The median of 1 to 8 and a NaN, for each place that the NaN has among the nine."""
    import numpy as np

    found = set()
    for place in range(9):
        window = np.full((9, 9), 4.5, "float32")
        window[3:6, 3:6] = np.insert(np.arange(1.0, 9.0, dtype="float32"), place, np.nan).reshape(3, 3)
        found.add(f"{float(np.asarray(apply(window))[4, 4]):g}")
    return " or ".join(sorted(found))


def ramp(apply, size=24):
    """What a filter gives in the middle of a picture whose columns hold 0, 10, 20, ...: columns from the middle."""
    import numpy as np

    across = np.tile(np.arange(0, 10 * size, 10, dtype="uint8"), (size, 1))
    return f"{(float(np.asarray(apply(across))[size // 2, size // 2]) - 10 * (size // 2)) / 10:+g}"


def window(least, most):
    """The columns that a minimum and a maximum look at."""
    return f"columns {ramp(least)} to {ramp(most)}"


TYPES = ("uint8", "uint16", "int16", "float16", "float32", "float64")


def refused(apply, kinds=TYPES):
    """The types that a filter refuses, and of which it makes another."""
    refusals, others = [], []
    for kind in kinds:
        try:
            result = apply(picture(kind)).dtype
            others += [f"{kind} becomes {result}"] if result != kind else []
        except Exception:  # noqa: BLE001  # each library has its own
            refusals.append(kind)
    return "; ".join(filter(None, [", ".join(refusals) or "none", ", ".join(others)]))


# ---- Packages ----


@package("SciPy", "scipy", "1.17.1")
def of_scipy():
    import numpy as np
    from scipy import ndimage

    blur = functools.partial(ndimage.gaussian_filter, sigma=2)
    yield "taps of sigma 2", taps(blur, "uint16", "float32")
    yield "weight in the middle", centre(blur, 2)
    yield "default border, in clcook's words", border(blur)
    modes = ("reflect", "mirror", "nearest", "wrap", "constant", "grid-mirror", "grid-wrap", "grid-constant")
    yield "borders, in clcook's words", ", ".join(f"{mode}: {border(functools.partial(blur, mode=mode))}" for mode in modes)
    yield "largest difference from clcook's definition, truncate 4, mirror", distance(blur, 2, 4, "mirror", "uint8", "uint16", "float32")
    below = float(np.nextafter(1.1, 0))
    yield "flat 255 in uint8, sigma 1.1 and the double below it", ", ".join(flat(functools.partial(ndimage.gaussian_filter, sigma=one)) for one in (1.1, below))
    yield "types that a blur refuses", refused(blur)
    median = functools.partial(ndimage.median_filter, size=3)
    yield "types that a median refuses", refused(median)
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(median)
    yield "window of size 4", window(*(functools.partial(one, size=4) for one in (ndimage.minimum_filter, ndimage.maximum_filter)))
    middles = (functools.partial(ndimage.median_filter, size=4), functools.partial(ndimage.percentile_filter, percentile=50, size=4))
    yield "median of size 4, percentile 50, of the columns -2 to +1", ", ".join(map(ramp, middles))


@package("scikit-image", "scikit-image", "0.26.0")
def of_skimage():
    import numpy as np
    from skimage import filters

    blur = functools.partial(filters.gaussian, sigma=2, preserve_range=True)
    yield "taps of sigma 2", taps(blur, "float32")
    yield "default border, in clcook's words", border(blur)
    yield "largest value of a uint8 picture of 255", flat(functools.partial(filters.gaussian, sigma=2))
    yield "largest difference from clcook's definition, truncate 4, clamp", distance(blur, 2, 4, "clamp", "float32")
    yield "types that a blur refuses", refused(functools.partial(filters.gaussian, sigma=2))
    square = np.ones((3, 3), bool)
    yield "default border of a median", border(functools.partial(filters.median, footprint=np.ones((5, 5), bool)))
    median = functools.partial(filters.median, footprint=square)
    yield "types that a median refuses", refused(median)
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(median)
    ranks = functools.partial(filters.rank.median, footprint=square)
    yield "border of rank.median", border_of_median(functools.partial(filters.rank.median, footprint=np.ones((5, 5), bool)), "uint8")
    yield "types that rank.median refuses", refused(ranks)


@package("OpenCV", "opencv-python-headless", "5.0.0.93")
def of_opencv():
    import cv2
    import numpy as np

    def blur(given, size=0, **more):
        return cv2.GaussianBlur(given, (size, size), 2, **more)

    yield "taps of sigma 2", taps(blur, "uint8", "uint16", "float32")
    for kind in ("uint8", "uint16", "float32"):
        given = picture(kind, 90, 90)
        equal = [size for size in range(3, 41, 2) if np.array_equal(blur(given, size), blur(given))]
        yield f"sizes that give the picture of size 0, {kind}", f"{equal[0]} to {equal[-1]}" if len(equal) > 1 else str(equal[0])
    yield "weight in the middle, float32", centre(blur, 2)
    yield "default border, in clcook's words", border(blur)
    modes = {"REPLICATE": cv2.BORDER_REPLICATE, "REFLECT": cv2.BORDER_REFLECT, "REFLECT_101": cv2.BORDER_REFLECT_101, "CONSTANT": cv2.BORDER_CONSTANT}
    yield "borders, in clcook's words", ", ".join(f"{name}: {border(functools.partial(blur, borderType=mode))}" for name, mode in modes.items())
    yield "types that BORDER_WRAP refuses", refused(functools.partial(blur, borderType=cv2.BORDER_WRAP))
    yield "largest difference from clcook's definition, truncate 3, reflect_101", distance(blur, 2, 3, "reflect_101", "uint8")
    yield "largest difference from clcook's definition, truncate 4, reflect_101", distance(blur, 2, 4, "reflect_101", "uint16", "float32")
    yield "flat 255 in uint8, sigma 1.1", flat(lambda given: cv2.GaussianBlur(given, (0, 0), 1.1))
    yield "types that a blur refuses", refused(blur)
    for size in (3, 5, 7):
        yield f"types that a median of {size} refuses", refused(functools.partial(cv2.medianBlur, ksize=size))
    yield "border of a median", border(functools.partial(cv2.medianBlur, ksize=5), "uint8")
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(functools.partial(cv2.medianBlur, ksize=3))
    yield "median of size 4", refused(functools.partial(cv2.medianBlur, ksize=4), ("uint8",)).replace("uint8", "refused")
    square = np.ones((4, 4), np.uint8)
    yield "window of a square of 4", window(lambda given: cv2.erode(given, square), lambda given: cv2.dilate(given, square))


@package("SimpleITK", "SimpleITK", "2.5.7")
def of_simpleitk():
    import SimpleITK as itk

    def on(apply):
        return lambda given: itk.GetArrayFromImage(apply(itk.GetImageFromArray(given)))

    blur = on(lambda image: itk.DiscreteGaussian(image, 4.0))
    fine = on(lambda image: itk.DiscreteGaussian(image, 4.0, 32, 1e-4))
    yield "what stands for sigma 2 in DiscreteGaussian", "the variance 4"
    yield "taps of variance 4; with maximumError 0.0001", f"{taps(blur, 'uint16', 'float32')}; {taps(fine, 'float32')}"
    yield "weight in the middle, by maximumError", f"0.01: {centre(blur, 2)}; 0.0001: {centre(fine, 2)}"
    recursive = on(lambda image: itk.SmoothingRecursiveGaussian(image, 2.0))
    yield "weight in the middle of SmoothingRecursiveGaussian(2)", centre(recursive, 2)
    yield "border of DiscreteGaussian, of SmoothingRecursiveGaussian", f"{border(blur)}; {border(recursive)}"
    yield "largest difference from clcook's definition, truncate 4, clamp, with maximumError 0.0001", distance(fine, 2, 4, "clamp", "uint8", "float32")
    yield "the same of SmoothingRecursiveGaussian", distance(recursive, 2, 4, "clamp", "float32")
    yield "flat 255 in uint8", flat(blur)
    yield "types that DiscreteGaussian refuses", refused(blur)
    yield "types that SmoothingRecursiveGaussian refuses", refused(recursive)
    median, rank = on(lambda image: itk.Median(image, [2, 2])), on(lambda image: itk.Rank(image, 0.5, [2, 2]))
    yield "border of Median, of Rank", f"{border_of_median(median)}; {border_of_median(rank)}"
    yield "window of radius 2", window(on(lambda image: itk.Rank(image, 0.0, [2, 2])), on(lambda image: itk.Rank(image, 1.0, [2, 2])))
    yield "types that Median refuses, that Rank refuses", f"{refused(median)}; {refused(rank)}"
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(on(lambda image: itk.Median(image, [1, 1])))


@package("libvips", "pyvips[binary]", "3.2.0")
def of_libvips():
    import numpy as np
    import pyvips

    def on(apply):
        return lambda given: np.asarray(apply(pyvips.Image.new_from_array(given)))

    yield "version of libvips in the wheel", ".".join(str(pyvips.version(part)) for part in range(3))
    blur = on(lambda image: image.gaussblur(2))
    fine = on(lambda image: image.gaussblur(2, min_ampl=0.001, precision="float"))
    yield "taps of sigma 2; with min_ampl 0.001", f"{taps(blur, 'uint16', 'float32')}; {taps(fine, 'float32')}"
    yield "weight in the middle", f"{centre(blur, 2)}; precision float: {centre(on(lambda image: image.gaussblur(2, precision='float')), 2)}"
    yield "border", border(blur, "uint8")
    yield "largest difference from clcook's definition, truncate 1.5, clamp", distance(blur, 2, 1.5, "clamp", "uint8", "float32")
    yield "the same with precision float", distance(on(lambda image: image.gaussblur(2, precision="float")), 2, 1.5, "clamp", "uint8", "float32")
    yield "the same with min_ampl 0.001 too, truncate 4", distance(fine, 2, 4, "clamp", "uint8", "float32")
    yield "flat 255 in uint8", flat(blur)
    yield "types that a blur refuses", refused(blur)
    median = on(lambda image: image.median(5))
    yield "border of a median", border(median, "uint8")
    yield "types that a median refuses", refused(median)
    yield "window of size 4", window(on(lambda image: image.rank(4, 4, 0)), on(lambda image: image.rank(4, 4, 15)))
    yield "rank 7 of 16, rank 8, of the columns -2 to +1", ", ".join(ramp(on(lambda image, rank=rank: image.rank(4, 4, rank))) for rank in (7, 8))


@package("dask-image", "dask-image", "2026.5.0")
def of_dask_image():
    import dask.array
    import numpy as np
    from dask_image import ndfilters
    from scipy import ndimage

    def on(apply, chunks=40):
        return lambda given: np.asarray(apply(dask.array.from_array(given, chunks=chunks)))

    blur = on(lambda given: ndfilters.gaussian_filter(given, 2))
    yield "taps of sigma 2", taps(blur, "uint16", "float32")
    yield "default border, in clcook's words", border(blur)
    given = picture("float32", 64, 64)
    for mode in ("reflect", "mirror", "nearest", "wrap", "constant"):
        whole = ndimage.gaussian_filter(given, 2, mode=mode)
        parts = on(lambda one, mode=mode: ndfilters.gaussian_filter(one, 2, mode=mode), 16)(given)
        off = np.abs(whole - parts)
        rim = bool(off[8:-8, 8:-8].max() < 1e-6)
        yield f"mode {mode} in blocks of 16 against SciPy's", "equal" if off.max() < 1e-6 else f"off by up to {off.max():.2g}{' near the rim alone' * rim}"
    median = on(lambda given: ndfilters.median_filter(given, size=5))
    yield "default border of a median", border(median)
    yield "types that a blur refuses", refused(blur)
    yield "types that a median refuses", refused(median)


@package("pyclesperanto", "pyclesperanto", "0.25.1")
def of_clesperanto():
    import numpy as np
    import pyclesperanto as cle

    def on(apply):
        return lambda given: np.asarray(cle.pull(apply(cle.push(given))))

    blur = on(lambda given: cle.gaussian_blur(given, sigma_x=2, sigma_y=2))
    yield "taps of sigma 2", taps(blur, "float32")
    yield "weight in the middle", centre(blur, 2)
    yield "border", border(blur)
    yield "largest difference from clcook's definition, truncate 4, clamp", distance(blur, 2, 4, "clamp", "float32")
    yield "types that a blur refuses", refused(blur)
    median = on(lambda given: cle.median_box(given, radius_x=1, radius_y=1, radius_z=0))
    yield "border of median_box", border(on(lambda given: cle.median_box(given, radius_x=2, radius_y=2, radius_z=0)))
    yield "types that median_box refuses", refused(median)
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(median)
    wide = {"radius_x": 2, "radius_y": 0, "radius_z": 0}
    yield "window of radius 2", window(on(lambda given: cle.minimum_box(given, **wide)), on(lambda given: cle.maximum_box(given, **wide)))


@package("gputools", "gputools", "0.3.1")
def of_gputools():
    import gputools
    import numpy as np

    def blur(given):
        return np.asarray(gputools.gaussian_filter(given, sigma=2))

    yield "taps of sigma 2", taps(blur, "float32")
    yield "weight in the middle", centre(blur, 2)
    yield "border", border(blur)
    yield "largest difference from clcook's definition, truncate 4, constant", distance(blur, 2, 4, "constant", "uint8", "uint16", "float32")
    yield "types that a blur refuses", refused(blur)


@package("silx", "silx", "3.1.3")
def of_silx():
    from silx.math.medianfilter import medfilt2d

    median = functools.partial(medfilt2d, kernel_size=5)
    yield "default border, in clcook's words", border(median)
    modes = ("nearest", "reflect", "mirror", "shrink", "constant")
    yield "borders, in clcook's words", ", ".join(f"{mode}: {border_of_median(functools.partial(median, mode=mode))}" for mode in modes)
    yield "types that a median refuses", refused(median)
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(functools.partial(medfilt2d, kernel_size=3))


@package("ImageMagick", "", "6.9.11-60", of_debian)
def of_imagemagick():
    import numpy as np

    def on(*options):
        """Through PGM, whose 16 bits are those that the program counts in."""

        def apply(given):
            if given.dtype not in (np.uint8, np.uint16):
                raise TypeError
            size, swap = given.shape, given.astype(given.dtype.newbyteorder(">"))
            head = f"P5 {size[1]} {size[0]} {most_of(given.dtype)}\n".encode()
            raw = ["-depth", str(8 * given.itemsize), "-endian", "MSB", "gray:-"]
            done = subprocess.run(["convert-im6.q16", "pgm:-", *options, *raw], input=head + swap.tobytes(), capture_output=True, check=True)
            return np.frombuffer(done.stdout, swap.dtype).reshape(size).astype(given.dtype)

        return apply

    blur = on("-blur", "0x2")
    yield "taps of -blur 0x2", taps(blur, "uint8", "uint16")
    square = on("-gaussian-blur", "0x2")
    yield "taps of -gaussian-blur 0x2", taps(square, "uint8", "uint16")
    yield "border", border(blur, "uint16")
    yield "largest difference from clcook's definition, truncate 4, clamp, -blur, -gaussian-blur", "; ".join(distance(one, 2, 4, "clamp", "uint8", "uint16") for one in (blur, square))
    yield "flat 255 in uint8", flat(blur)
    yield "border of -statistic Median 5x5", border(on("-statistic", "Median", "5x5"), "uint16")
    yield "window of -statistic with 4x4", window(on("-statistic", "Minimum", "4x4"), on("-statistic", "Maximum", "4x4"))
    yield "Median 4x4 of the columns -2 to +1", ramp(on("-statistic", "Median", "4x4"))


@package("CuPy", "", "14.2.0", lambda: f"CuPy {peers.cupy_version(1)}")
def of_cupy():
    import cupy
    import numpy as np
    from cupyx.scipy import ndimage

    def on(apply):
        return lambda given: cupy.asnumpy(apply(cupy.asarray(given)))

    def blur(sigma=2, **more):
        return on(lambda given: ndimage.gaussian_filter(given, sigma, **more))

    yield "taps of sigma 2", taps(blur(), "uint16", "float32")
    yield "weight in the middle", centre(blur(), 2)
    yield "default border, in clcook's words", border(blur())
    modes = ("reflect", "mirror", "nearest", "wrap", "constant")
    yield "borders, in clcook's words", ", ".join(f"{mode}: {border(blur(mode=mode))}" for mode in modes)
    yield "largest difference from clcook's definition, truncate 4, mirror", distance(blur(), 2, 4, "mirror", "uint8", "uint16", "float32")
    below = float(np.nextafter(1.1, 0))
    yield "flat 255 in uint8, sigma 1.1 and the double below it", ", ".join(flat(blur(one)) for one in (1.1, below))
    yield "types that a blur refuses", refused(blur())
    yield "default border of a median", border(on(lambda given: ndimage.median_filter(given, size=5)))
    median = on(lambda given: ndimage.median_filter(given, size=3))
    yield "types that a median refuses", refused(median)
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(median)
    yield "window of size 4", window(on(lambda given: ndimage.minimum_filter(given, size=4)), on(lambda given: ndimage.maximum_filter(given, size=4)))
    middles = (on(lambda given: ndimage.median_filter(given, size=4)), on(lambda given: ndimage.percentile_filter(given, 50, size=4)))
    yield "median of size 4, percentile 50, of the columns -2 to +1", ", ".join(map(ramp, middles))


class Npp:
    """Calls of NPP on a picture of one channel, through libnppif."""

    BORDERS = {"constant": 1, "replicate": 2, "wrap": 3, "mirror": 4}
    NAMES = {"uint8": "8u", "uint16": "16u", "int16": "16s", "float16": "16f", "float32": "32f", "float64": "64f"}

    class Context(ctypes.Structure):
        _fields_ = [("stream", ctypes.c_void_p), *((name, ctypes.c_int) for name in ("device", "units", "threads", "group")), ("shared", ctypes.c_size_t),
                    *((name, ctypes.c_int) for name in ("major", "minor", "flags", "reserved"))]  # fmt: skip

    class Pair(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]

    def __init__(self):
        import cupy

        named = peers.npp_libraries()[1]
        ctypes.CDLL(named["libnppc"], ctypes.RTLD_GLOBAL)
        self.library, self.cupy, about = ctypes.CDLL(named["libnppif"]), cupy, cupy.cuda.runtime.getDeviceProperties(0)
        keys = ("multiProcessorCount", "maxThreadsPerMultiProcessor", "maxThreadsPerBlock", "sharedMemPerBlock", "major", "minor")
        self.context = self.Context(None, 0, *(about[key] for key in keys), 0, 0)

    def call(self, name, kind, *arguments):
        code = getattr(self.library, name.replace("*", self.NAMES[kind] + "_C1R") + "_Ctx")(*arguments, self.context)
        self.cupy.cuda.Device().synchronize()
        if code < 0:
            raise ValueError(f"NPP status {code}")

    def on(self, name, border, *mask, scratch=""):
        """A filter of that border; scratch is the function that gives the size of its memory."""

        def apply(given):
            src = self.cupy.asarray(given)
            dst, kind, size = self.cupy.zeros_like(src), str(given.dtype), self.Pair(given.shape[1], given.shape[0])
            more = list(mask)
            if scratch:
                count = ctypes.c_uint()
                self.call(scratch, kind, size, mask[0], ctypes.byref(count), self.BORDERS[border])
                memory = self.cupy.empty(count.value + 1, "uint8")
                more.append(ctypes.c_void_p(memory.data.ptr))
            step = ctypes.c_int(src.strides[0])
            self.call(name, kind, ctypes.c_void_p(src.data.ptr), step, size, self.Pair(0, 0), ctypes.c_void_p(dst.data.ptr), step, size, *more, self.BORDERS[border])
            return self.cupy.asnumpy(dst)

        return apply

    def borders(self, make, kind):
        """What each border does, in clcook's words."""

        def of(name):
            try:
                return border(make(name), kind)
            except ValueError as error:
                return f"refused, {error}"

        return ", ".join(f"{name}: {of(name)}" for name in self.BORDERS)


def npp_here():
    peers.cupy_version(1)
    return f"NPP {peers.npp_version(1)}"


@package("NPP", "", "13.", npp_here)
def of_npp():
    npp = Npp()

    def blur(side, border="replicate"):
        masks = {3: 200, 5: 201, 7: 400, 9: 500, 11: 600, 13: 700, 15: 800}
        return npp.on("nppiFilterGaussBorder_*", border, masks[side])

    def sized(side, name, border="replicate"):
        return npp.on(name, border, npp.Pair(side, side), npp.Pair(side // 2, side // 2))

    def median(side, border="replicate"):
        return npp.on("nppiFilterMedianBorder_*", border, npp.Pair(side, side), npp.Pair(side // 2, side // 2), scratch="nppiFilterMedianBorderGetBufferSize_*")

    def weights(side):
        row = line(blur(side), "float32").astype(float)
        middle = len(row) // 2
        return " ".join(f"{one:.3g}" for one in row[middle : middle + side // 2 + 1] / row.sum())

    yield "what stands for sigma in FilterGaussBorder", "the side of the mask"
    yield "weights from the middle on, by side", "; ".join(f"{side}: {weights(side)}" for side in (3, 5, 7, 9))
    yield "borders of FilterGaussBorder, in clcook's words", npp.borders(lambda name: blur(5, name), "float32")
    yield "flat 255 in uint8", flat(blur(5))
    yield "types that FilterGaussBorder refuses", refused(blur(5))
    yield "borders of FilterMedianBorder, in clcook's words", npp.borders(lambda name: median(5, name), "uint8")
    yield "types that FilterMedianBorder refuses", refused(median(5))
    yield "median of 1 to 8 and a NaN, by the NaN's place", with_nan(median(3))
    yield "median of size 4, of the columns -2 to +1", ramp(median(4))
    yield "window of size 4", window(sized(4, "nppiFilterMinBorder_*"), sized(4, "nppiFilterMaxBorder_*"))


def of_opencl(name, version, *parts, columns=()):
    """An implementation whose driver's version starts like this."""

    @package(name, "", version, lambda: opencl.version_of(version)[0], columns)
    def asks():
        device = opencl.Device(opencl.version_of(version)[1])
        for part in parts:
            yield from part(device)


of_opencl("PoCL", "3.1", opencl.of_implementation)
of_opencl("NVIDIA", "580.", opencl.of_implementation, opencl.of_gpu)
of_opencl("NVIDIA-copies", "580.", opencl.copies, columns=tuple(opencl.SIZES))
of_opencl("NVIDIA-images", "580.", opencl.images, columns=opencl.ACCESSES)
of_opencl("NVIDIA-groups", "580.", opencl.resident)
of_opencl("NVIDIA-several", "580.", opencl.of_several)

# ---- Files ----

WRITER = """#include <clcook/io/exr.hpp>
    #include <clcook/io/pfm.hpp>
    #include <cstdlib>
    #include <fstream>
    #include <iostream>
    #include <iterator>
    int main(int, char** words) {  // kind, file, width, height; texels are read
      const std::string kind = words[1], texels(std::istreambuf_iterator<char>(std::cin), {});
      const int width = std::atoi(words[3]), height = std::atoi(words[4]);
      std::ofstream out(words[2], std::ios::binary);
      using namespace clcook::io;
      if (kind == "pfm") write_pfm(out, reinterpret_cast<const float*>(texels.data()), width, height, 4);
      else write_exr(out, texels.data(), width, height, kind == "half" ? ExrTexel::rgba16f : ExrTexel::rgba32f);
    }"""
KINDS = {"PFM": "pfm", "EXR of halves": "half", "EXR of floats": "float"}
SPECIAL = {"-2.5": -2.5, "1000": 1000.0, "Inf": float("inf"), "NaN": float("nan"), "-0": -0.0}


@functools.cache
def our_files():
    """For each of KINDS a picture that clcook wrote, what it holds, and the same with SPECIAL in red and in green."""
    import numpy as np

    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "writer.cpp").write_text(WRITER)
    subprocess.run(["c++", "-std=c++17", "-I", ROOT / "lib", "-I", BIN.parent / "generated", folder / "writer.cpp", "-o", folder / "writer"], check=True)
    plain = np.random.default_rng(1).random((5, 7, 4)).astype("float16").astype("float32")
    special = plain.copy()
    special[0, : len(SPECIAL), :2] = np.array(list(SPECIAL.values()))[:, None]
    found = {}
    for title, kind in KINDS.items():
        suffix, texels = (".pfm" if kind == "pfm" else ".exr"), "float16" if kind == "half" else "float32"
        for name, given in (("plain", plain), ("special", special)):
            path = folder / f"{name}_{kind}{suffix}"
            subprocess.run([folder / "writer", kind, path, "7", "5"], input=given.astype(texels).tobytes(), check=True)
            found.setdefault(title, []).append((str(path), given))
    return found


def loaded(load, plain, special):
    """What a reader makes of our pictures."""
    import numpy as np

    def of(path):
        return np.asarray(load(path))

    try:
        got, given = of(plain[0]), plain[1][..., :3]
    except Exception:  # noqa: BLE001  # each library has its own
        return "refused"
    if got.dtype == object:  # None
        return "refused"
    for apart, upside_down, backwards in itertools.product((0, 1e-4), (False, True), (False, True)):

        def turned(values, upside_down=upside_down, backwards=backwards):
            values = values[::-1] if upside_down else values
            return values[..., 2::-1] if backwards else values[..., :3]

        if np.allclose(turned(got), given, rtol=0, atol=apart):
            others = turned(of(special[0]))[0, :, 0]
            wrong = [f"{name} becomes {other:g}" for (name, value), other in zip(SPECIAL.items(), others) if f"{value:g}" != f"{other:g}"]
            words = [*["upside down"] * upside_down, *["as B, G, R"] * backwards, *["to 16 bits"] * bool(apart), *wrong]
            return "right" if not words else ("right, " * (not upside_down)) + ", ".join(words)
    return f"{got.dtype} from {got.min():g} to {got.max():g}"


def reader(name, pip, version, here=None):
    """Adds a program that reads files: a function that gives its loader, or several by name."""

    def add(loaders):
        @package(f"readers/{name}", pip, version, here, tuple(KINDS))
        def asks():
            loads = loaders()
            for how, load in (loads if isinstance(loads, dict) else {"": loads}).items():
                yield how, [loaded(load, *files) for files in our_files().values()]

        return loaders

    return add


@reader("OpenEXR", "OpenEXR", "3.5.3")
def reads_openexr():
    import OpenEXR

    return lambda path: OpenEXR.File(path).channels()["RGBA"].pixels


@reader("minexr", "minexr", "1.0.2")
def reads_minexr():
    import minexr

    def load(path):
        with open(path, "rb") as file:
            return minexr.load(file).select(["R", "G", "B", "A"])

    return load


@reader("OpenImageIO", "OpenImageIO", "3.2.2.0")
def reads_openimageio():
    import OpenImageIO

    return lambda path: OpenImageIO.ImageBuf(path).get_pixels(OpenImageIO.FLOAT)


@reader("OpenCV", "opencv-python-headless", "5.0.0.93")
def reads_opencv():
    import cv2

    return {"IMREAD_UNCHANGED": lambda path: cv2.imread(path, cv2.IMREAD_UNCHANGED), "": cv2.imread}


@reader("ImageIO", "imageio", "2.38.1")
def reads_imageio():
    import imageio.v3

    return {"with OpenCV installed": imageio.v3.imread, "plugin pillow": functools.partial(imageio.v3.imread, plugin="pillow")}


@reader("Pillow", "pillow", "13.0.0")
def reads_pillow():
    from PIL import Image

    return Image.open


@reader("libvips", "pyvips[binary]", "3.2.0")
def reads_libvips():
    import pyvips

    return lambda path: pyvips.Image.new_from_file(path)


@reader("ImageMagick", "", "6.9.11-60", of_debian)
def reads_imagemagick():
    import numpy as np

    def load(path):
        raw = ["-define", "quantum:format=floating-point", "-depth", "32", "-endian", "LSB", "rgb:-"]
        done = subprocess.run(["convert-im6.q16", path, *raw], capture_output=True, check=True)
        return np.frombuffer(done.stdout, "<f4").reshape(5, 7, 3)

    return load


def bc6h(block, signed):
    """A texture of one block of BC6H as DDS."""
    sizes = struct.pack("<7I", 124, 0x81007, 4, 4, 16, 0, 0)
    form = struct.pack("<2I4s5I", 32, 4, b"DX10", 0, 0, 0, 0, 0)
    return b"DDS " + sizes + bytes(44) + form + struct.pack("<5I", 0x1000, 0, 0, 0, 0) + struct.pack("<5I", 95 + signed, 3, 0, 1, 0) + block


def one_color(value):
    """A block of mode 13 whose texels are that value of 16 bits in red, green and blue, before the last step."""
    high = int(f"{value >> 10 & 63:06b}"[::-1], 2)  # bit 15 first
    bits = 0x0F + sum((value & 1023) << at for at in (5, 15, 25)) + sum(high << at for at in (39, 49, 59))
    return bits.to_bytes(16, "little")


def decoder(name, pip, version):
    """Adds a decoder: a function that gives what decodes the DDS of a block."""

    def add(decoders):
        @package(f"decoders/{name}", pip, version, None, ("type", "reserved modes", "signed, -1.5", "signed, -1 before the last step"))
        def asks():
            import numpy as np

            decode = decoders()

            def texel(block, signed=False):
                found = np.asarray(decode(bc6h(block, signed)))[0, 0]
                return " ".join(f"{one:g}" for one in found)

            reserved = {texel((int.from_bytes(bytes(range(1, 17)), "little") & ~31 | mode).to_bytes(16, "little"), signed) for mode in (19, 23, 27, 31) for signed in (False, True)}
            negative = texel(one_color(-32768 + 0x4000 & 0xFFFF), True)
            yield "", [str(np.asarray(decode(bc6h(one_color(0), False))).dtype), "; ".join(sorted(reserved)), negative, texel(one_color(0xFFFF), True)]

        return decoders

    return add


@decoder("OpenImageIO", "OpenImageIO", "3.2.2.0")
def decodes_openimageio():
    import OpenImageIO

    def decode(dds):
        with tempfile.NamedTemporaryFile(suffix=".dds") as file:
            file.write(dds)
            file.flush()
            return OpenImageIO.ImageBuf(file.name).get_pixels(OpenImageIO.HALF)

    return decode


@decoder("Pillow", "pillow", "13.0.0")
def decodes_pillow():
    from PIL import Image

    return lambda dds: Image.open(io.BytesIO(dds))


@decoder("texture2ddecoder", "texture2ddecoder", "1.0.6")
def decodes_texture2ddecoder():
    import numpy as np
    import texture2ddecoder

    return lambda dds: np.frombuffer(texture2ddecoder.decode_bc6(dds[-16:], 4, 4), np.uint8).reshape(4, 4, 4)


# ---- Machine code ----

TARGETS = ("gfx805", "gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1201", "sm_90")
BUILTINS = ("x * y + z", "fma(x, y, z)", "mad(x, y, z)", "x / y", "native_divide(x, y)", "sqrt(x)", "native_sqrt(x)", "half_sqrt(x)", "rsqrt(x)", "native_rsqrt(x)", "1 / sqrt(x)",
            "length((float2)(x, y))", "fast_length((float2)(x, y))", "hypot(x, y)", "sqrt(x * x + y * y)", "exp(x)", "native_exp(x)", "log(x)", "native_log(x)", "sin(x)", "native_sin(x)",
            "pow(x, y)", "powr(x, y)", "native_powr(x, y)", "fmin(x, y)", "x < y ? x : y", "clamp(x, y, z)", "round(x)", "rint(x)", "convert_uchar_sat(x)",
            "convert_uchar_sat_rte(x)", "as_float(j * k)", "as_float(mul24(j, k))", "as_float(j / k)", "as_float(j / 7)", "as_float(popcount(j))", "as_float(add_sat(j, k))")  # fmt: skip


def clcook(*arguments):
    return subprocess.run([BIN / "clcook", *arguments], capture_output=True, text=True, check=False).stdout


def clang_here():
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as file:
        file.write("__kernel void k() {}")
        file.flush()
        return f"{json.loads(clcook('isa', file.name, '--target', TARGETS[0], '--json', '-'))['tools']['clang']}, with its libclc"


@package("clang", "", "version 19.1.7", clang_here, TARGETS)
def of_clang():
    """Instructions of a kernel with a built-in function over those of one without, all of three loads and a store."""
    source = """#define KERNEL(NAME, RESULT) __kernel void NAME(__global const volatile float* a, __global const volatile float* b, \\
            __global const volatile float* c, __global float* out) { \\
          const size_t i = get_global_id(0); const float x = a[i], y = b[i], z = c[i]; const int j = as_int(x), k = as_int(y); \\
          out[i] = RESULT; }
        KERNEL(without, x)\n"""
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as file:
        file.write(source + "".join(f"KERNEL(with{at}, {what})\n" for at, what in enumerate(BUILTINS)))
        file.flush()
        rows = json.loads(clcook("isa", file.name, "--target", ",".join(TARGETS), "--json", "-"))["kernels"]
    found = {(row["kernel"], row["target"]): row for row in rows}

    def more(at, target):
        row = found[f"with{at}", target]
        if row["problem"] or row["counts"]["calls"]:
            return "no code" if row["problem"] else "call"
        return str(row["counts"]["instructions"] - found["without", target]["counts"]["instructions"])

    for at, what in enumerate(BUILTINS):
        yield what.removeprefix("as_float(").removesuffix(")" * what.startswith("as_float(")), [more(at, target) for target in TARGETS]


# ---- The file ----


def known_of(path):
    """What the file has, by package."""
    return {one["package"]: one for one in json.loads(path.read_text())["packages"]} if path.exists() else {}


def asked(name, old, is_wanted):
    """A package's rows, of now or as they were."""
    _, version, asks, here, columns = PACKAGES[name]
    why = f"{version} is not here" if is_wanted else "not among --only"
    try:
        found = here() if is_wanted else ""
        if version in found:
            rows = [{"question": question, "answer": answer} for question, answer in asks()]
            about = {"package": name, "version": found, "seen": datetime.date.today().isoformat()}
            return {**about, **({"columns": columns} if columns else {}), "rows": rows}
    except Exception as error:  # noqa: BLE001  # such as no OpenCL device; the others are asked all the same
        why = f"{type(error).__name__}: {error}"
    if old and old["seen"]:
        print(f"{name}: {why}; its rows are old, those of {old['version']}, seen on {old['seen']}")
        return old
    print(f"{name}: {why}; it has no rows")
    return {"package": name, "version": "", "seen": "", "rows": [{"question": "all", "answer": "not asked here"}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results/conventions.json")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=PACKAGES, help="asks these alone; the others keep the rows of the file")
    parser.add_argument("--requirements", action="store_true", help="prints what pip installs")
    arguments = parser.parse_args()
    if arguments.requirements:
        print(" ".join(f"{pip}=={version}" for pip, version, *_ in PACKAGES.values() if pip))
        return
    old = known_of(arguments.out)
    # Nothing of the tree is asked, so the commit says only with which of its pages the answers belong.
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    out = {"format": 1, "kind": "conventions", "commit": commit.stdout.strip(),
           "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
           "command": "bench/peers/conventions.py", "packages": [asked(name, old.get(name), not arguments.only or name in arguments.only) for name in PACKAGES]}  # fmt: skip
    arguments.out.write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
