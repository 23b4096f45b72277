"""What one recorded call keeps for its backward, and how a cotangent is pulled back through it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ._half import widened
from ._inplace import check_constants, fingerprint
from ._signatures import parameters_of
from ._tape import Entry, Leaf, Output, enable_grad, next_sequence_number, sweep
from .errors import UnsupportedError
from .tensor import Tensor, _make, registry

if TYPE_CHECKING:
    from ._primitive import Primitive

Rule = Callable[..., Any]
_ndarray = np.ndarray
_new = object.__new__  # on the hot path, where calling __init__ would cost a tenth of a multiply


class Kernel:
    """A forward and a backward for raw arrays of one library."""

    def __init__(self, forward: Callable[..., Any], backward: Rule) -> None:
        self.forward = forward
        self.backward = backward
        self.plans: dict[int, Plan] = {}
        self.names = parameters_of(backward).names[2:]

    @functools.cached_property
    def in_float32(self) -> Kernel:
        """The same for float16: computed in float32, where sums do not overflow and NumPy is many times faster."""

        def forward(*arrays: Any, **keywords: Any) -> Any:
            computed = self.forward(*map(widened, arrays), **keywords)
            return computed if computed is NotImplemented else (computed[0].astype(np.float16), computed[1])

        def backward(g: Any, needs: Sequence[bool], *values: Any) -> Any:
            return self.backward(widened(g), needs, *map(widened, values))

        kernel = Kernel(forward, self.backward)
        kernel.backward = backward
        return kernel


class Plan:
    """What a primitive keeps and runs, for one choice of the inputs that need a gradient.

    A recorded call is first a list, its *scope*: the arrays, then ``ans`` and ``saved``, then the extras, which are
    shapes and keywords that a rule asks for. ``pick`` takes from it what the rules need, called ``names``, and adds
    fingerprints of the ``constants`` among them, which are arrays that are not differentiated: the caller's own.
    """

    __slots__ = (
        "_needs",
        "_slots",
        "constants",
        "extras",
        "fresh",
        "kernel",
        "names",
        "pick",
        "primitive",
        "rules",
        "run",
    )

    def __init__(self, primitive: Primitive, needs: list[bool], kernel: Kernel | None) -> None:
        self.primitive = primitive
        self.kernel = kernel
        self.fresh = kernel is not None
        self.extras: list[Callable[[list[Any], dict[str, Any]], Any]] = []
        self._needs = tuple(needs)
        self.names: list[str] = []
        positions: list[int] = []
        arguments = primitive.arguments or tuple(f"args{i}" for i in range(len(needs)))
        fixed = [*arguments, "ans", "saved"]

        def slot(name: str) -> int:
            if name not in self.names:
                self.names.append(name)
                if name in fixed:
                    positions.append(fixed.index(name))
                else:
                    positions.append(len(fixed) + len(self.extras))
                    self.extras.append(_extra(name, primitive, arguments))
            return self.names.index(name)

        self.rules: list[Rule | None] = [None] * len(needs)
        if primitive.composition is not None:
            for name in arguments:
                slot(name)
        else:
            for i, name in enumerate(arguments):
                if needs[i]:
                    self.rules[i] = self._bind_rule(name, i, slot, arguments)
        self._slots = [slot(name) for name in kernel.names] if kernel else []
        constants = [name for i, name in enumerate(arguments) if name in self.names and not needs[i]]
        self.constants = [self.names.index(name) for name in constants]
        self.pick = _picker(positions, [fixed.index(name) for name in constants])
        self.run = self._runner()

    def _runner(self) -> Callable[[Any, Any], Sequence[Any]] | None:
        """What gives the cotangents from ``(g, kept)``, in as few calls as can be; None where a composition does."""
        if self.kernel is not None:
            backward, needs, pick = self.kernel.backward, self._needs, _picker(self._slots)
            return lambda g, kept: backward(g, needs, *pick(kept))
        if self.primitive.composition is not None:
            return None
        rules: Any = self.rules
        if len(rules) == 1:
            (only,) = rules
            return lambda g, kept: (only(g, kept),)
        if len(rules) == 2 and all(rules):
            first, second = rules
            return lambda g, kept: (first(g, kept), second(g, kept))
        return lambda g, kept: [rule and rule(g, kept) for rule in rules]

    def _bind_rule(self, name: str, i: int, slot: Callable[[str], int], arguments: tuple[str, ...]) -> Rule:
        """A function of ``(g, kept)`` that calls the rule with what it asks for."""
        rule = self.primitive.rules.get(name) or self.primitive.rule_for_each
        if rule is None:
            raise UnsupportedError(
                f"{self.primitive.name} has no derivative with respect to '{name}', which requires a gradient: "
                "pass a plain array (t.numpy() or t.detach()) if none is needed"
            )
        names = parameters_of(rule).names[1:]
        if self.primitive.rule_for_each is not None:
            return _bind_variadic_rule(rule, names, i, slot, arguments)
        slots = [slot(n) for n in names]
        if not slots:
            return lambda g, kept: rule(g)
        if len(slots) == 1:
            (a,) = slots
            return lambda g, kept: rule(g, kept[a])
        if len(slots) == 2:
            a, b = slots
            return lambda g, kept: rule(g, kept[a], kept[b])
        return lambda g, kept: rule(g, *[kept[s] for s in slots])

    def pull(self, entry: Entry, g: Any) -> Sequence[Any]:
        """The cotangents of the inputs of ``entry``, None for those that need none, from the cotangent of its output."""
        if self.constants:
            check_constants(entry)
        if self.run is None:
            return self._pull_composition(entry, g, create_graph=False)
        return self.run(g, entry.kept)

    def pull_tensors(self, entry: Entry, g: Any) -> Sequence[Any]:
        """As ``pull``, for a cotangent that is a Tensor: the rules run on Tensors and are themselves recorded."""
        if self.constants:
            check_constants(entry)
        if self.primitive.composition is not None:
            return self._pull_composition(entry, g, create_graph=True)
        kept = self._rebuild(entry)
        return [rule and rule(g, kept) for rule in self.rules]

    def _rebuild(self, entry: Entry) -> list[Any]:
        """The kept values with their places on the tape. Arrays a kernel saved have none and are left out."""
        assert entry.kept is not None
        arguments = self.primitive.arguments or tuple(f"args{i}" for i in range(len(entry.parents)))
        values: list[Any] = []
        for name, value in zip(self.names, entry.kept):
            if name in arguments:
                node = entry.parents[arguments.index(name)]
                value = value if node is None else _make(value, node)
            elif name == "ans" and isinstance(value, (tuple, list)):
                value = [_make(array, Output(entry, i, array.shape, array.dtype)) for i, array in enumerate(value)]
            elif name == "ans":
                value = _make(value, entry)
            elif name == "saved":
                value = None
            values.append(value)
        return values

    def _pull_composition(self, entry: Entry, g: Any, create_graph: bool) -> list[Any]:
        """Differentiate the reference composition, from inputs that are the ends of a small tape of its own."""
        assert entry.kept is not None and self.primitive.composition is not None
        inputs: list[Any] = []
        for array, parent in zip(entry.kept, entry.parents):
            if parent is None:
                inputs.append(array)
            elif create_graph:
                inputs.append(registry[np.positive](_make(array, parent)))
            else:
                inputs.append(_make(array, Leaf(None, array.shape, array.dtype)))
        with enable_grad():
            ans = self.primitive.composition(*inputs, **entry.keywords)
        ends = [t._node if isinstance(t, Tensor) else None for t in inputs]
        wanted = [node for node in ends if node is not None]
        found = sweep({ans._node: g}, create_graph=create_graph, retain_graph=create_graph, wanted=wanted)
        return [None if node is None else found.get(node) for node in ends]


def record(ans: Any, plan: Plan, parents: list[Any], kept: Sequence[Any], keywords: Mapping[str, Any]) -> Tensor:
    """Put one operation on the tape: the answer as a Tensor that leads to its new entry."""
    entry = _new(Entry)
    entry.seq = next_sequence_number()
    entry.plan = plan
    entry.parents = parents
    entry.kept = kept
    entry.shape = ans.shape
    entry.dtype = ans.dtype
    entry.keywords = keywords
    entry.note = None
    entry.hooks = None
    result = _new(Tensor)
    result._array = ans
    result._node = entry
    result._grad = None
    result.name = None
    return result


def _picker(positions: list[int], constants: Sequence[int] = ()) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """What takes these positions from a scope, and adds the fingerprints of ``constants``, which are among them."""
    if len(positions) == len(constants) == 1:  # x * 2.0, x * array
        (only,) = positions

        def pick_constant(scope: Sequence[Any]) -> Sequence[Any]:
            value = scope[only]
            return (value, fingerprint(value)) if isinstance(value, _ndarray) else (value,)

        return pick_constant
    if constants:
        pick = _picker(positions)
        return lambda scope: (*pick(scope), *[fingerprint(scope[i]) for i in constants])
    if len(positions) > 1:
        return itemgetter(*positions)
    if positions:
        (only,) = positions
        return lambda scope: (scope[only],)
    return lambda scope: ()


def _extra(name: str, primitive: Primitive, arguments: tuple[str, ...]) -> Callable[[list[Any], dict[str, Any]], Any]:
    if name.endswith("_shape"):
        position = arguments.index(name.removesuffix("_shape"))
        return lambda scope, keywords: np.shape(scope[position])
    default = primitive.defaults.get(name)
    return lambda scope, keywords: keywords.get(name, default)


def _bind_variadic_rule(
    rule: Rule, names: Sequence[str], i: int, slot: Callable[[str], int], arguments: tuple[str, ...]
) -> Rule:
    """As ``Plan._bind_rule``, for a rule that may ask for ``i`` (which argument) and ``args`` (all of them)."""
    slots = {n: slot(n) for n in names if n not in ("i", "args")}
    all_slots = [slot(n) for n in arguments] if "args" in names else []

    def call(g: Any, kept: Sequence[Any]) -> Any:
        values = {"i": i, "args": [kept[s] for s in all_slots]} | {n: kept[s] for n, s in slots.items()}
        return rule(g, *[values[n] for n in names])

    return call
