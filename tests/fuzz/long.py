#!/usr/bin/env python3
"""Runs the fuzz programs on all cores until each has tried so many inputs, or the time is over.

The programs are those that `./cook test --fuzz` builds with libFuzzer. A core that is free takes a turn
with the program that would take longest to end. Counts are added to those of --before, and inputs that
reach something new are kept for the next time. OUT gets counts.json, corpora.tar.gz and, for each program
that found something, its log and the input."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Program:
    def __init__(self, folder, work, name, before, files):
        self.name = name
        self.path = os.path.join(folder, name)
        self.seeds = os.path.join(files, "seeds", name)
        self.dictionary = os.path.join(files, name + ".dict")
        self.corpus = os.path.join(work, "corpora", name)
        os.makedirs(self.corpus, exist_ok=True)
        self.before = before
        self.runs = 0
        self.seconds = 0.0  # of processes, all together
        self.peak_mb = 0
        self.turns = 0
        self.running = 0
        self.found = None

    def left(self, wanted):
        return 0 if self.found else max(0, wanted - self.before - self.runs)

    def needs(self, wanted):
        """How long one more process would take beside those that run: large where nothing is known."""
        rate = self.runs / self.seconds if self.runs else 1.0
        return self.left(wanted) / max(rate, 1e-3) / (self.running + 1)


class Turn:
    def __init__(self, program, options, seconds, runs, seed, start):
        self.program = program
        self.folder = os.path.join(options.work, "turns", f"{program.name}.{seed}")
        os.makedirs(self.folder)
        self.log = os.path.join(self.folder, "log")
        # Standard output is what the readers print; `command` complains too.
        mask = 3 if program.name == "command" else 1
        self.begun = time.monotonic()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                start + [program.path, f"-seed={seed}", f"-max_total_time={max(1, int(seconds))}",
                         f"-runs={runs}", "-rss_limit_mb=512", "-timeout=10", "-reload=30",
                         f"-close_fd_mask={mask}", "-print_final_stats=1",
                         f"-dict={program.dictionary}", program.corpus, program.seeds],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=log,
                env=dict(os.environ, TMPDIR=self.folder))
        program.running += 1

    def ended(self, out):
        program = self.program
        program.running -= 1
        program.turns += 1
        program.seconds += time.monotonic() - self.begun
        with open(self.log, errors="replace") as log:
            text = log.read()
        stats = {name: int(value) for name, value in re.findall(r"^stat::(\w+): *(\d+)", text, re.M)}
        program.runs += stats.get("number_of_executed_units", 0)
        program.peak_mb = max(program.peak_mb, stats.get("peak_rss_mb", 0))
        code = self.process.returncode
        if code != 0 and not program.found:
            lines = [line for line in text.splitlines() if not re.match(r"#\d", line)]
            program.found = {"exit": code, "log": lines[-60:]}
            for name in sorted(os.listdir(self.folder)):
                if re.match(r"(crash|leak|timeout|oom|slow-unit)-", name) and "input" not in program.found:
                    program.found["input"] = f"{program.name}-{name}"
                    shutil.copy(os.path.join(self.folder, name), os.path.join(out, program.found["input"]))
        shutil.rmtree(self.folder)


def launcher(program):
    """What must stand before a program here: AddressSanitizer cannot live with every layout of
    addresses, its search for leaks not with every kernel. Sets ASAN_OPTIONS where that is needed."""
    probes = [([], ""), ([], "detect_leaks=0"), (["setarch", "-R"], ""),
              (["setarch", "-R"], "detect_leaks=0")]
    said = ""
    for start, options in probes:
        env = dict(os.environ, ASAN_OPTIONS=options)
        whole = True
        for _ in range(5):  # layouts are random
            try:
                done = subprocess.run(start + [program.path, "-runs=64"], env=env, cwd=tempfile.gettempdir(),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
            except (OSError, subprocess.TimeoutExpired) as error:
                said, whole = str(error), False
                break
            if done.returncode != 0:
                said, whole = done.stderr.decode(errors="replace")[-2000:], False
                break
        if whole:
            os.environ["ASAN_OPTIONS"] = options
            return start, options
    sys.exit(f"{program.path} does not run here: {said}")


def write(options, programs, begun, how):
    # A folder may come back with few files: everything of the counts is in one.
    state = {
        "seconds": round(time.monotonic() - begun, 1), "processes": options.jobs, "start": how,
        "programs": {one.name: {
            "runs": one.before + one.runs, "runs_here": one.runs, "cpu_seconds": round(one.seconds, 1),
            "per_second": round(one.runs / one.seconds, 1) if one.seconds else 0,
            "turns": one.turns, "peak_mb": one.peak_mb, "kept": len(os.listdir(one.corpus)),
            "found": one.found} for one in programs}}
    path = os.path.join(options.out, "counts.json")
    with open(path + ".new", "w") as file:
        json.dump(state, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", help="folder of the fuzz programs, such as build/fuzz/bin/fuzz")
    parser.add_argument("out", help="folder for counts.json, corpora.tar.gz and what was found")
    parser.add_argument("seconds", type=float, help="when the last turn ends")
    parser.add_argument("--runs", type=int, default=10_000_000, help="inputs wanted of each (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (%(default)s)")
    parser.add_argument("--turn", type=float, default=90, help="seconds of a turn (%(default)s)")
    parser.add_argument("--before", help="counts.json of an earlier time")
    parser.add_argument("--corpora", help="corpora.tar.gz of an earlier time")
    parser.add_argument("--files", default=HERE, help="folder of dictionaries and seeds/ (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first turn (%(default)s)")
    options = parser.parse_args()
    begun = time.monotonic()
    os.makedirs(options.out, exist_ok=True)
    before = {}
    if options.before:
        with open(options.before) as file:
            before = {name: one["runs"] for name, one in json.load(file)["programs"].items()}
    with tempfile.TemporaryDirectory(prefix="fuzz_") as options.work:
        if options.corpora:
            with tarfile.open(options.corpora) as kept:
                kept.extractall(options.work)
        names = sorted(name[:-5] for name in os.listdir(options.files) if name.endswith(".dict"))
        programs = [Program(options.programs, options.work, name, before.get(name, 0), options.files)
                    for name in names if os.path.exists(os.path.join(options.programs, name))]
        if not programs:
            sys.exit(f"there is no fuzz program in {options.programs}")
        start, asan = launcher(programs[0])
        turns, seed, reported = [], options.seed, 0.0
        while True:
            left = options.seconds - (time.monotonic() - begun)
            while len(turns) < options.jobs and left > 5:
                one = max(programs, key=lambda program: program.needs(options.runs))
                if one.left(options.runs) == 0:
                    break
                # The first turns are short: they tell how long each takes.
                wanted = options.turn if one.turns else options.turn / 4
                turns.append(Turn(one, options, min(wanted, left - 3), one.left(options.runs), seed, start))
                seed += 1
            if not turns:
                break
            time.sleep(0.2)
            for turn in [turn for turn in turns if turn.process.poll() is not None]:
                turns.remove(turn)
                turn.ended(options.out)
            if left < -20:  # each of them has a limit of its own
                for turn in turns:
                    turn.process.kill()
            if time.monotonic() - reported > 15:
                write(options, programs, begun, " ".join(start + [asan]))
                reported = time.monotonic()
        write(options, programs, begun, " ".join(start + [asan]))
        with tarfile.open(os.path.join(options.out, "corpora.tar.gz"), "w:gz") as kept:
            kept.add(os.path.join(options.work, "corpora"), "corpora")
    for one in programs:
        print(f"{one.name}: {one.before + one.runs} inputs, {one.runs} of them now"
              f"{', FOUND' if one.found else ''}")
    sys.exit(1 if any(one.found for one in programs) else 0)


if __name__ == "__main__":
    main()
