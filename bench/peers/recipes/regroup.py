"""A G-buffer with many materials. No library has it: plain loops, and a switch in CUDA with and without
a sort by material."""
from peers import cpp_loop, cuda, cuda_library, gcc_version, nvcc_version, peer

CASES = {
    "cpu": [("262,144 texels, 8 materials at random", "items=262144 paths=8 random=100"),
            ("262,144 texels, 32 materials at random", "items=262144 paths=32 random=100"),
            ("262,144 texels, 32 materials in runs of 256", "items=262144 paths=32 random=0")],
    "gpu": [("4,194,304 texels, 8 materials at random", "items=4194304 paths=8 random=100"),
            ("4,194,304 texels, 32 materials at random", "items=4194304 paths=32 random=100"),
            ("4,194,304 texels, 32 materials in runs of 256", "items=4194304 paths=32 random=0")],
}
QUICK = "items=10007 paths=8 random=50"


def draw(of):
    return (f"items={of.whole(1000, 10 ** 7)} paths={of.whole(2, 32)} random={of.share()} "
            f"run={of.whole(1, 4096)}")


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [case.shape["paths"]])


@peer("CUDA, a switch", "gpu", nvcc_version, cuda_library)
def cuda_switch(case):
    return cuda(case, 0, [case.shape["paths"]])


@peer("CUB, DeviceRadixSort, then the switch", "gpu", nvcc_version, cuda_library)
def cub_sort(case):
    return cuda(case, 1, [case.shape["paths"]])
