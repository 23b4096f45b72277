"""The lessons as pages of the site: each is run when the site is built, and shows what it printed, drew and wrote.

What a lesson is, in one language and in two, examples/lesson_notebooks.py says and reads.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from docs import site_live
from docs.site_pages import store
from lesson_notebooks import Cell, cells, run
from minigrad.learn.tasks import ORDER, find

QUIET = 12.0  # seconds; no lesson takes longer on a quiet machine
# The words around a lesson: over a page that it wrote, and over its file.
WORDS = {
    "en": ("Open this page by itself", "Step {step} of {count} · A file to run: {file}"),
    "ja": ("このページだけを開く", "{count}のうち{step}番目 · 実行できるファイル：{file}"),
}
NUMBER = re.compile(r"^# (?:Lesson \d+: |レッスン\d+：)(.*)$", re.MULTILINE)  # the title of a lesson, with its number


def lessons(root: Path) -> list[Path]:
    """The lessons in the order in which they are taken."""
    found = (root / "examples" / "lessons").glob("[0-9]*.py")
    return sorted(found, key=lambda path: ORDER.index(int(path.name[:2])))


def write(root: Path, folder: Path) -> Path | None:
    """Run every lesson in both languages and write its pages into ``folder``; returned is the folder of what they wrote."""
    made = root / "build" / "course"
    shutil.rmtree(made, ignore_errors=True)
    found = [(path, language) for path in lessons(root) for language in ("en", "ja")]
    found = [(path, language) for path, language in found if language == "en" or _japanese(path).is_file()]
    with ThreadPoolExecutor(2) as pool:
        pages = dict(pool.map(lambda lesson: _page(lesson[0], lesson[1], made), found))
    store(folder, {name: text for name, text in pages.items() if not name.startswith("ja/")})
    store(folder / "ja", {name[3:]: text for name, text in pages.items() if name.startswith("ja/")})
    exercises = site_live.exercises()
    store(folder / "exercises", {name: text for name, text in exercises.items() if not name.startswith("ja/")})
    store(folder / "exercises" / "ja", {name[3:]: text for name, text in exercises.items() if name.startswith("ja/")})
    return made if found else None


def _japanese(path: Path) -> Path:
    return path.parent / "ja" / f"{path.stem}.md"


def _page(path: Path, language: str, made: Path) -> tuple[str, str]:
    """The name and the text of one page, once its lesson has been run."""
    shown = made / "lessons" / language  # so it will be called in the site
    shown.mkdir(parents=True, exist_ok=True)
    outcomes = _run(path, language, shown)
    name = f"{path.stem}.md" if language == "en" else f"ja/{path.stem}.md"
    return name, page(path, cells(path, language), outcomes, language)


def page(path: Path, found: list[Cell], outcomes: list[dict[str, Any]], language: str) -> str:
    """A lesson as Markdown: text, code, and under the code what became of it."""
    alone, file = WORDS[language]
    up = "../" if language == "en" else "../../"
    step, link = ORDER.index(int(path.name[:2])) + 1, f"[{path.name}](path:../{up}examples/lessons/{path.name})"
    head = file.format(step=step, count=len(ORDER), file=link)
    parts: list[str] = []
    runs = iter(outcomes)
    for cell in found:
        if cell.name is not None:
            parts.append(f"{cell.text}\n\n{head}" if not parts else cell.text)
            continue
        outcome = next(runs)
        built: list[str] = []
        if outcome["printed"].strip():
            built.append(f"```text\n{outcome['printed'].rstrip()}\n```")
        for picture in outcome["pictures"]:
            built.append(f'<p><img src="{up}lessons/{language}/{picture}" alt="{Path(picture).stem}"></p>')
        for written in outcome["pages"]:
            address = f"{up}lessons/{language}/{written}"
            frame = f'<iframe class="lesson-page" src="{address}" title="{written}" loading="lazy"></iframe>'
            built.append(f'{frame}\n<p><a href="{address}">{alone}</a></p>')
        parts.append(site_live.cell(path.stem, cell.text, "\n\n".join(built)))
    if exercises := site_live.links(int(path.name[:2]), language):
        parts.append(exercises)
    return "\n\n".join(parts) + "\n"


def _run(path: Path, language: str, folder: Path) -> list[dict[str, Any]]:
    """What became of each cell of code, in a process of its own."""
    ran = child([sys.executable, "-m", "docs.site_lessons", str(path), language], folder, QUIET)
    if ran.returncode:
        raise RuntimeError(f"{path.name} ({language}) failed:\n{ran.stderr}")
    outcomes: list[dict[str, Any]] = json.loads(ran.stdout)
    return outcomes


def child(command: list[str], folder: Path, quiet: float) -> subprocess.CompletedProcess[str]:
    """Run a program of this repository in ``folder``: without a window, with one BLAS thread, in UTF-8.

    ``quiet`` is the number of seconds that it may take on a quiet machine.

    Raises:
        RuntimeError: it took ten times as long, and was stopped.
    """
    root = Path(__file__).parents[1]
    paths = [str(root), str(root / "examples"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}
    options: dict[str, Any] = {"cwd": folder, "env": environment, "capture_output": True, "encoding": "utf-8"}
    try:
        return subprocess.run(command, timeout=10 * quiet, check=False, **options)
    except subprocess.TimeoutExpired as error:
        waited = (
            f"{' '.join(command[1:])} was stopped after {10 * quiet:g} s, ten times what it takes on a quiet machine"
        )
        lines = [part.decode("utf-8", "replace").strip() for part in (error.stdout, error.stderr) if part]
        last = "".join(f"; its last line was: {text.splitlines()[-1]}" for text in lines if text)
        raise RuntimeError(waited + last) from None


def course(root: Path, language: str) -> str:
    """What the page about the course gets on the site: its lessons in the table of contents, and the exercises."""
    return lessons_contents(root, language) + _exercises(root, language)


def lessons_contents(root: Path, language: str) -> str:
    """The lessons of a language as a table of contents; nothing where there are none.

    Titles stand there without the numbers of the lessons, which are in the order in which they were added.
    """
    title, folder = {"en": ("Lessons", "/course"), "ja": ("レッスン", "/course/ja")}[language]
    found = [path for path in lessons(root) if language == "en" or _japanese(path).is_file()]
    if not found:
        return ""
    lines = ["```{toctree}", ":maxdepth: 1", f":caption: {title}", ""]
    return (
        "\n"
        + "\n".join([*lines, *[f"{_title(path, language)} <{folder}/{path.stem}>" for path in found], "```"])
        + "\n"
    )


def _title(path: Path, language: str) -> str:
    """The title of a lesson without its number."""
    text = next(cell.text for cell in cells(path, language) if cell.name)
    title = (NUMBER.search(text) or re.search(r"^# (.*)$", text, re.MULTILINE) or {1: path.stem})[1]
    return f"{title[0].upper()}{title[1:]}"


def _exercises(root: Path, language: str) -> str:
    words = tomllib.loads((root / "exercises" / f"words_{language}.toml").read_text(encoding="utf-8"))
    title, *columns = {
        "en": ("All exercises", "exercise", "of the lesson"),
        "ja": ("すべての練習問題", "練習問題", "レッスン"),
    }[language]
    rows = ["", f"## {title}", "", f"| | {' | '.join(columns)} |", "|---|---|---|"]
    labels = [label for label in words if label != "lessons"]
    for label in sorted(labels, key=lambda label: ORDER.index(int(label.partition(".")[0]))):
        place = "course/exercises" if language == "en" else "../course/exercises/ja"
        link = f"[{words[label]['title']}]({place}/{site_live.name_of(find(label))}.md)"
        rows.append(f"| {label} | {link} | {words['lessons'][label.partition('.')[0]]} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), sys.argv[2]), ensure_ascii=False))
