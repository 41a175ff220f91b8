#!/usr/bin/env python3
"""clcook's Gaussian blur beside its peers: OpenCV (CPU and UMat), SciPy, CuPy, torchvision.

usage: gaussian_blur.py CLCOOK_PEERS RESULT.json [--size 3840x2160] [--rounds 15] [--threads N]
                        [--only 'WHO;...'] [--quick] [--budget SECONDS] [--slowest SECONDS]

--only takes whole names, as the result shows them, split by ';': --only 'OpenCV, CPU;SciPy'.

CLCOOK_PEERS is the program clcook_peers_gaussian_blur (cmake -DCLCOOK_BUILD_PEERS=ON). A peer that
is not installed is left out, visibly. All blur the same picture with the same taps and, but for
torchvision, the same border (the nearest pixel inside); torchvision mirrors, so it is compared
where the border is out of reach. Each result is compared with the exact filter in double before
anything is timed. Rounds of all alternate. GPU work is timed by events, CPU work and UMat by the
wall clock.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def weights(sigma, truncate):
    radius = int(np.floor(truncate * sigma + 0.5))
    k = np.arange(-radius, radius + 1)
    w = np.exp(-0.5 * (k / sigma) ** 2)
    return w / w.sum()


def make_picture(width, height, kind, seed=1):
    """Blocks of 64 and of 7 pixels, and noise: of noise alone every blur is nearly flat."""
    random = np.random.default_rng(seed)

    def blocks(side):
        small = random.random(((height + side - 1) // side, (width + side - 1) // side, 4))
        return np.repeat(np.repeat(small, side, 0), side, 1)[:height, :width]

    picture = 0.5 * blocks(64) + 0.3 * blocks(7) + 0.2 * random.random((height, width, 4))
    if kind == "u8":
        return np.ascontiguousarray(np.rint(255 * picture).astype(np.uint8))
    return np.ascontiguousarray(picture.astype(np.float32))


def exact_rows(picture, w, rows):
    """These rows of the exact filter, in double; the nearest pixel inside beyond the border."""
    height, width, _ = picture.shape
    radius = len(w) // 2
    columns = np.clip(np.arange(-radius, width + radius), 0, width - 1)
    out = []
    for y in rows:
        window = picture[np.clip(np.arange(y - radius, y + radius + 1), 0, height - 1)]
        line = np.tensordot(w, window.astype(np.float64), axes=(0, 0))[columns]
        views = np.lib.stride_tricks.sliding_window_view(line, len(w), axis=0)
        out.append(views @ w)
    return np.stack(out)


class Clcook:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.folder = tempfile.mkdtemp()
        self.device = self.ask("device").split("|")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer.startswith("error") or not answer:
            raise RuntimeError(f"clcook: {line}: {answer}")
        return answer

    def prepare(self, picture, sigma, truncate, quality):
        height, width, _ = picture.shape
        self.shape, self.type = picture.shape, picture.dtype
        path = os.path.join(self.folder, "in")
        picture.tofile(path)
        pixel = "u8" if picture.dtype == np.uint8 else "f32"
        return self.ask(f"plan {width} {height} {sigma} {truncate} {pixel} {quality} 1 automatic "
                        f"{path}").split()[1]

    def run(self):
        return float(self.ask("run")) * 1e-6

    def result(self):
        path = os.path.join(self.folder, "out")
        self.ask(f"save {path}")
        return np.fromfile(path, self.type).reshape(self.shape)


def peers(threads):
    """Name, version, and a function of (picture, sigma, truncate) that gives (run, result)."""
    out = {}

    def wall(call):
        def run():
            begin = time.perf_counter()
            call()
            return time.perf_counter() - begin
        return run

    try:
        import cv2
        cv2.setNumThreads(threads)

        def opencv(picture, sigma, truncate):
            size = 2 * int(np.floor(truncate * sigma + 0.5)) + 1
            box = {}

            def call():
                box["out"] = cv2.GaussianBlur(picture, (size, size), sigma, sigmaY=sigma,
                                              borderType=cv2.BORDER_REPLICATE)
            return wall(call), lambda: box["out"]

        out["OpenCV, CPU"] = (f"{cv2.__version__}, {threads} threads", opencv)

        def shrink(picture, sigma, truncate):
            factor = 1
            while sigma / (2 * factor) >= 4:
                factor *= 2
            height, width, _ = picture.shape
            small = (max(1, width // factor), max(1, height // factor))
            rest = (sigma * sigma - (factor * factor - 1) / 12) ** 0.5 / factor
            box = {}

            def call():
                less = cv2.resize(picture, small, interpolation=cv2.INTER_AREA)
                less = cv2.GaussianBlur(less, (0, 0), rest, borderType=cv2.BORDER_REPLICATE)
                box["out"] = cv2.resize(less, (width, height), interpolation=cv2.INTER_LINEAR)
            return wall(call), lambda: box["out"]

        out["OpenCV, CPU, shrink-blur-enlarge"] = (f"{cv2.__version__}, {threads} threads", shrink)
        cv2.ocl.setUseOpenCL(True)
        if cv2.ocl.haveOpenCL() and cv2.ocl.useOpenCL():
            def umat(picture, sigma, truncate):
                size = 2 * int(np.floor(truncate * sigma + 0.5)) + 1
                source = cv2.UMat(picture)
                box = {}

                def call():
                    box["out"] = cv2.GaussianBlur(source, (size, size), sigma, sigmaY=sigma,
                                                  borderType=cv2.BORDER_REPLICATE)
                    cv2.ocl.finish()
                return wall(call), lambda: box["out"].get()

            name = getattr(cv2.ocl.Device.getDefault(), "name", lambda: "")()
            out["OpenCV, UMat"] = (f"{cv2.__version__}, {name}", umat)
        else:
            print("left out: OpenCV, UMat (no OpenCL)", file=sys.stderr)
    except ImportError as error:
        print(f"left out: OpenCV ({error})", file=sys.stderr)
    try:
        import scipy
        import scipy.ndimage

        def ndimage(picture, sigma, truncate):
            box = {}

            def call():
                box["out"] = scipy.ndimage.gaussian_filter(picture, (sigma, sigma, 0),
                                                           mode="nearest", truncate=truncate)
            return wall(call), lambda: box["out"]

        out["SciPy"] = (scipy.__version__, ndimage)
    except ImportError as error:
        print(f"left out: SciPy ({error})", file=sys.stderr)
    try:
        import cupy
        import cupyx.scipy.ndimage

        def on_gpu(picture, sigma, truncate):
            source = cupy.asarray(picture)
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            box = {}

            def run():
                begin.record()
                box["out"] = cupyx.scipy.ndimage.gaussian_filter(source, (sigma, sigma, 0),
                                                                 mode="nearest", truncate=truncate)
                end.record()
                end.synchronize()
                return cupy.cuda.get_elapsed_time(begin, end) * 1e-3
            return run, lambda: cupy.asnumpy(box["out"])

        cupy.cuda.runtime.getDeviceCount()
        out["CuPy"] = (cupy.__version__, on_gpu)
    except Exception as error:  # no module, or no device
        print(f"left out: CuPy ({error})", file=sys.stderr)
    try:
        import torch
        import torchvision
        from torchvision.transforms.v2 import functional

        if not torch.cuda.is_available():
            raise RuntimeError("no CUDA device")

        def vision(picture, sigma, truncate):
            size = 2 * int(np.floor(truncate * sigma + 0.5)) + 1
            source = torch.from_numpy(picture).cuda().permute(2, 0, 1).contiguous()
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            box = {}

            def run():
                begin.record()
                box["out"] = functional.gaussian_blur(source, [size, size], [sigma, sigma])
                end.record()
                end.synchronize()
                return begin.elapsed_time(end) * 1e-3
            return run, lambda: box["out"].permute(1, 2, 0).cpu().numpy()

        out["torchvision"] = (f"{torchvision.__version__}, PyTorch {torch.__version__}", vision)
    except Exception as error:
        print(f"left out: torchvision ({error})", file=sys.stderr)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("result")
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="only these peers, split by ';'")
    parser.add_argument("--quick", action="store_true", help="a small picture, three rounds")
    parser.add_argument("--budget", type=float, default=2.0,
                        help="seconds per peer and case; the slow get fewer rounds")
    parser.add_argument("--slowest", type=float, default=60.0,
                        help="a peer whose first run takes more seconds is left out")
    arguments = parser.parse_args()
    width, height = (int(word) for word in arguments.size.split("x"))
    rounds = arguments.rounds
    if arguments.quick:
        width, height, rounds = 161, 119, 3

    cases = [(kind, sigma, 2.0, quality) for kind in ("f32", "u8") for sigma, quality in
             ((2.0, 85 if kind == "f32" else 60), (8.0, 85 if kind == "f32" else 60),
              (32.0, 85 if kind == "f32" else 60))]
    cases += [(kind, sigma, 4.0, 70 if kind == "f32" else 60) for kind in ("f32", "u8")
              for sigma in (32.0, 200.0)]
    ours = Clcook(arguments.program)
    others = peers(arguments.threads)
    wanted = [word for word in arguments.only.split(";") if word]
    if wanted:
        others = {name: peer for name, peer in others.items() if name in wanted}
    rows = []
    for kind, sigma, truncate, quality in cases:
        picture = make_picture(width, height, kind)
        w = weights(sigma, truncate)
        radius = len(w) // 2
        case = (f"{width} x {height} RGBA {'float' if kind == 'f32' else '8-bit'}, "
                f"sigma {sigma:g}, {len(w)} taps")
        lines = sorted(set(np.linspace(0, height - 1, 24).astype(int)))
        exact = exact_rows(picture, w, lines)
        peak = 1.0 if kind == "f32" else 255.0
        if kind == "u8":
            exact = np.rint(exact)

        def agreement(result, name):
            inside = slice(None)
            chosen = range(len(lines))
            if name == "torchvision":
                inside = slice(radius, width - radius)
                chosen = [i for i, y in enumerate(lines) if radius <= y < height - radius]
                if not chosen or width <= 2 * radius:
                    return None
            chosen = list(chosen)
            off = (result[[lines[i] for i in chosen]].astype(np.float64) - exact[chosen])[:, inside]
            mean = float((off ** 2).mean())
            psnr = None if mean == 0 else float(10 * np.log10(peak * peak / mean))
            return float(np.abs(off).max()), psnr

        entries = []
        method = ours.prepare(picture, sigma, truncate, quality)
        ours.run()
        same = agreement(ours.result(), "clcook")
        if same[0] > (2e-3 if kind == "f32" else 2 / 255) * peak:
            raise RuntimeError(f"{case}: clcook is off by {same[0]}")
        entries.append((f"clcook ({method})", "", ours.run, same))
        for name, (version, make) in others.items():
            if "shrink" in name and truncate < 4:
                continue
            try:
                run, result = make(picture, sigma, truncate)
                begin = time.perf_counter()
                run()
                first = time.perf_counter() - begin
                same = agreement(result(), name)
            except Exception as error:
                rows.append({"case": case, "who": name, "version": version,
                             "skipped": str(error).splitlines()[0][:120]})
                print(f"{case}: {name} left out: {error}", file=sys.stderr)
                continue
            if same is None:
                rows.append({"case": case, "who": name, "version": version,
                             "skipped": "its border reaches everywhere"})
                continue
            # A peer that computes something else would be a comparison with nothing.
            limit = 0.1 if "shrink" in name else 2e-3 if kind == "f32" else 2 / 255
            if same[0] > limit * peak:
                rows.append({"case": case, "who": name, "version": version,
                             "skipped": f"off by {same[0] / peak:.2g} of the peak"})
                continue
            if first > arguments.slowest:
                rows.append({"case": case, "who": name, "version": version,
                             "skipped": f"the first run took {first:.0f} s"})
                continue
            entries.append((name, version, run, same))
        seconds = [[] for _ in entries]
        spent = [0.0 for _ in entries]
        for _ in range(rounds):
            for i, (_, _, run, _) in enumerate(entries):
                enough = 1 if spent[i] > 5 * arguments.budget else 2
                if spent[i] > arguments.budget and len(seconds[i]) >= enough:
                    continue
                begin = time.perf_counter()
                seconds[i].append(run())
                spent[i] += time.perf_counter() - begin
        for (name, version, _, same), samples in zip(entries, seconds):
            rows.append({"case": case, "who": name, "version": version, "seconds": samples,
                         "max_error": same[0], "psnr": same[1]})
            psnr = "exact" if same[1] is None else f"{same[1]:.1f} dB"
            print(f"{case:55} {name:34} {1e6 * float(np.median(samples)):12.1f} us  {psnr}",
                  flush=True)
    changes = []
    ours.prepare(make_picture(width, height, "f32"), 32.0, 2.0, 60)
    for i in range(20):
        changes.append(float(ours.ask(f"sigma {20 + i}")))
    result = {
        "format": 1, "kind": "peers", "recipe": "gaussian_blur",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": dict(zip(("name", "platform", "driver"), ours.device)),
        "threads": arguments.threads, "set_sigma_us": float(np.median(changes)), "rows": rows,
    }
    temporary = arguments.result + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(temporary, arguments.result)


if __name__ == "__main__":
    main()
