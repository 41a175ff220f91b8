"""Filters of dask arrays: equal scipy's on the whole, on threads and on workers of their own."""

import ctypes
import itertools
import os
import pickle
import subprocess
import sys

import clcook
import numpy as np
import pytest
from conftest import ROOT, one_tree_in, picture, python

ndimage = pytest.importorskip("scipy.ndimage")
da = pytest.importorskip("dask.array")
import clcook.dask  # noqa: E402

MODES = ("nearest", "reflect", "mirror", "wrap", "constant")


def close(got, a, sigma, **more):
    expected = ndimage.gaussian_filter(a.astype(np.float64), sigma, **more)
    np.testing.assert_allclose(got, expected, atol=2e-4 * max(1.0, np.abs(a).max()))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape, chunks, sigma",
    [
        ((90,), 25, 3),
        ((60, 70), (25, 33), (2, 3)),
        ((60, 70), (5, 7), 3),  # blocks smaller than the radius
        ((60, 20), (16, 20), 7),  # a dimension smaller than the radius, and one hardly larger
        ((29, 40), (29, 9), 7),  # one element more than the radius
        ((24, 30, 36), (10, 30, 9), (1, 0, 2)),
    ],
)
def test_gaussian_blur(shape, chunks, sigma, mode):
    a = picture(shape, "float32")
    more = {"mode": mode, "cval": 2.5 if mode == "constant" else 0}
    lazy = clcook.dask.gaussian_blur(da.from_array(a, chunks), sigma, **more)
    assert lazy.dtype == a.dtype and lazy.shape == a.shape
    got = lazy.compute()
    assert got.dtype == a.dtype
    close(got, a, sigma, **more)


@pytest.mark.parametrize("axis, chunks", [(-1, (20, 17, 2)), (2, (20, 17, 3)), (0, (1, 25, 30))])
def test_channels(axis, chunks):
    a = picture((3, 50, 60) if axis == 0 else (50, 60, 3), "uint8")
    lazy = clcook.dask.gaussian_blur(da.from_array(a, chunks), 2, channel_axis=axis)
    assert lazy.numblocks[axis] == (3 if axis == 0 else 1)
    got = lazy.compute()
    whole = clcook.gaussian_blur(a, 2, channel_axis=axis)
    assert np.abs(got.astype(int) - whole).max() <= 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("chunks", [(16, 16), (3, 50), (60, 50)])
def test_rank_filter(chunks, mode):
    a = picture((60, 50), "uint8")
    got = clcook.dask.rank_filter(da.from_array(a, chunks), 4, 0.25, mode=mode, cval=9).compute()
    np.testing.assert_array_equal(got, clcook.rank_filter(a, 4, 0.25, mode=mode, cval=9))


def block_by_block(call, a, chunks, reach, wraps):
    """`call` on each block and what lies around it, cut out of the whole array."""
    out = np.empty_like(a)
    for at in itertools.product(*(range(len(sizes)) for sizes in chunks)):
        around, own, block = [], [], []
        for axis, (sizes, i) in enumerate(zip(chunks, at)):
            begin, end = sum(sizes[:i]), sum(sizes[: i + 1])
            most = reach.get(axis, 0) if len(sizes) > 1 else 0
            first, last = (begin - most, end + most) if wraps else (max(begin - most, 0), end + most)
            around.append(np.arange(first, last if wraps else min(last, a.shape[axis])) % a.shape[axis])
            own.append(slice(begin - first, end - first))
            block.append(slice(begin, end))
        out[tuple(block)] = call(np.ascontiguousarray(a[np.ix_(*around)]))[tuple(own)]
    return out


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape, chunks, channel_axis",
    [
        ((97,), ((30, 7, 60),), None),
        ((40, 53), ((13, 6, 21), (7, 46)), None),
        ((40, 53), ((40,), (8, 9, 36)), None),
        ((3, 30, 31), ((2, 1), (11, 19), (31,)), 0),
        ((30, 31, 3), ((11, 19), (6, 25), (3,)), -1),
        ((20, 25, 31), ((6, 14), (12, 13), (9, 6, 16)), None),
    ],
)
def test_a_block_is_filtered_as_by_hand(shape, chunks, channel_axis, mode):
    a = picture(shape, "float32")
    more = {"mode": mode, "cval": 2.5, "channel_axis": channel_axis}
    axes = {None: range(a.ndim), 0: range(1, a.ndim), -1: range(a.ndim - 1)}[channel_axis]
    filters = [("gaussian_blur", (1.5,))] + [("rank_filter", (3, 0.25))] * (len(axes) == 2)
    for name, arguments in filters:
        got = getattr(clcook.dask, name)(da.from_array(a, chunks), *arguments, **more)
        reach = dict.fromkeys(axes, 6 if name == "gaussian_blur" else 3)
        assert got.chunks == chunks
        filtered = block_by_block(
            lambda part: getattr(clcook, name)(part, *arguments, **more), a, chunks, reach, mode == "wrap"
        )
        np.testing.assert_array_equal(got.compute(), filtered)


