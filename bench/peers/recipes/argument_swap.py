"""The light that passes the boundary of two media. No library has it: the loop alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("262,144 rays, half of them leave", "count=262144 share=50 run=1"),
            ("262,144 rays, all arrive", "count=262144 share=0 run=1")],
    "gpu": [],
}
QUICK = "count=10007 share=50 run=1"


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [case.shape.get("cost", 40)])
