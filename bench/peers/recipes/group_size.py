"""A line, prefix sums that begin anew every 1024 values, sphere tracing, and a hash. Libraries have the
first two."""
from peers import (NotThisCase, cpp_loop, cuda, cuda_library, cupy_event, cupy_version, gcc_version,
                   numpy_version, nvcc_version, peer, torch_event, torch_version, wall)

WORKS = ("streaming", "barriers", "divergent_loop", "slow_wave")
CASES = {
    "cpu": [("16,777,216 values, a line", "work=streaming count=16777216"),
            ("16,777,216 values, prefix sums by 1024", "work=barriers count=16777216"),
            ("sphere tracing, 960 x 540, 8 spheres",
             "work=divergent_loop width=960 height=540 spheres=8"),
            ("262,144 hashes, some of 1024 steps", "work=slow_wave count=262144 steps=1024")],
    "gpu": [("67,108,864 values, a line", "work=streaming count=67108864"),
            ("67,108,864 values, prefix sums by 1024", "work=barriers count=67108864")],
}
QUICK = "work=barriers count=102400"


def draw(of):
    work = of.pick(*WORKS)
    if work == "divergent_loop":
        return (f"work={work} width={of.whole(64, 2048)} height={of.whole(64, 2048)} "
                f"spheres={of.whole(1, 64)}")
    if work == "slow_wave":
        return f"work={work} count={of.whole(1000, 3000000)} steps={of.whole(16, 1024)}"
    return f"work={work} count={of.whole(1000, 10 ** 8)}"


def source(case, work, kind):
    if case.shape["work"] != work:
        raise NotThisCase
    return case.array("src", kind)


def line(case):
    import numpy as np
    return [float(one) for one in case.array("line", np.float32, 2)]


def segments(case, kind):
    """As (number, 1024)."""
    src = source(case, "barriers", kind)
    if src.size % 1024:
        raise NotThisCase
    return src.reshape(-1, 1024)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    s = case.shape
    return cpp_loop(case, [WORKS.index(s["work"]), s.get("steps", 256), s.get("width", 0),
                           s.get("height", 0), s.get("spheres", 8), s.get("together", 0)])


@peer("NumPy, cumsum", "cpu", numpy_version)
def numpy_cumsum(case):
    import numpy as np
    src = segments(case, np.uint32)
    run = wall(lambda: src.cumsum(axis=1, dtype=np.uint32))
    return run, lambda: {"dst": run.out}


@peer("CUB, DeviceScan::InclusiveSumByKey", "gpu", nvcc_version, cuda_library)
def cub_by_key(case):
    source(case, "barriers", "uint32")
    return cuda(case, 0)


@peer("CUB, BlockScan", "gpu", nvcc_version, cuda_library)
def cub_block(case):
    source(case, "barriers", "uint32")
    return cuda(case, 1)


@peer("CuPy, cumsum", "gpu", cupy_version)
def cupy_cumsum(case):
    import cupy
    import numpy as np
    src = cupy.asarray(segments(case, np.uint32))
    run = cupy_event(lambda: src.cumsum(axis=1, dtype=cupy.uint32))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


@peer("PyTorch, cumsum", "gpu", torch_version)
def torch_cumsum(case):
    import numpy as np
    import torch
    src = torch.from_numpy(segments(case, np.int32)).cuda()
    run = torch_event(lambda: torch.cumsum(src, 1, dtype=torch.int32))
    return run, lambda: {"dst": run.out.cpu().numpy()}


@peer("CuPy, a kernel of its own", "gpu", cupy_version)
def cupy_line(case):
    import cupy
    import numpy as np
    src = cupy.asarray(source(case, "streaming", np.float32))
    factor, summand = line(case)
    kernel = cupy.ElementwiseKernel("float32 x, float32 a, float32 b", "float32 y",
                                    "y = fmaf(a, x, b)", "line")
    run = cupy_event(lambda: kernel(src, factor, summand))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


@peer("PyTorch, add", "gpu", torch_version)
def torch_add(case):
    import numpy as np
    import torch
    src = torch.from_numpy(source(case, "streaming", np.float32)).cuda()
    factor, summand = line(case)
    other = torch.tensor(summand, device="cuda")
    run = torch_event(lambda: torch.add(other, src, alpha=factor))
    return run, lambda: {"dst": run.out.cpu().numpy()}
