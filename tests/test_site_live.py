"""The pages that run Python: what the build writes around them, and what their Python answers, here without a page."""

import base64
import hashlib
import io
import json
import re
import runpy
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from docs import site_live
from docs.site_pyodide import release
from minigrad.learn import checker, inside
from minigrad.learn.tasks import find, tasks

LIVE = site_live.HERE
FILES = {
    "a.zip": {"group": "minigrad", "bytes": 3, "packed": True, "from": "_static/live/a.zip"},
    "b.wasm": {
        "group": "python",
        "bytes": 3,
        "packed": False,
        "from": "https://cdn.example/v1/b.wasm",
        "integrity": "sha256-AAAA",
    },
}
HEAD = '<html lang="en"><head><meta charset="utf-8"></head><body><script>let a = 1;</script>'
PAGE = f'{HEAD}<div class="live" data-kind="cell"></div>'
Do = Any


def test_every_exercise_has_a_page_in_both_languages_that_leads_to_the_next() -> None:
    found = site_live.exercises()
    names = [site_live.name_of(task) for task in tasks()]
    assert set(found) == {f"{folder}{name}.md" for folder in ("", "ja/") for name in names}
    page = found["1_1_nudge.md"]
    assert page.startswith("---\norphan: true\n---\n\n# 1.1 ") and 'data-task="1.1" data-file="1_1_nudge.py"' in page
    assert (
        find("1.1").text("en").strip() in page
        and "(1_2_gradient_by_nudging.md)" in page
        and "(../01_nudging.md)" in page
    )
    assert (
        find("1.1").text("ja").strip() in found["ja/1_1_nudge.md"]
        and "(../../ja/01_nudging.md)" in found["ja/1_1_nudge.md"]
    )


def test_a_lesson_names_its_exercises_and_one_without_names_none() -> None:
    assert site_live.links(1, "en").count("](exercises/1_") == 3
    assert site_live.links(1, "ja").count("](../exercises/ja/1_") == 3 and site_live.links(99, "en") == ""


def test_a_page_gets_its_scripts_once_and_a_policy_with_the_hashes_of_its_own() -> None:
    made = site_live.with_editor(PAGE, "../", FILES)
    assert site_live.with_editor(made, "../", FILES) == made  # also after a change in docs/live/
    digest = base64.b64encode(hashlib.sha256(b"let a = 1;").digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', made)
    assert f"sha256-{digest}" in policy and "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
    assert (
        "script-src &#x27;self&#x27; blob:" in policy
        and "connect-src &#x27;self&#x27; blob: https://cdn.example/v1/;" in policy
    )
    assert made.index("Content-Security-Policy") < made.index("<script")
    (about,) = re.findall(r"data-live>(.*?)</script>", made)
    files = json.loads(about)["files"]
    assert (
        files["a.zip"]["from"] == "../_static/live/a.zip" and files["b.wasm"]["from"] == "https://cdn.example/v1/b.wasm"
    )


def test_a_site_without_npm_says_that_it_has_no_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    site_live.finish(tmp_path, tmp_path, None)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert text.count("This page has no editor") == 1 and "live.js" not in text
    assert "the pages of the site have no editor: npm is missing" in capsys.readouterr().err


def test_a_folder_that_is_not_pyodide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"lacks these files of Pyodide .*pyodide\.mjs"):
        site_live.finish(tmp_path, tmp_path, str(tmp_path))


def test_the_package_holds_what_a_page_needs_and_is_the_same_each_time() -> None:
    content = site_live.package(LIVE.parents[1])
    assert content == site_live.package(LIVE.parents[1])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
    assert {
        "live.py",
        "pygraphviz.py",
        "own_gpt.py",
        "minigrad/__init__.py",
        "nn/__init__.py",
        "models/gpt.py",
    } <= names
    assert {
        "minigrad/exercises/stubs/1_1_nudge.py",
        "minigrad/exercises/words_ja.toml",
        "minigrad/learn/words.json",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".pyi"))]


