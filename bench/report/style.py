"""The look of the page. Plots refer to its colours by name."""

import re
from pathlib import Path

STYLE = (Path(__file__).parent / "style.css").read_text("utf-8")
LIGHT, DARK = (dict(re.findall(r"(--[\w-]+): (#\w+)", part)) for part in STYLE.split("prefers-color-scheme: dark", 1))
