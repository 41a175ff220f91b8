"""clcook: OpenCL operations as functions from numpy to numpy, and as plans on queues of pyopencl.

    soft = clcook.gaussian_blur(picture, sigma=12, channel_axis=-1)

    blur = clcook.GaussianBlur(queue, width=1920, height=1080, sigma_x=12, sigma_y=12)
    done = blur(src, dst, [uploaded])  # pyopencl buffers, arrays or images; a pyopencl.Event

docs/python.md says more.
"""

from __future__ import annotations

import atexit as _atexit
from typing import Any as _Any

try:
    from . import _clcook
except ImportError as _error:
    if "libOpenCL" not in str(_error):
        raise
    raise ImportError(
        f"clcook needs an OpenCL loader: {_error}. On Debian: apt-get install ocl-icd-libopencl1, "
        "and a driver such as pocl-opencl-icd"
    ) from _error

# "as" the same name: so that type checkers take it for a name of this package.
from ._arrays import (
    bc6h_decode as bc6h_decode,
    box_filter as box_filter,
    clear as clear,
    closing as closing,
    dilate as dilate,
    erode as erode,
    gaussian_blur as gaussian_blur,
    median3x3 as median3x3,
    opening as opening,
    rank_filter as rank_filter,
    separable_filter as separable_filter,
    stream_compaction as stream_compaction,
)
from ._clcook import *  # noqa: F403  the plans
from ._tools import (
    check as check,
    command as command,
    flatten as flatten,
    include_dir as include_dir,
    isa as isa,
    try_ as try_,
)
from .errors import (
    AxisError as AxisError,
    BuildFailed as BuildFailed,
    Error as Error,
    FileError as FileError,
    Forked as Forked,
    InvalidArgument as InvalidArgument,
    NoDevice as NoDevice,
    OpenCLError as OpenCLError,
    OutOfResources as OutOfResources,
    ToolError as ToolError,
    Unsupported as Unsupported,
    WrongType as WrongType,
)

__version__: str = _clcook.__version__


def device() -> str:
    """The name of the device of functions on numpy arrays: the one that CLCOOK_DEVICE names when the
    first of them is called, such as "gpu" or "pocl:0", else the best. Raises NoDevice."""
    return _clcook._device()


def devices() -> list[str]:
    """The names of that device and of all others of its platform and kind: what devices="all" means."""
    return _clcook._devices()


def queue() -> _Any:
    """The pyopencl.CommandQueue of that device, which functions on numpy arrays use. Plans that were
    pickled are made anew on it: their buffers belong to its context."""
    return _clcook._queue()


def _plan_again(kind: type, values: dict[str, _Any]) -> _Any:
    return kind(_clcook._runtime(), **values)


@_atexit.register
def _end() -> None:
    try:
        _clcook._end_calls()
        clear()
    except Error:
        pass  # a child of a fork
    _clcook._drop_done()
