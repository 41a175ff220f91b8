"""Which of sorted thresholds a value falls below."""
from peers import (cpp_loop, cupy_event, cupy_version, gcc_version, numpy_version, peer, torch_event,
                   torch_version, wall)

CASES = {
    "cpu": [(f"{count:,} values, {n} thresholds", f"count={count} n={n} values=cosine")
            for count, n in ((1 << 23, 5), (1 << 23, 64), (1 << 23, 256))],
    "gpu": [(f"{count:,} values, {n} thresholds", f"count={count} n={n} values=cosine")
            for count, n in ((1 << 26, 5), (1 << 26, 64), (1 << 26, 256))],
}
QUICK = "count=100003 n=5 values=cosine"


def draw(of):
    return (f"count={of.whole(1000, 10 ** 8)} n={of.whole(1, 256)} "
            f"spread={of.pick('sectors', 'uneven')} values={of.pick('cosine', 'late', 'one')}")


def slot_bytes(case):
    return case.bytes("slots") // case.shape["count"]


# Thresholds fall. The slot, how many of them a value does not reach, is how many of their negatives,
# which rise, are at most the value's negative... and below it: the place of "left" in that list.
def negated(case, np):
    return -case.array("thresholds", np.float32)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, [slot_bytes(case)])


@peer("NumPy, searchsorted", "cpu", numpy_version)
def numpy_search(case):
    import numpy as np
    values, rising = case.array("values", np.float32), negated(case, np)
    kind = np.uint8 if slot_bytes(case) == 1 else np.uint32
    run = wall(lambda: np.searchsorted(rising, -values, side="left").astype(kind))
    return run, lambda: {"slots": run.out}


@peer("CuPy, searchsorted", "gpu", cupy_version)
def cupy_search(case):
    import cupy
    import numpy as np
    values = cupy.asarray(case.array("values", np.float32))
    rising = cupy.asarray(negated(case, np))
    kind = cupy.uint8 if slot_bytes(case) == 1 else cupy.uint32
    run = cupy_event(lambda: cupy.searchsorted(rising, -values, side="left").astype(kind))
    return run, lambda: {"slots": cupy.asnumpy(run.out)}


@peer("PyTorch, bucketize", "gpu", torch_version)
def torch_search(case):
    import numpy as np
    import torch
    values = torch.from_numpy(case.array("values", np.float32)).cuda()
    rising = torch.from_numpy(negated(case, np)).cuda()
    kind = torch.uint8 if slot_bytes(case) == 1 else torch.int32
    run = torch_event(lambda: torch.bucketize(-values, rising, out_int32=True).to(kind))
    return run, lambda: {"slots": run.out.cpu().numpy()}
