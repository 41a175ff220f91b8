"""OpenCL kernels of OpenCV and clEsperanto, built and launched as those libraries do."""
import glob
import importlib.util
import os
import re
import warnings

from peers import NotInstalled, NotThisCase


def rounded_up(value, unit):
    return -(-value // unit) * unit


def queue_of(kind):
    """A profiling queue on the first device of that kind, "cpu" or "gpu"."""
    import pyopencl as cl
    warnings.simplefilter("ignore", cl.CompilerWarning)
    types = {"cpu": cl.device_type.CPU, "gpu": cl.device_type.GPU}
    for one in cl.get_platforms():
        for device in one.get_devices():
            if device.type & types[kind]:
                context = cl.Context([device])
                return cl.CommandQueue(context, device, cl.command_queue_properties.PROFILING_ENABLE)
    raise RuntimeError("no OpenCL device of the kind " + kind)


def by_event(call):
    """call() enqueues kernels and gives their events, first to last."""
    def run():
        events = call()
        events[-1].wait()
        return (events[-1].profile.end - events[0].profile.start) * 1e-9
    return run


def uploaded(queue, array):
    import pyopencl as cl
    flags = cl.mem_flags
    return cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=array)


def empty(queue, size):
    import pyopencl as cl
    return cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size)


def downloaded(queue, buffer, like):
    import numpy as np
    import pyopencl as cl
    out = np.empty_like(like)
    cl.enqueue_copy(queue, out, buffer)
    return out


# ---- OpenCV -------------------------------------------------------------------------------------

def embedded_source(library, mark):
    """The text of a kernel that a shared library carries, by a piece of it; None without."""
    with open(library, "rb") as file:
        data = file.read()
    at = data.find(mark)
    return None if at < 0 else \
        data[data.rfind(b"\0", 0, at) + 1:data.find(b"\0", at)].decode()


def opencv_source(kernel):
    """The text of the file of a kernel, out of the library of OpenCV's Python module."""
    folder = os.path.dirname(importlib.util.find_spec("cv2").origin)
    found = glob.glob(os.path.join(folder, "**", "cv2*.so"), recursive=True)
    found += glob.glob("/usr/lib/*/libopencv_imgproc.so*")
    for path in found:
        text = embedded_source(path, f"__kernel void {kernel}(".encode())
        if text:
            return text
    raise NotInstalled("no library with OpenCV's kernels")


def opencv_version(threads):
    import cv2
    import pyopencl
    opencv_source("row_filter")
    return f"{cv2.__version__}, pyopencl {pyopencl.VERSION_TEXT}"


def opencv_type(array):
    """(name, name of a channel, channels) of pixels (height, width, channels) or (height, width)."""
    one = {"uint8": "uchar", "uint16": "ushort", "float32": "float"}[array.dtype.name]
    channels = array.shape[2] if array.ndim == 3 else 1
    return one + (str(channels) if channels > 1 else ""), one, channels


def opencv_median(kind, src, side):
    """As ocl_medianFilter() launches them: 3 x 3 and 5 x 5."""
    import numpy as np
    import pyopencl as cl
    if side not in (3, 5):
        raise NotThisCase
    queue = queue_of(kind)
    pixel, one, channels = opencv_type(src)
    name = f"medianFilter{side}"
    program = cl.Program(queue.context, opencv_source(name)).build(
        [f"-DT={pixel}", f"-DT1={one}", f"-Dcn={channels}"])
    kernel = getattr(program, name)
    height, width = src.shape[:2]
    step, i = np.int32(src.strides[0]), np.int32
    source, target = uploaded(queue, src), empty(queue, src.nbytes)

    def call():
        return [kernel(queue, (rounded_up(width + 3, 16), rounded_up(height, 16)), (16, 16), source,
                       step, i(0), target, step, i(0), i(height), i(width))]
    return by_event(call), lambda: {"dst": downloaded(queue, target, src)}


