"""Position-based dynamics of many cloth patches. No library has this order of roundings: the loop
alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("256 patches of 16 x 16 particles, 100 iterations",
             "islands=256 width=16 height=16 iterations=100"),
            ("4096 ropes of 32 particles, 100 iterations",
             "islands=4096 width=32 height=1 iterations=100")],
    "gpu": [],
}
QUICK = "islands=16 width=16 height=16 iterations=10"


def draw(of):
    return (f"islands={of.whole(16, 4096)} width={of.whole(4, 32)} "
            f"height={of.pick(1, of.whole(2, 16))} iterations={of.whole(1, 100)}")


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [case.shape["width"] * case.shape["height"], case.shape["iterations"]])
