#!/usr/bin/env python3
"""Changes one place of a kernel or header and asks who notices.

  mutants.py --list                       every mutant of kernels/: number, place, edit
  mutants.py --sample 200 --seed 7        runs a sample, which takes the kinds of edits in turn
  mutants.py --file kernels/line_blur.cl  only those of a file; with --list, --sample or alone
  mutants.py --run 17 2041                runs these, said to be equivalent or not
  mutants.py --entry 17                   what to write into equivalent.txt, but for the reason
  mutants.py --host ...                   the same for lib/clcook, with the nearest test program

A mutant is

  caught      a check noticed
  survived    none did: a hole, or an equivalent mutant that equivalent.txt does not name yet
  equivalent  the compiler makes the same code of it for every program of the cookbook, or
              equivalent.txt says why it makes no difference
  unreached   no program that this device builds contains the place
  invalid     it does not compile

and the exit code is 1 where fewer than 95 % of those that are not equivalent were caught, or where
equivalent.txt is wrong: an entry fits no mutant, or a check notices one.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import edits

BAR = 0.95  # of those that are not equivalent, caught
HEADER_TESTS = {
    "clcook/select.clh": ["select_header"],
    "clcook/sub_group.clh": ["sub_group"],
    "clcook/swizzle.clh": ["swizzle_header"],
    "clcook/table.clh": ["table_header"],
    "clcook/view.clh": ["view_header"],
}
# Headers that tests alone compile, and with which options.
HEADER_PROGRAMS = {
    "clcook/sub_group.clh": [f"-cl-std=CL1.2 -DCLCOOK_SUB_GROUP_SIZE={n}" for n in (8, 32, 64)],
}
# Tests of host headers that have other names, and their headers.
HOST_TESTS = {}
for line in """
core_plan: core/math core/names core/axis core/operation core/range core/variant core/call_order
core_choose: core/variant
core_cache: core/file core/program
core_source: core/file core/source core/preprocess
core_source_trees: core/source core/preprocess
core_device: core/runtime core/device_info core/quirks
core_launch: core/runtime
core_error: error
stub_every: core/call_order
halo_tile: core/border core/image_staging
gaussian_blur: core/half core/pixel
threshold_count: core/map_row
view_header: core/kernel_types
sub_group: core/sub_group
io_dds: io/exr io/pfm
bc6h_decode: io/exr io/pfm
io_obj: io/quad_patches
vertex_transform: io/quad_patches
conformance: registry/conformance registry/recipe
bc6h_reference: reference/bc6h_decode reference/bc6h_encode
""".split("\n")[1:-1]:
    test, headers = line.split(": ")
    for header in headers.split():
        HOST_TESTS.setdefault(header + ".hpp", []).append(test)

SAME = "the same code"
Result = collections.namedtuple("Result", "status by", defaults=("",))


def say(text):
    print(text, flush=True)


class Failed(Exception):
    """The tool cannot do its work."""


class Entries:
    """equivalent.txt: blocks of lines "KEY VALUE" from "mutant" to "end"."""

    def __init__(self, path):
        self.all = []
        entry = None
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            key, _, value = (part.strip() for part in line.partition(" "))
            here = f"{path.name}:{number}"
            if (key == "mutant") != (entry is None):
                raise Failed(f"{here}: '{key}' outside of an entry, or the entry before has no end")
            if key == "mutant":
                entry = {"here": here, "edit": []}
            elif key == "edit":
                entry["edit"].append(value)
            elif key == "why":
                entry["why"] = f"{entry.get('why', '')} {value}".strip()
            elif key in ("file", "in", "line", "nth"):
                if key in entry:
                    raise Failed(f"{here}: a second '{key}'; is an 'end' missing?")
                entry[key] = value
            elif key != "end":
                raise Failed(f"{here}: unknown key '{key}'")
            elif not all(entry.get(one) for one in ("file", "line", "edit", "why")):
                raise Failed(f"{here}: file, line, edit or why is missing")
            else:
                self.all.append(entry)
                entry = None
        if entry is not None:
            raise Failed(f"{path.name}: the last entry has no end")

    def match(self, mutants):
        """Number of a mutant to its entry; and what is wrong with the entries."""
        by_key = collections.defaultdict(list)
        for mutant in mutants:
            by_key[mutant.key()].append(mutant)
        said, wrong = {}, []
        for entry in self.all:
            for edit in entry["edit"]:
                fits = [m for m in by_key[(entry["file"], entry.get("in", ""), entry["line"], edit)]
                        if entry.get("nth", "0") in ("0", str(m.nth))]
                if not fits:
                    wrong.append(f"{entry['here']}: no mutant fits: {edit}: {entry['line']}")
                said.update((mutant.number, entry) for mutant in fits)
        return said, wrong


def entry_of(mutant):
    nth = f"nth {mutant.nth}\n" if mutant.of > 1 else ""
    return (f"mutant\nfile {mutant.file}\nin {mutant.scope}\nline {mutant.source_line}\n"
            f"edit {mutant.edit}\n{nth}why \nend\n")


def all_mutants(source, host):
    """Every mutant, numbered: first those of kernels/, then those of lib/clcook."""
    kernels = [mutant for path in sorted((source / "kernels").glob("**/*.cl*"))
               for mutant in edits.mutants_of(str(path.relative_to(source)), path.read_text())]
    out = kernels if not host else [
        mutant for path in sorted((source / "lib/clcook").glob("**/*.hpp"))
        for mutant in edits.mutants_of(str(path.relative_to(source)), path.read_text())]
    for number, mutant in enumerate(out, 1 + (len(kernels) if host else 0)):
        mutant.number = number
    return out


def sample_of(mutants, count, seed):
    """The kinds in turn, those of a kind in an order that the seed gives. A mutant's place does not
    depend on its number, so that most of a sample outlives changes of the sources."""
    def rank(mutant):
        return hashlib.sha256(repr((seed, mutant.key(), mutant.nth)).encode()).hexdigest()

    kinds = collections.defaultdict(list)
    for mutant in sorted(mutants, key=rank):
        kinds[mutant.kind].append(mutant)
    out = []
    while len(out) < count and any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind] and len(out) < count:
                out.append(kinds[kind].pop(0))
    return out


def closure(name, text_of):
    """A file and those that it includes from clcook/, of those that have a text."""
    found, todo = set(), [name]
    while todo:
        one = todo.pop()
        text = text_of(one) if one not in found else None
        if text is not None:
            found.add(one)
            todo += re.findall(r"(?m)^#include <(clcook/[^>]+)>", text)
    return found


def limits(cpu):
    def set_them():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    return set_them


def run(command, cpu=60, env=None, cwd=None, until=lambda: False):
    """Runs a program for at most `cpu` seconds of processor time, or until there is nothing more to
    wait for. Returns its exit code, which is negative for a signal, and what it printed."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=cwd, env=env,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=limits(cpu))
        last = time.monotonic() + 5 * cpu + 60
        while True:
            try:
                code = process.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if until() or time.monotonic() > last:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    code = -signal.SIGXCPU
                    break
        out.seek(0)
        return code, out.read().decode(errors="replace")


