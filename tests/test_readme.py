"""The README's programs run and print what the README says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_program_of_the_readme_prints_what_its_comments_say(number, tmp_path, monkeypatch):
    program = BLOCKS[number]
    expected = re.findall(r"^print\(.*\)\s+# (.*)$", program, re.MULTILINE)
    assert expected, "a program of the README shows what it prints"
    monkeypatch.chdir(tmp_path)  # it may draw a picture
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, str(README), "exec"), {"__name__": "__main__"})
    lines = " ".join(printed.getvalue().split())
    for comment in expected:
        numbers, _, _ = comment.partition(":")
        assert " ".join(numbers.split()) in lines


def test_every_file_the_readme_links_to_exists():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).is_file(), target
