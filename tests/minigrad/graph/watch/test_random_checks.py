"""check_edges on random programs: right derivatives are never accused, planted mistakes are found, and little is unclear."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.plan import Plan
from minigrad.engine.primitive import Primitive
from minigrad.graph import Drawing, Edge, Graph
from minigrad.graph.draw.drawn import DrawnEdge
from minigrad.graph.record.derivatives import can_be_compared, compared
from minigrad.guards.checking import Comparison
from tests.minigrad.graph.watch.random_programs import KINKED, program

pytestmark = pytest.mark.filterwarnings("ignore")
SAMPLE, MANY = 40, 2000
FACTORS = (1.01, 0.99, 1.1, 3.0, 0.5, -1.0)


@contextmanager
def planted(primitive: Primitive, position: int, factor: float) -> Iterator[None]:
    """Multiply the derivative of one primitive by its argument at ``position``, whatever its rules look like."""
    caches = [primitive._plans, *(kernel.plans for kernel in primitive.kernels.values())]
    kept = [dict(plans) for plans in caches]

    def wrong(pull: Any) -> Any:
        def pulled(entry: Any, g: Any) -> Any:
            return tuple(
                factor * found if i == position and found is not None else found
                for i, found in enumerate(pull(entry, g))
            )

        return pulled

    right, primitive._plan = primitive._plan, None  # type: ignore[assignment, method-assign]

    def plan(*asked: Any) -> Plan:
        made = right(*asked)
        made.pull = wrong(made.pull)
        return made

    primitive._plan = plan  # type: ignore[assignment, method-assign]
    for plans in caches:
        plans.clear()
    try:
        yield
    finally:
        del primitive._plan
        for plans, before in zip(caches, kept):
            plans.clear()
            plans.update(before)


def traced(seed: int) -> mg.Tensor:
    with np.errstate(all="ignore"), mg.trace():
        return program(seed).run()


def checked(graph: Drawing) -> list[DrawnEdge]:
    return [edge for edge in graph.edges if edge.verdict is not None]


def is_smooth(edge: Edge, graph: Graph) -> bool:
    node = graph.nodes[edge.target]
    values = node.value if isinstance(node.value, tuple) else (node.value,)
    return node.operation not in KINKED and all(np.isfinite(value).all() for value in values)


def told(edge: DrawnEdge, graph: Graph, seed: int) -> str:
    return f"seed {seed}: {graph.nodes[edge.target].label} by {edge.argument}, {edge.error} ± {edge.uncertainty}"


def right_programs(seeds: range) -> None:
    verdicts: Counter[str | None] = Counter()
    accused = []
    for seed in seeds:
        graph = mg.check_edges(traced(seed), seed=seed)
        verdicts.update(edge.verdict for edge in checked(graph) if is_smooth(edge, graph))
        accused += [told(edge, graph, seed) for edge in mg.wrong_edges(graph)]
        assert all(bool(edge.reason) == (edge.verdict == "unclear") for edge in checked(graph))
    assert accused == []
    assert verdicts["agrees"] > 10 * len(seeds) and verdicts["unclear"] <= 0.05 * verdicts.total()


def comparisons(graph: Graph, seed: int) -> list[tuple[Edge, Comparison]]:
    """As ``check_edges`` makes them, but what is drawn for an operation does not depend on those before it."""
    into = graph.edges_into
    found = []
    for node in graph.operations:
        if can_be_compared(node, into[node.id]):
            found += compared(node, graph, np.random.default_rng([seed, node.id]))
    return found


def mistakes(seeds: range) -> None:
    """One in each program, at one of its operations.

    It must be found wherever it changes the derivative by more than ten times what the difference may be off by.
    """
    verdicts: Counter[str] = Counter()
    missed, accused = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = mg.draw_dot(traced(seed))
        before = comparisons(graph, seed)
        chosen, _ = before[rng.integers(len(before))]
        factor, node = float(rng.choice(FACTORS)), graph.nodes[chosen.target]
        names = node.primitive.arguments or [edge.argument for edge in graph.edges_into[node.id]]
        with planted(node.primitive, names.index(chosen.argument), factor):
            after = comparisons(graph, seed)
        for (edge, right), (_, now) in zip(before, after):
            one = graph.nodes[edge.target]
            if one.primitive is node.primitive and edge.argument == chosen.argument:
                own = max(right.uncertainty, now.uncertainty)
                if is_smooth(edge, graph) and right.verdict == "agrees" and right.exact != 0:
                    verdicts[now.verdict] += 1
                    if abs(factor - 1) > 10 * own and now.verdict != "wrong":
                        missed.append(
                            f"seed {seed}: {node.operation} by {edge.argument} * {factor}: {right}, then {now}"
                        )
            elif now.verdict == "wrong" and one.primitive.composition is None:  # which may be made of the broken one
                accused.append(f"seed {seed}: {one.label} by {edge.argument}: {now}")
    assert accused == []
    assert missed == [] and verdicts["wrong"] > len(seeds) / 2
    assert verdicts["wrong"] >= 0.95 * verdicts.total()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", range(0, SAMPLE, 20))
def test_right_programs_are_not_accused(start: int) -> None:
    right_programs(range(start, start + 20))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", range(0, SAMPLE, 20))
def test_planted_mistakes_are_found_and_nothing_else_is_accused(start: int) -> None:
    mistakes(range(start, start + 20))


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(0, MANY, 100))
def test_no_right_program_is_accused(start: int) -> None:
    right_programs(range(start, start + 100))


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(0, MANY, 100))
def test_all_planted_mistakes_that_show_are_found(start: int) -> None:
    mistakes(range(start, start + 100))
