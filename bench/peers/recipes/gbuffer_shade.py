"""A packed G-buffer under many lights. No library has it: the loop alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("1920 x 1080 texels, 32 lights", "texels=2073600 lights=32"),
            ("1920 x 1080 texels, 4 lights", "texels=2073600 lights=4")],
    "gpu": [],
}
QUICK = "texels=10007 lights=7"


def draw(of):
    return f"texels={of.whole(1000, 10 ** 7)} lights={of.whole(1, 32)}"


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case)
