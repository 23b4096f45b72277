"""Replacements for ``minigrad/kernels`` if that folder was removed: the plain rules compute in one thread."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .errors import UnsupportedError


def compiled_kernels(enabled: bool = True) -> None:
    """Raise, unless the call switches the kernels off."""
    if enabled:
        raise _missing("compiled_kernels")


def num_threads() -> int:
    """Return 1, because no work is divided."""
    return 1


def set_num_threads(count: int) -> None:
    """Raise, unless ``count`` is 1."""
    if count != 1:
        raise _missing("set_num_threads")


class EachAlone:
    """The parameters of an optimizer, each updated on its own."""

    def __init__(self, ready: Sequence[tuple[int, Any]], *_: Any) -> None:
        self.alone = [i for i, _ in ready]

    def is_current(self, *_: Any) -> bool:
        """Return False: the optimizer looks at the state of each parameter before each step."""
        return False

    def arrays(self, parameters: Sequence[Any], state: Sequence[Any]) -> Iterator[tuple[int, Any, Any, Any]]:
        """Iterate over ``(i, p, g, state)`` of each parameter."""
        for i in self.alone:
            yield i, parameters[i].data, parameters[i].grad.data, state[i]


def update_in_blocks(update: Callable[..., None], p: Any, g: Any, state: Any) -> None:
    """Run ``update(p, g, state)`` once for the whole arrays."""
    update(p, g, state)


def compiled_adam() -> None:
    """Return None, because there is no compiled step."""


def _missing(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"{function}() needs the folder minigrad/kernels, which has been taken out of this copy of minigrad: the plain rules "
        "compute the same numbers, or install minigrad again"
    )
