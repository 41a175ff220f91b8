"""Results equal those of C++, bit for bit, but for what within_range() says."""

import itertools
import mmap
import struct
import sys

import clcook
import numpy as np
import pytest
from conftest import DATA, MODES, PIXELS, blur, picture, pixel_type, plain, python, some


def cpp_blur(tmp_path, a, sigma, border="clamp", truncate=4):
    x, y = sigma[::-1] if np.ndim(sigma) else (sigma, sigma)
    channels = a.shape[2] if a.ndim == 3 else 1
    a.tofile(tmp_path / "in")
    plain(
        *("gaussian_blur", tmp_path / "in", tmp_path / "out", a.shape[1], a.shape[0], channels),
        *(PIXELS[a.dtype.name], x, y, border, truncate),
    )
    return np.fromfile(tmp_path / "out", a.dtype).reshape(a.shape)


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def within_range(out, a, axes, outside=()):
    """What a plan gives, as users of numpy get it: floats are brought back into the range of what they are
    a mean of, the values along the axes that are blurred and those outside."""
    if a.dtype.kind == "u":
        return out
    values = a.astype(np.float64)
    least = np.fmin.reduce(values, axes, keepdims=True, initial=min(outside, default=np.nan))
    most = np.fmax.reduce(values, axes, keepdims=True, initial=max(outside, default=np.nan))
    return np.fmax(np.fmin(out, most.astype(a.dtype)), least.astype(a.dtype)) + 0 * out  # NaN stays


BLURS = [
    ((37, 61, 4), "uint8", 2.5, {}),
    ((37, 61), "uint8", 0, {}),
    ((1, 1), "float32", 3, {}),
    ((40, 33, 3), "uint16", (1.5, 7), {"border": "mirror"}),
    ((33, 40, 3), "uint8", (7, 1.5), {"border": "reflect_101"}),
    ((64, 50, 2), "float16", 20, {"border": "wrap"}),
    ((90, 70, 1), "float32", 9, {"border": "constant", "truncate": 2.5}),
    ((150, 200, 4), "float32", 40, {}),
]


@pytest.mark.parametrize("shape, dtype, sigma, more", BLURS)
def test_gaussian_blur(tmp_path, shape, dtype, sigma, more):
    a = picture(shape, dtype)
    before = a.copy()
    out = blur(a, sigma, **more)
    same(a, before)
    outside = [0] if more.get("border") == "constant" else []
    same(out, within_range(cpp_blur(tmp_path, a, sigma, **more), a, (0, 1), outside))


def test_a_new_sigma_gives_what_a_new_plan_gives(tmp_path):
    # Across methods: a plan that was made for a small sigma must not keep its method.
    a = picture((120, 160, 4), "uint8")
    for sigma in (0.7, 30, 3, 12.25, 0.7):
        same(blur(a, sigma), cpp_blur(tmp_path, a, sigma))


def test_sigma_is_in_the_order_of_the_dimensions():
    a = np.zeros((21, 21), np.float32)
    a[10, 10] = 1
    out = blur(a, (3, 0))
    assert np.count_nonzero(out[:, 10]) > 10 and np.count_nonzero(out[:, 9]) == 0


def test_rows_that_lie_apart_and_out(tmp_path):
    whole = picture((60, 80, 4), "uint8")
    part = whole[5:45, 10:70]
    expected = cpp_blur(tmp_path, np.ascontiguousarray(part), 4)
    same(blur(part, 4), expected)
    target = np.zeros((50, 90, 4), np.uint8)
    returned = blur(part, 4, out=target[3:43, 7:67])
    assert returned.base is target
    same(np.ascontiguousarray(target[3:43, 7:67]), expected)
    target[3:43, 7:67] = 0
    assert not target.any()  # nothing around it was written


def test_a_volume():
    a = picture((9, 20, 24), "float32")
    got = clcook.gaussian_blur(a, (2, 0, 0))
    weights = np.exp(-(np.arange(-8, 9) ** 2) / 8)
    edged = np.pad(a.astype(float), ((8, 8), (0, 0), (0, 0)), "edge")
    expected = sum(w * edged[k : k + 9] for k, w in enumerate(weights / weights.sum()))
    np.testing.assert_allclose(got, expected, atol=1e-5)
    # Without a blur along z each slice is a picture; and several sigmas, one after the other.
    for sigma in (1.5, 3):
        flat = clcook.gaussian_blur(a, (0, sigma, sigma))
        for z in range(9):
            np.testing.assert_allclose(flat[z], clcook.gaussian_blur(a[z], sigma), atol=1e-5)


@pytest.mark.parametrize("shape", [(23,), (20, 31), (6, 20, 31)])
@pytest.mark.parametrize("channels", [1, 3])
def test_channels_first_and_last(shape, channels):
    a = picture((*shape, channels), "uint16")
    sigma = (2, 1.5, 3)[: len(shape)]
    last = clcook.gaussian_blur(a, sigma, channel_axis=-1)
    same(clcook.gaussian_blur(a, sigma, channel_axis=len(shape)), last)
    first = np.ascontiguousarray(np.moveaxis(a, -1, 0))
    same(clcook.gaussian_blur(first, sigma, channel_axis=0), np.ascontiguousarray(np.moveaxis(last, -1, 0)))
    out = np.empty_like(first)
    for plane, result in zip(first, out):
        clcook.gaussian_blur(plane, sigma, out=result)
    same(out, np.ascontiguousarray(np.moveaxis(last, -1, 0)))


def test_many_channels_first():
    a = picture((7, 12, 15), "uint8")
    got = clcook.median3x3(a, channel_axis=0)
    for plane, result in zip(a, got):
        same(result, clcook.rank_filter(plane, 1))
    with pytest.raises(clcook.InvalidArgument, match="channels.*7"):
        clcook.gaussian_blur(np.ascontiguousarray(np.moveaxis(a, 0, -1)), 1, channel_axis=-1)


