"""The examples as pages of the site: each is run with --quick when the site is built, and shows what it printed and drew.

No gallery extension: the examples are programs of a command line, whose output belongs to the page as much as the pictures.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from docs.site_lessons import child
from docs.site_pages import store

QUIET = 15.0  # seconds; no example takes longer on a quiet machine
SHOWN = (".png", ".svg", ".html")
# These read the weights of a real encoder, 90 MB in a package of its own, and are run where it is installed.
WITH_WEIGHTS = {"semantic_search", "sentence_classifier", "word_in_context"}
NO_EXAMPLE = {"make_view_pictures"}  # it draws the pictures of docs/


@dataclass(frozen=True)
class Run:
    """What became of an example: what it printed and wrote, or else why it was not run."""

    printed: str = ""
    files: tuple[str, ...] = ()
    seconds: float = 0.0
    missing: str = ""


def examples(root: Path) -> list[Path]:
    """The programs that know --quick, in the order in which docs/examples.md names them."""
    page = (root / "docs" / "examples.md").read_text(encoding="utf-8")
    named = list(dict.fromkeys(re.findall(r"\b(\w+)\.py\b", page)))
    found = [path for path in (root / "examples").glob("*.py") if path.stem not in NO_EXAMPLE and _is_program(path)]
    return sorted(found, key=lambda path: (named.index(path.stem) if path.stem in named else len(named), path.stem))


def _is_program(path: Path) -> bool:
    """Whether it has the options that the examples share, which examples/common.py defines."""
    text = path.read_text(encoding="utf-8")
    return "argument_parser(" in text and "def argument_parser(" not in text


def write(root: Path, folder: Path) -> Path:
    """Run every example and write its page into ``folder``; returned is the folder of what they drew."""
    made = root / "build" / "gallery"
    shutil.rmtree(made, ignore_errors=True)
    paths = examples(root)
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda path: run(path, made / "runs" / path.stem), paths))
    store(folder, {f"{path.stem}.md": page(path, found) for path, found in zip(paths, runs)})
    return made


def run(path: Path, folder: Path) -> Run:
    """Run an example in ``folder``, where only what a page shows is left afterwards.

    Raises:
        RuntimeError: it took too long, or it failed, and not because the encoder's weights are not installed.
    """
    folder.mkdir(parents=True)
    start = time.monotonic()
    ran = child([sys.executable, str(path), "--quick"], folder, QUIET)
    if ran.returncode:
        if path.stem in WITH_WEIGHTS and "pip install" in ran.stderr:
            return Run(missing=ran.stderr.strip().splitlines()[-1].removeprefix("error: "))
        raise RuntimeError(f"{path.name} --quick failed:\n{ran.stderr}")
    written = sorted(file for file in folder.rglob("*") if file.is_file())
    for file in written:
        if file.suffix not in SHOWN:
            file.unlink()
    files = tuple(file.relative_to(folder).as_posix() for file in written if file.suffix in SHOWN)
    return Run(ran.stdout, files, time.monotonic() - start)


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def page(path: Path, found: Run) -> str:
    """An example as Markdown: what it is, and what became of it."""
    text = [f"# {path.name}", docstring(path), f"The program: [{path.name}](path:../../examples/{path.name})"]
    text += ["All results side by side: [the examples](../examples.md).", "## With `--quick`, when this site was built"]
    text.append(f"```text\npython examples/{path.name} --quick\n```")
    text += [f"It was not run: {found.missing}"] if found.missing else _shown(path, found)
    return "\n\n".join([*text, "## The full run", *_full(path)]) + "\n"


def _shown(path: Path, found: Run) -> list[str]:
    text = [f"It took {found.seconds:.1f} s and printed:", f"```text\n{found.printed.rstrip()}\n```"]
    for file in found.files:
        address, name = f"../runs/{path.stem}/{file}", Path(file).name
        if file.endswith(".html"):
            text.append(f'<p><a href="{address}">{name}</a>, a page to open</p>')
        else:
            text.append(f'<p><a href="{address}"><img src="{address}" alt="{name}" loading="lazy"></a></p>')
    return text


def kept(path: Path) -> Path:
    """The file of what an example printed in full, which docs/full_runs.py writes; its first line says when and where."""
    return path.parents[1] / "docs" / "printed" / f"{path.stem}.txt"


def _full(path: Path) -> list[str]:
    command = f"```text\npython examples/{path.name}\n```"
    if not kept(path).exists():
        return [command, f"Not captured: `python -m docs.full_runs {path.stem}` does it."]
    when, _, printed = kept(path).read_text(encoding="utf-8").rstrip().partition("\n\n")
    return [command, f"On {when}. It printed:", f"```text\n{printed}\n```"]


def contents(root: Path) -> str:
    """What the page about the examples gets on the site: a line for each, and their pages in the table of contents."""
    rows = [
        "",
        "## Each by itself",
        "",
        "What it is, and what its `--quick` printed and drew when this site was built:",
        "",
    ]
    rows += ["| example | |", "|---|---|"]
    paths = examples(root)
    for path in paths:
        first = " ".join(docstring(path).split("\n\n")[0].split())
        rows.append(f"| [{path.name}](gallery/{path.stem}.md) | {first} |")
    rows += ["", "```{toctree}", ":hidden:", "", *[f"gallery/{path.stem}" for path in paths], "```"]
    return "\n".join(rows) + "\n"
