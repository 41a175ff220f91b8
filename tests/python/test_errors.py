"""Wrong arguments raise a class of clcook.errors with the rule and the value, and never more."""

import pickle

import clcook
import clcook.ndimage
import numpy as np
import pytest
from conftest import blur, picture, plain, python
from test_results import blur_plan


def raises(kind, *parts):
    return pytest.raises(kind, match="(?s)" + ".*".join(parts))


GOOD = picture((20, 30, 4), "uint8")


filters = clcook.ndimage


def rank(a, radius, *more, channel_axis=-1):
    return clcook.rank_filter(a, radius, *more, channel_axis=channel_axis)


def taps(taps_y):
    return clcook.separable_filter(GOOD, taps_y, [1], channel_axis=-1)


def strange(a, **more):
    return np.lib.stride_tricks.as_strided(a, **more)


@pytest.mark.parametrize(
    "call, kind, parts",
    [
        # types
        (lambda: blur([[1.0]], 1), clcook.WrongType, ["numpy array", "list"]),
        (lambda: blur(None, 1), clcook.WrongType, ["numpy array", "NoneType"]),
        (lambda: blur(GOOD.astype("f8"), 1), clcook.WrongType, ["float32", "float64"]),
        (lambda: blur(GOOD.astype("i4"), 1), clcook.WrongType, ["uint8", "int32"]),
        (lambda: blur(GOOD > 9, 1), clcook.WrongType, ["uint8", "bool"]),
        (lambda: blur(GOOD.astype("O"), 1), clcook.WrongType, ["uint8", "object"]),
        (lambda: blur(GOOD.astype("c8"), 1), clcook.WrongType, ["complex64"]),
        # byte order
        (lambda: blur(GOOD.astype(">f4"), 1), clcook.WrongType, ["byte order", ">f4"]),
        (lambda: clcook.stream_compaction(GOOD.astype(">u2"), 1), clcook.WrongType, [">u2"]),
        # shapes
        (lambda: blur(GOOD[0, 0], 1, channel_axis=-1), clcook.InvalidArgument, ["1 or 2 or 3", "got 1 with"]),
        (lambda: blur(GOOD[None, None], 1), clcook.InvalidArgument, ["1 or 2 or 3", "got 5 with"]),
        (lambda: rank(GOOD[0], 1), clcook.InvalidArgument, ["2 dimensions", "got 2 with"]),
        (lambda: blur(GOOD, 1, channel_axis=1), clcook.InvalidArgument, ["first or the last", "got 1"]),
        (lambda: blur(GOOD, 1, channel_axis=-3), clcook.InvalidArgument, ["first or the last", "got -3"]),
        (lambda: blur(GOOD, 1, channel_axis=3), clcook.AxisError, ["first or the last", "got 3"]),
        (lambda: rank(GOOD, 1, channel_axis=-4), clcook.AxisError, ["first or the last", "got -4"]),
        (lambda: clcook.ndimage.gaussian_filter(GOOD, 1, axes=(0, 3)), clcook.AxisError, ["-3 to 2, got 3"]),
        (lambda: clcook.ndimage.minimum_filter1d(GOOD, 3, axis=-4), clcook.AxisError, ["-3 to 2, got -4"]),
        (lambda: blur(GOOD, 1, channel_axis="last"), clcook.WrongType, ["channel_axis", "str"]),
        (lambda: blur(GOOD, 1, channel_axis=True), clcook.WrongType, ["channel_axis", "bool"]),
        (lambda: blur(np.float32(3) + np.zeros((), "f4"), 1), clcook.Error, []),
        (lambda: blur(np.zeros((4, 4, 5), "u1"), 1), clcook.Error, ["channels", "5"]),
        (lambda: clcook.stream_compaction(GOOD[..., :2], 1), clcook.InvalidArgument, ["1, 3 or 4", "2"]),
        # strides
        (lambda: blur(GOOD[:, ::-1], 1), clcook.InvalidArgument, ["stride", "-4"]),
        (lambda: blur(GOOD[::-1], 1), clcook.InvalidArgument, ["stride", "-120"]),
        (lambda: blur(GOOD[:, ::2], 1), clcook.InvalidArgument, ["stride", "got 8"]),
        (lambda: blur(GOOD[..., :3], 1), clcook.InvalidArgument, ["stride", "3 bytes"]),
        (lambda: blur(np.asfortranarray(GOOD), 1), clcook.InvalidArgument, ["stride"]),
        (
            lambda: blur(strange(GOOD, strides=(0, 4, 1)), 1),
            clcook.InvalidArgument,
            ["stride", "at least 120", "got 0"],
        ),
        (lambda: clcook.stream_compaction(GOOD[:, ::2], 1), clcook.InvalidArgument, ["stride"]),
        (lambda: clcook.stream_compaction(GOOD[:, ::2, 0], 1), clcook.InvalidArgument, ["stride"]),
        # out
        (lambda: blur(GOOD, 1, out=3), clcook.WrongType, ["out", "int"]),
        (
            lambda: blur(GOOD, 1, out=GOOD.astype("u2")),
            clcook.WrongType,
            ["out", "uint8", "u2"],
        ),
        (lambda: blur(GOOD, 1, out=GOOD[:5].copy()), clcook.Error, ["out", "shape"]),
        # values
        (lambda: blur(GOOD, "wide"), clcook.WrongType, ["sigma", "wide"]),
        (lambda: blur(GOOD, None), clcook.WrongType, ["sigma", "None"]),
        (lambda: blur(GOOD, (1, 2, 3)), clcook.InvalidArgument, ["sigma", "got 3"]),
        (lambda: blur(GOOD, 1, alpha="straight", channel_axis=0), clcook.InvalidArgument, ["channels"]),
        (lambda: blur(GOOD, 1, devices="both"), clcook.InvalidArgument, ["one, all", "'both'"]),
        (lambda: blur(GOOD, 1, devices=2), clcook.WrongType, ["devices", "int"]),
        (lambda: blur(GOOD, -1), clcook.InvalidArgument, ["0 to 500", "-1"]),
        (lambda: blur(GOOD, 501), clcook.InvalidArgument, ["0 to 500", "501"]),
        (lambda: blur(GOOD, float("nan")), clcook.InvalidArgument, ["sigma", "nan"]),
        (lambda: blur(GOOD, float("inf")), clcook.InvalidArgument, ["sigma", "inf"]),
        (lambda: blur(GOOD, 1, mode="clamp"), clcook.InvalidArgument, ["nearest", "mirror", "clamp"]),
        (lambda: blur(GOOD, 1, mode=3), clcook.WrongType, ["mode", "int"]),
        (lambda: blur(GOOD, 1, cval="0x"), clcook.WrongType, ["cval", "0x"]),
        (lambda: blur(GOOD, 1, truncate=9), clcook.InvalidArgument, ["truncate", "9"]),
        (lambda: blur(GOOD, 1, truncate="4 "[1:]), clcook.WrongType, ["truncate"]),
        (lambda: clcook.stream_compaction(GOOD, float("nan")), clcook.InvalidArgument, ["nan"]),
        (lambda: clcook.stream_compaction(GOOD, 1, weights=(1, 2)), clcook.InvalidArgument, ["3", "2"]),
        (lambda: clcook.stream_compaction(GOOD, 1, weights=(1, 2, 300)), clcook.InvalidArgument, ["300"]),
        (lambda: clcook.stream_compaction(GOOD, 1, weights=0.5), clcook.WrongType, ["weights", "0.5"]),
        (lambda: clcook.stream_compaction(GOOD, "1x"), clcook.WrongType, ["threshold", "1x"]),
        (lambda: rank(GOOD, 0), clcook.InvalidArgument, ["radius", "1 to 32", "0"]),
        (lambda: rank(GOOD, 1.5), clcook.WrongType, ["radius", "whole", "float"]),
        (lambda: rank(GOOD, 1, 1.5), clcook.InvalidArgument, ["rank", "0 to 1", "1.5"]),
        (lambda: rank(GOOD, 1, "h"), clcook.WrongType, ["rank", "'h'"]),
        (lambda: rank(GOOD, 1, True), clcook.WrongType, ["rank", "whole", "True"]),
        (lambda: rank(GOOD, 1, 9), clcook.InvalidArgument, ["rank", "-9 to 8", "radius 1", "got 9"]),
        (lambda: rank(GOOD, 2, -26), clcook.InvalidArgument, ["rank", "-25 to 24", "got -26"]),
        (lambda: rank(GOOD, 33, 9), clcook.InvalidArgument, ["radius", "1 to 32", "33"]),
        (lambda: rank(GOOD, 0, 0), clcook.InvalidArgument, ["radius", "1 to 32", "0"]),
        (lambda: rank(GOOD, "2", 1), clcook.WrongType, ["radius", "whole", "str"]),
        (lambda: rank(np.zeros((4, 4, 5), np.uint8), 1), clcook.InvalidArgument, ["1 to 4", "5"]),
        (lambda: rank(GOOD[:, ::2], 1), clcook.InvalidArgument, ["stride"]),
        (lambda: clcook.separable_filter(GOOD[..., 0], 3, [1]), clcook.WrongType, ["taps_y", "int"]),
        (lambda: clcook.separable_filter(GOOD, [1], ["a"]), clcook.WrongType, ["taps_x", "'a'"]),
        (lambda: taps([1, 1]), clcook.InvalidArgument, ["taps_y", "odd", "1 to 8001", "got 2"]),
        (lambda: taps([]), clcook.InvalidArgument, ["taps_y", "odd", "got 0"]),
        (lambda: taps([1e39]), clcook.InvalidArgument, ["taps_y", "finite", "inf"]),
        (lambda: taps([3e38]), clcook.InvalidArgument, ["fit a float"]),
        (lambda: clcook.box_filter(GOOD, 4, channel_axis=-1), clcook.InvalidArgument, ["odd", "4"]),
        (lambda: clcook.box_filter(GOOD, (3, 5, 7)), clcook.InvalidArgument, ["two of them", "7"]),
        (lambda: clcook.box_filter(GOOD, 3.0), clcook.WrongType, ["size", "whole", "3.0"]),
        (lambda: clcook.opening(GOOD, 33, channel_axis=-1), clcook.InvalidArgument, ["radius", "33"]),
        (lambda: blur(GOOD, 10**400), clcook.InvalidArgument, ["sigma", "double", "int"]),
        (lambda: blur(GOOD, np.complex128(2 + 3j)), clcook.WrongType, ["sigma", "complex128"]),
        (lambda: taps([1j]), clcook.WrongType, ["taps_y", "1j"]),
        (lambda: clcook.stream_compaction(GOOD, 10**400), clcook.InvalidArgument, ["threshold", "int"]),
        # clcook.ndimage
        (lambda: filters.rank_filter(GOOD, -28, 3), clcook.InvalidArgument, ["-27 to 26", "got -28"]),
        (lambda: filters.rank_filter(GOOD, None, 3), clcook.WrongType, ["rank", "None"]),
        (lambda: filters.median_filter(GOOD, footprint=np.zeros((1, 3, 3))), clcook.InvalidArgument, ["(1, 3, 3)"]),
        (lambda: filters.median_filter(GOOD, 2.7), clcook.WrongType, ["size", "whole", "2.7"]),
        (lambda: filters.uniform_filter(GOOD, "3"), clcook.WrongType, ["size", "'3'"]),
        (lambda: filters.uniform_filter(GOOD, np.inf), clcook.InvalidArgument, ["size", "inf"]),
        (lambda: filters.uniform_filter(GOOD, 2**31), clcook.Unsupported, ["at most", "window of 2147483648"]),
        (lambda: filters.uniform_filter(GOOD, 3, origin="0"), clcook.WrongType, ["origin", "'0'"]),
        (lambda: filters.uniform_filter(GOOD, 3, origin=1.0), clcook.WrongType, ["origin", "1.0"]),
        (lambda: filters.gaussian_filter1d(GOOD, 0), clcook.InvalidArgument, ["sigma", "not be 0", "got 0"]),
        (lambda: filters.gaussian_filter1d(GOOD, 1e-200), clcook.InvalidArgument, ["sigma", "1e-200"]),
        (lambda: filters.gaussian_filter1d(GOOD, -1), clcook.InvalidArgument, ["radius", "from sigma -1"]),
        (lambda: filters.gaussian_filter1d(GOOD, "3"), clcook.WrongType, ["sigma", "'3'"]),
        (lambda: filters.gaussian_filter(GOOD, (1, "3", 1)), clcook.WrongType, ["sigma", "'3'"]),
        (lambda: filters.gaussian_filter(GOOD, np.inf), clcook.InvalidArgument, ["sigma", "finite", "inf"]),
        (lambda: filters.gaussian_filter(GOOD, 1, truncate=np.nan), clcook.InvalidArgument, ["truncate", "nan"]),
        (lambda: filters.gaussian_filter(GOOD, 1, radius=10**30), clcook.Unsupported, ["radius", "at most"]),
        (lambda: filters.gaussian_filter(GOOD, 1, order=1.0), clcook.WrongType, ["order", "whole", "1.0"]),
        (lambda: filters.gaussian_filter(GOOD, 1, output="nonsense"), clcook.WrongType, ["output", "'nonsense'"]),
        (lambda: filters.gaussian_filter1d(GOOD, 1, "x"), clcook.WrongType, ["axis", "whole", "'x'"]),
        (lambda: filters.gaussian_filter1d(np.array(1.0), 1), clcook.AxisError, ["no axis", "-1"]),
        (lambda: filters.correlate(GOOD, "a"), clcook.InvalidArgument, ["weights", "real"]),
        # files
        (lambda: clcook.bc6h_decode("/nowhere/x.dds"), clcook.FileError, ["/nowhere/x.dds"]),
        (lambda: clcook.bc6h_decode(__file__), clcook.FileError, ["DDS"]),
        (lambda: clcook.bc6h_decode(3), clcook.WrongType, ["path", "int"]),
        (lambda: clcook.bc6h_decode("a\0b"), clcook.FileError, ["null"]),
        (lambda: clcook.bc6h_decode("x", dtype="f8"), clcook.WrongType, ["float16", "f8"]),
        (lambda: clcook.bc6h_decode("x", mip="0"), clcook.WrongType, ["mip"]),
        (lambda: clcook.flatten(), clcook.InvalidArgument, ["path", "text"]),
        (lambda: clcook.flatten("/nowhere/x.cl"), clcook.FileError, ["/nowhere/x.cl"]),
        (lambda: clcook.flatten(text="#include <clcook/none.clh>\n"), clcook.FileError, ["none.clh"]),
        (lambda: clcook.Runtime(3), clcook.WrongType, ["queue", "int"]),
    ],
)
def test_wrong_arguments(call, kind, parts):
    with raises(kind, *parts) as caught:
        call()
    error = caught.value
    assert isinstance(error, clcook.Error) and error.code and error.where
    assert type(pickle.loads(pickle.dumps(error))) is type(error)


