"""Functions from numpy to numpy: what arrays must be, and the plans that they keep."""

from __future__ import annotations

import os
import threading
import warnings
from collections import OrderedDict
from typing import Any, Callable, Literal, Sequence, Union

import numpy as np

from . import _clcook
from .errors import FileError, _invalid

Border = Literal["clamp", "mirror", "reflect_101", "wrap", "constant"]
Alpha = Literal["none", "straight", "premultiplied"]
Sigma = Union[float, Sequence[float]]

_CHANNELS = {"uint8": "u8", "uint16": "u16", "float16": "f16", "float32": "f32"}


def _pixel(dtype: np.dtype, channels: int) -> str:
    letters = {1: "r", 2: "rg", 4: "rgba"}[channels]
    return f"{letters}{8 * dtype.itemsize}{'f' if dtype.kind == 'f' else ''}"


class _Plans:
    """The plans of the last kinds of pictures, each with its buffers on the device. One that is in
    use is out of the list, so no two threads have the same."""

    MOST = 8

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
        self._next = 0

    def take(self, key: Any, make: Callable[[], Any]) -> Any:
        _clcook._refuse_fork()
        with self._lock:
            for name in reversed(self._idle):
                if self._idle[name][0] == key:
                    return self._idle.pop(name)[1]
        return make()

    def put(self, key: Any, plan: Any) -> None:
        dropped = []
        most = _clcook._device_memory() // 4
        with self._lock:
            self._idle[self._next] = (key, plan)
            self._next += 1
            held = sum(one.bytes for _, one in self._idle.values())
            while self._idle and (len(self._idle) > self.MOST or held > most):
                _, (_, old) = self._idle.popitem(last=False)
                held -= old.bytes
                dropped.append(old)
        del dropped  # outside the lock: a release may wait

    def clear(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, OrderedDict()
        del idle


_plans = _Plans()
# A fork while another thread holds the lock leaves it locked in the child.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(_plans, "_lock", threading.Lock()))


def clear() -> None:
    """Releases the plans, and the device memory behind them, that functions on numpy arrays keep for
    pictures like the last ones: at most eight, and at most a quarter of the device's memory."""
    _plans.clear()


def _array(a: Any, where: str, name: str, dtypes: Sequence[str], dims: Sequence[int]) -> np.ndarray:
    """Checks type, byte order and number of dimensions. Copies nothing."""
    if not isinstance(a, np.ndarray):
        raise _invalid(where, f"{name} must be a numpy array, got {type(a).__name__}", True)
    if a.dtype.name not in dtypes or not a.dtype.isnative:
        raise _invalid(
            where,
            f"{name} must be of {', '.join(dtypes)} in this machine's byte order, got the type "
            f"'{a.dtype.str}' ({a.dtype.name})",
            True,
        )
    if a.ndim not in dims:
        raise _invalid(
            where,
            f"{name} must have {' or '.join(map(str, dims))} dimensions, got {a.ndim}: the shape "
            f"{a.shape}",
        )
    if a.size == 0:
        raise _invalid(where, f"{name} must not be empty, got the shape {a.shape}")
    return a


def _rows(a: np.ndarray, where: str, name: str, row_dims: int) -> tuple[int, int]:
    """The address, and the bytes from row to row. A row is the last `row_dims` dimensions, without
    gaps; rows may lie apart, at one pitch, one behind the other."""
    step = a.itemsize
    pitch = 0
    for d in range(a.ndim - 1, -1, -1):
        is_row = d == a.ndim - row_dims - 1
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
    return a.__array_interface__["data"][0], pitch


def _result(out: Any, shape: tuple, dtype: Any, where: str) -> np.ndarray:
    """The array to write to: `out`, checked, or a new one."""
    if out is None:
        return np.empty(shape, dtype)
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
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise _invalid(where, f"{name} must be a number, got {kind} {value!r}", True) from None


def _sigmas(sigma: Any, count: int, where: str) -> list[float]:
    """Of x, y and z from one number, or from one per dimension in the order of the array's."""
    if np.ndim(sigma) == 0:
        return [_number(sigma, where, "sigma")] * count
    values = [_number(one, where, "sigma") for one in sigma]
    if len(values) != count:
        raise _invalid(
            where, f"sigma must be one number, or {count} in the order of the dimensions, got {len(values)}"
        )
    return values[::-1]


def gaussian_blur(
    a: np.ndarray,
    sigma: Sigma,
    border: Border = "clamp",
    truncate: float = 4,
    volume: bool = False,
    *,
    alpha: Alpha = "none",
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Blurs a picture with a Gaussian of any sigma; returns an array like `a`.

    a: (height, width), or (height, width, channels) with 1 to 4 channels, of uint8, uint16, float16
    or float32. With volume=True (depth, height, width), or with channels last. Rows may lie apart,
    such as those of a part of a larger picture; else there are no gaps.
    sigma: the standard deviation in pixels, 0 to 500; or one per dimension, in the array's order.
    border: what lies outside: "clamp" the nearest pixel, "mirror", "reflect_101", "wrap" or
        "constant", 0.
    truncate: the filter ends at floor(truncate sigma + 1/2) pixels, 0.5 to 8.
    alpha: what the last of 2 or 4 channels is: "straight" where the colours are not multiplied by it, as
    in a PNG; then they count as much as their alpha says. "none" and "premultiplied" blur each channel
    by itself.
    out: where to write to, an array of the same shape and type; may be `a`.

    The result is the one of the C++ plan, bit for bit. A new sigma compiles nothing, unless another
    method is the best for it that no call before has used. Thread-safe. Raises clcook.Error.
    """
    where = "gaussian_blur"
    if not isinstance(volume, (bool, np.bool_)):
        raise _invalid(where, f"volume must be True or False, got {volume!r}", True)
    spatial = 3 if volume else 2
    _array(a, where, "a", tuple(_CHANNELS), (spatial, spatial + 1))
    sigmas = _sigmas(sigma, spatial, where) + [0.0]
    x, y, z = sigmas[:3]
    address, pitch = _rows(a, where, "a", a.ndim - spatial + 1)
    target = _result(out, a.shape, a.dtype, where)
    target_address, target_pitch = _rows(target, where, "out", a.ndim - spatial + 1)
    problem = {
        "width": a.shape[spatial - 1],
        "height": a.shape[spatial - 2],
        "channels": a.shape[spatial] if a.ndim > spatial else 1,
        "pixel": _CHANNELS[a.dtype.name],
        "border": border,
        "truncate": _number(truncate, where, "truncate"),
        "alpha": alpha,
    }
    if volume:
        problem |= {"depth": a.shape[0], "sigma_z": z}
    key = ("gaussian_blur", *problem.items())
    plan = _plans.take(
        key,
        lambda: _clcook._GaussianBlurOnHost(sigma_x=x, sigma_y=y, **problem),
    )
    plan.run(address, pitch, target_address, target_pitch, x, y)
    _plans.put(key, plan)
    return target


def rank_filter(
    a: np.ndarray,
    radius: int,
    rank: float = 0.5,
    *,
    border: Border = "clamp",
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The median of the neighbours within `radius`, or another rank of them; returns an array like
    `a`, exact.

    a: (height, width), or (height, width, channels) with 1, 2 or 4 channels, of uint8, uint16,
    float16 or float32. Rows may lie apart; else there are no gaps.
    radius: 1 to 32 pixels: (2 radius + 1)^2 neighbours. rank: 0 the minimum, 0.5 the median, 1 the
    maximum. border, out: as of gaussian_blur.

    Thread-safe. Raises clcook.Error.
    """
    where = "rank_filter"
    _array(a, where, "a", tuple(_CHANNELS), (2, 3))
    channels = a.shape[2] if a.ndim == 3 else 1
    if channels not in (1, 2, 4):
        raise _invalid(where, f"a must have 1, 2 or 4 channels, got {channels}")
    address, pitch = _rows(a, where, "a", a.ndim - 1)
    target = _result(out, a.shape, a.dtype, where)
    target_address, target_pitch = _rows(target, where, "out", a.ndim - 1)
    problem = {
        "width": a.shape[1],
        "height": a.shape[0],
        "radius": radius,
        "rank": _number(rank, where, "rank"),
        "pixel": _pixel(a.dtype, channels),
        "border": border,
    }
    key = ("rank_filter", *problem.values())
    plan = _plans.take(key, lambda: _clcook._RankFilterOnHost(**problem))
    plan.run(address, pitch, target_address, target_pitch)
    _plans.put(key, plan)
    return target


def bc6h_decode(
    path: str | os.PathLike[str],
    *,
    slice: int = 0,
    mip: int = 0,
    dtype: Any = np.float16,
) -> np.ndarray:
    """Decodes a BC6H texture of a DDS file: an array (height, width, 4) of float16, or of float32.

    path: the file. slice, mip: which picture of an array, a cube map or a chain of mips.
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
    try:
        name = os.fspath(path)
    except TypeError:
        raise _invalid(where, f"path must be a path, got {type(path).__name__}", True) from None
    try:
        with open(name, "rb") as file:
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
    texels = np.empty((height, width, 4), dtype)
    _clcook._bc6h_decode(
        blocks, width, height, format, texel, texels.ctypes.data, texels.strides[0]
    )
    return texels


def stream_compaction(pixels: np.ndarray, threshold: float) -> np.ndarray:
    """The indices of the bright pixels of a picture, in order: y * width + x as uint32.

    pixels: (height, width), one channel, taken as gray; or (height, width, channels) with 3 or 4,
    red, green and blue first; of uint8, uint16, float16 or float32. Of four channels rows may lie
    apart and nothing is copied on the host; one and three are made four there.
    threshold: a pixel is kept when 54 r + 183 g + 19 b >= threshold; the weights sum to 256, so
    256 t means a brightness of t in units of the type. A NaN is never kept.

    Thread-safe. Raises clcook.Error.
    """
    where = "stream_compaction"
    a = _array(pixels, where, "pixels", tuple(_CHANNELS), (2, 3))
    if a.ndim == 3 and a.shape[2] not in (1, 3, 4):
        raise _invalid(where, f"pixels must have 1, 3 or 4 channels, got {a.shape[2]}")
    least = _number(threshold, where, "threshold")
    if a.ndim == 2 or a.shape[2] != 4:
        _rows(a, where, "pixels", a.ndim - 1)  # the same rule for all
        whole = np.empty((*a.shape[:2], 4), a.dtype)
        whole[..., :3] = a[..., np.newaxis] if a.ndim == 2 else a
        whole[..., 3] = 0
        a = whole
    address, pitch = _rows(a, where, "pixels", 2)
    problem = {
        "width": a.shape[1],
        "height": a.shape[0],
        "pixel": _pixel(a.dtype, 4),
    }
    key = ("stream_compaction", *problem.values())
    plan = _plans.take(key, lambda: _clcook._StreamCompactionOnHost(**problem))
    indices = np.empty(plan.run(address, pitch, least), np.uint32)
    plan.read(indices.ctypes.data, indices.size)
    _plans.put(key, plan)
    return indices
