"""Who owns what for how long: memory, threads, forks, leaks."""

import concurrent.futures
import copy
import ctypes
import gc
import multiprocessing
import pickle
import re
import signal
import sys
import threading
import time
import weakref

import clcook
import numpy as np
import pytest
from conftest import ROOT, blur, picture, python
from test_results import blur_plan, limit_device, same


class Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


LIBC = ctypes.CDLL(None)
LEAST_LEAK = 64 << 10  # over 1,000 plans or 10,000 calls
counts_bytes = pytest.mark.skipif(not hasattr(LIBC, "mallinfo2"), reason="needs glibc 2.33's mallinfo2")


def allocated():
    """Bytes that malloc has given out. Resident pages would also count what the kernel rounds up: a huge page is 2 MiB."""
    gc.collect()
    LIBC.mallinfo2.restype = Mallinfo2
    info = LIBC.mallinfo2()
    return info.uordblks + info.hblkhd


@pytest.fixture
def pictures():
    return [picture((64, 48, 4), "uint8", seed) for seed in range(8)]


def test_objects_freed_while_a_kernel_runs(cl, context, queue, read):
    # Memory of numpy that OpenCL uses in place goes with the Python object: the call keeps it.
    a = picture((200, 300, 4), "uint8")
    expected = blur(a, 3)
    gate = cl.UserEvent(context)
    plan = blur_plan(queue, a)
    flags = cl.mem_flags.USE_HOST_PTR | cl.mem_flags.READ_WRITE
    source = a.copy()
    src = cl.Buffer(context, flags, hostbuf=source)
    dst = cl.Buffer(context, cl.mem_flags.READ_WRITE, a.nbytes)
    gone = weakref.ref(source)
    event = plan(src, dst, [gate])
    assert clcook._clcook._kept() == 1
    del src, source, plan
    gc.collect()
    assert gone() is not None
    rubbish = [np.full_like(a, 77) for _ in range(8)]
    gate.set_status(cl.command_execution_status.COMPLETE)
    same(read(a, dst, event), expected)
    event.wait()
    for _ in range(200):  # dropped without another call of clcook
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None
    assert clcook._clcook._kept() == 0
    del rubbish


def test_ordinary_buffers_are_not_kept(cl, context, queue, buffer_of, read):
    # OpenCL keeps their memory itself until the commands that use it are done.
    a = picture((64, 48, 4), "uint8")
    gate = cl.UserEvent(context)
    plan = blur_plan(queue, a)
    src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
    event = plan(src, dst, [gate])
    count = sys.getrefcount(src)
    assert clcook._clcook._kept() == 0
    del src, plan
    gc.collect()
    gate.set_status(cl.command_execution_status.COMPLETE)
    same(read(a, dst, event), blur(a, 3))
    assert count <= 2


def test_a_queue_that_is_gone(cl, context, buffer_of, read):
    a = picture((64, 48, 4), "uint8")
    own = cl.CommandQueue(context)
    plan = blur_plan(own, a)
    del own
    gc.collect()
    src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
    plan(src, dst).wait()
    same(read(a, dst), blur(a, 3))


def test_memory_of_a_pool(cl, context, queue, read):
    from pyopencl.tools import ImmediateAllocator, MemoryPool

    a = picture((64, 48, 4), "uint8")
    pool = MemoryPool(ImmediateAllocator(queue))
    plan = blur_plan(queue, a)
    src = cl.array.to_device(queue, a, allocator=pool)
    dst = cl.array.empty_like(src)
    event = plan(src, dst)
    same(dst.get(), blur(a, 3))
    event.wait()

    # The pool does not get what a kernel still reads.
    gate = cl.UserEvent(context)
    out, block = pool(a.nbytes), pool(a.nbytes)
    cl.enqueue_copy(queue, block, a)
    event = plan(clcook.BufferView(block), out, [gate])
    active = pool.active_blocks
    del block
    gc.collect()
    assert pool.active_blocks == active
    gate.set_status(cl.command_execution_status.COMPLETE)
    same(read(a, out, event), blur(a, 3))
    event.wait()
    for _ in range(200):
        if pool.active_blocks < active:
            break
        time.sleep(0.01)
    assert pool.active_blocks < active