def test_a_read_only_output():
    out = np.empty_like(GOOD)
    out.flags.writeable = False
    with raises(clcook.InvalidArgument, "out", "read-only"):
        blur(GOOD, 1, out=out)


def test_classes():
    assert issubclass(clcook.InvalidArgument, (ValueError,))
    assert issubclass(clcook.WrongType, TypeError) and issubclass(clcook.WrongType, ValueError)
    assert issubclass(clcook.AxisError, np.exceptions.AxisError) and issubclass(clcook.AxisError, IndexError)
    assert issubclass(clcook.FileError, OSError)
    assert issubclass(clcook.OutOfResources, MemoryError)
    assert issubclass(clcook.Forked, clcook.Unsupported)


def test_the_same_message_as_cpp(tmp_path):
    GOOD.tofile(tmp_path / "in")
    arguments = ["gaussian_blur", tmp_path / "in", tmp_path / "out", 30, 20, 4, "u8"]
    for more in (["-1", "3", "clamp", "4"], ["3", "3", "clamp", "0.1"]):
        with pytest.raises(RuntimeError) as cpp:
            plain(*arguments, *more)
        code, message = str(cpp.value).strip().split("\n", 1)
        with pytest.raises(clcook.Error) as caught:
            blur(GOOD, (float(more[1]), float(more[0])), truncate=float(more[3]))
        assert caught.value.code == code
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "values, kind, parts",
    [
        ({"width": "30"}, clcook.WrongType, ["width", "whole number", "str"]),
        ({"width": 2.0}, clcook.WrongType, ["width", "whole number", "float"]),
        ({"width": 2**70}, clcook.InvalidArgument, ["width", "1180591620717411303424"]),
        ({"width": 0}, clcook.InvalidArgument, ["width", "0"]),
        ({"breadth": 30}, clcook.InvalidArgument, ["breadth", "width"]),
        ({"pixel": "rgb9"}, clcook.InvalidArgument, ["rgb9", "r8, rg8, rgb8"]),
        ({"channels": 3}, clcook.InvalidArgument, ["leave channels alone", "rgba8 and 3"]),
        ({"outside": 3}, clcook.WrongType, ["outside", "sequence"]),
        ({"outside": [1, 2]}, clcook.InvalidArgument, ["outside", "4 numbers", "2"]),
        ({"in_place": 1}, clcook.WrongType, ["in_place", "True or False"]),
        ({"variant": "none"}, clcook.InvalidArgument, ["none", "naive"]),
        ({"variant": 3}, clcook.WrongType, ["variant", "int"]),
        ({"tune": "group=3"}, clcook.InvalidArgument, ["group"]),
        ({"quality": 900}, clcook.Unsupported, ["quality|dB"]),
    ],
)
def test_wrong_problems(queue, values, kind, parts):
    with raises(kind, *parts):
        clcook.GaussianBlur(queue, **{"width": 30, "height": 20, "pixel": "rgba8", **values})


