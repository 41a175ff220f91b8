"""What the package holds beside the operations."""

import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import clcook
import numpy as np
import pytest
from conftest import DATA, ROOT, one_tree_in, picture


def test_version():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert clcook.__version__ == re.search(r"VERSION ([0-9.]+)\n  DESCRIPTION", text)[1]


def test_every_binding_is_there():
    names = [file.stem for file in (ROOT / "lib/python/operations").glob("*.cpp")]
    names = [name for name in names if (ROOT / f"lib/clcook/{name}.hpp").exists()]
    assert "gaussian_blur" in names
    for name in names:
        assert hasattr(clcook, "".join(word.capitalize() for word in name.split("_"))), name


def test_device_headers(cl, context):
    folder = pathlib.Path(clcook.include_dir())
    for file in ROOT.glob("kernels/clcook/*.clh"):
        assert (folder / "clcook" / file.name).read_text() == file.read_text()
    text = (
        "#include <clcook/select.clh>\n"
        "__kernel void order(__global float2* x) {\n"
        "  float2 v = x[get_global_id(0)];\n"
        "  x[get_global_id(0)] = v.x > v.y ? v.yx : v;\n"
        "}\n"
    )
    cl.Program(context, text).build(options=["-I", str(folder)])
    flat = clcook.flatten(text=text)
    assert "#include" not in flat.replace("#include <clcook/select.clh>", "#include") or flat != text
    cl.Program(context, flat).build()


def test_flatten_a_file(tmp_path):
    (tmp_path / "part.clh").write_text("int part(void) { return 1; }\n")
    (tmp_path / "whole.cl").write_text('#include "part.clh"\n')
    assert "int part" in clcook.flatten(tmp_path / "whole.cl")


def test_stubs_and_marker():
    folder = pathlib.Path(clcook.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_clcook.pyi").read_text()
    for name in ("class GaussianBlur", "wait_for: Sequence[pyopencl.Event] | None", "tune: str", "sigma_x: SupportsFloat"):
        assert name in stub, name
    compile(stub, "_clcook.pyi", "exec")


def test_wheel():
    wheel = os.environ.get("CLCOOK_WHEEL")
    if not wheel:
        pytest.skip("CLCOOK_WHEEL names no wheel; the lane python builds one")
    assert os.path.getsize(wheel) < 5_000_000
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("clcook/_clcook.pyi", "clcook/py.typed", "clcook/ndimage.cl", "clcook/include/clcook/select.clh"):
        assert part in names
    assert not [name for name in names if name.startswith(("include/", "lib/", "share/"))]
    # The loader belongs to the system. From 3.12 on one wheel serves every later Python.
    assert not [name for name in names if "libOpenCL" in name]
    own = "cp{0}{1}-cp{0}{1}".format(*sys.version_info)
    assert ("-cp312-abi3-" if sys.version_info >= (3, 12) else f"-{own}-") in os.path.basename(wheel)


@pytest.mark.slow
def test_the_command(tmp_path):
    command = os.environ.get("CLCOOK") or shutil.which("clcook")
    if command is None:
        pytest.skip("there is no clcook command: set CLCOOK")
    result = clcook.check("argument_swap", tiny=True)
    assert result["summary"]["failed"] == 0 and result["rows"][0]["recipe"] == "argument_swap"
    with pytest.raises(clcook.ToolError, match="no_such_recipe"):
        clcook.check("no_such_recipe")
    rows = clcook.isa("argument_swap", target=["gfx1030"])
    assert "gfx1030" in str(rows)
    tried = clcook.try_(ROOT / "examples/try/smooth.toml")
    assert tried["check"]["summary"]["failed"] == 0 and tried["bench"]["rows"] and tried["text"]


# ---- a user's file ----


@pytest.fixture(scope="module")
def user(cl):
    pytest.importorskip("dask.array")
    import user

    return user


@one_tree_in(8)  # it compiles fifty programs
def test_a_users_file_runs(user, queue):
    import dask.array as da

    arrays = user.arrays(picture((24, 32, 4), "uint8"), DATA / "bc6h/lythwood_room.dds")
    assert all(isinstance(one, np.ndarray) and one.size > 0 for one in arrays)
    assert all(one.shape == (24, 32) for one in user.filters(picture((24, 32), "uint8")))
    user.plans(queue, picture((24, 32), "uint8"))
    volume, a = da.ones((30, 30, 30), dtype="f4", chunks=15), da.ones((30, 30), dtype="f4")
    assert all(one.compute().dtype == "f4" for one in user.lazy(volume, a))
    assert user.errors(np.zeros((4, 4), "u1")).startswith("invalid_argument")


def test_a_users_file_has_every_name(user):
    text = pathlib.Path(user.__file__).read_text()
    used = set(re.findall(r"\w+", text))
    names = {name for name in dir(clcook) if name[0] != "_" and not inspect.ismodule(getattr(clcook, name))}
    assert {"gaussian_blur", "GaussianBlur", "Error", "device"} <= names
    assert sorted(names - used - {"annotations"}) == []


@pytest.mark.parametrize(
    "checker",
    [
        f"pyright --pythonpath {sys.executable}",
        pytest.param("mypy --strict", marks=pytest.mark.slow),
    ],
)
def test_type_checkers_take_it(checker, user, tmp_path):
    pytest.importorskip(checker.split()[0])
    # Elsewhere: so that no settings of this project count.
    file = shutil.copy(user.__file__, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", *checker.split(), file], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
