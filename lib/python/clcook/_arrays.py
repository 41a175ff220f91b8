"""Functions from numpy to numpy: what arrays must be, and the plans that they keep."""

from __future__ import annotations

import functools
import io
import math
import operator
import os
import pathlib
import sys
import threading
import warnings
from collections import OrderedDict
from typing import Any, Callable, Iterable, Iterator, Literal, Sequence, SupportsFloat, SupportsIndex, Union

import numpy as np

from . import _clcook
from .errors import Error, FileError, OutOfResources, _invalid

Mode = Literal[
    "nearest",
    "reflect",
    "mirror",
    "wrap",
    "constant",
    "grid-mirror",
    "grid-wrap",
    "grid-constant",
]
Alpha = Literal["none", "straight", "premultiplied"]
Devices = Literal["one", "all"]
# numpy's scalars are such numbers too, and an array of one is one.
Number = SupportsFloat
Whole = SupportsIndex
Sigma = Union[Number, Sequence[Number]]

# scipy's names of what lies outside, and the library's.
_BORDERS: dict[Mode, str] = {
    "nearest": "clamp",
    "reflect": "mirror",
    "mirror": "reflect_101",
    "wrap": "wrap",
    "constant": "constant",
    "grid-mirror": "mirror",
    "grid-wrap": "wrap",
    "grid-constant": "constant",
}
# By type: to ask a type for its name takes longer than all other checks. Another byte order is another type.
_CHANNELS = {
    np.dtype(name): ours
    for name, ours in {"uint8": "u8", "uint16": "u16", "float16": "f16", "float32": "f32"}.items()
}


def _pixel(dtype: np.dtype, channels: int) -> str:
    return f"{'rgba'[:channels]}{8 * dtype.itemsize}{'f' if dtype.kind == 'f' else ''}"


def _limits(root: str = "/") -> Iterator[int]:
    """What the process may hold: of its cgroups, v1 or v2, as far as they are visible, and of ulimit.
    `root` is where /proc and /sys lie."""
    try:
        with open(f"{root}proc/self/cgroup") as file:
            groups = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        groups = []
    for _, controllers, path in groups:
        if controllers and "memory" not in controllers.split(","):
            continue
        where = f"{root}sys/fs/cgroup/" + ("memory" if controllers else "")
        names = ("memory.limit_in_bytes",) if controllers else ("memory.max", "memory.high")
        # In a container the path may be the host's, and its end is then the root.
        for folder in (path, *map(str, pathlib.PurePosixPath(path).parents)):
            for name in names:
                try:
                    with open(f"{where}/{folder}/{name}") as file:
                        yield int(file.read())
                except (OSError, ValueError):  # "max"
                    pass
    try:
        import resource
    except ImportError:  # not here
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit


def _most_of_host(total: int) -> int:
    # As if each core had a process that keeps as much.
    return min([total // (4 * (os.cpu_count() or 1)), *(one // 8 for one in _limits())])


@functools.lru_cache(maxsize=None)
def _most_of_process() -> int:
    total, is_host = _clcook._device_memory()
    return _most_of_host(total) if is_host else total // 8


@functools.lru_cache(maxsize=None)
def _most_of_results() -> int:
    if not hasattr(os, "sysconf"):
        return 0
    return _most_of_host(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) // 4


def _of_worker(most: int) -> int:
    """Of bytes of this process, what a task of dask may keep, which shares them with all others of its
    worker."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return most
    try:
        limit = distributed.get_worker().memory_manager.memory_limit
    except (AttributeError, ValueError):  # no task
        limit = None
    return min(most, limit // 8) if limit else most


def _most_kept() -> int:
    """The bytes that plans may hold which are kept. The buffers of a device that is the host are memory
    of this process."""
    most = _most_of_process()
    return _of_worker(most) if _clcook._device_memory()[1] else most


class _Owner:
    """What an array of kept memory stands on: when the array and all views of it are gone, the memory
    goes back."""

    __slots__ = ("__array_interface__", "_memory", "_results")

    def __init__(self, results: _Results, memory: np.ndarray, shape: tuple, dtype: np.dtype) -> None:
        self._results, self._memory = results, memory
        self.__array_interface__ = {
            "shape": shape,
            "typestr": dtype.str,
            "data": (memory.ctypes.data, False),
            "version": 3,
        }

    def __del__(self) -> None:
        self._results.give_back(self._memory)  # at the end of a program no global is there


class _Results:
    """Memory of results that were dropped, for those to come: to have the system find new memory takes
    as long as to copy into it. Without a lock: a result may be dropped anywhere, also in here. So the
    list is of addresses: one of pairs makes objects, and may drop results while it goes over them."""

    LEAST = 1 << 20  # bytes; malloc keeps what is smaller

    def __init__(self) -> None:
        self._idle: dict[int, np.ndarray] = {}  # by address, the oldest first
        self._most = 0

    def empty(self, shape: tuple, dtype: Any) -> np.ndarray:
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size < self.LEAST:
            return np.empty(shape, dtype)
        self._most = _of_worker(_most_of_results())
        for address in list(self._idle):
            memory = self._idle.get(address)
            if memory is not None and memory.size == size and self._idle.pop(address, None) is memory:
                break
        else:
            memory = np.empty(size, np.uint8)
        return np.asarray(_Owner(self, memory, shape, dtype))

    def give_back(self, memory: np.ndarray) -> None:
        if memory.size > self._most:
            return
        self._idle[memory.ctypes.data] = memory
        held = [(address, self._idle.get(address)) for address in list(self._idle)]
        size = sum(one.size for _, one in held if one is not None)
        for address, one in held:
            if size <= self._most:
                break
            if one is not None:
                self._idle.pop(address, None)
                size -= one.size

    def clear(self) -> None:
        self._most = 0
        self._idle.clear()


_results = _Results()


class _Plans:
    """The plans of the last kinds of pictures, each with its buffers on the device. One that is in
    use is out of the list, so no two threads have the same."""

    MOST = 8

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
        self._next = 0
        self._freed = 0  # bytes since the last trim

    def run(self, key: Any, make: Callable[[], Any], call: Callable[[Any], Any]) -> Any:
        """call(plan) with the plan of that key, kept or made. Where `call` raises it is not kept."""
        _clcook._refuse_fork()
        plan = self._take(key)
        if plan is None:
            plan = self.or_without(make)
            self._make_room(plan.bytes)  # before its buffers are written to
        result = call(plan)
        bytes = plan.bytes
        if bytes > _most_kept():
            del plan
            self._trim(bytes)
        else:
            self._make_room(bytes, (key, plan))
        return result

    def _take(self, key: Any) -> Any:
        with self._lock:
            for name in reversed(self._idle):
                if self._idle[name][0] == key:
                    return self._idle.pop(name)[1]
        return None

    def _make_room(self, room: int, kept: tuple[Any, Any] | None = None) -> None:
        """Drops the oldest, so that there is room for a plan of so many bytes, and keeps it."""
        dropped = []
        most = _most_kept()
        with self._lock:
            held = before = sum(one.bytes for _, one in self._idle.values())
            while self._idle and (len(self._idle) >= self.MOST or room + held > most):
                dropped.append(self._idle.popitem(last=False)[1][1])
                held -= dropped[-1].bytes
            if kept is not None:
                self._idle[self._next] = kept
                self._next += 1
        if dropped:
            del dropped  # outside the lock: a release may wait
            self._trim(before - held)

    def _trim(self, freed: int) -> None:
        """Now and then, as it takes longer the more memory a process has."""
        self._freed += freed
        if self._freed >= 1 << 25:
            self._freed = 0
            _clcook._trim()

    def or_without(self, make: Callable[[], Any]) -> Any:
        """What is made, without what is kept if there is no memory for both."""
        try:
            return make()
        except MemoryError:
            self.clear()
            return make()

    def clear(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, OrderedDict()
        _results.clear()
        _clcook._clear_stagings()
        _clcook._clear_pipeline()
        if idle:
            idle.clear()
            _clcook._trim()


_plans = _Plans()
# A fork while another thread holds the lock leaves it locked in the child.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(_plans, "_lock", threading.Lock()))


def clear() -> None:
    """Releases the plans, and the device memory behind them, that functions on numpy arrays keep for
    pictures like the last ones: at most eight, and not much memory; docs/python.md says how much."""
    _plans.clear()


def _array(a: Any, where: str, name: str) -> np.ndarray:
    """Checks type and byte order. Copies nothing."""
    if not isinstance(a, np.ndarray):
        raise _invalid(where, f"{name} must be a numpy array, got {type(a).__name__}", True)
    _elements(a.dtype, a.shape, where, name)
    return a


def _elements(dtype: np.dtype, shape: tuple[int, ...], where: str, name: str) -> None:
    if dtype not in _CHANNELS:
        raise _invalid(
            where,
            f"{name} must be of {', '.join(one.name for one in _CHANNELS)} in this machine's byte order, got the type "
            f"'{dtype.str}' ({dtype.name})",
            True,
        )


def _rows(a: np.ndarray, where: str, name: str, row_dims: int) -> tuple[int, int]:
    """The address, and the bytes from row to row. A row is the last `row_dims` dimensions, without
    gaps; rows may lie apart, at one pitch, one behind the other."""
    step = a.itemsize
    pitch = 0
    if a.flags.c_contiguous:
        return _clcook._address(a), step * math.prod(a.shape[-row_dims:])
    row = a.ndim - row_dims - 1
    while row > 0 and a.shape[row] == 1:  # rows lie apart by the stride of what has several
        row -= 1
    for d in range(a.ndim - 1, -1, -1):
        is_row = d == row
        stride = a.strides[d]
        if a.shape[d] > 1 and (stride < step if is_row else stride != step):
            raise _invalid(
                where,
                f"{name} must have rows without gaps, one behind the other: the stride of dimension "
                f"{d} must be {'at least ' if is_row else ''}{step} bytes, got {stride}; "
                "numpy.ascontiguousarray makes a copy that has them",
            )
        if is_row:
            pitch = step if a.shape[d] == 1 else stride
            step = pitch
        step *= a.shape[d]
    if pitch == 0:
        pitch = step
    return _clcook._address(a), pitch


def _result(out: Any, shape: tuple, dtype: Any, where: str) -> np.ndarray:
    """The array to write to: `out`, checked, or a new one."""
    if out is None:
        return _plans.or_without(lambda: _results.empty(shape, dtype))
    if not isinstance(out, np.ndarray):
        raise _invalid(where, f"out must be a numpy array, got {type(out).__name__}", True)
    if out.dtype != dtype or not out.dtype.isnative:
        raise _invalid(
            where, f"out must be of {np.dtype(dtype).name}, got the type '{out.dtype.str}'", True
        )
    if out.shape != shape:
        raise _invalid(where, f"out must have the shape {shape}, got {out.shape}")
    if not out.flags.writeable:
        raise _invalid(where, "out must be writeable, got a read-only array")
    return out


def _number(value: Any, where: str, name: str) -> float:
    try:
        if isinstance(value, (str, bytes, bytearray)) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
            raise TypeError
        return float(value)
    except OverflowError:
        kind = type(value).__name__
        raise _invalid(where, f"{name} must be a number that a double holds, got {kind} beyond 1.8e308") from None
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise _invalid(where, f"{name} must be a number, got {kind} {value!r}", True) from None


def _sigmas(sigma: Any, count: int, where: str) -> list[float]:
    """Of x, y and z from one number, or from one per dimension in the order of the array's."""
    if isinstance(sigma, (float, int)) or np.ndim(sigma) == 0:
        return [_number(sigma, where, "sigma")] * count
    values = [_number(one, where, "sigma") for one in sigma]
    if len(values) != count:
        raise _invalid(
            where, f"sigma must be one number, or {count} in the order of the dimensions, got {len(values)}"
        )
    return values[::-1]


def _edge(mode: Any, cval: Any, where: str) -> dict[str, Any]:
    """What lies outside, as members of a problem."""
    if not isinstance(mode, str):
        raise _invalid(where, f"mode must be a str, got {type(mode).__name__}", True)
    if mode not in _BORDERS:
        raise _invalid(where, f"mode must be one of {', '.join(_BORDERS)}, got {mode!r}")
    outside = _number(cval, where, "cval")
    return {"border": _BORDERS[mode], "outside": (outside,) * 4}


def _layout(
    shape: tuple[int, ...], channel_axis: Any, dims: Sequence[int], where: str
) -> tuple[range, int]:
    """The dimensions that are no channels, and how many channels a pixel has: 1 where they come first,
    as each is then filtered by itself, and where there are none."""
    ndim = len(shape)
    axes, channels = range(ndim), 1
    if channel_axis is not None:
        if isinstance(channel_axis, bool) or not isinstance(channel_axis, (int, np.integer)):
            kind = type(channel_axis).__name__
            raise _invalid(where, f"channel_axis must be None or a whole number, got {kind}", True)
        if channel_axis not in (0, -1, ndim - 1):
            raise _invalid(
                where,
                f"channel_axis must be the first or the last, 0 or -1, got {channel_axis}",
                axis=not -ndim <= channel_axis < ndim,
            )
        if channel_axis in (-1, ndim - 1):
            axes, channels = range(ndim - 1), max(shape[-1], 1)
        else:
            axes = range(1, ndim)
    if len(axes) not in dims:
        raise _invalid(
            where,
            f"image must have {' or '.join(map(str, dims))} dimensions beside its channels, got "
            f"{ndim} with channel_axis={channel_axis}",
        )
    return axes, channels


def _filter(
    image: Any,
    channel_axis: Any,
    dims: Sequence[int],
    out: Any,
    where: str,
    pose: Callable[[tuple[int, ...], int], tuple[Callable[[], Any], Callable[..., None]]],
) -> np.ndarray:
    """Checks the arrays of a filter. Of pose(extents, channels), which poses the problem, it calls the
    first result, a check of all other arguments, on an array without elements; else the second,
    run(src, dst, row_dims), on the array with its channels last, or on each channel of one that has
    them first."""
    _array(image, where, "image")
    axes, channels = _layout(image.shape, channel_axis, dims, where)
    target = _result(out, image.shape, image.dtype, where)
    # What has no elements is checked as if it had one.
    check, run = pose(tuple(max(image.shape[axis], 1) for axis in axes), channels)
    if image.size == 0:
        check()
    elif axes.start == 0:
        run(image, target, image.ndim - len(axes) + 1)
    else:
        if _is_read_after_writing(image, target):
            _memory(image[0], target[0], 1, where)  # whose rule goes first
            image = image.copy()
        for src, dst in zip(image, target):
            run(src, dst, 1)
    return target


def _is_read_after_writing(image: np.ndarray, out: np.ndarray) -> bool:
    """Whether channels that come first, written to `out` one after the other, change others of `image`."""
    if len(image) == 1 or not np.may_share_memory(image, out):
        return False
    is_in_place = image.ctypes.data == out.ctypes.data and image.strides == out.strides
    return not is_in_place or np.may_share_memory(image[0], image[1])


def _memory(src: np.ndarray, dst: np.ndarray, row_dims: int, where: str) -> tuple[int, ...]:
    return (*_rows(src, where, "image", row_dims), *_rows(dst, where, "out", row_dims))


def _by_rows(height: int, run: Callable[[int, int], None]) -> None:
    """run(first, count) until it has run for all rows: at once, or for as few at a time as the device
    has the memory for."""
    first, count = 0, height
    while first < height:
        count = min(count, height - first)
        try:
            run(first, count)
            first += count
        except OutOfResources:
            _plans.clear()
            if count == 1:
                raise
            count = (count + 1) // 2


@functools.lru_cache(maxsize=None)
def _has_several() -> bool:
    return len(_clcook._devices()) > 1


def gaussian_blur(
    image: np.ndarray,
    sigma: Sigma,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    truncate: Number = 4.0,
    channel_axis: Whole | None = None,
    alpha: Alpha = "none",
    out: np.ndarray | None = None,
    devices: Devices = "one",
) -> np.ndarray:
    """Blurs a line, a picture or a volume with a Gaussian of any sigma; returns an array like `image`.

    image: 1 to 3 dimensions, of uint8, uint16, float16 or float32; one more with channel_axis. Rows
    may lie apart, such as those of a part of a larger picture; else there are no gaps.
    sigma: the standard deviation in pixels, 0 to 500; or one per dimension, in the array's order,
        channels aside.
    mode, cval: what lies outside, by the names of scipy.ndimage: "nearest" (a a | a b c | c c),
        "reflect" (b a | a b c | c b), "mirror" (c b | a b c | b a), "wrap" (b c | a b c | a b) or
        "constant", the value cval.
    truncate: the filter ends at floor(truncate sigma + 1/2) pixels, 0.5 to 8.
    channel_axis: the dimension that holds channels, which are not blurred into each other: None, -1
        for the last (1 to 4 channels), 0 for the first (any number).
    alpha: what the last of 2 or 4 channels is: "straight" where the colours are not multiplied by it, as
        in a PNG; then they count as much as their alpha says. "none" and "premultiplied" blur each
        channel by itself.
    out: where to write to, an array of the same shape and type; may be `image`, or overlap it.
    devices: "one" is clcook.device(); with "all", every device of its platform and kind takes strips of
        the rows, or slabs of a volume, as it gets ready. That pays where kernels take longer than the
        host's copies: for large sigmas of large volumes. With one device it is "one".

    The result is the one of the C++ plan, bit for bit, and that of scipy.ndimage.gaussian_filter
    within what the plan promises; integers are rounded, not cut off. Floats that the rounding of sums
    takes out of the range of `image` come back into it, for each channel, and for each row, column or
    slice where the filter does not cross these: a constant stays what it is. A picture for which the
    device lacks the memory goes over it in strips. A new sigma compiles nothing, unless another method
    is the best for it that no call before has used.
    Thread-safe. Raises clcook.Error.
    """
    where = "gaussian_blur"
    if not isinstance(devices, str):
        raise _invalid(where, f"devices must be a str, got {type(devices).__name__}", True)
    if devices not in ("one", "all"):
        raise _invalid(where, f"devices must be one of one, all, got {devices!r}")
    on_all = devices == "all" and _has_several()

    def pose(extents: tuple[int, ...], channels: int) -> tuple[Callable, Callable]:
        problem, x, y = _gaussian_problem(
            extents, channels, image.dtype, sigma, mode, cval, truncate, alpha, where
        )
        whole = {"sigma_x": x, "sigma_y": y, **problem}
        key = ("gaussian_blur", *problem.items())

        def run(src: np.ndarray, dst: np.ndarray, row_dims: int) -> None:
            memory = _memory(src, dst, row_dims, where)
            if not on_all:
                try:
                    _plans.run(
                        key,
                        lambda: _clcook._GaussianBlurOnHost(**whole),
                        lambda plan: plan.run(*memory, x, y),
                    )
                    return
                except OutOfResources:
                    _plans.clear()  # the picture is larger than the device
            if np.may_share_memory(src, dst):
                src = src.copy()
            memory = _memory(src, dst, row_dims, where)
            _clcook._gaussian_by_strips(*memory, on_all, **whole)

        return lambda: _clcook._gaussian_halo(**whole), run

    return _filter(image, channel_axis, (1, 2, 3), out, where, pose)


def _gaussian_problem(
    extents: Sequence[int],
    channels: int,
    dtype: np.dtype,
    sigma: Any,
    mode: Any,
    cval: Any,
    truncate: Any,
    alpha: Any,
    where: str,
) -> tuple[dict[str, Any], float, float]:
    """A problem but for the sigmas that plans can change, and these, across and down."""
    x, y, z = (_sigmas(sigma, len(extents), where) + [0.0, 0.0])[:3]
    width, height, depth = (*extents[::-1], 1, 1)[:3]
    problem = {
        "width": width,
        "height": height,
        "depth": depth,
        "sigma_z": z,
        "pixel": _pixel(dtype, _few(channels, where)),
        **_edge(mode, cval, where),
        "truncate": _number(truncate, where, "truncate"),
        "alpha": alpha,
    }
    return problem, x, y


def rank_filter(
    image: np.ndarray,
    radius: Whole,
    rank: Number = 0.5,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The median of the neighbours within `radius`, or another rank of them; returns an array like
    `image`, exact.

    image: (height, width) of uint8, uint16, float16 or float32; with channel_axis=-1 (height, width,
    1 to 4), with channel_axis=0 (any number, height, width). Rows may lie apart; else there are no
    gaps.
    radius: 1 to 32 pixels: n = (2 radius + 1)^2 neighbours.
    rank: a float from 0.0, the minimum, over 0.5, the median, to 1.0, the maximum; or an int, as scipy
        has it: the number in ascending order, 0 to n - 1, or -1, the largest, to -n.
    mode, cval, out: as of gaussian_blur. A NaN is larger than all else.

    Thread-safe. Raises clcook.Error.
    """
    return _rank(image, radius, rank, mode, cval, channel_axis, out, "rank_filter")


def dilate(
    image: np.ndarray,
    radius: Whole = 1,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The largest of the neighbours within `radius`, 1 to 32 pixels: scipy.ndimage.grey_dilation with
    a square of 2 radius + 1. The rest is as of rank_filter."""
    return _rank(image, radius, 1.0, mode, cval, channel_axis, out, "dilate")


def erode(
    image: np.ndarray,
    radius: Whole = 1,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The smallest of the neighbours: scipy.ndimage.grey_erosion, as dilate is grey_dilation."""
    return _rank(image, radius, 0.0, mode, cval, channel_axis, out, "erode")


def opening(
    image: np.ndarray,
    radius: Whole = 1,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """An erosion and then a dilation, which takes away what is brighter and smaller than the square:
    scipy.ndimage.grey_opening."""
    return _rank(image, radius, 0.0, mode, cval, channel_axis, out, "opening", 1.0)


def closing(
    image: np.ndarray,
    radius: Whole = 1,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """A dilation and then an erosion: scipy.ndimage.grey_closing."""
    return _rank(image, radius, 1.0, mode, cval, channel_axis, out, "closing", 0.0)


def median3x3(
    image: np.ndarray,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The median of each pixel and its eight neighbours; as rank_filter with the radius 1."""
    return _rank(image, 1, 0.5, mode, cval, channel_axis, out, "median3x3")


def _rank(
    image: Any,
    radius: Any,
    rank: Any,
    mode: Any,
    cval: Any,
    channel_axis: Any,
    out: Any,
    where: str,
    *then: float,
) -> np.ndarray:
    """A rank, and `then`, where there is one, that rank of what comes out."""

    def pose(extents: tuple[int, ...], channels: int) -> tuple[Callable, Callable]:
        problem = _rank_problem(extents, channels, image.dtype, radius, rank, mode, cval, where)
        return _windowed(_clcook._RankFilterOnHost, _clcook._rank_halo, problem, where, *then)

    return _filter(image, channel_axis, (2,), out, where, pose)


def _windowed(
    on_host: Callable[..., Any],
    halo: Callable[..., Any],
    problem: dict[str, Any],
    where: str,
    *then: float,
) -> tuple[Callable, Callable]:
    """What pose() of _filter() returns, for a filter that goes over windows of rows where the device
    lacks the memory for all. halo(**problem) checks, and returns how far the filter reaches, which
    each of `then` does once more."""
    height = problem["height"]

    def filter_all(src: np.ndarray, dst: np.ndarray, row_dims: int) -> None:
        memory = _memory(src, dst, row_dims, where)
        mine = {**problem, "height": len(src)}
        key = (on_host, *then, *mine.values())
        _plans.run(key, lambda: on_host(*then, **mine), lambda plan: plan.run(*memory))

    def run(src: np.ndarray, dst: np.ndarray, row_dims: int) -> None:
        def filter_rows(first: int, count: int) -> None:
            nonlocal src
            if count == height:
                return filter_all(src, dst, row_dims)
            if np.may_share_memory(src, dst):
                src = src.copy()
            reach = halo(**problem)[0] * (1 + len(then))
            begin, end = first - reach, first + count + reach
            if problem["border"] == "wrap":
                window = src[np.arange(begin, end) % height]
            else:
                begin, end = max(begin, 0), min(end, height)
                window = src[begin:end]
            part = np.empty(window.shape, window.dtype)
            filter_all(window, part, row_dims)
            dst[first : first + count] = part[first - begin : first - begin + count]

        _by_rows(height, filter_rows)

    return lambda: halo(**problem), run


def separable_filter(
    image: np.ndarray,
    taps_y: Iterable[Number],
    taps_x: Iterable[Number],
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Each pixel becomes the sum of its neighbours in a row and a column times taps of your own:
    scipy.ndimage.correlate1d down and across, in one. Returns an array like `image`.

    taps_y, taps_x: an odd number each, at most 8001, the centre in the middle; from the first row or
    column on. [1] filters nothing along that dimension.
    image, mode, cval, channel_axis, out: as of rank_filter.

    Integers are rounded and end at 0 and their largest value: for the negative half of a derivative take
    a float type. Thread-safe. Raises clcook.Error.
    """
    where = "separable_filter"
    taps = {"taps_y": _taps(taps_y, where, "taps_y"), "taps_x": _taps(taps_x, where, "taps_x")}
    return _separable(image, taps, mode, cval, channel_axis, out, where)


def box_filter(
    image: np.ndarray,
    size: Whole | Iterable[Whole],
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The mean of `size` x `size` pixels: scipy.ndimage.uniform_filter. size: odd, 1 to 8001; or one for
    the height and one for the width. The rest is as of separable_filter."""
    where = "box_filter"
    try:
        sizes = [operator.index(one) for one in ((size, size) if np.ndim(size) == 0 else size)]  # type: ignore
    except TypeError:
        raise _invalid(where, f"size must be whole numbers, got {size!r}", True) from None
    if len(sizes) != 2 or any(one % 2 == 0 or not 1 <= one <= 8001 for one in sizes):
        raise _invalid(
            where, f"size must be an odd number from 1 to 8001, or two of them, got {size!r}"
        )
    taps = {name: (1 / one,) * one for name, one in zip(("taps_y", "taps_x"), sizes)}
    return _separable(image, taps, mode, cval, channel_axis, out, where)


def _taps(taps: Any, where: str, name: str) -> tuple[float, ...]:
    try:
        return tuple(_number(one, where, name) for one in taps)
    except TypeError as error:
        if isinstance(error, Error):
            raise
        kind = type(taps).__name__
        raise _invalid(where, f"{name} must be a sequence of numbers, got {kind}", True) from None


def _separable(
    image: Any, taps: Any, mode: Any, cval: Any, channel_axis: Any, out: Any, where: str
) -> np.ndarray:
    def pose(extents: tuple[int, ...], channels: int) -> tuple[Callable, Callable]:
        problem = {
            "width": extents[1],
            "height": extents[0],
            **taps,
            "pixel": _pixel(image.dtype, _few(channels, where)),
            **_edge(mode, cval, where),
        }
        return _windowed(
            _clcook._SeparableFilterOnHost, _clcook._separable_halo, problem, where
        )

    return _filter(image, channel_axis, (2,), out, where, pose)


def _few(channels: int, where: str) -> int:
    if not 1 <= channels <= 4:
        raise _invalid(where, f"image must have 1 to 4 channels, got {channels}")
    return channels


def _fraction(rank: Any, radius: Any, where: str) -> float:
    """The library's rank, a fraction, of one from 0 to 1 or of scipy's, a whole number."""
    if isinstance(rank, (bool, np.bool_)):
        raise _invalid(where, f"rank must be a whole number, or a float from 0 to 1, got {rank}", True)
    try:
        index = operator.index(rank)
    except TypeError:
        return _number(rank, where, "rank")
    try:
        count = (2 * operator.index(radius) + 1) ** 2
    except TypeError:
        return 0.5  # the radius will be refused
    if count > 1 and not -count <= index < count:
        raise _invalid(
            where,
            f"rank as a whole number must be {-count} to {count - 1} with the radius {radius}, got {index}; "
            "a float from 0 to 1 is a fraction",
        )
    return index % count / max(count - 1, 1)


def _rank_problem(
    extents: Sequence[int],
    channels: int,
    dtype: np.dtype,
    radius: Any,
    rank: Any,
    mode: Any,
    cval: Any,
    where: str,
) -> dict[str, Any]:
    return {
        "width": extents[1],
        "height": extents[0],
        "radius": radius,
        "rank": _fraction(rank, radius, where),
        "pixel": _pixel(dtype, _few(channels, where)),
        **_edge(mode, cval, where),
    }


def bc6h_decode(
    path: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    slice: Whole = 0,
    mip: Whole = 0,
    dtype: Any = np.float16,
) -> np.ndarray:
    """Decodes a BC6H texture of a DDS file: an array (height, width, 4) of float16, or of float32.

    path: the file, or its bytes. slice, mip: which picture of an array, a cube map or a chain of mips.
    The bits are those that Microsoft's documentation asks for; alpha is 1. Thread-safe. Raises
    clcook.Error, FileError for what is no such file. A file with slips that leave one reading is
    taken with a warning.
    """
    where = "bc6h_decode"
    try:
        texel = {np.dtype("float16"): "rgba16f", np.dtype("float32"): "rgba32f"}[np.dtype(dtype)]
    except (TypeError, KeyError):
        raise _invalid(where, f"dtype must be float16 or float32, got {dtype!r}", True) from None
    for name, value in (("slice", slice), ("mip", mip)):
        if not isinstance(value, (int, np.integer)) or not -(2**63) <= value < 2**63:
            raise _invalid(where, f"{name} must be a whole number, got {value!r}", True)
    held = isinstance(path, (bytes, bytearray, memoryview))
    try:
        name = "the bytes" if held else os.fspath(path)
    except TypeError:
        kind = type(path).__name__
        raise _invalid(where, f"path must be a path or the file's bytes, got {kind}", True) from None
    try:
        with io.BytesIO(path) if held else open(name, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            level = _clcook._dds_level(file.read(148), size, int(slice), int(mip))
            format, width, height, offset, count, odd = level
            file.seek(offset)
            blocks = file.read(count)
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{where}: cannot read {name!r}: {error}", "io", where=where) from error
    for one in odd:
        warnings.warn(f"{name}: DDS: {one}", stacklevel=2)
    texels = _result(None, (height, width, 4), dtype, where)
    to = texels.ctypes.data, texels.strides[0]
    problem = {"width": width, "height": height, "format": format, "texel": texel}
    try:
        _plans.run(
            (where, *problem.values()),
            lambda: _clcook._Bc6hDecodeOnHost(**problem),
            lambda plan: plan.run(blocks, *to),
        )
    except OutOfResources:
        _plans.clear()
        _clcook._bc6h_by_strips(blocks, *to, **problem)
    return texels


def _whole(count: int) -> np.ndarray | None:
    """Memory for so many indices; None where there is none: the device's may do for fewer rows."""
    try:
        return _results.empty((count,), np.uint32)
    except MemoryError:
        return None


def _is_best_whole(whole: np.ndarray, address: int, kept: int) -> bool:
    """Whether the first `kept` of indices stay where they are: where they are half of the memory, or,
    of much memory, an eighth, so that to copy them takes time; then the rest is given back until the
    memory is used again."""
    if kept * 2 >= whole.size:
        return True
    if kept * 8 < whole.size or whole.nbytes < _Results.LEAST:
        return False
    bytes = kept * whole.itemsize
    return _clcook._drop_pages(address + bytes, whole.nbytes - bytes)


def stream_compaction(
    pixels: np.ndarray, threshold: Number, *, weights: Sequence[Whole] = (54, 183, 19)
) -> np.ndarray:
    """The indices of the bright pixels of a picture, in order: y * width + x as uint32.

    pixels: (height, width), one channel, taken as gray; or (height, width, channels) with 1, 3 or 4, red,
    green and blue first; of uint8, uint16, float16 or float32. Rows may lie apart.
    threshold: a pixel is kept when 54 r + 183 g + 19 b >= threshold; the weights sum to 256, so
    256 t means a brightness of t in units of the type. A NaN is never kept.
    weights: of the first three channels, 0 to 255 each and at most 256 together; (19, 183, 54) where
    blue comes first. One channel has a weight of 256.

    Thread-safe. Raises clcook.Error.
    """
    where = "stream_compaction"
    a = _array(pixels, where, "pixels")
    if a.ndim not in (2, 3) or (a.ndim == 3 and a.shape[2] not in (1, 3, 4)):
        raise _invalid(
            where,
            f"pixels must have 2 dimensions, or 3 with 1, 3 or 4 channels, got the shape {a.shape}",
        )
    try:
        parts_of_256 = tuple(operator.index(one) for one in weights)
    except TypeError:
        raise _invalid(where, f"weights must be whole numbers, got {weights!r}", True) from None
    least = _number(threshold, where, "threshold")
    if math.isnan(least):
        raise _invalid(where, f"threshold must be a number, got {least}")
    if a.size == 0:
        return np.empty(0, np.uint32)
    address, pitch = _rows(a, where, "pixels", a.ndim - 1)
    height, width = a.shape[:2]
    channels = 1 if a.ndim == 2 else a.shape[2]
    parts = []

    def compact_rows(first: int, count: int) -> None:
        problem = {
            "width": width,
            "height": count,
            "pixel": _pixel(a.dtype, channels),
            "weights": parts_of_256,
        }
        key = ("stream_compaction", *problem.values())

        def compact(plan: Any) -> np.ndarray:
            whole = _whole(count * width) if plan.wants_whole else None
            at = 0 if whole is None else _clcook._address(whole)
            kept = plan.run(address + first * pitch, pitch, least, at)
            if whole is not None and _is_best_whole(whole, at, kept):
                return whole[:kept]
            indices = _results.empty((kept,), np.uint32)
            if whole is None:
                plan.read(indices.ctypes.data, kept)
            else:
                indices[...] = whole[:kept]
            return indices

        indices = _plans.run(key, lambda: _clcook._StreamCompactionOnHost(**problem), compact)
        if first > 0:
            indices += np.uint32(first * width)
        parts.append(indices)

    _by_rows(height, compact_rows)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
