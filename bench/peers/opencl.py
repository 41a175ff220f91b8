"""What OpenCL implementations answer and take, for conventions.py: through libOpenCL alone, without their caches."""

import contextlib
import ctypes
import functools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
READ_WRITE, USE_HOST, ALLOC_HOST = 1, 8, 16
MAP_READ, MAP_WRITE, MAP_INVALIDATE = 1, 2, 4
OUT_OF_ORDER, PROFILING = 1, 2
RED, RGB, RGBA = 0x10B0, 0x10B4, 0x10B5
UNORM8, UINT8, HALF, FLOAT = 0x10D2, 0x10DA, 0x10DD, 0x10DE
STATUS = {-5: "CL_OUT_OF_RESOURCES", -10: "CL_IMAGE_FORMAT_NOT_SUPPORTED", -11: "does not build", -13: "CL_MISALIGNED_SUB_BUFFER_OFFSET",
          -19: "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", -30: "CL_INVALID_VALUE", -51: "CL_INVALID_ARG_SIZE", -54: "CL_INVALID_WORK_GROUP_SIZE", -59: "CL_INVALID_OPERATION"}  # fmt: skip


class Refused(Exception):
    def __init__(self, code):
        super().__init__(STATUS.get(code, str(code)))


@functools.cache
def library():
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    os.environ["POCL_CACHE_DIR"] = tempfile.mkdtemp()
    return ctypes.CDLL("libOpenCL.so.1")


def words(arguments):
    """Integers take a register or 8 bytes each, whatever the parameter's type."""
    return [ctypes.c_int64(one) if isinstance(one, int) else one for one in arguments]


def call(name, *arguments):
    function = getattr(library(), name)
    function.restype = ctypes.c_int
    code = function(*words(arguments))
    if code:
        raise Refused(code)


def make(name, *arguments):
    function, code = getattr(library(), name), ctypes.c_int()
    function.restype = ctypes.c_void_p
    out = function(*words(arguments), ctypes.byref(code))
    if code.value:
        raise Refused(code.value)
    return out


def status(action):
    """"works", or the name of the error."""
    try:
        action()
    except Refused as refused:
        return str(refused)
    return "works"


def text(name, *arguments):
    size = ctypes.c_size_t()
    call(name, *arguments, 0, None, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value + 1)
    call(name, *arguments, size.value, out, None)
    return out.value.decode()


def number(name, *arguments):
    out = ctypes.c_uint64()
    call(name, *arguments, 8, ctypes.byref(out), None)
    return out.value


def listed(name, *arguments):
    count = ctypes.c_uint()
    try:
        call(name, *arguments, 0, None, ctypes.byref(count))
    except Refused:  # no device, no platform
        return []
    out = (ctypes.c_void_p * count.value)()
    call(name, *arguments, count.value, out, None)
    return list(out)


def devices(kind=0xFFFFFFFF):
    return [(platform, device) for platform in listed("clGetPlatformIDs") for device in listed("clGetDeviceIDs", platform, kind)]


def version_of(part):
    """Platform, driver and device where the driver's version starts like this, and the device; nothing without."""
    try:
        for platform, device in devices():
            driver = text("clGetDeviceInfo", device, 0x102D)
            if driver.startswith(part):
                about = text("clGetPlatformInfo", platform, 0x0901).partition("  ")[0]
                return ", ".join([about, *([] if driver in about else [f"driver {driver}", text("clGetDeviceInfo", device, 0x102B)])]), device
    except OSError:  # no libOpenCL
        pass
    return "", None


