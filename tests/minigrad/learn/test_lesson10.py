"""The solution of 10.4, and what its questions want, are the position codes of nn."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad.learn.tasks import find


def solution(label: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(find(label).solution.read_text(encoding="utf-8"), label, "exec"), names)
    return names


@pytest.mark.parametrize(("n", "d"), [(0, 2), (1, 1), (5, 2), (9, 7), (40, 16)])
def test_the_codes_are_those_of_nn(n: int, d: int) -> None:
    positions = solution("10.4")["positions"]
    np.testing.assert_allclose(positions(n, d), nn.sinusoids(n, d), rtol=1e-14)
    np.testing.assert_allclose(positions(n, d, 50.0), nn.sinusoids(n, d, base=50), rtol=1e-14)
    added = nn.PositionalEncoding(d)(np.ones((3, n, d))).numpy()
    np.testing.assert_allclose(added, 1 + positions(n, d) * np.ones((3, 1, 1)), rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_the_questions_want_the_codes_of_nn(seed: int) -> None:
    """They turn hands on a circle with complex powers, and nn takes a sine or a cosine for each column."""
    bases = set()
    for case in find("10.4").questions(seed):
        n, d, base = (case.inputs.get(name, 10000.0) for name in ("n", "d", "base"))
        np.testing.assert_allclose(case.expected, nn.sinusoids(n, d, base=base), rtol=1e-13, atol=1e-15)
        bases.add(base)
    assert len(bases) > 2 and 10000.0 in bases
