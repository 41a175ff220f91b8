"""What gaussian_blur and line_blur share: both blur with normalised Gaussian weights along the rows and
the columns. Their peers are compared with the exact filter."""
import os

import kernels
from peers import (NotThisCase, NotTried, clamped, cpp_loop, cupy_event, cupy_version, gcc_version,
                   in_floats, mode_of, npp, npp_library, npp_version, opencv_border, opencv_version,
                   package, peer, pixel_of, umat, umat_version, wall)


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
    return pixel_of(case)[0].startswith("float")


def peak_of(case):
    return {"uint8": 255.0, "uint16": 65535.0}.get(pixel_of(case)[0], 1.0)


def picture(case, path=None):
    """The source, or a result in a file."""
    import numpy as np
    kind, channels = pixel_of(case)
    shape = case.shape["height"], case.shape["width"], channels
    return np.fromfile(path, kind).reshape(shape) if path else case.array("src", kind, *shape)


def reached(case, size, radius):
    """Which of so many rows stands at each from -radius on."""
    import numpy as np
    at, mode = np.arange(-radius, size + radius), mode_of(case)
    if mode == "nearest":
        return np.clip(at, 0, size - 1)
    if mode == "wrap":
        return at % size
    period = 2 * size if mode == "reflect" else max(2 * size - 2, 1)
    at = at % period
    return np.where(at < size, at, period - (mode == "reflect") - at)


def exact(case):
    """24 rows of the exact filter, and which."""
    import numpy as np
    if not hasattr(case, "exact"):
        src, w = picture(case), weights(case)
        height, width, _ = src.shape
        radius = len(w) // 2
        columns, rows = reached(case, width, radius), reached(case, height, radius)
        lines = sorted(set(np.linspace(0, height - 1, 24).astype(int)))
        out = []
        for y in lines:
            window = src[rows[y:y + 2 * radius + 1]]
            line = np.tensordot(w, window.astype(np.float64), axes=(0, 0))[columns]
            out.append(np.lib.stride_tricks.sliding_window_view(line, len(w), axis=0) @ w)
        case.exact = lines, np.stack(out) if is_float(case) else np.rint(np.stack(out))
    return case.exact


def judge(case, folder, inside_only, is_approximate):
    """(largest error, PSNR, None or how it differs); with inside_only where no border reaches."""
    import numpy as np
    lines, wanted = exact(case)
    result = picture(case, os.path.join(folder, "dst"))
    peak, chosen, inside = peak_of(case), range(len(lines)), slice(None)
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
    size = case.shape["width"] * case.shape["height"] * pixel_of(case)[1]
    if len(weights(case)) > taps and len(weights(case)) * size > 1e9:
        raise NotTried(f"not tried with more than {taps} taps, it takes seconds")


def of_four(case, *kinds):
    """For those that take four channels of these types, and repeat the border."""
    clamped(case)
    if pixel_of(case)[0] not in kinds or pixel_of(case)[1] != 4:
        raise NotThisCase


def loop(case):
    clamped(case)
    at_most(case, 300)
    kind, channels = pixel_of(case)
    if kind == "float16":
        raise NotThisCase
    w = weights(case)
    return cpp_loop(case, [case.shape["width"], case.shape["height"],
                           ("float32", "uint8", "uint16").index(kind), len(w), channels, *w],
                    "gaussian_blur")


def opencv_call(case):
    import cv2
    at_most(case, 300)
    size, sigma, border = len(weights(case)), sigma_of(case), opencv_border(case)
    return lambda one: cv2.GaussianBlur(one, (size, size), sigma, sigmaY=sigma, borderType=border)


def opencv(case):
    src, call = picture(case), opencv_call(case)
    run = wall(lambda: in_floats(call, src))
    return run, lambda: {"dst": run.out}


def opencv_umat(case):
    return umat(opencv_call(case), picture(case))


def ndimage_call(case, ndimage, src):
    """The call of scipy.ndimage and of cupyx.scipy.ndimage, which are alike."""
    sigma, radius = sigma_of(case), len(weights(case)) // 2
    return lambda: in_floats(lambda one: ndimage.gaussian_filter(
        one, (sigma, sigma, 0), mode=mode_of(case), truncate=radius / sigma), src)


def scipy_filter(case):
    import scipy.ndimage
    at_most(case, 300)
    run = wall(ndimage_call(case, scipy.ndimage, picture(case)))
    return run, lambda: {"dst": run.out}


def cupy_filter(case):
    import cupy
    import cupyx.scipy.ndimage as ndimage
    src = picture(case)
    run = cupy_event(
        ndimage_call(case, ndimage, cupy.asarray(src)),
        lambda: cupy.asnumpy(ndimage_call(case, ndimage, cupy.asarray(src))()))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


def npp_filters(case):
    of_four(case, "float32", "uint8")
    at_most(case, 300)
    w = weights(case)
    return npp(case, 3, [case.shape["width"], case.shape["height"], len(w), 4, not is_float(case),
                         *w])


def opencv_kernels(case):
    of_four(case, "float32")
    at_most(case, 300)
    return kernels.opencv_separable(case.device, picture(case), weights(case))


def clesperanto(case):
    clamped(case)
    if pixel_of(case)[0] != "float32":
        raise NotThisCase
    at_most(case, 300)
    return kernels.clesperanto_separable(case.device, picture(case), "gaussian_blur",
                                         len(weights(case)), sigma_of(case))


def declare():
    """The peers of both."""
    peer("C++ loop", "cpu", gcc_version)(loop)
    peer("OpenCV", "cpu", opencv_version)(opencv)
    peer("OpenCV, T-API", "cpu", umat_version)(opencv_umat)
    peer("SciPy", "cpu", package("scipy"))(scipy_filter)
    peer("OpenCV, its OpenCL kernels", "gpu", kernels.opencv_version)(opencv_kernels)
    peer("clEsperanto, its OpenCL kernels", "gpu", kernels.clesperanto_version)(clesperanto)
    peer("NPP, FilterRowBorder and FilterColumnBorder", "gpu", npp_version, npp_library)(npp_filters)
    peer("CuPy", "gpu", cupy_version)(cupy_filter)
