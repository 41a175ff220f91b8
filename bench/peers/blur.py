"""What gaussian_blur and line_blur share: both blur with normalised Gaussian weights along the rows and
the columns, borders repeated. Their peers are compared with the exact filter."""
import os

import kernels
from peers import (NotThisCase, NotTried, cpp_loop, cupy_event, cupy_version, gcc_version, npp,
                   npp_library, npp_version, opencv_version, package, peer, wall)


def sigma_of(case):
    """In pixels; that of line_blur is in radii."""
    return case.shape["sigma"] * case.shape.get("radius", 1)


def weights(case):
    import numpy as np
    sigma = sigma_of(case)
    radius = case.shape["radius"] if "radius" in case.shape else \
        int(np.floor(case.shape["truncate"] * sigma + 0.5))
    k = np.arange(-radius, radius + 1)
    w = np.exp(-0.5 * (k / sigma) ** 2)
    return w / w.sum()


def is_float(case):
    return case.shape["pixel"].endswith("32f") or case.shape["pixel"] == "f32"


def picture(case, path=None):
    import numpy as np
    kind = np.float32 if is_float(case) else np.uint8
    return np.fromfile(path or case.path("src"), kind).reshape(
        case.shape["height"], case.shape["width"], 4)


def exact(case):
    """24 rows of the exact filter, and which."""
    import numpy as np
    if not hasattr(case, "exact"):
        src, w = picture(case), weights(case)
        height, width, _ = src.shape
        radius = len(w) // 2
        columns = np.clip(np.arange(-radius, width + radius), 0, width - 1)
        lines = sorted(set(np.linspace(0, height - 1, 24).astype(int)))
        out = []
        for y in lines:
            window = src[np.clip(np.arange(y - radius, y + radius + 1), 0, height - 1)]
            line = np.tensordot(w, window.astype(np.float64), axes=(0, 0))[columns]
            out.append(np.lib.stride_tricks.sliding_window_view(line, len(w), axis=0) @ w)
        case.exact = lines, np.stack(out) if is_float(case) else np.rint(np.stack(out))
    return case.exact


def judge(case, folder, inside_only, is_approximate):
    """(largest error, PSNR, None or how it differs); with inside_only where no border reaches."""
    import numpy as np
    lines, wanted = exact(case)
    result = picture(case, os.path.join(folder, "dst"))
    peak, chosen, inside = 1.0 if is_float(case) else 255.0, range(len(lines)), slice(None)
    if inside_only:
        height, width, _ = result.shape
        radius = len(weights(case)) // 2
        chosen = [i for i, y in enumerate(lines) if radius <= y < height - radius]
        if not chosen or width <= 2 * radius:
            return 0, None, "its border reaches everywhere"
        inside = slice(radius, width - radius)
    off = np.stack([result[lines[i]].astype(np.float64) - wanted[i] for i in chosen])[:, inside]
    largest, mean = float(np.abs(off).max()), float((off ** 2).mean())
    limit = 0.1 if is_approximate else 2e-3 if is_float(case) else 2 / 255
    psnr = None if mean == 0 else float(10 * np.log10(peak * peak / mean))
    if not largest <= limit * peak:
        return largest, psnr, f"off by {largest / peak:.2g} of the peak"
    return largest, psnr, None


def at_most(case, taps):
    if len(weights(case)) > taps:
        raise NotTried(f"not tried with more than {taps} taps, it takes seconds")


def floats_only(case):
    if not is_float(case):
        raise NotThisCase


def loop(case):
    at_most(case, 300)
    w = weights(case)
    return cpp_loop(case, [case.shape["width"], case.shape["height"], not is_float(case), len(w),
                           *w], "gaussian_blur")


def opencv(case):
    import cv2
    at_most(case, 300)
    src, size, sigma = picture(case), len(weights(case)), sigma_of(case)
    run = wall(lambda: cv2.GaussianBlur(src, (size, size), sigma, sigmaY=sigma,
                                        borderType=cv2.BORDER_REPLICATE))
    return run, lambda: {"dst": run.out}


def ndimage_call(case, ndimage, src):
    """The call of scipy.ndimage and of cupyx.scipy.ndimage, which are alike."""
    sigma, radius = sigma_of(case), len(weights(case)) // 2
    return lambda: ndimage.gaussian_filter(src, (sigma, sigma, 0), mode="nearest",
                                           truncate=radius / sigma)


def scipy_filter(case):
    import scipy.ndimage
    at_most(case, 300)
    run = wall(ndimage_call(case, scipy.ndimage, picture(case)))
    return run, lambda: {"dst": run.out}


def cupy_filter(case):
    import cupy
    import cupyx.scipy.ndimage
    run = cupy_event(ndimage_call(case, cupyx.scipy.ndimage, cupy.asarray(picture(case))))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


def npp_filters(case):
    at_most(case, 300)
    w = weights(case)
    return npp(case, 3, [case.shape["width"], case.shape["height"], len(w), 4, not is_float(case),
                         *w])


def opencv_kernels(case):
    floats_only(case)
    at_most(case, 300)
    return kernels.opencv_separable(case.device, picture(case), weights(case))


def clesperanto(case):
    floats_only(case)
    at_most(case, 300)
    return kernels.clesperanto_separable(case.device, picture(case), "gaussian_blur",
                                         len(weights(case)), sigma_of(case))


def declare():
    """The peers of both."""
    peer("C++ loop", "cpu", gcc_version)(loop)
    peer("OpenCV", "cpu", opencv_version)(opencv)
    peer("SciPy", "cpu", package("scipy"))(scipy_filter)
    peer("OpenCV, its OpenCL kernels", "gpu", kernels.opencv_version)(opencv_kernels)
    peer("clEsperanto, its OpenCL kernels", "gpu", kernels.clesperanto_version)(clesperanto)
    peer("NPP, FilterRowBorder and FilterColumnBorder", "gpu", npp_version, npp_library)(npp_filters)
    peer("CuPy", "gpu", cupy_version)(cupy_filter)