def test_straight_alpha():
    a = np.zeros((12, 20, 4), np.uint8)
    a[:, :10] = (0, 200, 0, 255)
    a[:, 10:] = (255, 0, 0, 0)
    out = blur(a, 2, alpha="straight")
    plain = blur(a, 2)
    assert out[..., 0].max() == 0 and plain[..., 0].max() > 50
    np.testing.assert_array_equal(blur(a, 2, alpha="premultiplied"), plain)
    # White has no grey rim where what lies outside is transparent.
    white = np.full((9, 9, 4), 255, np.uint8)
    rim = blur(white, 1, "constant", alpha="straight")
    assert rim[..., :3].min() == 255 and rim[0, 0, 3] < 150
    with pytest.raises(clcook.InvalidArgument, match="2 or 4 channels"):
        blur(a[..., 0].copy(), 2, alpha="straight")
    with pytest.raises(clcook.InvalidArgument, match="premultiplied"):
        blur(a, 2, alpha="associated")
    with pytest.raises(clcook.WrongType, match="alpha"):
        blur(a, 2, alpha=1)


def test_in_place():
    a = picture((20, 30, 4), "uint8")
    expected = blur(a, 3)
    assert blur(a, 3, out=a) is a
    same(a, expected)


def lying(a, offset, gap):
    """`a` in memory of its own, `offset` bytes behind one that is aligned, rows `gap` bytes apart."""
    pitch = a[0].nbytes + gap
    size = pitch * len(a) + offset
    memory = np.full(size + 64, 7, np.uint8)
    memory = memory[-memory.ctypes.data % 64 :][:size]
    out = np.ndarray(a.shape, a.dtype, memory, offset, (pitch, *a.strides[1:]))
    out[...] = a
    return memory, out


TYPES = some(itertools.product(PIXELS, [1, 3, 4]), 5)


@pytest.mark.parametrize("dtype, channels", TYPES)
def test_however_arrays_lie(tmp_path, dtype, channels):
    # Larger than what goes at once: in place where the device is the host, else in pieces.
    a = picture((611, 157, channels), dtype)
    size = a.dtype.itemsize
    expected = within_range(cpp_blur(tmp_path, a, 2), a, (0, 1))
    ranks = {call: call(a.copy(), 2, channel_axis=-1) for call in (clcook.erode, clcook.closing)}
    for offset, gap in ((0, 0), (0, 48), (0, size), (16, 0), (size, 0), (1, 5 * size + 1), (0, -a[0].nbytes % 16)):
        if gap % size:
            continue  # rows are whole elements apart
        memory, src = lying(a, offset, gap)
        before = memory.copy()
        same(blur(src, 2), expected)
        for call, wanted in ranks.items():
            same(call(src, 2, channel_axis=-1), wanted)
        assert np.array_equal(memory, before)
        written, out = lying(np.zeros_like(a), offset, gap)
        wanted, view = lying(np.zeros_like(a), offset, gap)
        view[...] = expected
        assert blur(src, 2, out=out) is out
        assert np.array_equal(written, wanted)
        # In place, and a row further.
        same(blur(src, 2, out=src).copy(), expected)
        memory, whole = lying(np.concatenate([a, a[:1]]), offset, gap)
        same(blur(whole[:-1], 2, out=whole[1:]).copy(), expected)


@pytest.mark.parametrize("dtype, channels", TYPES)
def test_a_compaction_however_pixels_lie(dtype, channels):
    a = picture((603, 517, channels), dtype)
    expected = clcook.stream_compaction(a, 100)
    size = a.dtype.itemsize
    assert len(expected) > 1000
    for offset, gap in ((0, 0), (size, 0), (0, size * 11), (0, -a[0].nbytes % 16)):
        same(clcook.stream_compaction(lying(a, offset, gap)[1], 100), expected)


def pictures_with_a_range(shape, dtype):
    random = np.random.default_rng(sum(shape)).random(shape)
    top, least = float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)
    y, x, channel = np.ogrid[: shape[-3], : shape[-2], : shape[-1]]
    pictures = {
        **{f"constant {c:.3}": c + 0 * random for c in (0.1, 1 / 3, 1.0, -0.7, top, -top, least / 8)},
        "0 to 1": random,
        "0 or 1": np.round(random),
        "almost constant": 1 - (random < 0.01),
        "huge": (2 * random - 1) * top,
        "tiny": least / 16 * np.round(99 * random),
        "a channel each": (channel + 1) / 10 + 0 * random,
        "a row each": (y + 1) / 7 + 0 * random,
        "a column each": (x + 1) / 7 + 0 * random,
        "NaN": np.where(random > 0.999, np.nan, 0.7),
        "NaN alone": np.nan + random,
        "infinity": np.where(random > 0.999, np.inf, 0.7),
    }
    return {name: one.astype(dtype) for name, one in pictures.items()}


def is_within_range(got, a, axes, outside=()):
    with np.errstate(invalid="ignore"):
        inside = within_range(got, a, axes, outside)
    infinite = np.isinf(got)
    return np.array_equal(got[~infinite], inside[~infinite], equal_nan=True) and (
        np.isnan(got[np.isnan(a)]).all() and (np.isinf(a).any() or not infinite.any())
    )


def limit_device(monkeypatch):
    """Leaves plans no memory for more than 60 rows, or 2 slices. Returns the list of the rows asked for,
    those asked for again left out."""
    asked = []

    def limited(make):
        def make_if_small(*more, **problem):
            if asked[-1:] != [problem["height"]]:
                asked.append(problem["height"])
            if problem["height"] > 60 or problem.get("depth", 1) > 2:
                raise clcook.OutOfResources("too large")
            return make(*more, **problem)

        return make_if_small

    clcook.clear()
    for name in (
        "_GaussianBlurOnHost",
        "_RankFilterOnHost",
        "_SeparableFilterOnHost",
        "_StreamCompactionOnHost",
    ):
        monkeypatch.setattr(clcook._clcook, name, limited(getattr(clcook._clcook, name)))
    return asked


