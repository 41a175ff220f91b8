"""scipy.ndimage's filters by their names, arguments and meaning, on the device of clcook's functions.

    from clcook import ndimage

    soft = ndimage.gaussian_filter(volume, sigma=(1, 2, 2), mode=("nearest", "wrap", "wrap"))
    clean = ndimage.median_filter(picture, size=(3, 5))

What each function takes is what SciPy's of this name takes, and so is what it gives; docs/ndimage.md says
where they differ. All are thread-safe. They raise clcook.Error, which is SciPy's RuntimeError, and
InvalidArgument and WrongType, which are its ValueError and TypeError too.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
import pathlib
import warnings
from typing import Any, Callable, Iterable, Sequence, TypeVar

import numpy as np

from . import _clcook
from ._arrays import _BORDERS, _CHANNELS, Mode, Number, Whole, _gaussian_problem, _memory, _number, _plans, _results
from ._arrays import rank_filter as _square_ranks
from .errors import Unsupported, _invalid

__all__ = [
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "rank_filter",
    "uniform_filter",
    "uniform_filter1d",
]

# Of bool to float64, by kind and bytes: what OpenCL C calls them, and how NARROW in ndimage.cl makes one
# of a double.
_TYPES: dict[tuple[str, int], tuple[str, int]] = {
    ("b", 1): ("uchar", 1),
    ("i", 1): ("char", 1),
    ("i", 2): ("short", 1),
    ("i", 4): ("int", 1),
    ("i", 8): ("long", 2),
    ("u", 1): ("uchar", 1),
    ("u", 2): ("ushort", 1),
    ("u", 4): ("uint", 2),
    ("u", 8): ("ulong", 3),
    ("f", 2): ("half", 0),
    ("f", 4): ("float", 0),
    ("f", 8): ("double", 0),
}
_UNSIGNED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
_SIGNED = {1: "char", 2: "short", 4: "int", 8: "long"}
# The numbers of clcook/halo.clh.
_BORDER_NUMBERS = {"clamp": 0, "mirror": 1, "wrap": 2, "constant": 3, "reflect_101": 4}
_DBL_EPSILON = float(np.finfo(np.float64).eps)
# Ranks of so few neighbours, or this near to an end, are found in registers, by a program for this count and
# this rank, which pays from so many elements on.
_SELECTED = 80
_SELECTS_FROM = 2**16
# Of several pictures each is a call of clcook.rank_filter, which pays from so many neighbours in each on: a GPU
# finds this many within the time that a call takes.
_PICTURE_PAYS_FROM = 2**19
_PICTURE_PAYS_FROM_ON_GPU = 2**24
_MOST = 2**30  # what a work-item counts with an int


@functools.lru_cache(maxsize=None)
def _source() -> str:
    return (pathlib.Path(__file__).parent / "ndimage.cl").read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def _device() -> tuple[int, bool, int, int, str]:
    """Elements of a vector (1 as on GPUs: many short work-items), whether it has doubles, its local memory, the
    largest group, its name."""
    return _clcook._ndimage_device()


def _is_cpu() -> bool:
    return _device()[0] > 1


def _type(dtype: np.dtype) -> tuple[str, int]:
    return _TYPES[dtype.kind, dtype.itemsize]


def _checked_type(dtype: np.dtype, where: str, name: str) -> np.dtype:
    """The type in this machine's byte order."""
    if dtype.kind == "c":
        raise _invalid(where, f"{name} must be of real numbers, got {dtype}", True)
    if (dtype.kind, dtype.itemsize) not in _TYPES:
        raise _invalid(
            where, f"{name} must be of bool, an integer type, float16, float32 or float64, got {dtype}", True
        )
    if dtype.kind == "f" and dtype.itemsize == 8 and not _device()[1]:
        raise Unsupported(
            f"{where}: {name} is of float64, and the device {_device()[4]} has no doubles: convert it to float32, "
            "or choose another device with CLCOOK_DEVICE",
            where=where,
        )
    return dtype.newbyteorder("=")


# ---- chains of passes ----


