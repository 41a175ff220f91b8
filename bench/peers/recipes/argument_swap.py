"""The light that passes the boundary of two media. No library has it: the loop alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("262,144 rays, half of them leave", "count=262144 share=50 run=1"),
            ("262,144 rays, all arrive", "count=262144 share=0 run=1")],
    "gpu": [],
}
QUICK = "count=10007 share=50 run=1"


def draw(of):
    return f"count={of.whole(1000, 3000000)} share={of.share()} run={of.whole(1, 4096)}"


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [case.shape.get("cost", 40)])
