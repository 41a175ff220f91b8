"""The Python of README and of the pages runs.

A fenced block ```python of a page sees what the page's earlier ones defined, and what a comment
`<!-- python: ... -->` before it, invisible to readers, sets up. All begin with the names of
`given()`. A page runs in an empty folder of its own.
"""

import re

import clcook
import numpy as np
import pytest
from conftest import DATA, ROOT, picture

BLOCK = re.compile(r"^<!-- python:(.*?)-->$|^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(path):
    text = path.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2], match[1] is None


PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    if any(shown for _, _, shown in blocks(page))
]


def given(cl, context, queue):
    """What a reader has: a picture, a texture, and what pyopencl's users have."""
    rgba = picture((1080, 1920, 4), "float32")
    flags = cl.mem_flags.READ_WRITE
    return {
        "clcook": clcook,
        "np": np,
        "cl": cl,
        "context": context,
        "queue": queue,
        "picture": picture((48, 64, 4), "uint8"),
        "texture": DATA / "bc6h" / "lythwood_room.dds",
        "src": cl.Buffer(context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=rgba),
        "dst": cl.Buffer(context, flags, rgba.nbytes),
        "uploaded": cl.enqueue_marker(queue),
    }


def test_there_are_pages():
    names = {page.name for page in PAGES}
    assert {"README.md", "python.md", "ndimage.md", "gaussian_blur.md"} <= names


# The pages of users of Python; those of recipes show a call each.
FIRST = ("README", "python", "ndimage")


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=p.stem, marks=[] if p.stem in FIRST else pytest.mark.slow) for p in PAGES],
)
def test_page(page, cl, context, queue, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = given(cl, context, queue)
    for line, code, _ in blocks(page):
        # As many lines before it as in the page, for messages.
        exec(compile("\n" * line + code, str(page), "exec"), names)
    queue.finish()


def test_the_first_example_needs_nothing(cl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = next(code for _, code, shown in blocks(ROOT / "docs" / "python.md") if shown)
    names = {}
    exec(code, names)
    names["done"].wait()


@pytest.mark.parametrize("name", [file.stem for file in ROOT.glob("lib/python/operations/*.cpp")])
def test_every_bound_operation_has_its_lines(name):
    page = ROOT / "docs" / f"{name}.md"
    if not page.exists():
        pytest.skip(f"there is no {page.name}")
    use = page.read_text().split("## Use it", 1)[1].split("\n## ", 1)[0]
    assert "```python" in use


@pytest.mark.slow
def test_notebook(tmp_path, monkeypatch):
    """Every cell of the notebook runs, in order, and is stored without what it printed."""
    import json

    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(ROOT / "examples" / "python")
    notebook = json.loads((ROOT / "examples/python/clcook.ipynb").read_text())
    names = {"__name__": "notebook"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    for number, cell in enumerate(cells):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    import matplotlib.pyplot as plt

    assert plt.get_fignums()
    plt.close("all")