def test_the_graph():
    blocks = da.zeros((90, 90), chunks=30, dtype="f4")
    lazy = clcook.dask.gaussian_blur(blocks, 2)
    assert lazy.name == clcook.dask.gaussian_blur(blocks, 2).name
    others = (clcook.dask.gaussian_blur(blocks, 3), clcook.dask.gaussian_blur(blocks, 2, mode="wrap"))
    assert len({lazy.name, *(other.name for other in others)}) == 3
    # A task for each block, and a view of each of its ends that a neighbour needs: nothing is joined.
    assert len(lazy.dask) - len(blocks.dask) == 9 + 2 * 2 * 3 * 2
    again = pickle.loads(pickle.dumps(lazy))
    np.testing.assert_array_equal(again.compute(scheduler="sync"), np.zeros((90, 90), "f4"))


def test_blocks_that_are_not_what_they_say():
    a = da.zeros((40, 40), chunks=20, dtype="f4")
    lies = a.map_blocks(lambda block: block.astype("f8"), dtype="f4", meta=np.zeros((0, 0), "f4"))
    with pytest.raises(clcook.WrongType, match="float64"):
        clcook.dask.gaussian_blur(lies, 1).compute()


def test_where_dask_plans_queries():
    if not hasattr(da, "array_expr_enabled"):
        pytest.skip("this dask plans none for arrays")
    code = """
import dask.array as da, numpy as np, clcook.dask
a = np.arange(1200, dtype="f4").reshape(30, 40)
soft = clcook.dask.gaussian_blur(da.from_array(a, 10), 2, mode="wrap").compute()
print(da.array_expr_enabled(), np.abs(soft - clcook.gaussian_blur(a, 2, mode="wrap")).max() < 1e-2)
"""
    assert python(code, DASK_ARRAY__QUERY_PLANNING="True") == "True True"


@pytest.mark.parametrize(
    "call, kind, parts",
    [
        (lambda a: clcook.dask.gaussian_blur(np.zeros((4, 4), "f4"), 1), clcook.WrongType, "dask array"),
        (lambda a: clcook.dask.gaussian_blur(a.astype("f8"), 1), clcook.WrongType, "float64"),
        (lambda a: clcook.dask.gaussian_blur(a, -1), clcook.InvalidArgument, "sigma.*-1"),
        (lambda a: clcook.dask.gaussian_blur(a, (1, 2, 3)), clcook.InvalidArgument, "sigma.*got 3"),
        (lambda a: clcook.dask.gaussian_blur(a, 1, mode="edge"), clcook.InvalidArgument, "edge"),
        (lambda a: clcook.dask.gaussian_blur(a, 1, truncate=9), clcook.InvalidArgument, "truncate.*9"),
        (lambda a: clcook.dask.gaussian_blur(a[a > 0], 1), clcook.InvalidArgument, "known shape"),
        (lambda a: clcook.dask.gaussian_blur(a, 1, channel_axis=4), clcook.InvalidArgument, "first or"),
        (lambda a: clcook.dask.rank_filter(a, 33), clcook.InvalidArgument, "radius.*33"),
        (lambda a: clcook.dask.rank_filter(a[:, 0], 3), clcook.InvalidArgument, "2 dimensions"),
    ],
)
def test_wrong_arguments_are_refused_at_once(call, kind, parts):
    with pytest.raises(kind, match=parts):
        call(da.zeros((40, 40), chunks=20, dtype="f4"))


# ---- workers ----


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit="800MB",
        dashboard_address=None,
    ) as cluster, distributed.Client(cluster) as client:
        yield client


def test_two_workers_and_one_that_dies(cluster, tmp_path):
    zarr = pytest.importorskip("zarr")
    a = picture((40, 60, 70), "float32")
    source = tmp_path / "source.zarr"
    zarr.create_array(str(source), data=a, chunks=(20, 20, 35))
    marker = tmp_path / "died"

    def mortal(block):
        # The first block that comes takes its worker with it, once.
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block
        os._exit(1)

    blocks = da.from_zarr(str(source))
    for name, array in (("whole", blocks), ("died", blocks.map_blocks(mortal, meta=a[:0]))):
        soft = clcook.dask.gaussian_blur(array, (1, 3, 2))
        soft.to_zarr(str(tmp_path / f"{name}.zarr"))
        close(zarr.open_array(str(tmp_path / f"{name}.zarr"))[:], a, (1, 3, 2), mode="nearest")
    assert marker.exists()