def opencv_dilation(kind, src, radius):
    """As ocl_morphOp() launches it on GPUs that are not Intel's: a tile in local memory, which larger
    masks do not fit into. Its border never wins: the same as repeated pixels."""
    import numpy as np
    import pyopencl as cl
    side = 2 * radius + 1
    if 2 * 16 * 16 < (16 + side - 1) ** 2:
        raise NotThisCase
    queue = queue_of(kind)
    pixel, one, channels = opencv_type(src)
    depth = {"uchar": 0, "ushort": 2, "float": 5}[one]
    steps = "".join(f"PROCESS({y},{x})" for y in range(side) for x in range(side))
    # Its options hold parentheses, which some drivers do not take there.
    text = f"#define PROCESS_ELEMS {steps}\n" + opencv_source("morph")
    kernel = cl.Program(queue.context, text).build(
        [f"-DRADIUSX={radius}", f"-DRADIUSY={radius}", "-DLSIZE0=16", "-DLSIZE1=16", "-DOP_DILATE",
         f"-DT={pixel}", f"-DDEPTH_{depth}", f"-Dcn={channels}", f"-DT1={one}"]).morph
    height, width = src.shape[:2]
    step, i = np.int32(src.strides[0]), np.int32
    source, target = uploaded(queue, src), empty(queue, src.nbytes)

    def call():
        return [kernel(queue, (rounded_up(width, 16), rounded_up(height, 16)), (16, 16), source, step,
                       i(0), target, step, i(0), i(0), i(0), i(width), i(height), i(width),
                       i(height))]
    return by_event(call), lambda: {"dst": downloaded(queue, target, src)}


def opencv_separable(kind, src, weights):
    """As sepFilter2D() builds and launches them on RGBA floats: floats between the passes."""
    import numpy as np
    import pyopencl as cl
    queue = queue_of(kind)
    height, width, _ = src.shape
    radius = len(weights) // 2
    taps = "".join(f"DIG({float(one)!r}f)" for one in weights.astype(np.float32))
    common = ["-DLSIZE0=16", "-DLSIZE1=16", "-DCN=4", "-DsrcT=float4", "-DdstT=float4",
              "-DconvertToDstT=noconvert", "-DsrcT1=float", "-DdstT1=float"]

    def built(name, *more):
        text = opencv_source(name).replace("COEFF", taps)
        return getattr(cl.Program(queue.context, text).build([*common, *more]), name)
    rows = built("row_filter", f"-DRADIUSX={radius}", "-DBORDER_REPLICATE",
                 "-DNO_EXTRA_EXTRAPOLATION", "-DNO_BORDER_ISOLATED")
    columns = built("col_filter", f"-DRADIUSY={radius}")
    i, step = np.int32, np.int32(16 * width)
    source, target = uploaded(queue, src), empty(queue, src.nbytes)
    between = empty(queue, 16 * width * (height + 2 * radius))
    wide, high, higher = (rounded_up(n, 16) for n in (width, height, height + 2 * radius))

    def call():
        first = rows(queue, (wide, higher), (16, 16), source, step, i(0), i(0), i(width), i(height),
                     i(width), i(height), between, step, i(width), i(height + 2 * radius), i(radius))
        return [first, columns(queue, (wide, high), (16, 16), between, step, i(0),
                               i(height + 2 * radius), i(width), target, step, i(0), i(height),
                               i(width), np.float32(0))]
    return by_event(call), lambda: {"dst": downloaded(queue, target, src)}


# ---- clEsperanto --------------------------------------------------------------------------------

def clesperanto_folder():
    spec = importlib.util.find_spec("pyclesperanto_prototype")
    if spec is None:
        raise NotInstalled("No module named 'pyclesperanto_prototype'")
    return os.path.dirname(spec.origin)


def clesperanto_version(threads):
    import pyopencl
    with open(os.path.join(clesperanto_folder(), "__init__.py"), encoding="utf-8") as file:
        found = re.search(r"__version__ = \"(.*?)\"", file.read())
    return f"{found.group(1)}, pyopencl {pyopencl.VERSION_TEXT}"


