"""The run in Pyodide: what is pinned, and that a machine without Node or a network is told so and fails nothing."""

import hashlib
import io
import re
import zipfile
from pathlib import Path

import pytest

from docs import site_pyodide
from docs.site_pyodide import NotHere, cache_folder, fetched, missing, release, stored, used
from tests.pyodide import __main__ as command, plugin


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose cache holds nothing, on a machine without npm, pip's index and Node."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "")
    return tmp_path


def test_every_file_is_pinned_and_comes_from_pyodides_own_place() -> None:
    assert release()["from"] == f"https://cdn.jsdelivr.net/pyodide/v{release()['version']}/full/"
    for pinned in release()["files"].values():
        assert re.fullmatch("[0-9a-f]{64}", pinned["sha256"]) and pinned["bytes"] > 0
    assert {pinned["group"] for pinned in release()["files"].values()} == {"python", "numpy", "matplotlib", "scipy"}


def test_a_file_that_was_changed_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    pinned = {"files": {"a": {"group": "python", "bytes": 5, "sha256": digest}}}
    monkeypatch.setattr(site_pyodide, "release", lambda: pinned)
    assert missing(tmp_path) == ["a"]
    (tmp_path / "a").write_bytes(b"wrong")
    assert missing(tmp_path) == ["a"]
    (tmp_path / "a").write_bytes(b"right")
    assert missing(tmp_path) == []


def test_a_copy_leaves_out_what_pages_do_not_use_and_packs_the_rest_later() -> None:
    content = stored({"a/b.py": b"x" * 99, "a/tests/test_b.py": b"y", "a/mpl-data/sample_data/c.csv": b"z"})
    with zipfile.ZipFile(io.BytesIO(used("a.whl", content))) as archive:
        assert archive.namelist() == ["a/b.py"] and archive.read("a/b.py") == b"x" * 99
        assert archive.getinfo("a/b.py").compress_type == zipfile.ZIP_STORED
    assert used("a.wasm", content) == content


def test_without_npm_the_reason_is_said_and_nothing_fails(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cache_folder().is_relative_to(empty_cache)
    with pytest.raises(NotHere, match="npm is missing"):
        fetched()
    assert command.main([]) == 0
    assert "Pyodide: NOTHING RAN, because npm is missing" in capsys.readouterr().err


def test_a_download_that_fails_is_said_with_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match=r"sh .* failed: no network"):
        site_pyodide._download(["sh", "-c", "echo no network >&2; exit 4"], tmp_path)


def test_a_test_file_that_needs_another_package_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "test_a.py"
    for text, package in {
        "import numpy as np\nfrom minigrad import Tensor": None,
        "import no_such_package.part": "no_such_package",
        "from no_such_package import x": "no_such_package",
        "def f():\n    import no_such_package": None,
    }.items():
        path.write_text(text, encoding="utf-8")
        assert plugin.absent(path) == package