@pytest.fixture
def svm(cl, context, queue):
    from pyopencl.characterize import has_coarse_grain_buffer_svm

    if not has_coarse_grain_buffer_svm(queue.device):
        pytest.skip("the device has no SVM")
    from pyopencl.tools import SVMAllocator

    return SVMAllocator(context, queue=queue)


@pytest.mark.parametrize("pooled", [False, True])
def test_arrays_in_svm(cl, queue, svm, pooled):
    from pyopencl.tools import SVMPool

    a = picture((64, 48, 4), "uint8")
    allocator = SVMPool(svm) if pooled else svm
    plan = blur_plan(queue, a)
    src = cl.array.to_device(queue, a, allocator=allocator)
    tall = cl.array.zeros(queue, (70, 48, 4), np.uint8, allocator=allocator)
    plan(src, tall[3:67])
    same(tall.get()[3:67], blur(a, 3))
    assert not tall.get()[:3].any() and not tall.get()[67:].any()
    with pytest.raises(clcook.InvalidArgument, match="overlap in one buffer"):
        plan(tall[:64], tall[6:])
    with pytest.raises(clcook.InvalidArgument, match="dst has 99 bytes, needs 12288"):
        plan(src, cl.array.Array(queue, a.shape, np.uint8, data=allocator(99)))
    with pytest.raises(clcook.Unsupported, match="src is SVM.*pyopencl.array.Array"):
        plan(src.base_data, tall)
    with pytest.raises(clcook.InvalidArgument, match="another context"):
        other = blur_plan(cl.CommandQueue(cl.Context([queue.device])), a)
        other(src, tall[3:67])
    if not pooled:  # a pool's does not say
        src.base_data.release()
        with pytest.raises(clcook.InvalidArgument, match="src holds no memory"):
            plan(src, tall[3:67])


def test_svm_is_kept_while_a_kernel_runs(cl, context, queue, svm):
    from pyopencl.tools import SVMPool

    a = picture((64, 48, 4), "uint8")
    pool = SVMPool(svm)
    plan = blur_plan(queue, a)
    src = cl.array.to_device(queue, a, allocator=pool)
    dst = cl.array.zeros(queue, a.shape, np.uint8)
    gate = cl.UserEvent(context)
    event = plan(src, dst, [gate])
    active = pool.active_blocks
    del src
    gc.collect()
    assert pool.active_blocks == active
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    same(dst.get(), blur(a, 3))


def test_svm_of_numpy_arrays(cl, context, queue, svm):
    a = picture((64, 48, 4), "uint8")
    plan = blur_plan(queue, a)
    whole = cl.csvm_empty(context, (80, 48, 4), np.uint8)
    with cl.SVM(whole).map_rw(queue):
        whole[8:72] = a
    dst = cl.array.zeros(queue, a.shape, np.uint8)

    def array(memory):
        return cl.array.Array(queue, a.shape, a.dtype, data=cl.SVM(memory))

    plan(array(whole[8:72]), dst)
    same(dst.get(), blur(a, 3))
    with pytest.raises(clcook.Unsupported, match="src is SVM of memory that is numpy's own"):
        plan(array(a), dst)


def in_threads(work):
    """Calls work(0) to work(7), each in a thread of its own; what one of them raises is a failure."""
    failures = []

    def run(number):
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_threads_on_arrays(pictures):
    expected = [blur(p, 1 + i) for i, p in enumerate(pictures)]

    def work(_):
        for _ in range(20):
            for i, p in enumerate(pictures):
                same(blur(p, 1 + i), expected[i])
                assert clcook.stream_compaction(p, 30000).size

    in_threads(work)


def test_threads_on_one_plan(cl, queue, buffer_of, read, pictures):
    plan = blur_plan(queue, pictures[0])
    expected = [blur(p, 3) for p in pictures]

    def work(i):
        for _ in range(50):
            src, dst = buffer_of(pictures[i]), buffer_of(np.zeros_like(pictures[i]))
            same(read(pictures[i], dst, plan(src, dst)), expected[i])

    in_threads(work)


def test_the_interpreter_goes_on_while_a_picture_is_blurred():
    a = picture((600, 800, 4), "float32")
    blur(a, 60, "wrap")
    ticks = []
    ended = threading.Event()

    def tick():
        while not ended.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    for _ in range(3):
        blur(a, 60, "wrap")
    end = time.perf_counter()
    ended.set()
    thread.join()
    assert sum(begin < t < end for t in ticks) >= 5


