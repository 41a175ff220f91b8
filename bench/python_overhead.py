#!/usr/bin/env python3
"""What the Python package costs over C++, and what a new sigma costs beside CuPy; writes JSON.

    python3 bench/python_overhead.py --bin build/bin --out bench/results/PREFIX_python.json

FOLDER of --bin holds python_plain (-DCLCOOK_BUILD_TESTS=ON) and clcook_peers
(-DCLCOOK_BUILD_PEERS=ON), which says what commit and device the result is of; the package is the one
that Python finds, to be installed from the same commit.

1. "transfers": clcook.gaussian_blur from numpy to numpy, against the same upload, kernels and read back
   in C++, by Staging (tests/python/plain.cpp), into memory that is new or the same for each call.
2. "call": the host's time of a call of a plan on buffers of pyopencl, less that of the C++ call; the
   calls wait for an event, so that the device does not take the host's cores meanwhile.
3. "sigmas": so many sigmas in a row, each for the first time, from numpy to numpy with the compilation
   they need, against cupyx.scipy.ndimage.gaussian_filter, which compiles a kernel for each sigma. Both
   begin with empty caches on disk, in a new process.
4. "single": one blur of --single from device memory to device memory, sigma by sigma, against CuPy's:
   --rounds calls in a row and one wait, on the host's clock, divided by their number, --repeat times in
   turns. Of floats clcook is told that none is above 1, as in the table of peers.

C++ and Python alternate, --repeat times. Times are in microseconds; lists have the median of each
process, and what stands beside them is the median of these.
"""

import argparse
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

PIXELS = {"u8": "uint8", "u16": "uint16", "f16": "float16", "f32": "float32"}


def clock():
    return time.perf_counter_ns() / 1000


def picture_of(shape, pixel):
    import numpy as np

    random = np.random.default_rng(1)
    dtype = np.dtype(PIXELS[pixel])
    if dtype.kind == "u":
        return random.integers(0, np.iinfo(dtype).max, shape, dtype)
    return random.random(shape, np.float32).astype(dtype)


def transfers(shape, pixel, sigma, rounds):
    import clcook
    import numpy as np

    a = picture_of(shape, pixel)
    same = np.empty_like(a)
    times = {"transfers_new": [], "transfers_same": []}
    for name, out in (("transfers_new", None), ("transfers_same", same)):
        for i in range(-3, rounds):
            begin = clock()
            result = clcook.gaussian_blur(a, sigma, channel_axis=-1, out=out)
            if out is None:
                del result  # the C++ program frees it, too
            end = clock()
            if i >= 0:
                times[name].append(end - begin)
    return times


class OnBuffers:
    """Buffers of pyopencl with a picture, and plans for them."""

    def __init__(self, shape, pixel):
        import pyopencl as cl

        context = cl.create_some_context(interactive=False)
        self.queue = cl.CommandQueue(context)
        self.height, self.width, self.channels = shape
        self.pixel = pixel
        a = picture_of(shape, pixel)
        flags = cl.mem_flags
        self.src = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=a)
        self.dst = cl.Buffer(context, flags.READ_WRITE, a.nbytes)

    def plan(self, sigma, **more):
        import clcook

        return clcook.GaussianBlur(
            self.queue,
            width=self.width,
            height=self.height,
            pixel=f"{'rgba'[:self.channels]}{self.pixel[1:]}{'f' if self.pixel[0] == 'f' else ''}",
            sigma_x=sigma,
            sigma_y=sigma,
            **more,
        )


