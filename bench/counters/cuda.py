"""Runs recorded calls through NVIDIA's CUDA driver, which its profiler can look into."""

import collections
import ctypes
import json
import mmap
from ctypes import byref, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path

import ptx
from ptx import Refused

USUAL_SHARED = 48 << 10
MOST_GROUPS = (0x7FFFFFFF, 65535, 65535)
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
ERROR_LOG, ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER and its size

memcmp = ctypes.CDLL(None).memcmp
memcmp.argtypes = [c_void_p, c_void_p, c_size_t]


class Ended(Exception):
    """A kernel that the driver ended: nothing runs after it."""


class Driver:
    """The functions of libcuda.so.1, which comes with NVIDIA's driver. Numbers are passed as the C types they have."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Refused(f"CUDA: {error}") from None

    def result(self, name, *arguments):
        try:
            return getattr(self.library, name)(*arguments)
        except AttributeError:
            raise Refused(f"CUDA: libcuda.so.1 has no {name}") from None

    def name_of(self, result):
        name = c_char_p()
        known = self.result("cuGetErrorName", result, byref(name)) == 0 and name.value
        return f"{name.value.decode() if known else 'an unknown error'} ({result})"

    def __call__(self, name, *arguments, where=None):
        result = self.result(name, *arguments)
        if result:
            raise Refused(f"{where or name.removesuffix('_v2')}: {self.name_of(result)}")


def file_of(path, size):
    """A file's bytes, without reading those that nobody asks for."""
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    if len(memory) != size:
        raise Refused(f"{path.name}: has {len(memory)} bytes, not {size}")
    return (c_char * size).from_buffer(memory)


def fill_of(content):
    """The byte that a content is all over; None: it is a file."""
    return int(content[5:]) if content.startswith("fill ") else None


def worth_profiling(recording):
    """Launches of a call that are worth profiling, and how many of the call each stands for: of those with equal
    kernels, sizes and arguments the first and the last one."""
    groups = collections.defaultdict(list)
    for i, launch in enumerate(recording["launches"]):
        groups[json.dumps(launch)].append(i)
    times = {at: len(same) / len({same[0], same[-1]}) for same in groups.values() for at in (same[0], same[-1])}
    return dict(sorted(times.items()))


