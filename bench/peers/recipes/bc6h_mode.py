"""The mode index of BC6H blocks."""
from peers import (cpp_loop, cupy_event, cupy_version, gcc_version, numpy_version, peer, torch_event,
                   torch_version, wall)

CASES = {
    "cpu": [("16,777,216 headers, all modes", "count=16777216 modes=uniform"),
            ("4,194,304 headers in blocks of 16 bytes", "count=4194304 modes=uniform stride=4")],
    "gpu": [("67,108,864 headers, all modes", "count=67108864 modes=uniform"),
            ("16,777,216 headers in blocks of 16 bytes", "count=16777216 modes=uniform stride=4")],
}
QUICK = "count=100003 modes=uniform"
def draw(of):
    modes, stride = of.pick("one", "uniform", "texture", "reserved"), of.pick(1, 4)
    return f"count={of.whole(1000, 10 ** 8 // stride)} modes={modes} stride={stride}"


TABLE = [0, 1, 2, 10, 0, 1, 3, 11, 0, 1, 4, 12, 0, 1, 5, 13,
         0, 1, 6, 15, 0, 1, 7, 15, 0, 1, 8, 15, 0, 1, 9, 15]


def stride(case):
    return case.shape.get("stride", 1)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [stride(case)])


@peer("NumPy, take", "cpu", numpy_version)
def numpy_take(case):
    import numpy as np
    headers, table = case.array("headers", np.uint32), np.array(TABLE, np.uint8)
    run = wall(lambda: table.take(headers[::stride(case)] & 31))
    return run, lambda: {"modes": run.out}


@peer("CuPy, take", "gpu", cupy_version)
def cupy_take(case):
    import cupy
    import numpy as np
    headers, table = cupy.asarray(case.array("headers", np.uint32)), cupy.array(TABLE, cupy.uint8)
    run = cupy_event(lambda: table.take(headers[::stride(case)] & 31))
    return run, lambda: {"modes": cupy.asnumpy(run.out)}


@peer("PyTorch, index_select", "gpu", torch_version)
def torch_take(case):
    import numpy as np
    import torch
    headers = torch.from_numpy(case.array("headers", np.int32)).cuda()
    table = torch.tensor(TABLE, dtype=torch.uint8, device="cuda")
    run = torch_event(lambda: table.index_select(0, headers[::stride(case)] & 31))
    return run, lambda: {"modes": run.out.cpu().numpy()}
