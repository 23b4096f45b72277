"""The programs of the README and of docs/training.md run and print what they say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "training.md"]
PROGRAMS = [
    pytest.param(page, program, id=f"{page.name}-{number}")
    for page in PAGES
    for number, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize(("page", "program"), PROGRAMS)
def test_a_program_prints_what_its_comments_say(page, program, tmp_path, monkeypatch):
    expected = re.findall(r"^ *print\(.*\)\s+# (.*)$", program, re.MULTILINE)
    assert expected, "a program on a page shows what it prints"
    monkeypatch.chdir(tmp_path)  # it may write a file
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, str(page), "exec"), {"__name__": "__main__"})
    lines = " ".join(printed.getvalue().split())
    for comment in expected:
        numbers, _, _ = comment.partition(":")
        assert " ".join(numbers.split()) in lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_links_to_exists(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target
