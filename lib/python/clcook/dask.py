"""Filters of dask arrays of any size: each block is filtered with as much of its neighbours as the
filter reaches, where dask runs it, on the device of that process. Needs the package dask.

    import clcook.dask

    soft = clcook.dask.gaussian_blur(volume, sigma=3)   # lazy: dask computes it, in blocks
    soft.to_zarr("soft.zarr")

The client needs no device. Errors in an array's type or in an argument are raised when the function is
called, those of a device by dask when it computes.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import operator
import os
from typing import Any, Callable

import dask.array as da
import numpy as np
from dask.array.overlap import ensure_minimum_chunksize
from dask.base import tokenize
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph

from . import _arrays, _clcook
from ._arrays import Alpha, Mode, Number, Sigma, Whole
from .errors import Unsupported, _invalid

__all__ = ["cluster", "gaussian_blur", "rank_filter"]


def cluster(**more: Any) -> Any:
    """A distributed.LocalCluster with a worker for each NVIDIA GPU of this host that CUDA_VISIBLE_DEVICES
    does not hide; without any, with one worker, for the device that CLCOOK_DEVICE names or the CPU.

    more: arguments of LocalCluster. A worker has two threads, so that one copies while the device works
    on the other's block. Needs the package distributed; raises clcook.Unsupported without it.
    """
    try:
        from distributed import LocalCluster, Nanny
    except ImportError as error:
        raise Unsupported(
            "dask.cluster needs the package distributed, which cannot be imported "
            f"(pip install distributed); the import says: {error}",
            where="dask.cluster",
        ) from None
    count = ctypes.c_int(0)
    try:
        cuda = ctypes.CDLL("libcuda.so.1")  # which sees the devices that NVIDIA's OpenCL sees
        cuda.cuInit(0)
        cuda.cuDeviceGetCount(ctypes.byref(count))
    except OSError:
        pass
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(count.value))))

    class OfDevice(Nanny):
        def __init__(self, *arguments: Any, name: Any, env: Any = None, **options: Any) -> None:
            mine = {"CLCOOK_DEVICE": os.environ.get("CLCOOK_DEVICE", "cpu")}
            if count.value:
                one = visible.split(",")[name % count.value]
                mine = {"CLCOOK_DEVICE": "nvidia", "CUDA_VISIBLE_DEVICES": one}
            super().__init__(*arguments, name=name, env={**mine, **(env or {})}, **options)

    ours = {"n_workers": max(count.value, 1), "threads_per_worker": 2, "worker_class": OfDevice}
    return LocalCluster(**{**ours, **more})


def _blocks(
    image: Any,
    reach: dict[int, int],
    mode: str,
    call: Callable[..., np.ndarray],
    **arguments: Any,
) -> da.Array:
    """`call` on each block and what lies around it: `reach` elements along each dimension that is
    filtered."""
    # Where the array ends, the block has its border from `call`; only the other end of a wrapped array
    # has to be fetched. A dimension that the filter crosses as a whole stays in one block, and so do
    # channels that come last.
    chunks = list(image.chunks)
    for axis, length in enumerate(image.shape):
        if length <= reach.get(axis, 0) or (axis == image.ndim - 1 and axis not in reach):
            chunks[axis] = (length,)
        elif axis in reach:
            chunks[axis] = ensure_minimum_chunksize(reach[axis], chunks[axis])
    image = image.rechunk(tuple(chunks))
    arguments["mode"] = mode
    wraps = _arrays._BORDERS[mode] == "wrap"
    token = tokenize(call.__name__, image.name, sorted(reach.items()), arguments)
    name, ends = f"{call.__name__}-{token}", f"ends-{token}"
    along = [_along(sizes, reach.get(axis, 0), wraps) for axis, sizes in enumerate(image.chunks)]
    source = next(flatten(image.__dask_keys__()))[0]  # image.name, but where dask plans queries
    graph: dict[tuple, tuple] = {}
    tasks: dict[tuple, Callable[..., np.ndarray]] = {}  # most blocks have one in common
    for at in np.ndindex(image.numblocks):
        pieces, parts = zip(*(axis[i] for axis, i in zip(along, at)))
        if parts not in tasks:
            tasks[parts] = functools.partial(_one_block, call, arguments, parts)
        keys = []
        for piece in itertools.product(*pieces):
            key = (source, *(i for i, _ in piece))
            end = next(((axis, side) for axis, (_, side) in enumerate(piece) if side), None)
            if end is not None:
                # A view here, and little to send to another worker.
                axis, side = end
                whole, key = key, (ends, *key[1:], *end)
                cut = (slice(None),) * axis + (_cut(side, reach[axis]),)
                graph[key] = operator.getitem, whole, cut
            keys.append(key)
        graph[(name, *at)] = tasks[parts], *keys
    meta = np.empty((0,) * image.ndim, image.dtype)
    if getattr(da, "array_expr_enabled", bool)():  # by dask's array.query-planning, off by default
        from dask.array._array_expr._collection import from_graph

        keys = [(name, *at) for at in np.ndindex(image.numblocks)]
        return from_graph({**image.__dask_graph__(), **graph}, meta, image.chunks, keys, name)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[image])
    return da.Array(layers, name, image.chunks, meta=meta)


def _along(sizes: tuple[int, ...], reach: int, wraps: bool) -> list[tuple[tuple, tuple]]:
    """Of each block along a dimension, the blocks (index, side) that its task needs: itself, side 0,
    and those before and behind it, -1 and 1; and what the task knows of them: (sides, size, reach)."""
    found = []
    for i, size in enumerate(sizes):
        sides = [0]
        if reach and len(sizes) > 1:
            sides = [side for side in (-1, 0, 1) if wraps or 0 <= i + side < len(sizes)]
        pieces = tuple(((i + side) % len(sizes), side) for side in sides)
        found.append((pieces, (tuple(sides), size, reach)))
    return found


def _cut(side: int, reach: int) -> slice:
    """What is needed of the block before, -1, of the block itself, 0, or of the one behind it, 1."""
    return slice(None) if side == 0 else slice(-reach, None) if side < 0 else slice(reach)


def _one_block(
    call: Callable[..., np.ndarray],
    arguments: dict[str, Any],
    parts: tuple[tuple[tuple[int, ...], int, int], ...],
    *pieces: np.ndarray,
) -> np.ndarray:
    """The block's part of what `call` makes of the pieces, which are the product of what _along() says
    for each dimension. Each is copied once, to where `call` reads."""
    if len(pieces) == 1:
        return call(np.ascontiguousarray(pieces[0]), **arguments)
    cuts, places = [], []
    for sides, size, reach in parts:
        cuts.append([_cut(side, reach) for side in sides])
        first = reach if -1 in sides else 0
        ends = {-1: (0, reach), 0: (first, first + size), 1: (first + size, first + size + reach)}
        places.append([slice(*ends[side]) for side in sides])
    own = tuple(place[sides.index(0)] for place, (sides, _, _) in zip(places, parts))
    boxes = list(itertools.product(*places))
    block = _arrays._array(np.asarray(pieces[boxes.index(own)]), call.__name__, "image")
    around = _arrays._result(None, tuple(place[-1].stop for place in places), block.dtype, "")
    for box, cut, piece in zip(boxes, itertools.product(*cuts), pieces):
        around[box] = piece[cut]
    return call(around, **arguments)[own]


def _layout(
    image: Any, channel_axis: Any, dims: tuple[int, ...], where: str
) -> tuple[range, int]:
    """Checks what can be known of an array that is not computed yet; as _arrays._layout."""
    if not isinstance(image, da.Array):
        raise _invalid(where, f"image must be a dask array, got {type(image).__name__}", True)
    if np.isnan(image.size):
        raise _invalid(where, f"image must have a known shape, got {image.shape}")
    _arrays._elements(image.dtype, image.shape, where, "image")
    return _arrays._layout(image.shape, channel_axis, dims, where)


def gaussian_blur(
    image: da.Array,
    sigma: Sigma,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    truncate: Number = 4.0,
    channel_axis: Whole | None = None,
    alpha: Alpha = "none",
) -> da.Array:
    """clcook.gaussian_blur of a dask array of any size: a lazy array of the same shape and type.

    Blocks smaller than the filter's radius, floor(truncate sigma + 1/2), are merged with their
    neighbours, and channels that come last are in one block. Each block takes the method that is best for its
    size, so the result is that of the whole array within what the methods promise.
    """
    where = "dask.gaussian_blur"
    axes, channels = _layout(image, channel_axis, (1, 2, 3), where)
    problem, x, y = _arrays._gaussian_problem(
        (1,) * len(axes), channels, image.dtype, sigma, mode, cval, truncate, alpha, where
    )
    halo = _clcook._gaussian_halo(sigma_x=x, sigma_y=y, **problem)[3 - len(axes) :]
    return _blocks(
        image,
        dict(zip(axes, halo)),
        mode,
        _arrays.gaussian_blur,
        channel_axis=channel_axis,
        sigma=sigma,
        cval=cval,
        truncate=truncate,
        alpha=alpha,
    )


def rank_filter(
    image: da.Array,
    radius: Whole,
    rank: Number = 0.5,
    *,
    mode: Mode = "nearest",
    cval: Number = 0.0,
    channel_axis: Whole | None = None,
) -> da.Array:
    """clcook.rank_filter of a dask array of any size: a lazy array of the same shape and type, exact."""
    where = "dask.rank_filter"
    axes, channels = _layout(image, channel_axis, (2,), where)
    problem = _arrays._rank_problem((1, 1), channels, image.dtype, radius, rank, mode, cval, where)
    halo = _clcook._rank_halo(**problem)
    return _blocks(
        image,
        dict(zip(axes, halo)),
        mode,
        _arrays.rank_filter,
        channel_axis=channel_axis,
        radius=radius,
        rank=rank,
        cval=cval,
    )
