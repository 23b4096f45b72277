"""The first page's stepper: the page that README's first program writes, made when the site is built."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

QUIET = 5.0  # seconds on a quiet machine
FILE = "first.py"  # so the stepper calls the program


def program(root: Path) -> str:
    """Return the first program of README.md."""
    text = (root / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError("README.md has no program")
    return found[1]


def write(root: Path) -> Path:
    """Run the program, and return the folder of which the site takes ``front/explain.html``."""
    from docs.site_lessons import child  # needs examples/ on the path, and the program alone does not

    made = root / "build" / "front"
    shutil.rmtree(made, ignore_errors=True)
    shown = made / "front"
    shown.mkdir(parents=True)
    (shown / FILE).write_text(program(root), encoding="utf-8")
    ran = child([sys.executable, FILE], shown, QUIET)
    if ran.returncode:
        raise RuntimeError(f"the first program of README.md failed:\n{ran.stderr}")
    (shown / FILE).unlink()
    return made


if __name__ == "__main__":  # CONTRIBUTING.md runs it with a new release
    print(program(Path(__file__).parents[1]), end="")