def calls(shape, pixel, sigma, rounds):
    import pyopencl as cl

    on = OnBuffers(shape, pixel)
    plan = on.plan(sigma)
    times = []
    # Twenty calls at a time wait for one event, so that nothing else runs while the host is timed.
    for _ in range(-1, rounds // 20):
        gate = cl.UserEvent(on.queue.context)
        wait = [gate]
        for _ in range(20):
            begin = clock()
            done = plan(on.src, on.dst, wait)
            end = clock()
            times.append(end - begin)
        gate.set_status(cl.command_execution_status.COMPLETE)
        on.queue.finish()
    del times[:20], done
    return {"call": times, "device": on.queue.device.name, "variant": plan.variant}


def sigmas(who, shape, pixel, count):
    a = picture_of(shape, pixel)
    begin = clock()
    if who == "clcook":
        import clcook

        blur = lambda sigma: clcook.gaussian_blur(a, sigma, channel_axis=-1)
        about = lambda: {"device": clcook.device()}
    else:
        import cupy
        from cupyx.scipy.ndimage import gaussian_filter as of

        blur = lambda sigma: cupy.asnumpy(of(cupy.asarray(a), (sigma, sigma, 0), mode="nearest", truncate=4))
        name = lambda: cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        about = lambda: {"device": name(), "version": cupy.__version__}
    imported = clock()
    for i in range(count):
        blur(2 + 10 * i / count)
    return {"import": imported - begin, "total": clock() - imported, **about()}


SINGLE_SIGMAS = (2, 8, 32)


def single(who, shape, pixel, rounds):
    if who == "clcook":
        on = OnBuffers(shape, pixel)
        known = {"peak": 1} if pixel in ("f16", "f32") else {}
        plans = [on.plan(sigma, **known) for sigma in SINGLE_SIGMAS]
        calls = [lambda plan=plan: plan(on.src, on.dst) for plan in plans]
        out = [{"variant": plan.variant} for plan in plans]
        wait = on.queue.finish
    else:
        import cupy
        from cupyx.scipy.ndimage import gaussian_filter as of

        src = cupy.asarray(picture_of(shape, pixel))
        dst = cupy.empty_like(src)
        wide = [(sigma, sigma, 0) for sigma in SINGLE_SIGMAS]
        calls = [lambda s=s: of(src, s, output=dst, mode="nearest", truncate=4) for s in wide]
        out = [{} for _ in wide]
        wait = cupy.cuda.get_current_stream().synchronize
    for call, row in zip(calls, out):
        for count in (10, rounds):  # some that compile and warm up come first
            begin = clock()
            for _ in range(count):
                call()
            wait()
            row["us"] = (clock() - begin) / count
    return out


def in_new_process(name, *arguments, fresh=False):
    """Runs a function of this file; with empty caches on disk where `fresh`. None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        caches = ("CLCOOK_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH", "CUPY_CACHE_DIR", "XDG_CACHE_HOME")
        environment = {**os.environ, **{one: os.path.join(folder, one) for one in caches if fresh}}
        line = [sys.executable, __file__, "--job", name, json.dumps(arguments)]
        done = subprocess.run(line, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        print(f"{name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def single_rows(shape, pixel, rounds, repeat):
    """A row per sigma: medians over processes, and how many times longer CuPy takes."""
    runs = {"clcook": [], "cupy": []}
    for _ in range(repeat):
        for who, these in runs.items():
            these.append(in_new_process("single", who, shape, pixel, rounds))
            if these[-1] is None:
                return None
    rows = []
    for i, sigma in enumerate(SINGLE_SIGMAS):
        row = {"sigma": sigma, "variant": runs["clcook"][0][i]["variant"]}
        for who, these in runs.items():
            row[f"{who}_runs"] = [run[i]["us"] for run in these]
            row[f"{who}_us"] = statistics.median(row[f"{who}_runs"])
        row["ratio"] = row["cupy_us"] / row["clcook_us"]
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bin", default="build/bin", help="the folder of the C++ programs")
    parser.add_argument("--out", help="the file to write; else standard output")
    parser.add_argument("--size", default="1920x1080x4", help="width x height x channels")
    parser.add_argument("--pixel", default="f32", choices=PIXELS)
    parser.add_argument("--sigma", type=float, default=12)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=5, help="how often C++ and Python alternate")
    parser.add_argument("--sigmas", type=int, default=100)
    parser.add_argument("--single", default="3840x2160x4", help="the picture of the single blur")
    parser.add_argument("--no-cupy", action="store_true")
    parser.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        name, values = arguments.job
        print(json.dumps(globals()[name](*json.loads(values))))
        return
    width, height, channels = map(int, arguments.size.split("x"))
    shape, pixel, sigma, rounds = (height, width, channels), arguments.pixel, arguments.sigma, arguments.rounds

    def program(*line, **more):
        line = [os.path.join(arguments.bin, line[0]), *map(str, line[1:])]
        return json.loads(subprocess.run(line, capture_output=True, text=True, check=True, **more).stdout)

    result = program("clcook_peers", input="head\n")
    result["kind"] = "python"
    result["command"] = shlex.join(["bench/python_overhead.py", *sys.argv[1:]])
    result["python"] = platform.python_version()
    result["shape"] = {"width": width, "height": height, "channels": channels, "pixel": pixel}
    result["sigma"] = sigma

    names = ("transfers_new", "transfers_same", "call")
    runs = {name: {"cpp": [], "python": []} for name in names}
    for _ in range(arguments.repeat):
        line = ("python_plain", "time", width, height, channels, pixel, sigma, rounds)
        both = {"cpp": program(*line), "python": {}}
        for job, count in (("transfers", rounds), ("calls", 20 * rounds)):
            run = in_new_process(job, shape, pixel, sigma, count)
            if run is None:
                raise SystemExit(f"{job} failed")
            both["python"].update(run)
        for who, samples in both.items():
            for name in names:
                runs[name][who].append(statistics.median(samples[name]))
    for name in names:
        c, p = (statistics.median(runs[name][who]) for who in ("cpp", "python"))
        result[name] = {"cpp_us": c, "python_us": p, "ratio": p / c, "more_us": p - c, "runs": runs[name]}
        print(f"{name}: C++ {c:.2f} us, Python {p:.2f} us, {p / c:.3f} times, {p - c:.2f} us more", flush=True)

    row = result["sigmas"] = {"count": arguments.sigmas}
    for who in ("clcook",) if arguments.no_cupy else ("clcook", "cupy"):
        row[who] = in_new_process("sigmas", who, shape, pixel, arguments.sigmas, fresh=True)
    if row.get("cupy") and row["clcook"]:
        row["ratio"] = row["cupy"]["total"] / row["clcook"]["total"]
    print(f"sigmas: {json.dumps(row)}", flush=True)

    if not arguments.no_cupy:
        width, height, channels = map(int, arguments.single.split("x"))
        result["single"] = single_rows((height, width, channels), pixel, rounds, arguments.repeat)
        for row in result["single"] or []:
            print(
                f"single, sigma {row['sigma']}: {row['clcook_us']:.0f} us, CuPy {row['cupy_us']:.0f} us,"
                f" {row['ratio']:.1f} times as long"
            )
    text = json.dumps(result, indent=1) + "\n"
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