def test_a_signal_handler_may_blur_and_clear_within_a_call_on_all_devices(monkeypatch):
    monkeypatch.setattr(clcook._arrays, "_has_several", lambda: True)  # strips on one, too
    a = picture((2000, 1500), "float32")
    want = clcook.gaussian_blur(a, 3)
    inside = []

    def blur_too(*_):
        inside.append(clcook.gaussian_blur(a, 3, devices="all"))
        clcook.clear()

    before = signal.signal(signal.SIGUSR1, blur_too)
    try:
        for attempt in range(50):
            kill = lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            timer = threading.Timer(0.002 * attempt, kill)
            timer.start()
            assert (clcook.gaussian_blur(a, 60, devices="all").shape) == a.shape
            during = len(inside)
            timer.join()
            time.sleep(0.01)  # for the signal
            if during and attempt > 3:
                break
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert inside
    for got in inside:
        np.testing.assert_array_equal(got, want)


def test_a_signal_ends_a_picture_in_strips(monkeypatch):
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    limit_device(monkeypatch)
    a = picture((2000, 1500), "float32")
    out = np.empty_like(a)
    before = signal.signal(signal.SIGUSR1, stop)
    try:
        for attempt in range(50):
            out[...] = np.nan
            kill = lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            timer = threading.Timer(0.005 * attempt, kill)
            try:
                timer.start()
                clcook.gaussian_blur(a, 60, out=out)
                timer.join()
                time.sleep(1)  # for the signal
            except Stop:
                pass
            timer.join()
            if not np.isnan(out[0]).any() and np.isnan(out[-1]).all():
                return
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert False, "all or nothing was written each time"


@counts_bytes
def test_a_leak_would_show():
    LIBC.malloc.restype = ctypes.c_void_p
    LIBC.free.argtypes = [ctypes.c_void_p]
    leaked = [None] * 10000
    before = allocated()
    for i in range(10000):
        leaked[i] = LIBC.malloc(8)
    assert allocated() - before > LEAST_LEAK
    for one in leaked:
        LIBC.free(one)


@counts_bytes
def test_no_leak(cl, context, queue, buffer_of):
    a = picture((16, 16, 4), "uint8")
    out = np.empty_like(a)
    plan = blur_plan(queue, a)
    src, dst = buffer_of(a), buffer_of(a)
    host = cl.Buffer(context, cl.mem_flags.USE_HOST_PTR, hostbuf=a.copy())
    x = cl.array.to_device(queue, a)
    y = cl.array.zeros_like(x)

    def calls(count):
        event = None
        for i in range(count):
            event = plan(src, dst, [event] if event else None)
            plan(host, dst, [event])
            if i % 8 == 0:
                plan(x, y)
                y.events.clear()
                blur(a, 1 + i % 7, out=out)
                blur(a, 1 + i % 7)
                for bad in (3, None):
                    with pytest.raises(clcook.Error):
                        plan(src, bad)
                queue.finish()
                event = None
        queue.finish()

    calls(3000)
    memory, blocks = allocated(), sys.getallocatedblocks()
    watched = [plan, src, dst, host, x, y, a, out, clcook.GaussianBlur, cl.Event, None.__class__]
    counts = [sys.getrefcount(one) for one in watched]
    calls(10000)
    clcook._clcook._kept()
    grown = allocated() - memory
    assert [sys.getrefcount(one) for one in watched] == counts
    assert grown < LEAST_LEAK, f"{grown} bytes more after 10,000 calls"
    assert sys.getallocatedblocks() - blocks < 1000


@counts_bytes
def test_plans_leak_nothing(queue):
    a = picture((16, 16, 4), "uint8")
    runtime = clcook.Runtime(queue)

    def make(count):
        for i in range(count):
            blur_plan(runtime, a, sigma=1 + i % 3)
            with pytest.raises(clcook.Error):
                blur_plan(runtime, a, sigma=-1)

    make(300)
    memory = allocated()
    counts = [sys.getrefcount(one) for one in (queue, runtime, clcook.GaussianBlur)]
    make(1000)
    grown = allocated() - memory
    assert [sys.getrefcount(one) for one in (queue, runtime, clcook.GaussianBlur)] == counts
    assert grown < LEAST_LEAK, f"{grown} bytes more after 1,000 plans"


