"""BC6H blocks to texels in memory."""
from concurrent.futures import ThreadPoolExecutor

from peers import NotThisCase, cpp_loop, cuda, cuda_library, gcc_version, nvcc_version, peer, wall

CASES = {
    "cpu": [("2048 x 2048 to RGBA half, modes of a texture",
             "width=2048 height=2048 signed=0 output=half modes=texture"),
            ("2048 x 2048 to RGBA half, all modes",
             "width=2048 height=2048 signed=0 output=half modes=uniform")],
    "gpu": [("1024 x 1024 to RGBA half, modes of a texture",
             "width=1024 height=1024 signed=0 output=half modes=texture"),
            ("16384 x 16384 to RGBA half, modes of a texture",
             "width=16384 height=16384 signed=0 output=half modes=texture")],
}
QUICK = "width=256 height=128 signed=0 output=half modes=texture"


def draw(of):
    return (f"{of.picture()} signed={of.pick(0, 1)} output={of.pick('half', 'float')} "
            f"modes={of.pick('uniform', 'texture', 'random')}")


def numbers(case):
    shape = case.shape
    return [shape["width"], shape["height"], shape["signed"], shape["output"] == "float"]


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, numbers(case))


def bcdec_version(threads):
    import imagecodecs
    return (imagecodecs.bcn_version().split()[-1] + f" of imagecodecs {imagecodecs.__version__}, "
            f"{threads} threads")


@peer("bcdec", "cpu", bcdec_version)
def bcdec(case):
    # It writes RGB: the 1 of alpha is added afterwards, outside of the time.
    import imagecodecs
    import numpy as np
    width, height = case.shape["width"], case.shape["height"]
    if width % 4 or height % 4 or case.shape["output"] != "half":
        raise NotThisCase
    blocks = case.array("blocks", np.uint8, height // 4, width // 4 * 16)
    kind = imagecodecs.BCN.FORMAT.BC6HS if case.shape["signed"] else imagecodecs.BCN.FORMAT.BC6HU
    bounds = [height // 4 * i // case.threads for i in range(case.threads + 1)]
    out = np.zeros((height, width, 3), np.float16)
    pool = ThreadPoolExecutor(case.threads)

    def part(i):
        first, last = bounds[i], bounds[i + 1]
        target = out[4 * first:4 * last]
        imagecodecs.bcn_decode(blocks[first:last].reshape(-1), kind, shape=target.shape, out=target)

    def result():
        texels = np.full((height, width, 4), 1, np.float16)
        texels[..., :3] = out
        return {"texels": texels}
    return wall(lambda: list(pool.map(part, range(case.threads)))), result


@peer("texture unit, 1 texel per thread", "gpu", nvcc_version, cuda_library)
def texture(case):
    return cuda(case, 0, numbers(case))


@peer("texture unit, 2 texels per thread", "gpu", nvcc_version, cuda_library)
def texture_two(case):
    return cuda(case, 1, numbers(case))
