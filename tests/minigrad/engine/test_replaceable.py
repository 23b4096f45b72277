"""A formula and the faster form that a kernel attaches to it."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.observers import Replaceable
from tests.minigrad.kernels.fast_paths import of_any_size, replaceables
from tests.minigrad.rules import oracle
from tests.minigrad.rules.table import CASES


def test_a_kernel_takes_what_it_does_not_decline_except_in_reference_mode() -> None:
    @Replaceable
    def total(a: Any, /, scale: float = 1.0) -> tuple[str, Any]:
        """Add it up."""
        return "formula", a.sum() * scale

    a = np.arange(3.0)
    assert total(a, scale=2.0) == ("formula", 6.0) and total.__doc__ == "Add it up."
    total.kernel(lambda a, /, scale=1.0: ("kernel", a.sum() * scale) if a.size > 2 else NotImplemented)
    assert [total(a, scale=2.0)[0], total(a[:2])[0]] == ["kernel", "formula"]
    with mg.reference_mode():
        assert total(a) == ("formula", 3.0)
    assert total(a) == ("kernel", 3.0)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_every_formula_with_a_kernel_is_computed_by_it_in_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the comparison of each case with the plain rules compares every kernel."""
    computed: set[str] = set()

    def noting(name: str, faster: Any) -> Any:
        def noted(*args: Any, **keywords: Any) -> Any:
            ans = faster(*args, **keywords)
            if ans is not NotImplemented:
                computed.add(name)
            return ans

        return noted

    found = replaceables()
    assert {"sum_over", "gap_between"} <= found.keys()
    for name, replaceable in found.items():
        monkeypatch.setattr(replaceable, "faster", noting(name, replaceable.faster))
    with of_any_size():
        for case in CASES:
            oracle.by_backward(case.f, case.arrays())
    assert computed == found.keys()
