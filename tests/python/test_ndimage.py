"""clcook.ndimage gives what scipy.ndimage gives, bit for bit where neither has a choice."""

import concurrent.futures
import importlib.util
import inspect
import os
import pathlib
import pickle
import subprocess
import sys

import clcook
import numpy as np
import pytest
from clcook import ndimage as ours
from conftest import one_tree_in, python, some

ndimage = pytest.importorskip("scipy.ndimage")

MODES = list(clcook._arrays._BORDERS)
SUMS = ("correlate", "correlate1d", "gaussian_filter", "uniform_filter")
RANKS = ("median_filter", "percentile_filter", "rank_filter")

# What a GPU gets: elements one by one, in local memory that soon ends; one without doubles; and a CPU whose
# compiler breaks long vectors.
DEVICES = {
    "here": None,
    "gpu": (1, True, 30000, 64, "a device"),
    "no doubles": (1, False, 30000, 64, "a device"),
    "short vectors": (4, True, 30000, 64, "a device"),
}


@pytest.fixture(autouse=True)
def no_kept_plans():
    """Those of another device, or made under another limit."""
    clcook.clear()


@pytest.fixture
def device(request, monkeypatch):
    if DEVICES[request.param] is not None:
        monkeypatch.setattr(ours, "_device", lambda: DEVICES[request.param])
    elif not ours._device()[1]:
        pytest.skip("the device has no doubles")
    return request.param


