"""The side of the peers of bench/peers/run: what the files in recipes/ are written with.

A file in recipes/ is named after its recipe and has
  CASES          {"cpu": [...], "gpu": [...]}: for people, and the shape as `clcook bench` takes it
  @peer(...)     functions that make a peer of a case: they give (run, result). run() computes once
                 and gives the seconds; result() gives {name: array} of the buffers of the case.
                 NotThisCase: the peer does not do this at all. NotTried: it does, and is left out
                 with the reason. NotInstalled: it is not on this machine. Another exception is a
                 failure
  draw(of)       a shape that nobody chose, by a Draw of draw.py
and may have
  judge(case, folder, who)   (largest error, PSNR or None, None or how it differs) of the result in the
                             folder, where the check of the recipe is not meant for others
  more(clcook)               fields of the result file beside the rows
  QUICK                      the shape of --quick
  OURS                       {"cpu": [...], "gpu": [...]}: the library's rows in each case, a variant
                             and more words of the shape for each; by default what automatic takes

As a program this file is one peer, in a process of its own:
  peers.py RECIPE PEER THREADS FOLDER    then {"make": ..., "save": FOLDER}, {"run": COUNT} and
                                         {"caller": COUNT} as lines
"""
import ctypes
import fcntl
import glob
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NATIVE = os.path.join(HERE, "native")
BC6H_TABLES = os.path.join(HERE, "../../lib/clcook/reference/bc6h_decode.hpp")
PEERS = {}


class NotThisCase(Exception):
    """The peer has nothing that does this."""


class NotTried(Exception):
    """The peer does this, but not so that it would be measured."""


class NotInstalled(Exception):
    """What the peer needs is not on this machine."""


class Peer:
    def __init__(self, name, on, version, build, make):
        self.name, self.on, self.version, self.build, self.make = name, on, version, build, make


def peer(name, on, version=lambda threads: "", build=None):
    """Declares a peer. on: "cpu" or "gpu", the kind of device that it stands beside; "caller" is
    the library from numpy to numpy, beside both. build(recipe,
    work): what takes long and can be done before the first case."""
    def declare(make):
        PEERS[name] = Peer(name, on, version, build, make)
        return make
    return declare


