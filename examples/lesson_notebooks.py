"""The lessons as notebooks, in English or Japanese.

    python examples/lesson_notebooks.py --language ja

A lesson is one file, examples/lessons/01_nudging.py: cells begin with `# %%`, and those of text with
`# %% [markdown] name="predict"`. Jupyter (with Jupytext), VS Code and Spyder open it as it is. Its Japanese text stands in
examples/lessons/ja/01_nudging.md, under `<!-- predict -->`: the code exists once. The words that a program prints and draws
stand in that file, too, under `<!-- said -->`: the text in English → the text in Japanese, both as Python writes them. This
program puts all together and writes, into out/notebooks/, an .ipynb and a .py for each lesson.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import linecache
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "lessons"
LANGUAGES = ("en", "ja")
MARKER = re.compile(r'# %%(?: \[(markdown)\] name="(\w+)")?')
KEY = re.compile(r"^<!-- (\w+) -->$", re.MULTILINE)
WORD = re.compile(r'(f?".*") → (f?".*")')
PRINTED = ("print", "SystemExit")  # calls whose texts are read in a terminal; the texts of others may be drawn
NEEDED = '"A lesson draws pictures, which needs Matplotlib: pip install matplotlib"'
# What the first cell of a Japanese lesson says, too.
FIRST = {"ja": {'"en"': '"ja"', NEEDED: '"レッスンの図を描くには Matplotlib が必要です：pip install matplotlib"'}}
DRAWN = """
# 図に使う文字。日本語のフォントがなければ、図の中の言葉は英語になります。
from minigrad.graph.draw.fonts import families, lacking

plt.rcParams["font.family"] = families("図の中の言葉、カタカナ")


def drawn(japanese, english):
    return english if lacking(japanese) else japanese
"""


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
    said = {match[1]: match[2] for match in map(WORD.fullmatch, words.pop("said", "").splitlines()) if match}
    if words.keys() != texts:
        raise ValueError(f"{path.name}: only one language has {', '.join(sorted(words.keys() ^ texts))}")
    codes = iter(_in_words([cell.text for cell in english if cell.name is None], said, FIRST[language], path.name))
    return [replace(cell, text=words[cell.name] if cell.name else next(codes)) for cell in english]


def _in_words(codes: list[str], said: dict[str, str], first: dict[str, str], lesson: str) -> list[str]:
    """The cells of code with the texts in another language.

    A text that is only printed is replaced. One that may be drawn becomes `drawn("...", "...")`, also where it is printed,
    because it may be a key. The first cell gets the function.
    """
    found = [list(_literals(code)) for code in codes]
    there = {text: any(not printed for each in found for _, at, printed in each if at == text)
             for each in found for _, text, _ in each}  # fmt: skip
    if missing := said.keys() - there.keys():
        raise ValueError(f"{lesson}: no program says {', '.join(sorted(missing))}")
    new = []
    for code, literals in zip(codes, found):
        begins = 'LANGUAGE = "en"' in code
        for start, text, _ in sorted(literals, reverse=True):
            if begins and text in first:
                other = first[text]
            elif text in said:
                other = f"drawn({said[text]}, {text})" if there[text] else said[text]
            else:
                continue
            code = code[:start] + other + code[start + len(text) :]
        new.append(f"{code}\n{DRAWN.rstrip()}" if begins and any(there[text] for text in said) else code)
    return new


def _literals(code: str) -> Iterator[tuple[int, str, bool]]:
    """The texts in a program: where each begins, how it is written, and whether it stands in a call that prints it."""
    offsets = [0, *accumulate(len(line) for line in code.splitlines(keepends=True))]
    lines = code.splitlines()

    def walk(node: ast.AST, printed: bool) -> Iterator[tuple[int, str, bool]]:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
            yield offsets[node.lineno - 1] + column, ast.get_source_segment(code, node) or "", printed
            return
        printed = printed or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in PRINTED)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, printed)

    yield from walk(ast.parse(code), False)


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


def run(path: Path, language: str) -> list[dict[str, Any]]:
    """Run the cells of code one after the other, as a notebook does; for each what it printed and the files it wrote.

    ``steps`` says the same of each statement of the cell.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    outcomes = []
    for number, cell in enumerate(cell for cell in cells(path, language) if cell.name is None):
        file = f"{path.stem}, cell {number + 1}"
        linecache.cache[file] = (len(cell.text), None, cell.text.splitlines(keepends=True), file)
        steps = [_step(node, file, names) for node in ast.parse(cell.text, file).body]
        whole: dict[str, Any] = {key: [one for step in steps for one in step[key]] for key in ("pictures", "pages")}
        outcomes.append({"printed": "".join(step["printed"] for step in steps), **whole, "steps": steps})
    return outcomes


def _step(node: ast.stmt, file: str, names: dict[str, Any]) -> dict[str, Any]:
    before, printed = _written(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module([node], []), file, "exec"), names)
    new = [name for name, when in sorted(_written().items()) if before.get(name) != when]
    pictures = [name for name in new if name.endswith((".png", ".svg"))]
    return {
        "printed": printed.getvalue(),
        "pictures": pictures,
        "pages": [name for name in new if name.endswith(".html")],
    }


def _written() -> dict[str, int]:
    files = [path for path in Path().rglob("*") if path.is_file()]
    return {path.as_posix(): path.stat().st_mtime_ns for path in files}


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
