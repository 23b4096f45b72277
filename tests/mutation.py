"""Does the case table notice a wrong rule? ``python -m tests.mutation``

Plants an error of 0.1 % in each derivative rule in turn (in a kernel's backward and in a reference composition too), runs
the cases of that primitive, and lists the errors that no case noticed. A rule that gives nothing but zeros has nothing to
get wrong by a factor and is counted apart. Exits with 1 if an error went unnoticed.
"""

from __future__ import annotations

import functools
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import Primitive, Tensor
from minigrad.engine.kernels import Kernel
from tests.minigrad.rules import test_cases
from tests.minigrad.rules.cases import Case, cases_of

FACTOR = 1.001


class Mutant:
    """One planted error: where it is, and whether the rule ever gave anything but zeros."""

    def __init__(self, primitive: Primitive, place: str, owner: Any, key: str, position: int | None = None) -> None:
        self.primitive, self.place = primitive, place
        self._owner, self._key, self._position = owner, key, position
        self.matters = False

    def _wrong(self, value: Any) -> Any:
        if value is None:
            return None
        array = value.data if isinstance(value, Tensor) else np.asarray(value)
        if hasattr(array, "any") and bool((array != 0).any()):
            self.matters = True
        return value * FACTOR

    def _break(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(rule)  # the signature says what the tape keeps
        def wrong(*args: Any, **kwargs: Any) -> Any:
            result = rule(*args, **kwargs)
            if self._position is None:
                return self._wrong(result)
            return tuple(self._wrong(g) if i == self._position else g for i, g in enumerate(result))

        return wrong

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Break the rule inside the block. Plans hold rules, so they are made anew."""
        in_dict = isinstance(self._owner, dict)
        right = self._owner[self._key] if in_dict else getattr(self._owner, self._key)
        self._put(self._break(right))
        try:
            yield
        finally:
            self._put(right)

    def _put(self, rule: Any) -> None:
        if isinstance(self._owner, dict):
            self._owner[self._key] = rule
        else:
            setattr(self._owner, self._key, rule)
        self.primitive._plans.clear()
        for kernel in self.primitive.kernels.values():
            kernel.plans.clear()


def mutants(primitive: Primitive) -> Iterator[Mutant]:
    for argument in primitive.rules:
        yield Mutant(primitive, f"the rule for {argument}", primitive.rules, argument)
    if primitive.rule_for_each is not None:
        yield Mutant(primitive, "the rule for each", primitive, "rule_for_each")
    if primitive.composition is not None:
        yield Mutant(primitive, "the reference composition", primitive, "composition")
    for kind, kernel in primitive.kernels.items():
        assert isinstance(kernel, Kernel)
        if isinstance(kind, str):
            continue  # not what the cases run: tests of their own hold "compiled" to the plain rules
        if kernel.backward is None:
            continue  # its derivatives are the rules above
        for i, argument in enumerate(primitive.arguments):
            yield Mutant(primitive, f"the {kind.__name__} kernel for {argument}", kernel, "backward", i)


def noticed(case: Case) -> bool:
    """Whether one of the comparisons of ``test_cases`` fails for this case."""
    checks: list[Callable[[Case], None]] = []
    if case.order:
        checks.append(test_cases.test_finite_differences)
    if case.torch:
        checks.append(test_cases.test_torch)
    if test_cases.all_primitives()[case.primitive].kernels:
        checks.append(lambda c: test_cases.test_kernels_agree_with_the_plain_rules(c, np.float64))
    for check in checks:
        try:
            check(case)
        except (AssertionError, mg.MinigradError):
            return True
    return False


def run(share: int = 1) -> tuple[int, int, list[str]]:
    """How many errors were noticed, how many rules give only zeros, and the errors nobody noticed.

    With a ``share`` only one primitive in so many is tried, chosen by its name.
    """
    caught, zeros, survivors = 0, 0, []
    for name, primitive in sorted(test_cases.all_primitives().items()):
        if zlib.crc32(name.encode()) % share:
            continue
        for mutant in mutants(primitive):
            with mutant.planted():
                found = any(noticed(case) for case in cases_of([name]))
            if found:
                caught += 1
            elif not mutant.matters:
                zeros += 1
            else:
                survivors.append(f"{name}: {mutant.place}")
    return caught, zeros, survivors


def main() -> None:
    start = time.perf_counter()
    caught, zeros, survivors = run()
    seconds = time.perf_counter() - start
    total = caught + len(survivors)
    print(f"{caught} of {total} planted errors noticed, {zeros} rules give only zeros; {seconds:.0f} s")
    for survivor in survivors:
        print(f"  not noticed: {survivor}")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