def test_what_a_plan_is_called_with(cl, queue, context, buffer_of):
    plan = blur_plan(queue, GOOD)
    src, dst = buffer_of(GOOD), buffer_of(GOOD)
    small = buffer_of(GOOD[:5])
    image = cl.image_from_array(context, GOOD, 4)
    other = cl.Context(context.devices)
    foreign = cl.Buffer(other, cl.mem_flags.READ_WRITE, GOOD.nbytes)
    read_only = cl.Buffer(context, cl.mem_flags.READ_ONLY, GOOD.nbytes)
    array = cl.array.to_device(queue, GOOD)
    cases = [
        ((GOOD, dst), clcook.WrongType, ["src", "Buffer", "ndarray"]),
        ((src, None), clcook.WrongType, ["dst", "Buffer", "NoneType"]),
        ((src, image), clcook.WrongType, ["src", "Image", "Buffer"]),
        ((src, small), clcook.InvalidArgument, ["dst", "2400"]),
        ((src, src), clcook.InvalidArgument, ["overlap"]),
        ((src, foreign), clcook.InvalidArgument, ["dst", "context"]),
        ((foreign, dst), clcook.InvalidArgument, ["src", "context"]),
        ((src, read_only), clcook.InvalidArgument, ["dst", "READ_ONLY|written|write"]),
        ((src, dst, 3), clcook.WrongType, ["wait_for", "int"]),
        ((src, dst, [3]), clcook.WrongType, ["wait_for", "int"]),
        ((src, dst, [cl.UserEvent(other)]), clcook.InvalidArgument, ["context"]),
        ((array.astype(np.float32), dst), clcook.InvalidArgument, ["uint8", "<f4"]),
        ((array[:5], dst), clcook.InvalidArgument, ["shape", "\\(20, 30, 4\\)", "\\(5, 30, 4\\)"]),
        ((array[:, ::2], dst), clcook.InvalidArgument, ["shape"]),
        ((clcook.BufferView(src, offset=3), dst), clcook.InvalidArgument, ["src", "offset", "3"]),
        ((clcook.BufferView(src, pitch=8), dst), clcook.InvalidArgument, ["src", "pitch", "8"]),
        ((clcook.BufferView(src, offset=2**62), dst), clcook.InvalidArgument, ["src"]),
    ]
    for arguments, kind, parts in cases:
        with raises(kind, *parts):
            plan(*arguments)
    for make, kind in [
        (lambda: clcook.BufferView(image), clcook.WrongType),
        (lambda: clcook.BufferView(GOOD), clcook.WrongType),
        (lambda: clcook.ImageView(src), clcook.WrongType),
        (lambda: clcook.BufferView(src, offset=-1), clcook.InvalidArgument),
        (lambda: plan.set_sigma(900, 900), clcook.InvalidArgument),
    ]:
        with raises(kind):
            make()
    wide = cl.array.to_device(queue, picture((20, 60, 4), "uint8"))
    with raises(clcook.InvalidArgument, "stride", "got 8"):
        plan(wide[:, ::2], dst)
    plan(src, dst).wait()  # nothing of this broke it


