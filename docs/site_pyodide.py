"""Pyodide, which is Python for a web page: which release the site uses, and where a test gets it from.

docs/live/release.json pins the files of one release by their SHA-256. Readers' pages load them from Pyodide's own place,
``https://cdn.jsdelivr.net/pyodide/``. Tests and `make docs PYODIDE=folder` take them from a folder, which

    python -m docs.site_pyodide

fills and names. npm's package ``pyodide`` holds the interpreter. The wheels of NumPy, Matplotlib and SciPy for it are on no
package index by themselves, but the PyPI package ``open-webui`` carries them. The folder stands in the user's cache, outside
the repository, and about 115 MB go over the network once.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

CARRIER = (
    "open-webui",
    "0.12.4",
    "open_webui/frontend/pyodide",
)  # a PyPI package, its version, the folder in its wheel
SECONDS = 120  # for one download


class NotHere(Exception):
    """The release, or a program that is needed for it, cannot be had on this machine; the message says why."""


@cache
def release() -> dict[str, Any]:
    """Return what docs/live/release.json says: ``version``, ``from``, ``unused``, and for each of the ``files`` what is pinned.

    That is its ``group``, ``bytes`` and ``sha256``. Matplotlib's wheel names two more, fonttools and pytz, which only a PDF and
    pandas' dates need.
    """
    found: dict[str, Any] = json.loads((Path(__file__).parent / "live" / "release.json").read_text(encoding="utf-8"))
    return found


def cache_folder() -> Path:
    """Return the folder for the release in the user's cache (``XDG_CACHE_HOME``)."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "minigrad" / f"pyodide-{release()['version']}"


def missing(folder: Path) -> list[str]:
    """Return the names of the files that a folder lacks, or holds with another content."""

    def same(name: str, pinned: dict[str, Any]) -> bool:
        path = folder / name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == pinned["sha256"]

    return [name for name, pinned in release()["files"].items() if not same(name, pinned)]


def fetched() -> Path:
    """Return the folder with every file of the release, and download first what it lacks.

    Raises:
        NotHere: npm or pip is missing, or a download failed, or a file is not the pinned one.
    """
    folder = cache_folder()
    if not (lacking := missing(folder)):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if any(release()["files"][name]["group"] == "python" for name in lacking):
            _from_npm(Path(scratch), folder)
        if missing(folder):
            _from_pypi(Path(scratch), folder)
    if lacking := missing(folder):
        raise NotHere(f"these files are not those of Pyodide {release()['version']}: {', '.join(lacking)}")
    return folder


def used(name: str, content: bytes) -> bytes:
    """Return an archive of the release without what pages do not use, as tests and sample data; another file as it is."""
    if not name.endswith((".whl", ".zip")):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [one for one in archive.namelist() if not any(part in f"/{one}" for part in release()["unused"])]
        return stored({one: archive.read(one) for one in names})


def stored(files: dict[str, bytes]) -> bytes:
    """Return a zip of these files, the same each time. It is not compressed inside, because a site packs it as a whole."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return made.getvalue()


def _from_npm(scratch: Path, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotHere("npm is missing: it brings Pyodide, and comes with Node (https://nodejs.org)")
    _download([npm, "pack", "--silent", f"pyodide@{release()['version']}"], scratch)
    with tarfile.open(next(scratch.glob("pyodide-*.tgz"))) as package:
        for name in release()["files"]:
            if f"package/{name}" in package.getnames():
                stream = package.extractfile(f"package/{name}")
                assert stream is not None
                (folder / name).write_bytes(stream.read())


def _from_pypi(scratch: Path, folder: Path) -> None:
    name, version, inside = CARRIER
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    _download([*pip, "--no-deps", "--only-binary=:all:", f"{name}=={version}"], scratch)
    with zipfile.ZipFile(next(scratch.glob("*.whl"))) as wheel:
        for file, pinned in release()["files"].items():
            if pinned["group"] != "python":
                (folder / file).write_bytes(wheel.read(f"{inside}/{file}"))


def _download(command: list[str], folder: Path) -> None:
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise NotHere(f"{' '.join(command[-2:])} took more than {SECONDS} s") from None
    if ran.returncode:
        said = (ran.stderr or ran.stdout).strip().splitlines()
        raise NotHere(f"{Path(command[0]).name} {command[-1]} failed: {said[-1] if said else ran.returncode}")


if __name__ == "__main__":
    try:
        print(fetched())
    except NotHere as reason:
        sys.exit(f"error: {reason}")
