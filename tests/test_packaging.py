"""What is shipped, and what an import costs."""

import re
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import minigrad
import offline_lab
from minigrad import _numpy_needed
from tests import house

ROOT = house.ROOT
MAY_IMPORT = {
    "minigrad": {"minigrad"},
    "nn": {"nn", "minigrad"},
    "models": {"models", "nn", "minigrad"},
}
ASSETS = {".html", ".css", ".js", ".json"}  # what the interactive pages are made of
PYTHON = "Programming Language :: Python :: "
each_package = pytest.mark.parametrize("package", MAY_IMPORT)


# --- the wheel ---


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, with the build backend at hand: no network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return path


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_wheel_holds_the_three_packages_with_the_exercises_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {
        path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py*") if path.suffix in (".py", ".pyi")
    }
    markers = {ROOT / package / "py.typed" for package in MAY_IMPORT}
    assets = {path for path in (ROOT / "minigrad" / "graph" / "pages" / "assets").iterdir() if path.suffix in ASSETS}
    assert {path.name for path in assets} >= {"stepper.html", "stepper.css", "stepper.js", "stepper_words.json"}
    lessons = set((ROOT / "minigrad" / "graph" / "pages" / "lessons").rglob("*.json"))
    learn = ROOT / "minigrad" / "learn"
    words = {learn / "words.json", learn / "bank" / "mutants.toml", learn / "bank" / "mistakes.toml"}
    words |= {ROOT / "minigrad" / "debug" / f"words.{language}.json" for language in ("en", "ja")}
    exercises = {path for path in (ROOT / "exercises").rglob("*") if path.suffix in {".py", ".toml"}}
    assert len(exercises) == 37 + 37 + 2
    assert shipped == {path.relative_to(ROOT).as_posix() for path in sources | markers | assets | lessons | words} | {
        f"minigrad/{path.relative_to(ROOT).as_posix()}" for path in exercises
    }


def test_the_wheel_of_the_offline_lab_is_that_of_hatchling(wheel: Path, tmp_path: Path) -> None:
    """It is written with the standard library, so that a class without hatchling and a network can pack it."""
    ours = offline_lab.write_wheel(tmp_path)
    assert ours.name == wheel.name
    with zipfile.ZipFile(ours) as mine, zipfile.ZipFile(wheel) as built:
        assert sorted(mine.namelist()) == sorted(built.namelist())
        for name in built.namelist():
            if Path(name).name not in ("METADATA", "RECORD", "WHEEL"):
                assert mine.read(name).decode().split() == built.read(name).decode().split(), name
    for key in ("Name", "Version", "Summary", "Requires-Python"):
        assert metadata(ours)[key] == metadata(wheel)[key]
    needs = metadata(wheel).get_all("Requires-Dist", [])
    assert metadata(ours).get_all("Requires-Dist") == [need for need in needs if "extra ==" not in need]


def test_the_offline_lab_carries_what_the_lessons_draw_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(offline_lab, "pip", lambda *arguments: asked.extend(arguments))
    offline_lab.make_wheels(tmp_path, ["jupyterlab"], wheels=True)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    drawing = {re.split("[<>=]", need)[0] for need in extras["graph"]}
    assert drawing == {"pygraphviz"} <= set(asked)
    assert "install --no-index --find-links wheels minigrad matplotlib pygraphviz jupyterlab" in (
        offline_lab.readme(["jupyterlab"], wheels=True)
    )


def test_wheel_asks_for_numpy_alone(wheel: Path) -> None:
    needs = metadata(wheel).get_all("Requires-Dist", [])
    assert [need for need in needs if "extra ==" not in need] == ["numpy>=2.3"]
    assert metadata(wheel)["Requires-Python"] == ">=3.11"


def test_every_file_that_states_the_version_states_the_same_one(wheel: Path) -> None:
    version = metadata(wheel)["Version"]
    assert version == minigrad.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (newest, *_) = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest == f"[Unreleased]: {version}" or re.fullmatch(rf"\[{re.escape(version)}\]: \d{{4}}-\d\d-\d\d", newest)


def test_classifiers_name_the_pythons_that_the_tests_were_run_with(wheel: Path) -> None:
    given = metadata(wheel).get_all("Classifier", [])
    pythons = [name.removeprefix(PYTHON) for name in given if name.startswith(PYTHON)]
    assert pythons == ["3 :: Only", "3.11", "3.12", "3.13"]
    run_with = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").partition("The whole suite was run on")[2]
    run_with, _, not_run = run_with.partition("`python -m tests.lowest`")[0].partition("Nothing was run on")
    assert all(version in run_with and version not in not_run for version in pythons[1:])
    assert "Operating System :: OS Independent" in given
    assert not any(name.startswith("License ::") for name in given)  # an expression says it, and both are refused
    assert metadata(wheel)["License-Expression"] == "MIT"


def test_before_publishing_relative_pictures_get_an_address(wheel: Path) -> None:
    """An index shows the README, and has none of the files that it names."""
    page = metadata(wheel).get_payload()
    relative = re.findall(r'(?:src="|\]\()(?!https?://|#)([^")]+)', str(page))
    steps = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("of the first release, do")[2]
    assert bool(relative) == ("Its picture and its links are relative" in steps)


