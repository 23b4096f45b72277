"""The generated pages of docs/ say what the code says today."""

import operator
import re

import numpy as np
import pytest

from docs.make_tables import HERE, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (HERE / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m docs.make_tables"


def test_each_function_on_the_page_is_numpys() -> None:
    pytest.importorskip(
        "minigrad.scipy_special", exc_type=ImportError
    )  # its functions are in the registry, and not NumPy's
    names = re.findall(r"^\| `np\.([\w.]+)`", PAGES["functions.md"](), re.MULTILINE)
    assert len(names) > 200
    assert [name for name in names if not callable(operator.attrgetter(name)(np))] == []
