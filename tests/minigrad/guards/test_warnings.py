"""NumPy's floating-point warnings point at the line that asked for the operation."""

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor
from minigrad.guards.warnings import PointedAtTheUser

PROGRAM = """
import numpy as np
import minigrad as mg, nn
x = mg.Tensor([1000.0, -1.0], requires_grad=True)
for _ in range(3):
    np.exp(x)                                           # overflow encountered in exp
    x.exp()                                             # overflow encountered in exp
x / 0.0                                                 # divide by zero encountered in divide
np.log(x.detach())                                      # invalid value encountered in log
mg.softmax(x * np.inf)                                  # invalid value encountered in subtract, in softmax
np.var(mg.Tensor(np.zeros(1)), ddof=1)                  # Degrees of freedom <= 0 for slice, in var
def forward(v):
    return v * 1e308                                    # overflow encountered in multiply
nn.Sequential(forward)(x)
mg.grad(forward)(10.0)
mg.Tensor([0.0], requires_grad=True).sqrt().sum().backward()
np.exp(np.array([1000.0]))                              # overflow encountered in exp
"""


def told(program: str, path: Path, *options: str) -> list[tuple[int, str]]:
    """The line and the text of each warning about the program itself; others fail the test."""
    path.write_text(program, encoding="utf-8")
    ran = subprocess.run([sys.executable, *options, str(path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = re.findall(r"^(\S.*?):(\d+): (\w+Warning): (.*)$", ran.stderr, re.MULTILINE)
    assert {(file, kind) for file, _, kind, _ in found} <= {(str(path), "RuntimeWarning")}
    return [(int(line), text) for _, line, _, text in found]


def test_each_line_is_told_once(tmp_path: Path) -> None:
    want = [(i, line.partition("# ")[2]) for i, line in enumerate(PROGRAM.splitlines(), 1) if "# " in line]
    got = told(PROGRAM, tmp_path / "user.py")
    assert [
        (line, text) for line, text in got if "scalar divide" not in text and "in divide, in var" not in text
    ] == want


DIVIDED = """
import numpy as np
import minigrad as mg
from minigrad.kernels import threads
mg.set_num_threads(2)
threads._LARGE = 1
x, w = np.full((8, 256, 128), 1e38, "f4"), np.full((128, 256), 10, "f4")
x[:4] = 0  # the first thread has nothing to tell
t = mg.Tensor(x, requires_grad=True)
for _ in range(2):
    t @ w                                               # overflow encountered in matmul
    t @ np.stack([w] * 8)                               # overflow encountered in matmul
    mg.affine(t, w, np.zeros(256, "f4"))                # overflow encountered in matmul, in affine
t[:1, :3] @ w[:, :5]
t[7:, :3] @ w[:, :5]                                    # overflow encountered in matmul
"""


def test_what_another_thread_has_to_tell_points_at_the_line_too(tmp_path: Path) -> None:
    want = [(i, line.partition("# ")[2]) for i, line in enumerate(DIVIDED.splitlines(), 1) if "# over" in line]
    assert told(DIVIDED, tmp_path / "divided.py") == want


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