def test_plans_have_weak_references(queue):
    plan = clcook.RankFilter(queue, width=8, height=8, radius=1, rank=0.5, pixel="r8")
    seen = weakref.WeakValueDictionary(plan=plan)
    assert seen["plan"] is plan
    del plan
    gc.collect()
    assert "plan" not in seen


PLANS = {
    "ArgumentSwap": {"count": 4, "parameters": (0.1, 1)},
    "Bc6hDecode": {"width": 21, "height": 15, "format": "signed_float", "texel": "rgba32f"},
    "Bc6hMode": {"count": 4},
    "FoldedSwitch": {"vertices": 16, "valences": [(4, 4, 4, 4)], "indices": range(16)},
    "GaussianBlur": {
        "width": 48,
        "height": 64,
        "sigma_x": 0.1,
        "pixel": "rgba32f",
        "border": "constant",
        "outside": (0.1, 2, 3, 4),
        "alpha": "straight",
    },
    "GbufferShade": {"texels": 2, "lights": [(0, 0, 127, 0xFFFFFF)], "fog_colour": 0x808080},
    "GroupSize": {"work": "streaming", "count": 9, "factor": 2, "variant": "direct", "tune": "group=64"},
    "GroupSwizzle": {"width": 40, "height": 31, "work": "filter", "matrix": np.eye(4).ravel()},
    "HaloTile": {"filter": "dilation", "width": 40, "height": 31, "radius": 1},
    "LineBlur": {"width": 40, "height": 31, "radius": 3},
    "RankFilter": {"width": 48, "height": 64, "radius": 2, "rank": 0.1, "pixel": "r8"},
    "Regroup": {"items": 500, "paths": 8, "parameters": (0, 0, 1, 0.1)},
    "RegroupOrder": {"items": 500, "paths": 8},
    "SeparableFilter": {"width": 40, "height": 31, "taps_x": [-0.1, 0, 0.1], "pixel": "rgb8"},
    "StreamCompaction": {"width": 70, "height": 45, "pixel": "rgba8", "weights": (19, 183, 54)},
    "ThresholdCount": {"count": 1000, "thresholds": np.linspace(0.9, 0.1, 9)},
    "VertexTransform": {"vertices": 3, "instances": 2, "bones": 1, "variant": "uniform"},
}


def asked(plan):
    return plan.__reduce__()[1]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ("GaussianBlur", "GroupSize") else pytest.mark.slow) for n in PLANS],
)
def test_plans_pickle(queue, name):
    plan = getattr(clcook, name)(queue, **PLANS[name])
    again = pickle.loads(pickle.dumps(plan))
    assert type(again) is type(plan) and again.problem == plan.problem
    assert asked(again) == asked(plan) == asked(copy.deepcopy(plan))
    # Not what was chosen for this device.
    given = {key: PLANS[name].get(key, "automatic" if key == "variant" else "") for key in ("variant", "tune")}
    assert {key: asked(plan)[1][key] for key in given} == given


def test_every_plan_pickles(queue):
    plans = {name for name in dir(clcook) if hasattr(getattr(clcook, name), "describe")}
    assert plans == {*PLANS, "LocalMultipass"}
    island = clcook.Island.cloth(7, 5, 0.3, 0.7, 0.2)
    solve = clcook.LocalMultipass(queue, islands=2, iterations=1, island=island)
    again = pickle.loads(pickle.dumps(solve))
    assert again.problem["islands"] == 2
    assert again.problem["island"].__getstate__() == island.__getstate__()


def call_on_its_queue(plan, a):
    """In another process: on the queue of the plan there."""
    import pyopencl.array as cl_array

    src = cl_array.to_device(clcook.queue(), a)
    dst = cl_array.empty_like(src)
    plan(src, dst)
    return dst.get()


def test_a_plan_in_a_process_of_its_own(cl, queue):
    a = picture((64, 48, 4), "uint8")
    plan = blur_plan(queue, a, sigma=1)
    plan.set_sigma(3, 3)
    spawned = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawned) as pool:
        got = pool.submit(call_on_its_queue, plan, a).result(timeout=120)
    same(got, blur(a, 3))
    same(call_on_its_queue(pickle.loads(pickle.dumps(plan)), a), blur(a, 3))