def test_a_plan_goes_to_workers(cl, queue, cluster):
    def call(plan, a):
        import pyopencl.array as cl_array

        src = cl_array.to_device(clcook.queue(), a)
        dst = cl_array.empty_like(src)
        plan(src, dst)
        return dst.get()

    pictures = [picture((40, 60), "uint8", seed) for seed in range(6)]
    plan = clcook.RankFilter(queue, width=60, height=40, radius=2, rank=0.5, pixel="r8")
    for a, got in zip(pictures, cluster.gather(cluster.map(call, [plan] * 6, pictures))):
        np.testing.assert_array_equal(got, clcook.rank_filter(a, 2))


def kept():
    return sum(plan.bytes for _, plan in clcook._arrays._plans._idle.values())


def test_a_worker_keeps_little(cluster):
    # 27 shapes; a plan of the largest holds 26 MB.
    volume = da.ones((300, 300, 300), dtype="float32", chunks=100)
    assert clcook.dask.gaussian_blur(volume, 3).sum().compute() == pytest.approx(300**3, rel=1e-5)
    for bytes in cluster.run(kept).values():
        assert 10e6 < bytes <= 100e6


@pytest.mark.slow
def test_a_worker_is_not_filled():
    distributed = pytest.importorskip("distributed")
    volume = da.ones((600, 600, 600), dtype="float32", chunks=200)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, memory_limit="1GB", dashboard_address=None
    ) as cluster, distributed.Client(cluster):
        total = clcook.dask.gaussian_blur(volume, 3).sum().compute()
    assert total == pytest.approx(600**3, rel=1e-5)


CLUSTER = """
import os, clcook.dask, dask.array as da
from distributed import Client
if __name__ == "__main__":
    with clcook.dask.cluster(dashboard_address=None) as cluster, Client(cluster) as client:
        for name in client.run(clcook.device).values():
            print(name)
        soft = clcook.dask.gaussian_blur(da.ones((90, 90), chunks=30, dtype="f4"), 2)
        assert soft.sum().compute() == 90 * 90
"""


def test_a_worker_for_each_device(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr


@pytest.mark.parametrize(
    "count, visible, expected",
    [(0, None, [None]), (2, None, ["0", "1"]), (2, "5,GPU-1b,3", ["5", "GPU-1b"])],
)
def test_which_device_a_worker_sees(monkeypatch, count, visible, expected):
    distributed = pytest.importorskip("distributed")

    class Nanny:
        def __init__(self, **options):
            self.options = options

    class Cuda:
        cuInit = staticmethod(lambda flags: 0)

        def __init__(self, name):
            if count == 0:
                raise OSError

        def cuDeviceGetCount(self, number):
            number._obj.value = count

    monkeypatch.setattr(distributed, "Nanny", Nanny)
    monkeypatch.setattr(distributed, "LocalCluster", dict)
    monkeypatch.setattr(ctypes, "CDLL", Cuda)
    monkeypatch.delenv("CLCOOK_DEVICE", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    made = clcook.dask.cluster(threads_per_worker=1, host="here")
    assert made["threads_per_worker"] == 1 and made["host"] == "here"
    workers = [made["worker_class"](name=i, env={"A": "b"}) for i in range(made["n_workers"])]
    seen = [worker.options["env"] for worker in workers]
    assert [env.get("CUDA_VISIBLE_DEVICES") for env in seen] == expected
    assert all(env["CLCOOK_DEVICE"] == ("nvidia" if count else "cpu") and env["A"] == "b" for env in seen)


def test_no_cluster_without_distributed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(clcook.Unsupported, match="needs the package distributed"):
        clcook.dask.cluster()


NO_DEVICE = """
import os, clcook, clcook.dask, dask.array as da, pytest
from distributed import Client, LocalCluster
if __name__ == "__main__":
    os.environ["CLCOOK_DEVICE"] = "no such device"
    with LocalCluster(n_workers=1, dashboard_address=None) as cluster, Client(cluster):
        soft = clcook.dask.gaussian_blur(da.zeros((40, 40), chunks=20, dtype="f4"), 2)
        with pytest.raises(clcook.Error, match="no such device"):
            soft.compute()
"""


def test_a_worker_without_a_device(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "no_device.py"
    script.write_text(NO_DEVICE)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@one_tree_in(4)
def test_the_example(tmp_path):
    pytest.importorskip("distributed")

    def run(*options):
        return subprocess.run(
            [sys.executable, str(ROOT / "examples/python/dask_zarr.py"), *options, str(tmp_path)],
            capture_output=True,
            text=True,
        )

    done = run("--shape", "48", "64", "64", "--blocks", "24", "--sigma", "2", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "scipy" in done.stdout
    other = run("--shape", "48", "64", "65")
    assert other.returncode == 2 and "(48, 64, 64), not (48, 64, 65)" in other.stderr
