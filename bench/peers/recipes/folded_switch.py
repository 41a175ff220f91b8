"""Catmull-Clark patches to Bezier patches. No library has it: the loop alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("131,072 regular patches", "patches=131072 valence=regular order=grid"),
            ("131,072 mixed patches", "patches=131072 valence=mixed order=grid")],
    "gpu": [],
}
QUICK = "patches=1009 valence=mixed order=grid"


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case)
