#!/usr/bin/env python3
"""What a program pays for including an operation: seconds to compile and bytes of machine code.

    bench/compile_time.py [--out bench/results/compile.json]   measures, needs g++ and CMake
    bench/compile_time.py --page [--check]                          writes docs/install.md's table from that

Compiles a program that makes a plan, and so takes all that an operation has, with g++ -O2: header-only,
and against the library. Seconds are of the processor, the median of --rounds, and ratios to a program
that includes CL/opencl.hpp and does nothing. Bytes are those of the stripped program, less that one's.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench/results/compile.json"
PAGE = ROOT / "docs/install.md"
BEGIN, END = "<!-- compile_time.py -->\n", "<!-- /compile_time.py -->\n"
EMPTY = """#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#include <CL/opencl.hpp>
int main() {}
"""


def operations():
    """Header and class of each operation, by what the headers declare to be plans."""
    found = []
    for path in sorted((ROOT / "lib/clcook").glob("*.hpp")):
        for name in re.findall(r"^class (\w+) : public Plan<", path.read_text(), re.M):
            found.append((path.stem, name))
    return found


def program(header, name):
    return f"""#include <clcook/{header}.hpp>
int main() {{
  const auto rt = clcook::Runtime::pick();
  const clcook::{name} plan{{rt, clcook::{name}::Problem{{}}}};
  return static_cast<int>(plan.describe().size());
}}
"""


def seconds_of(command, rounds):
    times = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


class Compiler:
    def __init__(self, work, rounds):
        self.work, self.rounds = work, rounds
        build = work / "build"
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_COMPILER=g++", "-DCLCOOK_BUILD_TESTS=OFF", "-DCLCOOK_BUILD_TOOLS=OFF",
                        "-DCLCOOK_BUILD_EXAMPLES=OFF"], check=True, stdout=subprocess.DEVNULL)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["cmake", "--build", build, "-j", str(os.cpu_count())], check=True,
                       stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.library_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.includes = ["-I", ROOT / "lib", "-I", build / "generated"]
        self.library = build / "libclcook.a"

    def measure(self, text, compiled):
        source, made, linked = self.work / "a.cpp", self.work / "a.o", self.work / "a"
        source.write_text(text)
        way = ["-DCLCOOK_COMPILED"] if compiled else []
        took = seconds_of(["g++", "-std=c++17", "-O2", *way, *self.includes, "-c", source, "-o", made],
                          self.rounds)
        link = [self.library] if compiled else []
        subprocess.run(["g++", "-s", made, *link, "-lOpenCL", "-pthread", "-o", linked], check=True)
        return took, linked.stat().st_size


def measure(arguments):
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(pathlib.Path(folder), arguments.rounds)
        base_seconds, base_bytes = compiler.measure(EMPTY, False)
        rows = []
        for header, name in operations():
            row = {"operation": name, "header": f"clcook/{header}.hpp"}
            for way in ("compiled", "header_only"):
                took, size = compiler.measure(program(header, name), way == "compiled")
                row[way] = {"seconds": round(took, 2), "ratio": round(took / base_seconds, 2),
                            "bytes": size - base_bytes}
            took, _ = compiler.measure(f"#include <clcook/{header}.hpp>\nint main() {{}}\n", True)
            row["included"] = {"seconds": round(took, 2), "ratio": round(took / base_seconds, 2)}
            rows.append(row)
            print(json.dumps(row), flush=True)
        version = subprocess.run(["g++", "-dumpfullversion"], check=True, capture_output=True, text=True)
        commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
                                check=True, capture_output=True, text=True)
        return {"format": 1, "kind": "compile", "commit": commit.stdout.strip(),
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "command": "bench/compile_time.py", "compiler": "g++ " + version.stdout.strip(),
                "machine": platform.machine(), "rounds": arguments.rounds,
                "empty_seconds": round(base_seconds, 2),
                "library_seconds": round(compiler.library_seconds, 1), "rows": rows}


def table(result):
    out = [f"{result['compiler']} -O2, one processor. A program that includes `CL/opencl.hpp` alone takes "
           f"{result['empty_seconds']:.1f} s, the library itself {result['library_seconds']:.0f} s, once.", "",
           "| operation | `clcook::clcook` | program grows by | `clcook::header_only` | program grows by |",
           "|---|---:|---:|---:|---:|"]
    for row in result["rows"]:
        cells = [f"`{row['operation']}`"]
        for way in ("compiled", "header_only"):
            cells += [f"{row[way]['seconds']:.1f} s", f"{row[way]['bytes'] / 1000:.0f} kB"]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=RESULT)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write the table of docs/install.md")
    parser.add_argument("--check", action="store_true", help="with --page: fail where it differs, write nothing")
    arguments = parser.parse_args()
    if not arguments.page:
        arguments.out.write_text(json.dumps(measure(arguments), indent=1) + "\n")
        return 0
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not rest or not tail:
        sys.exit(f"{PAGE}: there is no {BEGIN.strip()} with its end")
    new = head + BEGIN + table(json.loads(RESULT.read_text())) + END + tail
    if arguments.check and new != text:
        sys.exit(f"{PAGE}: the table differs from {RESULT.name}; run {sys.argv[0]} --page")
    if not arguments.check:
        PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