SIGMAS = [0.5, 2, 40, (0, 3), (3, 0)]


@pytest.mark.parametrize("strips", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("channels, mode", [(1, "nearest"), (3, "constant"), (4, "wrap")])
def test_a_mean_stays_within_its_range(monkeypatch, dtype, channels, mode, strips):
    if strips:
        limit_device(monkeypatch)
    for name, a in pictures_with_a_range((70, 83, channels), dtype).items():
        for sigma in SIGMAS:
            axes = tuple(i for i, one in enumerate(np.broadcast_to(sigma, 2)) if one)
            for cval in (0.25, np.nan) if mode == "constant" else (0,):
                got = clcook.gaussian_blur(a, sigma, mode=mode, cval=cval, channel_axis=-1)
                outside = [cval] if mode == "constant" and cval == cval else []
                assert is_within_range(got, a, axes, outside), f"{name}, {sigma}, {cval}"


@pytest.mark.parametrize("strips", [False, True])
def test_means_of_lines_volumes_and_frames_stay_within_their_range(monkeypatch, strips):
    if strips:
        limit_device(monkeypatch)
    for name, a in pictures_with_a_range((5, 20, 30, 1), "float32").items():
        a = a[..., 0]
        for sigma in (2, (0, 2, 2), (2, 0, 0), (0, 0, 3), (0, 3, 0), (2, 0, 3)):
            axes = tuple(i for i, one in enumerate(np.broadcast_to(sigma, 3)) if one)
            assert is_within_range(clcook.gaussian_blur(a, sigma), a, axes), f"{name}, {sigma}"
        assert is_within_range(clcook.gaussian_blur(a, 2, channel_axis=0), a, (1, 2)), name
        assert is_within_range(clcook.gaussian_blur(a[0, 0], 2), a[0, 0], (0,)), name


ON_ALL = """
import numpy as np, clcook, threading
random = np.random.default_rng(3)
for dtype in {types}:
    picture = (random.random((4, 203, 97)) * (1 if dtype.startswith("f") else 200)).astype(dtype)
    for image, sigma, axis in ((picture[0], 5, None), (picture, (1, 2, 3), None), (picture, 2, 0), (picture, 2, -1)):
        if axis == -1:
            image = np.ascontiguousarray(np.moveaxis(image, 0, -1))
        for mode in ("nearest", "wrap"):
            one = clcook.gaussian_blur(image, sigma, mode=mode, channel_axis=axis)
            out = image.copy()
            calls = [threading.Thread(target=clcook.gaussian_blur, args=(image, sigma),
                                      kwargs=dict(mode=mode, channel_axis=axis, devices="all")) for _ in range(2)]
            for call in calls: call.start()
            assert clcook.gaussian_blur(out, sigma, mode=mode, channel_axis=axis, out=out, devices="all") is out
            for call in calls: call.join()
            print(int(np.array_equal(out.view(np.uint8), one.view(np.uint8))), end="")
clcook.clear()
flat = np.full((300, 200), 1 / 3, np.float32)
print(int((clcook.gaussian_blur(flat, 9, devices="all") == flat).all()), len(clcook.devices()))
"""


@pytest.mark.parametrize("drivers, count", [("pthread", 1), ("pthread basic", 2)])
def test_all_devices_make_what_one_makes(drivers, count):
    types = some(PIXELS, 2)  # of a driver whose kernels no other test compiles
    said = python(ON_ALL.format(types=types), POCL_DEVICES=drivers, CLCOOK_DEVICE="pocl")
    assert said.split() == ["1" * (8 * len(types) + 1), str(count)]


def test_slices_of_one_row_that_lie_apart():
    volume = picture((9, 20, 31), "uint8")
    for plane in (volume[:, 7:8, :], volume[2:3, 3:4], volume[:, 19:, :]):
        out = np.zeros_like(volume)[: plane.shape[0], 4:5, :]
        same(clcook.gaussian_blur(plane, 2, out=out), clcook.gaussian_blur(np.ascontiguousarray(plane), 2))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_constants_in_rows_that_lie_apart(dtype):
    size = np.dtype(dtype).itemsize
    memory = np.zeros(70 * 90 * size + 1, np.uint8)
    part = np.ndarray((70, 83), dtype, memory, 1, (90 * size, size))  # not aligned
    part[...] = 1 / 3
    clcook.gaussian_blur(part, 3, out=part)
    assert (part == np.array(1 / 3, dtype)).all()
    part[...] = 0
    assert not memory.any()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_colours_under_straight_alpha_stay_within_their_range(dtype):
    # A colour under alpha 0 does not count, and where alpha becomes 0 the colours are 0.
    a = np.empty((40, 60, 4), dtype)
    a[..., :3] = 0.1, 1 / 3, 0.7
    a[..., 3] = np.random.default_rng(2).random((40, 60)) > 0.7
    a[:, 25:] = 0
    a[:, 50:, :3] = np.nan
    for sigma in (0, 1, 4, (0, 2)):
        got = blur(a, sigma, alpha="straight")
        seen = got[..., 3] > 0
        assert seen[:, :25].any() and not seen[:, 50:].any()
        is_constant = (got[..., :3] == a[0, 0, :3]).all(-1)
        assert is_constant[seen].all(), sigma
        assert (is_constant | (got == 0).all(-1)).all(), sigma  # halfs may round alpha to 0


@pytest.mark.parametrize("border", MODES)
def test_pictures_that_are_larger_than_the_device(monkeypatch, border):
    more = {"mode": MODES[border], "cval": 3}
    u8, f32, volume = picture((150, 31), "uint8"), picture((150, 31), "float32"), picture((7, 9, 11), "float32")
    calls = [
        *((clcook.gaussian_blur, a, sigma) for a in (u8, f32) for sigma in (2, (9, 0))),
        (clcook.gaussian_blur, volume, 1.5),
        (clcook.rank_filter, u8, 1),
        (clcook.rank_filter, f32, np.uint8(8), 3),
        (clcook.opening, f32, 4),
        (clcook.closing, u8, 3),
        (clcook.separable_filter, u8, (0.25, 0.5, 0.125), (-1, 2, 1)),
    ]
    expected = [call(*arguments, **more) for call, *arguments in calls]
    asked = limit_device(monkeypatch)
    for (call, a, *arguments), wanted in zip(calls, expected):
        asked.clear()
        got = call(a, *arguments, **more)
        assert asked and asked[0] == a.shape[-2]
        if call in (clcook.rank_filter, clcook.opening, clcook.closing):
            assert max(asked[2:]) <= 60
            same(got, wanted)
        assert np.abs(got - wanted.astype(np.float64)).max() <= (1 if a.dtype == np.uint8 else 2e-5)
        # In place, and to where it overlaps.
        for begin in (0, 31):
            memory = np.zeros((a.size + 31), a.dtype)
            src, dst = memory[: a.size].reshape(a.shape), memory[begin:][: a.size].reshape(a.shape)
            src[...] = a
            call(src, *arguments, **more, out=dst)
            same(dst.copy(), got)


def test_a_compaction_that_is_larger_than_the_device(monkeypatch):
    pictures = [picture((150, 31, *channels), "uint8") for channels in ((), (3,), (4,))]
    expected = [clcook.stream_compaction(a, 30000) for a in pictures]
    asked = limit_device(monkeypatch)
    for a, wanted in zip(pictures, expected):
        same(clcook.stream_compaction(a, 30000), wanted)
    assert asked[:4] == [150, 75, 38, 36]  # 38 rows three times


def test_a_device_without_memory(monkeypatch):
    def none(**problem):
        raise clcook.OutOfResources(f"no memory for {problem['height']} rows")

    monkeypatch.setattr(clcook._clcook, "_RankFilterOnHost", none)
    clcook.clear()
    with pytest.raises(clcook.OutOfResources, match="no memory for [23] rows"):
        clcook.median3x3(picture((150, 31), "uint8"))


FILTERS = {
    "gaussian_blur": lambda a, **more: clcook.gaussian_blur(a, 2, **more),
    "rank_filter": lambda a, **more: clcook.rank_filter(a, 2, 0.25, **more),
    "dilate": clcook.dilate,
    "erode": clcook.erode,
    "median3x3": clcook.median3x3,
    "opening": clcook.opening,
    "separable_filter": lambda a, **more: clcook.separable_filter(a, [1, 2, 1], [-1, 0, 1], **more),
    "box_filter": lambda a, **more: clcook.box_filter(a, 5, **more),
}


@pytest.mark.parametrize("name", some(FILTERS, 3))
def test_out_that_overlaps_image(name):
    """The result is that of the call on a copy, whatever `out` overlaps."""
    call = FILTERS[name]
    size = 8 * 20 * 30
    shapes = {  # of what is filtered, with bytes from element to element
        "frames": ((5, 20, 30), (600, 30, 1), 0),
        "one frame": ((1, 20, 30), (600, 30, 1), 0),
        "rows of two frames in turn": ((2, 10, 30), (30, 60, 1), 0),
        "frames that overlap": ((5, 20, 30), (300, 30, 1), 0),
        "a picture": ((20, 30), (30, 1), None),
        "channels last": ((20, 30, 4), (120, 4, 1), -1),
    }
    for which, (shape, strides, axis) in shapes.items():
        for shift in (0, 1, 30, 60, 300, 600, 1200):
            for begins in ((0, shift), (shift, 0)):
                memory = picture(size, "uint8", seed=shift)
                image, out = (
                    np.ndarray(shape, "uint8", memory, begin, strides) for begin in begins
                )
                expected = call(image.copy(), channel_axis=axis)
                wanted = memory.copy()
                np.ndarray(shape, "uint8", wanted, begins[1], strides)[...] = expected
                assert call(image, channel_axis=axis, out=out) is out
                # Where frames of `out` overlap each other, the later one counts, as in numpy.
                assert np.array_equal(memory, wanted), f"{which}, {begins}"


@pytest.mark.parametrize("call", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize(
    "shape, axis",
    [
        ((0, 5), None),
        ((5, 0), None),
        ((0, 0), None),
        ((0, 5, 6), 0),
        ((3, 0, 6), 0),
        ((3, 5, 0), 0),
        ((0, 6, 4), -1),
        ((5, 0, 4), -1),
        ((5, 6, 0), -1),
    ],
)
def test_nothing_to_filter(call, shape, axis):
    a = np.zeros(shape, "float32")
    got = call(a, channel_axis=axis)
    assert got.shape == shape and got.dtype == a.dtype
    out = np.zeros(shape, "float32")
    assert call(a, channel_axis=axis, out=out) is out
    # All else is checked as ever.
    for wrong in ({"mode": "clamp"}, {"channel_axis": 5}, {"cval": "0x"}, {"out": a[..., None]}):
        with pytest.raises(clcook.Error):
            call(a, **{"channel_axis": axis, **wrong})


def test_nothing_to_blur_or_to_compact():
    for shape in ((0,), (0, 5, 6), (5, 0, 6), (5, 6, 0)):
        assert clcook.gaussian_blur(np.zeros(shape, "uint8"), 1).shape == shape
        for wrong in ({"sigma": -1}, {"sigma": 501}, {"sigma": 1, "truncate": 9}):
            with pytest.raises(clcook.InvalidArgument):
                clcook.gaussian_blur(np.zeros(shape, "uint8"), **wrong)
    with pytest.raises(clcook.InvalidArgument, match="radius.*33"):
        clcook.rank_filter(np.zeros((0, 5), "uint8"), 33)
    for shape in ((0, 5), (5, 0), (0, 5, 3), (5, 0, 4)):
        got = clcook.stream_compaction(np.zeros(shape, "uint8"), 0)
        assert got.shape == (0,) and got.dtype == np.uint32
    for pixels, threshold in ((np.zeros((0, 5), "uint8"), np.nan), (np.zeros((0, 5, 2), "uint8"), 1)):
        with pytest.raises(clcook.InvalidArgument):
            clcook.stream_compaction(pixels, threshold)


def test_blocks_of_nothing_in_dask():
    da = pytest.importorskip("dask.array")
    lazy = pytest.importorskip("clcook.dask")
    a = picture((40, 30), "float32")
    blocks = da.concatenate([da.from_array(part) for part in (a[:0], a[:20], a[20:20], a[20:])])
    np.testing.assert_allclose(lazy.gaussian_blur(blocks, 2).compute(), clcook.gaussian_blur(a, 2), atol=1e-6)
    same(lazy.rank_filter(blocks, 2).compute(), clcook.rank_filter(a, 2))
    for shape, axis in (((0, 30), None), ((0, 30, 20), 0), ((40, 30, 0), -1)):
        nothing = da.zeros(shape, dtype="uint8")
        assert lazy.gaussian_blur(nothing, 2, channel_axis=axis).compute().shape == shape
        assert lazy.rank_filter(nothing, 2, channel_axis=axis).compute().shape == shape


def test_a_read_only_source():
    a = picture((20, 30), "uint8")
    expected = blur(a, 2)
    a.flags.writeable = False
    same(blur(a, 2), expected)


RANKS = [(1, 0.5, "clamp"), (3, 0.25, "mirror"), (2, 0.5, "reflect_101"), (2, 1.0, "wrap")]


@pytest.mark.parametrize(
    "shape, dtype, radius, rank, border",
    [
        # Each takes seconds to compile: the short grid has each rank, type and number of channels once.
        pytest.param(shape, dtype, *rank, marks=[] if k == i and j == i % 3 else pytest.mark.slow)
        for i, rank in enumerate(RANKS)
        for j, shape in enumerate([(23, 31), (20, 17, 2), (20, 17, 4)])
        for k, dtype in enumerate(PIXELS)
    ],
)
def test_rank_filter(tmp_path, shape, dtype, radius, rank, border):
    a = picture(shape, dtype)
    more = {"mode": MODES[border], "channel_axis": -1 if a.ndim == 3 else None}
    got = clcook.rank_filter(a, radius, rank, **more)
    mode = {"clamp": "edge", "mirror": "symmetric", "reflect_101": "reflect", "wrap": "wrap"}[border]
    edged = np.pad(a, [(radius, radius)] * 2 + [(0, 0)] * (a.ndim - 2), mode)
    side = 2 * radius + 1
    windows = np.lib.stride_tricks.sliding_window_view(edged, (side, side), (0, 1))
    ordered = np.sort(windows.reshape(*a.shape, -1), axis=-1)
    # Filters only compare: numpy's result is the C++ one.
    same(got, np.ascontiguousarray(ordered[..., int(rank * (side * side - 1) + 0.5)]))
    out = np.empty_like(a)
    assert clcook.rank_filter(a, radius, rank, out=out, **more) is out
    same(out, got)
    a.tofile(tmp_path / "in")
    pixel = pixel_type(dtype, a.shape[2] if a.ndim == 3 else 1)
    plain(
        *("rank_filter", tmp_path / "in", tmp_path / "out", a.shape[1], a.shape[0], pixel),
        *(radius, rank, border),
    )
    same(np.fromfile(tmp_path / "out", a.dtype).reshape(a.shape), got)


@pytest.mark.parametrize("dtype, texel", [("float16", "rgba16f"), ("float32", "rgba32f")])
def test_bc6h_decode(tmp_path, dtype, texel):
    files = sorted(DATA.glob("bc6h/**/*.dds"))
    assert files
    for file in files[:6]:
        got = clcook.bc6h_decode(file, dtype=dtype)
        head = file.read_bytes()
        signed = int.from_bytes(head[128:132], "little") == 96
        offset = 148 if head[84:88] == b"DX10" else 128
        height, width = got.shape[:2]
        assert height == int.from_bytes(head[12:16], "little")
        assert width == int.from_bytes(head[16:20], "little")
        (tmp_path / "in").write_bytes(head[offset:])
        plain(
            *("bc6h_decode", tmp_path / "in", tmp_path / "out", width, height),
            *("signed_float" if signed else "unsigned_float", texel),
        )
        same(got, np.fromfile(tmp_path / "out", dtype).reshape(got.shape))


def test_bc6h_decode_of_bytes():
    file = DATA / "bc6h/lythwood_room.dds"
    expected = clcook.bc6h_decode(file)
    for kind in (bytes, bytearray, memoryview):
        same(clcook.bc6h_decode(kind(file.read_bytes())), expected)
    with pytest.raises(clcook.FileError, match="cut off"):
        clcook.bc6h_decode(file.read_bytes()[:-1])


@pytest.mark.parametrize("size", [(4, 4), (256, 260), (512, 1028)])
def test_bc6h_decode_of_any_size(tmp_path, size):
    width, height = size
    blocks = np.random.default_rng(1).integers(0, 256, width * height, np.uint8).tobytes()
    head = bytearray((DATA / "bc6h/lythwood_room.dds").read_bytes()[:148])
    head[12:20] = struct.pack("<2I", height, width)
    head[28:32] = struct.pack("<I", 1)  # mips
    got = clcook.bc6h_decode(bytes(head) + blocks)
    signed = head[84:88] == b"DX10" and head[128] == 96
    (tmp_path / "in").write_bytes(blocks)
    plain(
        *("bc6h_decode", tmp_path / "in", tmp_path / "out", width, height),
        *("signed_float" if signed else "unsigned_float", "rgba16f"),
    )
    same(got, np.fromfile(tmp_path / "out", np.float16).reshape(height, width, 4))


def test_bc6h_decode_warns_of_an_odd_file(tmp_path):
    file = DATA / "bc6h/lythwood_room.dds"
    odd = tmp_path / "odd.dds"
    odd.write_bytes(file.read_bytes() + b"behind the end")
    with pytest.warns(UserWarning, match="odd.dds: DDS: bytes are left over"):
        got = clcook.bc6h_decode(odd)
    same(got, clcook.bc6h_decode(file))


@pytest.mark.parametrize("dtype", PIXELS)
@pytest.mark.parametrize(
    "shape",
    [
        (33, 47, 4),
        pytest.param((1, 1, 4), marks=pytest.mark.slow),
        pytest.param((300, 301, 4), marks=pytest.mark.slow),
    ],
)
def test_stream_compaction(tmp_path, dtype, shape):
    a = picture(shape, dtype)
    pixel = {"uint8": "rgba8", "uint16": "rgba16", "float16": "rgba16f", "float32": "rgba32f"}[dtype]
    top = 256 * (np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 2)
    for threshold in (-(10**9), 0.6 * top, 10**9):
        a.tofile(tmp_path / "in")
        plain(
            *("stream_compaction", tmp_path / "in", tmp_path / "out", shape[1], shape[0]),
            *(pixel, threshold),
        )
        same(clcook.stream_compaction(a, threshold), np.fromfile(tmp_path / "out", np.uint32))


def test_stream_compaction_of_one_and_three_channels():
    gray = picture((20, 31), "uint8")
    np.testing.assert_array_equal(
        clcook.stream_compaction(gray, 100 * 256), np.flatnonzero(gray >= 100)
    )
    colour = picture((20, 31, 3), "uint8")
    sums = colour.astype(int) @ np.array([54, 183, 19])
    np.testing.assert_array_equal(
        clcook.stream_compaction(colour, 30000), np.flatnonzero(sums >= 30000)
    )
    np.testing.assert_array_equal(
        clcook.stream_compaction(colour[..., ::-1].copy(), 30000, weights=(19, 183, 54)),
        np.flatnonzero(sums >= 30000),
    )
    # Rows that are filled up to four bytes.
    padded = np.zeros((20, 96), "uint8")
    padded[:, :93] = colour.reshape(20, 93)
    rows = np.lib.stride_tricks.as_strided(padded, (20, 31, 3), (96, 3, 1))
    np.testing.assert_array_equal(
        clcook.stream_compaction(rows, 30000), np.flatnonzero(sums >= 30000)
    )


def test_a_compaction_where_its_result_is_made():
    gray = picture((601, 1000), "uint8")
    pixels = gray.ravel()
    held = []
    for least in (0, 200, 100, 250, 180, 255, 256, 0, 180):
        held.append((least, clcook.stream_compaction(gray, 256 * least)))
    # Later calls write to other memory, and what was given back was the rest.
    for least, got in held:
        np.testing.assert_array_equal(got, np.flatnonzero(pixels >= least))
        # Few of many do not hold the memory for all.
        assert got.size * 8 >= pixels.size or got.base is None
    # A device with memory of its own says how many there are before it gives them.
    problem = {"width": 1000, "height": 601, "pixel": "r8", "weights": (54, 183, 19)}
    plan = clcook._clcook._StreamCompactionOnHost(**problem)
    expected = np.flatnonzero(pixels >= 180)
    got = np.empty(expected.size, np.uint32)
    assert plan.run(gray.ctypes.data, 1000, 256 * 180, 0) == expected.size
    plan.read(got.ctypes.data, got.size)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux alone")
def test_pages_that_are_dropped():
    page = mmap.PAGESIZE
    a = np.full(30 * page, 7, np.uint8)
    assert clcook._clcook._drop_pages(a.ctypes.data + 5000, 20 * page)
    assert (a[:5000] == 7).all() and (a[5000 + 20 * page :] == 7).all()
    assert (a[5000 + page : 5000 + 19 * page] == 0).all()
    assert clcook._clcook._drop_pages(a.ctypes.data, 10) and a[0] == 7


# ---- plans on buffers ----


def blur_plan(queue, a, sigma=3, **more):
    return clcook.GaussianBlur(
        queue,
        width=a.shape[1],
        height=a.shape[0],
        sigma_x=sigma,
        sigma_y=sigma,
        pixel=pixel_type(a.dtype, a.shape[2] if a.ndim == 3 else 1),
        **more,
    )


def test_a_channel_and_a_number_are_a_type_for_a_version_more(queue, buffer_of, read):
    a = picture((9, 21, 3), "uint8")
    size = {"width": 21, "height": 9, "sigma_x": 1, "sigma_y": 1}
    with pytest.warns(DeprecationWarning, match="pixel is the name of a type.*'u8' and channels"):
        old = clcook.GaussianBlur(queue, **size, pixel="u8", channels=3)
    new = clcook.GaussianBlur(queue, **size, pixel="rgb8")
    results = []
    for plan in (old, new):
        assert plan.problem["channels"] == 3
        dst = buffer_of(np.zeros_like(a))
        results.append(read(a, dst, plan(buffer_of(a), dst)))
    assert (old.problem["pixel"], new.problem["pixel"]) == ("u8", "rgb8")
    same(*results)
    with pytest.raises(clcook.InvalidArgument, match="'rgb9'; known are r8, rg8"):
        clcook.GaussianBlur(queue, **size, pixel="rgb9")


def test_plan_on_buffers(tmp_path, cl, queue, context, buffer_of, read):
    a = picture((45, 70, 4), "uint8")
    expected = cpp_blur(tmp_path, a, 3)
    plan = blur_plan(queue, a)
    src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
    event = plan(src, dst)
    assert isinstance(event, cl.Event)
    same(read(a, dst, event), expected)
    event.wait()
    assert event.command_execution_status == cl.command_execution_status.COMPLETE
    same(read(a, src), a)


def test_plan_on_arrays(tmp_path, cl, queue):
    a = picture((45, 70), "float32")
    plan = blur_plan(queue, a)
    src = cl.array.to_device(queue, a)
    dst = cl.array.zeros_like(src)
    event = plan(src, dst)
    assert dst.events[-1] == event
    same(dst.get(), cpp_blur(tmp_path, a, 3))
    # A part of a larger array, with an offset and a pitch.
    whole = cl.array.to_device(queue, picture((60, 90), "float32"))
    part = whole[4:49, 10:80]
    plan(part, dst)
    same(dst.get(), cpp_blur(tmp_path, np.ascontiguousarray(whole.get()[4:49, 10:80]), 3))


def test_plan_on_views(tmp_path, queue, buffer_of, read):
    whole = picture((60, 90, 4), "uint8")
    part = np.ascontiguousarray(whole[4:49, 10:80])
    plan = blur_plan(queue, part)
    dst = buffer_of(np.zeros_like(part))
    view = clcook.BufferView(buffer_of(whole), offset=(4 * 90 + 10) * 4, pitch=90 * 4)
    same(read(part, dst, plan(view, dst)), cpp_blur(tmp_path, part, 3))
    assert (view.offset, view.pitch) == (1480, 360)


def test_plan_on_images(tmp_path, cl, context, queue):
    a = picture((45, 70, 4), "uint8")
    plan = blur_plan(queue, a)
    images = [cl.image_from_array(context, x, 4, mode="w") for x in (a, np.zeros_like(a))]
    images[0] = cl.image_from_array(context, a, 4)
    out = np.empty_like(a)
    event = plan(images[0], clcook.ImageView(images[1]))
    cl.enqueue_copy(queue, out, images[1], origin=(0, 0), region=(70, 45), wait_for=[event])
    same(out, cpp_blur(tmp_path, a, 3))


def test_wait_list(cl, context, queue, buffer_of, read):
    a = picture((45, 70, 4), "uint8")
    plan = blur_plan(queue, a)
    src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
    gate = cl.UserEvent(context)
    event = plan(src, dst, [gate])
    queue.flush()
    assert event.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    same(read(a, dst), blur(a, 3))


def test_set_sigma(tmp_path, queue, buffer_of, read):
    a = picture((45, 70, 4), "uint8")
    plan = blur_plan(queue, a)
    plan.build_for(30, 30)
    plan.set_sigma(30, 30)
    assert plan.problem["sigma_x"] == 30
    src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
    same(read(a, dst, plan(src, dst)), cpp_blur(tmp_path, a, 30))


def test_other_plans(tmp_path, cl, queue, buffer_of, read):
    a = picture((45, 70, 4), "uint8")
    compact = clcook.StreamCompaction(queue, width=70, height=45, pixel="rgba8")
    dst = cl.array.zeros(queue, a.shape[0] * a.shape[1], np.uint32)
    kept = cl.array.zeros(queue, 1, np.uint32)
    compact(cl.array.to_device(queue, a), dst, kept, 30000)
    count = int(kept.get()[0])
    same(dst.get()[:count], clcook.stream_compaction(a, 30000))

    blocks = np.random.default_rng(5).integers(0, 256, (4, 6, 16), np.uint8)
    decode = clcook.Bc6hDecode(queue, width=21, height=15, format="signed_float", texel="rgba32f")
    texels = cl.array.zeros(queue, (15, 21, 4), np.float32)
    decode(buffer_of(blocks), texels)
    blocks.tofile(tmp_path / "in")
    plain(
        *("bc6h_decode", tmp_path / "in", tmp_path / "out", 21, 15, "signed_float", "rgba32f")
    )
    same(texels.get(), np.fromfile(tmp_path / "out", np.float32).reshape(15, 21, 4))


def test_variants_and_runtimes(queue, buffer_of, read):
    a = picture((45, 70, 4), "uint8")
    runtime = clcook.Runtime(queue)
    assert runtime.device
    plan = blur_plan(runtime, a, variant="naive")
    assert plan.variant == "naive"
    assert plan.describe().startswith("naive")
    assert plan.psnr > 60 and isinstance(plan.in_place, bool)
    src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
    got = read(a, dst, plan(src, dst)).astype(int)
    assert np.abs(got - blur(a, 3)).max() <= 1


@pytest.mark.slow
def test_every_plan_is_called(cl, queue, context):
    """Plans on buffers whose data are bytes to Python: results by numpy."""
    random = np.random.default_rng(3)
    values = random.random(1000).astype(np.float32)
    thresholds = np.linspace(0.9, 0.1, 9, dtype=np.float32)  # they must not rise
    source = cl.array.to_device(queue, values)
    slots = cl.array.zeros(queue, 1000, np.uint8)
    count = clcook.ThresholdCount(queue, count=1000, thresholds=thresholds)
    np.testing.assert_allclose(count.problem["thresholds"], thresholds)
    count(source, slots).wait()
    np.testing.assert_array_equal(slots.get(), (thresholds > values[:, None]).sum(1))

    picture_in = cl.array.to_device(queue, picture((31, 40, 4), "float32"))
    out = cl.array.empty_like(picture_in)
    largest = clcook.HaloTile(queue, filter="dilation", width=40, height=31, radius=1)
    largest(picture_in, out).wait()
    edged = np.pad(picture_in.get(), ((1, 1), (1, 1), (0, 0)), "edge")
    windows = np.lib.stride_tricks.sliding_window_view(edged, (3, 3), (0, 1))
    same(out.get(), windows.max((-2, -1)))

    wide = clcook.LineBlur(queue, width=40, height=31, radius=0)
    wide(picture_in, out, wait_for=None).wait()
    same(out.get(), picture_in.get())
    sepia = clcook.GroupSwizzle(
        queue, width=40, height=31, work="filter", matrix=np.eye(4).ravel(), variant="row_major"
    )
    sepia(picture_in, out).wait()
    np.testing.assert_allclose(out.get(), picture_in.get(), rtol=1e-6)
    direct = clcook.GroupSize(
        queue, work="streaming", count=1000, factor=2, summand=1, variant="direct", tune="group=64"
    )
    assert (direct.variant, direct.tune) == ("direct", "group=64")
    doubled = cl.array.empty_like(source)
    direct(source, doubled).wait()
    np.testing.assert_allclose(doubled.get(), 2 * values + 1, rtol=1e-6)
    headers = cl.array.to_device(queue, np.array([0, 1, 2, 3], np.uint32))
    modes = cl.array.zeros(queue, 4, np.uint8)
    clcook.Bc6hMode(queue, count=4)(headers, modes, [cl.enqueue_marker(queue)]).wait()
    assert modes.get()[0] == 0
    for bad in ((), (headers,), (headers, modes, None, 3)):
        with pytest.raises(TypeError, match="2 buffers"):
            clcook.Bc6hMode(queue, count=4)(*bad)

    keys = np.random.default_rng(5).integers(0, 9, 500).astype(np.uint8)  # 8 is no path
    listed, offsets = cl.array.zeros(queue, 500, np.uint32), cl.array.zeros(queue, 9, np.uint32)
    order = clcook.RegroupOrder(queue, items=500, paths=8)
    order(cl.array.to_device(queue, keys), listed, offsets).wait()
    expected = np.argsort(keys, kind="stable")[: np.count_nonzero(keys < 8)]
    np.testing.assert_array_equal(listed.get()[: len(expected)], expected)
    np.testing.assert_array_equal(offsets.get(), np.searchsorted(np.sort(keys), np.arange(9)))
    shaded = cl.array.zeros(queue, (500, 4), np.float32)
    items = cl.array.to_device(queue, np.full((500, 4), 0x40404040, np.uint32))
    shade = clcook.Regroup(queue, items=500, paths=8, parameters=(0, 0, 1, 0.5))
    assert shade.problem["parameters"] == (0, 0, 1, 0.5)
    shade(cl.array.to_device(queue, keys), items, shaded).wait()
    assert not shaded.get()[keys == 8].any() and shaded.get()[keys < 8].any()

    points = np.random.default_rng(6).random((16, 4), np.float32)
    control = cl.array.zeros(queue, (16, 4), np.float32)
    patch = clcook.FoldedSwitch(queue, vertices=16, valences=[(4, 4, 4, 4)], indices=range(16))
    assert patch.problem["valences"] == ((4, 4, 4, 4),)
    patch(cl.array.to_device(queue, points), control).wait()
    # An inner control point: 4 of its vertex, 2 of two neighbours, 1 of the vertex across.
    inner = (4 * points[0] + 2 * points[1] + points[2] + 2 * points[3]) / 9
    assert min(np.abs(control.get()[:, :3] - inner[:3]).max(1)) < 1e-6
    with pytest.raises(clcook.InvalidArgument, match="4 numbers, got 3"):
        clcook.FoldedSwitch(queue, vertices=16, valences=[(4, 4, 4)], indices=range(16))
    with pytest.raises(clcook.InvalidArgument, match="must be 0 to 255, got 300"):
        clcook.FoldedSwitch(queue, vertices=16, valences=[(4, 4, 4, 300)], indices=range(16))

    # One texel, up, white, in full light from above and without.
    texel = np.array([[0x007F0000, 0xFFFFFF, 0, 0], [0x007F0000, 0xFFFFFF, 0, 1]], np.uint32)
    colours = cl.array.zeros(queue, 2, np.uint32)
    deferred = clcook.GbufferShade(
        queue, texels=2, lights=[(0, 0, 127, 0xFFFFFF)], fog_colour=0x808080
    )
    assert deferred.problem["lights"] == ((0, 0, 127, 0xFFFFFF),)
    deferred(cl.array.to_device(queue, texel), colours).wait()
    lit, dark = (colours.get() & 255).tolist()
    assert lit > 200 and dark == 0
    with pytest.raises(clcook.InvalidArgument, match="x, y, z and the colour, got 3"):
        clcook.GbufferShade(queue, texels=1, lights=[(0, 0, 127)], fog_colour=0)

    rope = clcook.Island.rope(5, 0.5)
    assert (rope.particles, rope.constraints, rope.colours) == (5, 4, 2)
    solve = clcook.LocalMultipass(queue, islands=2, iterations=200, island=rope)
    particles = np.zeros((2, 5, 4), np.float32)
    particles[..., 0] = np.arange(5) * 0.7
    particles[:, 1:, 3] = 1  # the first one is held
    device_particles = cl.array.to_device(queue, particles)
    solve(device_particles, device_particles).wait()
    lengths = np.linalg.norm(np.diff(device_particles.get()[..., :3], axis=1), axis=2)
    np.testing.assert_allclose(lengths, 0.5, atol=1e-3)
    with pytest.raises(clcook.WrongType, match="island must be a clcook.Island"):
        clcook.LocalMultipass(queue, islands=2, iterations=1, island=3)

    skinned = clcook.VertexTransform(queue, vertices=3, instances=2, bones=1, variant="uniform")
    assert (skinned.vertex_format, skinned.result_format, skinned.matrix_rows) == ("float4", "float4", 4)
    mesh = np.random.default_rng(7).random((3, 2, 4), np.float32)
    mesh[:, 0, 3], mesh[:, 1, 3] = 1, 0
    skin = np.zeros((3, 8), np.uint8)
    skin[:, 4] = 255
    world = np.tile(np.eye(4, dtype=np.float32), (2, 1, 1))
    world[1, :3, 3] = (1, 2, 3)
    bones = np.tile(np.eye(4, dtype=np.float32), (2, 1, 1))
    posed = cl.array.zeros(queue, (2, 3, 2, 4), np.float32)
    device = [cl.array.to_device(queue, one) for one in (mesh, skin, world, bones)]
    skinned(*device, posed).wait()
    np.testing.assert_allclose(posed.get()[0], mesh, rtol=1e-5)
    np.testing.assert_allclose(posed.get()[1, :, 0, :3], mesh[:, 0, :3] + (1, 2, 3), rtol=1e-5)
    np.testing.assert_allclose(posed.get()[1, :, 1], mesh[:, 1], rtol=1e-5)
