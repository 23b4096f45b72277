"""The case table notices an error of 0.1 % in any derivative rule."""

import pytest

from tests import mutation


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.thorough)], ids=["sample", "all"])
def test_every_planted_error_is_noticed(share: int) -> None:
    caught, _, survivors = mutation.run(share)
    assert survivors == []
    assert caught > 80 / share
