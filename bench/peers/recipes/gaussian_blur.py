"""The blur: the same taps and, but for torchvision, the same border, the nearest pixel inside.
torchvision mirrors, so it is compared where the border is out of reach. All are compared with the
exact filter in double."""
import glob
import importlib.util
import os
import subprocess

from peers import (NotThisCase, cpp_loop, cupy_event, cupy_version, embedded_source, gcc_version, npp,
                   npp_library, npp_version, opencl_event, opencl_queue, opencv_version, package,
                   peer, rounded_up, torch_event, wall)


def cases(size):
    width, height = size.split(" x ")
    out = []
    for truncate, sigmas in ((2, (2, 8, 32)), (4, (32, 200))):
        for kind, name in (("f32", "float"), ("u8", "8-bit")):
            for sigma in sigmas:
                taps = 2 * int(truncate * sigma + 0.5) + 1
                out.append((f"{size} RGBA {name}, sigma {sigma}, {taps} taps",
                            f"width={width} height={height} sigma={sigma} truncate={truncate} "
                            f"pixel={kind} peak={1 if kind == 'f32' else 0} quality=60"))
    return out


CASES = {"cpu": cases("1920 x 1080"), "gpu": cases("3840 x 2160")}
QUICK = "width=161 height=119 sigma=2 truncate=2 pixel=f32 peak=1 quality=60"


def more(ours):
    return {"set_sigma_us": ours.ask("set_sigma 1920 1080")}


def weights(case):
    import numpy as np
    sigma = case.shape["sigma"]
    radius = int(np.floor(case.shape["truncate"] * sigma + 0.5))
    k = np.arange(-radius, radius + 1)
    w = np.exp(-0.5 * (k / sigma) ** 2)
    return w / w.sum()


def is_float(case):
    return case.shape["pixel"] == "f32"


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


def judge(case, folder, name):
    import numpy as np
    lines, wanted = exact(case)
    result = picture(case, os.path.join(folder, "dst"))
    peak, chosen, inside = 1.0 if is_float(case) else 255.0, range(len(lines)), slice(None)
    if name == "torchvision":
        height, width, _ = result.shape
        radius = len(weights(case)) // 2
        chosen = [i for i, y in enumerate(lines) if radius <= y < height - radius]
        if not chosen or width <= 2 * radius:
            return 0, None, "its border reaches everywhere"
        inside = slice(radius, width - radius)
    off = np.stack([result[lines[i]].astype(np.float64) - wanted[i] for i in chosen])[:, inside]
    largest, mean = float(np.abs(off).max()), float((off ** 2).mean())
    limit = 0.1 if "shrink" in name else 2e-3 if is_float(case) else 2 / 255
    psnr = None if mean == 0 else float(10 * np.log10(peak * peak / mean))
    if not largest <= limit * peak:
        return largest, psnr, f"off by {largest / peak:.2g} of the peak"
    return largest, psnr, None


def at_most(case, taps):
    if len(weights(case)) > taps:
        raise RuntimeError(f"not tried with more than {taps} taps, it takes seconds")


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    at_most(case, 300)
    w = weights(case)
    return cpp_loop(case, [case.shape["width"], case.shape["height"], not is_float(case), len(w),
                           *w])


@peer("OpenCV", "cpu", opencv_version)
def opencv(case):
    import cv2
    at_most(case, 300)
    src, size, sigma = picture(case), len(weights(case)), case.shape["sigma"]
    run = wall(lambda: cv2.GaussianBlur(src, (size, size), sigma, sigmaY=sigma,
                                        borderType=cv2.BORDER_REPLICATE))
    return run, lambda: {"dst": run.out}


