"""The case table notices an error of 0.1 % in any derivative rule."""

from tests import mutation


def test_every_planted_error_is_noticed() -> None:
    caught, _, survivors = mutation.run()
    assert survivors == []
    assert caught > 80
