"""The indices of bright pixels."""
from peers import (cpp_loop, cuda, cuda_library, cupy_event, cupy_version, gcc_version,
                   numpy_version, nvcc_version, package, peer, torch_event, torch_version, wall)

CASES = {
    "cpu": [("8,388,608 pixels, half kept", "pixels=8388608 threshold=32768"),
            ("8,388,608 pixels, 0.8 % kept", "pixels=8388608 threshold=60000"),
            ("2,073,600 pixels, 17 % kept", "pixels=2073600 threshold=45000")],
    "gpu": [("67,108,864 pixels, half kept", "pixels=67108864 threshold=32768"),
            ("67,108,864 pixels, 0.8 % kept", "pixels=67108864 threshold=60000"),
            ("2,073,600 pixels, 17 % kept", "pixels=2073600 threshold=45000")],
}
QUICK = "pixels=100003 threshold=32768"


def draw(of):
    return f"pixels={of.whole(1000, 10 ** 8)} threshold={int(65536 * of.random())}"


def kept_first(case, indices, np):
    """The buffers as clcook leaves them: behind the last index nothing is written."""
    dst = np.full(case.bytes("dst") // 4, 0xCDCDCDCD, np.uint32)
    dst[:len(indices)] = indices
    return {"dst": dst, "kept": np.array([len(indices)], np.uint32)}


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [case.shape["threshold"]])


@peer("NumPy, flatnonzero", "cpu", numpy_version)
def numpy_nonzero(case):
    import numpy as np
    pixels, threshold = case.array("src", np.uint32), np.uint32(case.shape["threshold"])

    def call():
        bright = (54 * (pixels & 0xFF) + 183 * (pixels >> 8 & 0xFF) + 19 * (pixels >> 16 & 0xFF))
        return np.flatnonzero(bright >= threshold)
    run = wall(call)
    return run, lambda: kept_first(case, run.out, np)


@peer("clcook, from numpy", "caller", package("clcook"))
def caller(case):
    import clcook
    import numpy as np
    pixels, threshold = case.array("src", np.uint8).reshape(1, -1, 4), case.shape["threshold"]
    run = wall(lambda: clcook.stream_compaction(pixels, threshold))
    return run, lambda: kept_first(case, run.out, np)


@peer("CUB, DeviceSelect::Flagged", "gpu", nvcc_version, cuda_library)
def cub_flagged(case):
    return cuda(case, 0, [case.shape["threshold"]])


@peer("CUB, DeviceSelect::If", "gpu", nvcc_version, cuda_library)
def cub_if(case):
    return cuda(case, 1, [case.shape["threshold"]])


@peer("CuPy, flatnonzero", "gpu", cupy_version)
def cupy_nonzero(case):
    import cupy
    import numpy as np
    pixels = cupy.asarray(case.array("src", np.uint32))
    threshold = int(case.shape["threshold"])
    bright = cupy.ElementwiseKernel(
        "uint32 p, uint32 t", "bool b",
        "b = 54 * (p & 0xFF) + 183 * (p >> 8 & 0xFF) + 19 * (p >> 16 & 0xFF) >= t", "bright")
    run = cupy_event(lambda: cupy.flatnonzero(bright(pixels, threshold)))
    return run, lambda: kept_first(case, cupy.asnumpy(run.out), np)


@peer("PyTorch, nonzero", "gpu", torch_version)
def torch_nonzero(case):
    import numpy as np
    import torch
    pixels = torch.from_numpy(case.array("src", np.int32)).cuda()
    threshold = case.shape["threshold"]

    def call():
        bright = 54 * (pixels & 0xFF) + 183 * (pixels >> 8 & 0xFF) + 19 * (pixels >> 16 & 0xFF)
        return torch.nonzero(bright >= threshold)
    run = torch_event(call)
    return run, lambda: kept_first(case, run.out.flatten().cpu().numpy(), np)