def load(recipe):
    """The module of a recipe; PEERS are its peers from then on."""
    PEERS.clear()
    path = os.path.join(HERE, "recipes", recipe + ".py")
    spec = importlib.util.spec_from_file_location("peers_of_" + recipe, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["peers"] = sys.modules[__name__]
    spec.loader.exec_module(module)
    return module


def words_of(shape):
    """A shape as {name: number or word}."""
    out = {}
    for word in shape.split():
        name, value = word.split("=")
        for kind in (int, float, str):
            try:
                out[name] = kind(value)
                break
            except ValueError:
                pass
    return out


class Case:
    """A problem: its shape, and its buffers and constants as files in a folder."""

    def __init__(self, recipe, shape, folder, made, threads, work):
        self.recipe, self.folder, self.threads, self.work = recipe, folder, threads, work
        self.inputs, self.outputs, self.variant = made["inputs"], made["outputs"], made["variant"]
        self.shape = words_of(shape)

    def path(self, name):
        return os.path.join(self.folder, name)

    def array(self, name, kind, *shape):
        """A buffer or a constant; an output as clcook computed it."""
        import numpy as np
        out = np.fromfile(self.path(name), kind)
        return out.reshape(shape) if shape else out

    def bytes(self, name):
        return os.path.getsize(self.path(name))


# ---- Pictures -----------------------------------------------------------------------------------

CHANNELS = {"8": "uint8", "16": "uint16", "16f": "float16", "32f": "float32",
            "u8": "uint8", "u16": "uint16", "f16": "float16", "f32": "float32"}
# Borders by the names of scipy.ndimage, which others have, too.
MODES = {"clamp": "nearest", "mirror": "reflect", "reflect_101": "mirror", "wrap": "wrap"}


def pixel_of(case):
    """(NumPy's type of a channel, channels) of "rgba8", or of "u8" with the channels beside it."""
    name = case.shape.get("pixel", "f32")  # what the blur's card takes where a shape does not say
    if name in CHANNELS:
        return CHANNELS[name], case.shape.get("channels", 4)
    letters = name.rstrip("0123456789f")
    return CHANNELS[name[len(letters):]], len(letters)


def mode_of(case):
    return MODES[case.shape.get("border", "clamp")]


def clamped(case):
    """For those that repeat the border's pixels and cannot do otherwise."""
    if mode_of(case) != "nearest":
        raise NotThisCase


def opencv_border(case):
    import cv2
    known = {"nearest": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT,
             "mirror": cv2.BORDER_REFLECT_101}
    if mode_of(case) not in known:
        raise NotThisCase
    return known[mode_of(case)]


def in_floats(call, src):
    """call(src) of a library without halves, as its callers do: there and back is a part of it."""
    if src.dtype.name != "float16":
        return call(src)
    return call(src.astype("float32")).astype("float16")


# ---- Timing -------------------------------------------------------------------------------------

def wall(call):
    """Seconds on the clock. What the call returns is kept as run.out."""
    def run():
        begin = time.perf_counter()
        out = call()
        seconds = time.perf_counter() - begin
        run.out = out
        return seconds
    return run


def between(begin, end, milliseconds, call):
    """Seconds between two events of a library of CUDA, recorded around the call."""
    def run():
        run.out = None
        begin.record()
        run.out = call()
        end.record()
        end.synchronize()
        return milliseconds(begin, end) * 1e-3
    return run


def cupy_event(call, caller=None):
    """caller: the same from numpy to numpy."""
    import cupy
    run = between(cupy.cuda.Event(), cupy.cuda.Event(), cupy.cuda.get_elapsed_time, call)
    if caller:
        run.caller = wall(caller)
    return run


def torch_event(call):
    import torch
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    return between(begin, end, lambda first, last: first.elapsed_time(last), call)


# ---- Versions -----------------------------------------------------------------------------------

def package(name, more=""):
    def version(threads):
        module = __import__(name)
        return module.__version__ + (more.format(threads=threads) if more else "")
    return version


def cupy_version(threads):
    import cupy
    cupy.cuda.runtime.getDeviceCount()
    return cupy.__version__


def torch_version(threads):
    import torch
    if not torch.cuda.is_available():
        raise NotInstalled("no CUDA device")
    return torch.__version__


numpy_version = package("numpy")


def opencv_version(threads):
    import cv2
    cv2.setNumThreads(threads)
    return f"{cv2.__version__}, {threads} threads"


def umat_version(threads):
    """OpenCV's T-API on an OpenCL device that is the processor."""
    os.environ.setdefault("OPENCV_OPENCL_DEVICE", ":CPU:")  # read by the first call
    import cv2
    cv2.setNumThreads(threads)
    if not cv2.ocl.haveOpenCL() or not cv2.ocl.useOpenCL():
        raise NotInstalled("OpenCV finds no OpenCL device that is a processor")
    return f"{cv2.__version__}, {cv2.ocl.Device.getDefault().name()}"


def umat(call, src):
    """call(the source as a UMat) of OpenCV's T-API, to its end; copies to and from it are not timed."""
    import cv2
    if src.dtype.name == "float16":
        raise NotThisCase
    memory = cv2.UMat(src)

    def to_the_end():
        out = call(memory)
        cv2.ocl.finish()
        return out
    run = wall(to_the_end)
    return run, lambda: {"dst": run.out.get()}


def said_by(command, word):
    if shutil.which(command[0]) is None:
        raise NotInstalled(f"{command[0]} is not installed")
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return next(line for line in text.splitlines() if word in line).strip()


def gcc_version(threads):
    text = said_by([os.environ.get("CXX", "g++"), "--version"], ")")
    return f"g++ {text.split(')')[-1].split()[0]}, {threads} threads"


def nvcc_version(threads):
    return "CUDA " + said_by([nvcc(), "--version"], "release").split("release ")[1].split(",")[0]


# ---- C++ and CUDA -------------------------------------------------------------------------------

def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(found):
        raise NotInstalled("nvcc is not installed")
    return found


def compiled(source, command, work):
    """The shared library of a source; of several processes the first compiles."""
    text = " ".join(command)
    headers = glob.glob(os.path.join(NATIVE, "*.*h*")) + [BC6H_TABLES]
    for path in [os.path.join(NATIVE, source)] + sorted(headers):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    name = f"{source}.{hashlib.sha256(text.encode()).hexdigest()[:12]}.so"
    library = os.path.join(os.environ.get("CLCOOK_PEERS_BIN", work), name)
    if os.path.exists(library):
        return ctypes.CDLL(library)
    library = os.path.join(work, name)
    with open(library + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(library):
            done = subprocess.run(command + ["-o", library + ".new", os.path.join(NATIVE, source)],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines() or ["?"]
                errors = [line for line in lines if "error" in line]
                raise RuntimeError("does not compile: " + (errors or lines)[0])
            os.rename(library + ".new", library)
    return ctypes.CDLL(library)


def cxx_library(source, work):
    return compiled(source + ".cpp", [os.environ.get("CXX", "g++"), "-std=c++17", "-O3",
                                      "-march=native", "-fno-math-errno",
                                      "-fno-trapping-math", "-shared", "-fPIC", "-pthread"], work)


def cuda_library(recipe, work, flags=()):
    target = os.environ.get("CLCOOK_PEERS_ARCH", "native")
    return compiled(recipe + ".cu", [nvcc(), "-std=c++17", "-O3", "-arch=" + target, "-shared",
                                     "-Xcompiler", "-fPIC", *flags], work)


def pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*[one.ctypes.data for one in arrays])


def sizes(arrays):
    return (ctypes.c_size_t * len(arrays))(*[one.nbytes for one in arrays])


def numbers(values):
    return (ctypes.c_double * max(1, len(values)))(*values)


def host_arrays(case):
    import numpy as np
    inputs = [case.array(name, np.uint8) for name in case.inputs]
    outputs = [np.full(case.bytes(name), 0xCD, np.uint8) for name in case.outputs]
    return inputs, outputs


def cpp_loop(case, values=(), source=None):
    """native/SOURCE.cpp, by default the recipe's: compute() on the clock."""
    library = cxx_library(source or case.recipe, case.work)
    inputs, outputs = host_arrays(case)
    arguments = (pointers(inputs), sizes(inputs), pointers(outputs), numbers(values), case.threads)
    library.compute.restype = None

    def call():
        library.compute(*arguments)
        return inputs  # they stay where they are
    return wall(call), lambda: dict(zip(case.outputs, outputs))


def cuda(case, which, values=(), library=None):
    """native/RECIPE.cu: the peer of that number, by CUDA events."""
    library = library or cuda_library(case.recipe, case.work)
    inputs, outputs = host_arrays(case)
    library.make.restype = ctypes.c_char_p
    library.fetch.restype = ctypes.c_char_p
    library.run.restype = ctypes.c_double
    # The peer keeps this pointer until the next case.
    library.problem = numbers(values)
    failed = library.make(which, len(inputs), pointers(inputs), sizes(inputs), len(outputs),
                          sizes(outputs), library.problem)
    if failed:
        if failed == b"not this case":
            raise NotThisCase
        raise RuntimeError(failed.decode())

    def run():
        milliseconds = library.run()
        if milliseconds < 0:
            raise RuntimeError(library.fetch(pointers(outputs)).decode())
        return milliseconds * 1e-3

    def result():
        wrong = library.fetch(pointers(outputs))
        if wrong:
            raise RuntimeError(wrong.decode())
        return dict(zip(case.outputs, outputs))
    return run, result


def npp_libraries():
    """(folder of the headers, libraries) of the package nvidia-npp, or else of nvcc's toolkit."""
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc())))
    for path in [os.path.join(path, "nvidia", "*") for path in sys.path] + [toolkit]:
        for folder in ("lib", "lib64"):
            found = sorted(glob.glob(os.path.join(path, folder, "libnpp*.so.[0-9]*")))
            named = {os.path.basename(one).split(".")[0]: one for one in found}
            if "libnppc" in named:
                root = os.path.dirname(os.path.dirname(named["libnppc"]))
                return os.path.join(root, "include"), named
    raise NotInstalled("neither the package nvidia-npp nor NPP of the CUDA toolkit is installed")


