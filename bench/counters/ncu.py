"""NVIDIA's profiler: which metrics are asked for, running it, and reading what it writes."""

import csv
import ctypes
import io
import math
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from cuda import read_recording, worth_profiling
from ptx import Refused

# A counter of ours, the profiler's metric that it is read from, and how those of several launches become one: their sum,
# the most, or a mean that another counter weighs.
METRICS = (
    ("time_ns", "gpu__time_duration.sum", sum),  # under the profiler
    ("instructions", "smsp__inst_executed.sum", sum),  # of warps
    ("lanes", "smsp__thread_inst_executed_per_inst_executed.ratio", "instructions"),  # active of 32 per instruction
    ("divergent", "smsp__sass_branch_targets_threads_divergent.sum", sum),  # branches whose lanes part
    ("bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", sum),  # of local memory
    ("local_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", sum),  # passes through local memory
    # Passes through the first cache's memory, of which local memory is a part.
    ("l1_wavefronts", "l1tex__data_pipe_lsu_wavefronts.sum", sum),
    ("l1_sectors", "l1tex__t_sectors.sum", sum),  # of 32 bytes
    ("l1_hit_pct", "l1tex__t_sector_hit_rate.pct", "l1_sectors"),
    ("l2_sectors", "lts__t_sectors.sum", sum),  # of 32 bytes
    ("l2_hit_pct", "lts__t_sector_hit_rate.pct", "l2_sectors"),
    ("dram_read_bytes", "dram__bytes_read.sum", sum),
    ("dram_write_bytes", "dram__bytes_write.sum", sum),
    ("loads", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", sum),  # requests of warps to global memory
    # Sectors of 32 bytes per request.
    ("load_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "loads"),
    ("stores", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", sum),
    ("store_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "stores"),
    # To the cache of indexed constants; one for each address of a warp.
    ("constant_requests", "idc__requests.sum", sum),
    ("constant_hits", "idc__requests_lookup_hit.sum", sum),
    ("issue_pct", "smsp__issue_active.avg.pct_of_peak_sustained_active", "time_ns"),  # cycles in which a scheduler issues
    ("warps_pct", "sm__warps_active.avg.pct_of_peak_sustained_active", "time_ns"),  # resident warps of those that fit
    ("registers", "launch__registers_per_thread", max),
) + tuple(
    # Why a warp waits, in cycles for each instruction that is issued.
    (f"stall_{key}", f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio", "instructions")
    for key, name in (
        ("barrier", "barrier"),
        ("branch", "branch_resolving"),
        ("constant", "imc_miss"),
        ("dispatch", "dispatch_stall"),
        ("drain", "drain"),
        ("fetch", "no_instruction"),
        ("global", "long_scoreboard"),
        ("local", "short_scoreboard"),
        ("global_queue", "lg_throttle"),
        ("local_queue", "mio_throttle"),
        ("math", "math_pipe_throttle"),
        ("fence", "membar"),
        ("not_chosen", "not_selected"),
        ("fixed", "wait"),
    )
)

LEAST_SECONDS = 1  # the profiler alone takes longer


def number_of(field_):
    """ "1,234.5": as the profiler writes numbers; NaN for "n/a" and whatever else is no number."""
    try:
        return float(field_.replace(",", ""))
    except ValueError:
        return math.nan


def read_profile(log):
    """The counters of each launch in what the profiler wrote with --csv --page raw: messages, which begin with "==", a row
    of names, a row of units, and a row for each launch."""
    table = "".join(line for line in io.StringIO(log, newline="") if not line.startswith("=="))
    rows = [row for row in csv.reader(io.StringIO(table, newline="")) if row]
    if not rows:
        raise Refused("output of ncu: has no table")
    names = rows[0]
    if names[0] != "ID" or "Kernel Name" not in names:
        raise Refused("output of ncu: has no columns 'ID' and 'Kernel Name'")
    out = []
    for i, row in enumerate(rows[1:], 1):
        if len(row) != len(names):
            raise Refused(f"output of ncu: row {i} has {len(row)} fields, its header {len(names)}")
        if row[0]:  # not the units
            fields = dict(zip(names, row))
            out.append({key: number_of(fields.get(name, "")) for key, name, _ in METRICS})
    return out


def complaint_of(log):
    """The profiler's first complaint, without its "==ERROR==": empty where there is none."""
    found = re.search(r"==ERROR== *([^\r\n]*)", log)
    return found[1] if found else ""


def combine(launches):
    """The counters of a call from those of its launches, each with how many equal ones it stands for. A metric that one
    launch lacks is NaN."""
    out = {}
    for key, _, how in METRICS:
        # What weighs nothing has no value either: the ratio of no requests.
        parts = [(one[key], times * (one[how] if isinstance(how, str) else 1)) for one, times in launches]
        parts = [(value, weight) for value, weight in parts if weight != 0]
        total, weights = 0.0, 0.0  # sum() adds up in another way from Python 3.12 on
        for value, weight in parts:
            total += value * weight  # one NaN makes it NaN
            weights += weight
        if isinstance(how, str):
            total = total / weights if weights else math.nan
        elif how is max and not math.isnan(total):
            total = max((value for value, _ in parts), default=0)
        out[key] = total
    return out


@dataclass
class Call:
    """A recorded call and what became of it."""

    name: str
    chosen: list  # of how many equal launches each of the profiled ones stands for
    status: str = "refused"
    reason: str = ""
    launches: list = field(default_factory=list)  # the counters of the profiled ones

    def be(self, status, reason=""):
        self.status, self.reason, self.launches = status, reason, []

    def result(self):
        counters = combine(list(zip(self.launches, self.chosen)))
        return {
            "status": self.status,
            "reason": self.reason,
            "profiled": len(self.launches),
            "counters": {key: None if math.isnan(value) else value for key, value in counters.items()},
        }


class Ncu:
    """NVIDIA Nsight Compute, from PATH, from the folder of CUDA, or from CLCOOK_NCU."""

    def __init__(self, unknown=()):
        """Raises Refused that says what is missing."""
        self.unknown = list(unknown)  # metrics that the profiler does not have
        wanted = os.environ.get("CLCOOK_NCU")
        folders = os.environ.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin"
        self.program = shutil.which("ncu" if wanted is None else wanted, path=folders)
        if not self.program:
            raise Refused(
                "needs NVIDIA's profiler ncu (Nsight Compute), which is not in PATH; CLCOOK_NCU may name it"
                if wanted is None
                else f"CLCOOK_NCU names '{wanted}', which is no program"
            )

    def version(self):
        """ "ncu 2025.3.1.0", where there is all that is needed."""
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Refused(f"needs NVIDIA's CUDA driver: CUDA: {error}") from None
        said = subprocess.run([self.program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        found = re.search("Version ([^ \n]*)", said.stdout)
        if said.returncode or not found:
            raise Refused(f"'{self.program} --version' does not answer like ncu")
        return "ncu " + found[1]

    def profile(self, folder, names, seconds):
        """Runs the recorded calls of the folder under the profiler, in one process if that goes well. Returns what became
        of them; those that are not done in so many seconds are skipped. Raises Refused where nothing can be counted."""
        folder = Path(folder)
        calls = [Call(name, list(worth_profiling(read_recording(folder, name)).values())) for name in names]
        deadline = time.monotonic() + seconds
        left = [calls]
        while left:
            some = left.pop()
            # One that does not end leaves half of the time to the others.
            rest = deadline - time.monotonic()
            limit = rest if len(some) == 1 and not left else rest / 2
            if limit >= LEAST_SECONDS:
                left += [again for again in self.together(folder, some, limit) if again]
            else:
                for one in some:
                    one.be("skipped")
        return calls

    def run(self, folder, calls, seconds):
        """One process, which ends after so many seconds. Returns its code and what it wrote."""
        log = folder / "ncu.log"
        for path in (log, *(folder / f"{one.name}.verdict" for one in calls)):
            path.unlink(missing_ok=True)
        metrics = ",".join(name for _, name, _ in METRICS if name not in self.unknown)
        # The clock is left as it is; the caches are empty before each launch.
        options = ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control", "all"]
        options += ["--profile-from-start", "off", "--target-processes", "application-only"]
        options += ["--log-file", str(log), "--metrics", metrics]
        script = [sys.executable, "-B", str(Path(__file__).parent / "__main__.py"), "replay", str(folder)]
        with subprocess.Popen(
            ["timeout", "--kill-after=5", f"{seconds:f}", self.program, *options, *script, *(one.name for one in calls)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"},
        ) as ran:  # fmt: skip
            try:
                texts = ran.communicate()
            except BaseException:  # asked to end: so are the profiler and what it watches
                ran.terminate()
                raise
        code = ran.returncode if ran.returncode >= 0 else 128 - ran.returncode
        texts += (log.read_bytes(),) if log.exists() else ()
        return code, "".join(text.decode(errors="replace") for text in texts)

    def together(self, folder, calls, seconds):
        """Fills in what became of the calls in one process, but for those that it returns: each list of them runs once
        more."""
        begin = time.monotonic()
        while True:
            code, log = self.run(folder, calls, seconds)
            complaint = complaint_of(log)
            # A GPU of another generation has not all of them.
            missing = [name for _, name, _ in METRICS if "metric" in complaint and name in complaint and name not in self.unknown]
            if not missing:
                break
            self.unknown += missing
        if "ERR_NVGPUCTRPERM" in complaint:
            raise Refused(
                "the system keeps the GPU's counters from this user (ERR_NVGPUCTRPERM): run it as root, "
                "or see https://developer.nvidia.com/ERR_NVGPUCTRPERM"
            )
        if time.monotonic() - begin >= seconds:
            why = f"took longer than {math.floor(seconds + 0.5)} s under ncu"
        else:
            why = f"ncu: {complaint}" if complaint else f"the replay ended early, ncu with code {code}"
        good, missing, refused = [], [], False
        for one in calls:
            verdict = folder / f"{one.name}.verdict"
            one.be("refused", verdict.read_text() if verdict.exists() else "")
            refused = refused or bool(one.reason)
            if not one.reason:
                (good if verdict.exists() else missing).append(one)
        # What the profiler saw cannot be told apart now: the good ones run once more, without those that are not. Behind a
        # kernel that the driver ended none has run.
        if refused:
            return [good + missing]
        if missing:
            missing[0].reason = why
            return [good + missing[1:]]
        wrong, launches = why, []
        try:
            if not complaint:
                launches = read_profile(log)
                expected = sum(len(one.chosen) for one in calls)
                wrong = "" if len(launches) == expected else f"ncu saw {len(launches)} launches of {expected}"
        except Refused as error:
            wrong = str(error)
        for one in calls:
            one.reason = wrong
            if not wrong:
                one.be("counted")
                one.launches, launches = launches[: len(one.chosen)], launches[len(one.chosen) :]
        return [[one] for one in reversed(calls)] if wrong and len(calls) > 1 else []