def test_a_copy_is_on_the_same_queue(cl, queue, buffer_of, read):
    a = picture((64, 48, 4), "uint8")
    plan = blur_plan(queue, a)
    other = copy.copy(plan)
    other.set_sigma(5, 5)
    for one, sigma in ((plan, 3), (other, 5)):
        src, dst = buffer_of(a), buffer_of(np.zeros_like(a))
        assert np.abs(read(a, dst, one(src, dst)).astype(int) - blur(a, sigma)).max() <= 1
        assert one.problem["sigma_x"] == sigma


def test_kept_plans_are_few():
    clcook.clear()
    plans = clcook._arrays._plans
    for width in range(4, 24):
        blur(picture((4, width), "uint8"), 1)
    assert len(plans._idle) == plans.MOST
    clcook.clear()
    assert len(plans._idle) == 0


def test_kept_plans_hold_little(monkeypatch):
    clcook.clear()
    plans = clcook._arrays._plans

    def held():
        return sum(plan.bytes for _, plan in plans._idle.values())

    def blur_in_place(*shape):  # even a device that is the host has a buffer for this
        a = picture(shape, "uint8")
        blur(a, 1, out=a)

    blur_in_place(64, 1000)
    most = 4 * held()  # of a new one, which counts as two until it has run, and two that are kept
    monkeypatch.setattr(clcook._arrays, "_most_of_process", lambda: most)
    for width in range(1000, 1008):
        blur_in_place(64, width)
        assert held() <= most
    assert len(plans._idle) > 1
    # One that is too large for itself is used and not kept, and the others went before it was.
    blur_in_place(640, 1000)
    assert len(plans._idle) == 0


def test_memory_of_results_serves_the_next(monkeypatch):
    clcook.clear()
    idle = clcook._arrays._results._idle
    a = picture((1100, 1000), "uint8")

    def address():  # of a result that is dropped
        return clcook.median3x3(a).ctypes.data

    assert address() == address()
    assert len(idle) == 1
    # Not while there is a view of it.
    result = clcook.median3x3(a)
    assert len(idle) == 0
    expected, part = result.copy(), result[5:].view(np.uint16)[::2]
    del result
    others = [clcook.dilate(a) for _ in range(3)]
    same(part.copy(), expected[5:].view(np.uint16)[::2].copy())
    assert part.ctypes.data not in {one.ctypes.data for one in others}
    del part, others
    assert len(idle) == 4
    # Other sizes, and what is small.
    clcook.median3x3(a[:-1])
    clcook.median3x3(a[:9])
    assert sorted(one.size for one in idle.values()) == [1099000] + 4 * [1100000]
    # No more than it may be, and nothing after clear(), of results that go later neither.
    monkeypatch.setattr(clcook._arrays, "_most_of_results", lambda: 2500000)
    later = clcook.median3x3(a)
    del later
    assert sum(one.size for one in idle.values()) <= 2500000
    later = clcook.median3x3(a)
    clcook.clear()
    del later
    assert len(idle) == 0


def test_memory_of_results_in_threads():
    pictures = [picture((600, 1800 + i), "uint8", i) for i in range(8)]
    expected = [np.flip(clcook.median3x3(one)).copy() for one in pictures]

    def work(number):
        for _ in range(5):
            held = [clcook.median3x3(one) for one in pictures[number % 3 :]]
            for one, wanted in zip(held, expected[number % 3 :]):
                assert np.array_equal(np.flip(one), wanted)

    in_threads(work)


def test_memory_of_results_while_others_are_collected(monkeypatch):
    """A collection may begin wherever an object is made, and drop results that are garbage."""
    clcook.clear()
    monkeypatch.setattr(clcook._arrays, "_most_of_results", lambda: 1 << 40)
    results, least = clcook._arrays._results, clcook._arrays._Results.LEAST
    several = [results.empty((least + i,), np.uint8) for i in range(50)]
    del several
    dropped, held = [], []
    threshold = gc.get_threshold()
    try:
        for i in range(50):
            gc.set_threshold(1 << 30)
            garbage = [results.empty((least + 100 + i,), np.uint8)]
            garbage.append(garbage)
            weakref.finalize(garbage[0], dropped.append, i)
            del garbage
            held += [(i, j) for j in range(3000)]  # tuples of old are made again without a collection
            gc.set_threshold(gc.get_count()[0] + 3 + i % 40)
            results.empty((least + 1000 + i,), np.uint8)
    finally:
        gc.set_threshold(*threshold)
        clcook.clear()
    assert len(dropped) > 0


