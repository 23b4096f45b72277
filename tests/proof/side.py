"""One side of a comparison. As a script, it writes one section: ``python side.py ROOT SECTION FOLDER SHARE``."""

import hashlib
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGES = ("minigrad", "nn", "models")
SECTIONS = {  # function: its module. The slow ones stand first, so that they begin first.
    "findings": "judgements", "messages": "suite", "written": "results", "answers": "judgements", "values": "results",
    "tests": "suite", "pages": "results", "drawings": "results", "names": "interface",
}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """The repository that a section reads.

    Attributes:
        root: its folder.
        share: the section takes one in ``share`` of its programs, cases or tests. All of them: 1.
    """

    root: Path
    share: int = 1

    @cached_property
    def scratch(self) -> Path:
        """A folder for the files of programs. Its name has the same length on each side."""
        return Path(tempfile.mkdtemp(prefix="proof-")).resolve()

    def takes(self, key: str) -> bool:
        return zlib.crc32(key.encode()) % self.share == 0

    def clean(self, text: str) -> str:
        """Return a text without what differs from run to run, or from folder to folder."""
        text = re.sub(r"(\S*/)?pytest-of-[^/\s]+/pytest-\d+", "TMP", text)
        for folder in (self.scratch, self.root, Path(sys.prefix), Path(tempfile.gettempdir())):
            text = re.sub(rf"{re.escape(str(folder))}(/[\w.-]+)*/([\w.-]+\.py)\b", r"\2", text)
            text = text.replace(str(folder), "FOLDER")
        return re.sub(r"0[xX][0-9a-fA-F]{6,}", "0xADDRESS", text)

    def test_files(self, pattern: str = "*.py") -> list[Path]:
        """Return the files below tests/, without the proof itself."""
        return [path for path in sorted((self.root / "tests").rglob(pattern)) if HERE.name not in path.parts]

    def load(self, path: Path) -> ModuleType:
        """Import a file by its dotted name from the root."""
        return importlib.import_module(".".join(path.relative_to(self.root).with_suffix("").parts))


def held(package: str, name: str) -> Any:
    """Return what a module of the package defines under this name, whichever module it is."""
    top = importlib.import_module(package)
    for info in pkgutil.walk_packages(top.__path__, f"{package}."):
        if not info.name.endswith("__main__"):
            value = getattr(importlib.import_module(info.name), name, None)
            if getattr(value, "__module__", info.name) == info.name and value is not None:
                return value
    raise LookupError(f"no module of {package} defines {name}")


def digest(data: str | bytes) -> str:
    """Return twelve digits that stand for a text or for the bytes of an array."""
    return hashlib.sha1(data.encode() if isinstance(data, str) else data).hexdigest()[:12]


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers in nested lists, tuples and dicts."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def bits(value: Any) -> str:
    """Describe arrays: shape, dtype, a hash of the bytes, and the sum for the reader of a difference."""
    import numpy as np

    said = []
    for leaf in leaves(value):
        array = np.asarray(getattr(leaf, "data", leaf) if hasattr(leaf, "requires_grad") else leaf)
        if array.dtype.kind not in "biufc":
            said.append(repr(leaf))
            continue
        with np.errstate(all="ignore"):
            total = f"{array.sum(dtype=complex if array.dtype.kind == 'c' else float):.9g}"
        said.append(f"{array.dtype} {array.shape} {digest(np.ascontiguousarray(array).tobytes())} sum {total}")
    return "; ".join(said)


def failed(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def enter(root: Path) -> None:
    """Import everything from this side, but ``tests.proof`` from here."""
    own = HERE.parent.parent
    kept = [path for path in sys.path if Path(path).resolve() not in (HERE, own, own / "examples")]
    sys.path[:] = [str(root), str(root / "examples"), *kept]
    spec = importlib.util.spec_from_file_location(
        "tests.proof", HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    assert spec is not None
    sys.modules["tests.proof"] = importlib.util.module_from_spec(spec)
    for package in (*PACKAGES, "tests"):
        file = importlib.import_module(package).__file__
        if file is None or root not in Path(file).resolve().parents:
            raise ImportError(f"{package} comes from {file}, which is not inside {root}")


def main(root: Path, section: str, folder: Path, share: int) -> None:
    warnings.simplefilter("ignore")
    enter(root)
    side, module = Side(root, share), importlib.import_module(f"tests.proof.{SECTIONS[section]}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        for name, lines in getattr(module, section)(side):
            with (folder / f"{name}.txt").open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for text in lines for line in side.clean(text).splitlines())
    finally:
        shutil.rmtree(side.scratch, ignore_errors=True)
    print(sum(os.times()[:4]))  # seconds of the processor, those of ended child processes included


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3]).resolve(), int(sys.argv[4]))
