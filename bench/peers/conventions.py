#!/usr/bin/env python3
"""What the same words mean in other libraries: asked of the libraries themselves, for docs/moving.md.

    python3 -m venv venv && venv/bin/pip install $(bench/peers/conventions.py --requirements)
    venv/bin/python bench/peers/conventions.py [--out bench/results/conventions.json]

Run it by hand when a version changes, then `clcook report --markdown`. What is not installed here, or in
another version than the one that is pinned, keeps the rows of the file, with their version and date, and is
named. ImageMagick is Debian's; pyclesperanto and gputools take the first OpenCL device.
"""

import argparse
import datetime
import functools
import importlib.metadata
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = {}  # by name: how pip calls it ("" for others), its version, and what asks it


def package(name, pip, version):
    """Adds what asks a package: a function that yields questions and answers."""

    def add(asks):
        PACKAGES[name] = pip, version, asks
        return asks

    return add


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


@package("ImageMagick", "", "6.9.11-60")
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


PACKAGES["CuPy"] = PACKAGES["NPP"] = "", "", None

# ---- The file ----


def known_of(path):
    """What the file has, by package."""
    return {one["package"]: one for one in json.loads(path.read_text())["packages"]} if path.exists() else {}


def installed(pip, version):
    """Whether the pinned version is here; of Debian's program, what it says."""
    if not pip:
        program = shutil.which("convert-im6.q16")
        return bool(program) and version in subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stdout
    try:
        return importlib.metadata.version(pip.partition("[")[0]) == version
    except importlib.metadata.PackageNotFoundError:
        return False


def asked(name, old):
    """A package's rows, of now or as they were."""
    pip, version, asks = PACKAGES[name]
    why = f"{version} is not here" if asks else "needs a GPU"
    if asks and installed(pip, version):
        try:
            rows = [{"question": question, "answer": answer} for question, answer in asks()]
            return {"package": name, "version": f"{pip.partition('[')[0] or name} {version}", "seen": datetime.date.today().isoformat(), "rows": rows}
        except Exception as error:  # noqa: BLE001  # such as no OpenCL device; the others are asked all the same
            why = f"{type(error).__name__}: {error}"
    if old and old["seen"]:
        print(f"{name}: {why}; its rows are old, those of {old['version']}, seen on {old['seen']}")
        return old
    print(f"{name}: {why}; it has no rows")
    return {"package": name, "version": "", "seen": "", "rows": [{"question": "all", "answer": "not asked here" if asks else "needs a GPU, run by hand"}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results/conventions.json")
    parser.add_argument("--requirements", action="store_true", help="prints what pip installs")
    arguments = parser.parse_args()
    if arguments.requirements:
        print(" ".join(f"{pip}=={version}" for pip, version, asks in PACKAGES.values() if pip and asks))
        return
    old = known_of(arguments.out)
    # Nothing of the tree is asked, so the commit says only with which of its pages the answers belong.
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    out = {"format": 1, "kind": "conventions", "commit": commit.stdout.strip(),
           "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
           "command": "bench/peers/conventions.py", "packages": [asked(name, old.get(name)) for name in PACKAGES]}  # fmt: skip
    arguments.out.write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
