"""The clcook command as functions that return data."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Sequence, Union

from . import _clcook
from .errors import ToolError, _invalid

Path = Union[str, "os.PathLike[str]"]


def command() -> str:
    """The path of the clcook command: the one that the variable CLCOOK names, or that PATH has.

    The wheel does not hold it: it needs libraries of its own. Raises ToolError that says how to
    build it.
    """
    named = os.environ.get("CLCOOK")
    found = shutil.which(named or "clcook")
    if found is None:
        raise ToolError(
            "clcook: there is no clcook command "
            + (f"at CLCOOK={named!r}" if named else "on PATH, and CLCOOK is not set")
            + "; it is not part of the wheel. Build it with cmake -S . -B build && cmake --build "
            "build --target clcook_tool, then set CLCOOK to build/bin/clcook",
            where="command",
        )
    return found


def _run(name: str, arguments: Sequence[str], accept: Sequence[int] = (0,)) -> str:
    done = subprocess.run(
        [command(), name, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode not in accept:
        said = (done.stderr.strip() or done.stdout.strip())[-4000:]
        raise ToolError(f"clcook {name}: ended with {done.returncode}: {said}", "io", where=name)
    return done.stdout


def _json_of(name: str, arguments: Sequence[str], option: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="clcook") as folder:
        path = os.path.join(folder, "result.json")
        said = _run(name, [*arguments, option, path])
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise ToolError(
                f"clcook {name}: left no result ({error}): {said[-4000:]}", "io", where=name
            ) from error


def _check(arguments: Sequence[str]) -> dict[str, Any]:
    """Every row, which a result file has only until a whole check is finished."""
    said = _run("check", [*arguments, "--json"], (0, 1))
    try:
        return json.loads(said)
    except ValueError as error:
        raise ToolError(
            f"clcook check: printed no result ({error}): {said[-4000:]}", "io", where="check"
        ) from error


def _words(values: Sequence[Any], where: str, what: str) -> list[str]:
    words = []
    for one in values:
        if not isinstance(one, (str, os.PathLike)) or os.fspath(one)[:1] in ("-", ""):
            raise _invalid(where, f"{what} must be a name or a path, got {one!r}", True)
        words.append(os.fspath(one))
    return words


def check(*recipes: str, variant: str = "", device: str = "", tiny: bool = False) -> dict[str, Any]:
    """Runs `clcook check`: every variant of the recipes, or of all, against its scalar reference.

    Returns what it writes: "rows", one per run with its "outcome", and their "summary". A mismatch
    is a row with the outcome "failed", not an exception.
    """
    arguments = _words(recipes, "check", "a recipe")
    if variant:
        arguments += ["--variant", *_words([variant], "check", "variant")]
    if device:
        arguments += ["--device", *_words([device], "check", "device")]
    if tiny:
        arguments.append("--tiny")
    return _check(arguments)


def try_(description: Path, device: str = "") -> dict[str, Any]:
    """Kernels of yours, see docs/try.md: `clcook try`, `check` and `bench --quick` on their
    description.

    Returns a dict: "text", what try says of them; "check" and "bench", what those write.
    """
    file = _words([description], "try_", "description")
    on = ["--device", *_words([device], "try_", "device")] if device else []
    return {
        "text": _run("try", [*file, *on]),
        "check": _check([*file, *on]),
        "bench": _json_of("bench", [*file, "--quick", *on], "--out"),
    }


def isa(*recipes_or_files: Path, target: Sequence[str] = ()) -> dict[str, Any]:
    """Runs `clcook isa`: what recipes or kernel files become on targets, without a GPU.

    Returns what it writes: a row for each kernel, variant and target with its counts.
    """
    arguments = _words(recipes_or_files, "isa", "a recipe")
    for one in _words([target] if isinstance(target, str) else target, "isa", "target"):
        arguments += ["--target", one]
    return _json_of("isa", arguments, "--json")


def include_dir() -> str:
    """The folder for -I whose <clcook/...> are the device headers."""
    # What was built lies apart from the sources where the installation is an editable one.
    folders = [pathlib.Path(one) / "include" for one in sys.modules[__package__].__path__]
    return str(next((one for one in folders if one.is_dir()), folders[0]))


def flatten(path: Path | None = None, *, text: str | None = None, name: str = "kernel.cl") -> str:
    """A kernel with its <clcook/...> headers inlined, for programs that build OpenCL by other means.

    Either of a file, with the quoted headers beside it, or of a text, which messages call `name`.
    """
    if (path is None) == (text is None):
        raise _invalid("flatten", "takes either a path or text=, got both or neither")
    if text is None:
        return _clcook._flatten_file(*_words([path], "flatten", "path"))
    if not isinstance(text, str) or not isinstance(name, str):
        raise _invalid("flatten", f"text and name must be str, got {type(text).__name__}", True)
    return _clcook._flatten_text(text, name)
