"""The filters give what scipy's of the same names and arguments give."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import typing

import clcook
import numpy as np
import pytest
from conftest import picture, pixel_type, some

ndimage = pytest.importorskip("scipy.ndimage")

MODES = typing.get_args(clcook._arrays.Mode)


def gaussian(a, sigma, **more):
    """scipy's in double precision, rounded as clcook rounds."""
    exact = ndimage.gaussian_filter(a.astype(np.float64), sigma, **more)
    return np.rint(exact) if a.dtype.kind == "u" else exact


def bound(queue, a, sigma, truncate=4):
    """What the plan that gaussian_blur takes promises, with the rounding of its type."""
    sigmas = [0, 0, *np.broadcast_to(sigma, a.ndim)][-3:]
    extents = [1, 1, *a.shape][-3:]
    plan = clcook.GaussianBlur(
        queue,
        width=extents[2],
        height=extents[1],
        depth=extents[0],
        sigma_x=sigmas[2],
        sigma_y=sigmas[1],
        sigma_z=sigmas[0],
        pixel=pixel_type(a.dtype),
        truncate=truncate,
    )
    largest = float(np.abs(a.astype(np.float64)).max())
    peak = 1.0 if a.dtype.kind == "f" else float(np.iinfo(a.dtype).max)
    # Without a peak the promise is for values up to 1.
    error = plan.max_error * (max(largest, 1) if a.dtype.kind == "f" else 1)
    rounding = 1.0 if a.dtype.kind == "u" else largest * float(np.finfo(a.dtype).eps)
    assert error < 0.01 * peak * max(largest, 1)
    return error + rounding


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape, dtype, sigma",
    [
        ((40,), "float32", 3),
        ((30, 50), "uint8", (2, 5)),
        ((20, 24), "float32", 12),  # the filter reaches across several times
        ((30, 50), "float16", 1.5),
        ((9, 21, 33), "uint16", (1, 2, 3)),
    ],
)
def test_gaussian_filter(queue, shape, dtype, sigma, mode):
    a = picture(shape, dtype)
    cval = 7 if "constant" in mode else 0
    got = clcook.gaussian_blur(a, sigma, mode=mode, cval=cval)
    expected = gaussian(a, sigma, mode=mode, cval=cval)
    assert np.abs(got - expected).max() <= bound(queue, a, sigma)


@pytest.mark.parametrize("truncate", [1, 3, 6])
def test_truncate(queue, truncate):
    a = picture((30, 50), "float32")
    got = clcook.gaussian_blur(a, 2, truncate=truncate)
    expected = gaussian(a, 2, truncate=truncate, mode="nearest")
    assert np.abs(got - expected).max() <= bound(queue, a, 2, truncate)


@pytest.mark.parametrize("mode", MODES[:5])
def test_rank_filters(mode):
    a = picture((20, 30), "uint16")
    more = {"mode": mode, "cval": 40000 if mode == "constant" else 0}
    np.testing.assert_array_equal(clcook.dilate(a, 2, **more), ndimage.grey_dilation(a, 5, **more))
    np.testing.assert_array_equal(clcook.dilate(a, **more), ndimage.grey_dilation(a, 3, **more))
    np.testing.assert_array_equal(clcook.erode(a, 5, **more), ndimage.grey_erosion(a, 11, **more))
    np.testing.assert_array_equal(clcook.median3x3(a, **more), ndimage.median_filter(a, 3, **more))
    np.testing.assert_array_equal(
        clcook.rank_filter(a, 2, 0, **more), ndimage.grey_erosion(a, 5, **more)
    )


@pytest.mark.parametrize("mode", MODES[:5])
def test_openings_and_closings(mode):
    a = picture((20, 30), "uint16")
    more = {"mode": mode, "cval": 40000 if mode == "constant" else 0}
    np.testing.assert_array_equal(clcook.opening(a, 2, **more), ndimage.grey_opening(a, 5, **more))
    np.testing.assert_array_equal(clcook.closing(a, **more), ndimage.grey_closing(a, 3, **more))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
def test_separable_filters(dtype, mode):
    a = picture((21, 30), dtype)
    more = {"mode": mode, "cval": 7 if "constant" in mode else 0}
    # The differences of scipy are taken in double precision, and cut off where the type ends.
    wide = a.astype(np.float64)
    unit = 0 if a.dtype.kind == "u" else float(np.finfo(a.dtype).eps)
    ends = np.iinfo(a.dtype) if a.dtype.kind == "u" else np.finfo(a.dtype)

    def close(got, expected):
        expected = np.clip(expected, float(ends.min), float(ends.max))
        assert got.dtype == a.dtype
        bound = 0.501 if unit == 0 else unit * max(np.abs(wide).max(), 7) * 8
        assert np.abs(got - expected).max() <= bound

    down, across = [1, 2, 1], [-1, 0, 1, 0.5, 0.25]
    expected = ndimage.correlate1d(ndimage.correlate1d(wide, down, 0, **more), across, 1, **more)
    if more["cval"] == 0:  # else scipy filters its own border, and not what the rows made of it
        close(clcook.separable_filter(a, down, across, **more), expected)
    only = ndimage.correlate1d(wide, across, 0, **more)
    close(clcook.separable_filter(a, across, [1], **more), only)
    close(clcook.box_filter(a, 5, **more), ndimage.uniform_filter(wide, 5, **more))
    close(clcook.box_filter(a, (1, 7), **more), ndimage.uniform_filter(wide, (1, 7), **more))


def test_a_whole_rank_is_the_number_that_scipy_means():
    a = picture((9, 11), "uint16")
    # In the networks of radius 1 to 3 each rank is a program of its own.
    networks = ((1, some((0, 1, 4, 7, 8, -1, -9), 3)), (2, some((1, -2), 2)))
    for radius, ranks in (*networks, (4, range(-81, 81)), (32, (1, 4223))):
        for rank in ranks:
            got = clcook.rank_filter(a, radius, rank)
            expected = ndimage.rank_filter(a, rank, 2 * radius + 1, mode="nearest")
            np.testing.assert_array_equal(got, expected, f"{radius}, {rank}")
    second = clcook.rank_filter(a, 4, 1)
    assert (second != clcook.rank_filter(a, 4, 1.0)).any()
    for one in (np.int64(1), np.uint8(1), np.array(1)):
        np.testing.assert_array_equal(clcook.rank_filter(a, 4, one), second)
    np.testing.assert_array_equal(clcook.rank_filter(a, 4, np.float32(1)), clcook.dilate(a, 4))
    da = pytest.importorskip("dask.array")
    lazy = importlib.import_module("clcook.dask")
    np.testing.assert_array_equal(lazy.rank_filter(da.from_array(a, 5), 4, 1).compute(), second)


# Those whose arguments clcook has: not order, axes, radius, or a mode for each dimension. test_gauss03
# asks for the sum of 10,000 pixels to eight digits; sums in float have seven.
OWN = (
    "test_gauss01",
    "test_gauss02",
    "test_gauss04",
    "test_gauss06",
    "test_gauss_memory_overlap",
    "test_gaussian_truncate",
)


def test_the_tests_of_scipy():
    own = pathlib.Path(importlib.util.find_spec("scipy.ndimage.tests.test_filters").origin)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "scipy_adapter", "-p", "no:cacheprovider"]
        + ["--rootdir", str(own.parents[2]), str(own), "-k", " or ".join(OWN)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)},
    )
    assert done.returncode == 0 and f"{len(OWN)} passed" in done.stdout, done.stdout + done.stderr
