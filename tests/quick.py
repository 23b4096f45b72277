"""The tests for between two edits, within a minute on two cores: ``python -m tests.quick``, which is `make quick`.

First those that mirror what differs from the last commit on main, untracked files too: `nn/train.py` is mirrored by
`tests/nn/test_train.py` and `test_train_resume.py`, which bear its name, and by every test that imports it. Then a core
set, which is all there is on main itself before the first change, or outside a git checkout. What has not
begun after `SECONDS` is left to `make test`, and the report says so.
"""

import functools
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.house import ROOT, imported

SECONDS = 45
LATE = f"make quick begins no test after {SECONDS} s: from here on they are left to make test"
CORE = [
    "tests/minigrad/rules/test_cases.py::test_every_primitive_has_a_case",
    "tests/minigrad/rules/test_cases.py::test_finite_differences",
    "tests/minigrad/rules/test_cases.py::test_torch",
    *[f"tests/minigrad/engine/test_{name}.py" for name in ("tape", "tensor", "primitive")],
    "tests/minigrad/transforms/test_transforms.py",
    "tests/minigrad/kernels/test_fast_paths.py",
    "tests/minigrad/guards/test_inplace.py",
    "tests/minigrad/test_bad_input.py",
    *[f"tests/minigrad/graph/{name}.py" for name in ("record/test_capture", "draw/test_dot", "pages/test_explain")],
    *[f"tests/nn/test_{name}.py" for name in ("module", "attention", "transformer", "optim", "losses", "train")],
    *[f"tests/models/test_{name}.py" for name in ("gpt", "transformer_classifier")],
    *[f"tests/test_{name}.py" for name in ("docs", "readme", "packaging")],
]
_end = float("inf")
_late = False


def pytest_sessionstart() -> None:
    global _end
    _end = time.monotonic() + SECONDS


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol() -> bool | None:
    """After the first that came late: done, without a report of each."""
    return _late or None


def pytest_runtest_setup() -> None:
    global _late
    if time.monotonic() > _end:
        _late = True
        pytest.skip(LATE)


def git(*arguments: str) -> list[str] | None:
    """The paths that git answers with; None if it has no answer."""
    try:
        ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return [path for path in ran.stdout.split("\0") if path] if ran.returncode == 0 else None


def changed() -> list[str]:
    """What differs from the last commit on main, with what git does not know yet; nothing outside a checkout of one."""
    for last in ("main", "origin/main", "HEAD"):
        since = git("diff", "--name-only", "-z", "--relative", "--merge-base", last)
        if since is not None:
            return since + (git("ls-files", "--others", "--exclude-standard", "-z") or [])
    return []


def bears_the_name(test: str, changed: str) -> bool:
    """Whether it stands in the mirrored folder, or in one above where that has no mirror, and is named after the file."""
    path, stem = PurePosixPath(changed), PurePosixPath(changed).stem.lstrip("_").lower()
    folder = path.parent if path.parts[0] == "tests" else PurePosixPath("tests", path.parent)
    here, name = PurePosixPath(test).parent, PurePosixPath(test).stem
    return (here == folder or here in folder.parents) and f"{name}_".startswith(f"test_{stem}_")


@functools.cache
def modules_of(test: str) -> set[str]:
    """The modules that a test file imports, and what it imports from them, as dotted names."""
    names = {f"{name}." for name in imported("", ROOT / test)}
    return {name[: i + 1] for name in names for i, letter in enumerate(name) if letter == "."}


def imports(test: str, changed: str) -> bool:
    module = ".".join(PurePosixPath(changed).with_suffix("").parts).removeprefix("examples.")
    return f"{module}." in modules_of(test)


def selected(changes: list[str]) -> Iterator[str]:
    """The test files that mirror these, in the order in which they are run: those of the same name first."""
    tests = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    yield from (test for test in tests if test in changes)
    yield from (test for test in tests if any(bears_the_name(test, path) for path in changes))
    yield from (test for test in tests if any(imports(test, path) for path in changes))


def main() -> int:
    files = list(dict.fromkeys(selected(changed())))
    core = [test for test in CORE if test.partition("::")[0] not in files]
    print(f"{len(files)} test files mirror what changed since the last commit on main", *files, sep="\n  ")
    options = ["-p", "tests.quick", "-q", "-n", "auto", "--maxprocesses", "8", "--dist", "load"]
    return subprocess.run([sys.executable, "-m", "pytest", *options, *files, *core], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