def test_wheel_imports_away_from_the_repository(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import minigrad, nn, models; "
    code += "print(*(module.__file__ for module in (minigrad, nn, models)), sep='\\n')"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert [Path(line).parent for line in found.stdout.splitlines()] == [tmp_path / package for package in MAY_IMPORT]


def test_wheel_teaches_away_from_the_repository(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    work = tmp_path / "work"
    work.mkdir()

    def learn(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); "
        code += "from minigrad.cli.main import main; sys.exit(main(['learn', *sys.argv[1:]]))"
        return subprocess.run([sys.executable, "-c", code, *arguments], cwd=work, capture_output=True, text=True)

    made = learn("init", ".")
    assert made.returncode == 0, made.stderr
    assert "1_1_nudge.py is not begun yet" in learn("check").stdout
    solution = tmp_path / "installed/minigrad/exercises/solutions/1_1_nudge.py"
    (work / "1_1_nudge.py").write_text(solution.read_text(encoding="utf-8"), encoding="utf-8")
    assert "1.1 Nudge a number: right" in learn("check", "1.1").stdout


def test_an_editable_installation_points_here(tmp_path: Path) -> None:
    code = "import sys; from hatchling.build import build_editable; print(build_editable(sys.argv[1]))"
    built = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(tmp_path / built.stdout.split()[-1]) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert len(names) == 1 and names[0].endswith(".pth")
        assert archive.read(names[0]).decode().split("\n") == [str(ROOT)]


# --- an older NumPy, which `pip install --no-deps` leaves in place ---


def imported_with(version: str, package: str) -> subprocess.CompletedProcess[str]:
    program = f"import numpy; numpy.__version__ = {version!r}; import {package}"
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)


def test_an_older_numpy_is_named_in_one_sentence(wheel: Path) -> None:
    said = 'minigrad needs NumPy 2.3 or newer, and finds {}: pip install "numpy>=2.3"'
    for version, package in (
        ("1.26.4", "minigrad"),
        ("2.2.6", "nn"),
        ("2.2.0rc1", "models"),
        ("0.9", "minigrad.errors"),
    ):
        done = imported_with(version, package)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == f"minigrad.errors.VersionError: {said.format(version)}"
    assert [need for need in metadata(wheel).get_all("Requires-Dist", []) if "extra ==" not in need] == [
        f"numpy>={'.'.join(map(str, _numpy_needed.NEEDED))}"
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("version", ["2.3.0", "2.3.0.dev0+git1", "2.10.1", "10.0", "unknown"])
def test_a_newer_numpy_is_taken(version: str) -> None:
    done = imported_with(version, "minigrad")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_looked_at_before_anything_is_used() -> None:
    """The rules use what NumPy 1.26 has not, and would raise first."""
    program = (
        "import numpy, sys; numpy.__version__ = '1.26.4'\ntry:\n    import minigrad\nexcept ImportError as error:\n"
        "    print(error.name, *sorted(name for name in sys.modules if name.startswith('minigrad.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["numpy", "minigrad.errors"]


# --- what an import brings along ---


@pytest.mark.sampled(3)
@each_package
def test_import_brings_numpy_and_the_floors_below_alone(package: str) -> None:
    code = f"import sys, numpy, numpy.random; before = set(sys.modules); import {package}; "
    code += "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    loaded = set(found.stdout.split())
    assert package in loaded
    assert loaded <= sys.stdlib_module_names | {"numpy"} | MAY_IMPORT[package]


# --- what is imported when, read from the source without running it (who may import whom: test_house.py) ---


@pytest.mark.sampled(3)
@each_package
def test_optional_packages_are_imported_where_they_are_used(package: str) -> None:
    allowed = sys.stdlib_module_names | {"numpy"} | MAY_IMPORT[package]
    for name, path in house.modules().items():
        if name.partition(".")[0] != package:
            continue
        needed = {target.partition(".")[0] for target in house.imported(name, path, when_loaded=True)}
        if name.startswith("minigrad.kernels.compiled."):  # decorated by numba: the switch imports them, see below
            needed -= {"numba"}
        assert needed <= allowed, f"{path} imports {needed - allowed} before any function asks for it"


def test_what_numba_compiles_is_imported_by_the_switch_alone() -> None:
    compiled = "minigrad.kernels.compiled."
    needed = {name: house.imported(name, path, when_loaded=True) for name, path in house.modules().items()}
    users = {name for name, targets in needed.items() if any(target.startswith(compiled) for target in targets)}
    assert users and all(name.startswith(compiled) for name in users)


def test_the_room_of_kernels_has_three_doors() -> None:
    """It can be taken out (tests/minigrad/kernels/test_removable.py), as nothing else knows of it, late imports counted."""
    users = {
        name
        for name, path in house.modules().items()
        if any(target.startswith("minigrad.kernels") for target in house.imported(name, path))
    }
    doors = {name for name in users if not name.startswith("minigrad.kernels")}
    assert doors == {"minigrad", "minigrad.internal", "minigrad.scipy_special"}


def test_views_are_imported_when_first_asked_for() -> None:
    program = (
        "import sys, minigrad; early = [m for m in sys.modules if m.startswith('minigrad.graph')]; "
        "names = [getattr(minigrad, name) for name in minigrad.__all__]; "
        "print(early, minigrad.graph.Graph.__name__, minigrad.trace is minigrad.graph.record.trace.trace)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["[]", "Graph", "True"]
