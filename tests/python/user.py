"""A user's file: every name and every form of a call that docs/python.md has. Type checkers take it,
and refuse the lines that say so (test_package.py); arrays(), lazy() and plans() run there too."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

import os
import pathlib
from typing import Any, Dict, List

import clcook
import clcook.dask
import dask.array as da
import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from clcook import (
    BuildFailed,
    Error,
    FileError,
    Forked,
    InvalidArgument,
    NoDevice,
    OpenCLError,
    OutOfResources,
    ToolError,
    Unsupported,
    WrongType,
    bc6h_decode,
    box_filter,
    closing,
    dilate,
    erode,
    gaussian_blur,
    median3x3,
    ndimage,
    opening,
    rank_filter,
    separable_filter,
    stream_compaction,
)


def arrays(a: np.ndarray, texture: pathlib.Path) -> List[np.ndarray]:
    """Of a picture (height, width, 4)."""
    gray = np.ascontiguousarray(a[..., 0])
    frame = np.empty_like(a)
    out: List[np.ndarray] = [gaussian_blur(gray, 2), gaussian_blur(gray, 2.5)]
    out += [gaussian_blur(gray, np.float32(2)), gaussian_blur(gray, np.float64(2))]
    out += [gaussian_blur(gray, np.int64(2)), gaussian_blur(gray, np.array(2.0))]
    out += [gaussian_blur(gray, (3, np.float32(1))), gaussian_blur(gray, sigma=[3, 1])]
    out += [gaussian_blur(gray, np.array([3, 1]), mode="reflect")]
    out.append(gaussian_blur(a, 2, channel_axis=np.int64(-1), alpha="straight", out=frame))
    out.append(gaussian_blur(gray, 2, mode="constant", cval=np.uint8(3), truncate=np.float32(3)))
    out.append(gaussian_blur(gray, 2, devices="all"))
    out.append(rank_filter(gray, np.int64(2), np.float32(0.25), mode="wrap", cval=0, out=None))
    out.append(dilate(gray, 1, mode="nearest", channel_axis=None))
    out.append(erode(gray, 1, mode="nearest", channel_axis=None))
    out.append(median3x3(a, channel_axis=-1))
    out += [opening(gray, 1, mode="wrap"), closing(a, np.int64(2), channel_axis=-1)]
    out.append(separable_filter(gray, [1, np.float32(2), 1], np.array([-1.0, 0, 1]), cval=0))
    out += [box_filter(gray, 3), box_filter(a, (3, np.int64(5)), channel_axis=-1, out=frame)]
    out.append(bc6h_decode(texture, slice=np.int64(0), mip=0, dtype="float32"))
    out.append(bc6h_decode(os.fspath(texture)))
    out.append(bc6h_decode(texture.read_bytes(), dtype=np.float16))
    out.append(stream_compaction(a, np.float32(256 * 200)))
    name: str = clcook.device()
    shared: cl.CommandQueue = clcook.queue()
    clcook.clear()
    print(name, shared, clcook.__version__)
    return out


def filters(a: np.ndarray) -> List[np.ndarray]:
    """Of a picture (height, width)."""
    out: List[np.ndarray] = [ndimage.gaussian_filter(a, 2), ndimage.gaussian_filter(a, (np.float32(1), 2), 1)]
    out.append(ndimage.gaussian_filter(a, 2, mode=("wrap", "nearest"), cval=1, truncate=3, radius=4, axes=(0, 1)))
    out.append(ndimage.gaussian_filter1d(a, 2.5, axis=0, order=1, output=np.float32))
    out += [ndimage.uniform_filter(a, (3, 4), origin=(0, -1)), ndimage.uniform_filter1d(a, 3, -1)]
    out += [ndimage.correlate(a, np.ones((3, 3)), "float32"), ndimage.correlate1d(a, [1, 2, 1], 0, mode="wrap")]
    out += [ndimage.minimum_filter(a, 3), ndimage.maximum_filter(a, footprint=np.eye(3))]
    out += [ndimage.minimum_filter1d(a, 3), ndimage.maximum_filter1d(a, np.int64(3), axis=0)]
    out += [ndimage.grey_erosion(a, 3), ndimage.grey_dilation(a, structure=np.zeros((3, 3)))]
    out += [ndimage.grey_opening(a, (3, 5)), ndimage.grey_closing(a, footprint=[[0, 1], [1, 1]])]
    out += [ndimage.median_filter(a, 3, output=np.empty_like(a)), ndimage.rank_filter(a, -2, size=3)]
    out.append(ndimage.percentile_filter(a.tolist(), 20.5, size=(3, 5), axes=None))
    return out


def lazy(volume: da.Array, a: da.Array) -> List[da.Array]:
    soft = clcook.dask.gaussian_blur(volume, (np.float32(1), 2, 1), mode="wrap", truncate=3, cval=0)
    return [soft, clcook.dask.rank_filter(a, np.int64(2), np.float32(0.5), channel_axis=None)]


def plans(queue: cl.CommandQueue, a: np.ndarray) -> None:
    """Of a picture (height, width) of uint8."""
    height, width = a.shape
    runtime = clcook.Runtime(queue)
    print(runtime.device)
    blur = clcook.GaussianBlur(
        runtime,
        width=np.int64(width),
        height=height,
        sigma_x=np.float32(3),
        sigma_y=3,
        pixel="r8",
        border="constant",
        outside=np.zeros(4, np.float32),
        variant="automatic",
        tune="",
    )
    x = cl_array.to_device(queue, a)
    y = cl_array.empty_like(x)
    done: cl.Event = blur(x, y)
    done = blur(src=x, dst=y, wait_for=[done])
    rows = clcook.BufferView(x.data, np.int64(0), pitch=width)
    done = blur(rows, clcook.BufferView(y.data), [done])
    problem: Dict[str, Any] = blur.problem
    text: str = blur.describe() + blur.variant + blur.tune
    print(problem["sigma_x"], text, rows.buffer, rows.offset, rows.pitch)
    promised: float = blur.psnr + blur.max_error
    print(promised, blur.in_place)
    blur.build_for(np.float32(20), 20)
    blur.set_sigma(np.float64(20), np.float32(20))
    blur(x, y, [done]).wait()
    island = clcook.Island.cloth(np.int64(4), 4, np.float32(0.5), stiffness=1, bend=np.float64(0))
    rope = clcook.Island.rope(np.int64(4), np.float32(1))
    print(island.particles, island.constraints, rope.colours)


def other_plans(queue: cl.CommandQueue, b: cl.Buffer, image: cl.Image) -> None:
    """Does not run: the sizes are not right."""
    texels = clcook.ImageView(image, np.int64(1), y=2)
    print(texels.image, texels.x, texels.y)
    clcook.RankFilter(queue, width=4, height=4, radius=2, rank=np.float32(1), tune="t")(image, image)
    clcook.Bc6hDecode(queue, width=4, height=4, format="unsigned_float", texel="rgba16f")(b, texels)
    sobel = clcook.SeparableFilter(queue, width=4, taps_x=[-1, 0, 1], taps_y=np.ones(3), pixel="r8")
    print(sobel(image, image), sobel.max_error)
    clcook.StreamCompaction(queue, width=4, height=4, ordered=True)(b, b, b, np.float32(3), [])
    clcook.LineBlur(queue, radius=np.float32(3), relative_sigma=0.5)(texels, texels, None)
    clcook.HaloTile(queue, filter="clamp", depth=1)(b, b, history=b)
    clcook.GroupSwizzle(queue, work="fir", matrix=np.zeros(9), taps=3)(b, b)
    clcook.GroupSize(queue, count=4, factor=np.float32(1), together=False)(b, b)
    clcook.ThresholdCount(queue, count=4, thresholds=np.arange(3.0), slot="u8")(b, b)
    clcook.Bc6hMode(queue, count=4, stride=16)(b, b)
    clcook.ArgumentSwap(queue, count=4, parameters=[1, np.float32(2)])(b, b, b, b)
    clcook.FoldedSwitch(queue, vertices=4, valences=[[3, 4]], indices=np.arange(4))(b, b)
    clcook.GbufferShade(queue, texels=4, lights=[(1, 2, 3, 4)])(b, b)
    clcook.LocalMultipass(queue, islands=1, island=clcook.Island.rope(3, 1))(b, b)
    clcook.Regroup(queue, items=4, paths=2, parameters=(1.0, 2.0))(b, b, b)
    clcook.RegroupOrder(queue, items=4, paths=2, key_bytes=1)(b, b, b)
    skin = clcook.VertexTransform(queue, vertices=4, instances=1, bones=np.int64(1))
    event: cl.Event = skin(b, b, b, b, b, wait_for=[])
    print(event, skin.vertex_format, skin.result_format, skin.matrix_rows)


def refused(queue: cl.CommandQueue, a: np.ndarray) -> None:
    gaussian_blur(a, "wide")  # type: ignore
    gaussian_blur(a, 2, mode="edge")  # type: ignore
    gaussian_blur(a, 2, devices="some")  # type: ignore
    rank_filter(a, 1.5)  # type: ignore
    clcook.GaussianBlur(queue, width="wide")  # type: ignore
    clcook.GaussianBlur(queue, tune=3)  # type: ignore


def errors(a: np.ndarray) -> str:
    try:
        gaussian_blur(a, -1)
    except (InvalidArgument, WrongType, clcook.AxisError) as error:
        return error.code + error.where + error.lacks + str(error.status) + error.build_log
    except (Unsupported, Forked, OutOfResources, BuildFailed, NoDevice, FileError) as other:
        return str(other)
    except (OpenCLError, ToolError, Error):
        return "else"
    return "nothing"


def tools(context: cl.Context, kernel: str, path: pathlib.Path) -> None:
    cl.Program(context, kernel).build(options=["-I", clcook.include_dir()])
    texts: List[str] = [clcook.flatten(path), clcook.flatten(text=kernel, name="mine.cl")]
    found: Dict[str, Any] = clcook.check("argument_swap", variant="naive", device="pocl", tiny=True)
    found = clcook.try_(path, device="gpu")
    found = clcook.isa("argument_swap", path, target=["gfx1030"])
    print(texts, found, clcook.command())