class Device:
    def __init__(self, device, context=None):
        self.device = device
        self.context = context or self.new_context()
        self.queue = self.new_queue(PROFILING)
        self.units = self.info(0x1002)

    def new_context(self):
        return make("clCreateContext", None, 1, (ctypes.c_void_p * 1)(self.device), None, None)

    def new_queue(self, properties=0, context=None):
        return make("clCreateCommandQueue", context or self.context, self.device, properties)

    def info(self, key):
        return number("clGetDeviceInfo", self.device, key)

    def program(self, source, options="", context=None):
        given = ctypes.c_char_p(source.encode())
        out = make("clCreateProgramWithSource", context or self.context, 1, ctypes.byref(given), None)
        call("clBuildProgram", out, 1, (ctypes.c_void_p * 1)(self.device), ctypes.c_char_p(options.encode()), None, None)
        return out

    def kernel(self, source, options="", name="k", context=None):
        return make("clCreateKernel", self.program(source, options, context), ctypes.c_char_p(name.encode()))

    def buffer(self, size, flags=READ_WRITE, host=None, context=None):
        return make("clCreateBuffer", context or self.context, flags, size, host)

    def image(self, order, kind, side):
        form = (ctypes.c_uint * 2)(order, kind)
        about = (ctypes.c_uint64 * 9)(0x10F1, side, side)  # an image2d; the rest 0
        return make("clCreateImage", self.context, READ_WRITE, form, about, None)

    def launch(self, kernel, size, local, *arguments, queue=None):
        """Arguments are memory, c_* values, or ("local", bytes). Gives an event."""
        for at, one in enumerate(arguments):
            if isinstance(one, tuple):
                call("clSetKernelArg", kernel, at, one[1], None)
            else:
                value = ctypes.c_void_p(one) if isinstance(one, int) else one
                call("clSetKernelArg", kernel, at, ctypes.sizeof(value), ctypes.byref(value))
        sizes = [size] if isinstance(size, int) else size
        groups = [local] if isinstance(local, int) else local
        event = ctypes.c_void_p()
        call("clEnqueueNDRangeKernel", queue or self.queue, kernel, len(sizes), None, (ctypes.c_size_t * len(sizes))(*sizes),
             groups and (ctypes.c_size_t * len(sizes))(*groups), 0, None, ctypes.byref(event))  # fmt: skip
        return event

    def finish(self, queue=None):
        call("clFinish", queue or self.queue)

    def took(self, event):
        """Its microseconds on the device."""
        call("clWaitForEvents", 1, ctypes.byref(event))
        begin, end = (number("clGetEventProfilingInfo", event, key) for key in (0x1282, 0x1283))
        call("clReleaseEvent", event)
        return (end - begin) / 1000

    def median(self, enqueue, times=7):
        self.took(enqueue())
        return statistics.median(self.took(enqueue()) for _ in range(times))

    def read(self, buffer, kind, count):
        out = (kind * count)()
        call("clEnqueueReadBuffer", self.queue, buffer, 1, 0, ctypes.sizeof(out), out, 0, None, None)
        return list(out)

    def fill(self, buffer, size, pattern=4):
        event = ctypes.c_void_p()
        call("clEnqueueFillBuffer", self.queue, buffer, (ctypes.c_char * pattern)(), pattern, 0, size, 0, None, ctypes.byref(event))
        return event

    def map(self, buffer, flags, size):
        return make("clEnqueueMapBuffer", self.queue, buffer, 1, flags, 0, size, 0, None, None)

    def unmap(self, buffer, pointer):
        call("clEnqueueUnmapMemObject", self.queue, buffer, ctypes.c_void_p(pointer), 0, None, None)
        self.finish()

    def free(self, *memory):
        for one in memory:
            call("clReleaseMemObject", one)


def seconds(action, times=7, before=lambda: None):
    """The median on the clock, after a first time that does not count."""
    found = []
    for _ in range(times + 1):
        before()
        begin = time.perf_counter()
        action()
        found.append(time.perf_counter() - begin)
    return statistics.median(found[1:])


