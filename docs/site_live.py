"""The pages of the site that run Python: lessons, exercises, the playground, a learner's score, a class's table.

docs/live/ holds their scripts. npm and esbuild bundle them with CodeMirror and viz-js when the site is built, into
``_static/live/``. Without npm the site has no editors, and these pages say so. Python is Pyodide (docs/site_pyodide.py): a page
loads it from Pyodide's own place, or from the site's own folder, which

    make docs PYODIDE="$(python -m docs.site_pyodide)"

fills. Such a site asks nothing of a network, and also works as a folder of files without a server.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site_pyodide import missing, release, stored, used
from minigrad.learn.tasks import Task, lessons, tasks

HERE = Path(__file__).parent / "live"
PLACE = "_static/live"
COPY = "_static/pyodide"  # where the site has its own copy of Pyodide
SECONDS = 120  # for npm
NODE = {"graphviz.mjs": "node_modules/@viz-js/viz/dist/viz.js"}  # what is taken as it is
BLOCK = re.compile(r'<div class="live"')
PROGRAM = re.compile(r'<div class="live" data-kind="(?:cell|exercise|playground)"')
INLINE = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>(.*?)</script>", re.DOTALL)
WITHOUT = {
    "en": "This page has no editor, because the site was built without npm. The programs run on a computer with Python.",
    "ja": "このサイトは npm なしで作られたので、エディターはありません。"
    "プログラムは Python のあるコンピューターで実行してください。",
}
# What an exercise's page says around the exercise, by language.
WORDS = {
    "en": {
        "lesson": "Exercise of the lesson [{title}]({address})",
        "terminal": "In a terminal, this exercise is the file `{file}`, and `minigrad learn check {label}` checks it.",
        "next": "Next: [{label} {title}]({name}.md)",
        "heading": "Exercises of this lesson",
    },
    "ja": {
        "lesson": "レッスン「[{title}]({address})」の練習問題",
        "terminal": "ターミナルでは、この問題は `{file}` というファイルにあり、`minigrad learn check {label}` で採点できます。",
        "next": "次は [{label} {title}]({name}.md)",
        "heading": "このレッスンの練習問題",
    },
}


# Pages


def cell(lesson: str, code: str, built: str) -> str:
    """Return a cell of a lesson: its code, which becomes an editor, and what it printed when the site was built."""
    shown = f'<div class="live-built">\n\n{built}\n\n</div>\n\n' if built else ""
    return f'<div class="live" data-kind="cell" data-lesson="{lesson}">\n\n```python\n{code}\n```\n\n{shown}</div>'


def exercises() -> dict[str, str]:
    """Return the pages of the exercises, by name below ``course/exercises/``."""
    found = {}
    order = tasks()
    for language, folder in (("en", ""), ("ja", "ja/")):
        for one, after in zip(order, [*order[1:], None]):
            found[f"{folder}{name_of(one)}.md"] = _exercise(one, after, language)
    return found


def name_of(task: Task) -> str:
    return task.file.removesuffix(".py")


def links(lesson: int, language: str) -> str:
    """Return the list of a lesson's exercises, for the end of its page."""
    found = [one for one in tasks() if one.number[0] == lesson]
    folder = "exercises" if language == "en" else "../exercises/ja"
    lines = [f"- [{one.label} {one.words(language)['title']}]({folder}/{name_of(one)}.md)" for one in found]
    return "\n".join([f"## {WORDS[language]['heading']}", "", *lines]) if lines else ""


def _exercise(task: Task, after: Task | None, language: str) -> str:
    words, up = WORDS[language], "../" if language == "en" else "../../ja/"
    file = next((HERE.parents[1] / "examples" / "lessons").glob(f"{task.number[0]:02}_*.py"))
    title = lessons(language)[task.number[0]]
    lines = [
        "---\norphan: true\n---",
        f"# {task.label} {task.words(language)['title']}",
        words["lesson"].format(title=title, address=f"{up}{file.stem}.md"),
        f'<div class="live" data-kind="exercise" data-task="{task.label}" data-file="{task.file}">',
        f"```python\n{task.text(language).strip()}\n```",
        "</div>",
        words["terminal"].format(file=task.file, label=task.label),
    ]
    if after is not None:
        facts = {"label": after.label, "title": after.words(language)["title"], "name": name_of(after)}
        lines.append(words["next"].format(**facts))
    return "\n\n".join(lines) + "\n"


# Files


def bundle(root: Path) -> str | None:
    """Bundle the scripts with npm's packages into build/live/. Return why that was not possible, or None."""
    npm, made = shutil.which("npm"), root / "build" / "live"
    if npm is None or shutil.which("node") is None:
        return "npm is missing (it comes with Node, https://nodejs.org)"
    made.mkdir(parents=True, exist_ok=True)
    for path in HERE.iterdir():
        if path.suffix in (".mjs", ".js", ".json"):
            shutil.copy(path, made)
    lock = (HERE / "package-lock.json").read_bytes()
    stamp = made / "installed"
    commands = (
        []
        if stamp.is_file() and stamp.read_bytes() == lock
        else [[npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]]
    )
    program = made / "node_modules" / ".bin" / "esbuild"
    options = ["--bundle", "--minify", "--format=iife", "--loader:.worker.js=text", "--legal-comments=linked"]
    commands.append([str(program), "live.mjs", *options, "--outfile=live.js", "--log-level=error"])
    for command in commands:
        try:
            ran = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{Path(command[0]).name} failed: {error}"
        if ran.returncode:
            return f"{Path(command[0]).name} failed: {(ran.stderr or ran.stdout).strip().splitlines()[-1]}"
        if command[0] == npm:
            stamp.write_bytes(lock)
    return None


