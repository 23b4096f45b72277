"""The programs of the README and of the pages in docs/ run and print what they say."""

import ast
import contextlib
import io
import linecache
import re
import sys
import types
from pathlib import Path

import pytest

from docs import site_pages

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / name
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/derivatives.md",
        "docs/design.md",
        "docs/examples.md",
        "docs/from-pytorch.md",
        "docs/layers-and-models.md",
        "docs/libraries.md",
        "docs/start.md",
        "docs/ja/start.md",
        "docs/teaching.md",
        "docs/training.md",
        "docs/types.md",
        "docs/stepper.md",
        "docs/drawings.md",
        "docs/measure.md",
    )
]
LINKING = [*PAGES, *(page for folder in ("", "design", "ja") for page in sorted((ROOT / "docs" / folder).glob("*.md")))]
# A program, and what stands under it as its whole output
PROGRAM = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
PROGRAMS = [
    pytest.param(page, *found, id=f"{page.name}-{number}")
    for page in PAGES
    for number, found in enumerate(PROGRAM.findall(page.read_text(encoding="utf-8")))
]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("page", "program", "output"), PROGRAMS)
def test_a_program_prints_what_the_page_says(page, program, output, tmp_path, monkeypatch):
    expected = re.findall(r"^ *print\(.*\)\s+# (.*)$", program, re.MULTILINE)
    assert expected or output, "a program on a page shows what it prints"
    for name in re.findall(r"^(?:import|from) (torch|sklearn|pandas|scipy)\b", program, re.MULTILINE):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)  # it may write a file
    monkeypatch.setitem(sys.modules, "__main__", main := types.ModuleType("__main__"))  # pickle looks for classes there
    printed, file = io.StringIO(), f"<a program of {page.name}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)  # as if it were in a file
    with contextlib.redirect_stdout(printed):
        exec(compile(program, file, "exec"), vars(main))
    lines = " ".join(printed.getvalue().split())
    for comment in expected:
        numbers, _, _ = comment.partition(":")
        assert " ".join(numbers.split()) in lines
    if output:
        assert printed.getvalue().strip() == output.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_programs_of_a_page_import_exists(page: Path) -> None:
    """It sees a name that was removed before the program runs, which it does not do in every run of the suite."""
    for program, _ in PROGRAM.findall(page.read_text(encoding="utf-8")):
        for found in ast.walk(ast.parse(program)):
            if isinstance(found, ast.ImportFrom) and (found.module or "").split(".")[0] in ("minigrad", "nn", "models"):
                exec(ast.unparse(found), {})


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.name)
def test_what_a_page_links_to_exists(page):
    text = re.sub(
        r"^(```text\n.*?^```|<!-- site instead\n.*?^-->)",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    for picture in re.findall(r'src="([^"]+)"', text):
        assert (page.parent / picture).is_file(), picture
    for path, heading in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text):
        target = page.parent / path if path else page
        assert target.is_file(), path
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_the_tests_that_hold_the_budgets_exist() -> None:
    named = re.findall(r"`(test_\w+)`", (ROOT / "docs" / "design.md").read_text(encoding="utf-8"))
    tests = (ROOT / "tests" / "test_house.py").read_text(encoding="utf-8")
    assert len(named) >= 5 and [name for name in named if f"def {name}(" not in tests] == []


def test_every_question_of_how_to_has_an_answer() -> None:
    """What one comes for, and how-to pages that nobody asks for."""
    text = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!how do I|--)(.*?) \| (.*) \|$", text, re.MULTILINE)
    assert all("](" in answer for _, answer in rows)
    for word in ("train", "resume", "GPU", "operation", "layer", "model", "NaN", "attention", "scikit-learn", "pandas",
                 "PyTorch", "JAX", "articles"):  # fmt: skip
        assert any(word in question for question, _ in rows), word
    linked = set(re.findall(r"\]\(([\w-]+)\.md", text))
    assert set(site_pages.parts()["How-to"]) - {"how-to"} <= linked


# --- the map of the house ---


def mapped() -> set[str]:
    """The paths on the map of docs/design.md: of each line how deep it lies, and the files or folders before what they are."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    text = page.partition("## The map of the repository\n")[2].partition("```text\n")[2].partition("```")[0]
    found: list[str] = []
    above = [""]
    for indent, names in re.findall(r"^( {0,8})(\S+(?:, \S+)*) {2,}\S", text, re.MULTILINE):
        del above[len(indent) // 4 + 1 :]
        found += [above[-1] + name for name in names.split(", ")]
        above.append(found[-1])
    assert len(found) == len(set(found))
    return set(found)


def test_the_map_of_the_house_is_the_tree_on_disk() -> None:
    found = mapped()
    assert {path for path in found if not (ROOT / path).exists()} == set()
    made = {"build/", "dist/", "out/"}  # by tools
    folders = {f"{path.relative_to(ROOT).parts[0]}/" for path in ROOT.glob("[a-z]*/**/*.py")} - made
    assert {path for path in found if re.fullmatch(r"\w+/", path)} == folders
    rooms = {f"minigrad/{path.parent.name}/" for path in (ROOT / "minigrad").glob("*/__init__.py")}
    files = {f"minigrad/{path.name}" for path in (ROOT / "minigrad").glob("*.py")} - {"minigrad/__init__.py"}
    assert {path for path in found if re.fullmatch(r"minigrad/\w+(/|\.py)", path)} == rooms | files