def clesperanto_kernel(queue, name, dimensions, kind):
    """A kernel on buffers with that many dimensions, of a NumPy type, as its execute() makes it."""
    import pyopencl as cl
    pixel, letters = {"uint8": ("uchar", "uc"), "uint16": ("ushort", "us"),
                      "float32": ("float", "f")}[kind.name]
    place = "(int2)(pos0, pos1)" if dimensions == 2 else "(int4)(pos0, pos1, pos2, 0)"
    text = "#define MAX_ARRAY_SIZE 1000\n"
    for side in ("WIDTH", "HEIGHT", "DEPTH"):
        text += f"#define GET_IMAGE_{side}(key) image_size_ ## key ## _{side.lower()}\n"
    for key in ("dst", "src"):
        extent = ", ".join(f"int image_size_{key}_{side}" for side in ("width", "height", "depth"))
        text += (f"#define CONVERT_{key}_PIXEL_TYPE clij_convert_{pixel}_sat\n"
                 f"#define IMAGE_{key}_PIXEL_TYPE {pixel}\n"
                 f"#define POS_{key}_TYPE int{2 if dimensions == 2 else 4}\n"
                 f"#define POS_{key}_INSTANCE(pos0,pos1,pos2,pos3) {place}\n"
                 f"#define IMAGE_{key}_TYPE {extent}, __global {pixel}*\n")
        for verb in ("READ", "WRITE"):
            text += (f"#define {verb}_{key}_IMAGE(a,b,c) {verb.lower()}_buffer{dimensions}d{letters}("
                     "GET_IMAGE_WIDTH(a),GET_IMAGE_HEIGHT(a),GET_IMAGE_DEPTH(a),a,b,c)\n")
    for path in ("_tier0/preamble.cl", f"clij-opencl-kernels/kernels/{name}_x.cl"):
        with open(os.path.join(clesperanto_folder(), path), encoding="utf-8") as file:
            text += file.read() + "\n"
    return getattr(cl.Program(queue.context, text).build(), re.sub("_x$", "", name))


def clesperanto_planes(kind, src, name, passes):
    """A kernel on pictures (height, width, channels) or volumes (depth, height, width). Its pictures
    have one channel: they are planes, one after the other. passes: the arguments of each launch."""
    import numpy as np
    queue = queue_of(kind)
    is_volume = src.ndim == 3 and src.shape[2] > 4
    planes = [src] if is_volume else [np.ascontiguousarray(one)
                                      for one in np.moveaxis(np.atleast_3d(src), 2, 0)]
    kernel = clesperanto_kernel(queue, name, 3 if is_volume else 2, src.dtype)
    extent = planes[0].shape[::-1]
    size = tuple(np.int32(n) for n in extent + (1,) * (3 - len(extent)))
    sources = [uploaded(queue, plane) for plane in planes]
    targets = [empty(queue, plane.nbytes) for plane in planes]
    between = [empty(queue, planes[0].nbytes) for _ in passes[1:3]]

    def call():
        events = []
        for source, target in zip(sources, targets):
            for i, values in enumerate(passes):
                to = target if i == len(passes) - 1 else between[i]
                events.append(kernel(queue, extent, None, *size, to, *size, source, *values))
                source = to
        return events

    def result():
        out = [downloaded(queue, target, planes[0]) for target in targets]
        return {"dst": out[0] if len(out) == 1 else np.ascontiguousarray(np.stack(out, axis=-1))}
    return by_event(call), result


def clesperanto_separable(kind, src, name, side, parameter):
    """A separable kernel, an axis in each launch."""
    import numpy as np
    dimensions = 3 if src.ndim == 3 and src.shape[2] > 4 else 2
    return clesperanto_planes(kind, src, f"{name}_separable_{dimensions}d",
                              [(np.int32(axis), np.int32(side), np.float32(parameter))
                               for axis in range(dimensions)])


def clesperanto_median(kind, src, side):
    import numpy as np
    return clesperanto_planes(kind, src, "median_box_2d", [(np.int32(side), np.int32(side))])
