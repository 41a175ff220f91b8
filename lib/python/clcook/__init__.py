"""clcook: OpenCL operations as functions from numpy to numpy, and as plans on queues of pyopencl.

    soft = clcook.gaussian_blur(picture, sigma=12, channel_axis=-1)

    blur = clcook.GaussianBlur(queue, width=1920, height=1080, sigma_x=12, sigma_y=12)
    done = blur(src, dst, [uploaded])  # pyopencl buffers, arrays or images; a pyopencl.Event

docs/python.md says more.
"""

from __future__ import annotations

import atexit as _atexit

try:
    from . import _clcook
except ImportError as _error:
    if "libOpenCL" not in str(_error):
        raise
    raise ImportError(
        f"clcook needs an OpenCL loader: {_error}. On Debian: apt-get install ocl-icd-libopencl1, "
        "and a driver such as pocl-opencl-icd"
    ) from _error

from ._arrays import (
    bc6h_decode,
    clear,
    dilate,
    gaussian_blur,
    median3x3,
    rank_filter,
    stream_compaction,
)
from ._clcook import *  # noqa: F403  the plans
from ._clcook import __version__
from ._tools import check, command, flatten, include_dir, isa, try_
from .errors import (
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
)


def device() -> str:
    """The name of the device of functions on numpy arrays: the one that CLCOOK_DEVICE names when the
    first of them is called, such as "gpu" or "pocl:0", else the best. Raises NoDevice."""
    return _clcook._device()


@_atexit.register
def _end() -> None:
    try:
        _clcook._end_calls()
        clear()
    except Error:
        pass  # a child of a fork
    _clcook._drop_done()
