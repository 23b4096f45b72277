"""Every public name has an example in its docstring, and what the example shows is what Python prints.

An example imports what it uses, so that it can be pasted; it runs in a folder of its own, where it leaves nothing.
"""

import doctest
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

from docs import site_pages
from tests import fake_cupy

PUBLIC = site_pages.public()

# The package that an example needs; and what stands in for a package while one runs (None: it is not installed).
NEEDED = {
    "minigrad.compiled_kernels": "numba",
    "models.Model": "safetensors",
    "nn.load_weights": "safetensors",
    "nn.parallel": "mpi4py",
}
STANDING_IN: dict[str, dict[str, Any]] = {
    "minigrad.DeviceError": {"cupy": fake_cupy.module(broken=fake_cupy.NO_GPU)},
    "minigrad.MissingExtraError": {"numba": None},
    "minigrad.MixedDevicesError": {"cupy": fake_cupy.module()},
}


def examples(name: str, value: Any) -> list[doctest.DocTest]:
    """Of the name itself, then of its members: a class's methods, or a module's own functions."""
    module = value if inspect.ismodule(value) else False
    found = doctest.DocTestFinder().find(value, name, module=module, globs={"__name__": "__main__"})
    return sorted((test for test in found if test.examples), key=lambda test: test.name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", list(PUBLIC))
def test_an_example_shows_what_python_prints(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = examples(name, PUBLIC[name])
    assert tests and tests[0].name == name, f"the docstring of {name} has no example"
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    for module, stand_in in STANDING_IN.get(name, {}).items():
        monkeypatch.setitem(sys.modules, module, stand_in)
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    for test in tests:
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
    assert list(tmp_path.iterdir()) == []
