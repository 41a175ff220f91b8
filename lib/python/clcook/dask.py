"""Filters of dask arrays of any size: each block is filtered with as much of its neighbours as the
filter reaches, where dask runs it, on the device of that process. Needs the package dask.

    import clcook.dask

    soft = clcook.dask.gaussian_blur(volume, sigma=3)   # lazy: dask computes it, in blocks
    soft.to_zarr("soft.zarr")

The client needs no device. Errors in an array's type or in an argument are raised when the function is
called, those of a device by dask when it computes.
"""

from __future__ import annotations

from typing import Any, Callable

import dask.array as da
import numpy as np

from . import _arrays, _clcook
from ._arrays import Alpha, Mode, Number, Sigma, Whole
from .errors import _invalid

__all__ = ["gaussian_blur", "rank_filter"]


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
    whole = [axis for axis, most in reach.items() if image.shape[axis] <= most]
    if image.ndim - 1 not in reach:
        whole.append(image.ndim - 1)
    image = image.rechunk({axis: -1 for axis in whole})
    depth = {axis: 0 if axis in whole else reach.get(axis, 0) for axis in range(image.ndim)}
    wraps = _arrays._BORDERS[mode] == "wrap"
    boundary = {
        axis: "periodic" if wraps and depth[axis] > 0 else "none" for axis in range(image.ndim)
    }
    return da.map_overlap(
        _one_block,
        image,
        depth=depth,
        boundary=boundary,
        dtype=image.dtype,
        meta=np.empty((0,) * image.ndim, image.dtype),
        call=call,
        arguments={"mode": mode, **arguments},
    )


def _one_block(
    block: np.ndarray, call: Callable[..., np.ndarray], arguments: dict[str, Any]
) -> np.ndarray:
    return call(np.ascontiguousarray(block), **arguments)


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
