"""The suite itself: what collecting it costs, what it does without PyTorch, and which tests it chooses."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import lazy, quick
from tests.lowest import lowest
from tests.minigrad.rules.table import WHOLE

ROOT = Path(__file__).parents[1]
FEW_NEED = {"torch", "numba", "scipy", "matplotlib", "safetensors", "tqdm", "graphviz", "pygraphviz", "cupy", "babel", "emoji",
            "faker", "sklearn", "playwright"}  # fmt: skip
WITHOUT = "import sys, pytest; sys.modules['torch'] = None; sys.exit(pytest.main(sys.argv[1:]))"
COLLECTED = """
import sys, pytest

class Plugin:
    def pytest_collection_finish(self, session):
        print("imported:", *{name.partition(".")[0] for name in sys.modules})

sys.exit(pytest.main(["--collect-only", "-qq"], plugins=[Plugin()]))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)


# --- imports ---


def test_this_collection_imported_nothing_that_few_tests_need() -> None:
    """In `make test` that is the collection of all tests; `make thorough` has it in a process of its own."""
    assert "numpy" in lazy.collected
    assert not lazy.collected & FEW_NEED


@pytest.mark.thorough
def test_collecting_all_tests_imports_nothing_that_few_of_them_need() -> None:
    ran = run("-c", COLLECTED)
    assert ran.returncode == 0, ran.stdout[-2000:]
    (line,) = (line for line in ran.stdout.splitlines() if line.startswith("imported: "))
    names = set(line.split())
    assert {"numpy", "minigrad", "nn", "models"} <= names
    assert not names & FEW_NEED


def test_without_pytorch_what_compares_with_it_is_skipped_and_the_rest_runs() -> None:
    ran = run("-c", WITHOUT, "-v", "tests/nn/test_feed_forward.py", "tests/nn/test_convert.py")
    assert ran.returncode == 0, ran.stdout
    assert lazy.WITHOUT_TORCH in ran.stdout
    lines = ran.stdout.splitlines()
    assert any("test_equals_pytorch[relu-True] SKIPPED" in line for line in lines)
    assert any("test_swiglu_by_hand PASSED" in line for line in lines)


def test_without_pytorch_the_cases_are_run_against_all_else() -> None:
    ran = run("-c", WITHOUT, "-v", "--primitive", "tanh", "-k", "not on_a_device")
    assert ran.returncode == 0, ran.stdout
    outcomes = {outcome for outcome in ("PASSED", "SKIPPED", "FAILED") if f"] {outcome}" in ran.stdout}
    skipped = [line for line in ran.stdout.splitlines() if "] SKIPPED" in line]
    assert outcomes == {"PASSED", "SKIPPED"} and all("::test_torch[" in line for line in skipped)


def test_a_stand_in_resolves_when_it_is_called_or_a_test_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    import os.path

    assert lazy.Lazy("os.path").join is os.path.join
    monkeypatch.setattr(lazy, "collecting", True)
    stand_in = lazy.Lazy("os").path.join
    assert stand_in == lazy.Lazy("os.path.join") and stand_in("a", "b") == os.path.join("a", "b")
    assert not hasattr(stand_in, "__wrapped__")


def test_what_is_missing_besides_pytorch_is_no_reason_to_skip() -> None:
    for path in ("no_such_package", "no_such_package.part"):
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            lazy.resolve(path)
    with pytest.raises(AttributeError, match="no_such_name"):
        lazy.resolve("os.path.no_such_name")


# --- pytest --primitive ---


def test_only_the_cases_of_the_named_primitives_are_collected() -> None:
    ran = run("-m", "pytest", "--primitive", "tanh", "--primitive", "relu", "--collect-only", "-q", "-m", "not cuda")
    found = [line.partition("::") for line in ran.stdout.splitlines() if "::" in line]
    assert ran.returncode == 0 and len(found) > 50
    cases = {test.partition("[")[2].removeprefix("fake-").partition(":")[0] for _, _, test in found}
    assert cases == {"tanh", "relu"}
    assert {path for path, _, _ in found} == set(WHOLE)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "hint"), [("tanhh", "do you mean tanh or"), ("?", "docs/functions.md lists them")])
def test_an_unknown_primitive_is_an_error_that_names_near_ones(name: str, hint: str) -> None:
    ran = run("-m", "pytest", "--primitive", name)
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--primitive {name}: there is no such primitive; {hint}" in ran.stderr


# --- make thorough ---

TABLES = """
import pytest

pytestmark = pytest.mark.sampled(5)

@pytest.mark.parametrize("i", range(100))
def test_many(i): pass

@pytest.mark.sampled(1000000007)
@pytest.mark.parametrize("i", range(20))
def test_first(i): pass

class TestIt:
    @pytest.mark.parametrize("i", range(20))
    def test_many(self, i): pass

@pytest.mark.thorough
def test_long(): pass

def test_short(): pass
"""