def two_digits(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


# ---- What it answers ----


def names_of_arguments(device):
    source = "__kernel void k(__global int* numbers) { *numbers = 0; }"

    def named(options):
        kernel = device.kernel(source, options)
        return status(lambda: text("clGetKernelArgInfo", kernel, 0, 0x119A)).replace("works", "kept")

    return ", ".join(f"{options or 'none'}: {named(options)}" for options in ("", "-cl-std=CL1.2", "-cl-kernel-arg-info"))


def binaries(device):
    """Sizes of a program's binary: asked after the build, again after a launch, and first after a launch."""

    def size(program):
        return number("clGetProgramInfo", program, 0x1165)

    found, out = [], device.buffer(4096)
    for early in (True, False):
        program = device.program("__kernel void k(__global int* a) { a[get_global_id(0)] = get_local_size(0) + %d; }" % (100_000 + time.time_ns() % 900_000))  # in no cache
        found += [size(program)] if early else []
        kernel = make("clCreateKernel", program, ctypes.c_char_p(b"k"))
        device.took(device.launch(kernel, 64, 64, out))
        found.append(size(program))
    return "{:,}, {:,}, {:,} bytes".format(*found)


def local_sizes(device):
    """What the device chooses where the local size is left open."""
    kernel = device.kernel("__kernel void k(__global int* a) { if (get_global_id(0) + get_global_id(1) == 0) { a[0] = get_local_size(0); a[1] = get_local_size(1); } }")
    out, found = device.buffer(8), []
    for size in ([1000], [1009], [2018], [1 << 20], [1920, 1080], [1919, 1079]):
        device.took(device.launch(kernel, size, None, out))
        chosen = device.read(out, ctypes.c_int, 2)[: len(size)]
        found.append(f"{' x '.join(map(str, size))}: {' x '.join(map(str, chosen))}")
    return ", ".join(found)


def nan_halves(device):
    out, image = device.buffer(2), device.image(RGBA, HALF, 1)
    device.took(device.launch(device.kernel("__kernel void k(__global half* a, float v) { vstore_half(v, 0, a); }"), 1, 1, out, ctypes.c_float(float("nan"))))
    source = "__kernel void k(__write_only image2d_t a, float v) { write_imagef(a, (int2)(0), (float4)(v)); }"
    device.took(device.launch(device.kernel(source, "-cl-std=CL1.2"), 1, 1, image, ctypes.c_float(float("nan"))))
    texel, one, zero = (ctypes.c_uint16 * 4)(), (ctypes.c_size_t * 3)(1, 1, 1), (ctypes.c_size_t * 3)()
    call("clEnqueueReadImage", device.queue, image, 1, zero, one, 0, 0, texel, 0, None, None)
    return f"{device.read(out, ctypes.c_uint16, 1)[0]:#06x}, {texel[0]:#06x}"


def halves(device):
    use = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n__kernel void k(__global half* a) { a[0] = %s; }"
    words = "listed" if "cl_khr_fp16" in text("clGetDeviceInfo", device.device, 0x1030) else "not listed"
    return f"{words}; " + ", ".join(f"{what}: {status(lambda: device.program(use % what))}" for what in ("a[1] * a[2] + a[3]", "fma(a[1], a[2], a[3])", "sqrt(a[1])"))


def sub_buffers(device):
    whole = device.buffer(1 << 16)

    def made(origin):
        region = (ctypes.c_size_t * 2)(origin, 4)
        return status(lambda: make("clCreateSubBuffer", whole, 1, 0x1220, region))

    align = device.info(0x1019) // 8
    return f"multiples of {align} bytes; at 4: {made(4)}, at {align}: {made(align)}"


def of_implementation(device):
    level = device.buffer(4)
    device.took(device.launch(device.kernel("__kernel void k(__global int* a) { *a = __OPENCL_C_VERSION__; }"), 1, 1, level))
    said = text("clGetDeviceInfo", device.device, 0x103D).strip()
    yield "OpenCL C without -cl-std, and as the device says", f"{device.read(level, ctypes.c_int, 1)[0]}, '{said}'"
    yield "names of a kernel's arguments, by options", names_of_arguments(device)
    triple = device.kernel("__kernel void k(__global float* a, float3 v) { *a = v.x; }")
    sizes = {size: status(lambda: call("clSetKernelArg", triple, 1, size, ctypes.create_string_buffer(32))) for size in (12, 16)}
    yield "sizes of a float3 for clSetKernelArg", ", ".join(f"{size}: {answer}" for size, answer in sizes.items())
    yield "a NaN as half: vstore_half, write_imagef", nan_halves(device)
    yield "half, cl_khr_fp16", halves(device)
    yield "an image of CL_RGB and CL_UNSIGNED_INT8", status(lambda: device.image(RGB, UINT8, 4))
    yield "a local size that does not divide the global one", status(lambda: device.launch(triple, 100, 64, level, ctypes.create_string_buffer(16)))
    device.finish()
    yield "local sizes that are left open", local_sizes(device)
    yield "a binary: after the build, after a launch, first asked after a launch", binaries(device)
    yield "origins of sub-buffers", sub_buffers(device)


# ---- What a GPU takes ----

COPY = "__kernel void k(__global const float4* a, __global float4* b) { b[get_global_id(0)] = a[get_global_id(0)]; }"
SET = "__kernel void k(__global float4* b) { b[get_global_id(0)] = (float4)(0); }"
READ = "__kernel void k(__global const float4* a, __global float4* b) { float4 v = a[get_global_id(0)]; if (v.x == 1e30f) b[0] = v; }"
SPIN = "__kernel void k(__global float* a, int n, float f) { float v = *a; for (int i = 0; i < n; ++i) v = fma(v, f, 1.0f); if (v == 3.0f) *a = v; }"
ACCESSES = ("read, nearest", "read, linear", "written")
SIZES = {"64 KiB": 1 << 16, "1 MiB": MIB, "16 MiB": 16 * MIB, "256 MiB": 256 * MIB}


def copies(device):
    """GB/s by kind of memory and direction, for each of SIZES."""
    found, read = {}, device.kernel(READ)
    for size in SIZES.values():
        on = device.buffer(size)
        pinned, host = device.buffer(size, READ_WRITE | ALLOC_HOST), ctypes.create_string_buffer(b"\1" * size, size)
        at = device.map(pinned, MAP_READ | MAP_WRITE, size)
        ctypes.memset(at, 1, size)

        def rate(what, action, before=lambda: None, size=size):
            found.setdefault(what, []).append(size / seconds(action, before=before) / 1e9)

        for name, pointer in (("pageable", host), ("pinned", ctypes.c_void_p(at))):
            rate(f"{name}, up", lambda: call("clEnqueueWriteBuffer", device.queue, on, 1, 0, size, pointer, 0, None, None))
            rate(f"{name}, down", lambda: call("clEnqueueReadBuffer", device.queue, on, 1, 0, size, pointer, 0, None, None))
        device.unmap(pinned, at)
        used = device.buffer(size, READ_WRITE | USE_HOST, host)
        for name, buffer in (("plain", on), ("ALLOC_HOST_PTR", pinned), ("USE_HOST_PTR", used)):
            mapped = []

            def written(buffer=buffer, mapped=mapped):
                mapped[:] = [device.map(buffer, MAP_INVALIDATE, size)]
                ctypes.memset(mapped[0], 1, size)

            def up(buffer=buffer, mapped=mapped):
                device.unmap(buffer, mapped[0])
                device.launch(read, size // 16, 256, buffer, on)
                device.finish()

            def down(buffer=buffer, mapped=mapped):
                mapped[:] = [device.map(buffer, MAP_READ, size)]

            def changed(buffer=buffer, mapped=mapped):
                if mapped:
                    device.unmap(buffer, mapped[0])
                device.took(device.fill(buffer, size))

            rate(f"{name}, mapped, written, unmapped and read by a kernel", up, written)
            mapped.clear()
            rate(f"{name}, mapped to read", down, changed)
            device.unmap(buffer, mapped[0])
        device.free(on, pinned, used)
    for what, rates in found.items():
        yield what, [two_digits(one) for one in rates]


def where_kernels_read(device):
    """Milliseconds of a kernel that reads 256 MiB, first after the host has written them and then again."""
    size, read, out = 256 * MIB, device.kernel(READ), device.buffer(16)
    host, answers = ctypes.create_string_buffer(size), []
    for name, flags, pointer in (("ALLOC_HOST_PTR", ALLOC_HOST, None), ("USE_HOST_PTR", USE_HOST, host)):
        buffer = device.buffer(size, READ_WRITE | flags, pointer)
        for _ in range(2):  # the first pins
            at = device.map(buffer, MAP_INVALIDATE, size)
            ctypes.memset(at, 1, size)
            device.unmap(buffer, at)
            times = []
            for _ in range(2):
                begin = time.perf_counter()
                device.launch(read, size // 16, 256, buffer, out)
                device.finish()
                times.append(1000 * (time.perf_counter() - begin))
        answers.append(f"{name} {times[0]:.2f}, {times[1]:.2f}")
        device.free(buffer)
    return "; ".join(answers)


def fills(device):
    size = 1 << 30
    buffer = device.buffer(size)
    rates = [f"{pattern}: {size / device.median(lambda: device.fill(buffer, size, pattern)) / 1e3:.0f}" for pattern in (1, 4, 16, 64)]
    kernel, copy, other = device.kernel(SET), device.kernel(COPY), device.buffer(size)
    stores = size / device.median(lambda: device.launch(kernel, size // 16, 256, buffer)) / 1e3
    moved = 2 * size / device.median(lambda: device.launch(copy, size // 16, 256, buffer, other)) / 1e3

    def copied():
        event = ctypes.c_void_p()
        call("clEnqueueCopyBuffer", device.queue, buffer, other, 0, 0, size, 0, None, ctypes.byref(event))
        return event

    both = 2 * size / device.median(copied) / 1e3
    device.free(buffer, other)
    return f"{', '.join(rates)}; {stores:.0f}", f"{both:.0f}, {moved:.0f}"


def overlaps(device):
    """The time of commands that could run side by side over that of half of them on one queue: 1 is side by side, 2 is not."""
    some = device.buffer(16 * MIB)
    first, second = device.new_queue(), device.new_queue()
    mixed, apart = device.new_queue(OUT_OF_ORDER), device.new_context()
    third, there = device.new_queue(0, apart), device.buffer(64, context=apart)
    here, elsewhere = device.kernel(SPIN), device.kernel(SPIN, context=apart)
    pinned = device.buffer(128 * MIB, READ_WRITE | ALLOC_HOST)
    large, at = device.buffer(128 * MIB), device.map(pinned, MAP_READ | MAP_WRITE, 128 * MIB)

    def spins(queue, count=8, kernel=here, buffer=some):
        for _ in range(count):
            device.launch(kernel, 32, 32, buffer, ctypes.c_int(200_000), ctypes.c_float(0.5), queue=queue)
        call("clFlush", queue)

    def moves(queue, name, offset=0):
        call(name, queue, large, 0, offset, 64 * MIB, ctypes.c_void_p(at + offset), 0, None, None)
        call("clFlush", queue)

    def wall(*queued):
        def run():
            for one in queued:
                one()
            for queue in (first, second, mixed, third):
                device.finish(queue)

        return seconds(run, 5)

    one, up, down = wall(lambda: spins(first)), "clEnqueueWriteBuffer", "clEnqueueReadBuffer"
    yield "two in-order queues of one context", wall(lambda: spins(first), lambda: spins(second)) / one
    yield "one out-of-order queue", wall(lambda: spins(mixed, 16)) / one
    yield "queues of two contexts", wall(lambda: spins(first), lambda: spins(third, 8, elsewhere, there)) / one
    copy = wall(lambda: moves(first, up))
    yield "an upload and a download, pinned", wall(lambda: moves(first, up), lambda: moves(second, down, 64 * MIB)) / copy
    count = max(1, round(8 * copy / one))
    alone = wall(lambda: spins(second, count))
    yield "an upload and kernels", wall(lambda: moves(first, up), lambda: spins(second, count)) / max(copy, alone)
    device.unmap(pinned, at)


def arithmetic(device):
    """10^12 multiply-adds a second of float and half."""
    found = []
    for kind, sum_of, lanes in (("float", "fma(v[j], x, y)", 1), ("half", "v[j] * x + y", 1), ("half2", "v[j] * x + y", 2)):
        source = """#pragma OPENCL EXTENSION cl_khr_fp16 : enable
            __kernel void k(__global T* a, int n) { T v[16], x = a[16], y = a[17];
              for (int j = 0; j < 16; ++j) v[j] = a[j];
              for (int i = 0; i < n; ++i) { for (int j = 0; j < 16; ++j) v[j] = SUM; }
              for (int j = 1; j < 16; ++j) v[0] = v[0] + v[j];
              a[get_global_id(0) & 7] = v[0]; }"""
        kernel = device.kernel(source.replace("SUM", sum_of).replace("T*", kind + "*").replace("T v", kind + " v"))
        items, steps, some = device.units * 2048 * 8, 1000, device.buffer(4096)
        device.took(device.fill(some, 4096))
        us = device.median(lambda: device.launch(kernel, items, 256, some, ctypes.c_int(steps)))
        found.append(f"{kind} {items * steps * 16 * lanes / us / 1e6:.1f}")
    return ", ".join(found)


def primes(device):
    """How many times as long a copy takes whose local size is left open, for a prime number of work-items."""
    kernel, count = device.kernel("__kernel void k(__global const float* a, __global float* b, int n) { int i = get_global_id(0); if (i < n) b[i] = a[i]; }"), 16_777_259
    a, b = device.buffer(4 * count), device.buffer(4 * count)
    times = [device.median(lambda size=size, local=local: device.launch(kernel, size, local, a, b, ctypes.c_int(count))) for size, local in ((count, None), (-(-count // 256) * 256, 256))]
    device.free(a, b)
    return f"{times[0]:.0f} µs, {times[1]:.0f} µs"


def images(device):
    """10^9 texels a second, by format: for each of ACCESSES."""
    side = 8192
    read = """__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | FILTER;
        __kernel void k(__read_only image2d_t a, __global float* b) { float2 at = (float2)(get_global_id(0) + 0.25f, get_global_id(1) + 0.25f);
          float4 v = read_imagef(a, s, at); if (v.x == 3.0f) b[0] = v.x + v.y + v.z + v.w; }"""
    write = "__kernel void k(__write_only image2d_t a) { write_imagef(a, (int2)(get_global_id(0), get_global_id(1)), (float4)(0.5f)); }"
    out = device.buffer(16)
    for name, order, kind in (("R8", RED, UNORM8), ("RGBA8", RGBA, UNORM8), ("R float", RED, FLOAT), ("RGBA half", RGBA, HALF), ("RGBA float", RGBA, FLOAT)):
        image, rates = device.image(order, kind, side), []
        store = device.kernel(write)
        rates.append(device.median(lambda: device.launch(store, [side, side], [32, 8], image)))
        for way in ("NEAREST", "LINEAR"):
            load = device.kernel(read.replace("FILTER", "CLK_FILTER_" + way))
            rates.append(device.median(lambda load=load: device.launch(load, [side, side], [32, 8], image, out)))
        device.free(image)
        stored, *loaded = (f"{side * side / us / 1e3:.0f}" for us in rates)
        yield name, [*loaded, stored]


def resident(device):
    """The most groups that ran at once in a multiprocessor, by the registers of their kernels and by local memory."""
    source = """__attribute__((reqd_work_group_size(GROUP, 1, 1)))
        __kernel void k(__global uint* now, __global uint* most, __local uint* part, __global float* a) {
          uint unit; float v[LIVE]; const int item = get_local_id(0);
          __asm__ volatile("mov.u32 %0, %%smid;" : "=r"(unit));
          #pragma unroll
          for (int j = 0; j < LIVE; ++j) v[j] = a[item + j];
          if (item == 0) { part[0] = atomic_inc(&now[unit]) + 1; atomic_max(&most[unit], part[0]); }
          barrier(CLK_LOCAL_MEM_FENCE);
          for (int i = 0; i < 20000 / LIVE; ++i) {
            #pragma unroll
            for (int j = 0; j < LIVE; ++j) v[j] = fma(v[j], v[(j + 7) % LIVE], 1.0f);
          }
          barrier(CLK_LOCAL_MEM_FENCE);
          if (item == 0) atomic_dec(&now[unit]);
          float sum = 0;
          #pragma unroll
          for (int j = 0; j < LIVE; ++j) sum += v[j];
          if (sum == 3.0f) a[item] = sum; }"""
    floats, now, most = (device.buffer(size) for size in (8192, 1024, 1024))
    for buffer, size in ((floats, 8192), (now, 1024), (most, 1024)):
        device.took(device.fill(buffer, size))

    def groups(group, live, local, options=""):
        program = device.program(source, f"-cl-nv-verbose -DGROUP={group} -DLIVE={live} {options}")
        used = int(re.search(r"Used (\d+) registers", text("clGetProgramBuildInfo", program, device.device, 0x1183))[1])
        kernel = make("clCreateKernel", program, ctypes.c_char_p(b"k"))
        device.took(device.fill(most, 1024))
        us = device.took(device.launch(kernel, group * device.units * 64, group, now, most, ("local", local), floats))
        return used, max(device.read(most, ctypes.c_uint32, 256)), us

    for group in (32, 64, 128, 256, 512, 1024):
        counted = dict(groups(group, live, 4)[:2] for live in (8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 144, 176, 208) if group * live < 57344)
        yield f"groups of {group}, by registers", ", ".join(f"{used}: {count}" for used, count in counted.items())
    locals_of = (4, 4096, 6144, 8192, 16384, 24576, 32768, 49148)
    yield "groups of 64 of 8 floats in registers, by bytes of local memory", ", ".join(f"{local:,}: {groups(64, 8, local)[1]}" for local in locals_of)
    for options in ("", "-cl-nv-maxrregcount=32", "-cl-nv-maxrregcount=64"):
        used, count, us = groups(256, 100, 4, options)
        yield f"groups of 256 of 100 floats in registers, {options or 'without an option'}", f"{used} registers in the log, {count} groups, {us:.0f} µs"


def clocks(device, length=10):
    """Clock, power and launches in seconds of multiply-adds."""
    query = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw,clocks_event_reasons.active", "--format=csv,noheader,nounits", "-lms", "250"]
    kernel, some, times = device.kernel(SPIN), device.buffer(64), []
    with contextlib.ExitStack() as stack:
        watch = stack.enter_context(subprocess.Popen(query, stdout=subprocess.PIPE, text=True))
        stack.callback(watch.terminate)
        time.sleep(0.6)
        begin = time.perf_counter()
        while time.perf_counter() < begin + length:
            times.append(device.took(device.launch(kernel, device.units * 2048 * 4, 256, some, ctypes.c_int(20_000), ctypes.c_float(0.5))))
        watch.terminate()
        seen = [line.split(", ") for line in watch.stdout.read().splitlines()]
    mhz, watts = ([float(one[at]) for one in seen[2:]] for at in (0, 1))
    return f"{min(mhz):.0f} to {max(mhz):.0f} MHz at {watts[-1]:.0f} W; launches {min(times) / 1000:.2f} to {max(times) / 1000:.2f} ms, after {length} s {times[-1] / 1000:.2f}"


def some_kernels(count, serial):
    """The source of so many kernels, which no cache of the driver has."""
    return "".join(
        f"__kernel void k{at}(__global const float* a, __global float* b, int n) {{ int i = get_global_id(0); float v = {serial * 1000 + at}.0f;"
        " for (int j = 0; j < n; ++j) v = v * a[i + j] + sqrt(a[j]); b[i] = v / a[i]; }\n" for at in range(count))  # fmt: skip


def builds(device):
    """Milliseconds to build a program, by its number of kernels."""
    found, serial = [], 0
    for count in (1, 10, 100, 400):
        times = []
        for _ in range(3 if count < 100 else 1):
            serial += 1
            source = some_kernels(count, serial)
            begin = time.perf_counter()
            device.program(source)
            times.append(1000 * (time.perf_counter() - begin))
        found.append(f"{count}: {statistics.median(times):.0f}")
    return ", ".join(found)


def visible():
    """How many GPUs a process sees, by CUDA_VISIBLE_DEVICES."""
    code = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import opencl; print(len(opencl.devices(4)))"
    found = []
    for value in (None, "0", "1", "", "-1"):
        environment = {**os.environ, **({} if value is None else {"CUDA_VISIBLE_DEVICES": value})}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.append(f"{'not set' if value is None else repr(value)}: {done.stdout.strip()}")
    return ", ".join(found)


def of_gpu(device):
    yield "GPUs, by CUDA_VISIBLE_DEVICES", visible()
    yield "ms to build a program, by its kernels", builds(device)
    yield "ms of a kernel that reads 256 MiB which the host has written, and again", where_kernels_read(device)
    filled, copied = fills(device)
    yield "GB/s of clEnqueueFillBuffer, by bytes of the pattern; of a kernel", filled
    yield "GB/s of clEnqueueCopyBuffer, of a kernel, reads and writes", copied
    for what, ratio in overlaps(device):
        yield f"time of both over that of one, 1 is side by side: {what}", f"{ratio:.2f}"
    yield "10¹² multiply-adds a second", arithmetic(device)
    yield "copy of 16,777,259 floats: local size left open, 256", primes(device)
    yield "10 s of multiply-adds", clocks(device)


# ---- Several GPUs of one host ----


def beside(device):
    """All GPUs of the platform of this one, itself first, each in a context of its own; then all in one context."""
    every = devices(4)
    here = next(platform for platform, one in every if one == device.device)
    found = sorted((one for platform, one in every if platform == here), key=lambda one: one != device.device)
    shared = make("clCreateContext", None, len(found), (ctypes.c_void_p * len(found))(*found), None, None)
    return [device, *map(Device, found[1:])], [Device(one, shared) for one in found]


def pinned_rates(gpus, size=256 * MIB):
    """GB/s of all of these together: up, down, both at once."""
    lanes = []
    for gpu in gpus:
        for name in ("clEnqueueWriteBuffer", "clEnqueueReadBuffer"):
            pinned = gpu.buffer(size, READ_WRITE | ALLOC_HOST)
            at = gpu.map(pinned, MAP_READ | MAP_WRITE, size)
            ctypes.memset(at, 1, size)
            lanes.append((name, gpu, gpu.new_queue(), gpu.buffer(size), pinned, at))
    found = []
    for names in (("clEnqueueWriteBuffer",), ("clEnqueueReadBuffer",), ("clEnqueueWriteBuffer", "clEnqueueReadBuffer")):
        used = [lane for lane in lanes if lane[0] in names]

        def run(used=used):
            for _ in range(4):
                for name, _, queue, on, _, at in used:
                    call(name, queue, on, 0, 0, size, ctypes.c_void_p(at), 0, None, None)
                    call("clFlush", queue)
            for lane in used:
                lane[1].finish(lane[2])

        found.append(4 * len(used) * size / seconds(run, 5) / 1e9)
    for _, gpu, _, on, pinned, at in lanes:
        gpu.unmap(pinned, at)
        gpu.free(on, pinned)
    return ", ".join(f"{one:.0f}" for one in found)


def memory_used():
    """MiB of each GPU's memory that are in use."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return [int(one) for one in subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()]


def by_hand(first, second, sizes):
    """GB/s from a buffer of the first device to one of the second, through pinned memory of the first."""
    found = []
    for size in sizes.values():
        one, other, pinned = first.buffer(size), second.buffer(size), first.buffer(size, READ_WRITE | ALLOC_HOST)
        at = first.map(pinned, MAP_READ | MAP_WRITE, size)
        memory = ctypes.c_void_p(at)
        ctypes.memset(at, 1, size)

        def copy(one=one, other=other, memory=memory, size=size):
            call("clEnqueueReadBuffer", first.queue, one, 1, 0, size, memory, 0, None, None)
            call("clEnqueueWriteBuffer", second.queue, other, 1, 0, size, memory, 0, None, None)

        found.append(two_digits(size / seconds(copy) / 1e9))
        first.unmap(pinned, at)
        first.free(one, pinned)
        second.free(other)
    return ", ".join(found)


def across(apart, shared):
    """From the memory of the first device to that of the second, in one context of both."""
    first, second = shared[:2]
    sizes = {name: size for name, size in SIZES.items() if size >= MIB}
    copied, moved, read = [], [], []
    reads, fills, little = second.kernel(READ), first.kernel(SET), second.buffer(16)
    for size in sizes.values():
        one, other = first.buffer(size), second.buffer(size)

        def written(one=one, size=size):
            first.launch(fills, size // 16, 256, one)
            first.finish()

        def copy(one=one, other=other, size=size):
            call("clEnqueueCopyBuffer", second.queue, one, other, 0, 0, size, 0, None, None)
            second.finish()

        def migrate(one=one):
            call("clEnqueueMigrateMemObjects", second.queue, 1, (ctypes.c_void_p * 1)(one), 0, 0, None, None)
            second.finish()

        def kernel(one=one, size=size):
            second.launch(reads, size // 16, 256, one, little)
            second.finish()

        second.fill(other, size)
        second.finish()
        copied.append(two_digits(size / seconds(copy, before=written) / 1e9))
        moved.append(two_digits(size / seconds(migrate, before=written) / 1e9))
        read.append(f"{two_digits(1000 * seconds(kernel, before=written))}, {two_digits(1000 * seconds(kernel))}")
        first.free(one, other)
    yield f"GB/s of clEnqueueCopyBuffer from one device to the other, by {', '.join(sizes)}", ", ".join(copied)
    yield "GB/s of clEnqueueMigrateMemObjects, the same sizes", ", ".join(moved)
    yield "GB/s of a read to pinned memory and a write from there, in contexts of their own, the same sizes", by_hand(*apart[:2], sizes)
    yield "ms of a kernel that reads what the other device wrote, and again, the same sizes", "; ".join(read)


def where_buffers_are(shared):
    """MiB on each device: of a new buffer of 1 GiB, after the first device wrote it, after the second read it."""
    first, second = shared[:2]
    fills, reads, little = first.kernel(SET), second.kernel(READ), second.buffer(16)
    for gpu in (first, second):
        gpu.launch(fills if gpu is first else reads, 256, 256, *([little] if gpu is first else [little, little]))
        gpu.finish()
    before, found, size = memory_used(), [], 1 << 30
    buffer = first.buffer(size)
    for step in (lambda: None, lambda: first.launch(fills, size // 16, 256, buffer), lambda: second.launch(reads, size // 16, 256, buffer, little)):
        step()
        first.finish()
        second.finish()
        found.append(" and ".join(str(now - then) for now, then in list(zip(memory_used(), before))[:2]))
    first.free(buffer)
    return ", ".join(found)


def spins_at_once(gpus):
    """The time of a kernel on each at once over that on the first alone."""
    ready = [(gpu, gpu.kernel(SPIN), gpu.buffer(64)) for gpu in gpus]

    def wall(some):
        def run():
            for _ in range(8):
                for gpu, kernel, buffer in some:
                    gpu.launch(kernel, gpu.units * 256, 256, buffer, ctypes.c_int(200_000), ctypes.c_float(0.5))
                    call("clFlush", gpu.queue)
            for gpu, *_ in some:
                gpu.finish()

        return seconds(run, 5)

    return wall(ready) / wall(ready[:1])


def builds_for(shared):
    """Milliseconds to build a program of ten kernels in one context: for the first device, for all."""
    found = []
    for which in (shared[:1], shared):
        times = []
        for _ in range(3):
            source = some_kernels(10, time.perf_counter_ns() % 10_007)
            given = ctypes.c_char_p(source.encode())
            program = make("clCreateProgramWithSource", shared[0].context, 1, ctypes.byref(given), None)
            gpus = (ctypes.c_void_p * len(which))(*[one.device for one in which])
            begin = time.perf_counter()
            call("clBuildProgram", program, len(which), gpus, None, None, None)
            times.append(1000 * (time.perf_counter() - begin))
        found.append(statistics.median(times))
    return ", ".join(f"{one:.0f}" for one in found)


def of_several(device):
    """What changes where a host has more than one GPU."""
    apart, shared = beside(device)
    if len(apart) < 2:
        raise RuntimeError("there is one GPU")
    yield "GPUs", str(len(apart))
    yield "GB/s of pinned copies on one: up, down, both at once", pinned_rates(apart[:1])
    yield "GB/s of pinned copies on all together: up, down, both at once", pinned_rates(apart)
    yield "the same in one context of all", pinned_rates(shared)
    yield from across(apart, shared)
    yield "MiB on each of two devices in one context: a new buffer of 1 GiB, written by the first, read by the second", where_buffers_are(shared)
    yield "time of kernels on all over that on one, 1 is side by side: a context each, one context", f"{spins_at_once(apart):.2f}, {spins_at_once(shared):.2f}"
    yield "ms to build a program of ten kernels in one context, for one device and for all", builds_for(shared)
