"""A G-buffer with many materials. No library has it: the loop alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("262,144 texels, 8 materials at random", "items=262144 paths=8 random=100"),
            ("262,144 texels, 32 materials at random", "items=262144 paths=32 random=100"),
            ("262,144 texels, 32 materials in runs of 256", "items=262144 paths=32 random=0")],
    "gpu": [],
}
QUICK = "items=10007 paths=8 random=50"


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [case.shape["paths"]])