def noise(random, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return random.integers(ends.min, ends.max, shape, dtype, endpoint=True)
    return (random.random(shape) * 4 - 1).astype(dtype)


def laid_out(random, a):
    """The same values, otherwise in memory."""
    how = random.integers(6)
    if how == 0:
        return a.T.copy().T
    if how == 1:
        return np.repeat(a, 2, -1)[..., ::2]
    if how == 2 and a.dtype.kind != "b":
        return a.astype(a.dtype.newbyteorder())
    if how == 3:
        bytes_ = np.empty(a.nbytes + 1, np.uint8)[1:]
        bytes_.view(a.dtype)[...] = a.ravel()
        return bytes_.view(a.dtype).reshape(a.shape)
    if how == 4:
        a.flags.writeable = False
    return a


def drawn(random, name, shape, dtype):
    """Arguments for a function, behind the array. Of windows larger than the array scipy's are wrong."""
    ndim = len(shape)
    axes = [int(one) for one in random.permutation(ndim)[: random.integers(1, ndim + 1)]]
    if name not in ("gaussian_filter", "uniform_filter"):
        axes.sort()  # scipy takes origins by the axes and footprints by their order
    more = {"mode": MODES[random.integers(len(MODES))]}
    if name != "correlate1d":
        more["axes"] = axes
    if "constant" in more["mode"]:
        more["cval"] = float(random.integers(0, 3)) if random.random() < 0.5 else random.normal() * 50
    most = 6 if len(axes) < 3 else 4
    sizes = [int(random.integers(1, min(most, min(shape)) + 1)) for _ in axes]
    origins = [int(random.integers(-(size // 2), (size - 1) // 2 + 1)) for size in sizes]
    if name == "gaussian_filter":
        return ([float(one) for one in random.random(len(axes)) * 3],), {**more, "order": int(random.integers(0, 3))}
    if name == "correlate1d":
        taps = random.normal(size=sizes[0]) / sizes[0]
        taps = [taps, taps + taps[::-1], taps - taps[::-1]][random.integers(3)]
        return (taps, axes[0]), {**more, "origin": origins[0]}
    more["origin"] = origins
    if name == "correlate":
        return (random.normal(size=sizes) / np.prod(sizes),), more
    if name == "uniform_filter":
        more["mode"] = [MODES[random.integers(len(MODES))] for _ in axes]
        return (sizes,), more
    how = random.random()
    footprint = random.random(sizes) < 0.6
    footprint.flat[random.integers(footprint.size)] = True
    count = footprint.size
    if name.startswith("grey") and how < 0.3:
        more["structure"] = random.integers(0, 3, sizes)
    elif how < 0.6 and (ndim > 1 or name not in RANKS):  # scipy's ranks of lines know no footprint
        more["footprint"] = footprint
        count = int(footprint.sum())
    else:
        more["size"] = sizes
        if name not in RANKS and random.random() < 0.3:
            more["size"] = [size + 23 * (size < 3) for size in sizes]
            more["origin"] = 0
    first = {"rank_filter": int(random.integers(-count, count)), "percentile_filter": random.random() * 100}
    return ((first[name],) if name in first else ()), more


def assert_same(name, got, expected, count, doubles):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    if doubles and name != "uniform_filter" or name not in SUMS:
        np.testing.assert_array_equal(got, expected)
    elif expected.dtype.kind == "f":
        # scipy's running sums, and sums of pairs of floats: within a unit of the type.
        unit = max(float(np.finfo(expected.dtype).eps), 0 if doubles else 2.0**-40)
        np.testing.assert_allclose(got, expected, 0, 4 * unit * max(np.abs(expected).max(), 1))
    else:
        # One of the last place for each axis, as scipy's running sums of integers are not exact.
        away = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        assert np.minimum(away, 256.0**expected.itemsize - away).max() <= count


TYPES = {
    "correlate": [("float32", None), ("uint8", None)],
    "correlate1d": [("uint8", None), ("float32", None), ("int16", "float64"), ("bool", None)],
    "gaussian_filter": [("float32", None), ("float64", None), ("uint8", None)],
    "uniform_filter": [("float32", None), ("uint16", None)],
    "minimum_filter": [("uint8", None), ("int32", None)],
    "maximum_filter": [("float32", None), ("uint8", "int16")],
    "grey_erosion": [("uint8", None)],
    "grey_dilation": [("float32", None)],
    "grey_opening": [("uint8", None)],
    "grey_closing": [("float32", None)],
    "median_filter": [("float32", None), ("int8", None)],
    "percentile_filter": [("uint16", None), ("float64", None)],
    "rank_filter": [("int8", None), ("float32", None)],
}
ON_GPUS = ("correlate1d", "uniform_filter", "maximum_filter", "rank_filter")
CASES = [(name, "here") for name in TYPES] + [(name, "gpu") for name in ON_GPUS] + [(name, "no doubles") for name in SUMS]
CASES += [(name, "short vectors") for name in TYPES]
# Each compiles a dozen programs.
SLOW = [("percentile_filter", "here"), ("grey_closing", "here"), ("rank_filter", "gpu"), ("correlate1d", "gpu"), ("correlate", "no doubles")]
SLOW += [(name, "short vectors") for name in TYPES if name != "gaussian_filter"]
TURN = some([one for one in CASES if one not in SLOW], 3)
CASES = [pytest.param(*one, marks=[pytest.mark.slow] * (one not in TURN)) for one in CASES]


@pytest.mark.parametrize("name, device", CASES, indirect=["device"])
def test_random_calls(name, device):
    random = np.random.default_rng(len(name))
    for case in range(60):
        dtype, output = TYPES[name][case % len(TYPES[name])]
        if device == "no doubles" and "float64" in (dtype, output):
            continue
        ndim = int(random.integers(1, 5))
        shape = tuple(int(one) for one in random.integers(1, (200, 60, 24, 10)[ndim - 1], ndim))
        a = noise(random, shape, dtype)
        args, more = drawn(random, name, shape, dtype)
        if device == "no doubles" and more.get("cval", 0) != int(more.get("cval", 0)):
            more["cval"] = 1.0
        given = laid_out(random, a)
        before = given.copy()
        if output is not None:
            more["output"] = output
        got = getattr(ours, name)(given, *args, **more)
        np.testing.assert_array_equal(given, before)
        expected = getattr(ndimage, name)(a, *args, **more)
        try:
            assert_same(name, got, expected, ndim, device != "no doubles")
        except AssertionError as error:
            raise AssertionError(f"{name}, case {case}: {dtype} {shape}, {args}, {more}") from error


@pytest.mark.parametrize("dtype", ["int16", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("device", ["here", "gpu"], indirect=True)
@one_tree_in(4)
def test_ranks_in_registers(dtype, device, monkeypatch):
    monkeypatch.setattr(ours, "_SELECTS_FROM", 0)
    random = np.random.default_rng(3)
    a = noise(random, (9, 37), dtype)
    for count, rank in ((3, 1), (9, 4), (12, 2), (27, 20), (34, 13), (95, 91)):
        footprint = np.zeros((9, 11), bool)
        footprint.flat[random.permutation(99)[:count]] = True
        expected = ndimage.rank_filter(a, rank, footprint=footprint)
        np.testing.assert_array_equal(ours.rank_filter(a, rank, footprint=footprint), expected)


def test_means_of_integers_are_exact():
    random = np.random.default_rng(4)
    a = random.integers(0, 5, (40, 70), np.uint16) * 7
    sums = ndimage.correlate1d(a.astype(np.int64), np.ones(7), 1)
    np.testing.assert_array_equal(ours.uniform_filter1d(a, 7, 1), sums // 7)


def test_sums_behind_an_offset():
    a = (30000 + np.random.default_rng(5).normal(size=(200, 200))).astype(np.float32)
    exact = ndimage.gaussian_filter(a.astype(np.float64), 10)
    scipys = np.abs(ndimage.gaussian_filter(a, 10) - exact).max()
    assert np.abs(ours.gaussian_filter(a, 10) - exact).max() <= scipys


def test_complex():
    random = np.random.default_rng(10)
    a = (noise(random, (20, 30), "float32") + 1j * noise(random, (20, 30), "float32")).astype(np.complex64)
    weights = random.normal(size=(3, 3)) + 1j * random.normal(size=(3, 3))
    for given, name, args, more in (
        (a, "gaussian_filter", (1,), {"mode": "constant", "cval": 1 + 2j}),
        (a, "uniform_filter", (3,), {}),
        (a, "correlate", (weights,), {}),
        (a.real, "correlate", (weights,), {"output": np.complex128}),
        (a, "correlate1d", (weights[0],), {"axis": 0}),
    ):
        got, expected = (getattr(one, name)(given, *args, **more) for one in (ours, ndimage))
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, 0, 1e-6)
    with pytest.raises(clcook.InvalidArgument, match="cval"):
        ours.correlate(a.real, weights, mode="constant", cval=1j)


@one_tree_in(4)
def test_quality():
    """In decibels of the type's largest value; 1 of integers is the rounding of both."""
    random = np.random.default_rng(9)
    for dtype, shape, sigma in (("uint8", (40, 50), 3), ("float32", (9, 20, 30), (1, 2, 4)), ("uint16", (60,), 5)):
        a = noise(random, shape, dtype)
        exact = ndimage.gaussian_filter(a.astype(np.float64), sigma, mode="wrap")
        got = ours.gaussian_filter(a, sigma, mode="wrap", quality=60)
        peak = 3 if dtype == "float32" else np.iinfo(dtype).max
        error = np.sqrt(np.mean((got - exact) ** 2))
        assert got.dtype == dtype and error <= peak * 10**-3 + (dtype != "float32") * 0.5
    # What the blur cannot is as exact as without.
    expected = ours.gaussian_filter(a, 5, order=1)
    np.testing.assert_array_equal(ours.gaussian_filter(a, 5, order=1, quality=60), expected)


@one_tree_in(4)
def test_half():
    a = noise(np.random.default_rng(6), (30, 40), "float16")
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(ours.median_filter(a, (3, 4)), ndimage.median_filter(wide, (3, 4)))
    np.testing.assert_array_equal(ours.maximum_filter(a, 5), ndimage.maximum_filter(wide, 5))
    got = ours.gaussian_filter(a, 2)
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, ndimage.gaussian_filter(wide, 2), 0, 3 * 2.0**-11 * 2)


def test_arrays_without_elements_and_dimensions():
    for name, args in (("gaussian_filter", (1,)), ("uniform_filter", (3,)), ("median_filter", (3,)), ("grey_opening", (3,))):
        for shape in ((0,), (3, 0), ()):
            a = np.ones(shape, np.float32)
            got = getattr(ours, name)(a, *args)
            assert got.shape == shape and got.dtype == a.dtype and (got == 1).all()


def test_output():
    a = noise(np.random.default_rng(7), (20, 30), "uint8")
    for name, args in (("gaussian_filter", (1,)), ("maximum_filter", (3,)), ("median_filter", ((3, 5),))):
        for output in (np.zeros_like(a), np.zeros((20, 60), a.dtype)[:, ::2], np.zeros(a.shape, ">f4")):
            assert getattr(ours, name)(a, *args, output=output) is output
            np.testing.assert_array_equal(output, getattr(ndimage, name)(a, *args, output=output.dtype.type))
        same = a.copy()
        getattr(ours, name)(same, *args, output=same)
        np.testing.assert_array_equal(same, getattr(ndimage, name)(a, *args))


def test_ranks_of_lines_have_the_constant_as_int64():
    a = noise(np.random.default_rng(13), 12, "uint8")
    for given in (a, a > 100, a.astype(np.int16)):
        for cval in (1e10, -3.7, 200):
            more = {"size": 6, "mode": "constant", "cval": cval, "output": np.int16}
            np.testing.assert_array_equal(ours.median_filter(given, **more), ndimage.median_filter(given, **more))


def test_heights_of_all_types():
    heights = np.array([[1, 1, 3, 3], [3, 1, 1, 3], [3, 0, 1, 1]])
    for dtype in some(("uint64", "int64", "uint32", "uint8", "float64"), 5):
        a = np.random.default_rng(14).integers(4, 250, (12, 10)).astype(dtype)
        for name in ("grey_erosion", "grey_dilation", "grey_opening"):
            got, expected = (getattr(one, name)(a, structure=heights) for one in (ours, ndimage))
            np.testing.assert_array_equal(got, expected)


def test_output_of_bools():
    """What is filtered keeps its byte, as C has it, except for ranks of lines; what is not is True unless 0."""
    a = noise(np.random.default_rng(12), (9, 30), "int16")
    for name, args, given in (
        ("gaussian_filter", (0,), a / 70000), ("uniform_filter", (1,), a), ("grey_opening", (1,), a / 70000),
        ("maximum_filter", (3,), a), ("median_filter", (3,), a), ("median_filter", (4,), a[0] & -256),
    ):  # fmt: skip
        for output in (bool, np.zeros(given.shape, bool)):
            got, expected = (getattr(one, name)(given, *args, output=output).copy() for one in (ours, ndimage))
            np.testing.assert_array_equal(got, expected)


def test_memory_mapped(tmp_path):
    a = noise(np.random.default_rng(8), (20, 30), "uint8")
    a.tofile(tmp_path / "a")
    mapped = np.memmap(tmp_path / "a", np.uint8, "r", shape=a.shape)
    for name, args in (("gaussian_filter", (1,)), ("median_filter", ((3, 5),))):  # with the programs of test_output
        np.testing.assert_array_equal(getattr(ours, name)(mapped, *args), getattr(ndimage, name)(a, *args))


def test_signatures():
    for name in ours.__all__:
        mine = inspect.signature(getattr(ours, name)).parameters.values()
        theirs = inspect.signature(getattr(ndimage, name)).parameters.values()
        mine = [one for one in mine if one.name != "quality"]
        shown = [[(one.name, one.kind, one.default) for one in every] for every in (mine, theirs)]
        assert shown[0] == shown[1], name


A = np.ones((4, 5), np.float32)


@pytest.mark.parametrize(
    "name, args, more",
    [
        ("gaussian_filter", (A, (1, 2, 3)), {}),
        ("gaussian_filter", (A, 1), {"mode": "edge"}),
        ("gaussian_filter", (A, 1), {"axes": (2,)}),
        ("gaussian_filter", (A, 1), {"axes": (0, 0)}),
        ("gaussian_filter", (A, 1), {"radius": -1}),
        ("gaussian_filter", (A, 1), {"order": -1}),
        ("gaussian_filter", (A, 1), {"output": np.zeros(3)}),
        ("uniform_filter", (A, 3), {"origin": 2}),
        ("uniform_filter1d", (A, 0), {}),
        ("correlate1d", (A, []), {}),
        ("correlate", (A, np.ones(3)), {}),
        ("correlate", (A, np.ones((3, 3))), {"mode": ["wrap", "wrap"]}),
        ("minimum_filter", (A,), {}),
        ("minimum_filter", (A,), {"footprint": np.zeros((3, 3))}),
        ("maximum_filter", (A.astype(complex), 3), {}),
        ("grey_erosion", (A,), {}),
        ("median_filter", (A,), {}),
        ("median_filter", (A,), {"footprint": np.eye(3), "mode": ["wrap", "wrap"]}),
        ("rank_filter", (A, 9, 3), {}),
        ("rank_filter", (A, 1.5, 3), {}),
        ("minimum_filter1d", (A, 3, 2), {}),
        ("correlate1d", (A, [1], -3), {}),
        ("uniform_filter1d", (A, 2.0), {}),
        ("maximum_filter1d", (A, 0.5), {}),
        ("median_filter", (A, 2.5), {}),
        ("uniform_filter", (A, 3), {"origin": 1.5}),
        ("uniform_filter", (A, 3), {"origin": 0.5}),
        ("rank_filter", (A, 1, 3), {"origin": (0, 1.5)}),
        ("median_filter", (A[0].astype(int), 3), {"mode": "constant", "cval": np.nan}),
        ("median_filter", (A[0].astype(int), 3), {"mode": "constant", "cval": 1e19}),
        ("gaussian_filter1d", (A, 1), {"radius": 2, "truncate": None}),
        ("gaussian_filter1d", (A, 1), {"truncate": "4"}),
        ("grey_dilation", (A, 2.5), {}),
        ("grey_closing", (A, (3, 2.5)), {}),
        ("median_filter", (A[:0], 3), {"output": np.broadcast_to(np.float32(0), (0, 5))}),
        ("gaussian_filter", (A, 1), {"output": np.broadcast_to(np.float32(0), (4, 5))}),
        ("gaussian_filter", (A, 1), {"mode": "constant", "cval": "3"}),
        ("percentile_filter", (A, "50", 3), {}),
        ("percentile_filter", (A, 101, 3), {}),
    ],
)
def test_errors_are_of_scipys_kind(name, args, more):
    with pytest.raises(Exception) as theirs:
        getattr(ndimage, name)(*args, **more)
    with pytest.raises(theirs.type):
        getattr(ours, name)(*args, **more)


def test_stacks_of_small_pictures(monkeypatch):
    calls = []
    plain = ours._square_ranks
    monkeypatch.setattr(ours, "_square_ranks", lambda *args, **more: calls.append(args) or plain(*args, **more))
    for dtype in ("u1", "u2", "f4"):
        for shape, size, separate in (((9, 8, 11), 3, 0), ((3, 40, 30), 9, 0), ((2, 512, 300), 3, 2), ((1, 40, 30), 3, 1)):
            a = (np.random.default_rng(1).random(shape) * 250).astype(dtype)
            calls.clear()
            size = (1, size, size)
            np.testing.assert_array_equal(ours.median_filter(a, size), ndimage.median_filter(a, size))
            if not ours._is_cpu() and len(a) > 1:  # a GPU takes all of these in one launch
                separate = 0
            assert len(calls) == separate, (shape, size)


# Calls of which each differs from another in one argument alone.
NEIGHBOURS = [
    ("minimum_filter", {"size": 3}), ("maximum_filter", {"size": 3}), ("minimum_filter", {"size": (3, 4)}),
    ("minimum_filter", {"size": 3, "mode": "wrap"}), ("minimum_filter", {"size": 3, "origin": 1}),
    ("minimum_filter", {"size": 3, "mode": "constant", "cval": 1}),
    ("minimum_filter", {"size": 3, "mode": "constant", "cval": 2}),
    ("minimum_filter1d", {"size": 3, "axis": 0}), ("minimum_filter1d", {"size": 3, "axis": 1}),
    ("grey_opening", {"size": 3}), ("grey_closing", {"size": 3}),
    ("minimum_filter", {"footprint": [[1, 0, 1]]}), ("maximum_filter", {"footprint": [[1, 0, 1]]}),
    *(("rank_filter", {"footprint": [[1, 0, 1, 1, 1]], "rank": 1, **more}) for more in (
        {}, {"rank": 2}, {"origin": (0, 1)}, {"mode": "wrap"}, {"mode": "constant", "cval": 3}, {"mode": "constant", "cval": 4},
        {"footprint": [[1, 1, 0, 1, 1]]}, {"footprint": [[1], [0], [1], [1], [1]]})),
    ("grey_erosion", {"structure": [[1, 2, 3]]}), ("grey_erosion", {"structure": [[1, 2, 4]]}),
    ("grey_dilation", {"structure": [[1, 2, 3]]}), ("grey_erosion", {"structure": [[1, 2, 3]], "output": np.float64}),
    ("correlate", {"weights": [[1, 2, 3]]}), ("correlate", {"weights": [[1, 2, 4]]}), ("correlate", {"weights": [[1], [2], [3]]}),
    ("correlate", {"weights": [[1, 2, 3]], "output": np.float64}),
    ("correlate1d", {"weights": [1, 2, 3]}), ("correlate1d", {"weights": [1, 2, 4]}), ("correlate1d", {"weights": [1, 2, 3], "axis": 0}),
    ("correlate1d", {"weights": [1, 2, 3], "mode": "constant", "cval": 1}),
    ("correlate1d", {"weights": [1, 2, 3], "mode": "constant", "cval": np.nan}),
    ("correlate1d", {"weights": [1, 2, 3], "origin": -1}), ("correlate1d", {"weights": [1, 2, 3], "output": np.float64}),
    ("gaussian_filter", {"sigma": 1}), ("gaussian_filter", {"sigma": 1, "order": 1}), ("gaussian_filter", {"sigma": (1, 2)}),
    ("uniform_filter", {"size": 3}), ("uniform_filter1d", {"size": 3}), ("uniform_filter1d", {"size": 4}),
]  # fmt: skip


def test_kept_plans_are_of_the_same_call(monkeypatch):
    monkeypatch.setattr(clcook._arrays._Plans, "MOST", 1000)
    a = np.random.default_rng(1).random((20, 21)).astype("f4") * 100
    for name, more in [*NEIGHBOURS, *NEIGHBOURS[::-1]]:
        for one in (a, a.astype("i4"), a.T.copy()):
            if one.dtype == "i4" and more.get("cval") is np.nan:
                continue
            got, expected = getattr(ours, name)(one, **more), getattr(ndimage, name)(one, **more)
            close = {"rtol": 1e-6, "atol": 1} if name.startswith("uniform") else {"rtol": 0}
            np.testing.assert_allclose(got, expected, **close, err_msg=f"{name} {more}")


def test_calls_that_nobody_chose():
    """Those of bench/ndimage.py, made small, agree with SciPy's as it demands before it times them."""
    path = pathlib.Path(__file__).parents[2] / "bench" / "ndimage.py"
    spec = importlib.util.spec_from_file_location("bench_ndimage", path)
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    for i in range(40):
        name, words = bench.drawn(bench.drawing.Draw(f"7 ndimage {i}"), 1e5)
        words.update((side, min(words[side], 40)) for side in bench.SIDES if side in words)
        row = bench.row_of(name, words, None, 1e-6)
        assert "skipped" not in row, row
        assert row["caller_us"] > 0 and row["others"][0]["who"] == "SciPy", row


@pytest.mark.parametrize("dtype", ["f2", "f4", "u1", "bool", "i8", "u8"])
def test_no_warnings_that_scipy_does_not_give(dtype):
    a = (np.random.default_rng(1).random((9, 10)) * 2).astype(dtype)
    with np.errstate(all="raise"):
        for cval in (1e5, -1e300, np.nan, np.inf):
            for name in ("maximum_filter", "grey_opening"):
                try:
                    theirs = getattr(ndimage, name)(a, 3, mode="constant", cval=cval)
                except Exception:  # it raises, or has no such type
                    continue
                np.testing.assert_array_equal(getattr(ours, name)(a, 3, mode="constant", cval=cval), theirs)


def test_sums_of_nan_as_integers():
    ends = (np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31) - 1, 2.0**33, 2.0**63, -(2.0**63), 2.0**64, 1e300, -1e300)
    a = np.array([[1.0, 3.0, 4.0, -5.0, last] for last in ends])  # the last spoils no other mean
    with np.errstate(invalid="ignore"):
        for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
            theirs = ndimage.correlate1d(a, [1.0], output=dtype)
            np.testing.assert_array_equal(ours.correlate1d(a, [1.0], output=dtype), theirs)
            theirs = ndimage.uniform_filter1d(a, 1, output=dtype)
            np.testing.assert_array_equal(ours.uniform_filter1d(a, 1, output=dtype), theirs)


def test_errors_can_be_sent():
    with pytest.raises(IndexError, match="uniform_filter1d: an axis is out of range.*-2 to 1, got 2") as caught:
        ours.uniform_filter1d(A, 3, 2)
    sent = pickle.loads(pickle.dumps(caught.value))
    assert str(sent) == str(caught.value) and isinstance(sent, clcook.InvalidArgument)
    assert (sent.code, sent.where) == ("invalid_argument", "uniform_filter1d")


def test_doubles_where_there_are_none(monkeypatch):
    monkeypatch.setattr(ours, "_device", lambda: DEVICES["no doubles"])
    with pytest.raises(clcook.Unsupported, match="a device"):
        ours.median_filter(A.astype(np.float64), 3)
    with pytest.raises(clcook.Unsupported, match="a device"):
        ours.gaussian_filter(A.astype(np.int64), 3)


def test_threads():
    arrays = [noise(np.random.default_rng(one), (90 + one, 70), "float32") for one in range(4)]
    expected = [ndimage.gaussian_filter(a, 2) for a in arrays]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            for got, wanted in zip(pool.map(lambda a: ours.gaussian_filter(a, 2), arrays), expected):
                np.testing.assert_array_equal(got, wanted)


# What names take behind the array in the next test, where that is not a size.
FIRST = {
    "correlate": "np.ones((3, 4)) / 12,",
    "correlate1d": "[1, -2, 3],",
    "percentile_filter": "20, 4",
    "rank_filter": "2, 4",
}


@pytest.mark.parametrize("dtype", ["float32", pytest.param("uint16", marks=pytest.mark.slow)])
def test_the_driver_of_pip(dtype, tmp_path):
    """Each name on what `pip install 'pyopencl[pocl]'` brings, in a process of its own, which this driver may end."""
    pyopencl = importlib.util.find_spec("pyopencl")
    found = [] if pyopencl is None else list(pathlib.Path(pyopencl.origin).parent.glob(".libs/libpocl-*.so"))
    if not found:
        pytest.skip("pip has not installed pyopencl[pocl] here")
    code = f"""
import numpy as np, scipy.ndimage
from clcook import ndimage
a = (np.random.default_rng(7).random((40, 50)) * 60000).astype("{dtype}")
first = {{{", ".join(f"'{name}': ({args})" for name, args in FIRST.items())}}}
for name in ndimage.__all__:
    args = first.get(name, (4,))
    got, expected = getattr(ndimage, name)(a, *args), getattr(scipy.ndimage, name)(a, *args)
    close = dict(rtol=1e-6, atol=1) if name.startswith("uniform") else dict(rtol=0)
    np.testing.assert_allclose(got, expected, **close, err_msg=name)
np.testing.assert_array_equal(ndimage.median_filter(a, 5), scipy.ndimage.median_filter(a, 5))
print(len(ndimage.__all__))
"""
    caches = {"POCL_CACHE_DIR": str(tmp_path), "CLCOOK_CACHE_DIR": str(tmp_path)}
    assert python(code, OCL_ICD_VENDORS=str(found[0]), **caches) == str(len(ours.__all__))


def test_import_needs_no_device():
    code = "import clcook.ndimage, sys; print('pyopencl' in sys.modules, 'scipy' in sys.modules)"
    assert python(code, CLCOOK_DEVICE="none of this name") == "False False"


# Which of scipy's tests does not apply, and why.
NOT_OURS = {
    "test_gaussian_filter_float16": "asks for the error of a type that clcook has",
}


def run_with_ours(*files, more=()):
    """How many tests of theirs that call one of ours pass; the rest must pass too."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "ndimage_adapter", "-p", "no:cacheprovider"]
        + ["--rootdir", str(files[0].parents[2]), *map(str, files), *more],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.split("of clcook: ")[1].split()[0])


@one_tree_in(4)
def test_the_tests_of_scipy():
    """In the short grid one in 299."""
    folder = pathlib.Path(importlib.util.find_spec("scipy.ndimage.tests").origin).parent
    left_out = " and ".join(f"not {one}" for one in NOT_OURS)
    passed = run_with_ours(folder / "test_filters.py", folder / "test_morphology.py", more=["-k", left_out])
    assert passed >= (3 if os.environ.get("CLCOOK_TEST_GRID") == "short" else 2500)


@pytest.mark.slow
def test_the_tests_of_scikit_image():
    """Of gaussian() and median(), which call scipy's; its packages from 0.26 on have no tests."""
    pytest.importorskip("skimage.filters.tests.test_median")
    folder = pathlib.Path(importlib.util.find_spec("skimage.filters.tests").origin).parent
    assert run_with_ours(folder / "test_gaussian.py", folder / "test_median.py") >= 40
