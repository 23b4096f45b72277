"""What the pages of the site ask of Python: a worker of the page calls ``do`` with a request, both sides in JSON.

Everything is done by the code that a terminal runs: the exercises by ``minigrad learn``, the playground by ``minigrad explain``
and ``minigrad write-numpy``. This file puts files where those look for them, and hands over what they print and write.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import linecache
import os
import re
import runpy
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HOME = Path("/home/pyodide")
PICTURES, PAGES = (".png", ".svg"), (".html",)
DRAWN = re.compile(r"file://\S*?/pages/(\w+\.html)#step=(\d+)")

# Frames of Python. Operators that call themselves need the stack of WebAssembly, too, which ends the worker when it is full:
# in Chromium at more than 300. NumPy, minigrad and Matplotlib do with 150.
DEEPEST = 250

os.environ["MPLBACKEND"] = "Agg"
_cells: dict[str, Any] = {}  # the names of the lesson that is open
say: Callable[[str], None] = print  # the worker puts a function here that sends what is printed to the page


class Sent(io.TextIOBase):
    """A stream that goes to the page while the program runs, and is kept."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        self.parts.append(text)
        say(text)
        return len(text)

    def text(self) -> str:
        return "".join(self.parts)


def do(request: str) -> str:
    """Do what the page asks for; never raises."""
    asked = json.loads(request)
    sys.setrecursionlimit(DEEPEST)
    try:
        answer = ACTIONS[asked["do"]](asked)
    except BaseException:
        answer = {"error": traceback.format_exc()}
    return json.dumps(answer)


# Programs: the cells of a lesson, and the playground


def cell(asked: dict[str, Any]) -> dict[str, Any]:
    """Run a cell of a lesson among the names of the cells before it."""
    if asked["number"] == 0:
        _cells.clear()
        _cells["__name__"] = "__main__"
        shutil.rmtree(HOME / "lesson", ignore_errors=True)
    with _in(HOME / "lesson"):
        name = f"{asked['lesson']}, cell {asked['number'] + 1}"
        return _outcome(lambda: _execute(asked["code"], name, _cells), name)


def program(asked: dict[str, Any]) -> dict[str, Any]:
    """Run the program of the playground as a command of minigrad does, or plainly: ``command`` is a list of words."""
    with _in(HOME / "playground"):
        for path in [path for path in Path().rglob("*") if path.is_file()]:
            path.unlink()
        Path("program.py").write_text(asked["code"], encoding="utf-8")
        linecache.checkcache()
        if asked["command"]:
            return _outcome(lambda: _command(asked["command"]), "program.py")
        return _outcome(lambda: _execute(asked["code"], "program.py", {"__name__": "__main__"}), "program.py")


def _execute(code: str, name: str, names: dict[str, Any]) -> None:
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(ast.parse(code, name), name, "exec"), names)


def _command(words: list[str]) -> int:
    from minigrad.cli.main import main

    return main(words)


def _outcome(run: Callable[[], Any], file: str) -> dict[str, Any]:
    """Return what a run printed, the error that ended it, and the pictures, pages and programs that it wrote."""
    before, status, error, lacking = _written(), None, "", None
    sent = Sent()
    with contextlib.redirect_stdout(sent), contextlib.redirect_stderr(sent):
        try:
            status = run()
        except SystemExit as end:
            error = str(end.code) if end.code not in (None, 0) else ""
        except BaseException as problem:
            error, lacking = _said(problem, file), _lacking(problem)
    new = [path for path, when in sorted(_written().items()) if before.get(path) != when]
    return {
        "printed": sent.text(),
        "error": error,
        "lacking": lacking,
        "status": status,
        "pictures": [[path, _picture(Path(path))] for path in new if path.endswith(PICTURES)],
        "pages": [[path, Path(path).read_text(encoding="utf-8")] for path in new if path.endswith(PAGES)],
        "programs": [[path, Path(path).read_text(encoding="utf-8")] for path in new if path.endswith("step.py")],
    }


