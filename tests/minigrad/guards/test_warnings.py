"""NumPy's floating-point warnings point at the line that asked for the operation."""

import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor
from minigrad.guards.warnings import PointedAtTheUser

PROGRAMS = tomllib.loads((Path(__file__).parent / "warnings.toml").read_text(encoding="utf-8"))


def told(program: str, path: Path, *options: str) -> list[tuple[int, str]]:
    """The line and the text of each warning about the program itself; others fail the test."""
    path.write_text(program, encoding="utf-8")
    ran = subprocess.run([sys.executable, *options, str(path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = re.findall(r"^(\S.*?):(\d+): (\w+Warning): (.*)$", ran.stderr, re.MULTILINE)
    assert {(file, kind) for file, _, kind, _ in found} <= {(str(path), "RuntimeWarning")}
    return [(int(line), text) for _, line, _, text in found]


def test_each_line_is_told_once(tmp_path: Path) -> None:
    want = [(i, line.partition("# ")[2]) for i, line in enumerate(PROGRAMS["anywhere"].splitlines(), 1) if "# " in line]
    got = told(PROGRAMS["anywhere"], tmp_path / "user.py")
    assert [
        (line, text) for line, text in got if "scalar divide" not in text and "in divide, in var" not in text
    ] == want


def test_what_another_thread_has_to_tell_points_at_the_line_too(tmp_path: Path) -> None:
    want = [
        (i, line.partition("# ")[2]) for i, line in enumerate(PROGRAMS["divided"].splitlines(), 1) if "# over" in line
    ]
    assert told(PROGRAMS["divided"], tmp_path / "divided.py") == want


def test_who_wants_no_warnings_gets_none(tmp_path: Path) -> None:
    quiet = "import warnings\nimport minigrad as mg\nwarnings.simplefilter('ignore')\nmg.Tensor([1e3]).exp()\n"
    assert told(quiet, tmp_path / "quiet.py") == []
    assert told("import minigrad as mg\nmg.Tensor([1e3]).exp()\n", tmp_path / "w.py", "-W", "ignore") == []
    silent = "import numpy as np, minigrad as mg\nwith np.errstate(all='ignore'): mg.Tensor([1e3]).exp()\n"
    assert told(silent, tmp_path / "silent.py") == []


@pytest.fixture
def pointed() -> Iterator[list[warnings.WarningMessage]]:
    """The filter in front of pytest's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filters.insert(0, ("ignore", PointedAtTheUser(), RuntimeWarning, None, 0))  # type: ignore[attr-defined]
        yield caught


def test_the_file_is_the_users(pointed: list[warnings.WarningMessage]) -> None:
    x = Tensor([1e3], requires_grad=True)
    model = nn.Sequential(np.exp)
    for call in (
        lambda: np.exp(x),
        lambda: x.exp(),
        lambda: x * 1e308,
        lambda: mg.logsumexp(x * 1e308),
        lambda: model(x),
    ):
        before = len(pointed)
        call()
        assert [message.filename for message in pointed[before:]] == [__file__]
        assert pointed[before].category is RuntimeWarning


def test_other_warnings_are_left_alone(pointed: list[warnings.WarningMessage]) -> None:
    warnings.warn("overflow encountered in my own code", RuntimeWarning, stacklevel=1)
    np.exp(np.array([1e3]))
    warnings.warn("something else", UserWarning, stacklevel=1)
    assert [str(message.message)[:30] for message in pointed] == [
        "overflow encountered in my own", "overflow encountered in exp", "something else",
    ]  # fmt: skip


def test_a_warning_made_an_error_is_raised(pointed: list[warnings.WarningMessage]) -> None:
    warnings.filters.insert(1, ("error", None, RuntimeWarning, None, 0))  # type: ignore[attr-defined]
    with pytest.raises(RuntimeWarning, match="overflow encountered in exp"):
        np.exp(Tensor([1e3], requires_grad=True))
