"""The lessons as notebooks, in English or Japanese.

    python examples/lesson_notebooks.py --language ja

A lesson is one file, examples/lessons/01_nudging.py: cells begin with `# %%`, and those of text with
`# %% [markdown] name="predict"`. Jupyter (with Jupytext), VS Code and Spyder open it as it is. Its Japanese text stands in
examples/lessons/ja/01_nudging.md, under `<!-- predict -->`: the code exists once. This program puts the two together and
writes, into out/notebooks/, an .ipynb and a .py for each lesson.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "lessons"
LANGUAGES = ("en", "ja")
MARKER = re.compile(r'# %%(?: \[(markdown)\] name="(\w+)")?')
KEY = re.compile(r"^<!-- (\w+) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A cell of a lesson: code, which has no name, or Markdown, by whose name its translation is found."""

    name: str | None
    text: str


def lessons() -> list[Path]:
    """The lessons' files, in their order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.py"))


def cells(path: Path, language: str = "en") -> list[Cell]:
    """The cells of a lesson in a language.

    Raises:
        ValueError: the file does not have this form, or not every text has its translation, and each translation a text.
    """
    found: list[tuple[str | None, list[str]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# %%"):
            marker = MARKER.fullmatch(line)
            if marker is None:
                raise ValueError(f'{path.name}: {line!r} is neither # %% nor # %% [markdown] name="a_name"')
            found.append((marker[2], []))
        elif not found:
            raise ValueError(f"{path.name} must begin with # %%, got {line!r}")
        else:
            found[-1][1].append(line)
    texts = {name for name, _ in found if name}
    if len(texts) != sum(name is not None for name, _ in found):
        raise ValueError(f"{path.name}: two texts have the same name")
    english = [Cell(name, _plain(path, lines) if name else "\n".join(lines).strip("\n")) for name, lines in found]
    if language == "en":
        return english
    words = translation(path.parent / language / f"{path.stem}.md")
    if words.keys() != texts:
        raise ValueError(f"{path.name}: only one language has {', '.join(sorted(words.keys() ^ texts))}")
    code = 'LANGUAGE = "en"', f'LANGUAGE = "{language}"'
    return [replace(cell, text=words[cell.name] if cell.name else cell.text.replace(*code)) for cell in english]


def _plain(path: Path, lines: list[str]) -> str:
    """Markdown without the # of the comments in which it stands."""
    lines = "\n".join(lines).strip("\n").split("\n")
    for line in lines:
        if line != "#" and not line.startswith("# "):
            raise ValueError(
                f"{path.name}: {line!r} stands in a cell of text and is no comment: begin a cell with # %%"
            )
    return "\n".join(line[2:] for line in lines)


def translation(path: Path) -> dict[str, str]:
    """The texts of a file in another language, by their names."""
    _, *parts = KEY.split(path.read_text(encoding="utf-8"))
    return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2])}


def notebook(found: list[Cell], language: str) -> dict[str, Any]:
    """As Jupyter stores it (nbformat 4.5)."""
    made: list[dict[str, Any]] = []
    for i, cell in enumerate(found):
        kind: dict[str, Any] = (
            {"cell_type": "markdown"} if cell.name else {"cell_type": "code", "execution_count": None, "outputs": []}
        )
        made.append({**kind, "id": f"cell-{i}", "metadata": {}, "source": cell.text.splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}, "lang": language}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def percent(found: list[Cell]) -> str:
    """As a .py file."""
    parts = []
    for cell in found:
        if cell.name is None:
            parts.append(f"# %%\n{cell.text}\n")
        else:
            lines = "\n".join(f"# {line}".rstrip() for line in cell.text.split("\n"))
            parts.append(f'# %% [markdown] name="{cell.name}"\n{lines}\n')
    return "\n".join(parts)


def write(folder: Path, language: str) -> list[Path]:
    """Each lesson as a notebook and as a .py file in ``folder``; what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for path in lessons():
        found = cells(path, language)
        for name, text in (
            (f"{path.stem}.ipynb", json.dumps(notebook(found, language), ensure_ascii=False, indent=1) + "\n"),
            (path.name, percent(found)),
        ):
            (folder / name).write_text(text, encoding="utf-8")
            written.append(folder / name)
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the text (default: en)")
    parser.add_argument(
        "--out", type=Path, help="the folder that they are written to (default: out/notebooks/LANGUAGE)"
    )
    options = parser.parse_args()
    try:
        for path in write(options.out or Path("out/notebooks") / options.language, options.language):
            print(path)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