def test_a_site_without_a_copy_names_pyodides_own_files_with_the_sums_that_a_browser_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_live, "NODE", {})
    monkeypatch.setattr(site_live, "package", lambda root: b"")
    table = site_live.write(tmp_path, tmp_path, None)
    assert table.keys() == {"minigrad.zip", *release()["files"]} and table["minigrad.zip"]["packed"]
    for name, pinned in release()["files"].items():
        kind, _, digest = table[name]["integrity"].partition("-")
        assert (
            kind == "sha256" and base64.b64decode(digest).hex() == pinned["sha256"]
        )  # base64: hexadecimal fits no file
        assert table[name]["from"] == release()["from"] + name and not table[name]["packed"]


def test_a_file_is_stored_packed_and_as_a_script(tmp_path: Path) -> None:
    folder = tmp_path / "live"
    about = site_live._stored(folder, "a.zip", b"content", "minigrad")
    packed = (folder / "a.zip.gz").read_bytes()
    (text,) = re.findall(r'= "(.*)";', (folder / "a.zip.js").read_text(encoding="ascii"))
    assert base64.b64decode(text) == packed and about["bytes"] == len(packed) and about["from"] == "_static/live/a.zip"


def test_the_words_of_the_page_are_there_in_both_languages() -> None:
    text = (LIVE / "words.mjs").read_text(encoding="utf-8")
    english, japanese = (re.findall(r"(?:^|, )\s*(\w+): \"", part, re.MULTILINE) for part in text.split("  ja: {"))
    assert english == japanese and len(english) > 30
    used = set(
        re.findall(
            r"\b(?:word|button)\(\"(\w+)\"", "".join(path.read_text(encoding="utf-8") for path in LIVE.glob("*.mjs"))
        )
    )
    assert used == set(english)


def test_no_package_of_npm_names_where_it_was_taken_from() -> None:
    lock = json.loads((LIVE / "package-lock.json").read_text(encoding="utf-8"))
    found = [one for name, one in lock["packages"].items() if name]
    assert len(found) > 20 and all("integrity" in one and "resolved" not in one for one in found)