def test_what_is_kept_goes_when_memory_is_short():
    blur(picture((64, 64), "uint8"), 1)
    plans = clcook._arrays._plans

    def make():
        if plans._idle:
            raise MemoryError
        return "made"

    assert len(plans._idle) > 0 and plans.or_without(make) == "made"
    with pytest.raises(MemoryError):
        plans.or_without(lambda: bytearray(1 << 62))


HELD = """
import clcook, numpy as np
from test_life import allocated
a = np.ones((144, 144, 144), np.float32)
out = np.ones_like(a)
clcook.gaussian_blur(a[:16].copy(), 3)
clcook.clear()
total, is_host = clcook._clcook._device_memory()
before = allocated()
clcook.gaussian_blur(a, 3, out={out})
held = allocated() - before
(_, plan), = clcook._arrays._plans._idle.values()
clcook.clear()
print(is_host, plan.bytes, held, allocated() - before)
"""


@counts_bytes
@pytest.mark.parametrize("out, buffers", [("out", 1), ("a", 2)])  # in place there is one for the result
def test_bytes_are_what_is_held(out, buffers):
    code = HELD.format(out=out)
    is_host, said, held, after = python(code, PYTHONPATH=str(ROOT / "tests/python")).split()
    if is_host != "True":
        pytest.skip("the device has memory of its own")
    assert buffers < int(said) / (4 * 144**3) - 1 < buffers + 1  # and the plan's own
    assert int(held) < int(said) + (4 << 20)
    assert int(after) < int(held)  # `plan` has its own until the program ends


