"""Catmull-Clark patches to Bezier patches. No library has it: the loop alone."""
from peers import cpp_loop, gcc_version, peer

CASES = {
    "cpu": [("131,072 regular patches", "patches=131072 valence=regular order=grid"),
            ("131,072 mixed patches", "patches=131072 valence=mixed order=grid")],
    "gpu": [],
}
QUICK = "patches=1009 valence=mixed order=grid"


def draw(of):
    return (f"patches={of.whole(1000, 1000000)} valence={of.pick('regular', 'mixed')} "
            f"order={of.pick('grid', 'random')}")


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case)