def npp_version(threads):
    """The package's, or that in the name of the toolkit's file."""
    from importlib import metadata
    include, named = npp_libraries()
    if os.path.basename(os.path.dirname(os.path.dirname(include))) == "nvidia":
        for name in ("nvidia-npp", "nvidia-npp-cu13", "nvidia-npp-cu12"):
            try:
                return metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    return os.path.basename(os.path.realpath(named["libnppc"])).split(".so.")[1]


def npp_library(recipe, work):
    """native/npp.cu, linked with what there is of NPP."""
    include, named = npp_libraries()
    folder = os.path.dirname(named["libnppc"])
    flags = ["-I" + include, "-L" + folder, "-Xlinker", "-rpath," + folder]
    for name in ("libnppc", "libnppif", "libnppim"):
        if name in named:
            flags.append("-l:" + os.path.basename(named[name]))
        else:
            flags.append("-DWITHOUT_" + name[3:].upper())
    return cuda_library("npp", work, flags)


def npp(case, which, values=()):
    return cuda(case, which, values, npp_library(case.recipe, case.work))


# ---- The process of a peer ----------------------------------------------------------------------

def first_line(error):
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:160]


def main():
    recipe, name, threads, work = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        load(recipe)
        one = PEERS[name]
        version = one.version(threads)
        if one.build:
            one.build(recipe, work)
        say(version=version)
    except (NotInstalled, ModuleNotFoundError) as error:
        say(missing=first_line(error), installed=False)
        return
    except Exception as error:
        say(missing=first_line(error))
        return
    run = result = case = caller = None
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if "make" in order:
                run = result = case = caller = None
                made = order["make"]
                case = Case(recipe, made["shape"], made["folder"], made["made"], threads, work)
                case.device = made["device"]
                run, result = one.make(case)
                seconds = run()
                if seconds < 1 or case.device == "gpu":  # the first compiles there
                    seconds = run()
                for buffer, values in result().items():
                    values.tofile(os.path.join(order["save"], buffer))
                caller = getattr(run, "caller", None)
                say(seconds=seconds, **({"caller": (caller(), caller())[1]} if caller else {}))
            elif "run" in order:
                say(seconds=[run() for _ in range(order["run"])])
            elif "caller" in order:
                say(seconds=[caller() for _ in range(order["caller"])])
        except NotThisCase:
            say(not_this_case=True)
        except NotTried as error:
            say(not_tried=first_line(error))
        except Exception as error:
            say(error=first_line(error))


if __name__ == "__main__":
    main()