def reason_of(code, text):
    """Why a run failed, in a line."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "it does not end"
    if code < 0:
        return f"signal {-code}"
    for line in text.split("\n"):
        if re.search(r"FAILED|ERROR", line):
            return line.strip()[:160]
    return f"exit code {code}"


def size_of(row):
    """How large the problem of a row is, roughly."""
    size = 1
    for word in row[0][3].split():
        key, _, value = word.partition("=")
        if key in ("width", "height", "depth", "count", "batch", "texels") and value.isdigit():
            size *= int(value)
    return size


class Kernels:
    """Who notices a mutant of a kernel or device header."""

    def __init__(self, source, build, work):
        self.kernels = source / "kernels"
        self.order = source / "tests/support"
        self.work = work
        self.bin = build / "bin"
        self.lock = threading.Lock()
        self.env = dict(os.environ, CLCOOK_TENSOR_EMULATE="1", CLCOOK_CACHE="0",
                        CLCOOK_TEST_GRID="full", CLCOOK_BIN_DIR=str(self.bin))
        for name in ("CLCOOK_KERNEL_DIR", "CLCOOK_TEST_SLICE", "CLCOOK_CACHE_DIR"):
            self.env.pop(name, None)
        self.texts = {
            str(path.relative_to(self.kernels)): path.read_text()
            for path in sorted(self.kernels.glob("**/*.cl*"))
        }
        self.digest = hashlib.sha256(repr(sorted(self.texts.items())).encode()).hexdigest()[:16]
        self.includes = {name: closure(name, self.texts.get) for name in self.texts}
        self.baselines = {}
        self.list_rows()
        self.memory = work / f"compiled-{self.digest}.json"
        for other in work.glob("compiled-*.json"):
            if other != self.memory:
                other.unlink()
        kept = json.loads(self.memory.read_text()) if self.memory.exists() else {}
        self.active = kept.get("active", {})
        self.code = kept.get("code", {})

    def close(self):
        temporary = self.memory.with_suffix(".part")
        temporary.write_text(json.dumps({"active": self.active, "code": self.code}))
        temporary.rename(self.memory)

    def list_rows(self):
        program = self.bin / "tests/mutant_rows"
        if not program.exists():
            raise Failed(f"there is no {program}")
        env = dict(self.env, POCL_CACHE_DIR=str(self.cache("unchanged")))
        code, text = run([program, "--no-skip", "--test-case=child: list the rows"], 120, env)
        if code != 0:
            raise Failed(f"{program} fails:\n{text}")
        self.programs, self.rows = [], []
        for line in text.split("\n"):
            cells = line.split("\t")
            if cells[0] == "program":
                self.programs.append((cells[2], cells[3]))
            elif cells[0] == "row":
                self.rows.append((cells[1:5], cells[5] == "tiny", {int(n) for n in cells[6].split()}))
        for name, options in HEADER_PROGRAMS.items():
            self.programs += [(name, one) for one in options]

    def cache(self, name):
        path = self.work / f"pocl-{name}"
        path.mkdir(parents=True, exist_ok=True)
        return path

    # ---- the compiler ----

    def clang(self, program, folder, *what, cpu=120):
        file, options = program
        where = folder / file if folder is not None and (folder / file).exists() else file
        includes = (["-I", str(folder)] if folder is not None else []) + ["-I", "."]
        return run(["clang", "-x", "cl", "-Xclang", "-finclude-default-header", "-w", *includes,
                    *shlex.split(options), *what, str(where)], cpu, cwd=self.kernels)

    def preprocessed(self, number, folder, *what):
        code, text = self.clang(self.programs[number], folder, "-E", *what)
        if code != 0 and folder is None:
            raise Failed(f"clang -E fails for {self.programs[number]}:\n{text}")
        return text

    def lines_of(self, number):
        """The lines of each file that this program compiles, as bits of a number."""
        key = " ".join(self.programs[number])
        if key not in self.active:
            lines = collections.defaultdict(int)
            name, line = "", 0
            for one in self.preprocessed(number, None, "-dD").split("\n"):
                if marker := re.match(r'# (\d+) "([^"]*)"', one):
                    name, line = os.path.normpath(marker[2]), int(marker[1])
                    continue
                if one.strip() and name in self.texts:
                    lines[name] |= 1 << line
                line += 1
            with self.lock:
                self.active[key] = {name: hex(bits) for name, bits in lines.items()}
        return self.active[key]

    def touched(self, mutant, name, folder):
        """The programs that contain the place."""
        first = min(mutant.first_line, mutant.line)
        span = (1 << (mutant.line - first + 1)) - 1

        def contains(number):
            if mutant.scope.startswith("#"):  # a condition: it is nowhere in the output
                return self.preprocessed(number, None, "-P") != self.preprocessed(number, folder, "-P")
            return int(self.lines_of(number).get(name, "0"), 16) >> first & span

        return [number for number, program in enumerate(self.programs)
                if name in self.includes[program[0]] and contains(number)]

    def compiled(self, number, folder, name):
        """What clang makes of a program at -O2, as a hash; None where it does not compile."""
        program = self.programs[number]
        key = f"{name.endswith('.clh')} {program[0]} {program[1]}"
        if folder is None and key in self.code:
            return self.code[key]
        # The functions of a header are everyone's: as if each of them were called from outside.
        everyone = ["-Dstatic=", "-Dinline="] if name.endswith(".clh") else []
        code, text = self.clang(program, folder, "-O2", "-S", "-emit-llvm", "-o", "-", *everyone)
        if code != 0:
            return None
        text = re.sub(r"(?m)^(; ModuleID|source_filename).*\n", "", text)
        out = hashlib.sha256(text.encode()).hexdigest()
        if folder is None:
            with self.lock:
                self.code[key] = out
        return out

    def same_code(self, mutant, name, programs, folder):
        folders = [folder]
        if mutant.kind == "conversion" and mutant.text == "uint":
            # Of 32 bits before: (int) or (uint), the same bits as before.
            folders.append(folder.parent / "signed")
            other = folders[1] / name
            other.parent.mkdir(parents=True, exist_ok=True)
            text = self.texts[name]
            other.write_text(text[: mutant.begin] + "int" + text[mutant.end :])
        return all(before is not None and before in [self.compiled(number, one, name) for one in folders]
                   for number in programs for before in [self.compiled(number, None, name)])

    # ---- the checks ----

    def check_rows(self, rows, folder, cache, cpu):
        if not rows:
            return None
        with tempfile.NamedTemporaryFile("w", dir=self.work, suffix=".rows") as file:
            file.write("".join("\t".join(row) + "\n" for row in rows))
            file.flush()
            env = dict(self.env, POCL_CACHE_DIR=str(cache), CLCOOK_MUTANT_ROWS=file.name)
            if folder is not None:
                env["CLCOOK_KERNEL_DIR"] = str(folder)
            code, text = run([self.bin / "tests/mutant_rows", "--no-skip",
                              "--test-case=child: check rows"], cpu, env)
        return None if code == 0 else f"check: {reason_of(code, text)}"

    def unit_test(self, test, folder, cache, cpu=400):
        program = self.bin / "tests" / test
        if not program.exists():
            return None
        env = dict(self.env, POCL_CACHE_DIR=str(cache), CLCOOK_KERNEL_DIR=str(folder))
        del env["CLCOOK_TENSOR_EMULATE"]  # such tests set it where they need it
        code, text = run([program, "--abort-after=1"], cpu, env)
        return None if code == 0 else f"tests/{test}: {reason_of(code, text)}"

    def reversed_order(self, files, folder, place):
        """These kernel files, of `folder` where it has them, with items and groups in reverse."""
        if folder is not None:
            shutil.copytree(folder, place)
        order = (self.order / "order.clh").read_text()
        for file in files:
            changed = folder is not None and (folder / file).exists()
            text = (folder / file).read_text() if changed else self.texts[file]
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text(f"#define CLCOOK_ORDER_REVERSED\n{order}\n#line 1\n{text}")
        return place

    def oclgrind(self, command, folder, cpu=400):
        if shutil.which("oclgrind") is None:
            return None
        env = {k: v for k, v in self.env.items() if k != "CLCOOK_DEVICE"}
        env["CLCOOK_KERNEL_DIR"] = str(folder)
        env["CLCOOK_GUARD_BANDS"] = "0"  # reads of them are within the buffers
        with tempfile.NamedTemporaryFile("r", dir=self.work, suffix=".log") as log:
            run(["oclgrind", "--build-options", "-cl-opt-disable", "--data-races", "--log", log.name,
                 *command], cpu, env, until=lambda: os.path.getsize(log.name) > 0)
            said = log.read().strip()
        what = " ".join(str(word) for word in command[1:])
        return f"Oclgrind: {what}: {said.splitlines()[0]}" if said else None

    def sound(self, key, check):
        """Whether the check passes with kernels that nobody changed: asked where it failed."""
        with self.lock:
            known = self.baselines.get(key)
            if known is None:
                known = self.baselines[key] = [threading.Lock(), None]
        with known[0]:
            if known[1] is None:
                known[1] = check() is None
                if not known[1]:
                    say(f"note: {key} fails without a mutant and counts for nothing")
            return known[1]

    def noticed(self, key, check, folder, unchanged):
        """What a check says of a folder, if it says nothing of kernels that nobody changed."""
        said = check(folder)
        return said if said is not None and self.sound(key, lambda: check(unchanged)) else None

    def run(self, mutant):
        name = mutant.file.removeprefix("kernels/")
        place = Path(tempfile.mkdtemp(prefix="mutant-", dir=self.work))
        try:
            folder = place / "kernels"
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_text(mutant.apply(self.texts[name]))
            (place / "pocl").mkdir()
            return self.judge(mutant, name, folder, place / "pocl")
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def judge(self, mutant, name, folder, cache):
        programs = self.touched(mutant, name, folder)
        if not programs:
            return Result("unreached")
        if self.clang(self.programs[programs[0]], folder, "-fsyntax-only")[0] != 0:
            return Result("invalid")
        for by in self.notices(mutant, name, folder, cache, programs):
            if by is not None and by is not SAME:
                return Result("caught", by)
            if by is SAME and any(self.preprocessed(number, None, "-P") != self.preprocessed(number, folder, "-P")
                                  for number in programs):
                return Result("equivalent", SAME)
            if by is SAME:  # a macro of a header is everyone's, whoever expands it here
                return Result("survived", "no program uses it") if name.endswith(".clh") else Result("unreached")
        return Result("survived")

    def notices(self, mutant, name, folder, cache, programs):
        """What the checks say, one after the other; SAME: the compiler makes the same code."""
        variants = collections.defaultdict(list)
        for row in self.rows:
            if row[2] & set(programs):
                variants[row[0][0], row[0][1]].append(row)
        first = list(variants.values())[:8]
        rows = [row for of in variants.values() for row in of]
        quick = [min(of, key=lambda row: (not row[1], size_of(row))) for of in first]
        tiny = [row for row in rows if row[1] and row not in quick]
        # Tiny shapes may have a single group: the smallest others too.
        groups = [min(of, key=size_of) for of in ([row for row in one if not row[1]] for one in first) if of]
        own = HEADER_TESTS.get(name, [])
        recipes = {recipe for recipe, _ in variants}
        tests = sorted(path.name for path in (self.bin / "tests").iterdir()
                       if any(path.name == one or path.name.startswith(one + "_") for one in recipes))

        def rows_notice(some, cpu, how=""):
            again = [row[0] for row in some]
            files = {self.programs[number][0] for number in programs}
            changed, right = (folder, None) if not how else (
                self.reversed_order(files, one, folder.parent / place)
                for one, place in ((folder, "reversed"), (None, "unchanged")))
            key = f"rows {how}" + hashlib.sha256(repr(again).encode()).hexdigest()[:8]
            said = self.noticed(key, lambda where: self.check_rows(
                again, where, cache if where == changed else self.cache("unchanged"), cpu), changed, right)
            return said and how + said

        def simulated():
            commands = [[self.bin / "tests" / test] for test in own]
            for (recipe, variant), of in variants.items():
                of = [row for row in of if row[1]] or [min(of, key=size_of)]
                # A header's functions are in every program that includes it, called or not.
                if len(commands) < 4 + len(own) and any(
                        self.compiled(number, None, "") != self.compiled(number, folder, "")
                        for number in set(programs) & set().union(*(row[2] for row in of))):
                    commands.append([self.bin / "clcook", "check", recipe, "--variant", variant, "--tiny",
                                     "--in-order", *sorted({f"--shape={row[0][3]}" for row in of})])
            return next(filter(None, (self.noticed(
                f"Oclgrind {command[1:]}", lambda where: self.oclgrind(command, where), folder, self.kernels)
                for command in commands)), None)

        yield self.tested(own, folder, cache)
        yield rows_notice(quick, 100)
        if name not in HEADER_PROGRAMS and self.same_code(mutant, name, programs, folder):
            yield SAME
        if mutant.kind == "barrier":
            yield simulated()
        yield rows_notice(tiny, 300)
        yield rows_notice([row for row in rows if row not in tiny and row not in quick], 900)
        yield rows_notice(quick + tiny + [row for row in groups if row not in quick], 300, "in reverse ")
        yield self.tested(tests, folder, cache)
        if mutant.kind != "barrier":
            yield simulated()

    def tested(self, tests, folder, cache):
        copy = self.work / f"unchanged-{self.digest}"
        if not copy.exists():
            shutil.copytree(self.kernels, copy, dirs_exist_ok=True)
        return next(filter(None, (self.noticed(test, lambda where: self.unit_test(
            test, where, self.cache("unchanged") if where == copy else cache), folder, copy)
            for test in tests)), None)


class Host:
    """Who notices a mutant of a host header: the test of the same name, compiled anew."""

    def __init__(self, source, build, work):
        self.source, self.build, self.work = source, build, work
        self.tests = {path.stem for path in (source / "tests").glob("*.cpp")}
        code, text = run(["ninja", "-C", str(build), "-t", "compdb"], 60)
        if code != 0:
            raise Failed(f"ninja -t compdb fails:\n{text}")
        text = text[text.index("["):]
        self.compiles = {}
        self.definitions = None  # of headers in impl/, which tests take from a library
        self.cards = None  # of cookbook/, likewise
        self.seconds = {}  # of the programs that nobody changed
        self.lock = threading.Lock()
        for one in json.loads(text):
            if one["output"].endswith("clcook.dir/generated_library/core.cpp.o"):
                self.definitions = one
            if one["output"].endswith("clcook_recipes.dir/bench/cookbook/recipes.cpp.o"):
                self.cards = one
            found = re.fullmatch(r"CMakeFiles/test_(\w+)\.dir/tests/(\w+)\.cpp\.o", one["output"])
            if found and found[1] == found[2]:
                self.compiles[found[1]] = one

    def close(self):
        pass

    def tests_of(self, name):
        # What a recipe says and does is on record.
        own = self.nearest(name)
        more = ["stub_launches"] if "/impl/" in name or 0 < len(self.cards_with(name)) <= 2 else []
        more += ["stub_calls"] if name.startswith(("core/", "gaussian_blur/")) else []
        # The record is quicker than conformance.
        return [t for t in own if t != "conformance"] + more + [t for t in own if t == "conformance"]

    def nearest(self, name):
        if name in HOST_TESTS:
            return HOST_TESTS[name]
        name = name.replace("/impl/", "/")
        if name in HOST_TESTS:
            return HOST_TESTS[name]
        parts = name.removesuffix(".hpp").split("/")
        recipe = parts[-1]
        if parts[0] in ("cookbook", "reference"):
            return [t for t in (recipe, "conformance") if t in self.tests]
        joined = "_".join(parts)
        tests = [t for t in dict.fromkeys((joined, joined.rstrip("s"))) if t in self.tests]
        if not tests:
            tests = [t for t in (parts[0], "core_plan" if parts[0] == "core" else "conformance")
                     if t in self.tests][:1]
        return tests

    def run(self, mutant):
        name = mutant.file.removeprefix("lib/clcook/")
        place = Path(tempfile.mkdtemp(prefix="mutant-", dir=self.work))
        try:
            changed = place / "lib/clcook" / name
            changed.parent.mkdir(parents=True)
            changed.write_text(mutant.apply((self.source / mutant.file).read_text()))
            tests = [t for t in self.tests_of(name) if t in self.compiles]
            if not tests:
                return Result("unreached", "no test program")
            programs = {}
            for grid in ("short", "full"):
                for test in tests:
                    if test not in programs:
                        programs[test] = self.build_test(test, name, place)
                        if programs[test] is None:
                            return Result("invalid")
                    # The record has one grid.
                    if grid == "full" and test == "stub_launches":
                        continue
                    result = self.try_test(test, name, place, programs[test], grid)
                    if result.status != "survived":
                        return result
            return Result("survived", "passed: " + " ".join(tests))
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def command(self, compile, place, output, *more):
        words = shlex.split(compile["command"])
        out = []
        skip = 0
        for i, word in enumerate(words):
            if skip:
                skip -= 1
            elif word in ("-o", "-MF", "-MT", "-include"):
                skip = 1
            elif word == "-Xclang" and i + 3 < len(words) and "pch" in " ".join(words[i : i + 4]):
                skip = 3
            elif word in ("-MD", "-Winvalid-pch", "-Werror"):
                pass
            else:
                out.append(word)
        at = 2 if "ccache" in out[0] else 1
        include = ["-I", str(place / "lib")] if place is not None else []
        return [*out[:at], *include, *out[at:], "-w", *more, "-o", str(output)]

    def cards_with(self, name):
        """The recipes whose card includes a header, in lib/clcook/cookbook or below it."""
        def text_of(one):
            path = self.source / "lib" / one
            return path.read_text() if path.exists() else None

        return [card.stem for card in sorted((self.source / "lib/clcook/cookbook").glob("*.hpp"))
                if "clcook/" + name in closure(f"clcook/cookbook/{card.name}", text_of)]

    def seconds_of(self, test, env):
        """How long the unchanged program takes, in processor time. What runs beside may be in it."""
        key = test, env["CLCOOK_TEST_GRID"], env.get("CLCOOK_TEST_RECIPE")
        with self.lock:
            if key not in self.seconds:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                code, text = run([self.build / "bin/tests" / test], 1200, env)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                if code != 0:
                    raise Failed(f"tests/{test} fails without a mutant:\n{text[-2000:]}")
                self.seconds[key] = (
                    after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
            return self.seconds[key]

    def compile(self, compile, place, output, *more):
        """Whether it compiles. What several programs need is compiled once."""
        return output.exists() or run(self.command(compile, place, output, *more), 400,
                                      cwd=self.build)[0] == 0

    def build_test(self, test, name, place):
        """The program with the mutant; None where it does not compile."""
        objects = [place / f"{test}.o"]
        cards = self.cards_with(name) if test in ("stub_launches", "conformance") else []
        if 0 < len(cards) <= 2:
            # Those of all recipes take too long to compile.
            text = "".join(f"#include <clcook/cookbook/{one}.hpp>\n" for one in cards)
            text += ('#include "bench/cookbook/recipes.hpp"\n'
                     "const std::vector<clcook::Recipe>& clcook::cookbook::recipes() {\n"
                     "  static const std::vector<Recipe> some{" +
                     ", ".join(f"{one}()" for one in cards) + "};\n  return some;\n}\n")
            source = place / "recipes.cpp"
            source.write_text(text)
            compile = dict(self.cards, command=self.cards["command"].replace(
                self.cards["file"], str(source)))
            objects.append(place / "recipes.o")
            if not self.compile(compile, place, objects[-1], "-I", str(self.source)):
                return None
        if "/impl/" in name or name.startswith("gaussian_blur/") or name in ("core/operation.hpp", "core/plan.hpp"):
            source = place / "definitions.cpp"
            source.write_text("#define CLCOOK_IMPLEMENTATION\n#include <clcook/clcook.hpp>\n")
            compile = dict(self.definitions, command=self.definitions["command"].replace(
                self.definitions["file"], str(source)))
            objects.append(place / "definitions.o")
            if not self.compile(compile, place, objects[-1], "-O0"):
                return None
        if not self.compile(self.compiles[test], place, objects[0]):
            return None
        code, text = run(["ninja", "-C", str(self.build), "-t", "commands", f"test_{test}"], 60)
        link = [one for one in text.split("\n") if f"-o bin/tests/{test}" in one][-1]
        own = f"CMakeFiles/test_{test}.dir/tests/{test}.cpp.o"
        program = place / test
        link = link.replace(own, " ".join(map(str, objects))).replace(
            f"-o bin/tests/{test}", f"-o {program}")
        code, text = run(["sh", "-c", link], 200, cwd=self.build)
        if code != 0:
            raise Failed(f"linking {test} fails:\n{text}")
        return program

    def try_test(self, test, name, place, program, grid):
        env = dict(os.environ, CLCOOK_BIN_DIR=str(self.build / "bin"),
                   POCL_CACHE_DIR=str(self.work / "pocl-host"), CLCOOK_TEST_GRID=grid,
                   CLCOOK_CACHE_DIR=str(place / "cache"), TMPDIR=str(place))
        if test == "conformance":
            env["CLCOOK_TEST_RECIPE"] = (self.cards_with(name) or ["argument_swap"])[0]
        (self.work / "pocl-host").mkdir(exist_ok=True)
        cpu = 20 + 3 * self.seconds_of(test, env)
        code, text = run([program, "--abort-after=1"], int(cpu), env, cwd=place)
        if code != 0:
            return Result("caught", f"tests/{test}: {reason_of(code, text)}")
        return Result("survived")


def slice_of(mutants, parts=10):
    """As tests/support/grid.hpp: one of the parts in the short grid, all in the full one."""
    grid = os.environ.get("CLCOOK_TEST_GRID", "full")
    if grid not in ("short", "full"):
        raise Failed(f"CLCOOK_TEST_GRID is '{grid}'; it must be short or full")
    first = int(os.environ.get("CLCOOK_TEST_SLICE", "0"))
    return [m for i, m in enumerate(mutants) if grid == "full" or (i + first) % parts == 0]


HERE = Path(__file__).resolve().parent


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", action="append", default=[], help="only mutants of this file")
    parser.add_argument("--run", type=int, nargs="+", metavar="NUMBER")
    parser.add_argument("--entry", type=int, nargs="+", metavar="NUMBER")
    parser.add_argument("--host", action="store_true", help="of lib/clcook instead of kernels/")
    parser.add_argument("--said", action="store_true",
                        help="runs those of equivalent.txt: whoever notices one proves it wrong")
    parser.add_argument("--source", type=Path, default=HERE.parent.parent)
    parser.add_argument("--build", type=Path, help="default: SOURCE/build-test")
    parser.add_argument("--work", type=Path, help="default: BUILD/mutants")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not (arguments.run or arguments.entry or arguments.list or arguments.file or
            arguments.said or arguments.sample is not None):
        parser.error("say what to run: --sample, --file, --run; or --list")
    return arguments


def chosen_of(arguments, mutants, said):
    numbers = arguments.run or arguments.entry
    if numbers:
        chosen = [m for m in mutants if m.number in set(numbers)]
    else:
        chosen = [m for m in mutants if (not arguments.file or m.file in arguments.file) and
                  (not arguments.said or m.number in said)]
    if arguments.sample is not None:
        chosen = slice_of(sample_of(chosen, arguments.sample, arguments.seed))
    return chosen


def named(mutant):
    of = f" ({mutant.nth} of {mutant.of})" if mutant.of > 1 else ""
    return f"{mutant.number} {mutant.file}:{mutant.line}", f"{mutant.edit}{of}"


def judged(judge, chosen, said, always, jobs):
    """Each mutant and what became of it, as they are done; `always`: those of equivalent.txt too."""
    def one(mutant):
        begin = time.monotonic()
        if mutant.number in said and not always:
            return mutant, Result("equivalent", "said: " + said[mutant.number]["why"]), 0
        return mutant, judge.run(mutant), time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        todo = [pool.submit(one, mutant) for mutant in chosen]
        try:
            for future in concurrent.futures.as_completed(todo):
                mutant, result, seconds = future.result()
                by = ("by " if result.status == "caught" else "") + result.by
                place, edit = named(mutant)
                say(f"{place} {edit}: {result.status}{' ' + by if by else ''} ({seconds:.0f} s)")
                yield mutant, result
        except BaseException:
            for future in todo:
                future.cancel()
            raise
        finally:
            judge.close()


def main():
    arguments = arguments_of()
    source = arguments.source.resolve()
    build = (arguments.build or source / "build-test").resolve()
    work = (arguments.work or build / "mutants").resolve()
    mutants = all_mutants(source, arguments.host)
    entries = Entries(HERE / "equivalent.txt")
    entries.all = [e for e in entries.all if e["file"].startswith("lib/") == arguments.host]
    said, wrong = entries.match(mutants)
    for one in wrong:
        say(f"FAILED: {one}")
    chosen = chosen_of(arguments, mutants, said)
    if arguments.entry or arguments.list:
        for mutant in chosen:
            place, edit = named(mutant)
            print(entry_of(mutant) if arguments.entry else
                  f"{place} {mutant.kind}: {edit}: {mutant.source_line}")
        return 1 if wrong else 0

    work.mkdir(parents=True, exist_ok=True)
    judge = (Host if arguments.host else Kernels)(source, build, work)
    results = list(judged(judge, chosen, said, arguments.run or arguments.said, arguments.jobs))
    for kind in sorted({mutant.kind for mutant, _ in results}):
        counts = collections.Counter(result.status for mutant, result in results if mutant.kind == kind)
        say(f"  {kind}: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))
    counts = collections.Counter(result.status for _, result in results)
    noticed, counted = counts["caught"], counts["caught"] + counts["survived"]
    say(", ".join(f"{n} {status}" for status, n in sorted(counts.items())) +
        (f": {100 * noticed / counted:.1f} % of those that are not equivalent" if counted else ""))
    lied = [mutant for mutant, result in results if result.status == "caught" and mutant.number in said]
    for mutant, result in results:
        place, edit = f"{mutant.number} {mutant.file}:{mutant.line}", mutant.edit
        if result.status == "survived" and mutant.number not in said:
            say(f"nothing notices {place} {edit}: {mutant.source_line}")
    for mutant in lied:
        say(f"FAILED: equivalent.txt says that {mutant.number} {mutant.file}:{mutant.line} "
            f"{mutant.edit} makes no difference")
    missed = noticed < BAR * counted
    if missed:
        say(f"FAILED: fewer than {100 * BAR:.0f} % were caught")
    return 1 if missed or lied or wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        say(f"mutants.py: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