@peer("OpenCV, shrink-blur-enlarge", "cpu", opencv_version)
def shrink(case):
    import cv2
    if case.shape["truncate"] < 4:
        raise NotThisCase
    src, sigma, factor = picture(case), case.shape["sigma"], 1
    while sigma / (2 * factor) >= 4:
        factor *= 2
    height, width, _ = src.shape
    small = (max(1, width // factor), max(1, height // factor))
    rest = (sigma * sigma - (factor * factor - 1) / 12) ** 0.5 / factor

    def call():
        less = cv2.resize(src, small, interpolation=cv2.INTER_AREA)
        less = cv2.GaussianBlur(less, (0, 0), rest, borderType=cv2.BORDER_REPLICATE)
        return cv2.resize(less, (width, height), interpolation=cv2.INTER_LINEAR)
    run = wall(call)
    return run, lambda: {"dst": run.out}


@peer("SciPy", "cpu", package("scipy"))
def scipy_filter(case):
    import scipy.ndimage
    at_most(case, 300)
    src, sigma = picture(case), case.shape["sigma"]
    run = wall(lambda: scipy.ndimage.gaussian_filter(src, (sigma, sigma, 0), mode="nearest",
                                                     truncate=case.shape["truncate"]))
    return run, lambda: {"dst": run.out}


def cv2_library(threads=0):
    """The library of OpenCV's Python module, which carries its OpenCL kernels."""
    folder = os.path.dirname(importlib.util.find_spec("cv2").origin)
    found = glob.glob(os.path.join(folder, "cv2*.so"))
    found += glob.glob(os.path.join(folder, "**", "cv2*.so"), recursive=True)
    found += glob.glob("/usr/lib/*/libopencv_imgproc.so*")
    for path in found:
        try:
            embedded_source(path, b"__kernel void row_filter(")
            return path
        except RuntimeError:
            pass
    raise RuntimeError("no library with OpenCV's kernels")


def kernels_version(threads):
    import cv2
    import pyopencl
    cv2_library()
    return f"{cv2.__version__}, pyopencl {pyopencl.VERSION_TEXT}"


@peer("OpenCV, its OpenCL kernels", "gpu", kernels_version)
def opencv_kernels(case):
    # As sepFilter2D() builds and launches them, groups of 16 x 16, floats between the passes.
    import numpy as np
    import pyopencl as cl
    if not is_float(case):
        raise NotThisCase
    at_most(case, 300)
    queue = opencl_queue(case.device)
    src, w = picture(case), weights(case).astype(np.float32)
    height, width, _ = src.shape
    radius = len(w) // 2
    taps = "".join(f"DIG({float(one)!r}f)" for one in w)
    common = ["-DLSIZE0=16", "-DLSIZE1=16", "-DCN=4", "-DsrcT=float4", "-DdstT=float4",
              "-DconvertToDstT=noconvert", "-DsrcT1=float", "-DdstT1=float"]
    library = cv2_library()

    def program(mark, *more):
        text = embedded_source(library, mark).replace("COEFF", taps)
        return cl.Program(queue.context, text).build([*common, *more])
    rows = program(b"__kernel void row_filter(", f"-DRADIUSX={radius}", "-DBORDER_REPLICATE",
                   "-DNO_EXTRA_EXTRAPOLATION", "-DNO_BORDER_ISOLATED").row_filter
    columns = program(b"__kernel void col_filter(", f"-DRADIUSY={radius}").col_filter
    flags = cl.mem_flags
    source = cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=src)
    between = cl.Buffer(queue.context, flags.READ_WRITE, 16 * width * (height + 2 * radius))
    target = cl.Buffer(queue.context, flags.READ_WRITE, src.nbytes)
    i, step = np.int32, np.int32(16 * width)

    wide, high, higher = (rounded_up(n, 16) for n in (width, height, height + 2 * radius))

    def call():
        first = rows(queue, (wide, higher), (16, 16), source, step, i(0), i(0), i(width), i(height),
                     i(width), i(height), between, step, i(width), i(height + 2 * radius), i(radius))
        return [first, columns(queue, (wide, high), (16, 16), between, step, i(0),
                               i(height + 2 * radius), i(width), target, step, i(0), i(height),
                               i(width), np.float32(0))]

    def result():
        out = np.empty_like(src)
        cl.enqueue_copy(queue, out, target)
        return {"dst": out}
    return opencl_event(call), result


def clesperanto_folder():
    spec = importlib.util.find_spec("pyclesperanto_prototype")
    if spec is None:
        raise RuntimeError("No module named 'pyclesperanto_prototype'")
    return os.path.dirname(spec.origin)


def clesperanto_version(threads):
    from importlib import metadata
    import pyopencl
    clesperanto_folder()
    return f"{metadata.version('pyclesperanto-prototype')}, pyopencl {pyopencl.VERSION_TEXT}"


@peer("clEsperanto, its OpenCL kernels", "gpu", clesperanto_version)
def clesperanto(case):
    # Its pictures have one channel: four planes, one after the other.
    import numpy as np
    import pyopencl as cl
    if not is_float(case):
        raise NotThisCase
    at_most(case, 300)
    queue = opencl_queue(case.device)
    src = picture(case)
    height, width, _ = src.shape
    text = "#define MAX_ARRAY_SIZE 1000\n"
    for side in ("WIDTH", "HEIGHT", "DEPTH"):
        text += f"#define GET_IMAGE_{side}(key) image_size_ ## key ## _{side.lower()}\n"
    for key in ("dst", "src"):
        extent = ", ".join(f"int image_size_{key}_{side}" for side in ("width", "height", "depth"))
        text += (f"#define CONVERT_{key}_PIXEL_TYPE clij_convert_float_sat\n"
                 f"#define IMAGE_{key}_PIXEL_TYPE float\n#define POS_{key}_TYPE int2\n"
                 f"#define POS_{key}_INSTANCE(pos0,pos1,pos2,pos3) (int2)(pos0, pos1)\n"
                 f"#define IMAGE_{key}_TYPE {extent}, __global float*\n")
        for verb in ("READ", "WRITE"):
            text += (f"#define {verb}_{key}_IMAGE(a,b,c) {verb.lower()}_buffer2df("
                     "GET_IMAGE_WIDTH(a),GET_IMAGE_HEIGHT(a),GET_IMAGE_DEPTH(a),a,b,c)\n")
    for name in ("_tier0/preamble.cl",
                 "clij-opencl-kernels/kernels/gaussian_blur_separable_2d_x.cl"):
        with open(os.path.join(clesperanto_folder(), name), encoding="utf-8") as file:
            text += file.read() + "\n"
    kernel = cl.Program(queue.context, text).build().gaussian_blur_separable_2d
    flags = cl.mem_flags
    planes = [cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR,
                        hostbuf=np.ascontiguousarray(src[..., c])) for c in range(4)]
    between = cl.Buffer(queue.context, flags.READ_WRITE, 4 * width * height)
    targets = [cl.Buffer(queue.context, flags.READ_WRITE, 4 * width * height) for _ in planes]
    size = (np.int32(width), np.int32(height), np.int32(1))
    taps, sigma = np.int32(len(weights(case))), np.float32(case.shape["sigma"])

    def call():
        events = []
        for plane, target in zip(planes, targets):
            for dim, one, other in ((0, plane, between), (1, between, target)):
                events.append(kernel(queue, (width, height), None, *size, other, *size, one,
                                     np.int32(dim), taps, sigma))
        return events

    def result():
        out = np.empty((4, height, width), np.float32)
        for c in range(4):
            cl.enqueue_copy(queue, out[c], targets[c])
        return {"dst": np.ascontiguousarray(out.transpose(1, 2, 0))}
    return opencl_event(call), result