@pytest.mark.thorough
def test_each_row_of_a_table_runs_in_one_of_the_two_and_some_of_each_function_in_make_test(tmp_path: Path) -> None:
    def names(path: Path, *options: str) -> list[str]:
        path.parent.mkdir(exist_ok=True)
        path.write_text(TABLES, encoding="utf-8")
        ran = run("-m", "pytest", "--collect-only", "-q", f"--rootdir={tmp_path}", f"--confcutdir={tmp_path}", "-c",
                  str(ROOT / "pyproject.toml"), "-p", "tests.conftest", *options, str(path))  # fmt: skip
        assert ran.returncode == 0, ran.stdout
        return [line.partition("::")[2] for line in ran.stdout.splitlines() if "::" in line]

    kept = names(tmp_path / "a" / "test_it.py")
    left = names(tmp_path / "a" / "test_it.py", "--thorough")
    every = {
        f"{f}[{i}]" for f, n in (("test_many", 100), ("test_first", 20), ("TestIt::test_many", 20)) for i in range(n)
    }
    assert sorted(kept + left) == sorted(every | {"test_long", "test_short"})
    assert sorted(names(tmp_path / "c" / "test_it.py", "--every")) == sorted(kept + left)
    assert "test_long" in left and "test_short" in kept
    assert {name for name in kept if name.startswith("test_first")} == {"test_first[0]"}
    assert {"test_many[0]", "TestIt::test_many[0]"} <= set(kept)
    assert 10 < sum(name.startswith("test_many") for name in kept) < 35
    assert names(tmp_path / "b" / "test_moved.py") == kept


# --- make quick ---


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("changes", "first"),
    [
        (["nn/train.py"], ["tests/nn/test_train.py", "tests/nn/test_train_checkpoints.py"]),
        (["minigrad/engine/tape.py"], ["tests/minigrad/engine/test_tape.py"]),
        (["minigrad/graph/record/_capture.py"], ["tests/minigrad/graph/record/test_capture.py"]),
        (["minigrad/rules/linalg.py"], ["tests/minigrad/rules/test_linalg.py"]),
        (["examples/names_gpt.py"], ["tests/examples/test_names_gpt.py"]),
        (["README.md"], ["tests/test_readme.py"]),
        (["tests/nn/test_optim.py", "models/gpt.py"], ["tests/nn/test_optim.py", "tests/models/test_gpt.py"]),
        (["deleted/nobody.py", "Makefile"], []),
    ],
)
def test_what_bears_the_name_of_a_changed_file_is_run_first(changes: list[str], first: list[str]) -> None:
    assert list(quick.selected(changes))[: len(first)] == first
    assert first or not list(quick.selected(changes))


def test_what_imports_a_changed_file_is_run() -> None:
    found = list(quick.selected(["tests/nn/layers.py"]))
    assert {"tests/nn/test_affine.py", "tests/models/test_gpt.py"} <= set(found)
    assert "tests/minigrad/engine/test_tape.py" not in found


def test_the_core_set_exists() -> None:
    for test in quick.CORE:
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8") if name else (ROOT / path).is_file()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_changed_is_what_differs_from_the_last_commit_on_main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        user = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *user, *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(quick, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert quick.changed() == []  # no checkout
    for name in ("same.py", "edited.py", "branch.py", "it's é.py"):
        (tmp_path / name).write_text("1")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert quick.changed() == []
    (tmp_path / "edited.py").write_text("2")
    (tmp_path / "it's é.py").write_text("2")
    (tmp_path / "new.py").write_text("2")
    assert quick.changed() == ["edited.py", "it's é.py", "new.py"]
    git("checkout", "-b", "work")
    (tmp_path / "branch.py").write_text("2")
    git("commit", "-am", "second")
    assert quick.changed() == ["branch.py", "edited.py", "it's é.py", "new.py"]


def test_after_the_time_is_up_no_test_is_begun_and_the_report_says_so() -> None:
    code = (
        "import sys, pytest; from tests import quick; quick.SECONDS = -1; sys.exit(pytest.main(sys.argv[1:], [quick]))"
    )
    ran = run("-c", code, "tests/minigrad/engine/test_grad_mode.py")
    assert ran.returncode == 0 and quick.LATE in ran.stdout
    assert "1 skipped in" in ran.stdout


# --- lowest versions ---


def test_lowest_versions_are_read_from_what_is_declared() -> None:
    project = {
        "dependencies": ["numpy>=2.0"],
        "optional-dependencies": {
            "a": ["mine[b]", "cupy-cuda12x[ctk]>=14", "x.y>=1.2.3"],
            "b": ["numpy>=2.0", "ruff==0.1.*"],
        },
    }
    assert list(lowest(project)) == ["cupy-cuda12x==14", "numpy==2.0", "x.y==1.2.3"]


# --- before a commit ---


def test_a_commit_is_checked_by_the_environments_own_tools(tmp_path: Path) -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (\S+)", text) == ["local"]  # nothing is fetched
    entries = re.findall(r"entry: python -m (.+)", text)
    *entries, types = entries
    assert types == "mypy"  # over the whole project, as `make test` runs it
    assert [entry.split()[:2] for entry in entries] == [["ruff", "check"], ["ruff", "format"]]
    for name, source, status in (("good.py", "x = 1\n", 0), ("bad.py", "import os\nx = ( 1 )\n", 1)):
        (tmp_path / name).write_text(source, encoding="utf-8")
        assert [run("-m", *entry.split(), str(tmp_path / name)).returncode for entry in entries] == [status, status]