def _up(count: int, step: int) -> int:
    return -(-count // step) * step


def _wide(values: Any) -> bytes:
    """Numbers as the kernels add them: doubles, or pairs of floats."""
    exact = np.asarray(values, np.float64).ravel()
    if _device()[1]:
        return exact.tobytes()
    with np.errstate(over="ignore", invalid="ignore"):
        high = exact.astype(np.float32)
        low = np.where(np.isfinite(high), exact - high, 0).astype(np.float32)
    return np.stack([high, low], 1).tobytes()


def _outside(cval: Any, dtype: np.dtype) -> bytes:
    """cval as the kernels have it, in the type of the array."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.array([cval]).astype(dtype).tobytes().ljust(8, b"\0")


class _Chain:
    """Passes from an array to another: ndimage.cl says what a pass does."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, where: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.where = where
        self._passes: list[tuple] = []
        self._bytes: list[int] = [math.prod(shape) * dtype.itemsize]
        self._vec, self._doubles, self._local, self._group, _ = _device()

    def _add(
        self, kernel: str, defines: dict[str, str], work: Sequence[int], local: Sequence[int], table: bytes,
        nbytes: int, local_bytes: int = 0,
    ) -> None:
        over = tuple(_up(count, step) for count, step in zip(work, local))
        self._passes.append((kernel, defines, over, tuple(local), local_bytes, table))
        self._bytes.append(nbytes)

    def _defines(self, dst: np.dtype, vec: int, *flags: str) -> dict[str, str]:
        out = {flag: "" for flag in flags}
        (out["SRC"], _), (out["DST"], kind) = _type(self.dtype), _type(dst)
        out["DST_KIND"] = str(kind)
        out["VEC"] = str(vec)
        for name, dtype in (("SRC", self.dtype), ("DST", dst)):
            if dtype == np.float16:
                out[name + "_HALF"] = ""
        if self.dtype.kind == "f":
            out["SRC_FLOAT"] = ""
        if self._doubles:
            out["DOUBLE"] = ""
        return out

    def _axis(
        self, axis: int, kernel: str, dst: np.dtype, flags: Sequence[str], tail: bytes, *, n: int, n_out: int,
        before: int, size: int, span: int, border: str, symmetry: int = 0, wide: bool = True,
    ) -> None:
        """A pass along an axis, whose lines become n_out elements of n."""
        outer, inner = math.prod(self.shape[:axis]), math.prod(self.shape[axis + 1 :])
        if max(n + size, n_out + size, inner) > _MOST:
            raise Unsupported(
                f"{self.where}: an axis with its window, and what lies behind it, must have at most 2^30 elements, got "
                f"{self.shape} and a window of {size}",
                where=self.where,
            )
        vec = self._vec if self._doubles or not wide else 1
        across = inner >= (vec if _is_cpu() else 32)
        if not across and (max(n, n_out) + span) * inner > _MOST:
            vec, across = 1, True
        element = 8 if wide else 4 if self.dtype == np.float16 else self.dtype.itemsize
        uniform = kernel == "uniform"
        piece = 1024 if _is_cpu() else 2048 if uniform else 512
        while True:
            piece = max(piece // inner, 1) * inner
            local_bytes = (piece + (span - 1) * inner + vec) * element
            if across or local_bytes <= self._local:
                break
            if piece <= 128:
                vec, across = 1, True  # a line of its own for each work-item
            piece //= 2
        nbytes = outer * n_out * inner * dst.itemsize
        width, tile = 0, False
        if across:
            piece = 64 if uniform else 1
            width = 32 if inner >= 32 and size <= 64 else 16
            local_bytes = (63 + span) * width * element
            tile = kernel == "correlate" and vec > 1 and size > 10 and inner >= width and local_bytes <= self._local
            piece = 64 if tile else piece
        head = np.array([n, n_out, inner, before, size, span, _BORDER_NUMBERS[border], symmetry, piece, width] + [0] * 6)
        table = head.astype(np.int32).tobytes() + tail
        defines = self._defines(dst, vec, *flags)
        if tile:
            groups = -(-inner // width) * -(-n_out // piece) * outer
            self._add(f"ndimage_{kernel}_tile", defines, (groups, 1, 1), (1, 1, 1), table, nbytes, local_bytes)
        elif across:
            local = (8, 1 if uniform else 8, 1) if _is_cpu() else (32, min(8, self._group // 32), 1)
            work = (-(-inner // vec), -(-n_out // piece), outer)
            self._add(f"ndimage_{kernel}_across", defines, work, local, table, nbytes)
        else:
            items = 1 if _is_cpu() else min(128, self._group)
            groups = -(-n_out * inner // piece) * outer
            self._add(
                f"ndimage_{kernel}_along", defines, (groups * items, 1, 1), (items, 1, 1), table, nbytes, local_bytes
            )

    def correlate(self, axis: int, taps: np.ndarray, dst: np.dtype, border: str, cval: float, origin: int) -> None:
        size = len(taps)
        mirrored = taps[::-1]
        symmetry = 0
        if size % 2 == 1:
            if (np.abs(taps - mirrored) <= _DBL_EPSILON).all():
                symmetry = 1
            elif (np.abs(taps + mirrored)[: size // 2] <= _DBL_EPSILON).all():
                symmetry = -1
        n = self.shape[axis]
        self._axis(
            axis, "correlate", dst, ["CORRELATE"], _wide([cval, *taps]), n=n, n_out=n, before=size // 2 + origin,
            size=size, span=size, border=border, symmetry=symmetry,
        )
        self.dtype = dst

    def uniform(self, axis: int, size: int, dst: np.dtype, border: str, cval: float, origin: int) -> None:
        n = self.shape[axis]
        self._axis(
            axis, "uniform", dst, ["UNIFORM"], _wide([cval, size]), n=n, n_out=n, before=size // 2 + origin,
            size=size, span=size, border=border,
        )
        self.dtype = dst

    def extreme(self, axis: int, size: int, minimum: bool, border: str, cval: Any, origin: int) -> None:
        """Of windows of `size`, in passes that widen them: their cost grows with the logarithm."""
        n, before, window = self.shape[axis], size // 2 + origin, 1
        outside = _outside(cval, self.dtype)
        levels = 1 if size <= 16 else max(2, math.ceil(math.log(size, 16)))
        for level in range(levels):
            next = size if level == levels - 1 else math.ceil(size ** ((level + 1) / levels))
            places = [*range(0, next - window, window), next - window]
            # Each pass but the last leaves what the later ones need around the line.
            n_out = n + size - next if level == 0 else n - (next - window)
            span = next - window + 1
            flags = ["EXTREME", "AXIS"] + ["MINIMUM"] * minimum
            self._axis(
                axis, "extreme", self.dtype, flags, outside + np.array(places, np.int32).tobytes(), n=n, n_out=n_out,
                before=before, size=len(places), span=span, border=border, wide=False,
            )
            n, before, window = n_out, 0, next

    def _copy(
        self, shape: Sequence[int], extents: Sequence[int], before: Sequence[int], places: np.ndarray, border: str,
        cval: Any, order: int, rank: int = 0, key: int = 0,
    ) -> tuple[bytes, int]:
        """Adds the pass that copies an array of four dimensions with its borders, and the head of the table of
        the pass behind it; returns this head, and the vector that the copy has room for."""
        vec = self._vec
        padded = [n + extent - 1 for n, extent in zip(shape, extents)]
        padded[3] = _up(padded[3], vec)
        # The offsets of the neighbours in the copy.
        steps = np.array([padded[1] * padded[2] * padded[3], padded[2] * padded[3], padded[3], 1])
        offsets = (places * steps).sum(1)
        if max(padded[0] * padded[1], padded[2], padded[3], *offsets) > _MOST:
            raise Unsupported(
                f"{self.where}: an axis and a window must have at most 2^30 elements of an array with its borders, got "
                f"{self.shape}",
                where=self.where,
            )
        head = np.array([*shape, *before, *padded, _BORDER_NUMBERS[border], len(offsets), rank, 0], np.int32)
        table = head.tobytes() + _outside(cval, self.dtype) + np.append(offsets, [0] * (len(offsets) % 2)).astype(np.int32).tobytes()
        bits = self.dtype.itemsize
        key = key or bits
        pad = 4096 if _is_cpu() else 1
        defines = {
            "COPY": "", "SRC": _UNSIGNED[bits], "DST": _UNSIGNED[bits], "DST_KIND": "3", "KEY": _UNSIGNED[key],
            "ORDER": str(order), "PAD": str(pad), "VEC": "1",
        }
        local = (1, 8, 1) if _is_cpu() else (32, min(8, self._group // 32), 1)
        work = (-(-padded[3] // pad), padded[2], padded[1] * padded[0])
        # Vectors at the end of the last row read on.
        self._add("ndimage_pad", defines, work, local, table, (math.prod(padded) + 2 * vec) * key)
        return table, vec

    def _over(self, kernel: str, defines: dict[str, str], shape: Sequence[int], vec: int, table: bytes, nbytes: int):
        local = (8, 8, 1) if _is_cpu() else (32, min(8, self._group // 32), 1)
        self._add(kernel, defines, (-(-shape[3] // vec), shape[2], shape[1] * shape[0]), local, table, nbytes)

    def ranks(self, window: _Window, rank: int, border: str, cval: Any) -> None:
        bits, count = self.dtype.itemsize, len(window.places)
        key = 2 if bits == 1 and count > 127 else bits
        if key == 2 and count > 32767:
            key = 4
        order = {"u": 0, "b": 0, "i": 1, "f": 2}[self.dtype.kind]
        table, vec = self._copy(*window.parts, border, cval, order, rank, key)
        defines = {
            "RANK": "", "SRC": _UNSIGNED[bits], "DST": _UNSIGNED[bits], "DST_KIND": "3", "KEY": _UNSIGNED[key],
            "COUNT": _SIGNED[key], "ORDER": str(order), "VEC": str(vec),
        }
        kernel, wide = "rank", 2 * vec
        lower = min(rank, count - 1 - rank)
        # Only the neighbours up to the rank are kept in order. Where others hold more than 15, NVIDIA's compiler
        # leaves their loops as they are, and the values go to memory.
        first = 4 * lower < count or (vec == 1 and count - lower > 14)
        if (count <= _SELECTED or (first and lower < 8 * bits)) and math.prod(self.shape) >= _SELECTS_FROM:
            del defines["RANK"]
            defines.update(SELECT=str(count), NUMBER=str(rank))
            if first:
                defines["FIRST"] = ""
            kernel, wide = "select", vec
        self._over("ndimage_" + kernel, defines, window.shape, wide, table, math.prod(self.shape) * bits)

    def extremes(self, window: _Window, minimum: bool, border: str, cval: Any) -> None:
        """Of neighbours that make no box."""
        table, vec = self._copy(*window.parts, border, cval, 0)
        defines = self._defines(self.dtype, vec, "FLAT", "EXTREME", *["MINIMUM"] * minimum)
        nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._over("ndimage_extreme", defines, window.shape, vec, table, nbytes)

    def weighted(self, window: _Window, factors: np.ndarray, dst: np.dtype, border: str, cval: Any) -> None:
        """Sums of neighbours times factors."""
        self._weighted(window, dst, border, cval, _wide(factors), "SUM")

    def raised(self, window: _Window, heights: np.ndarray, dst: np.dtype, minimum: bool, border: str, cval: Any) -> None:
        """The best of neighbours and their heights: of the first as double, of the others in the type of the
        array, as SciPy has it."""
        heights = -heights if minimum else heights
        kind = np.dtype(np.float32) if self.dtype == np.float16 else self.dtype
        typed = np.array([_cut(one, kind) for one in heights], kind)
        flags = ["RAISED", "EXTREME"] + ["MINIMUM"] * minimum
        self._weighted(window, dst, border, cval, _wide(heights[0]) + typed.tobytes(), *flags)

    def _weighted(self, window: _Window, dst: np.dtype, border: str, cval: Any, tail: bytes, *flags: str) -> None:
        table, vec = self._copy(*window.parts, border, cval, 0)
        defines = self._defines(dst, vec if self._doubles else 1, *flags)
        self._over("ndimage_" + flags[0].lower(), defines, window.shape, int(defines["VEC"]), table + tail,
                   math.prod(self.shape) * dst.itemsize)  # fmt: skip
        self.dtype = dst

    def made(self) -> Any:
        """The plan of these passes."""
        count = len(self._passes)
        at, sizes, passes = 0, [self._bytes[0], self._bytes[-1], 1, 1], []
        for i, one in enumerate(self._passes):
            to = 1 if i == count - 1 else 2 + i % 2
            sizes[to] = max(sizes[to], self._bytes[i + 1])
            passes.append((*one, at, to))
            at = to
        return _clcook._Passes(_source(), passes, sizes)


def _run(a: np.ndarray, result: np.ndarray, where: str, key: tuple, add: Callable[[_Chain], None]) -> None:
    """Runs the passes that add(chain) adds, kept with their type, shape and a key of all else that they depend on."""

    def make() -> Any:
        chain = _Chain(a.shape, a.dtype, where)
        add(chain)
        return chain.made()

    _plans.run(
        ("ndimage", a.shape, a.dtype, key), make,
        lambda plan: plan.run(_clcook._address(a), _clcook._address(result)),
    )  # fmt: skip


class _Window:
    """Neighbours over up to four dimensions: of an array's, those that are not filtered and lie side by
    side are one."""

    def __init__(self, shape: Sequence[int], footprint: np.ndarray, origins: Sequence[int]) -> None:
        merged: list[tuple[int, int, int]] = []
        for n, extent, origin in zip(shape, footprint.shape, origins):
            if extent == 1 and merged and merged[-1][1] == 1:
                merged[-1] = (merged[-1][0] * n, 1, 0)
            else:
                merged.append((n, extent, origin))
        self.fits = len(merged) <= 4
        merged = [(1, 1, 0)] * (4 - len(merged)) + merged
        self.shape = [one[0] for one in merged]
        self._extents = [one[1] for one in merged]
        self._before = [extent // 2 + origin for _, extent, origin in merged]
        self._footprint = footprint

    @functools.cached_property
    def places(self) -> np.ndarray:
        return np.argwhere(self._footprint.reshape(self._extents))

    @property
    def parts(self) -> tuple[Sequence[int], Sequence[int], Sequence[int], np.ndarray]:
        return self.shape, self._extents, self._before, self.places


# ---- arguments ----


def _array(input: Any, where: str) -> np.ndarray:
    a = np.asarray(input)
    _checked_type(a.dtype, where, "input")
    return a


def _plain(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array as kernels read it. To SciPy bool is the integer in its byte."""
    plain = np.require(a, dtype, ["C", "A"])
    return plain.view(np.uint8) if dtype.kind == "b" else plain


def _new(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return _plans.or_without(lambda: _results.empty(shape, dtype))


def _output(output: Any, a: np.ndarray, where: str) -> np.ndarray:
    """The array to return: `output`, or a new one."""
    dtype = None
    if output is None:
        dtype = a.dtype.newbyteorder("=")
    elif isinstance(output, (type, np.dtype)):
        dtype = np.dtype(output)
    elif isinstance(output, str):
        try:
            dtype = np.dtype(output)
        except TypeError:
            raise _invalid(where, f"output must name a type of numbers, got {output!r}", True) from None
        if not issubclass(dtype.type, np.number):
            raise _invalid(where, f"output must name a type of numbers, got {output!r}")
    else:
        output = np.asarray(output)
        if output.shape != a.shape:
            raise _invalid(where, f"output must have the shape {a.shape}, got {output.shape}")
        if not output.flags.writeable:
            raise _invalid(where, "output must be writeable, got a read-only array")
    _checked_type(dtype or output.dtype, where, "output")
    return output if dtype is None else _new(a.shape, dtype)


def _result(output: np.ndarray, a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Where the kernels write: `output` itself if it can be, else a new array."""
    if output.dtype.kind == "b" and dtype == np.uint8 and output.flags.c_contiguous:
        output = output.view(np.uint8)
    flags = output.flags
    if (
        output.dtype == dtype
        and output.dtype.isnative
        and flags.c_contiguous
        and flags.aligned
        and flags.writeable
        and not np.may_share_memory(output, a)
    ):
        return output
    return _new(a.shape, dtype)


def _axes(axes: Any, ndim: int, where: str) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(ndim))
    try:
        every = [axes] if np.isscalar(axes) else list(axes)
        every = [operator.index(axis) for axis in every]
    except TypeError:
        raise _invalid(where, f"axes {axes!r} cannot be interpreted as an integer or several", True) from None
    every = [_axis(axis, ndim, where) for axis in every]
    if len(set(every)) != len(every):
        raise _invalid(where, f"axes must be unique, got {axes!r}")
    return tuple(every)


def _doubles(values: Any, where: str, name: str) -> np.ndarray:
    out = np.asarray(values)
    if out.dtype.kind == "c":
        raise _invalid(where, f"{name} must be real numbers, got {out.dtype}", True)
    try:
        return np.asarray(out, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _invalid(where, f"{name} must be real numbers, got {out.dtype}") from None


def _index(value: Any, where: str, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise _invalid(where, f"{name} must be a whole number, got {value!r}", True) from None


def _axis(axis: Any, ndim: int, where: str) -> int:
    index = _index(axis, where, "axis")
    if ndim == 0:
        raise _invalid(where, f"an array without dimensions has no axis, got {index}", axis=True)
    if not -ndim <= index < ndim:
        raise _invalid(where, f"an axis is out of range: it must be {-ndim} to {ndim - 1}, got {index}", axis=True)
    return index % ndim


def _each(value: Any, count: int, where: str, name: str) -> list[Any]:
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise _invalid(
            where,
            f"{name}: a sequence argument must have length equal to input rank, or to the number of axes, {count}; got "
            f"{len(values)}",
        )
    return values


def _border(mode: Any, where: str) -> str:
    if not isinstance(mode, str) or mode not in _BORDERS:
        raise _invalid(where, f"mode must be one of {', '.join(_BORDERS)}, got {mode!r}")
    return _BORDERS[mode]  # type: ignore[index]


def _one_border(mode: Any, where: str) -> str:
    if not isinstance(mode, str) and isinstance(mode, Iterable):
        raise _invalid(where, f"mode must be one for all axes unless the neighbours are a box, got {mode!r}")
    return _border(mode, where)


def _check_origin(origin: Any, size: int, where: str) -> int:
    origin = _index(origin, where, "origin")
    if not 0 <= size // 2 + origin < size:
        raise _invalid(where, f"origin must be {-(size // 2)} to {(size - 1) // 2} with the size {size}, got {origin}")
    return origin


def _size(size: Any, where: str) -> int:
    size = _index(size, where, "size")
    if size < 1:
        raise _invalid(where, f"size must be at least 1, got {size}")
    return size


def _cut_size(size: Any, where: str) -> int:
    """Of boxes SciPy takes fractions too, and cuts them."""
    number = _number(size, where, "size")
    if not math.isfinite(number):
        raise _invalid(where, f"size must be a whole number, got {size!r}")
    return int(number)


def _give(output: np.ndarray, result: np.ndarray) -> np.ndarray:
    if output.dtype.kind == "b" and result.dtype.kind != "b":
        with np.errstate(invalid="ignore", over="ignore"):
            output.view(np.uint8)[...] = result.astype(np.uint8, copy=False)  # keeps the byte, as C does
    elif result is not output:
        _copied(output, result)
    return output


def _copied(output: np.ndarray, a: np.ndarray) -> np.ndarray:
    """What SciPy has numpy do where there is nothing to filter: True is all but 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        np.copyto(output, a, casting="unsafe")
    return output


# ---- sums ----

Sums = TypeVar("Sums", bound=Callable[..., np.ndarray])


def _also_complex(function: Sums) -> Sums:
    """Sums of complex numbers, and with complex weights, are those of their parts."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **more: Any) -> np.ndarray:
        first = args[0] if args else more.get("input")
        if not np.iscomplexobj(first) and not np.iscomplexobj(more.get("weights", args[1:2])):
            return function(*args, **more)
        bound = signature.bind(*args, **more).arguments
        a, factors = np.asarray(bound["input"]), np.asarray(bound.get("weights", 0))
        if a.dtype.kind != "c" and factors.dtype.kind != "c":
            return function(*args, **more)
        return _in_parts(function, bound, a, factors, function.__name__)

    return call  # type: ignore[return-value]


def _in_parts(
    function: Callable[..., np.ndarray], given: dict[str, Any], a: np.ndarray, factors: np.ndarray, where: str
) -> np.ndarray:
    output, cval = given.get("output"), given.get("cval", 0.0)
    if a.dtype.kind != "c" and np.iscomplexobj(cval):
        raise _invalid(where, f"cval must be a real number where input is real, got {cval!r}")
    if output is None:
        output = np.promote_types(a.dtype, np.complex64)
    elif isinstance(output, (type, np.dtype)) and np.dtype(output).kind != "c":
        warnings.warn("promoting specified output dtype to complex", stacklevel=4)
        output = np.promote_types(output, np.complex64)
    result = np.empty(a.shape, output) if isinstance(output, (type, np.dtype, str)) else np.asarray(output)
    if result.dtype.kind != "c" or result.shape != a.shape:
        raise _invalid(
            where, f"output must have the shape {a.shape} and a complex dtype, got {result.shape} and {result.dtype}"
        )

    def part(values: np.ndarray, weights: np.ndarray, outside: Any, dtype: np.dtype | None) -> np.ndarray:
        more = {"weights": weights} if "weights" in given else {}
        return function(**{**given, "input": values, "output": dtype, "cval": outside, **more})

    kind = result.real.dtype
    if factors.dtype.kind != "c":
        real = part(a.real, factors, np.real(cval), kind)
        imaginary = part(a.imag, factors, np.imag(cval), kind)
    else:
        factors = factors.conj()
        real = part(a.real, factors.real, np.real(cval), kind)
        imaginary = part(a.real, factors.imag, np.real(cval), kind)
        if a.dtype.kind == "c":
            real -= part(a.imag, factors.imag, np.imag(cval), None)
            imaginary += part(a.imag, factors.real, np.imag(cval), None)
    result.real, result.imag = real, imaginary
    return result


def _sums(a: np.ndarray, output: np.ndarray, steps: Sequence[tuple], where: str) -> np.ndarray:
    """steps: (axis, "correlate" or "uniform", taps or size, border, cval, origin), one after the other."""
    if a.size == 0 or not steps:
        return _copied(output, a)
    dtype = output.dtype.newbyteorder("=")
    plain = _plain(a, a.dtype.newbyteorder("="))
    if not _device()[1] and {plain.dtype.itemsize, dtype.itemsize} & {8}:
        raise Unsupported(
            f"{where}: sums of 64 bits need doubles, which the device {_device()[4]} lacks: convert the array, or "
            "choose another device with CLCOOK_DEVICE",
            where=where,
        )
    result = _result(output, plain, dtype)

    def add(chain: _Chain) -> None:
        for axis, kind, what, border, cval, origin in steps:
            getattr(chain, kind)(axis, what, dtype, border, cval, origin)

    key = [
        (axis, kind, what if kind == "uniform" else what.tobytes(), border, float.hex(cval), origin)
        for axis, kind, what, border, cval, origin in steps
    ]
    _run(plain, result, where, ("sums", dtype, key), add)
    return _give(output, result)


@_also_complex
def correlate1d(
    input: Any, weights: Any, axis: Whole = -1, output: Any = None, mode: Mode = "reflect", cval: Number = 0.0,
    origin: Whole = 0,
) -> np.ndarray:
    """The sum of `weights` times the neighbours along an axis."""
    where = "correlate1d"
    a = _array(input, where)
    output = _output(output, a, where)
    taps = _doubles(weights, where, "weights")
    if taps.ndim != 1 or len(taps) < 1:
        raise _invalid(where, f"weights must be a line of numbers, got the shape {taps.shape}")
    axis = _axis(axis, a.ndim, where)
    origin = _check_origin(origin, len(taps), where)
    step = (axis, "correlate", taps, _border(mode, where), _number(cval, where, "cval"), origin)
    return _sums(a, output, [step], where)


@functools.lru_cache(maxsize=64)
def _gaussian_taps(sigma: float, order: int, radius: int) -> np.ndarray:
    """Of a Gaussian, or of its derivative of that order, for a correlation."""
    x = np.arange(-radius, radius + 1)
    variance = sigma * sigma
    phi = np.exp(-0.5 / variance * x**2)
    phi = phi / phi.sum()
    if order == 0:
        return phi
    # The derivative is q(x) phi(x), where each order makes q' - x q / variance of the polynomial q.
    q = np.zeros(order + 1)
    q[0] = 1
    step = np.diag(np.arange(1, order + 1), 1) + np.diag(np.ones(order) / -variance, -1)
    for _ in range(order):
        q = step.dot(q)
    return ((x[:, None] ** np.arange(order + 1)).dot(q) * phi)[::-1].copy()


def _gaussian_step(
    axis: int, sigma: Any, order: Any, mode: Any, cval: Any, truncate: Any, radius: Any, where: str
) -> tuple:
    sd, cut = _number(sigma, where, "sigma"), _number(truncate, where, "truncate")
    if not math.isfinite(cut * sd) or sd * sd == 0:
        raise _invalid(where, f"sigma must not be 0, and it and truncate must be finite, got {sigma} and {truncate}")
    reach = int(cut * sd + 0.5) if radius is None else radius
    if not isinstance(reach, numbers.Integral) or reach < 0:
        from_sigma = f", from sigma {sigma} and truncate {truncate}" if radius is None else ""
        raise _invalid(where, f"radius must be a whole number from 0 on, got {reach!r}{from_sigma}")
    if reach > _MOST:
        raise Unsupported(f"{where}: radius must be at most 2^30, got {reach}", where=where)
    order = _index(order, where, "order")
    if order < 0:
        raise _invalid(where, f"order must be at least 0, got {order}")
    taps = _gaussian_taps(sd, order, int(reach))
    return axis, "correlate", taps, _border(mode, where), _number(cval, where, "cval"), 0


@_also_complex
def gaussian_filter1d(
    input: Any, sigma: Number, axis: Whole = -1, order: Whole = 0, output: Any = None, mode: Mode = "reflect",
    cval: Number = 0.0, truncate: Number = 4.0, *, radius: Whole | None = None,
) -> np.ndarray:
    """A Gaussian along an axis, or its derivative of that order."""
    where = "gaussian_filter1d"
    a = _array(input, where)
    step = _gaussian_step(_axis(axis, a.ndim, where), sigma, order, mode, cval, truncate, radius, where)
    return _sums(a, _output(output, a, where), [step], where)


@_also_complex
def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Number = 0.0,
    truncate: Number = 4.0, *, radius: Any = None, axes: Any = None, quality: Number | None = None,
) -> np.ndarray:
    """A Gaussian along each of `axes`; sigma, order, mode and radius are one, or one for each.

    quality: a promise, in decibels, that is enough, such as 60: where clcook's own blur keeps it, that
    is taken, whose methods are faster, and which rounds integers."""
    where = "gaussian_filter"
    a = _array(input, where)
    output = _output(output, a, where)
    axes = _axes(axes, a.ndim, where)
    given = [_each(*one, where=where, name=name) for name, one in {
        "order": (order, len(axes)), "sigma": (sigma, len(axes)), "mode": (mode, len(axes)),
        "radius": (radius, len(axes)),
    }.items()]  # fmt: skip
    steps = [
        _gaussian_step(axis, one_sigma, one_order, one_mode, cval, truncate, one_radius, where)
        for axis, one_order, one_sigma, one_mode, one_radius in zip(axes, *given)
        if _number(one_sigma, where, "sigma") > 1e-15
    ]
    if quality is not None and steps and a.size:
        done = _blurred(a, output, axes, given, cval, truncate, _number(quality, where, "quality"), where)
        if done is not None:
            return done
    return _sums(a, output, steps, where)


def _blurred(
    a: np.ndarray, output: np.ndarray, axes: tuple[int, ...], given: list[list[Any]], cval: Any, truncate: Any,
    quality: float, where: str,
) -> np.ndarray | None:
    """What clcook's own blur does, with at least this quality. None: it does not."""
    orders, sigmas, modes, radii = given
    dtype = a.dtype.newbyteorder("=")
    if dtype not in _CHANNELS or output.dtype.newbyteorder("=") != dtype or not 1 <= a.ndim <= 3:
        return None
    if any(orders) or len(set(modes)) > 1 or any(one is not None for one in radii):
        return None
    if not 0.5 <= truncate <= 8 or max(sigmas) > 500 or min(sigmas) < 0:
        return None
    every = [0.0] * a.ndim
    for axis, sigma in zip(axes, sigmas):
        every[axis] = float(sigma)
    problem, x, y = _gaussian_problem(a.shape, 1, dtype, every, modes[0], cval, truncate, "none", where)
    problem["quality"] = quality
    plain = _plain(a, dtype)
    result = _result(output, plain, dtype)
    _plans.run(
        ("gaussian_blur", *problem.items()),
        lambda: _clcook._GaussianBlurOnHost(sigma_x=x, sigma_y=y, **problem),
        lambda plan: plan.run(*_memory(plain, result, 1, where), x, y),
    )
    return _give(output, result)


@_also_complex
def uniform_filter1d(
    input: Any, size: Whole, axis: Whole = -1, output: Any = None, mode: Mode = "reflect", cval: Number = 0.0,
    origin: Whole = 0,
) -> np.ndarray:
    """The mean of `size` neighbours along an axis."""
    where = "uniform_filter1d"
    a = _array(input, where)
    axis = _axis(axis, a.ndim, where)
    size = _size(size, where)
    output = _output(output, a, where)
    step = (axis, "uniform", size, _border(mode, where), _number(cval, where, "cval"), _check_origin(origin, size, where))
    return _sums(a, output, [step], where)


@_also_complex
def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Number = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> np.ndarray:
    """The mean of a box of neighbours; size, mode and origin are one, or one for each of `axes`."""
    where = "uniform_filter"
    a = _array(input, where)
    output = _output(output, a, where)
    steps = [
        (axis, "uniform", size, border, _number(cval, where, "cval"), origin)
        for axis, size, border, origin in _box(axes, size, mode, origin, a.ndim, where)
    ]
    return _sums(a, output, steps, where)


def _box(axes: Any, size: Any, mode: Any, origin: Any, ndim: int, where: str) -> list[tuple[int, int, str, int]]:
    """(axis, size, border, origin) of a box, without the axes along which it has one element."""
    axes = _axes(axes, ndim, where)
    sizes = [_cut_size(one, where) for one in _each(size, len(axes), where, "size")]
    origins = _each(origin, len(axes), where, "origin")
    modes = _each(mode, len(axes), where, "mode")
    return [
        (axis, size, _border(mode, where), _check_origin(origin, size, where))
        for axis, size, mode, origin in zip(axes, sizes, modes, origins)
        if size > 1
    ]


def _spread(footprint: np.ndarray, axes: tuple[int, ...], ndim: int, where: str, name: str) -> np.ndarray:
    """With a dimension for each of the array's."""
    if footprint.ndim != len(axes):
        raise _invalid(where, f"{name}.ndim ({footprint.ndim}) must match len(axes) ({len(axes)})")
    if 0 in footprint.shape:
        raise _invalid(where, f"{name} must have no dimension of 0, got {footprint.shape}")
    return np.expand_dims(footprint, tuple(axis for axis in range(ndim) if axis not in axes))


def _spread_origins(origin: Any, axes: tuple[int, ...], shape: Sequence[int], where: str) -> list[int]:
    out = [0] * len(shape)
    given = _each(origin, len(axes), where, "origin")
    for axis, one in zip(axes, given) if len(axes) < len(shape) else enumerate(given):
        out[axis] = _check_origin(one, shape[axis], where)
    return out


@_also_complex
def correlate(
    input: Any, weights: Any, output: Any = None, mode: Mode = "reflect", cval: Number = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> np.ndarray:
    """The sum of `weights` times the neighbours, an array with a dimension for each of `axes`."""
    where = "correlate"
    a = _array(input, where)
    factors = _doubles(weights, where, "weights")
    axes = _axes(axes, a.ndim, where)
    factors = _spread(factors, axes, a.ndim, where, "weights")
    origins = _spread_origins(origin, axes, factors.shape, where)
    output = _output(output, a, where)
    border = _one_border(mode, where)
    dtype = output.dtype.newbyteorder("=")
    counted = np.abs(factors) > _DBL_EPSILON
    if a.size == 0 or not counted.any():
        return _give(output, np.zeros((), dtype))

    def add(chain: _Chain, window: _Window) -> None:
        chain.weighted(window, factors[counted], dtype, border, outside)

    exact = np.dtype(np.float64 if _device()[1] else np.float32)
    plain, outside = _with_cval(a, _number(cval, where, "cval"), border, exact, where)
    key = ("weighted", dtype, factors[counted].tobytes(), border, _outside(outside, plain.dtype))
    return _over(plain, output, dtype, counted, origins, add, key, where)


# ---- neighbours at a list of offsets ----


def _with_cval(
    a: np.ndarray, cval: float, border: str, to: np.dtype, where: str
) -> tuple[np.ndarray, float]:
    """The array in a type that has cval too, as far as a result of the type `to` shows it."""
    a = _plain(a, a.dtype.newbyteorder("="))
    if border != "constant":
        return a, 0.0
    if a.dtype.kind == "f":
        if to.itemsize == 8 and a.dtype.itemsize < 8 and cval == cval:
            with np.errstate(over="ignore"):
                if float(a.dtype.type(cval)) != cval:
                    return a.astype(np.float64), cval
        return a, cval
    whole = float(int(cval)) if math.isfinite(cval) else cval
    if np.iinfo(a.dtype).min <= cval <= np.iinfo(a.dtype).max and (to.kind != "f" or cval == whole):
        return a, whole
    if a.dtype.itemsize <= 2 and not _device()[1]:
        return a.astype(np.float32), cval
    wide = _checked_type(np.dtype(np.float64), where, f"cval={cval} with input of {a.dtype.name}")
    return a.astype(wide), cval


def _cut(value: float, dtype: np.dtype) -> Any:
    """A number as C makes one of the type of it, on x86: what SciPy has outside of a footprint."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return dtype.type(value)
    limit = 2**63 if dtype.itemsize == 8 or (dtype.kind == "u" and dtype.itemsize == 4) else 2**31
    whole = int(value) if math.isfinite(value) and -limit <= value < limit else -limit
    bits = 8 * dtype.itemsize
    whole %= 2**bits
    return whole - 2**bits if dtype.kind == "i" and whole >= 2 ** (bits - 1) else whole


def _over(
    plain: np.ndarray, output: np.ndarray, dtype: np.dtype, footprint: np.ndarray, origins: Sequence[int],
    add: Callable[[_Chain, _Window], None], key: tuple, where: str,
) -> np.ndarray:
    """Runs the passes that add(chain, window) adds, kept with a key of all that they depend on beside the window,
    on all of an array that a window can see, or on each part of it along its first dimension."""
    result = _result(output, plain, dtype)

    def run(src: np.ndarray, dst: np.ndarray, footprint: np.ndarray, origins: Sequence[int]) -> None:
        window = _Window(src.shape, footprint, origins)
        if window.fits:
            seen = (footprint.shape, footprint.tobytes(), *origins)
            _run(src, dst, where, (seen, key), lambda chain: add(chain, window))
        elif footprint.shape[0] == 1:
            for i in range(len(src)):
                run(src[i], dst[i], footprint[0], origins[1:])
        else:
            raise Unsupported(f"{where}: a window must have at most 4 dimensions, got {footprint.shape}", where=where)

    run(plain, result, footprint, origins)
    return _give(output, result)


def _given_footprint(footprint: Any, where: str) -> np.ndarray:
    out = np.asarray(footprint, dtype=bool)
    if not out.any():
        raise _invalid(where, f"footprint must have a True, got one of the shape {out.shape} without")
    return out


def _extremes(
    input: Any, size: Any, footprint: Any, structure: Any, output: Any, mode: Any, cval: Any, origin: Any,
    minimum: bool, axes: Any, where: str,
) -> np.ndarray:
    if size is not None and footprint is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=3)
    box = None
    if structure is None:
        if footprint is None:
            if size is None:
                raise _invalid(where, "size or footprint must be given")
            box = size
        else:
            footprint = _given_footprint(footprint, where)
            if footprint.all():
                box = footprint.shape
    else:
        structure = _doubles(structure, where, "structure")
        footprint = np.ones(structure.shape, bool) if footprint is None else _given_footprint(footprint, where)
    a = _array(input, where)
    output = _output(output, a, where)
    outside = _number(cval, where, "cval")
    dtype = output.dtype.newbyteorder("=")
    if box is not None:
        steps = [(*one, minimum) for one in _box(axes, box, mode, origin, a.ndim, where)]
        return _box_extremes(a, output, steps, outside, where)
    axes = _axes(axes, a.ndim, where)
    footprint = _spread(footprint, axes, a.ndim, where, "footprint")
    origins = _spread_origins(origin, axes, footprint.shape, where)
    border = _one_border(mode, where)
    heights = np.zeros(0)
    if structure is not None:
        if structure.ndim != len(axes):
            raise _invalid(where, f"structure must have {len(axes)} dimensions, got {structure.shape}")
        structure = _spread(structure, axes, a.ndim, where, "structure")
        if structure.shape != footprint.shape:
            raise _invalid(where, f"structure must have the shape of footprint, got {structure.shape}")
        heights = structure[footprint]
    if a.size == 0:
        return output
    plain = _plain(a, a.dtype.newbyteorder("="))
    outside = _cut(outside, plain.dtype)
    key = ("extremes", minimum, border, _outside(outside, plain.dtype))
    if not heights.any():
        return _over(
            plain, output, plain.dtype, footprint, origins,
            lambda chain, window: chain.extremes(window, minimum, border, outside), key, where,
        )  # fmt: skip
    return _over(
        plain, output, dtype, footprint, origins,
        lambda chain, window: chain.raised(window, heights, dtype, minimum, border, outside),
        ("raised", dtype, heights.tobytes(), key), where,
    )  # fmt: skip


def _box_extremes(a: np.ndarray, output: np.ndarray, steps: Sequence[tuple], cval: float, where: str) -> np.ndarray:
    """steps: (axis, size, border, origin, whether it is the minimum), one after the other."""
    if a.size == 0 or not steps:
        return _copied(output, a)
    constant = "constant" if any(border == "constant" for _, _, border, _, _ in steps) else ""
    plain, outside = _with_cval(a, cval, constant, output.dtype, where)
    dtype = np.dtype(np.uint8) if output.dtype.kind == "b" else output.dtype.newbyteorder("=")
    first, rest = steps, steps[:0]
    if plain.dtype != dtype:
        first, rest = steps[:1], steps[1:]  # SciPy has the type of the output after the first axis
    result = _result(output, plain, plain.dtype)

    def add(chain: _Chain) -> None:
        for axis, size, border, origin, minimum in first:
            chain.extreme(axis, size, minimum, border, outside, origin)

    _run(plain, result, where, ("box", first, _outside(outside, plain.dtype)), add)
    if rest:
        return _box_extremes(_give(np.empty(a.shape, dtype), result), output, rest, cval, where)
    return _give(output, result)


def minimum_filter1d(
    input: Any, size: Whole, axis: Whole = -1, output: Any = None, mode: Mode = "reflect", cval: Number = 0.0,
    origin: Whole = 0,
) -> np.ndarray:
    """The smallest of `size` neighbours along an axis."""
    return _extremes1d(input, size, axis, output, mode, cval, origin, True, "minimum_filter1d")


def maximum_filter1d(
    input: Any, size: Whole, axis: Whole = -1, output: Any = None, mode: Mode = "reflect", cval: Number = 0.0,
    origin: Whole = 0,
) -> np.ndarray:
    """The largest of `size` neighbours along an axis."""
    return _extremes1d(input, size, axis, output, mode, cval, origin, False, "maximum_filter1d")


def _extremes1d(
    input: Any, size: Any, axis: Any, output: Any, mode: Any, cval: Any, origin: Any, minimum: bool, where: str
) -> np.ndarray:
    a = _array(input, where)
    axis = _axis(axis, a.ndim, where)
    size = _size(size, where)
    output = _output(output, a, where)
    step = (axis, size, _border(mode, where), _check_origin(origin, size, where), minimum)
    return _box_extremes(a, output, [step], _number(cval, where, "cval"), where)


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The smallest of the neighbours in a box or a footprint."""
    return _extremes(input, size, footprint, None, output, mode, cval, origin, True, axes, "minimum_filter")


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The largest of the neighbours in a box or a footprint."""
    return _extremes(input, size, footprint, None, output, mode, cval, origin, False, axes, "maximum_filter")


# ---- grey morphology ----


def _check_given(size: Any, footprint: Any, structure: Any, where: str) -> None:
    if size is None and footprint is None and structure is None:
        raise _invalid(where, "size, footprint or structure must be given")


def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The smallest of the neighbours, less their heights in `structure`."""
    _check_given(size, footprint, structure, "grey_erosion")
    return _extremes(input, size, footprint, structure, output, mode, cval, origin, True, axes, "grey_erosion")


def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The largest of the neighbours, with their heights in `structure`, in the window that is mirrored."""
    where = "grey_dilation"
    _check_given(size, footprint, structure, where)
    if structure is not None:
        structure = np.flip(np.asarray(structure))
    if footprint is not None:
        footprint = np.flip(np.asarray(footprint))
    a = np.asarray(input)
    sizes = footprint if footprint is not None else structure
    origins = _mirrored(origin, size if sizes is None else sizes.shape, axes, a.ndim, where)
    return _extremes(a, size, footprint, structure, output, mode, cval, origins, False, axes, where)


def _mirrored(origin: Any, size: Any, axes: Any, ndim: int, where: str) -> list[int]:
    """The origins of a window that is mirrored."""
    count = len(_axes(axes, ndim, where))
    pairs = zip(_each(origin, count, where, "origin"), _each(size, count, where, "size"))
    return [-one - (extent & 1 == 0) for one, extent in pairs]


def _both(
    input: Any, size: Any, footprint: Any, structure: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any,
    erodes_first: bool, where: str,
) -> np.ndarray:
    if size is not None and footprint is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=3)
        size = None
    _check_given(size, footprint, structure, where)
    a = _array(input, where)
    box = size
    if footprint is not None and structure is None:
        box = np.shape(footprint) if _given_footprint(footprint, where).all() else None
    output = _output(output, a, where)
    if structure is not None or box is None or output.dtype != a.dtype:
        first, second = (grey_erosion, grey_dilation) if erodes_first else (grey_dilation, grey_erosion)
        between = first(a, size, footprint, structure, None, mode, cval, origin, axes=axes)
        return second(between, size, footprint, structure, output, mode, cval, origin, axes=axes)
    # All axes of both in one go.
    mirrored = _mirrored(origin, box, axes, a.ndim, where)
    eroded = [(*one, True) for one in _box(axes, box, mode, origin, a.ndim, where)]
    dilated = [(*one, False) for one in _box(axes, box, mode, mirrored, a.ndim, where)]
    steps = eroded + dilated if erodes_first else dilated + eroded
    return _box_extremes(a, output, steps, _number(cval, where, "cval"), where)


def grey_opening(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """An erosion and then a dilation."""
    return _both(input, size, footprint, structure, output, mode, cval, origin, axes, True, "grey_opening")


def grey_closing(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """A dilation and then an erosion."""
    return _both(input, size, footprint, structure, output, mode, cval, origin, axes, False, "grey_closing")


# ---- ranks ----


def _ranks(
    input: Any, pick: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any,
    where: str,
) -> np.ndarray:
    """pick(count): which of that many neighbours in ascending order."""
    if size is not None and footprint is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=3)
    a = _array(input, where)
    axes = _axes(axes, a.ndim, where)
    if footprint is None:
        if size is None:
            raise _invalid(where, "size or footprint must be given")
        footprint = np.ones([_size(one, where) for one in _each(size, len(axes), where, "size")], bool)
    else:
        footprint = _given_footprint(footprint, where)
    footprint = _spread(footprint, axes, a.ndim, where, "footprint")
    origins = _spread_origins(origin, axes, footprint.shape, where)
    count = int(footprint.sum())
    rank = pick(count)
    if not -count <= rank < count:
        raise _invalid(where, f"rank must be {-count} to {count - 1} with {count} neighbours, got {rank}")
    rank %= count
    if rank in (0, count - 1):
        return _extremes(a, None, footprint, None, output, mode, cval, origins, rank == 0, None, where)
    output = _output(output, a, where)
    border = _one_border(mode, where)
    if a.size == 0:
        return output
    if not any(origins) and footprint.all():
        done = _by_plan(a, output, footprint.shape, rank, mode, cval, where)
        if done is not None:
            return done
    if a.ndim == 1:  # SciPy has another way for lines
        outside = _number(cval, where, "cval")
        if a.dtype.kind != "f":
            outside = float(np.int64(outside))
            if border == "constant" and not 0 <= outside <= 127:
                a = a.astype(np.int64)
        plain, outside = _with_cval(a, outside, border, output.dtype, where)
    else:
        plain = _plain(a, a.dtype.newbyteorder("="))
        outside = _cut(_number(cval, where, "cval"), plain.dtype)
    by_numpy = a.ndim == 1 and output.dtype.kind == "b"
    result = _over(
        plain, np.empty(a.shape, plain.dtype) if by_numpy else output, plain.dtype, footprint, origins,
        lambda chain, window: chain.ranks(window, rank, border, outside),
        ("ranks", rank, border, _outside(outside, plain.dtype)), where,
    )  # fmt: skip
    return _copied(output, result) if by_numpy else result


def _by_plan(
    a: np.ndarray, output: np.ndarray, box: Sequence[int], rank: int, mode: str, cval: Any, where: str
) -> np.ndarray | None:
    """What clcook.rank_filter does: squares over the last two dimensions. None: it does not."""
    dtype = a.dtype.newbyteorder("=")
    if a.ndim < 2 or dtype not in _CHANNELS or any(one > 1 for one in box[:-2]):
        return None
    if box[-1] != box[-2] or box[-1] % 2 == 0 or not 3 <= box[-1] <= 65:
        return None
    pays_from = _PICTURE_PAYS_FROM if _is_cpu() else _PICTURE_PAYS_FROM_ON_GPU
    if math.prod(a.shape[:-2]) > 1 and math.prod(a.shape[-2:]) * box[-1] ** 2 < pays_from:
        return None
    border = _border(mode, where)
    plain = _plain(a, dtype)
    outside = _cut(_number(cval, where, "cval"), dtype)
    result = _result(output, plain, dtype)
    for src, dst in zip(plain.reshape(-1, *a.shape[-2:]), result.reshape(-1, *a.shape[-2:])):
        _square_ranks(src, box[-1] // 2, rank, mode=mode, cval=outside, out=dst)  # type: ignore[arg-type]
    return _give(output, result)


def rank_filter(
    input: Any, rank: Whole, size: Any = None, footprint: Any = None, output: Any = None, mode: Mode = "reflect",
    cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The neighbour in a box or a footprint with that number in ascending order; -1 is the largest."""
    index = _index(rank, where="rank_filter", name="rank")
    return _ranks(input, lambda _: index, size, footprint, output, mode, cval, origin, axes, "rank_filter")


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Mode = "reflect",
    cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The median of the neighbours in a box or a footprint; of an even number the larger of two."""
    return _ranks(
        input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes, "median_filter"
    )


def percentile_filter(
    input: Any, percentile: Number, size: Any = None, footprint: Any = None, output: Any = None,
    mode: Mode = "reflect", cval: Number = 0.0, origin: Any = 0, *, axes: Any = None,
) -> np.ndarray:
    """The percentile of the neighbours in a box or a footprint, -100 to 100; -1 is 99."""
    where = "percentile_filter"
    share = _number(percentile, where, "percentile")
    share += 100.0 if share < 0.0 else 0.0
    if not 0 <= share <= 100:
        raise _invalid(where, f"percentile must be -100 to 100, got {percentile}")

    def pick(count: int) -> int:
        return count - 1 if share == 100.0 else int(float(count) * share / 100.0)

    return _ranks(input, pick, size, footprint, output, mode, cval, origin, axes, where)