def darktable_folder():
    return os.environ.get("DARKTABLE_KERNELS", "/usr/share/darktable/kernels")


def darktable_version(threads):
    if not os.path.exists(os.path.join(darktable_folder(), "gaussian.cl")):
        raise RuntimeError("no kernels of darktable, see DARKTABLE_KERNELS")
    return os.environ.get("DARKTABLE_VERSION") or subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "darktable"], capture_output=True, text=True,
        check=True).stdout


@peer("darktable, its OpenCL kernels", "gpu", darktable_version)
def darktable(case):
    # As dt_gaussian_blur_cl() launches them: a recursion down the columns, a transposition, twice.
    import numpy as np
    import pyopencl as cl
    if not is_float(case):
        raise NotThisCase
    queue = opencl_queue(case.device)
    src = picture(case)
    height, width, _ = src.shape
    with open(os.path.join(darktable_folder(), "gaussian.cl"), encoding="utf-8") as file:
        program = cl.Program(queue.context, file.read()).build(["-I", darktable_folder()])
    column, transpose = program.gaussian_column_4c, program.gaussian_transpose_4c
    alpha = 1.695 / case.shape["sigma"]
    ema = np.exp(-alpha)
    k = (1 - ema) ** 2 / (1 + 2 * alpha * ema - ema ** 2)
    a = [k, k * (alpha - 1) * ema, k * (alpha + 1) * ema, -k * ema ** 2]
    b = [-2 * ema, ema ** 2]
    ends = [(a[0] + a[1]) / (1 + b[0] + b[1]), (a[2] + a[3]) / (1 + b[0] + b[1])]
    factors = [np.float32(one) for one in a + b + ends]
    limits = [np.full(4, np.inf, np.float32), np.full(4, -np.inf, np.float32)]
    flags = cl.mem_flags
    source = cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=src)
    one, other = (cl.Buffer(queue.context, flags.READ_WRITE, src.nbytes) for _ in range(2))
    side = 32 if queue.device.max_work_group_size >= 1024 else 16
    local = cl.LocalMemory(16 * side * (side + 1))
    u = np.uint32

    def pass_of(start, between, end, w, h):
        return [column(queue, (rounded_up(w, 64), 1), None, start, between, u(w), u(h), *factors, *limits),
                transpose(queue, (rounded_up(w, side), rounded_up(h, side)), (side, side), between, end, u(w), u(h),
                          u(side), local)]

    def call():
        return (pass_of(source, one, other, width, height) +
                pass_of(other, one, target, height, width))
    target = cl.Buffer(queue.context, flags.READ_WRITE, src.nbytes)

    def result():
        out = np.empty_like(src)
        cl.enqueue_copy(queue, out, target)
        return {"dst": out}
    return opencl_event(call), result


