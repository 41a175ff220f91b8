"""The scripts of `clcook counters`: programs of OpenCL as CUDA's, the replay, and what the profiler writes."""

import contextlib
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parents[2]
SCRIPTS = SOURCE / "bench/counters"
sys.path.insert(0, str(SCRIPTS))

import cuda  # noqa: E402
import ncu  # noqa: E402
import ptx  # noqa: E402
from ptx import Need, Refused  # noqa: E402

NVIDIA = (SOURCE / "tests/data/counters/nvidia.ptx").read_text() + "\0"  # as the driver gives it
NEEDS = [Need(), Need(24), Need(100, True), Need(64, True), Need(), Need()]


def put(text, part, other):
    """The text with one part replaced, which must be there."""
    assert part in text, part
    return text.replace(part, other, 1)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    @contextlib.contextmanager
    def refuses(self, *parts):
        with self.assertRaises(Refused) as caught:
            yield
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def fake_cuda(self):
        library = self.folder / "libcuda.so.1"
        command = ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", SOURCE / "tests/support/fake_cuda.c", "-o", library]
        subprocess.run(command, check=True)
        return {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}


class Ptx(WithFolder):
    def assembles(self, text):
        """ptxas takes it, if it is installed."""
        ptxas = shutil.which("ptxas", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
        if ptxas:
            (self.folder / "kernel.ptx").write_text(text)
            command = [ptxas, "-arch=sm_90", self.folder / "kernel.ptx", "-o", self.folder / "kernel.cubin"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_parameters_are_read(self):
        found = ptx.parameters_of(NVIDIA, "blend")
        self.assertEqual([one.name for one in found], [f"blend_param_{i}" for i in range(6)])
        self.assertEqual([one.space for one in found], ["global", "const", "shared", "shared", "", ""])
        self.assertEqual([one.bytes for one in found], [8, 8, 8, 8, 16, 4])
        self.assertEqual((found[0].align, found[3].align), (4, 32))
        self.assertEqual(len(ptx.parameters_of(NVIDIA, "other")), 1)

    def test_a_program_of_opencl_becomes_one_of_cuda(self):
        kernel = ptx.cuda_kernel(NVIDIA, "blend", NEEDS)
        self.assertEqual(kernel.shared_bytes, 128 + 64)  # 100 rounded up to the alignment of the second
        self.assertEqual(kernel.constants, [0] * 6)
        # The other kernel goes: alone it would keep the program from being loaded.
        for gone in ("%envreg", "other_param_0", "65536", "\0"):
            self.assertNotIn(gone, kernel.text)
        for line in (
            ".address_size 64\n"
            ".extern .shared .align 32 .b8 clcook_shared[];\n"
            ".const .align 256 .b8 clcook_constants[256];\n",
            "mov.b32 \t%r2, 0;",
            "mov.u64 %rd2, clcook_constants+0;",
            "mov.u64 %rd3, clcook_shared+0;",
            "mov.u64 %rd4, clcook_shared+128;",
            "ld.param.u64 \t%rd1, [blend_param_0];",
            ".shared .align 4 .b8 blend_$_tile[256];",
            "ld.const.f32 \t%f7, [weights+4];",
            ".param .u64 .ptr .global .align 4 blend_param_0",
            ".param .u64 blend_param_1",
            ".param .u64 blend_param_2",
            ".param .u64 blend_param_3",
        ):
            self.assertIn(line, kernel.text)
        self.assembles(kernel.text)

    def test_constants_lie_one_behind_the_other(self):
        text = put(NVIDIA, ".ptr .shared .align 32 blend", ".ptr .const .align 32 blend")
        kernel = ptx.cuda_kernel(text, "blend", [Need(), Need(300), Need(100, True), Need(64), Need(), Need()])
        self.assertEqual(kernel.constants, [0, 0, 0, 512, 0, 0])
        self.assertIn("clcook_constants[768]", kernel.text)
        self.assertIn("mov.u64 %rd4, clcook_constants+512;", kernel.text)

    def test_the_number_of_groups_is_a_register(self):
        def first(other):
            return ptx.cuda_kernel(put(NVIDIA, "%envreg3", other), "blend", NEEDS).text

        for none in ("%envreg0", "%envreg2", "%envreg5"):
            self.assertIn("mov.b32 \t%r2, 0;", first(none))
        self.assertIn("mov.b32 \t%r2, %nctaid.x;", first("%envreg6"))
        self.assertIn("mov.b32 \t%r2, %nctaid.z;", first("%envreg8"))
        self.assembles(first("%envreg7"))

    def test_a_pointer_to_local_memory_need_not_be_declared_as_one(self):
        kernel = ptx.cuda_kernel(put(NVIDIA, ".param .u64 .ptr .shared .align 4 blend", ".param .u64 blend"), "blend", NEEDS)
        self.assertEqual(kernel.shared_bytes, 128 + 64)
        self.assertIn("mov.u64 %rd3, clcook_shared+0;", kernel.text)
        self.assembles(kernel.text)

    def test_more_local_variables_than_cuda_allows(self):
        kernel = ptx.cuda_kernel(NVIDIA, "other", [Need()])
        self.assertEqual(kernel.shared_bytes, 65536)
        self.assertNotIn("other_$_tile[", kernel.text)
        self.assertIn("st.shared.u32 \t[clcook_shared+8], %r1;", kernel.text)
        self.assertIn("ld.shared.u32 \t%r2, [clcook_shared+12];", kernel.text)
        self.assembles(kernel.text)
        # 48 KiB are allowed.
        as_it_is = ptx.cuda_kernel(put(NVIDIA, "other_$_tile[65536]", "other_$_tile[49152]"), "other", [Need()])
        self.assertEqual(as_it_is.shared_bytes, 0)
        self.assertIn("other_$_tile[49152]", as_it_is.text)
        self.assertNotIn("clcook_shared", as_it_is.text)

    def test_local_variables_of_the_program_move_if_the_kernel_names_them(self):
        program = ".version 9.0\n.address_size 64\n.shared .align 8 .f64 {}[8192];\n.visible .entry k()\n{{\n\tmov.u64 %rd1, tile+16;\n}}\n"
        self.assertIn("mov.u64 %rd1, clcook_shared+16;", ptx.cuda_kernel(program.format("tile"), "k", []).text)
        self.assertEqual(ptx.cuda_kernel(program.format("other"), "k", []).shared_bytes, 0)

    def test_what_cannot_be_changed_is_refused_with_the_reason(self):
        image = put(NVIDIA, ".param .u64 .ptr .global .align 4 blend_param_0", ".param .texref blend_param_0")
        unknown = put(NVIDIA, ".param .u32 blend_param_5", ".param .what blend_param_5")
        sum_ = put(NVIDIA, "ld.param.u64 \t%rd3, [blend_param_2]", "add.s64 \t%rd3, blend_param_2, 4")
        part = put(NVIDIA, "[blend_param_2]", "[blend_param_2+4]")
        for text, kernel, count, why in (
            (NVIDIA, "blen", 6, "PTX of blen: the program's binary is not PTX that has this kernel"),
            ("\x7fELF", "blend", 6, "not PTX that has this kernel"),
            (NVIDIA, "blend", 5, "has 6 parameters, was launched with 5"),
            (image, "blend", 6, "takes an image"),
            (unknown, "blend", 6, "is not understood"),
            (sum_, "blend", 6, "blend_param_2 as no ld.param does: add.s64"),
            (part, "blend", 6, "blend_param_2 as no ld.param does: ld.param.u64"),
            (put(NVIDIA, ".address_size 64", ""), "blend", 6, ".address_size"),
            (put(NVIDIA, "%envreg3", "%envreg9"), "blend", 6, "reads %envreg9"),
            (put(NVIDIA, "%envreg3", "%envreg31"), "blend", 6, "reads %envreg31"),
        ):
            with self.subTest(why), self.refuses(why):
                ptx.cuda_kernel(text, kernel, [Need()] * count)


# What ncu 2025.3 writes with --csv --page raw, but for the number of its columns.
HEAD = """==PROF== Connected to process 4711 (/tmp/clcook)
==PROF== Profiling "blend" - 0: 0%....50%....100% - 7 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","launch__registers_per_thread","smsp__inst_executed.sum","smsp__thread_inst_executed_per_inst_executed.ratio","l1tex__t_sectors.sum","l1tex__t_sector_hit_rate.pct","idc__requests.sum"
"","","","","","","","","","","","ns","register/thread","inst","","sector","%",""
"""
FIRST = """"0","4711","clcook","127.0.0.1","blend(float *, ""const"" int)","1","7","(64, 1, 1)","(1024, 1, 1)","0","9.0","1,120","32","1,000,000","32","0","0","n/a"
"""
SECOND = """"1","4711","clcook","127.0.0.1","sum","1","7","(64, 1, 1)","(16, 1, 1)","0","9.0","880.5","40","3000000","8.5","200","25.5","12"
"""


class Profile(WithFolder):
    def test_every_metric_has_a_name_and_every_mean_a_weight_that_is_a_sum(self):
        for at in (0, 1):
            self.assertEqual(len({one[at] for one in ncu.METRICS}), len(ncu.METRICS))
        sums = [key for key, _, how in ncu.METRICS if how is sum]
        for key, _, how in ncu.METRICS:
            self.assertTrue(how in (sum, max) or how in sums, key)

    def test_names_units_launches_and_what_is_not_there(self):
        for end in ("\n", "\r\n"):
            first, second = ncu.read_profile((HEAD + FIRST + SECOND).replace("\n", end))
            self.assertEqual((first["time_ns"], first["instructions"], second["lanes"]), (1120, 1e6, 8.5))
            self.assertTrue(math.isnan(first["constant_requests"]))  # n/a
            self.assertEqual(second["constant_requests"], 12)
            self.assertTrue(math.isnan(first["divergent"]))  # no such column
        self.assertEqual(ncu.read_profile(HEAD), [])
        self.assertEqual(len(ncu.read_profile(HEAD + "\n" + put(FIRST, "clcook", "a\nb, c"))), 1)

    def test_what_is_not_a_profile_is_refused(self):
        for log, why in (
            ("", "has no table"),
            ("==WARNING== No kernels were profiled.\n", "has no table"),
            ("hello\n", "no columns 'ID' and 'Kernel Name'"),
            (HEAD + '"0","4711"\n', "has 2 fields, its header 18"),
        ):
            with self.subTest(why), self.refuses("output of ncu: ", why):
                ncu.read_profile(log)

    def test_the_profilers_complaint(self):
        self.assertEqual(ncu.complaint_of(HEAD), "")
        log = "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission.\n==ERROR== more\n"
        self.assertEqual(ncu.complaint_of(log), "ERR_NVGPUCTRPERM - The user does not have permission.")
        self.assertEqual(ncu.complaint_of("==ERROR=="), "")

    def test_counters_of_several_launches_become_one(self):
        first, second = ncu.read_profile(HEAD + FIRST + SECOND)
        both = ncu.combine([(first, 1), (second, 1)])
        self.assertEqual([both[key] for key in ("time_ns", "instructions", "registers")], [2000.5, 4e6, 40])
        self.assertAlmostEqual(both["lanes"], (32 * 1e6 + 8.5 * 3e6) / 4e6)
        self.assertEqual(both["l1_hit_pct"], 25.5)  # the first launch has no sectors: it weighs nothing
        self.assertTrue(math.isnan(both["constant_requests"]))
        self.assertTrue(math.isnan(both["divergent"]))
        more = ncu.combine([(first, 3), (second, 1)])
        self.assertEqual((more["instructions"], more["registers"]), (6e6, 40))
        self.assertAlmostEqual(more["lanes"], (32 * 3e6 + 8.5 * 3e6) / 6e6)
        # One launch is what it is.
        alone = ncu.combine([(second, 1)])
        for key in ("time_ns", "lanes", "l1_hit_pct", "registers"):
            self.assertEqual(alone[key], second[key])
        self.assertTrue(math.isnan(ncu.combine([(first, 1)])["l1_hit_pct"]))

    def test_of_equal_launches_the_first_and_the_last_are_profiled(self):
        launches = [{"kernel": "sweep", "arguments": [{"value": one}]} for one in ("00", "01", "00", "01", "00")]
        recording = {"launches": [*launches, {"kernel": "sum", "arguments": []}]}
        times = cuda.worth_profiling(recording)
        self.assertEqual(list(times.items()), [(0, 1.5), (1, 1), (3, 1), (4, 1.5), (5, 1)])
        self.assertEqual(cuda.worth_profiling({"launches": []}), {})


# ---- The replay, through a library that stands in for CUDA's

ADD = """
.version 9.0
.target sm_90, texmode_independent
.address_size 64
.entry add(
	.param .u64 .ptr .global .align 4 add_param_0,
	.param .u64 .ptr .global .align 4 add_param_1,
	.param .u64 .ptr .const .align 4 add_param_2,
	.param .u64 .ptr .shared .align 4 add_param_3,
	.param .align 16 .b8 add_param_4[16],
	.param .u8 add_param_5
)
{
	ld.param.u64 %rd1, [add_param_2];
	ld.param.u64 %rd2, [add_param_3];
	mov.b32 %r2, %envreg3;
}
.entry crash()
{
}
"""


def floats(*values):
    return struct.pack(f"{len(values)}f", *values)


class Replay(WithFolder):
    def add_twice(self):
        """Two launches of add: 64 items, the second half of the output's buffer, 10 + 3 + 7 added."""
        (self.folder / "in").write_bytes(floats(*range(64)))
        (self.folder / "table").write_bytes(floats(10, 11))
        (self.folder / "out").write_bytes(floats(*[0] * 64, *range(20, 84)))
        (self.folder / "ptx").write_text(ADD + "\0")
        launch = {
            "kernel": "add",
            "program": "ptx",
            "global": [64, 1, 1],
            "local": [32, 1, 1],
            "arguments": [
                {"buffer": 0, "offset": 256, "bytes": 256},
                {"buffer": 1, "offset": 0, "bytes": 256},
                {"buffer": 2, "offset": 0, "bytes": 8},
                {"local": 128},
                {"value": floats(1, 2, 3, 4).hex()},
                {"value": "07"},
            ],
        }
        buffers = [(512, "fill 0", "out"), (256, "in", "in"), (8, "table", "table")]
        return {
            "device": "0000:1b:00.0",
            "buffers": [dict(zip(("bytes", "before", "after"), one)) for one in buffers],
            "launches": [launch, json.loads(json.dumps(launch))],
        }

    def verdicts(self, names, **variables):
        command = [sys.executable, "-B", SCRIPTS / "__main__.py", "replay", self.folder, *names]
        subprocess.run(command, env={**self.fake_cuda(), **variables}, check=True)
        found = {name: self.folder / f"{name}.verdict" for name in names}
        return {name: path.read_text() for name, path in found.items() if path.exists()}

    def test_calls_run_and_are_compared(self):
        def write(name, change=lambda recording: None):
            recording = self.add_twice()
            change(recording)
            (self.folder / f"{name}.json").write_text(json.dumps(recording))

        def file(name, content):
            (self.folder / name).write_bytes(content)
            return name

        write("good")
        write("again")
        other = bytearray((self.folder / "out").read_bytes())  # something else in one float and in another's byte
        other[256] ^= 1
        other[511] ^= 64
        write("other", lambda all_: all_["buffers"][0].update(after=file("other_out", other)))
        write("filled", lambda all_: all_["buffers"][1].update(after="fill 1"))
        write("cut", lambda all_: all_["buffers"][1].update(after=file("short", b"1234")))
        write("missing", lambda all_: all_["launches"][0].update(kernel="subtract"))
        write("typed", lambda all_: all_["launches"][0]["arguments"][5].update(value="0102"))
        write("misplaced", lambda all_: all_["launches"][0]["arguments"].__setitem__(5, {"buffer": 1, "offset": 0, "bytes": 4}))
        write("wide", lambda all_: all_["launches"][0].update({"global": [32, 65536, 1]}))
        write("no_ptx", lambda all_: all_["launches"][0].update(program=file("plain", b"no PTX")))
        old = put(ADD, ".version 9.0", "").encode()
        write("old_ptx", lambda all_: all_["launches"][0].update(program=file("old", old)))
        write("crash", lambda all_: all_["launches"][1].update(kernel="crash", arguments=[]))
        names = "good again other filled cut missing typed misplaced wide no_ptx old_ptx absent good crash after".split()
        found = self.verdicts(names)
        self.assertEqual((found["good"], found["again"]), ("", ""))
        self.assertNotIn("after", found)  # nothing runs in a context that is broken
        for name, why in (
            ("other", "another result than under OpenCL: 2 of 512 bytes of buffer 0, the first is byte 256, "),
            ("filled", "of 256 bytes of buffer 1, the first is byte 0, 0 instead of 1"),
            ("cut", "short: has 4 bytes, not 256"),
            ("missing", "not PTX that has this kernel"),
            ("typed", "CUDA: argument 5 is a value, its parameter is one of 1 bytes"),
            ("misplaced", "CUDA: argument 5 is a buffer, its parameter is one of 1 bytes"),
            ("wide", "CUDA: launches at most 65535 groups in dimension 1, not 65536"),
            ("no_ptx", "not PTX that has this kernel"),
            ("old_ptx", "its PTX does not load: ptxas fatal"),
            ("old_ptx", "CUDA_ERROR_INVALID_PTX (218)"),
            ("absent", "absent.json"),
            ("crash", "the driver ended crash: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        ):
            with self.subTest(name):
                self.assertIn(why, found[name])

    def test_a_device_is_found_by_its_address_or_if_it_is_the_only_one(self):
        recording = self.add_twice()
        recording["device"] = "0000:07:00.0"
        (self.folder / "call0.json").write_text(json.dumps(recording))
        self.assertEqual(self.verdicts(["call0"])["call0"], "")
        found = self.verdicts(["call0"], FAKE_CUDA_DEVICES="2")["call0"]
        self.assertEqual(found, "CUDA: has 2 devices, none of which has the address '0000:07:00.0'")


SCRIPT = """#!/bin/sh
if [ "$1" = --version ]; then echo 'Version 2025.3.1.0 (build 1) (public-release)'; exit 0; fi
while [ $# -gt 0 ]; do
  case $1 in
    --log-file) log=$2; shift ;;
    --metrics) metrics=$2; shift ;;
    replay) folder=$2; shift 2; calls=$*; break ;;
  esac
  shift
done
echo "$calls" >> "$folder/asked"
row() { echo "\\"$1\\",\\"1\\",\\"$2\\",\\"100\\""; }
head() { printf '"ID","Process ID","Kernel Name","smsp__inst_executed.sum"\\n"","","","inst"\\n' >> "$log"; }
"""


class Profiler(WithFolder):
    """A shell script stands in for ncu. It knows $log, $metrics and $calls, the names of the recordings, in $folder."""

    def setUp(self):
        super().setUp()
        self.script = self.folder / "ncu"
        self.write("exit 1\n")
        self.enterContext(mock.patch.dict(os.environ, CLCOOK_NCU=str(self.script)))
        for name, kernels in (("call0", "aba"), ("call1", "c")):  # of call0 the first and the last are profiled, and b
            launches = [{"kernel": one, "arguments": []} for one in kernels]
            (self.folder / f"{name}.json").write_text(json.dumps({"launches": launches}))

    def write(self, body):
        self.script.write_text(SCRIPT + body)
        self.script.chmod(0o755)

    def profile(self, body, seconds=60, names=("call0", "call1"), profiler=None):
        self.write(body)
        (self.folder / "asked").unlink(missing_ok=True)
        calls = (profiler or ncu.Ncu()).profile(self.folder, names, seconds)
        path = self.folder / "asked"
        self.asked = path.read_text().splitlines() if path.exists() else []
        return calls

    def test_what_is_missing_is_named(self):
        with mock.patch.dict(os.environ, CLCOOK_NCU="/no/such_program"), self.refuses("such_program', which is no program"):
            ncu.Ncu()
        with mock.patch.dict(os.environ, PATH="/no/such"):
            del os.environ["CLCOOK_NCU"]
            if not os.path.exists("/usr/local/cuda/bin/ncu"):
                with self.refuses("which is not in PATH; CLCOOK_NCU may name it"):
                    ncu.Ncu()
        version = [sys.executable, "-B", SCRIPTS / "__main__.py", "version"]
        with_cuda = self.fake_cuda()
        for program, code, out, err in ((self.script, 0, "ncu 2025.3.1.0", ""), ("/bin/true", 2, "", "'/bin/true --version' does not answer like ncu")):
            done = subprocess.run(version, env={**with_cuda, "CLCOOK_NCU": str(program)}, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, out, err))

    def test_one_run_for_all(self):
        calls = self.profile("""head
for call in $calls; do : > "$folder/$call.verdict"; done
{ row 0 a; row 1 b; row 2 a; row 3 c; } >> "$log"
""")
        self.assertEqual(self.asked, ["call0 call1"])
        self.assertEqual([one.status for one in calls], ["counted", "counted"])
        self.assertEqual([len(one.launches) for one in calls], [3, 1])
        self.assertEqual(calls[0].result()["counters"]["instructions"], 300)
        self.assertEqual(calls[0].result()["profiled"], 3)
        self.assertIsNone(calls[0].result()["counters"]["lanes"])

    def test_a_call_whose_replay_differs_is_refused_and_the_other_counted_without_it(self):
        calls = self.profile("""head
for call in $calls; do
  : > "$folder/$call.verdict"
  [ $call = call0 ] && printf 'another result' > "$folder/$call.verdict"
  [ $call = call1 ] && row 0 c >> "$log"
done
""")
        self.assertEqual(self.asked, ["call0 call1", "call1"])
        self.assertEqual([one.reason for one in calls], ["another result", ""])
        self.assertEqual([len(one.launches) for one in calls], [0, 1])

    def test_a_launch_that_the_profiler_did_not_see(self):
        calls = self.profile("""head
for call in $calls; do : > "$folder/$call.verdict"; done
row 0 a >> "$log"
""")
        self.assertEqual([one.reason for one in calls], ["ncu saw 1 launches of 3", ""])

    def test_the_process_ended(self):
        calls = self.profile("exit 9\n")
        self.assertEqual([one.reason for one in calls], ["the replay ended early, ncu with code 9"] * 2)
        self.assertEqual(self.asked, ["call0 call1", "call1"])

    def test_behind_a_kernel_that_the_driver_ended_nothing_runs(self):
        calls = self.profile("""head
for call in $calls; do
  : > "$folder/$call.verdict"
  [ $call = call0 ] && printf 'the driver ended it' > "$folder/$call.verdict" && exit 1
  row 0 c >> "$log"
done
""")
        self.assertEqual(self.asked, ["call0 call1", "call1"])
        self.assertEqual([one.reason for one in calls], ["the driver ended it", ""])

    def test_one_that_does_not_end_is_ended_and_the_other_has_its_turn(self):
        calls = self.profile("""head
for call in $calls; do
  [ $call = call0 ] && exec sleep 60
  : > "$folder/$call.verdict"
  row 0 c >> "$log"
done
""", seconds=4)
        self.assertEqual(self.asked, ["call0 call1", "call1"])
        self.assertEqual([one.reason for one in calls], ["took longer than 2 s under ncu", ""])

    def test_without_time_nothing_is_begun(self):
        calls = self.profile("exit 1\n", seconds=0.5)
        self.assertEqual([one.status for one in calls], ["skipped", "skipped"])
        self.assertEqual(self.asked, [])

    def test_who_is_asked_to_end_ends_the_profiler(self):
        self.write('echo $$ > "$folder/id"\nexec sleep 60\n')
        command = [sys.executable, "-B", SCRIPTS / "__main__.py", "profile", self.folder, "60", "", "call0"]
        with subprocess.Popen(command) as child:
            while not (self.folder / "id").exists() or not (self.folder / "id").read_text():
                self.assertIsNone(child.poll())
                time.sleep(0.01)
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(), 2)
        with self.assertRaises(ProcessLookupError):
            os.kill(int((self.folder / "id").read_text()), 0)

    def test_what_it_writes_is_no_profile(self):
        calls = self.profile("""echo hello >> "$log"
for call in $calls; do : > "$folder/$call.verdict"; done
""")
        self.assertEqual(self.asked, ["call0 call1", "call0", "call1"])
        self.assertIn("no columns 'ID' and 'Kernel Name'", calls[0].reason)
        calls = self.profile("echo '==ERROR== The application crashed' > \"$log\"\n")
        self.assertEqual(calls[1].reason, "ncu: The application crashed")

    def test_a_metric_that_this_gpu_has_not_is_left_out_from_then_on(self):
        body = """case $metrics in
  *idc__requests.sum*) echo '==ERROR== Failed to find metric idc__requests.sum' > "$log"; exit 1 ;;
esac
head
for call in $calls; do : > "$folder/$call.verdict"; done
row 0 c >> "$log"
"""
        first = ncu.Ncu()
        for asked in (2, 1):
            self.assertEqual(self.profile(body, names=["call1"], profiler=first)[0].reason, "")
            self.assertEqual(self.asked, ["call1"] * asked)
        self.assertEqual(first.unknown, ["idc__requests.sum"])
        self.profile(body, names=["call1"], profiler=ncu.Ncu(first.unknown))
        self.assertEqual(self.asked, ["call1"])

    def test_counters_that_are_kept_from_this_user_are_no_variants_matter(self):
        with self.refuses("ERR_NVGPUCTRPERM", "run it as root"):
            self.profile("echo '==ERROR== ERR_NVGPUCTRPERM - no permission' > \"$log\"\n")


if __name__ == "__main__":
    unittest.main()
