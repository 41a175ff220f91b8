"""Whether results are those of the recipes as they are now."""

import json
import os
import re
import shutil
import subprocess

from intervals import median
from results import RECIPES, find

BUSY = 1.5  # the clock probe may take so many times as long beside half of a row's blocks
PROCESSES = 3  # of fewer, intervals cannot cover what differs between them
# What the counts of machine code say of a kernel.
GATE_FIELDS = ("instructions", "branches", "registers", "scalar_registers", "spills", "scratch", "bytes")


class History:
    """What git knows in a project's folder of the commits of results. Where it cannot be asked, since the folder is
    no repository or a shallow clone, the answer is None."""

    def __init__(self, root):
        self.root, self.known, self.gates = root, {}, {}
        self.silence = ""  # why it cannot be asked anything
        self.is_shallow = False
        if not shutil.which("git"):
            self.silence = "there is no git"
            return
        code, out, err = self.git("rev-parse", "--is-shallow-repository", "--show-toplevel")
        shallow, _, top = out.partition("\n")
        self.is_shallow = shallow == "true"
        if code != 0:
            self.silence = err.split("\n")[0]
        elif not os.path.samefile(top.rstrip("\n"), root):
            self.silence = f"{root} is not the top folder of a git repository"

    def git(self, *words):
        done = subprocess.run(["git", "-C", self.root, *words], capture_output=True, stdin=subprocess.DEVNULL, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    @staticmethod
    def revision_of(commit):
        """What `git describe --always` calls a commit, as a name that no branch has: "abc1234", "v1.0-5-gabc1234" or "v1.0"."""
        name = commit.rpartition("-g")[2]
        return name if re.fullmatch("[0-9a-f]{4,}", name) else "refs/tags/" + commit

    def has(self, commit):
        """Whether a commit, as result files name it, is HEAD or before it."""
        if self.silence:
            return None
        if commit not in self.known:
            before = self.git("merge-base", "--is-ancestor", self.revision_of(commit), "HEAD")[0] == 0
            self.known[commit] = before or (None if self.is_shallow else False)
        return self.known[commit]

    def gate(self, commit=""):
        """The committed counts of machine code at a commit before HEAD, or in the folder; None where it has none."""
        if commit not in self.gates:
            text = None
            if not commit and os.path.exists(os.path.join(self.root, "bench/isa_gate.json")):
                with open(os.path.join(self.root, "bench/isa_gate.json"), encoding="utf-8") as file:
                    text = file.read()
            elif commit and self.has(commit):
                code, out, _ = self.git("show", self.revision_of(commit) + ":bench/isa_gate.json")
                text = out if code == 0 else None
            gate = json.loads(text) if text else {}
            self.gates[commit] = gate if gate.get("format") == 1 else None  # of another version nothing is known
        return self.gates[commit]

    def note(self):
        """What it could not be asked, and why, as one line; "" for nothing."""
        if self.silence:
            return "note: no commit of a result was looked for: " + self.silence
        missing = sorted(commit for commit, has in self.known.items() if has is None)
        return "note: the clone is shallow; not looked for were " + ", ".join(missing) if missing else ""


def short_hash(text):
    """Eight hexadecimal digits, as measure/fingerprint.cpp makes them: 64-bit FNV-1a, folded."""
    out = 14695981039346656037
    for byte in text.encode():
        out = (out ^ byte) * 1099511628211 % 2**64
    return f"{(out ^ (out >> 32)) % 2**32:08x}"


def is_same_code(recipe, variant, commit, history):
    """Whether a change of a variant's text left its machine code alone, as far as the counts of `clcook isa` say, on all
    targets. Also where nobody can be asked what they were."""
    if history.has(commit) is None:
        return True
    then, now = history.gate(commit), history.gate()
    if not then or not now or then["clang"] != now["clang"]:
        return False

    def kernels(begin):
        # "halo_tile/direct", "halo_tile/direct#2"
        return {name: targets for name, targets in then["kernels"].items() if name.startswith(begin)}

    def are_same(those):
        return all(
            target in now["kernels"].get(name, {}) and all(row.get(field) == now["kernels"][name][target].get(field) for field in GATE_FIELDS)
            for name, targets in those.items() for target, row in targets.items())  # fmt: skip

    own = f"{recipe}/{variant}"
    its = {name: one for name, one in kernels(own).items() if name == own or name[len(own)] == "#"}
    # It may hand its work to others.
    return are_same(its) if its else bool(kernels(recipe + "/")) and are_same(kernels(recipe + "/"))


class Doubt:
    def __init__(self, what, recipes, named=()):
        self.what, self.recipes = what, recipes
        self.named = list(named)  # variants that a page must name that says why it holds


def change_of(recipe, result, rows, history):
    """"tiled, naive (the text of its kernels); direct (it is no longer a variant)"."""
    changed, named = {}, []
    # That an implementation was right, and how long it took to start, does not depend on one kernel.
    is_timed = result.kind not in ("check", "startup")
    for row in (row for row in rows if row["says"]):
        variant = row["variant"]
        if is_timed and not ("now" in row and (row["same_text"] or is_same_code(recipe, variant, result.commit, history))):
            named.append(variant)
        if row["differs"]:
            changed.setdefault(row["differs"], []).append(variant)
    if not changed:
        return None
    text = "; ".join(f"{', '.join(dict.fromkeys(who))} ({how})" for how, who in changed.items())
    return Doubt(f"{recipe} has changed since {result.commit}: {text}", [recipe], dict.fromkeys(named))


def joined_by(result):
    """Why a file cannot be what one command wrote; "": it can."""
    command = result.json.get("command", "")
    command = command if isinstance(command, str) else json.dumps(command)
    if re.search(r"[;&|()\n]", "".join(command.split("'")[::2])):  # what is not quoted
        return f"its command is not one: '{command}'"
    for name, rows in result.json.items():
        for i, row in enumerate(rows if isinstance(rows, list) else []):
            for key in ("commit", "device", "date"):
                if isinstance(row, dict) and key in row:
                    return f"{name}[{i}] has a {key} of its own"
    return ""


def about_commit(commit, history):
    if commit in ("", "unknown"):
        return "it does not say of which commit it is"
    if commit.endswith("-dirty"):
        return "it is of a tree that was never committed, " + commit
    return f"its commit {commit} is not in the history of HEAD" if history.has(commit) is False else ""


def about_conditions(result):
    """Of a bench: whether its intervals cover what differs between processes, and whether the device was its own."""
    processes = result.json.get("processes") or 1
    if result.kind == "bench" and processes < PROCESSES:
        return f"its times are of {processes} process, and intervals take at least {PROCESSES}"
    probe = result.json["ceilings"].get("probe_us") if result.kind == "bench" else 0
    for row in (row for row in result.of_kind("bench") if row.is_measured):
        if row.blocks < PROCESSES:
            return f"{row.name} has times of {row.blocks} processes, and intervals take at least {PROCESSES}"
        if row.probes_us and probe and median(row.probes_us) > BUSY * probe:
            return (f"the device did something else as well: beside {row.name} the clock probe took {median(row.probes_us):.0f} us "
                    f"in place of {probe:.0f}")  # fmt: skip
    return ""


def of_result(result, history):
    names, out = result.recipes, []
    joined = joined_by(result)
    for what in ("it was joined by hand: " + joined if joined else "", about_commit(result.commit, history), about_conditions(result)):
        if what:
            out.append(Doubt(what, names))
    silent = {}
    for name in (name for name in names if name in RECIPES):
        rows = [row for row in result.ran if row["recipe"] == name]
        variants = sorted({row["variant"] for row in rows if not row["says"]})
        if variants:
            silent[name] = f"{', '.join(variants)} of {name}"
        change = change_of(name, result, rows, history)
        out += [change] if change else []
    if len(silent) > 1:
        out.append(Doubt(f"it does not say what it ran of {', '.join(silent)}", list(silent)))
    elif silent:
        out.append(Doubt(f"it does not say what {'; '.join(silent.values())} ran", list(silent)))
    return out


def present(recipe, results):
    """A hash of what all rows of results would run now; of a variant or a tuning that is gone there is nothing to change."""
    rows = [row for result in results for row in result.ran if row["recipe"] == recipe and "now" in row]
    return short_hash("".join("{variant} {now[kernels]} {now[options]} {now[launches]}\n".format(**row) for row in rows))


class Vouch:
    """A document's word that results hold although there is a doubt."""

    def __init__(self, where, recipe, digest, results, text):
        self.where, self.recipe, self.digest, self.results, self.text = where, recipe, digest, results, text


def of_vouch(vouch, results, doubts, vouched):
    """Complaints of a vouch; adds its reasons to those in `vouched`, by result and recipe."""
    out, hashes = [], ""
    named = [find(results, stem) for stem in vouch.results]
    names = [vouch.recipe] if vouch.recipe != "*" else sorted({name for result in named for name in result.recipes})
    for name in names:
        those = [one for one in named if vouch.recipe != "*" or name in one.recipes]
        for result in those:
            if name not in result.recipes:
                out.append(f"{vouch.where}: '{result.stem}' has nothing of {name}")
            vouched[result.stem, name] = vouched.get((result.stem, name), "") + vouch.text
        if name in RECIPES:
            hashes += present(name, those)
    for stem in vouch.results:
        if not any(name in doubt.recipes for doubt in doubts.get(stem, []) for name in names):
            out.append(f"{vouch.where}: '{stem}' needs nobody to vouch for it")
    now = hashes if len(names) == 1 or not hashes else short_hash(hashes)
    if now and now != vouch.digest:
        out.append(f"{vouch.where}: vouches for what these results ran as {vouch.recipe} was at {vouch.digest}; it is {now} now: measure again, "
                   f"or see that what has changed does not matter, say so here, and put {vouch.recipe}@{now}")  # fmt: skip
    return out


def doubts_about(results, vouches, history):
    """Complaints of results that may not be those of the recipes of this program, each with the command that renews it, and
    of what vouches in vain."""
    doubts = {one.stem: of_result(one, history) for one in results}
    vouched = {}
    out = [complaint for vouch in vouches for complaint in of_vouch(vouch, results, doubts, vouched)]
    for result in results:
        for doubt in doubts[result.stem]:
            recipes = doubt.recipes
            said = [vouched.get((result.stem, recipe), "") for recipe in recipes]
            unnamed = [f"`{variant}`" for variant in doubt.named if f"`{variant}`" not in said[0]]
            if recipes and not unnamed and all(said):
                continue
            text = f"{result.path}: {doubt.what}; measure again: {result.again}"
            if recipes:
                where = f"docs/{recipes[0]}.md" if len(recipes) == 1 and recipes[0] in RECIPES else f"on a page, for each of {', '.join(recipes)},"
                text += f"; or say {'in ' if where.startswith('docs') else ''}{where} why it holds, in a block clcook:older"
            if recipes and unnamed:
                text += f" that names {', '.join(unnamed)}, whose machine code is another now"
            out.append(text)
    return out