@peer("NPP, FilterRowBorder and FilterColumnBorder", "gpu", npp_version, npp_library)
def npp_blur(case):
    at_most(case, 300)
    w = weights(case)
    return npp(case, 3, [case.shape["width"], case.shape["height"], len(w), 4, not is_float(case),
                         *w])


@peer("CuPy", "gpu", cupy_version)
def cupy_filter(case):
    import cupy
    import cupyx.scipy.ndimage
    src, sigma = cupy.asarray(picture(case)), case.shape["sigma"]
    run = cupy_event(lambda: cupyx.scipy.ndimage.gaussian_filter(
        src, (sigma, sigma, 0), mode="nearest", truncate=case.shape["truncate"]))
    return run, lambda: {"dst": cupy.asnumpy(run.out)}


def vision_version(threads):
    import torch
    import torchvision
    if not torch.cuda.is_available():
        raise RuntimeError("no CUDA device")
    return f"{torchvision.__version__}, PyTorch {torch.__version__}"


@peer("torchvision", "gpu", vision_version)
def vision(case):
    import torch
    from torchvision.transforms.v2 import functional
    at_most(case, 150)
    size, sigma = len(weights(case)), case.shape["sigma"]
    src = torch.from_numpy(picture(case)).cuda().permute(2, 0, 1).contiguous()
    run = torch_event(lambda: functional.gaussian_blur(src, [size, size], [sigma, sigma]))
    return run, lambda: {"dst": run.out.permute(1, 2, 0).contiguous().cpu().numpy()}