def read_recording(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


def difference(buffer, found, wanted):
    """How what was found in a buffer differs from what it held under OpenCL."""
    size = len(found)
    if memcmp(found, wanted, size) == 0:
        return ""
    count, first = 0, None
    for at in range(0, size, 1 << 20):
        one, other = found[at : at + (1 << 20)], wanted[at : at + (1 << 20)]
        both = (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).to_bytes(len(one), "little")
        count += len(both) - both.count(0)
        if first is None and count:
            first = at + len(both) - len(both.lstrip(b"\0"))
    return (
        f"another result than under OpenCL: {count} of {size} bytes of buffer {buffer}, the first is byte {first}, "
        f"{found[first][0]} instead of {wanted[first][0]}"
    )


class Memory:
    """Device memory, which later calls use again."""

    def __init__(self, pointer, size):
        self.pointer, self.size = pointer, size
        self.content = None  # None: anything
        self.taken = False


class Replay:
    """The calls of one folder. What it allocates ends with the process."""

    def __init__(self, folder):
        self.folder = folder
        self.cuda = Driver()
        self.context = c_void_p()
        self.all_memory, self.kernels, self.modules = [], {}, {}

    def run(self, name):
        """What differs; empty: nothing. Raises Refused for what cannot be run, Ended."""
        recording = read_recording(self.folder, name)
        self.open(recording["device"])
        for one in self.all_memory:
            one.taken = False
        buffers = [self.holding(one["before"], one["bytes"]) for one in recording["buffers"]]
        shown = worth_profiling(recording)
        for i, launch in enumerate(recording["launches"]):
            self.launch(launch, buffers, i in shown)
        for i, one in enumerate(recording["buffers"]):
            found = (c_char * one["bytes"])()
            self.cuda("cuMemcpyDtoH_v2", found, buffers[i].pointer, c_size_t(len(found)))
            if different := difference(i, found, self.content(one["after"], len(found))):
                return different
            buffers[i].content = one["after"]
        return ""

    def content(self, content, size):
        fill = fill_of(content)
        if fill is None:
            return file_of(self.folder / content, size)
        out = (c_char * size)()
        ctypes.memset(out, fill, size)
        return out

    def open(self, address):
        if self.context:
            return
        self.cuda("cuInit", c_uint(0))
        device, count = c_int(0), c_int(0)
        if not address or self.cuda.result("cuDeviceGetByPCIBusId", byref(device), address.encode()):
            self.cuda("cuDeviceGetCount", byref(count))
            if count.value != 1:
                raise Refused(f"CUDA: has {count.value} devices, none of which has the address '{address}'")
            self.cuda("cuDeviceGet", byref(device), c_int(0))
        self.cuda("cuDevicePrimaryCtxRetain", byref(self.context), device)
        self.cuda("cuCtxSetCurrent", self.context)

    def holding(self, content, size):
        """Memory with this content."""
        free = [one for one in self.all_memory if not one.taken and one.size == size]
        mine = next((one for one in free if one.content == content), free[0] if free else None)
        if mine is None:
            pointer = c_uint64()
            self.cuda("cuMemAlloc_v2", byref(pointer), c_size_t(size), where=f"cuMemAlloc of {size} bytes")
            mine = Memory(pointer, size)
            self.all_memory.append(mine)
        mine.taken = True
        fill = fill_of(content)
        if mine.content != content and fill is not None:
            self.cuda("cuMemsetD8_v2", mine.pointer, ctypes.c_ubyte(fill), c_size_t(size))
        elif mine.content != content:
            self.cuda("cuMemcpyHtoD_v2", mine.pointer, file_of(self.folder / content, size), c_size_t(size))
        mine.content = None  # kernels write to it
        return mine

    def launch(self, one, buffers, shown):
        """`shown`: to the profiler."""
        grid = [size // local for size, local in zip(one["global"], one["local"])]
        for d, (groups, most) in enumerate(zip(grid, MOST_GROUPS)):
            if groups > most:
                raise Refused(f"CUDA: launches at most {most} groups in dimension {d}, not {groups}")
        kernel, module = self.kernel_of(one)
        function = c_void_p()
        self.cuda("cuModuleGetFunction", byref(function), module, one["kernel"].encode())
        if kernel.shared_bytes > USUAL_SHARED:
            self.cuda("cuFuncSetAttribute", function, c_int(MAX_DYNAMIC_SHARED), c_int(kernel.shared_bytes),
                      where=f"cuFuncSetAttribute to {kernel.shared_bytes} bytes of shared memory")
        values = [self.value_of(i, argument, kernel, module, buffers) for i, argument in enumerate(one["arguments"])]
        pointers = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self.cuda("cuCtxSynchronize")
        if shown:
            self.cuda("cuProfilerStart")
        sizes = [c_uint(size) for size in (*grid, *one["local"], kernel.shared_bytes)]
        self.cuda("cuLaunchKernel", function, *sizes, None, pointers, None, where=f"cuLaunchKernel of {one['kernel']}")
        if result := self.cuda.result("cuCtxSynchronize"):
            raise Ended(f"the driver ended {one['kernel']}: {self.cuda.name_of(result)}")
        if shown:
            self.cuda("cuProfilerStop")

    def kernel_of(self, launch):
        """The changed text and its module, which launches with equal needs share."""
        needs = [ptx.Need(one.get("local", one.get("bytes", 0)), "local" in one) for one in launch["arguments"]]
        key = (launch["program"], launch["kernel"], str(needs))
        if key not in self.kernels:
            binary = (self.folder / launch["program"]).read_bytes().decode("latin-1")
            kernel = ptx.cuda_kernel(binary, launch["kernel"], needs)
            self.kernels[key] = kernel, self.module_of(kernel.text)
        return self.kernels[key]

    def module_of(self, text):
        if text not in self.modules:
            module, log = c_void_p(), ctypes.create_string_buffer(8192)
            options = (c_int * 2)(ERROR_LOG, ERROR_LOG_BYTES)
            values = (c_void_p * 2)(ctypes.addressof(log), len(log))
            result = self.cuda.result("cuModuleLoadDataEx", byref(module), text.encode("latin-1"), c_uint(2), options, values)
            if result:
                said = log.value.decode(errors="replace").replace("\n", " ")
                raise Refused(f"its PTX does not load: {said}cuModuleLoadDataEx: {self.cuda.name_of(result)}")
            self.modules[text] = module
        return self.modules[text]

    def value_of(self, i, argument, kernel, module, buffers):
        """The bytes of a parameter."""
        parameter = kernel.parameters[i]

        def wrong(what):
            to = f" to {parameter.space}" if parameter.space else ""
            raise Refused(f"CUDA: argument {i} is {what}, its parameter is one of {parameter.bytes} bytes{to}"
                          + (" memory" if to else ""))

        value = (c_char * parameter.bytes)()
        if "value" in argument:
            given = bytes.fromhex(argument["value"])
            if parameter.space or len(given) != parameter.bytes:
                wrong("a value")
            value.raw = given
        elif "buffer" in argument:
            pointer = c_uint64(buffers[argument["buffer"]].pointer.value + argument["offset"])
            if parameter.space == "const":
                constants, size = c_uint64(), c_size_t()
                self.cuda("cuModuleGetGlobal_v2", byref(constants), byref(size), module, ptx.CONSTANTS.encode())
                content = (c_char * argument["bytes"])()
                self.cuda("cuMemcpyDtoH_v2", content, pointer, c_size_t(len(content)))
                to = c_uint64(constants.value + kernel.constants[i])
                self.cuda("cuMemcpyHtoD_v2", to, content, c_size_t(len(content)))
            elif parameter.bytes != 8 or parameter.space == "shared":
                wrong("a buffer")
            else:
                return pointer
        return value


def replay(folder, names):
    """Runs calls that were recorded in a folder, one after the other, each from the contents that OpenCL had before it,
    and compares what it leaves, bit for bit, with what OpenCL had after it. Leaves FOLDER/NAME.verdict for each: empty
    where all is alike, else what is not. After a kernel that the driver ended there are no more verdicts."""
    folder = Path(folder)
    calls = None
    for name in names:
        verdict = folder / f"{name}.verdict"
        try:
            calls = calls or Replay(folder)
            verdict.write_text(calls.run(name))
        except Ended as ended:
            verdict.write_text(str(ended))
            return
        except (Refused, OSError, ValueError) as error:
            verdict.write_text(str(error))
