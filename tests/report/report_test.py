"""The scripts of `clcook report`: report_test.py CLCOOK [TEST...]. What the command itself refuses is here, too."""

import argparse
import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parents[2]
DATA = SOURCE / "tests/data/report"
RESULTS = SOURCE / "bench/results"
sys.path.insert(0, str(SOURCE / "bench/report"))
try:
    import jinja2  # noqa: F401
    import numpy  # noqa: F401
except ImportError as error:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print(f"SKIP: Python has no module {error.name} (on Debian: apt-get install python3-{error.name})")
    sys.exit(77)

import grid as results_grid  # noqa: E402
import ladder  # noqa: E402
import markdown  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402
from charts import gain_text  # noqa: E402
from intervals import Ratio, times  # noqa: E402
from results import Group, Refused, Result  # noqa: E402

CLCOOK = sys.argv.pop(1) if len(sys.argv) > 1 else "clcook"
END = "\n<!-- /clcook:table -->\n"


def clcook(*words, **environment):
    done = subprocess.run([CLCOOK, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment}, check=False)
    return done.returncode, done.stdout, done.stderr


def report(*words, **environment):
    return clcook("report", *words, **environment)


def facts_of(*words, **environment):
    """What the command hands over: with a python3 that shows it."""
    with tempfile.TemporaryDirectory() as folder:
        fake = Path(folder) / "python3"
        fake.write_text("#!/bin/sh\nexec cat\n")
        fake.chmod(0o755)
        code, out, err = report(*words, PATH=f"{folder}:{os.environ['PATH']}", **environment)
        assert code == 0, err
        return json.loads(out)


def foot(text, **queries):
    """A page with figures."""
    return text + "\n\n<!-- clcook:figures\n" + "".join(f"{name}: {query}\n" for name, query in queries.items()) + "-->\n"


FIXTURES = facts_of(*sorted((DATA / "bench/results").glob("*.json")))


def take(facts):
    for known in (results.RECIPES, results.COUNTERS):
        known.clear()
    results.TECHNIQUES.clear()
    return results.take(facts)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = self.make_folder()

    def make_folder(self):
        return Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def rewritten(self, page, check=False, facts=None, name="docs/page.md"):
        """A project of one page, with the fixtures as its results: the exit code, what is printed, and the page."""
        self.write(name, page)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = markdown.rewrite_markdown(str(self.folder), take(facts or FIXTURES), check)
        return code, out.getvalue(), (self.folder / name).read_text()

    def page_of(self, *words):
        out = self.folder / "page.html"
        code, _, err = report(*words, "--out", out)
        self.assertEqual(code, 0, err)
        return out.read_text()

    def is_well_formed(self, page):
        root = ElementTree.fromstring(page.replace("<!DOCTYPE html>", ""))
        ids = [one.get("id") for one in root.iter() if one.get("id")]
        self.assertEqual(len(ids), len(set(ids)))


class ThePage(Case):
    def test_of_every_kind_of_result_is_well_formed_and_stands_alone(self):
        page = self.page_of(*sorted((DATA / "bench/results").glob("*.json")))
        self.is_well_formed(page)
        for part in ('name="viewport"', "prefers-color-scheme: dark", "No roofline"):
            self.assertIn(part, page)
        for outside in ("<script", "https://", "<link", "@import", "url("):
            self.assertNotIn(outside, page)
        self.assertEqual(page.count("http://"), page.count('xmlns="http://www.w3.org/2000/svg"'))
        # 2 devices x (2 shapes + 1 shape) bars, rooflines where operations are counted, one curve.
        self.assertEqual(page.count('<svg class="plot"'), 6 + 4 + 1)
        self.assertNotRegex(page.partition("</style>")[2], "rgb\\(|#[0-9a-f]{6}|black")
        # Negative results stand at the top of the card.
        card = page.index('id="fixture_blur"')
        box = page[page.index("Does not pay here", card) : page.index("Is it right?", card)]
        for part in ('<strong>packed</strong>: <span class="failed">1 of 2 runs are wrong', '<strong>packed</strong>: <span class="">slower 0.7',
                     '<strong>unrolled</strong>: <span class="">tie ', '<strong>tiled@256</strong>: <span class="">tie ',
                     "On Fixture GPU, Fixture CL, driver 1.0", "On Fixture CPU, Fixture CL, driver 2.0"):  # fmt: skip
            self.assertIn(part, box)
        # Names are escaped.
        self.assertIn("&lt;b&gt;&amp;&#34;odd&#39;|name", page)
        self.assertNotRegex(page, "<b>|<i>")

    def test_says_which_proof_is_missing(self):
        page = self.page_of(DATA / "bench/results/gpu-check.json")
        self.is_well_formed(page)
        self.assertIn("No offline compilation was given for this recipe.", page)
        self.assertIn("Not measured on any device yet.", page)
        self.assertNotIn("<svg", page)

    def test_shows_pictures_with_their_error_and_psnr(self):
        before, after = DATA / "before.png", DATA / "after.png"
        page = self.page_of("--picture", f"fixture_blur={before},{after}")
        self.is_well_formed(page)
        self.assertIn("Unknown: there is no time measurement here.", page)
        self.assertEqual(page.count("data:image/png;base64,"), 3)
        # One of 16 pixels is off by 16 in one channel.
        self.assertIn("PSNR 40.9 dB, largest difference 16 of 255, 6.25 % of 4 × 4 pixels", page)
        self.assertIn("infinite (identical)", self.page_of("--picture", f"a={before},{before}"))
        self.assertEqual(self.page_of("--picture", f"a={before},{after},{after}").count("base64,"), 4)
        for picture, why in [(f"a={before},{DATA / 'wide.png'}", "pictures of one size"), (f"a={before}", "expected RECIPE=BEFORE,AFTER"),
                             (f"{before}", "expected"), (f"a={before},{DATA / 'README.md'}", "README.md")]:  # fmt: skip
            code, _, err = report("--picture", picture, "--out", self.folder / "no.html")
            self.assertEqual(code, 2)
            self.assertIn(why, err)
        self.assertFalse((self.folder / "no.html").exists())

    def test_shows_wide_pictures_smaller_and_keeps_a_wrong_pixel(self):
        import base64

        import numpy as np
        import pictures

        wide = np.zeros((3, 2000, 4), np.uint8)
        wrong = wide.copy()
        wrong[2, 1999, 0] = 200
        given = [{"file": "f", "width": 2000, "height": 3, "rgba": base64.b64encode(one.tobytes())} for one in (wide, wrong)]
        made = pictures.figures_of({"recipe": "a", "pictures": given})
        self.assertEqual([one[1:3] for one in made["figures"]], [(667, 1)] * 3)
        self.assertIn("white 200 of 255", made["figures"][2][0])
        _, _, _, heat = pictures.figure("", np.array([[[0, 0, 0]] * 999 + [[255, 255, 255]]]), True)
        self.assertEqual(base64.b64decode(heat)[1:4], b"PNG")

    def test_of_the_committed_results_has_each_kind_in_its_place(self):
        files = sorted(RESULTS.glob("*.json"))
        if os.environ.get("CLCOOK_TEST_GRID") == "short":
            # The smallest of each kind, which is behind the device: h200_bench_line_blur, but isa.
            smallest = {}
            for path in sorted(files, key=lambda path: path.stat().st_size):
                smallest.setdefault(path.stem.partition("_")[2].partition("_")[0] or path.stem, path)
            files = list(smallest.values())
        page = self.page_of(*files)
        self.is_well_formed(page)
        self.assertIn("<h3>The first blur of a new process</h3>", page)
        self.assertIn("<summary>Beside other libraries</summary>", page)
        self.assertNotIn("<h2></h2>", page)
        for kind in ("check", "bench", "isa", "stages", "explore", "peers", "startup", "counters", "python", "compile", "conventions", "ndimage"):
            self.assertIn(f"<td>{kind}</td>", page)


