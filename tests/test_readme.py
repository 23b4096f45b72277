"""The programs of the README and of the pages in docs/ run and print what they say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "training.md", ROOT / "docs" / "views.md"]
LINKING = [*PAGES, ROOT / "docs" / "comparison.md"]
# A program, and what stands under it as its whole output
PROGRAM = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
PROGRAMS = [
    pytest.param(page, *found, id=f"{page.name}-{number}")
    for page in PAGES
    for number, found in enumerate(PROGRAM.findall(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("page", "program", "output"), PROGRAMS)
def test_a_program_prints_what_the_page_says(page, program, output, tmp_path, monkeypatch):
    expected = re.findall(r"^ *print\(.*\)\s+# (.*)$", program, re.MULTILINE)
    assert expected or output, "a program on a page shows what it prints"
    monkeypatch.chdir(tmp_path)  # it may write a file
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, str(page), "exec"), {"__name__": "__main__"})
    lines = " ".join(printed.getvalue().split())
    for comment in expected:
        numbers, _, _ = comment.partition(":")
        assert " ".join(numbers.split()) in lines
    if output:
        assert printed.getvalue().strip() == output.strip()


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.name)
def test_what_a_page_links_to_exists(page):
    text = page.read_text(encoding="utf-8")
    for picture in re.findall(r'src="([^"]+)"', text):
        assert (page.parent / picture).is_file(), picture
    for path, heading in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text):
        target = page.parent / path if path else page
        assert target.is_file(), path
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
