"""A wide gather, which no library has, and a matrix on every pixel."""
from peers import (NotThisCase, cpp_loop, gcc_version, numpy_version, opencv_version, peer,
                   torch_event, torch_version, wall)

CASES = {
    "cpu": [("gather 1024 x 1024, 16 taps within 256 pixels",
             "work=gather width=1024 height=1024 taps=16 radius=256"),
            ("4 x 4 matrix on 2048 x 2048 RGBA float", "work=filter width=2048 height=2048")],
    "gpu": [("4 x 4 matrix on 8192 x 8192 RGBA float", "work=filter width=8192 height=8192")],
}
QUICK = "work=filter width=320 height=200"


def draw(of):
    if of.pick("filter", "gather") == "filter":
        return f"work=filter {of.picture()}"
    return (f"work=gather width={of.whole(64, 2048)} height={of.whole(64, 2048)} "
            f"taps={of.whole(1, 64)} radius={of.whole(1, 512)}")


def picture(case, np):
    return case.array("src", np.float32, case.shape["height"], case.shape["width"], 4)


def matrix(case, np):
    if case.shape["work"] != "filter":
        raise NotThisCase
    return case.array("matrix", np.float32, 4, 4)


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    s = case.shape
    return cpp_loop(case, [s["width"], s["height"], s.get("taps", 16), s.get("radius", 256),
                           s["work"] == "gather"])


@peer("OpenCV, transform", "cpu", opencv_version)
def opencv_transform(case):
    import cv2
    import numpy as np
    m, src = matrix(case, np), picture(case, np)
    run = wall(lambda: cv2.transform(src, m))
    return run, lambda: {"dst": run.out}


@peer("NumPy, matmul", "cpu", numpy_version)
def numpy_matmul(case):
    import numpy as np
    m, src = matrix(case, np).T.copy(), picture(case, np).reshape(-1, 4)
    run = wall(lambda: src @ m)
    return run, lambda: {"dst": run.out}


@peer("PyTorch, matmul", "gpu", torch_version)
def torch_matmul(case):
    import numpy as np
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    m = torch.from_numpy(matrix(case, np).T.copy()).cuda()
    src = torch.from_numpy(picture(case, np).reshape(-1, 4)).cuda()
    run = torch_event(lambda: src @ m)
    return run, lambda: {"dst": run.out.cpu().numpy()}
