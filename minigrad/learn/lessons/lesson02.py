"""One value used twice, and order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.learn.tasks import Case, task
from minigrad.transforms.grad import vjp


@task("2_1_used_twice.py")
def used_twice(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        x = float(rng.uniform(0.3, 2.8))
        # Two inputs that happen to be equal: what each gets is what comes through its way.
        y, back = vjp(lambda p, q: (p * p) * np.sin(q), np.array(x), np.array(x))
        a, b = back(np.array(1.0))
        names = ("y", "through a", "through b")
        want, forward = (float(y), float(a), float(b)), "a = x * x\nb = np.sin(x)\ny = a * b"
        places = {f"through {name}": f"backward of {name} to x" for name in "ab"}
        yield Case("two_ways(x)", {"x": x}, want, names, about="ways", forward=forward, places=places)


@task("2_2_topological_order.py")
def topological_order(rng: np.random.Generator) -> Iterator[Case]:
    lesson = {"y": ["a", "b"], "a": ["x", "x"], "b": ["x"], "x": []}
    yield _ordered(lesson, "y")
    yield _ordered(lesson, "x")
    # Going from y level by level puts "b" before "a": only the longest way counts.
    yield _ordered({"y": ["x", "b"], "b": ["a"], "a": ["x"], "x": [], "other": ["y"]}, "y")
    for size in (7, 12):
        names = [f"v{i}" for i in rng.permutation(size)]
        parents = {name: [str(p) for p in rng.choice(names[:i], min(i, 2))] for i, name in enumerate(names)}
        shuffled = {name: parents[name] for name in rng.permutation(names).tolist()}
        yield _ordered(shuffled, names[-1])


def _ordered(parents: dict[str, list[str]], end: str) -> Case:
    wanted, waiting = {end}, [end]
    while waiting:
        new = set(parents[waiting.pop()]) - wanted
        wanted |= new
        waiting += new

    def judge(got: Any) -> dict[str, Any] | None:
        if not isinstance(got, list) or not all(isinstance(name, str) for name in got):
            return {"about": "order_type"}
        return _not_all(got, parents, end, wanted) or _too_early(got, parents, end)

    return Case("order(parents, end)", {"parents": parents, "end": end}, sorted(wanted), judge=judge)


def _not_all(got: list[str], parents: dict[str, list[str]], end: str, wanted: set[str]) -> dict[str, Any] | None:
    """A name that is there twice, or does not belong there, or is missing."""
    for name in got:
        if name not in wanted:
            return {"about": "order_extra", "name": name, "end": end}
        if got.count(name) > 1:
            return {"about": "order_twice", "name": name, "count": got.count(name)}
    if end not in got:
        return {"about": "order_no_end", "end": end}
    users = ((p, name) for name in got for p in parents[name] if p not in got)
    return next(({"about": "order_absent", "name": name, "user": user} for name, user in users), None)


def _too_early(got: list[str], parents: dict[str, list[str]], end: str) -> dict[str, Any] | None:
    at = {name: i for i, name in enumerate(got)}
    pairs = [(name, p) for name in got for p in parents[name]]
    early = next(((name, p) for name, p in pairs if at[name] < at[p]), None)
    if early is None:
        return None
    if all(at[name] < at[p] for name, p in pairs):
        return {"about": "order_turned", "end": end}
    return {"about": "order_early", "early": early[0], "late": early[1]}