class TheCommand(Case):
    def test_refuses_files_that_are_no_results_of_this_version_and_writes_nothing(self):
        twice = DATA / "bench/results/gpu-bench.json"
        for files, why in [(["bad/version.json"], "format version 99, this clcook reads version 1; measure again: clcook bench"),
                           (["bad/truncated.json"], "not a whole JSON file"), (["bad/kind.json"], "no place for a result of kind 'shopping_list'"),
                           (["bad/rows.json"], "bad/rows.json: malformed: rows[0] has no 'variant'"), (["bad/nodevice.json"], "'device' is missing"),
                           (["bad/absent.json"], "absent.json"), ([twice, twice], "have the same name")]:  # fmt: skip
            code, _, err = report(*(DATA / one for one in files), "--out", self.folder / "page.html")
            self.assertEqual(code, 2)
            self.assertIn(why, err)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_leaves_no_half_written_file_in_an_unwritable_place(self):
        check = DATA / "bench/results/gpu-check.json"
        self.write("file", "not a folder")
        (self.folder / "page.html/inside").mkdir(parents=True)
        for out in ("file/page.html", "page.html", "absent/page.html"):
            code, _, err = report(check, "--out", self.folder / out)
            self.assertEqual((code, "clcook: write " in err), (2, True), err)
        self.assertEqual(sorted(one.name for one in self.folder.iterdir()), ["file", "page.html"])
        self.assertEqual((self.folder / "file").read_text(), "not a folder")
        # A link stays one, and a file keeps its permissions.
        real = self.write("real.html", "old")
        real.chmod(0o640)
        (self.folder / "link.html").symlink_to(real)
        self.assertEqual(report(check, "--out", self.folder / "link.html")[0], 0)
        self.assertTrue((self.folder / "link.html").is_symlink())
        self.assertIn("</html>", real.read_text())
        self.assertEqual(real.stat().st_mode & 0o777, 0o640)

    def test_says_what_to_install(self):
        result, out = DATA / "bench/results/gpu-bench.json", self.folder / "page.html"
        code, _, err = report(result, "--out", out, PATH=str(self.folder))
        self.assertEqual(code, 2)
        self.assertIn("apt-get install python3 python3-jinja2 python3-numpy", err)
        for module in ("jinja2", "numpy"):
            self.write(f"{module}/{module}.py", f"raise ImportError('none', name='{module}')")
            code, _, err = report(result, "--out", out, PYTHONPATH=str(self.folder / module))
            self.assertEqual(code, 2)
            self.assertIn(f"Python has no module {module}. On Debian: apt-get install python3-{module}", err)
        self.assertFalse(out.exists())

    def test_refuses_options_that_do_not_belong_together(self):
        for words, why in [(["--check"], "--check needs --markdown"), (["--markdown", "--picture", "a=b,c"], "--picture is for the page"),
                           (["--root", self.folder], "give result files"), (["--demo", self.folder, "--markdown"], "--demo does not go with"),
                           (["--markdown", "--root", self.folder], "there is neither README.md nor docs/*.md")]:  # fmt: skip
            code, _, err = report(*words)
            self.assertEqual(code, 2)
            self.assertIn(why, err)

    def test_of_cook_is_named_where_it_does_not_know_an_argument(self):
        for words in (["demo", "fully"], ["demo", "--full", "fully"], ["fully"]):
            done = subprocess.run([SOURCE / "cook", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("'fully'", done.stderr)
            self.assertNotIn("packages", done.stdout)


class TheDemo(Case):
    def demo(self, *words):
        code, _, err = report("--demo", self.folder, *words)
        return code, err, (self.folder / "index.html").read_text() if code == 0 else ""

    def test_opens_with_what_pays_here_and_says_what_does_not(self):
        bench = json.loads((DATA / "bench/results/gpu-bench.json").read_text())
        self.write("bench.json", json.dumps(bench))
        self.write("line_blur.txt", "line_blur scene out/picture.png out/absent.png\n3 < 4 us\n")
        self.write("picture.png", (DATA / "before.png").read_bytes())
        others = DATA / "bench/results/cpu-bench.json"
        code, err, page = self.demo(others)
        self.assertEqual(code, 0, err)
        self.is_well_formed(page)
        self.assertNotIn("<script", page)
        parts = re.split("What pays on your device|What does not pay here|Pictures, and what was printed|Other devices", page)
        _, table, negative, printed, other = parts
        # The largest gain first, with the figures of the file.
        self.assertGreater(table.index("fixture_blur"), table.index("|name"))
        for part in ('faster">3.2', "tiled", "996 µs", "in the cache"):
            self.assertIn(part, table)
        self.assertIn('unrolled <span class="">tie 0.99×', negative)
        self.assertIn('packed <span class="">slower 0.7', negative)
        self.assertNotIn("tiled", negative)
        # A picture that is there, and what was printed.
        self.assertEqual(page.count("<img "), 1)
        self.assertIn('src="picture.png"', printed)
        self.assertIn("3 &lt; 4 us", printed)
        self.assertIn("Fixture CPU: the fastest variant", other)
        self.assertIn("fixture_blur/images</strong>: skipped: no image support", other)
        # The best is a tie, or does not pay.
        for gone, best in (("tiled", 'tie">tie: 0.99×'), ("unrolled", 'slower">slower: 0.7')):
            for row in bench["rows"]:
                row.pop("ratio", None) if row["variant"] == gone else None
            self.write("bench.json", json.dumps(bench))
            self.assertIn(best, self.demo(others)[2])

    def test_has_the_gain_over_a_loop_first_where_one_was_timed_here(self):
        text = (DATA / "bench/results/gpu-bench.json").read_text().replace("fixture_blur", "line_blur")
        self.write("bench.json", text)
        row = {"case": "a", "who": "clcook (coalesced)", "version": "", "seconds": [1, 1, 1], "max_error": 0.0, "psnr": None}
        peers = {"format": 1, "kind": "peers", "commit": "abc1234", "date": "2026-01-02T03:04:05Z", "recipe": "line_blur", "threads": 2,
                 "device": json.loads(text)["device"], "rows": [row, {**row, "who": "C++ loop", "seconds": [4.5, 4.5, 4.5]}]}  # fmt: skip
        others = DATA / "bench/results/cpu-bench.json"
        for device, skipped, wanted in [({}, {}, True), ({"name": "another"}, {}, False), ({}, {"skipped": "it differs", "seconds": None}, False)]:
            rows = [row, {**peers["rows"][1], **skipped}]
            rows[1] = {key: value for key, value in rows[1].items() if value is not None or key == "psnr"}
            self.write("loops_peers_line_blur.json", json.dumps({**peers, "device": {**peers["device"], **device}, "rows": rows}))
            code, out, err = report("--demo", self.folder, others)
            self.assertEqual(code, 0, err)
            page = (self.folder / "index.html").read_text()
            self.is_well_formed(page)
            for part in ("Against a C++ loop, 2 threads", "beating it here proves little", '4.5× [4.5, 4.5]'):
                self.assertEqual(part in page, wanted, part)
            self.assertRegex(out, r"line_blur +4\.5× +3\.2× +tiled" if wanted else r"line_blur +3\.2× +tiled")

    def test_goes_without_times_but_not_without_anything(self):
        self.write("line_blur.txt", "line_blur\n")
        self.assertIn("Not measured yet", self.demo()[2])
        (self.folder / "line_blur.txt").unlink()
        self.assertIn("neither a bench.json nor", self.demo()[1])
        self.write("bench.json", (DATA / "bench/results/gpu-check.json").read_text())
        self.assertIn("holds a result of kind 'check', expected 'bench'", self.demo()[1])


class Curves(Case):
    def test_that_lie_on_each_other_are_drawn_once_with_all_their_names(self):
        made = [{"recipe": "toy", "axis": "share", "along": "share", "shape": {"run": run}, "points": [0, 50, 100], "variants": [
            {"variant": "calls", "baseline": True, "measured_us": [100, 300 if run == 1 else 100, 100]},
            {"variant": "select", "baseline": False, "measured_us": [100.5, 100, 100]}]} for run in (1, 8, 64)]  # fmt: skip
        toy = {"format": 1, "kind": "explore", "commit": "1234567", "date": "2026-01-02T03:04:05Z", "curves": made,
               "device": {"name": "A", "platform": "B", "driver": "C"}}  # fmt: skip
        file = self.write("toy.json", json.dumps(toy))
        code, _, err = report("--curves", "toy", "toy", self.folder / "toy.svg", file)
        self.assertEqual(code, 0, err)
        svg = (self.folder / "toy.svg").read_text()
        self.is_well_formed(svg)
        self.assertIn("calls, run 1<", svg)
        self.assertIn("calls, run 8, 64; select<", svg)
        self.assertNotIn("var(", svg)

    def test_of_a_page_are_held(self):
        page = "<!-- clcook:curves gpu-explore fixture_blur -->\n![Its words](images/a.svg)\n<!-- /clcook:curves -->\n"
        self.assertEqual(self.rewritten(page)[::2], (0, page))
        self.assertIn("predicted", (self.folder / "docs/images/a.svg").read_text())
        self.assertIn("2 tables and figures, 0 differ", self.rewritten(page, True)[1])
        self.write("docs/images/a.svg", "another")
        self.assertIn("docs/images/a.svg differs from the results", self.rewritten(page, True)[1])
        with self.assertRaisesRegex(Refused, "shows no picture"):
            self.rewritten("<!-- clcook:curves gpu-explore fixture_blur -->\nwords\n<!-- /clcook:curves -->\n")


class Documents(Case):
    def test_of_this_project_are_those_of_its_results(self):
        code, out, err = report("--markdown", "--check", "--root", SOURCE)
        self.assertEqual(code, 0, out + err)

    def test_of_the_fixtures_are_as_committed(self):
        page = (DATA / "docs/document.md").read_text()
        self.assertIn("16 tables and figures, 0 differ", self.rewritten(page, True)[1])
        stale = page.replace("| tiled group=256 |", "| Tiled group=256 |", 1)
        code, out, same = self.rewritten(stale, True)
        self.assertEqual((code, same), (1, stale))
        for part in ("docs/page.md:", "table bench gpu-bench fixture_blur", "\n- | Tiled group=256 |", "\n+ | tiled group=256 |"):
            self.assertIn(part, out)
        self.assertEqual(self.rewritten(stale)[::2], (0, page))
        self.assertIn("0 changed", self.rewritten(page)[1])

    def test_have_a_column_per_device_in_the_table_of_recipes(self):
        _, _, page = self.rewritten("<!-- clcook:table recipes -->" + END, name="README.md")
        for part in ("| Recipe | The question | Fixture CPU | Fixture GPU |", "| [fixture_blur](docs/fixture_blur.md) |", "× tiled (2)** |",
                     "&lt;b&gt;&amp;\"odd'\\|name", "fast\\`x\\`&lt;i&gt;"):  # fmt: skip
            self.assertIn(part, page)

    def test_have_a_word_for_each_technique_with_its_evidence_and_what_pays_first(self):
        facts = copy.deepcopy(FIXTURES)
        facts["results"] += facts_of(*(RESULTS / f"h200_{one}.json" for one in ("bench_gbuffer_shade", "explore_group_size", "counters")))["results"]
        _, _, page = self.rewritten("<!-- clcook:table techniques h200_bench_gbuffer_shade -->" + END, facts=facts)
        for part in ("| It | Evidence on NVIDIA H200 | Page |\n", "| ties | predicates to sign_bit ", "| costs | packed to short2 ",
                     "| **pays** | prefix sums, as many waves resident, groups of 1024 to groups of 128: ",
                     "| not tested | predicates to reloaded ", "; 120 registers both: the driver saves none",  # it saves registers, or is not tested
                     "| not tested | no time of this device yet | [vertex_transform]", "| not tested | clcook bench halo_tile --all-tunes;"):  # fmt: skip
            self.assertIn(part, page)
        places = [page.index("**pays**"), page.index("| ties |"), page.index("| costs |"), page.rindex("| costs |"), page.index("| not tested |")]
        self.assertEqual(places, sorted(places))

    def test_have_ladders_of_the_device_and_shape_of_the_chart(self):
        names = ("h200_bench_argument_swap", "h200_counters", "h200_bench_halo_tile", "pocl_bench_regroup")
        facts = facts_of(*(RESULTS / f"{one}.json" for one in names))

        def made(chart, words):
            try:
                return self.rewritten(f"<!-- clcook:chart {chart} -->\n<!-- /clcook:chart -->\n\n<!-- clcook:table ladder {words} -->{END}", facts=facts)[2]
            except Refused as error:
                return str(error)

        for chart, words, parts in [
            ("argument_swap h200_bench_argument_swap", "argument_swap",
             ["| Variant | What it changes | Median µs | Of the multiply-adds | This step alone | What limits it now |\n|---|---|---:|---:|---|---|\n"
              "| two_calls | one call in each branch | ", " | baseline | 16 of 32 lanes active |\n| swap_in_place | ", "×** | issue slots 9",
              " | tie | issue slots 9", "run=1.* [How to read it](report.md#ladders).\n<!--"]),
            # At a size that nobody has counted; with one rung more.
            ("halo_tile h200_bench_halo_tile width=1024", "halo_tile direct_multi",
             ["| Of the copy | This step alone |\n", "\n| direct_multi | ", "\n| local_tile | after direct: ",
              "radius=1 pixel=rgba32f border=clamp; a copy takes "]),
            # On a CPU to what is recommended there.
            ("regroup pocl_bench_regroup paths=8", "regroup", ["\n| cpu_lanes | "]),
            ("halo_tile h200_bench_halo_tile radius=4", "halo_tile block", ["'h200_bench_halo_tile' has no time of 'block' at filter=dilation"]),
            ("halo_tile h200_bench_halo_tile", "regroup", ["a ladder has the shape of a chart above it; there is none of 'regroup'"]),
        ]:  # fmt: skip
            page = made(chart, words)
            for part in parts:
                self.assertIn(part, page)

    def test_with_markers_that_make_no_sense_are_errors_with_file_and_line(self):
        good = "<!-- clcook:table results -->\nold\n<!-- /clcook:table -->\n\n"
        kernel = "k.cl", "#define TWICE(x) 2\n"
        for what, because in {
            "table nonsense": "there is no table 'nonsense'; known are recipes",
            "table techniques": "expected: clcook:table techniques RESULT",
            "table techniques gpu-check": "is a result of kind 'check', this needs 'bench'",
            "table bench gpu-bench": "expected: clcook:table bench RESULT RECIPE",
            "table bench gpu-bench other": "'gpu-bench' has nothing about 'other'",
            "table conventions offline-conventions Other": "'offline-conventions' has nothing about 'Other'",
            "table bench gpu-check fixture_blur": "is a result of kind 'check', this needs 'bench'",
            "table counters gpu-counters fixture_blur": "expected: clcook:table counters RESULT RECIPE COUNTER...",
            "table counters gpu-counters fixture_blur widths": "there is no counter 'widths'; known are time_ns lanes instructions",
            "table counters gpu-counters other lanes": "'gpu-counters' has nothing about 'other'",
            "table counters gpu-bench fixture_blur lanes": "this needs 'counters'",
            "table isa offline-isa fixture_blur sm_90 widths": "'widths' are not all counts of machine code; known are instructions",
            "table steps absent": "there is no recipe 'absent'",
            "table ladder": "expected: clcook:table ladder RECIPE [VARIANT...]",
            "table stages absent": "there is no result 'absent'; known are cpu-bench gpu-bench",
            "chart gone gpu-bench": "has no times of 'gone'",
            "older threshold_count measured": "expected: clcook:older RECIPE@HASH RESULT...",
            "older threshold_count@1 measured": "must stand why the results hold",
            "kernel k.cl": "expected: clcook:kernel FILE NAME",
            "kernel k.cl twice": "there is no function or macro 'twice' in k.cl",
            "kernel absent.cl twice": "absent.cl: No such file",
            "figure x": "unknown marker; known are clcook:table",
        }.items():
            kind = what.partition(" ")[0]
            with self.assertRaises(Refused, msg=what) as raised:
                self.write(*kernel)
                self.rewritten(f"{good}<!-- clcook:{what} -->\n<!-- /clcook:{kind} -->\n")
            self.assertRegex(str(raised.exception), "^docs/page.md:5: ")
            self.assertIn(because, str(raised.exception))
            self.assertIn("\nold\n", (self.folder / "docs/page.md").read_text())
        for text, because in [("<!-- clcook:table results -->\n", "not closed by <!-- /clcook:table -->"),
                              ("<!-- clcook:table results -->\n<!-- clcook:table results -->" + END, "not closed"),
                              (END[1:], "nothing is open here"),
                              (2 * "<!-- clcook:chart fixture_blur gpu-bench -->\n<!-- /clcook:chart -->\n", "there is another chart")]:  # fmt: skip
            with self.assertRaisesRegex(Refused, because):
                self.rewritten(good + text)

    def test_take_a_number_for_the_same_however_it_was_written(self):
        """--shape "radius=64" makes a whole number of what a recipe's own shape has as 64.0."""
        for radius in (64, 64.0):
            rows = [{"variant": "a", "shape": {"radius": radius}, "us": 1}, {"variant": "a", "shape": {"radius": 64.5}, "us": 2}]
            self.assertEqual(results.text_of(rows[0]["shape"]), "radius=64")
            for wanted, us in (("64", 1), ("64.0", 1), ("64.5", 2)):
                self.assertEqual(markdown.follow({"rows": rows}, f"/rows/variant=a,shape.radius={wanted}/us"), us)

    def test_with_figures_that_make_no_sense_are_errors_with_file_and_line(self):
        for query, because in {
            "value gpu-bench": "expected: value RESULT POINTER",
            "value gpu-bench seed": "'seed': a pointer begins with '/'",
            "value gpu-bench /nothing": "there is no 'nothing'",
            "value gpu-bench /rows/99": "there is no element 99",
            "value gpu-bench /rows/0": "neither a number nor a text",
            "value gpu-bench /rows/variant=tiled/median_us": "several elements",
            "value gpu-bench /rows/variant=absent/median_us": "no element has",
            "value gpu-bench /rows/tiled/median_us": "neither an index nor key=value",
            "value gpu-bench /seed {:s}": "does not fit 1",
            "value gpu-bench /seed x*{}": "no number before the '*'",
            "gain gpu-bench fixture_blur gone": "'gpu-bench' has no ratio of 'gone'",
            "gain gpu-bench fixture_blur tiled width=1": "has no times of 'fixture_blur' with width=1",
            "gain gpu-bench fixture_blur": "expected: gain RESULT RECIPE VARIANT",
            "share gpu-bench": "'share gpu-bench' is neither gain nor value",
        }.items():
            with self.assertRaises(Refused, msg=query) as raised:
                self.rewritten(foot("?<!--a1-->", a1=query))
            self.assertIn(because, str(raised.exception))
            self.assertRegex(str(raised.exception), "^docs/page.md:4: a1: ")
        seed = "value gpu-bench /seed"
        for text, because in {
            foot("?<!--a2-->\n?<!--a1-->", a1=seed): "docs/page.md:1: <!--a2--> has no query in a block clcook:figures at the foot",
            foot("Nothing.", a1=seed): "docs/page.md:4: the figure a1 stands nowhere",
            foot("About that<!--a1-->", a1=seed): "docs/page.md:1: before <!--a1--> stands nothing like '1', nor a '?' for it",
            foot("?<!--a1-->", a1=seed) + f"<!-- clcook:figures\na1: {seed}\n-->\n": "docs/page.md:6: there is another block clcook:figures",
            f"<!-- clcook:figures\na1: {seed}\na1: {seed}\n-->\n?<!--a1-->\n": "docs/page.md:3: there is another figure a1",
            "<!-- clcook:figures\nwords\n-->\n": "docs/page.md:2: expected 'ID: gain ...' or 'ID: value ...', got: words",
        }.items():
            with self.assertRaises(Refused) as raised:
                self.rewritten(text)
            self.assertEqual(str(raised.exception), because)

    def test_hold_figures_before_their_names(self):
        value = "value gpu-bench /rows/variant=tiled,shape.width=1920/ratio/value {:.1f} times"
        gain = "gain gpu-bench fixture_blur tiled"
        for text, query, wanted in [
            ("It is ?<!--a1--> faster.", value, "It is 3.2 times<!--a1--> faster."),
            ("?<!--a1--> as fast", "value gpu-bench /rows/variant=tiled,shape.width=1920/ratio/value {:times} times", "3.2 times<!--a1--> as fast"),
            ("It is 99.5 times<!--a1--> faster.", value, "It is 3.2 times<!--a1--> faster."),
            ("It is 3.2\n  times<!--a1-->.", value, "It is 3.2\n  times<!--a1-->."),
            ("It is 9\n  times<!--a1-->.", value, "It is 3.2 times<!--a1-->."),
            ("10-13.2 times<!--a1-->, then 3.2 times<!--a1-->", value, "10-3.2 times<!--a1-->, then 3.2 times<!--a1-->"),
            ("as fast as<!--a1-->", gain, "3.2 times as fast as<!--a1-->"),
            ("is 0.80 to 1.2\ntimes (not told apart) as fast as<!--a1-->", gain, "is 3.2 times as fast as<!--a1-->"),
            ("not told apart: 0.80× to 1.2×<!--a1-->", gain + " short", "3.2×<!--a1-->"),
            ("**a tie<!--a1-->** or 7.11×<!--a1-->", gain + " short", "**3.2×<!--a1-->** or 3.2×<!--a1-->"),
            ("on Fixture GPU<!--a1-->", "value gpu-bench\n  /device/name", "on Fixture GPU<!--a1-->"),
            ("`?<!--a1-->` and 7<!--a1-->", "value gpu-bench /seed", "`?<!--a1-->` and 1<!--a1-->"),
            ("<!-- clcook:older *@1 gpu-check -->\n7<!--a1-->\n<!-- /clcook:older -->", "value gpu-bench /seed",
             "<!-- clcook:older *@1 gpu-check -->\n1<!--a1-->\n<!-- /clcook:older -->"),
        ]:  # fmt: skip
            self.assertEqual(self.rewritten(foot(text, a1=query))[2], foot(wanted, a1=query))
        done = self.rewritten(foot("It is 9 times<!--a1-->.", a1=value), True)
        self.assertEqual((done[0], done[1].split("\n")[:3]), (1, [f"docs/page.md:1: {value} differs from the results", "- 9 times", "+ 3.2 times"]))

    def test_mean_the_element_with_the_shortest_shape(self):
        page = foot("?<!--a1-->", a1="value gpu-bench /rows/variant=tiled/median_us {}")
        for height, value in ((64, "309.532"), (1080, "3.096")):
            facts = copy.deepcopy(FIXTURES)
            for row in next(one for one in facts["results"] if one["stem"] == "gpu-bench")["json"]["rows"]:
                if row["shape"].get("height") == height:
                    row["shape"]["depth"] = 1
            self.assertIn(f"{value}<!--a1-->", self.rewritten(page, facts=facts)[2])

    def test_show_each_comparison_with_other_programs_on_the_recipes_page(self):
        row = {"who": "clcook", "case": "a picture", "version": "", "seconds": [1, 1], "max_error": 0.0, "psnr": None}
        peers = {"format": 1, "kind": "peers", "commit": "abc1234", "recipe": "fixture_blur", "rows": [row, {**row, "who": "other", "seconds": [2, 2]}],
                 "device": {"name": "Fixture GPU", "platform": "none", "driver": "1"}}  # fmt: skip
        facts = facts_of(self.write("gpu_peers_fixture_blur.json", json.dumps(peers)))
        part, page = "clcook:table peers gpu_peers_fixture_blur", "docs/fixture_blur.md"
        missing = f"{page} leaves out gpu_peers_fixture_blur: add <!-- {part} -->"
        for text, name, is_missing in [(f"<!-- {part} -->{END}", page, False), ("# A page\n", page, True), ("<!-- clcook:table results -->" + END, page, True),
                                       (f"`<!-- {part} -->`\n", page, True), ("# A page\n", "docs/other.md", False)]:  # fmt: skip
            self.rewritten(text, facts=facts, name=name)
            out = self.rewritten((self.folder / name).read_text(), True, facts, name)[1]
            self.assertEqual(missing in out, is_missing, out)
            (self.folder / name).unlink()

    def test_do_not_say_that_what_a_result_has_is_missing(self):
        facts = {**FIXTURES, "recipes": [recipe_of("fixture_blur", variants=[
            {"name": one, "baseline": one == "naive", "approximate": False} for one in ("naive", "tiled", "packed", "image")])]}  # fmt: skip
        for text, name, status in [
            ("`tiled` was not counted.", "tiled", "counted"), ("Of the rest\n`image` and\n`tiled` have not been counted.", "tiled", "counted"),
            ("Not counted yet: `image`, `naive`.", "naive", "counted"), ("`image`, `packed`, and `naive` have no counters.", "naive", "counted"),
            ("There is no counter for `tiled`.", "tiled", "counted"), ("The counters of `tiled` are missing.", "tiled", "counted"),
            ("| case | why |\n|---|---|\n| `tiled` | not counted yet |", "tiled", "counted"), ("`packed` is not yet measured.", "packed", "measured"),
            ("Not measured are `packed` and `image`.", "packed", "measured"),
            # What is so, what is of something else, and what is no text.
            ("`image` was not counted.", "", ""), ("`packed` has no counters.", "", ""), ("`image` was not measured.", "", ""),
            ("Which of `tiled` and `naive` gains by it was not measured.", "", ""), ("`tiled` was counted, which of the two weighs more not.", "", ""),
            ("```\n`tiled` was not counted.\n```", "", ""), ("<!-- `tiled` was not counted. -->", "", ""),
        ]:  # fmt: skip
            for page in ("docs/fixture_blur.md", "docs/other.md"):
                out = self.rewritten("# A page\n\n" + text + "\n", True, facts, page)[1]
                (self.folder / page).unlink()
                said = [line for line in out.splitlines() if " says that " in line]
                line = 3 + text[: text.find(f"`{name}`")].count("\n") if text.startswith("|") else 3 + text.startswith("Of")
                has = "gpu-counters" if status == "counted" else "cpu-bench"
                self.assertEqual(said, [f"{page}:{line} says that '{name}' was not {status}; {has} has it"] if name else [], text)

    def test_with_charts_and_tables_of_shapes_say_what_the_results_say(self):
        text = ("<!-- clcook:table speed gpu-bench fixture_blur -->" + END
                + "<!-- clcook:chart fixture_blur gpu-bench -->\n<!-- /clcook:chart -->\n")  # fmt: skip
        _, _, page = self.rewritten(text)
        for part in ("| Fixture GPU | width=1920 height=1080 | width=64 height=64 |\n|---|---:|---:|\n| naive | 996 µs | 9.97 µs |\n"
                     "| tiled | **3.2×** | **3.2×** |\n| unrolled | tie | tie |\n| packed | 0.71× | 0.71× |\n"):  # fmt: skip
            self.assertIn(part, page)
        chart = self.folder / "docs/images/chart_fixture_blur.svg"
        for part in ('<text class="ink small strong" x="16" y="97">tiled</text>', ">baseline<", ">faster<", ">a tie<", ">slower<", ">bold<", ">95 % interval<"):
            self.assertIn(part, chart.read_text())
        self.assertNotRegex(chart.read_text(), 'strong" x="16" y="73">naive|too long to draw')
        self.assertIn("3 tables and figures, 0 differ", self.rewritten(page, True)[1])
        chart.write_text("")
        self.assertIn("docs/images/chart_fixture_blur.svg differs from the results", self.rewritten(page, True)[1])


KERNELS = """#define TWICE(x) \\
  ((x) + \\
   (x))
static float twice_of(float x);
static float twice_of(float x) {
  return TWICE(x);
}

__kernel void slow(__global float* y,
                   int n) {
  const int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += twice_of(y[k]);
  }
  y[i] = sum;
}
"""


class Kernels(Case):
    def cut(self, arguments, name="docs/page.md"):
        self.write("k.cl", KERNELS)
        return self.rewritten(f"<!-- clcook:kernel k.cl {arguments} -->\n<!-- /clcook:kernel -->\n", name=name)[2]

    def test_are_cut_out_of_their_files(self):
        for arguments, part in {
            "TWICE twice_of": "-->\n```c\n#define TWICE(x)\n  ((x) +\n   (x))\n\nstatic float twice_of(float x) {\n  return TWICE(x);\n}\n```\n\n"
                              "[k.cl, lines 1 to 3](../k.cl#L1-L3), [k.cl, lines 5 to 7](../k.cl#L5-L7)\n<!--",
            'TWICE from="(x))"': "-->\n```c\n#define TWICE(x)\n  // ...\n   (x))\n```\n",
            'slow from="for (" to="sum +=" mark="twice_of("':
                '-->\n```c hl_lines="4"\n__kernel void slow(...) {\n  // ...\n  for (int k = 0; k < n; ++k) {\n    sum += twice_of(y[k]);  // <--\n'
                "  // ...\n}\n```\n\n[k.cl, lines 9 to 17](../k.cl#L9-L17)\n<!--",
        }.items():  # fmt: skip
            self.assertIn(part, self.cut(arguments))
        self.assertIn("(k.cl#L5-L7)\n", self.cut("twice_of", "README.md"))

    def test_that_their_files_do_not_have_are_errors(self):
        for arguments, message in {
            'slow from="while"': "'slow' has no line with from=\"while\"",
            'slow from="for" to="while"': "'slow' has no line with to=\"while\" after from=\"for\"",
            'slow from="for" to="sum" mark="y[i]"': "what is shown of 'slow' has no mark=\"y[i]\"",
            'slow to="for"': 'to="for" has no from before it',
            'slow colour="red"': "'colour' is neither from, to nor mark",
            'slow mark="for': "no closing quote",
            'slow mark=""': "mark is empty",
        }.items():  # fmt: skip
            with self.assertRaises(Refused) as raised:
                self.cut(arguments)
            self.assertIn(message, str(raised.exception))

    def test_that_have_changed_since_are_found(self):
        page = self.cut("twice_of")
        self.write("k.cl", KERNELS.replace("return TWICE(x)", "return 2.0f * x"))
        self.assertIn("docs/page.md:1: kernel k.cl twice_of differs from", self.rewritten(page, True)[1])


# ---- Where results come from ----

RECIPE = "threshold_count"


class Provenance(Case):
    def setUp(self):
        super().setUp()
        recipe = next(one for one in FIXTURES["recipes"] if one["name"] == RECIPE)
        self.variant = next(one["name"] for one in recipe["variants"] if one["baseline"])
        self.device = {"name": "Fixture GPU", "platform": "Fixtures", "driver": "1", "type": "gpu", "max_group": 256, "local_mem": 32768}
        self.tune, self.shape = recipe["first_tune"], recipe["first_shape"]

    def result(self, kind, ran=None, commit="abc1234"):
        """A result of a kind with a row of a recipe that this program has, and what it ran."""
        out = {"format": 1, "kind": kind, "commit": commit, "device": self.device}
        row = {"recipe": RECIPE, "variant": self.variant, "tune": self.tune, "shape": self.shape}
        if kind == "bench":
            fixture = json.loads((DATA / "bench/results/gpu-bench.json").read_text())
            row = {**next(one for one in fixture["rows"] if one["status"] == "measured"), **row, "blocks": 3}
            out.update(seed=1, processes=3, ceilings={"copy_gbs": 1, "cached_copy_gbs": 1, "fma_gops": 1, "launch_us": 1}, rows=[row])
        elif kind == "check":
            counts = dict.fromkeys(("failed", "skipped", "launches", "compared", "max_error", "bound", "share"), 0)
            out["totals"] = [row := {"recipe": RECIPE, "variant": self.variant, "runs": 1, "passed": 1, **counts, "skips": []}]
        elif kind == "isa":
            row.update(dict.fromkeys(("kernel", "label", "options", "tune"), ""), target="sm_90", problem="invented")
            out.update(targets=[], kernels=[row])
        elif kind == "startup":
            row = {**dict.fromkeys(("pick_s", "plan_s", "first_blur_s", "second_blur_s", "processor_s"), 1), "compiled": 1, "method": "separable"}
            out.update(problem={"width": 64, "height": 64, "sigma": 2.0}, rows=[row])
        elif kind == "stages":
            out.update(recipe=RECIPE, shape=self.shape, rows=[row := {"stage": self.variant, "seconds": [1], "median_us": 1}])
        if ran:
            row["ran"] = ran
        return out

    def checked(self, result, page="# A page\n", **environment):
        self.write("bench/results/measured.json", json.dumps(result))
        return self.rewritten(page, True, facts_of("--markdown", "--check", "--root", self.folder, **environment))[:2]

    def ran(self, kind):
        """What such a row runs now."""
        facts = facts_of("--markdown", "--check", self.write("now.json", json.dumps(self.result(kind))))
        return facts["results"][0]["ran"][0]["now"]

    def passes(self, checked):
        self.assertEqual(checked[0], 0, checked[1])

    def refused(self, checked, because):
        self.assertEqual(checked[0], 1)
        self.assertIn(because, checked[1])

    def older(self, words, why="It holds."):
        return f"<!-- clcook:older {words} measured -->\n{why}\n<!-- /clcook:older -->\n"

    def hash_in(self, checked):
        """"threshold_count@01234567", as a complaint says it."""
        return re.search("and put (.*)", checked[1])[1]

    def git(self, words, where=None):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        environment.pop("GIT_DIR", None)
        done = subprocess.run(f"git {words}", shell=True, cwd=where or self.folder, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def repository(self):
        """A commit, one aside of it on another branch, and one after it on main; returns the first two."""
        if not shutil.which("git"):
            self.skipTest("there is no git")
        commit = "git -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m"
        self.git(f"init -q -b main . && git add . && {commit} first")
        first = self.git("rev-parse --short HEAD")
        self.git(f"checkout -q -b other && {commit} aside")
        aside = self.git("rev-parse --short HEAD")
        self.git(f"checkout -q main && {commit} last")
        return first, aside

    def test_is_a_commit_before_head_or_refused_with_what_measures_again(self):
        self.write("docs/page.md", "# A page\n")
        first, aside = self.repository()
        base = copy.deepcopy(FIXTURES["results"])
        for kind, more in (("peers", {"recipe": "fixture_blur"}), ("startup", {"problem": {}})):
            about = {"format": 1, "kind": kind, "device": {"name": "Fixture GPU", "platform": "none", "driver": "1"}, "rows": []}
            base += facts_of(self.write(f"gpu_{kind}_fixture_blur.json", json.dumps({**about, **more})))["results"]
        again = {one["stem"]: one["again"] for one in base}
        for stem, command in {"gpu-bench": "clcook bench --out PATH", "gpu-check": "clcook check fixture_blur.toml --out PATH",
                              "gpu-counters": "clcook counters fixture_blur.toml --out PATH", "gpu-explore": "clcook explore fixture_blur.toml --out PATH",
                              "gpu-stages": "the example fixture_blur.toml with --json PATH", "offline-isa": "clcook isa fixture_blur.toml --json PATH",
                              "offline-conventions": "bench/peers/conventions.py --out PATH",
                              "gpu_peers_fixture_blur": f"bench/peers/run fixture_blur.toml --out {self.folder}/gpu",
                              "gpu_startup_fixture_blur": "clcook startup --out PATH"}.items():  # fmt: skip
            path = next(one["path"] for one in base if one["stem"] == stem)
            self.assertEqual(again[stem], command.replace("PATH", path))
        no_bench = [one for one in base if one["json"]["kind"] != "bench"]  # whose processes are too few

        def checked(commit):
            facts = {**FIXTURES, "results": copy.deepcopy(no_bench)}
            for one in facts["results"]:
                one["json"]["commit"] = commit
            return self.rewritten("# A page\n", True, facts)[:2]

        self.git("tag v1.0")
        for commit in (first, "v1.0", "v1.0-5-g" + first):
            self.passes(checked(commit))
        for commit, why in {aside: f"its commit {aside} is not in the history of HEAD", "1234567": "its commit 1234567 is not in the history of HEAD",
                            "main": "its commit main is not in the history of HEAD", "unknown": "it does not say of which commit it is",
                            first + "-dirty": f"it is of a tree that was never committed, {first}-dirty", "": "it does not say of which commit it is"}.items():  # fmt: skip
            done = checked(commit)
            for one in no_bench:
                self.refused(done, f"{one['path']}: {why}; measure again: {one['again']}" + "; or say " * (one["json"]["kind"] != "conventions"))
        # What cannot be asked becomes one note, and nothing is refused.
        whole = self.folder
        self.folder = self.make_folder()
        self.git(f'clone -q --depth 1 "file://{whole}" .')
        done = checked(first)
        self.passes(done)
        self.assertIn("note: the clone is shallow; not looked for were " + first, done[1])
        self.folder = self.folder / "inner"
        self.folder.mkdir()
        self.assertIn("is not the top folder of a git repository", checked(first)[1])
        self.folder = self.make_folder()
        done = checked("1234567")
        self.passes(done)
        self.assertEqual(done[1].count("note: no commit of a result was looked for: "), 1)

    def test_is_refused_where_a_result_ran_otherwise(self):
        for kind in ("bench", "check", "isa", "startup"):
            with self.subTest(kind):
                now = self.ran(kind)
                recipe, variant = ("gaussian_blur", "separable") if kind == "startup" else (RECIPE, self.variant)
                since = f"measured.json: {recipe} has changed since abc1234: {variant}"
                self.passes(self.checked(self.result(kind, now)))
                self.refused(self.checked(self.result(kind, {**now, "kernels": "0"})), since + " (the text of its kernels); measure")
                done = self.checked(self.result(kind, {**now, "options": "0"}))
                self.refused(done, since + " (its options); measure again: clcook " + kind)
                self.assertIn(f"; or say in docs/{recipe}.md why it holds, in a block clcook:older", done[1])
                if kind != "isa":
                    self.refused(self.checked(self.result(kind, {**now, "launches": "0"})), since + " (its launches)")
                self.refused(self.checked(self.result(kind)), f"measured.json: it does not say what {variant} of {recipe} ran")
        gone = self.result("check", now)
        gone["totals"][0]["variant"] = "gone"
        self.refused(self.checked(gone), "has changed since abc1234: gone (it is no longer a variant); measure again")
        # The kernel as it stands, and with a planted comment or line.
        text = (SOURCE / f"kernels/{RECIPE}.cl").read_text()
        for kind in ("bench", "check", "isa"):
            result = self.result(kind, self.ran(kind))
            for planted, holds in (("// Planted.\n" + text, True), (text + "\n#define PLANTED 1\n", False)):
                self.write(f"kernels/{RECIPE}.cl", planted)
                done = self.checked(result, CLCOOK_KERNEL_DIR=str(self.folder / "kernels"))
                self.passes(done) if holds else self.refused(done, self.variant + " (the text of its kernels)")

    def test_is_vouched_for_by_a_page_until_it_changes_again(self):
        now = self.ran("bench")
        changed = self.result("bench", {**now, "options": "0"})
        wrong = self.checked(changed, self.older(f"{RECIPE}@0"))
        self.refused(wrong, f"docs/page.md:1: vouches for what these results ran as {RECIPE} was at 0; it is ")
        vouch = self.older(self.hash_in(wrong))
        self.passes(self.checked(changed, vouch))
        for ran in (now, changed["rows"][0]["ran"]):
            self.passes(self.checked(self.result("bench", ran, "abc1234-dirty"), vouch))
        self.refused(self.checked(self.result("bench", now), vouch), "docs/page.md:1: 'measured' needs nobody to vouch for it")
        self.refused(self.checked(changed, self.older("bc6h_mode@1")), "'measured' has nothing of bc6h_mode")
        # Also where nobody knows what ran, and for all recipes that the results have.
        for result, name in ((self.result("bench"), RECIPE), (self.result("stages"), RECIPE), (changed, "*")):
            wrong = self.checked(result, self.older(name + "@0"))
            self.refused(wrong, f"vouches for what these results ran as {name} was at 0; it is ")
            self.passes(self.checked(result, self.older(self.hash_in(wrong))))
        self.refused(self.checked(self.result("bench", now), self.older(self.hash_in(wrong))), "'measured' needs nobody to vouch for it")
        self.write(f"kernels/{RECIPE}.cl", (SOURCE / f"kernels/{RECIPE}.cl").read_text() + "#define PLANTED 1\n")
        self.refused(self.checked(changed, vouch, CLCOOK_KERNEL_DIR=str(self.folder / "kernels")), "vouches for what these")

    def test_of_another_machine_code_is_vouched_for_by_a_page_that_names_the_variant(self):
        def gate(instructions):
            row = {"sm_90": {"instructions": instructions}}
            return json.dumps({"format": 1, "clang": "19", "ptxas": "", "kernels": {f"{RECIPE}/{self.variant}": row}})

        self.write("bench/isa_gate.json", gate(7))
        first, _ = self.repository()

        def checked(page, now, commit=first, kind="bench"):
            self.write("bench/isa_gate.json", gate(now))
            return self.checked(self.result(kind, {**self.ran(kind), "kernels": "0"}, commit), page)

        name = self.hash_in(checked(self.older(f"{RECIPE}@0"), 7))
        self.refused(checked("# A page\n", 7), "why it holds, in a block clcook:older")
        self.passes(checked(self.older(name), 7))
        for page in (self.older(name), "# A page\n"):
            self.refused(checked(page, 6), f" that names `{self.variant}`, whose machine code is another")
        self.refused(checked(self.older(name), 7, "1234567"), self.variant + " (the text of its kernels); measure again: clcook")
        self.passes(checked(self.older(name, f"`{self.variant}` does."), 6))
        # That a device was right does not depend on one kernel.
        name = self.hash_in(checked(self.older(f"{RECIPE}@0"), 6, kind="check"))
        self.passes(checked(self.older(name), 6, kind="check"))

    def test_is_refused_of_few_processes_of_a_busy_device_and_of_joined_files(self):
        good = self.result("bench", self.ran("bench"))
        good["ceilings"]["probe_us"] = 100
        good["command"] = f"clcook bench {RECIPE} --shape 'a;b' --out x.json"
        good["rows"][0]["probes_us"] = [101, 99, 400]
        self.passes(self.checked(good))
        for (place, key, value), why in {
            ("row", "probes_us", (101, 180, 190)): "the clock probe took 180 us in place of 100; measure",
            ("row", "blocks", 2): " has times of 2 processes, and intervals take at least",
            ("file", "processes", None): "its times are of 1 process, and intervals take at",
            ("file", "command", "clcook bench, once for each; a at abc1234"): "joined by hand: its command is not one: 'clcook bench, once for each; a",
            ("row", "commit", "another"): "it was joined by hand: rows[0] has a commit of its own",
            ("row", "device", "another"): "it was joined by hand: rows[0] has a device of its own",
        }.items():  # fmt: skip
            bad = copy.deepcopy(good)
            (bad if place == "file" else bad["rows"][0])[key] = value
            self.refused(self.checked(bad), why)


# ---- What the report says of steps ----


def recipe_of(name="r", **more):
    """slow <- fast <- faster."""
    variants = [{"name": one, "summary": "as it was", "baseline": one == "slow", "approximate": False, "predecessor": before, "change": change}
                for one, before, change in (("slow", "", ""), ("fast", "slow", "one thing"), ("faster", "fast", "another"))]  # fmt: skip
    return {"name": name, "question": "q", "described": False, "for_gpus": "", "for_cpus": "", "written_first": [], "without_first": [], "first_tune": {"group": 128},
            "headline": {"with": "", "without": "", "words": ""}, "first_shape": {}, "variants": variants, "shows": [], **more}  # fmt: skip


def row_of(variant, tune, us, ratio=None, **more):
    """A measured row; its tune is closed with a group of 64, and faster has a run too."""
    whole = {"group": 64, **tune, **({"run": 8} if variant == "faster" else {})}
    row = {"recipe": "r", "variant": variant, "tune": tune, "shape": {"width": 8}, "mode": "hot", "baseline": variant == "slow", "status": "measured",
           "median_us": us, "samples_us": [us] * 3, "bytes": 30000, "operations": 0, "gbs": None, "gops": None, "share": None, "limit": "copy", **more}  # fmt: skip
    if ratio:
        row["ratio"] = {"value": ratio, "low": ratio * 0.99, "high": ratio * 1.01}
    return row, whole


GPU = {"name": "a device", "platform": "P", "driver": "1", "type": "gpu"}


def result_of(kind, rows=(), about=GPU, stem="a", date="2026", **more):
    tunes = [one[1] for one in rows] if kind == "bench" else []
    rows = [one[0] for one in rows] if kind == "bench" else list(rows)
    head = {"format": 1, "kind": kind, "date": date, "device": about, "rows": rows, "ceilings": {"copy_gbs": 1}, **more}
    return Result({"path": stem + ".json", "stem": stem, "again": "", "json": head, "tunes": tunes, "totals": []})


def counters_of(variant, tune=None, shape=None, **counters):
    return {"recipe": "r", "variant": variant, "tune": tune or {}, "shape": shape or {"width": 8}, "status": "counted", "counters": counters}


def lines_of(table):
    return ["|".join("*" * (cell.mark == "strong") + cell for cell in row) for row in table.rows]


class Steps(Case):
    def setUp(self):
        super().setUp()
        take(FIXTURES)
        self.recipe = recipe_of()

    def rows(self, *rows):
        return result_of("bench", rows).rows

    def test_are_ratios_of_two_rows_at_equal_tunes(self):
        rows = self.rows(row_of("slow", {"group": 128}, 100), row_of("slow", {"group": 64}, 90), row_of("fast", {}, 30), row_of("faster", {}, 10))
        pair = results.step_of(self.recipe, rows, rows[2])
        self.assertEqual((pair.fast, pair.slow, pair.verdict), (rows[2], rows[1], "faster"))  # what is left open counts
        self.assertAlmostEqual(pair.ratio.value, 3)
        # What only one of them has is no difference; the way to the baseline may be longer than a step.
        self.assertAlmostEqual(results.step_of(self.recipe, rows, rows[3]).ratio.value, 3)
        self.assertAlmostEqual(results.pair_of(self.recipe, rows, "faster", "slow").ratio.value, 9)
        self.assertIsNone(results.step_of(self.recipe, rows, rows[0]).fast)
        # Of several equal tunes the one counts in which the variant is fastest.
        rows = self.rows(*(row_of(variant, {"group": group}, us) for variant, group, us in [("slow", 128, 100), ("slow", 64, 60), ("fast", 128, 50), ("fast", 64, 55)]))
        self.assertEqual(results.pair_of(self.recipe, rows, "fast", "slow")[:2], (rows[2], rows[0]))

    def test_leave_out_rows_that_were_not_measured_or_are_of_another_version(self):
        rows = self.rows(row_of("slow", {"group": 64}, 60), row_of("fast", {}, 50), row_of("gone", {}, 40))
        self.assertIsNone(results.step_of(self.recipe, rows, rows[2]).fast)
        self.assertIsNone(results.pair_of(self.recipe, rows, "fast", "gone").fast)
        self.assertIsNone(results.pair_of(self.recipe, rows, "faster", "fast").fast)
        rows[1].whole = None
        self.assertIsNone(results.step_of(self.recipe, rows, rows[1]).fast)
        # The command closes tunes, but not those of another version.
        facts = next(one for one in facts_of(RESULTS / "h200_bench_halo_tile.json")["results"])
        self.assertTrue(all(set(row["tune"]) <= set(tune) for row, tune in zip(facts["json"]["rows"], facts["tunes"])))
        self.assertEqual(set(map(type, next(one for one in FIXTURES["results"] if one["stem"] == "gpu-bench")["tunes"])), {type(None)})

    def test_begin_at_the_recipes_baseline_at_the_first_of_its_tunes(self):
        for rows, holds in [([row_of("slow", {"group": 128}, 100), row_of("fast", {}, 30)], True), ([row_of("slow", {"group": 64}, 100)], False),
                            ([row_of("slow", {}, 100)], False), ([row_of("fast", {}, 30)], False), ([row_of("fast", {}, 30, baseline=True)], False)]:  # fmt: skip
            self.assertEqual(results.has_baseline(self.recipe, Group("", "hot", self.rows(*rows))), holds)

    def test_make_a_ladder_to_what_is_recommended_which_names_the_tune_that_changes(self):
        self.recipe["for_gpus"] = "faster"
        self.recipe["variants"].append({**self.recipe["variants"][1], "name": "aside"})
        result = result_of("bench", [row_of("slow", {"group": 64}, 100), row_of("fast", {}, 99.8), row_of("faster", {"group": 128}, 50), row_of("aside", {}, 96)])

        def made(*also):
            return ladder.ladder_table([result], self.recipe, result, result.groups_of("r")[0], also)

        self.assertEqual(lines_of(made()), ["slow|as it was|100|30 %|baseline", "fast|one thing|99.8|30 %|tie", "faster|another|50.0|60 %|*2.0× with group=128"])
        self.assertEqual(made().columns[3], "Of the copy")
        self.assertEqual(made().note, "a device, width=8; a copy takes 30.0 µs")
        self.assertEqual(lines_of(made("aside"))[-1], "aside|after slow: one thing|96.0|31 %|1.04×")  # bold only from 1.05
        with self.assertRaisesRegex(Refused, "'a' has no time of 'gone' at width=8"):
            made("gone")
        self.recipe["for_gpus"] = ""
        with self.assertRaisesRegex(Refused, "has no steps of 'r' at width=8"):
            made()

    def test_are_evidence_of_a_technique_at_other_tunes_by_the_fastest_of_each(self):
        one = {"kind": "pair", "with": "faster", "without": "slow", "words": ""}
        result = result_of("bench", [row_of("slow", {"group": 64}, 100), row_of("faster", {"group": 128}, 50)])
        found = ladder.in_bench(result, self.recipe, one)
        self.assertEqual((found.word, found.evidence.partition(" [")[0]), ("pays", "slow to faster with group=128 2.0×"))

    def test_that_are_over_their_ceiling_say_why_by_what_it_counts(self):
        for limit, flag, words in [("copy", "over 105 % of x: a cache hit", "copy (over 105 % of x: a cache hit)"), ("copy", None, "copy"),
                                   ("fma", "over 105 % of x: a cache hit", "fma (over 105 % of the ceiling: fewer operations than the card's formula counts)"),
                                   ("launch", "the clock", "launch (the clock)")]:  # fmt: skip
            self.assertEqual(tables.limit_of(results.Row({"limit": limit, "flag": flag})), words)

    def test_have_a_counter_of_their_device_variant_tune_and_size(self):
        self.recipe["for_gpus"] = "fast"
        result = result_of("bench", [row_of("slow", {"group": 64}, 100), row_of("fast", {}, 30)])
        for slow, fast, about, wanted in [
            ({}, {}, GPU, "What limits it now|8 of 32 lanes active|issue slots 90 %"),
            ({}, {"tune": {"group": 128}}, GPU, "What limits it now|8 of 32 lanes active|"),
            ({"shape": {"width": 8, "data": "x"}}, {"shape": {"width": 9}}, GPU, "This step alone|baseline|*3.3×"),
            ({}, {}, {**GPU, "name": "another"}, "This step alone|baseline|*3.3×"),
        ]:  # fmt: skip
            rows = [counters_of("slow", **{"tune": {"group": 64}, **slow}, issue_pct=90, lanes=8), counters_of("fast", **fast, issue_pct=90, lanes=32)]
            table = ladder.ladder_table([result, result_of("counters", rows, about)], self.recipe, result, result.groups_of("r")[0], ())
            self.assertEqual("|".join([table.columns[-1]] + ["*" * (row[-1].mark == "strong") + row[-1] for row in table.rows]), wanted)
        # A newer file of another size hides no other.
        counted = result_of("counters", [counters_of(name, tune=tune, issue_pct=90, lanes=lanes) for name, tune, lanes in (("slow", {"group": 64}, 8), ("fast", {}, 32))])
        newer = result_of("counters", [counters_of("fast", shape={"width": 9}, issue_pct=80, lanes=32)], date="2027")
        table = ladder.ladder_table([result, counted, newer], self.recipe, result, result.groups_of("r")[0], ())
        self.assertEqual([table.columns[-1]] + [row[-1] for row in table.rows], ["What limits it now", "8 of 32 lanes active", "issue slots 90 %"])
        # Of a variant that takes another shape counters only say what differs.
        counters = result_of("counters", [counters_of("slow", lanes=8), counters_of("pyramid", shape={"width": 8, "sigma": 8}, lanes=31)])
        self.assertEqual(lines_of(tables.counters_table(counters, "r", ["lanes"])), ["slow|8.00", "pyramid (sigma=8)|31.0"])

    def test_are_limited_by_one_counter_in_words(self):
        # A copy of 1000 GB/s, and a kernel that has to move 1 MB.
        for counters, words in [
            ({"issue_pct": 94, "lanes": 16.2, "dram_read_bytes": 1e5}, "16 of 32 lanes active"),
            ({"issue_pct": 94, "lanes": 32}, "issue slots 94 %"),
            ({"time_ns": 1000, "issue_pct": 70, "dram_read_bytes": 4e5, "dram_write_bytes": 4e5}, "DRAM 80 %"),  # whichever is nearer to its limit
            # Read several times, since the cache did not hold it.
            ({"issue_pct": 20, "l2_hit_pct": 21, "dram_read_bytes": 4e6, "dram_write_bytes": 4e6}, "L2 hit rate 21 %"),
            ({"issue_pct": 20, "stall_global": 30, "stall_math": 10, "stall_not_chosen": 99}, "75 % of waits: global memory"),
            ({"issue_pct": 20, "bank_conflicts": 5, "local_wavefronts": 10}, "bank conflicts 50 % of local passes"),
            # Conflicts that nobody waits for limit nothing.
            ({"issue_pct": 20, "bank_conflicts": 5, "local_wavefronts": 10, "stall_global": 18, "stall_local": 2}, "90 % of waits: global memory"),
            ({"issue_pct": 20, "bank_conflicts": 5, "local_wavefronts": 10, "stall_global": 2, "stall_local": 18}, "bank conflicts 50 % of local passes"),
            ({"issue_pct": 35, "lanes": 10.1, "stall_math": 10}, "10 of 32 lanes active"),
            ({"issue_pct": 20, "stall_math": 10}, ""),
        ]:  # fmt: skip
            row = results.Row(counters_of("slow", **{"time_ns": 10000, **counters}))
            self.assertEqual(ladder.limit_text(row, 1e6, 1000), words)
        self.assertEqual(ladder.limit_text(results.Row({"status": "skipped"}), 1e6, 1000), "")


class Devices(Case):
    def test_have_the_names_that_people_use(self):
        def about(name, platform, units, driver):
            return {"name": name, "platform": platform, "compute_units": units, "driver": driver}

        take({**FIXTURES, "recipes": []})
        pocl = "Portable Computing Language", "pthread-a-long-name"
        h200 = result_of("bench", about=about("NVIDIA H200", "NVIDIA CUDA", 132, "580"))
        old = result_of("bench", about=about(pocl[1], pocl[0], 2, "3.1"))
        silent = result_of("peers", about=about(pocl[1], pocl[0], None, "3.1"), recipe="x")  # another tool's, which does not say the cores
        for new, name in [(result_of("check", about=about(pocl[1], pocl[0], 2, "7.1")), "PoCL, 2 cores"),
                          (result_of("bench", about=about(pocl[1], pocl[0], 2, "7.1")), old.device),  # the name would be that of two devices
                          (result_of("bench", about=about(pocl[1], pocl[0], 1, "7.1")), "PoCL, 2 cores")]:  # fmt: skip
            those = [h200, old, new, silent]
            self.assertEqual(results.short_device(those, "bench", h200.device), "NVIDIA H200")
            self.assertEqual(results.short_device(those, "bench", old.device), name)
        self.assertEqual(results.short_device(those, "bench", new.device), "PoCL, 1 core")


class Ratios(unittest.TestCase):
    def test_have_two_digits_and_near_one_two_decimals(self):
        for ratio, text in [(0.00954, "0.0095"), (0.0407, "0.041"), (0.0997, "0.10"), (0.336, "0.34"), (0.996, "1.00"), (1.044, "1.04"), (1.0949, "1.09"),
                            (1.0951, "1.1"), (2.31, "2.3"), (9.949, "9.9"), (9.96, "10"), (99.6, "100"), (132.96, "130"), (788.79, "790"), (1234, "1200"),
                            (0, "0.00"), (math.inf, "inf"), (math.nan, "-")]:  # fmt: skip
            self.assertEqual(times(ratio), text)


class Comparisons(Case):
    def cells(self, those, recipe):
        row = next(row for row in tables.recipes_table(those, "").rows if row[0] == recipe)
        return ["*" * (cell.mark == "strong") + cell for cell in row[2:]]

    def test_are_with_the_fastest_of_what_is_written_first(self):
        take({**FIXTURES, "recipes": [recipe_of(written_first=["fast"]), recipe_of("other")]})
        rows = [row_of(*one, ratio=ratio, shape={"n": n}) for n, *those in [(5, 0.5, 0.4), (64, 4, 8)]
                for one, ratio in zip([("slow", {"group": 128}, 1), ("fast", {}, 1), ("faster", {}, 1)], [1, *those])]  # fmt: skip
        result = result_of("bench", rows)
        self.assertEqual(self.cells([result], "r"), ["*1.00× to 2.0× (2)"])
        take({**FIXTURES, "recipes": [recipe_of(written_first=["fast"], without_first=[{"n": 64}]), recipe_of("other")]})
        self.assertEqual(self.cells([result], "r"), ["1.00× fast (1)"])
        take({**FIXTURES, "recipes": [recipe_of(written_first=["fast"]), recipe_of("other")]})
        self.assertEqual(self.cells([result], "other"), ["not measured yet"])

    def test_say_that_a_wide_tie_is_not_told_apart(self):
        take({**FIXTURES, "recipes": [recipe_of()]})
        for low, high, text, short in [
            (0.92, 1.09, "as fast as", "a tie"), (0.89, 1.09, "0.89 to 1.09 times (not told apart) as fast as", "not told apart: 0.89× to 1.09×"),
            (0.97, 1.3, "0.97 to 1.3 times (not told apart) as fast as", "not told apart: 0.97× to 1.3×"),
            (1.01, 1.3, "1.05 times as fast as", "1.05×")]:  # fmt: skip
            row = row_of("fast", {}, 10, ratio=1.05)
            row[0]["ratio"] = {"value": 1.05, "low": low, "high": high}
            result = result_of("bench", [row_of("slow", {"group": 128}, 10, ratio=1), row])
            self.assertEqual([gain_text([result], ["a", "r", "fast", *more]) for more in ([], ["short"])], [text, short])
            cell = f"tie ({low} to {high})" if "apart" in short else short.replace("a tie", "tie")
            self.assertEqual(tables.gain_cell("tie" if low < 1 else "faster", Ratio(1.05, low, high)), cell)

    def test_are_with_the_fastest_other_program_on_a_cpu(self):
        take({**FIXTURES, "recipes": [recipe_of(), recipe_of("other")]})
        cpu = {**GPU, "type": "cpu"}

        def peer(case, who, us, psnr=None, **more):
            return {"case": case, "who": who, "version": "", "seconds": [us * 1e-6] * 3, "psnr": psnr, "max_error": 0, **more}

        bench = result_of("bench", [row_of("slow", {}, 100)], cpu)
        rows = [peer(*one) for one in [("small", "clcook (a)", 10), ("small", "C++ loop", 30), ("small", "Lib", 8),
                                       ("large", "clcook (a)", 10), ("large", "C++ loop", 30), ("large", "Lib", 90)]]  # fmt: skip
        those = [bench, result_of("peers", rows, cpu, "p", recipe="r")]
        self.assertEqual(self.cells(those, "r"), ["*0.80× to 3.0× (2)"])
        self.assertEqual(self.cells(those, "other"), ["-"])
        self.assertEqual(tables.recipes_table(those, "").columns[2], "a device: against C++ and libraries")
        self.assertEqual(gain_text(those, ["p", "r", "others"]), "0.80 to 3.0 times (2 cases) as fast as")
        self.assertEqual(gain_text(those, ["p", "r", "others", "short"]), "0.80× to 3.0× (2 cases)")
        with self.assertRaisesRegex(Refused, "'p' has nothing that clcook was compared with"):
            gain_text(those, ["p", "r", "others", "width=1"])
        # Beside a library stands what automatic takes, the first, or else the fastest variant that is as exact, from the least case to the most.
        rows = [peer(*one) for one in [
            ("small", "clcook (a)", 10), ("small", "clcook (faster)", 5), ("small", "Lib, one way", 30), ("small", "Lib, another", 20),
            ("small", "Rough", 5, 40), ("small", "Once", 30), ("large", "clcook (rough)", 1, 60), ("large", "clcook (slow)", 20, 100),
            ("large", "clcook (b)", 10, 100), ("large", "Lib, one way", 50, 102), ("large", "Rough", 2, 61),
            ("large", "Exact", 40)]] + [peer("large", "Left out", 1, skipped="not there")]  # fmt: skip
        result = result_of("peers", rows, recipe="r")
        # Exact has no row as exact beside it in its only case.
        self.assertEqual(lines_of(tables.libraries_table([result], result.device, "")), ["r|Lib|*2.0× to 5.0×|2", "r|Rough|0.50× to 2.0×|2", "r|Once|*3.0×|1 of 2"])
        self.assertEqual(tables.libraries_table([result], "another GPU", "").rows, [])
        # Times are compared with the first of their own case, or with none where it was left out.
        rows = [peer("", "clcook", 1), peer("", "A", 2), peer("large", "clcook", 0, skipped="differs"), peer("large", "A", 3),
                peer("small", "clcook (a)", 0, skipped="differs"), peer("small", "clcook (b)", 4), peer("small", "A", 2), peer("small", "B, so", 2), peer("small", "B, or so", 2)]  # fmt: skip
        table = tables.peers_table(result_of("peers", rows, recipe="r"))
        self.assertEqual([row[4].partition("×")[0] for row in table.rows], ["1", "2.0", "-", "1", "0.50", "0.50", "0.50"])
        self.assertEqual((table.rows[2][0], table.note), ("large", "Left out: clcook, clcook (a) (differs); Not in every case: B (1 of 3)"))


ROWS_OF_20 = ["rank_filter", "    width=4041 height=3128 radius=5 rank=0.5 pixel=rg16 border=clamp",
              "    width=338 height=439 radius=1 rank=0.5 pixel=rgba16 border=mirror",
              "    width=1798 height=141 radius=9 rank=0.5 pixel=rgb32f border=clamp"]  # fmt: skip


def grid_row(us, others, width=256, **more):
    return {"recipe": "r", "shape": {"width": width, "height": 256}, "variant": "v", "us": us, "others": [{"who": who, "us": one} for who, one in others.items()], **more}


class Grid(Case):
    """bench/peers/run --random: rows that nobody chose."""

    RUN = SOURCE / "bench/peers/run"

    def drawn(self, *words):
        done = subprocess.run([sys.executable, "-B", self.RUN, *words, "--list"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    def module(self):
        """bench/peers/run as a module, with a recipe of four peers: one lies, one dies, and one fails when it is timed."""
        loader = importlib.machinery.SourceFileLoader("peers_run", str(self.RUN))
        sys.path.insert(0, str(self.RUN.parent))
        self.addCleanup(sys.path.remove, str(self.RUN.parent))
        run = importlib.util.module_from_spec(importlib.util.spec_from_loader("peers_run", loader))
        loader.exec_module(run)
        folder, begun_anew = self.folder, []
        self.begun_anew = begun_anew

        class Library(run.Clcook):
            def __init__(self, *_):
                self.variant, self.more, self.made, self.folder = "automatic", "", None, str(folder / "ours")

            def ask(self, line, seconds=120):
                words = line.split()
                if words[0] == "run":
                    return [4e-6] * int(words[1])
                return {"same": not words[1].endswith("liar"), "max_error": 0, "first": "1 of 2 values"} if words[0] == "check" else True

            def close(self):
                pass

        class Peer(run.Other):
            def __init__(self, recipe, name, *_):
                self.name, self.version, self.missing, self.folder = name, "1", None, folder / name

            def send(self, line):
                self.folder = str(folder / self.name)

            def told(self, seconds):
                if self.name == "dead":
                    raise run.Gone("ended with signal 11")
                return {"seconds": 1e-6 if self.name == "liar" else 2e-6, "caller": 3e-6}

            def begin(self, seconds):
                pass

            def restart(self, seconds):
                begun_anew.append(self.name)

            def close(self):
                pass

            def times(self, count, clock="run"):
                if self.name == "failing":
                    raise RuntimeError("unspecified launch failure")
                return [2e-6] * count

        run.Clcook, run.Other = Library, Peer
        made = {"variant": "v", "tune": {}, "ran": {}, "seconds": 4e-6, "max_error": 0, "inputs": [], "outputs": []}
        run.made_by = lambda ours, *_: [vars(one).update(made=made) or one for one in ours]
        run.peers.load = lambda name: importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, None))
        run.peers.PEERS = {name: run.peers.Peer(name, "cpu", None, None, None) for name in ("right", "liar", "dead", "failing")}
        arguments = argparse.Namespace(program="", threads=2, only="", random=7, rows=2, rounds=2, budget=1, slowest=1, limit=60, least=1, variants=0,
                                       out=str(self.folder / "x"))  # fmt: skip
        return run, arguments

    def test_has_the_same_rows_for_a_seed_whoever_draws(self):
        code, lines, err = self.drawn("--random", "20", "--rows", "5", "rank_filter", "threshold_count")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(lines[:4], ROWS_OF_20)
        self.assertEqual(self.drawn("--random", "20", "--rows", "3", "rank_filter")[1], lines[:4])
        self.assertNotEqual(self.drawn("--random", "21", "--rows", "3", "rank_filter")[1], lines[:4])
        self.assertEqual(len(self.drawn("--random", "20", "--rows", "40")[1]), 40 + len(list(self.RUN.parent.glob("recipes/*.py"))))

    def test_names_a_wrong_seed_and_number_of_rows(self):
        for words, why in [(["--random", "x", "--rows", "3"], "invalid int value: 'x'"), (["--random", "1", "--rows", "0"], "--rows must be 1 or more, got 0"),
                           (["--random", "1"], "go together"), (["--rows", "1"], "go together"),
                           (["--random", "1", "--rows", "1", "nothing"], "no peers of nothing")]:  # fmt: skip
            code, _, err = self.drawn(*words)
            self.assertEqual((code, why in err), (2, True), err)

    def test_drops_who_lies_or_dies_and_keeps_what_there_is(self):
        run, arguments = self.module()
        out, err = io.StringIO(), io.StringIO()
        shapes = iter(["width=300 height=300", KeyboardInterrupt()])

        def next_row(rivals, _, of=run.row_of):
            shape = next(shapes)
            if isinstance(shape, KeyboardInterrupt):
                raise shape
            return of(rivals, shape)

        run.row_of = next_row
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), self.assertRaises(KeyboardInterrupt):
            run.run_grid({"r": ["", ""]}, "cpu", arguments, {"format": 1}, str(self.folder))
        kept = json.loads((self.folder / "x_grid.json").read_text())
        self.assertEqual((kept["kind"], kept["seed"], len(kept["rows"])), ("grid", 7, 1))
        row = kept["rows"][0]
        self.assertEqual(row["others"], [{"who": "right", "us": 2.0, "caller_us": 2.0}])
        self.assertEqual(row["left_out"], {"liar": "differs: 1 of 2 values", "dead": "ended with signal 11", "failing": "unspecified launch failure"})
        self.assertEqual(self.begun_anew, ["dead", "failing"])  # once, though it is timed by both clocks
        self.assertIn("all: 1 of 1 lost, median 0.50, 5 % 0.500, worst 0.500", out.getvalue())
        self.assertIn("r width=300 height=300: v 4.0 us, right 2.0 us, 0.500", out.getvalue())

    def test_has_problems_of_a_bench_beside_loops_instead(self):
        """--loops: the first problem that was measured, and a loop in each recipe, which ./cook demo compares with."""
        run, *_ = self.module()
        shape = {"width": 8, "rank": 0.5, "pixel": "r8"}
        rows = [{"recipe": "r", "status": "not run", "shape": {"width": 9}}, {"recipe": "r", "status": "measured", "shape": shape}]
        path = self.write("bench.json", json.dumps({"rows": [*rows, {"recipe": "r", "status": "measured", "shape": {"width": 10}}]}))
        self.assertEqual(run.measured_cases(path, "r"), [("width=8 rank=0.5 pixel=r8",) * 2])
        self.assertEqual(run.measured_cases(path, "other"), [])
        for recipe in (self.RUN.parent / "recipes").glob("*.py"):
            shared = (self.RUN.parent / "blur.py").read_text() if "import blur" in recipe.read_text() else ""
            self.assertRegex(recipe.read_text() + shared, rf'peer\("{re.escape(run.LOOP)}", "cpu"', recipe.name)

    def test_counts_lost_rows_of_both_sizes_and_names_the_worst(self):
        rows = [grid_row(1, {"a": 2, "b": 3}), grid_row(2, {"a": 1, "b": 1.5}), grid_row(1, {"a": 4}, width=64), grid_row(1, {}),
                grid_row(1, {"a": 8}, caller_us=2), {"recipe": "r", "shape": {}, "skipped": "no"}]  # fmt: skip
        rows[4]["others"].append({"who": "c", "caller_us": 3})
        self.assertEqual(results_grid.summary(rows), [("all", 4, 1, 0.5, 0.5, 3), ("256 x 256 and more", 3, 1, 0.5, 0.5, 2), ("smaller", 1, 0, 4, 4, 4)])
        self.assertEqual(results_grid.summary(rows, "caller_us"), [("all", 1, 0, 1.5, 1.5, 1.5), ("256 x 256 and more", 1, 0, 1.5, 1.5, 1.5)])
        self.assertEqual([ratio for ratio, _ in results_grid.worst(rows, count=2)], [0.5, 2])
        self.assertEqual([results_grid.quantile(range(1, count + 1), 0.05) for count in (1, 20, 21, 100)], [1, 1, 2, 5])
        rows[0]["variants"], rows[1]["variants"], rows[2]["variants"] = {"v": 3, "w": 2}, {"v": 2, "w": 2}, {"w": 1}
        self.assertEqual([ratio for ratio, _ in results_grid.misses(rows)], [1.5, 1])
        table = tables.grid_table([result_of("grid", rows, seed=5)])
        self.assertEqual(lines_of(table)[0], "a device|the device's|all|4|1 (25 %)|0.50×|0.50×|3.0×")
        self.assertRegex(table.note, r"program\. a device: seed 5 of [-0-9]+, 6 rows drawn; automatic .* as long; the worst, 0\.50×, beside a: r width=256 height=256$")
        rows[5]["skipped"], rows[0]["left_out"] = "the time was over", {"a, its kernels": "no file", "d, its kernels": "no package", "clcook, from numpy": "no package"}
        self.assertRegex(tables.grid_table([result_of("grid", rows, seed=5)]).note, r"; for 1 the time was over; automatic takes more than "
                         r"10 % longer than clcook's fastest variant in 1 of 2 rows, at most 1\.5 times as long; the worst, .*; in no row: d \(r\)$")
        some = [result_of("grid", rows, seed=5), result_of("grid", [*rows, {**rows[2], "recipe": "s"}], seed=5)]
        devices = [line.partition("|the")[0] for line in lines_of(tables.grid_table(some)) if "|all|" in line and "device's" in line]
        self.assertEqual(devices, ["a device, r", "a device"])
        # Runs of one seed, of other recipes each, are one draw; of another seed they are not.
        other = [{**row, "recipe": "s"} for row in rows]
        parts = tables.grid_table([result_of("grid", rows, seed=5), result_of("grid", other, seed=5)])
        self.assertEqual(lines_of(parts)[0], "a device|the device's|all|8|2 (25 %)|0.50×|0.50×|3.0×")
        self.assertRegex(parts.note, "seed 5 of [-0-9]+, 12 rows drawn; for 2 the time was over; .* in 2 of 4 rows")
        two = tables.grid_table([result_of("grid", rows, seed=5), result_of("grid", other, seed=6)])
        self.assertEqual(sum("|all|4|" in line for line in lines_of(two)), 2)
        again = tables.grid_table([result_of("grid", rows, seed=5), result_of("grid", rows, seed=6)])
        devices = [line.partition("|the")[0] for line in lines_of(again) if "|all|" in line and "device's" in line]
        self.assertEqual(devices, ["a device, seed 5", "a device, seed 6"])
        self.assertRegex(again.note, r"a device: seed 5 of .*\. a device: seed 6 of ")
        self.assertEqual(lines_of(tables.grid_table([])), ["not measured yet" + "|-" * 7])

    def test_compares_filters_with_each_of_the_others(self):
        def row(function, us, others, width=256):
            others = [{"who": who, "caller_us": one} for who, one in others.items()]
            return {"function": function, "shape": {"height": 256, "width": width, "size": 3}, "first_ms": 10 * us, "caller_us": us, "others": others}

        rows = [row("median_filter", 1, {"SciPy": 9, "CuPy": 0.5}), row("grey_opening", 1, {"SciPy": 2}), row("correlate", 2, {"SciPy": 1, "CuPy": 6}, width=64),
                {"function": "correlate", "shape": {}, "skipped": "no"}]  # fmt: skip
        table = tables.ndimage_table(result_of("ndimage", rows, seed=5, date="2026-12-01T00:00:00Z", versions={"SciPy": "1.2", "CuPy": "3"}))
        large = "65,536 elements and more"
        self.assertEqual(lines_of(table), ["SciPy 1.2|all|all|3|1 (33 %)|0.50×|0.50×|2.0×", f"SciPy 1.2|{large}|all|2|0 (0.0 %)|2.0×|2.0×|5.5×",
                                           "SciPy 1.2|smaller|all|1|1 (100 %)|0.50×|0.50×|0.50×", f"SciPy 1.2|{large}|extremes|1|0 (0.0 %)|2.0×|2.0×|2.0×",
                                           f"SciPy 1.2|{large}|ranks|1|0 (0.0 %)|9.0×|9.0×|9.0×", "CuPy 3|all|all|2|1 (50 %)|0.50×|0.50×|1.8×",
                                           f"CuPy 3|{large}|all|1|1 (100 %)|0.50×|0.50×|0.50×", "CuPy 3|smaller|all|1|0 (0.0 %)|3.0×|3.0×|3.0×",
                                           f"CuPy 3|{large}|ranks|1|1 (100 %)|0.50×|0.50×|0.50×"])  # fmt: skip
        self.assertEqual(table.note, "Seed 5 of 2026-12-01, 4 calls drawn; 1 failed; clcook's first calls take 10 ms in the median and 20 ms at most; "
                         "the worst, 0.50×, beside CuPy: median_filter height=256 width=256 size=3")  # fmt: skip
        none = tables.ndimage_table(result_of("ndimage", rows[3:], seed=5, date="2026", versions={"SciPy": "1.2"}))
        self.assertEqual((lines_of(none), none.note), ([], "Seed 5 of 2026, 1 calls drawn; 1 failed"))


class Peers(Case):
    """What bench/peers/recipes/ ask of a case, with stand-ins for the libraries that they call."""

    # By recipe, from its card and clcook_peers. A neighbourhood clamp of halo_tile has a history, too.
    BUFFERS = {"bc6h_decode": "blocks texels", "bc6h_mode": "headers modes", "group_size": "src dst line", "group_swizzle": "src dst matrix",
               "stream_compaction": "src dst kept", "threshold_count": "values slots thresholds",
               "vertex_transform": "vertices skin world bones result"}  # fmt: skip
    LIBRARIES = """clcook cupy cupyx cupyx.scipy cupyx.scipy.ndimage cv2 imagecodecs kernels pyopencl scipy scipy.ndimage skimage skimage.filters
        skimage.filters.rank torch torch.nn torchvision torchvision.transforms torchvision.transforms.v2""".split()

    def loaded(self):
        """bench/peers/peers.py, and what is drawn with."""
        folder = str(SOURCE / "bench/peers")
        sys.path.insert(0, folder)
        self.addCleanup(sys.path.remove, folder)
        stand_ins = {name: mock.MagicMock() for name in self.LIBRARIES}
        stand_ins["kernels"].queue_of.return_value.device.max_work_group_size = 1024
        (self.folder / "gaussian.cl").touch()
        for change in (mock.patch.dict(sys.modules, stand_ins), mock.patch.dict(os.environ, DARKTABLE_KERNELS=str(self.folder))):
            change.start()
            self.addCleanup(change.stop)
        for name in ("peers", "blur", "draw"):
            sys.modules.pop(name, None)
        peers, draw = importlib.import_module("peers"), importlib.import_module("draw")
        peers.cpp_loop = peers.cuda = peers.npp = lambda *_: None  # they take all buffers that there are
        return peers, draw

    def test_read_only_buffers_that_the_case_has(self):
        peers, draw = self.loaded()

        class Asked(peers.Case):
            def __init__(self, recipe, shape, names):
                super().__init__(recipe, shape, "", {"inputs": names, "outputs": [], "variant": "v"}, 2, "")
                self.device = "gpu"
                self.shape = {key: min(value, 64) if isinstance(value, int) else value for key, value in self.shape.items()}

            def path(self, name):
                raise AssertionError(f"{name} is opened")

            def array(self, name, kind, *shape):
                self.bytes(name)
                return numpy.zeros(shape or 1024, kind)

            def bytes(self, name):
                if name not in self.inputs:
                    raise AssertionError(f"{name} is none of {self.inputs}")
                return 4096

        for recipe in sorted(path.stem for path in (SOURCE / "bench/peers/recipes").glob("*.py")):
            module, made = peers.load(recipe), set()
            shapes = [shape for some in module.CASES.values() for _, shape in some] + draw.shapes(module.draw, recipe, 1, 100)
            for shape, one in itertools.product(shapes, peers.PEERS.values()):
                names = self.BUFFERS.get(recipe, "src dst").split() + ["history"] * ("filter=clamp" in shape)
                with self.subTest(recipe=recipe, shape=shape, peer=one.name), contextlib.suppress(peers.NotThisCase, peers.NotTried):
                    one.make(Asked(recipe, shape, names))
                    made.add(one.name)
            self.assertEqual(made, set(peers.PEERS), recipe)  # each has met a case that it takes

    def test_ask_npp_for_no_median_of_a_size_that_it_failed_on(self):
        peers, _ = self.loaded()
        module, tried = peers.load("rank_filter"), set()
        for title, shape in [*module.CASES["gpu"], ("tall", "width=212 height=2586 radius=24 rank=0.5 pixel=r32f border=clamp")]:
            with contextlib.suppress(peers.NotThisCase, peers.NotTried):
                peers.PEERS["NPP"].make(peers.Case("rank_filter", shape, "", {"inputs": [], "outputs": [], "variant": "v"}, 2, ""))
                tried.add(title)
        rows = json.loads((RESULTS / "h200_peers_rank_filter.json").read_text())["rows"]
        self.assertEqual(tried, {row["case"] for row in rows if row["who"] == "NPP" and "seconds" in row})


class Intervals(Case):
    def test_are_those_of_the_command(self):
        """Of blocks of equal and of unequal sizes; tests/bench.cpp has the same numbers."""
        from intervals import bootstrap

        for above, below, wanted in [
            (((31, 33, 30), (35, 36, 34), (32, 31, 33)), ((1.0,),), (33.0, 30.5, 35.5)),
            (((31, 33, 30, 36), (35, 34), (32, 31, 33)), ((38, 40, 39, 43), (38, 42)), (0.8354430379746836, 0.3946923268930648, 1.4323908842724613)),
        ]:
            self.assertEqual(tuple(bootstrap(above, below)), wanted)
        self.assertTrue(math.isnan(bootstrap(((0.0,),), ((0.0,),)).low))


if __name__ == "__main__":
    unittest.main()
