"""What the tests share. The program of tests/python/plain.cpp is what results are compared with;
CLCOOK_PLAIN says where it lies. The lane `python` sets it."""

import gc
import os
import pathlib
import subprocess
import sys
import zlib

import clcook
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
PLAIN = os.environ.get("CLCOOK_PLAIN", str(ROOT / "build" / "bin" / "python_plain"))


def left_out(number, n):
    """Whether the short grid leaves out the check with this number: it takes one n-th, another one for another
    tree, as tests/support/grid.hpp says."""
    is_short = os.environ.get("CLCOOK_TEST_GRID") == "short"
    return is_short and (number + int(os.environ.get("CLCOOK_TEST_SLICE", "0"))) % n != 0


def some(values, n):
    """Of these the short grid takes one n-th."""
    return [one for number, one in enumerate(values) if not left_out(number, n)]


def one_tree_in(n):
    """Marks a test that the short grid runs on one tree in n."""

    def mark(test):
        number = zlib.crc32(test.__name__.encode())
        return pytest.mark.skipif(left_out(number, n), reason=f"the short grid runs it on one tree in {n}")(test)

    return mark


def plain(*arguments):
    """Runs the C++ program; raises RuntimeError with what it says."""
    done = subprocess.run(
        [PLAIN, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def python(code, **environment):
    """Runs a new interpreter; returns what it prints, and fails where it does not end well."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def picture(shape, dtype, seed=1):
    """Noise over the whole range of an integer type, and of floats from -1 to 3."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "u":
        return random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return (random.random(shape) * 4 - 1).astype(dtype)


PIXELS = {"uint8": "u8", "uint16": "u16", "float16": "f16", "float32": "f32"}


def pixel_type(dtype, channels=1):
    """The name of a type of pixels, such as "rgb16f"."""
    kind = PIXELS[np.dtype(dtype).name]
    return "rgba"[:channels] + kind[1:] + ("f" if kind[0] == "f" else "")
# scipy's names of the library's borders.
MODES = {
    "clamp": "nearest",
    "mirror": "reflect",
    "reflect_101": "mirror",
    "wrap": "wrap",
    "constant": "constant",
}


def blur(a, sigma, border="clamp", **more):
    """clcook.gaussian_blur of a picture whose channels, if there are some, come last; by the library's
    name of the border."""
    axis = -1 if np.ndim(a) > 2 else None
    return clcook.gaussian_blur(a, sigma, **{"mode": MODES[border], "channel_axis": axis, **more})


@pytest.fixture(scope="session")
def cl():
    module = pytest.importorskip("pyopencl")
    import pyopencl.array  # noqa: F401

    return module


@pytest.fixture(scope="session")
def context(cl):
    return cl.create_some_context(interactive=False)


@pytest.fixture
def queue(cl, context):
    queue = cl.CommandQueue(context)
    yield queue
    queue.finish()
    gc.collect()


@pytest.fixture
def buffer_of(cl, context):
    def make(array):
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array))

    return make


@pytest.fixture
def read(cl, queue):
    def make(like, source, event=None):
        out = np.empty_like(like)
        cl.enqueue_copy(queue, out, source, wait_for=[event] if event is not None else None)
        return out

    return make
