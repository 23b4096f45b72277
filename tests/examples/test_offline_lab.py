"""The offline lab: what is in the zip, and what its README says to type."""

import base64
import csv
import hashlib
import json
import platform
import sys
import zipfile
from pathlib import Path

import pytest

import lesson_notebooks
import offline_lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip without the wheels of others, opened."""
    folder = tmp_path_factory.mktemp("lab")
    offline_lab.pack(folder / "new" / "lab.zip", ["jupyterlab"], wheels=False)
    with zipfile.ZipFile(folder / "new" / "lab.zip") as archive:
        archive.extractall(folder)
    return folder / "lab"


def test_the_lab_holds_every_lesson_in_both_languages_and_one_wheel(lab: Path) -> None:
    names = {path.stem for path in lesson_notebooks.lessons()}
    for language, title in (("en", "# Lesson 1"), ("ja", "# レッスン1")):
        folder = lab / "notebooks" / language
        assert {path.name for path in folder.iterdir()} == {
            f"{name}{end}" for name in names for end in (".ipynb", ".py")
        }
        first = json.loads((folder / "01_nudging.ipynb").read_text(encoding="utf-8"))["cells"][0]
        assert "".join(first["source"]).startswith(title)
    (wheel,) = (lab / "wheels").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        packed = {Path(name).name for name in archive.namelist() if name.startswith("minigrad/exercises/stubs/")}
    assert packed == {
        path.name for path in (Path(offline_lab.__file__).parents[1] / "exercises" / "stubs").glob("*.py")
    }
    assert {path.name for path in lab.iterdir()} == {"README.md", "notebooks", "wheels"}


def test_the_readme_names_what_is_packed() -> None:
    full, bare = offline_lab.readme(["jupyterlab"], wheels=True), offline_lab.readme(["jupyterlab"], wheels=False)
    assert "--find-links wheels minigrad matplotlib pygraphviz jupyterlab\n" in full and "jupyter lab" in full
    assert "--find-links wheels minigrad\n" in bare and "jupyter" not in bare and "--system-site-packages" in bare
    assert "jupyter" not in offline_lab.readme([], wheels=True)
    assert full.count(f"Python {offline_lab.VERSION}") == 2 and platform.python_version() not in full + bare


def test_the_wheels_suit_every_release_of_this_version_and_what_has_none_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A package may ask for 3.11.5, and the class has 3.11.2: pip then takes an older one of it."""
    asked = []

    def pip(*arguments: str) -> None:
        asked.append(arguments)
        if "too_new" in arguments:
            raise ValueError("pip download failed:\nmore\nERROR: No matching distribution found for too_new")

    monkeypatch.setattr(offline_lab, "pip", pip)
    assert offline_lab.make_wheels(tmp_path, ["fits", "too_new", "last"], wheels=True) == ["fits", "last"]
    assert capsys.readouterr().err == "too_new is left out: ERROR: No matching distribution found for too_new\n"
    assert [one[2:-6] for one in asked] == [
        (*offline_lab.PICTURES, *more) for more in ([], ["fits"], ["fits", "too_new"], ["fits", "last"])
    ]
    assert {one[-4:-2] for one in asked} == {("--python-version", f"{sys.version_info[0]}.{sys.version_info[1]}")}
    assert all(one[-6:-4] == ("--only-binary", ":all:") for one in asked)


def test_what_fails_is_one_error_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # stands for a network that is down
    with pytest.raises(ValueError, match=r"pip download failed:\n[\s\S]*matplotlib"):
        offline_lab.pack(tmp_path / "lab.zip", [], wheels=True)
    assert list(tmp_path.iterdir()) == []


def test_the_record_has_the_hash_and_the_size_of_every_file(lab: Path) -> None:
    (wheel,) = (lab / "wheels").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = {path: rest for path, *rest in csv.reader(archive.read(record).decode().splitlines())}
        assert sorted(rows) == sorted(archive.namelist()) and rows.pop(record) == ["", ""]
        for path, (digest, size) in rows.items():
            content = archive.read(path)
            assert base64.urlsafe_b64decode(digest.removeprefix("sha256=") + "=") == hashlib.sha256(content).digest()
            assert int(size) == len(content), path