def test_a_kernel_that_does_not_compile(queue):
    code = """
import clcook, numpy as np
try:
    clcook.gaussian_blur(np.zeros((8, 8), np.uint8), 2)
except clcook.BuildFailed as error:
    assert error.code == "build_failed" and ".cl:1:1" in error.build_log, error.build_log
    print("refused")
"""
    import pathlib
    import tempfile

    from conftest import ROOT

    with tempfile.TemporaryDirectory() as folder:
        kernels = pathlib.Path(folder)
        for file in ROOT.glob("kernels/gaussian_blur/*.cl"):
            (kernels / "gaussian_blur").mkdir(exist_ok=True)
            (kernels / "gaussian_blur" / file.name).write_text("nonsense;\n")
        assert python(code, CLCOOK_KERNEL_DIR=folder) == "refused"


def test_no_device():
    code = """
import clcook, numpy as np
for call in (clcook.device, lambda: clcook.gaussian_blur(np.zeros((8, 8), np.uint8), 2)):
    for _ in range(2):
        try:
            call()
        except clcook.NoDevice as error:
            print(error.code)
"""
    none = {"OCL_ICD_VENDORS": "/nowhere", "OPENCL_VENDOR_PATH": "/nowhere"}
    assert python(code, **none).split() == ["no_device"] * 4
    assert python(code, CLCOOK_DEVICE="fpga:7").split() == ["no_device"] * 4


def test_no_pyopencl():
    code = """
import sys
sys.modules["pyopencl"] = None
import clcook, numpy as np
a = np.zeros((8, 8), np.uint8); a[4, 4] = 255
assert clcook.gaussian_blur(a, 1).max() < 255
for call in (lambda: clcook.GaussianBlur(3, width=8, height=8), lambda: clcook.BufferView(a)):
    try:
        call()
    except clcook.Unsupported as error:
        assert "pip install pyopencl" in str(error), error
        print("refused")
"""
    assert python(code).split() == ["refused"] * 2


def test_a_tool_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("CLCOOK", str(tmp_path / "none"))
    with raises(clcook.ToolError, "CLCOOK=", "cmake"):
        clcook.check("bc6h_mode")
    monkeypatch.delenv("CLCOOK")
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(clcook.ToolError, "PATH", "cmake"):
        clcook.isa("bc6h_mode")
    with raises(clcook.WrongType, "--help"):
        clcook.check("--help")
