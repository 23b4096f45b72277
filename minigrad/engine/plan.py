"""What one recorded call keeps for its backward, and how a cotangent is pulled back through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from ..errors import GraphError, UnsupportedError
from .messages import refuse_cut_off
from .modes import enable_grad
from .outputs import outputs
from .signatures import parameters_of
from .tape import Entry, Leaf, sweep
from .tensor import Tensor, at_new_node, make_tensor
from .types import Array, Pull, Rule

Values = Sequence[Any]


class Plan:
    """What a primitive keeps and runs, for one choice of the inputs that need a gradient.

    A call that is recorded is first the list of its *values*: its arrays, then ``ans``, what a kernel saved, and its keywords.
    ``keep`` takes from them what the rules ask for, so that rules find it by its place in ``entry.kept``.

    Attributes:
        arguments: the names of the primitive's array arguments.
        names: what is kept, by the names that rules call it.
        positions: of each of ``names`` among the values, or, behind them, among ``extras``.
        extras: functions of the values, for shapes and keywords.
        constants: the places in ``kept`` of arrays that are not differentiated, which are the caller's own.
        keep: from the values to what is kept.
        pull, pull_tensors: ``(entry, g)`` -> the cotangents of the inputs, None for those that need none, from ``g``, the
            cotangent of the output: an array, or a Tensor, and then the rules run on Tensors and are themselves recorded.
        rules: for each input that needs a gradient ``(g, kept)`` -> its cotangent; none with a reference composition.
        fresh: whether the arrays that ``pull`` gives are held by nobody else.
    """

    __slots__ = (
        "arguments", "constants", "extras", "fresh", "keep", "positions", "primitive", "pull", "pull_tensors", "rules",
        "_args", "_places", "_values",
    )  # fmt: skip

    def __init__(self, primitive: Any, needs: Sequence[bool]) -> None:
        self.primitive = primitive
        self.fresh = False
        self._places: dict[str, int] = {}
        self._args: list[int] = []
        self.positions: list[int] = []
        self.extras: list[Callable[[Values], Any]] = []
        self.arguments = arguments = primitive.argument_names(len(needs))
        self._values = {name: i for i, name in enumerate((*arguments, "ans", "saved", "**keywords"))}
        self.pull: Pull
        self.pull_tensors: Pull
        self.rules: list[Rule | None] = []
        if primitive.composition is not None:
            for name in arguments:
                self.place(name)
            self.pull, self.pull_tensors = _pull_composition, _pull_composition_tensors
        else:
            self.rules = [self._caller(name, i) if needs[i] else None for i, name in enumerate(arguments)]
            self.pull, self.pull_tensors = _array_pull(self.rules), _tensor_pull(self.rules)
        self.settle(needs)

    def settle(self, needs: Sequence[bool]) -> None:
        """Once every name has its place: which of them are constants, and what takes all from the values."""
        constant = {name for name, needed in zip(self.arguments, needs) if not needed}
        self.constants = [i for i, name in enumerate(self.names) if name in constant]
        self.keep = self.picker()

    def place(self, name: str) -> int:
        """Where ``name`` will be in ``kept``: from now on it is kept."""
        if name not in self._places:
            self._places[name] = len(self._places)
            if name in self._values:
                self.positions.append(self._values[name])
            else:
                self.positions.append(len(self._values) + len(self.extras))
                self.extras.append(self._extra(name))
        return self._places[name]

    @property
    def names(self) -> list[str]:
        return list(self._places)

    def _extra(self, name: str) -> Callable[[Values], Any]:
        if name.endswith("_shape"):
            position = self._values[name.removesuffix("_shape")]
            return lambda values: getattr(values[position], "shape", ())  # a number has none
        keywords, default = self._values["**keywords"], self.primitive.defaults.get(name)
        return lambda values: values[keywords].get(name, default)

    def picker(self) -> Callable[[Values], Values]:
        """What takes the kept from the values, in as few calls as can be."""
        pick, extras = taking(self.positions), self.extras
        if not extras:
            return pick
        if len(extras) == 1:
            return lambda values: pick((*values, extras[0](values)))
        return lambda values: pick([*values, *[extra(values) for extra in extras]])

    def _caller(self, name: str, i: int) -> Rule:
        """A function of ``(g, kept)`` that calls the rule for argument ``i`` with what it asks for."""
        rule = self.primitive.rules.get(name) or self.primitive.rule_for_each
        if rule is None:
            raise UnsupportedError(
                f"{self.primitive.name} has no derivative with respect to '{name}', which requires a gradient: "
                "pass a plain array (t.numpy() or t.detach()) if none is needed"
            )
        names = parameters_of(rule).names[1:]
        if self.primitive.rule_for_each is not None:
            return self._variadic_caller(rule, names, i)
        places = [self.place(asked) for asked in names]
        if not places:
            return lambda g, kept: rule(g)
        if len(places) == 1:
            (a,) = places
            return lambda g, kept: rule(g, kept[a])
        if len(places) == 2:
            a, b = places
            return lambda g, kept: rule(g, kept[a], kept[b])
        return lambda g, kept: rule(g, *[kept[place] for place in places])

    def _variadic_caller(self, rule: Rule, names: Sequence[str], i: int) -> Rule:
        """As ``_caller``, for a rule that may ask for ``i`` (which argument) and ``args`` (all of them)."""
        places = {asked: self.place(asked) for asked in names if asked not in ("i", "args")}
        if "args" in names and not self._args:
            self._args += [self.place(name) for name in self.arguments]
        arguments = self._args

        def call(g: Array, kept: Values) -> Array:
            given = {"i": i, "args": [kept[place] for place in arguments]}
            given |= {asked: kept[place] for asked, place in places.items()}
            return rule(g, *[given[asked] for asked in names])

        return call


def taking(positions: Sequence[int]) -> Callable[[Values], Values]:
    """What takes these positions from a sequence."""
    if len(positions) > 1:
        return itemgetter(*positions)
    if positions:
        (only,) = positions
        return lambda values: (values[only],)
    return lambda values: ()


def _array_pull(rules: Sequence[Rule | None]) -> Pull:
    first, *others = rules
    if first is not None and not others:
        return lambda entry, g: (first(g, entry.kept),)
    if first is not None and len(others) == 1 and others[0] is not None:
        second = others[0]
        return lambda entry, g: (first(g, entry.kept), second(g, entry.kept))
    return lambda entry, g: [rule and rule(g, entry.kept) for rule in rules]


def _tensor_pull(rules: Sequence[Rule | None]) -> Pull:
    def pull(entry: Entry, g: Any) -> Values:
        kept = kept_tensors(entry)
        pulled = [rule and rule(g, kept) for rule in rules]
        refuse_cut_off(entry.primitive, g, pulled)
        return pulled

    return pull


def kept_tensors(entry: Entry) -> list[Any]:
    """The kept values as Tensors with their places on the tape. What a kernel saved has none, and is left out."""
    arguments = entry.primitive.argument_names(len(entry.parents))
    values: list[Any] = []
    for name, value in zip(entry.plan.names, entry.kept or ()):
        if name in arguments:
            node = entry.parents[arguments.index(name)]
            value = value if node is None else make_tensor(value, node)
        elif name == "ans":
            value = outputs(value, entry)
        elif name == "saved":
            value = None
        values.append(value)
    return values


def _pull_composition(entry: Entry, g: Array, create_graph: bool = False) -> Values:
    """Differentiate the reference composition, from inputs that are the ends of a small tape of its own."""
    inputs: list[Any] = []
    for array, parent in zip(entry.kept or (), entry.parents):
        if parent is None:
            inputs.append(array)
        elif create_graph:
            inputs.append(at_new_node(make_tensor(array, parent)))
        else:
            inputs.append(make_tensor(array, Leaf(None, array.shape, array.dtype)))
    ans = recomposed(entry, inputs)
    ends = [t._node if isinstance(t, Tensor) else None for t in inputs]
    wanted = [node for node in ends if node is not None]
    found = sweep({ans._node: g}, create_graph=create_graph, retain_graph=create_graph, wanted=wanted)
    return [None if node is None else found.get(node) for node in ends]


def recomposed(entry: Entry, inputs: Sequence[Any]) -> Tensor:
    """Record the reference composition of an entry, of these inputs."""
    with enable_grad():
        ans = entry.primitive.composition(*inputs, **entry.keywords)
    if not isinstance(ans, Tensor) or ans._node is None:
        raise GraphError(
            f"the reference composition of '{entry.primitive.name}' must give one Tensor made of its arguments"
        )
    return ans


def _pull_composition_tensors(entry: Entry, g: Array) -> Values:
    return _pull_composition(entry, g, create_graph=True)