@pytest.mark.parametrize(
    "group, files",
    [
        ("0::/a/b", {"sys/fs/cgroup/a/b/memory.max": "max", "sys/fs/cgroup/a/memory.max": "7000"}),
        ("0::/a", {"sys/fs/cgroup/a/memory.high": "7000"}),
        ("0::/of/the/host", {"sys/fs/cgroup/memory.max": "7000"}),  # in a container
        ("4:cpu:/a\n3:memory:/a", {"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "7000"}),
        ("3:pids,memory:/host", {"sys/fs/cgroup/memory/memory.limit_in_bytes": "7000"}),
        ("0::/", {}),
    ],
)
def test_limits_of_cgroups(group, files, tmp_path):
    for name, text in {"proc/self/cgroup": group, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    found = list(clcook._arrays._limits(f"{tmp_path}/"))
    assert found.count(7000) == bool(files)


def test_no_limits(monkeypatch):
    monkeypatch.setattr(clcook._arrays, "_limits", lambda: iter(()))
    most = clcook._arrays._most_of_process.__wrapped__()
    assert 0 < most <= clcook._clcook._device_memory()[0] // 4


def test_limits_of_ulimit():
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 34, resource.RLIM_INFINITY))
import clcook
print(1 << 34 in clcook._arrays._limits(), clcook._arrays._most_of_process() <= 1 << 31)
"""
    assert python(code) == "True True"


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore")
import clcook, numpy as np
import pyopencl as cl
a = np.zeros((32, 32), np.uint8)
{before}
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    said = "nothing"
    try:
        {call}
        said = "worked"
    except clcook.Error as error:
        said = type(error).__name__ + (" spawn" if "spawn" in str(error) else "")
    os.write(write, said.encode())
    {end}
_, status = os.waitpid(pid, 0)
os.close(write)
print(os.read(read, 100).decode(), status)
assert clcook.gaussian_blur(a, 2).shape == a.shape  # the parent goes on
"""


@pytest.mark.parametrize(
    "call",
    [
        "clcook.gaussian_blur(a, 2)",
        "clcook.stream_compaction(a, 2)",
        "plan(src, src)",
        "plan.set_sigma(1, 1)",
        "plan.variant",
        "clcook.Runtime(queue)",
        "clcook.device()",
    ],
)
def test_a_fork_after_first_use(call):
    before = (
        "clcook.gaussian_blur(a, 2); context = cl.create_some_context(interactive=False); "
        "queue = cl.CommandQueue(context); src = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1024); "
        "plan = clcook.GaussianBlur(queue, width=32, height=32, pixel='r8')"
    )
    code = FORK.format(before=before, call=call, end="del plan; clcook.clear(); os._exit(0)")
    assert python(code) == "Forked spawn 0"


def test_a_fork_before_first_use():
    code = FORK.format(before="", call="clcook.gaussian_blur(a, 2)", end="os._exit(0)")
    assert python(code) == "worked 0"


def test_the_end_of_a_program():
    # With a plan in a global, memory of numpy in use, and a command that never runs.
    code = """
import clcook, numpy as np
import pyopencl as cl
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
a = np.zeros((32, 32), np.uint8)
plan = clcook.GaussianBlur(queue, width=32, height=32, pixel="r8")
src = cl.Buffer(context, cl.mem_flags.USE_HOST_PTR, hostbuf=a)
dst = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1024)
for _ in range(100):
    plan(src, dst)
print("end")
"""
    assert python(code) == "end"


DAEMONS = """
import atexit, sys, threading, time
@atexit.register
def after_clcooks_own():  # the thread that ends the program may go on
    print(clcook.gaussian_blur(a, 3, channel_axis=-1).shape)
import clcook, numpy as np
import pyopencl as cl
import pyopencl.array
a = np.zeros((90, 120, 4), np.uint8)
out = np.empty_like(a)
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
plan = clcook.GaussianBlur(queue, width=120, height=90, pixel="rgba8", sigma_x=3, sigma_y=3)
own = clcook.GaussianBlur(queue, width=120, height=90, pixel="rgba8", sigma_x=3, sigma_y=3)
x, y = cl.array.to_device(queue, a), cl.array.to_device(queue, a)
def refused(call):
    try:
        call()
    except clcook.Error:
        return
    assert False
calls = [
    lambda: clcook.gaussian_blur(a, 3, channel_axis=-1, out=out),
    lambda: clcook.rank_filter(a, 2, channel_axis=-1),
    lambda: clcook.stream_compaction(a, 30000),
    lambda: clcook.GaussianBlur(queue, width=120, height=90, sigma_x=2, sigma_y=2),
    lambda: (plan(x, y), y.events.clear(), time.sleep(0.002)),
    lambda: own.set_sigma(2, 2),
    lambda: refused(lambda: clcook.GaussianBlur(queue, width=0)),
    lambda: refused(lambda: clcook.gaussian_blur(a, 3, out=3)),
    clcook.device,
]
begun = [threading.Event() for _ in calls]
def work(call, has_begun):
    while True:
        call()
        has_begun.set()
{before}
for pair in zip(calls, begun):
    threading.Thread(target=work, args=pair, daemon=True).start()
for one in begun:
    one.wait()
time.sleep({wait})
{end}
"""


@pytest.mark.parametrize("number", range(3))
def test_the_end_of_a_program_whose_daemons_go_on(number):
    for end in ("", "sys.exit(0)"):
        code = DAEMONS.format(before="", wait=0.003 * number, end=end)
        assert python(code) == "(90, 120, 4)"


@pytest.mark.slow
def test_the_end_of_many_programs_whose_daemons_go_on():
    code = DAEMONS.format(before="sys.setswitchinterval(1e-5)", wait="time.time() % 0.02", end="")
    for _ in range(50):
        assert python(code) == "(90, 120, 4)"


def test_a_child_of_a_fork_ends_while_daemons_go_on():
    # It has none of the threads that were calling when it was forked.
    code = """
import atexit, os, threading
import clcook, numpy as np
a = np.zeros((600, 800, 4), np.float32)
clcook.gaussian_blur(a, 9, channel_axis=-1)
def work():
    while True:
        clcook.gaussian_blur(a, 9, channel_axis=-1)
threading.Thread(target=work, daemon=True).start()
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        atexit._run_exitfuncs()
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert python(code).split() == ["7"] * 5


def test_the_lock_is_given_away_by_the_class_that_counts():
    files = [*ROOT.glob("lib/python/*.?pp"), *ROOT.glob("lib/python/operations/*.cpp")]
    assert len(files) > 5
    for file in files:
        assert not re.search(r"gil_scoped_release \w+;|ALLOW_THREADS", file.read_text()), file