def package(root: Path) -> bytes:
    """Return what the worker puts beside Python's own modules, as a zip: the packages, the exercises, docs/live/*.py."""
    files = {path.name: path for path in HERE.glob("*.py")}
    files |= {name: root / "examples" / name for name in ("own_gpt.py", "common.py")}
    for folder, inside in (("minigrad", ""), ("nn", ""), ("models", ""), ("exercises", "minigrad/")):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__" and path.suffix not in (".pyi", ".typed"):
                files[inside + path.relative_to(root).as_posix()] = path
    return stored({name: path.read_bytes() for name, path in files.items()})


def write(root: Path, site: Path, copy: Path | None) -> dict[str, dict[str, Any]]:
    """Write the scripts and the files of Python into the built site. Return the table of files by which a page gets them."""
    folder = site / PLACE
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("live.js", "live.js.LEGAL.txt"):
        if (root / "build" / "live" / name).is_file():
            shutil.copy(root / "build" / "live" / name, folder)
    for name in ("live.css", "viewer.html"):
        shutil.copy(HERE / name, folder)
    table = {"minigrad.zip": _stored(folder, "minigrad.zip", package(root), "minigrad")}
    for name, inside in NODE.items():
        table[name] = _stored(folder, name, (root / "build" / "live" / inside).read_bytes(), name.split(".")[0])
    for name, pinned in release()["files"].items():
        if copy is None:
            digest = base64.b64encode(bytes.fromhex(pinned["sha256"])).decode()
            place = {"from": release()["from"] + name, "packed": False, "integrity": f"sha256-{digest}"}
            table[name] = {"group": pinned["group"], "bytes": pinned["bytes"], **place}
        else:
            table[name] = _stored(site / COPY, name, used(name, (copy / name).read_bytes()), pinned["group"])
    return table


def _stored(folder: Path, name: str, content: bytes, group: str) -> dict[str, Any]:
    """Store a file twice: packed, and packed in a script, because a page of a folder of files may not read files."""
    folder.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(content, 9, mtime=0)
    (folder / f"{name}.gz").write_bytes(packed)
    text = base64.b64encode(packed).decode()
    (folder / f"{name}.js").write_text(f'(globalThis.minigradFiles ??= {{}})["{name}"] = "{text}";\n', encoding="ascii")
    place = PLACE if folder.name == "live" else COPY
    return {"group": group, "bytes": len(packed), "packed": True, "from": f"{place}/{name}"}


# The built site


def setup(app: Any) -> None:
    app.connect("build-finished", _finished)


def _finished(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        finish(Path(__file__).parents[1], Path(app.outdir), os.environ.get("PYODIDE"))


def finish(root: Path, site: Path, copy: str | None) -> None:
    """Give the pages with programs their scripts and their content policy, or the sentence that they have no editor."""
    if copy and (lacking := missing(Path(copy))):
        raise ValueError(f"PYODIDE={copy} lacks these files of Pyodide {release()['version']}: {', '.join(lacking)}")
    reason = bundle(root)
    if reason:
        print(f"the pages of the site have no editor: {reason}", file=sys.stderr)
    table = {} if reason else write(root, site, Path(copy) if copy else None)
    for path in pages(site):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            without_editor(text) if reason else with_editor(text, depth(path, site), table), encoding="utf-8"
        )


def pages(site: Path) -> Iterator[Path]:
    """Yield the pages with programs that can run there."""
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.parts and BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


def depth(path: Path, site: Path) -> str:
    return "../" * (len(path.relative_to(site).parts) - 1)


def without_editor(text: str) -> str:
    """Return the page with a sentence before its first program."""
    said = WITHOUT["ja" if '<html lang="ja"' in text or 'lang="ja"' in text[:2000] else "en"]
    return PROGRAM.sub(lambda found: f'<p class="live-none">{said}</p>\n{found[0]}', text, count=1)


def with_editor(text: str, up: str, table: dict[str, dict[str, Any]]) -> str:
    """Return the page with its scripts. The content policy allows the scripts that it has now, and no other."""
    text = re.sub(r"\n<!-- live -->.*?<!-- /live -->", "", text, flags=re.DOTALL)
    files = {name: {**file, "from": (up if file["packed"] else "") + file["from"]} for name, file in table.items()}
    about = json.dumps({"files": files, "viewer": f"{up}{PLACE}/viewer.html"}, sort_keys=True).replace("<", "\\u003c")
    inline = [hashlib.sha256(script.encode()).digest() for script in INLINE.findall(text)]
    hashes = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in inline)
    sources = " ".join(sorted({file["from"].rpartition("/")[0] + "/" for file in table.values() if not file["packed"]}))
    policy = [
        "default-src 'none'",
        f"script-src 'self' blob: 'wasm-unsafe-eval' {hashes}",
        "worker-src blob:",
        f"connect-src 'self' blob: {sources}",
        "img-src 'self' data: blob:",
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
    ]
    head = [
        "\n<!-- live -->",
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape("; ".join(policy).strip())}">',
        f'<link rel="stylesheet" href="{up}{PLACE}/live.css">',
        f'<script type="application/json" data-live>{about}</script>',
        f'<script defer src="{up}{PLACE}/live.js"></script>',
        "<!-- /live -->",
    ]
    return re.sub(r'(<meta charset="utf-8"\s*/?>)', lambda found: found[1] + "\n".join(head), text, count=1)


if __name__ == "__main__":  # after a change in docs/live/, without building the site again
    finish(Path(__file__).parents[1], Path(sys.argv[1]), os.environ.get("PYODIDE"))