# --- Python in the worker ---


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Do:
    """`do(action, **asked)` is an answer of docs/live/live.py, as a page gets it."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(checker, "_run", inside.run_inside)
    monkeypatch.setattr(sys, "setrecursionlimit", lambda limit: None)  # pytest is deeper than a worker
    live = runpy.run_path(str(LIVE / "live.py"))
    live["do"].__globals__["HOME"] = tmp_path
    live["do"].__globals__["say"] = lambda text: None
    return lambda action, **asked: json.loads(live["do"](json.dumps({"do": action, **asked})))


def test_cells_share_their_names_and_the_first_begins_anew(do: Do) -> None:
    def cell(number: int, code: str) -> Any:
        return do("cell", lesson="01", number=number, code=code)

    cell(0, "a = 20")
    assert cell(1, "print(a + 1)")["printed"] == "21\n"
    found = cell(2, "def f():\n    return 1 / 0\nf()")
    assert found["error"].startswith("Traceback") and found["error"].endswith("ZeroDivisionError: division by zero")
    assert "live.py" not in found["error"] and 'File "01, cell 3", line 2, in f' in found["error"]
    cell(0, "b = 1")
    assert "NameError" in cell(1, "a")["error"]


def test_a_cell_hands_over_its_pages_and_pictures(do: Do) -> None:
    code = "import minigrad as mg\nx = mg.Tensor(2.0, requires_grad=True)\nwith mg.trace():\n    y = x * x\n"
    code += "mg.explain(y, 'out.html')\n"
    code += "from pathlib import Path\nPath('a.svg').write_text('<svg></svg>')"
    found = do("cell", lesson="01", number=0, code=code)
    assert [name for name, _ in found["pages"]] == ["out.html"] and "x * x" in found["pages"][0][1]
    assert found["pictures"] == [["a.svg", "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4="]]


def test_a_program_that_lacks_a_package_names_it_also_where_a_library_imported_it(do: Do) -> None:
    code = "def draw():\n    try:\n        import no_such.part\n    except ImportError as error:\n"
    code += "        raise RuntimeError('drawing needs it') from error\n"
    assert do("program", code=code + "draw()", command=[])["lacking"] == "no_such"
    assert (
        do("program", code="1 / 0", command=[])["lacking"] is None is do("program", code="x = 1", command=[])["lacking"]
    )


def test_the_playground_runs_a_command_of_minigrad(do: Do) -> None:
    code = "import minigrad as mg\nx = mg.Tensor(2.0, requires_grad=True)\nloss = x * x\nprint('here')\n"
    found = do("program", code=code, command=["explain", "program.py", "--out", "explain.html"])
    assert found["status"] == 0 and found["printed"].startswith("here") and found["pages"][0][0] == "explain.html"
    found = do("program", code="x = 1\n", command=["explain", "program.py", "--out", "explain.html"])
    assert found["status"] == 2 and "loss" in found["printed"] and found["pages"] == []
    found = do("program", code="def f(a):\n    return a * a\nimport numpy as np\nexamples = (np.array(2.0),)\n",
               command=["write-numpy", "program.py:f", "--examples", "program.py:examples", "--out", "step.py"])  # fmt: skip
    assert "def step(a)" in found["programs"][0][1]


@pytest.mark.parametrize(("language", "said"), [("en", "Probably"), ("ja", "考えられる原因")])
def test_a_wrong_answer_gets_its_diagnosis_and_its_page(do: Do, language: str, said: str) -> None:
    source = "def slope(f, x, h=1e-5):\n    return (f(x + h) - f(x)) / h\n"
    asked = {"language": language, "files": {"1_1_nudge.py": source}, "learner": "Ada"}
    found = do("learn", words=["check", "1.1"], **asked)
    assert found["status"] == 1 and said in found["printed"] and found["printed"].endswith("↓")
    assert found["page"]["step"] and "1.1" in found["page"]["html"]
    assert found["files"]["1_1_nudge.py"] == source and json.loads(found["files"]["learn.json"])["attempts"] == {
        "1.1": 1
    }
    asked["files"] = {**found["files"], "1_1_nudge.py": find("1.1").solution.read_text(encoding="utf-8")}
    found = do("learn", words=["check", "1.1"], **asked)
    assert (
        found["status"] == 0 and json.loads(found["files"]["learn.json"])["passed"] == ["1.1"] and found["page"] is None
    )
    scored = json.loads(do("learn", words=["score", "--json"], **{**asked, "files": found["files"]})["printed"])
    assert scored["learner"] == "Ada" and scored["passed"] == 1 and scored["tasks"]["1.1"]["attempts"] == 2


def test_what_is_exported_is_a_folder_of_minigrad_learn_and_can_be_imported(do: Do, tmp_path: Path) -> None:
    found = do("export", language="ja", learner="Ada", files={"1_1_nudge.py": "mine = 1\n"})
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(found["zip"]))) as archive:
        assert {Path(name).name for name in archive.namelist()} >= {"learn.json", *(task.file for task in tasks())}
    back = do("import", zip=found["zip"])["files"]
    assert back["1_1_nudge.py"] == "mine = 1\n" and json.loads(back["learn.json"])["language"] == "ja"
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("../../evil.py", "x")
        archive.writestr("a/1_1_nudge.py", "y")
    assert do("import", zip=base64.b64encode(other.getvalue()).decode())["files"] == {"1_1_nudge.py": "y"}


def test_a_file_of_a_page_stays_in_the_learners_folder(do: Do, tmp_path: Path) -> None:
    do("learn", words=["check", "1.1"], language="en", learner="a", files={"../../out.py": "x = 1\n"})
    assert not (tmp_path / "out.py").exists() and (tmp_path / "learners" / "a" / "out.py").exists()