def _said(problem: BaseException, file: str) -> str:
    """The traceback as Python prints it, from the first line of the reader's program on."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(problem), problem, trace or problem.__traceback__)).rstrip()


def _lacking(problem: BaseException) -> str | None:
    """The package that is not there and ended the program, by its import name: the page may have it, and runs again."""
    each: BaseException | None = problem
    while each is not None:
        if isinstance(each, ModuleNotFoundError) and each.name:
            return each.name.partition(".")[0]
        each = each.__cause__ or each.__context__
    return None


def _written() -> dict[str, int]:
    return {path.as_posix(): path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}


def _picture(path: Path) -> str:
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder):
        yield


# Exercises: a folder as `minigrad learn init` makes it


def learn(asked: dict[str, Any]) -> dict[str, Any]:
    """Run a command of ``minigrad learn`` in the learner's folder. Return what it printed, its page, and the files."""
    folder = _folder(asked)
    sent = Sent()
    with contextlib.redirect_stdout(sent), contextlib.redirect_stderr(sent):
        status = _command(["learn", "--language", asked["language"], "--folder", str(folder), *asked["words"]])
    printed = sent.text()
    page = None
    if found := DRAWN.search(printed):
        page = {"html": (folder / "pages" / found[1]).read_text(encoding="utf-8"), "step": found[2]}
        printed = printed.replace(found[0], "↓")  # it stands below
    return {"printed": printed.strip("\n"), "status": status, "page": page, "files": _changed(folder, asked)}


def _folder(asked: dict[str, Any]) -> Path:
    """Write the learner's files into a folder of their name, and the stubs that are missing."""
    folder = HOME / "learners" / (Path(asked.get("learner") or "").name or "my_course")
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in asked["files"].items():
        (folder / Path(name).name).write_text(text, encoding="utf-8")
    linecache.checkcache()
    with contextlib.redirect_stdout(io.StringIO()):
        _command(["learn", "--language", asked["language"], "init", str(folder)])
    return folder


def _changed(folder: Path, asked: dict[str, Any]) -> dict[str, str]:
    """Return the files that the page has, and the learner's state, as they are now."""
    names = {*asked["files"], "learn.json"}
    return {name: (folder / name).read_text(encoding="utf-8") for name in names if (folder / name).is_file()}


def exported(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the learner's folder as a zip, with all exercises, in base64."""
    folder = _folder(asked)
    archive = shutil.make_archive(str(HOME / "exported"), "zip", folder.parent, folder.name)
    return {"zip": base64.b64encode(Path(archive).read_bytes()).decode(), "files": _changed(folder, asked)}


def imported(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the files of a zip of a learner's folder: the state, and the answers to known exercises."""
    import zipfile

    from minigrad.learn.tasks import tasks

    known = {"learn.json", *(task.file for task in tasks())}
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(asked["zip"]))) as archive:
        found = {Path(name).name: archive.read(name).decode("utf-8") for name in archive.namelist()
                 if Path(name).name in known and archive.getinfo(name).file_size < 1 << 20}  # fmt: skip
    return {"files": found}


def capstone(asked: dict[str, Any]) -> dict[str, Any]:
    """Train the GPT of the learner's answers: examples/own_gpt.py."""
    folder = _folder(asked)
    with _in(HOME / "capstone"):
        shutil.rmtree("out", ignore_errors=True)
        before = sys.argv
        sys.argv = ["own_gpt.py", "--answers", str(folder), *asked["words"]]
        try:
            return _outcome(lambda: runpy.run_module("own_gpt", run_name="__main__") and None, "own_gpt.py")
        finally:
            sys.argv = before


ACTIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "cell": cell,
    "program": program,
    "learn": learn,
    "export": exported,
    "import": imported,
    "capstone": capstone,
}
