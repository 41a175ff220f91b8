"""The exceptions of clcook. Whatever clcook raises on its own is an Error.

=================  ======================================================  ====================
class              raised for                                              is also a
=================  ======================================================  ====================
InvalidArgument    a value that breaks a documented rule; nothing was      ValueError
                   enqueued
WrongType          an argument of a wrong type                             ValueError, TypeError
AxisError          a dimension that the array does not have                numpy's AxisError, so
                                                                           ValueError, IndexError
Unsupported        a correct request that this device, driver, variant or
                   installation cannot serve
Forked             a call in a child of a process that had used a device
OutOfResources     the device or the host ran out of memory                MemoryError
BuildFailed        a kernel that does not compile
NoDevice           no OpenCL device matches the request
FileError          a file that cannot be read, or is broken                OSError
OpenCLError        any other status of OpenCL
ToolError          the clcook command is missing, or it failed
=================  ======================================================  ====================
"""

from __future__ import annotations

try:
    from numpy.exceptions import AxisError as _AxisError
except ImportError:  # before numpy 1.25
    from numpy import AxisError as _AxisError  # type: ignore


class Error(RuntimeError):
    """What every exception of clcook is. The message names the rule and the value."""

    code: str  #: "invalid_argument", "unsupported", ... as in lib/clcook/error.hpp
    lacks: str  #: what an unsupported request would need, else "nothing"
    status: int  #: the OpenCL status, 0 when none was involved
    where: str  #: the operation or function that refused
    build_log: str  #: the compiler's text, for BuildFailed

    def __init__(
        self,
        message: str,
        code: str = "unsupported",
        lacks: str = "nothing",
        status: int = 0,
        where: str = "clcook",
        build_log: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.lacks = lacks
        self.status = status
        self.where = where
        self.build_log = build_log

    def __reduce__(self):
        return type(self), (
            str(self),
            self.code,
            self.lacks,
            self.status,
            self.where,
            self.build_log,
        )


class InvalidArgument(Error, ValueError):
    """A value that breaks a documented rule; nothing was enqueued."""


class WrongType(InvalidArgument, TypeError):
    """An argument of a wrong type."""


class AxisError(InvalidArgument, _AxisError):
    """A dimension that the array does not have."""

    axis = None
    ndim = None
    __str__ = Error.__str__


class Unsupported(Error):
    """A correct request that this device, driver, variant or installation cannot serve."""


class Forked(Unsupported):
    """A call in a child of a process that had used a device: OpenCL does not survive a fork."""


class OutOfResources(Error, MemoryError):
    """The device or the host ran out of memory or of another resource."""


class BuildFailed(Error):
    """A kernel that does not compile; build_log holds the compiler's text."""


class NoDevice(Error):
    """No OpenCL device matches the request."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or whose content is broken."""


class OpenCLError(Error):
    """Any other status of OpenCL; see status."""


class ToolError(Error):
    """The clcook command is missing, or it failed."""


_KINDS = {
    "invalid_argument": InvalidArgument,
    "wrong_type": WrongType,
    "unsupported": Unsupported,
    "forked": Forked,
    "out_of_resources": OutOfResources,
    "build_failed": BuildFailed,
    "no_device": NoDevice,
    "io": FileError,
    "opencl": OpenCLError,
}


def _made(kind, message, code, lacks, status, where, build_log):
    return _KINDS[kind](message, code, lacks, status, where, build_log)


def _invalid(where, message, wrong_type=False, axis=False):
    kind = WrongType if wrong_type else AxisError if axis else InvalidArgument
    return kind(f"{where}: {message}", "invalid_argument", where=where)
