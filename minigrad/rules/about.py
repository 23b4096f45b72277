"""What is known of an operation beside its derivatives. It stands below the rule, and every view reads it from there.

    log = primitive(np.log).vjp(x=lambda g, x: g / x)
    about(log, undefined=[Cause(lambda x: x == 0, "the logarithm of 0 is -inf")])

The engine does not read this, and every part may be left out: the views then say what the text of the rule says.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ..engine.primitive import Primitive
from ..engine.registry import is_elementwise
from ..errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])


class Cause(NamedTuple):
    """One common cause of a NaN or an infinity.

    Attributes:
        test: a function that returns whether the cause applies. Its parameters name the values it reads, all numbers:
            arguments, ``ans`` (the result), ``g`` (the incoming gradient) or ``by`` (the name of the argument with respect to
            which the derivative is).
        words: the end of a sentence of an error message.
        key: the key of the sentence of the stepper page, in ``causes_words.json``; the page repeats ``words`` without one.
        operand: the name of the operand that the cause is about.
    """

    test: Callable[..., bool]
    words: str
    key: str = "told"
    operand: str = "x"


class About(NamedTuple):
    """What is known of one operation.

    The keys of the mappings are names of arguments, or ``"*"`` for an operation of any number of arguments.

    Attributes:
        undefined: the causes of a result that is NaN or infinite, although the operands are finite.
        steep: the causes of a derivative that is NaN or infinite, although the incoming gradient is finite.
        only_overflows: whether a result of finite operands is NaN or infinite only because it is too large.
        multiplies: the arguments whose rows and columns a matrix product multiplies.
        linear: whether the result is linear in all arrays together, so that it maps their tangents as it maps them.
        product: whether the result is linear in each array alone.
        view: whether it computes no new numbers: it reshapes, reorders, repeats or passes on its operand.
        elementwise: whether each element of the result depends on one element of each operand. Ufuncs need not say so.
        notation: the operation itself in mathematics, in the language of formulas; without it, pages write a call.
        word: the name of a result in a written program, if the user's program has none.
        flat: a function of the result that returns where an activation is flat: its derivative is nearly 0.
        bounds: the least and the largest number that the result can be.
        dies: whether the derivative is 0 where the result is 0, so that a unit may be dead.
        called: what formulas call the function, if not by its name.
        formulas: the derivatives as readable texts, where the text of the rule does not say it best. Here ``y`` is the
            result (``out``, if an argument is called y), and words follow the first comma outside of parentheses.
        for_shapes: functions that return a better formula for some shapes or keywords, and None for the others. They read
            values by the names that the parameters of a rule may have.
        written: the derivatives as functions that pages can run, where they cannot run the text of the rule: it loops, calls a
            library, or is a composition. A test compares each with its rule.
        rules: the rules of these arguments. Another rule that replaces one of them has another formula.
    """

    undefined: Sequence[Cause] = ()
    steep: Sequence[Cause] = ()
    only_overflows: bool = False
    multiplies: tuple[str, str] | None = None
    linear: bool = False
    product: bool = False
    view: bool = False
    elementwise: bool = False
    notation: str = ""
    word: str = ""
    flat: Callable[[Any], Any] | None = None
    bounds: tuple[float, float] | None = None
    dies: bool = False
    called: str = ""
    formulas: Mapping[str, str] = {}
    for_shapes: Mapping[str, Callable[..., str | None]] = {}
    written: Mapping[str, Callable[..., Any]] = {}
    rules: Mapping[str, Any] = {}


class Derivative(NamedTuple):
    """What is known of the derivative with respect to one argument: the rule, and its part of :class:`About`."""

    rule: Any
    formula: str | None = None
    for_shapes: Callable[..., str | None] | None = None
    written: Callable[..., Any] | None = None


_NOTHING = About()
_known: weakref.WeakKeyDictionary[Primitive, About] = weakref.WeakKeyDictionary()
_readings: weakref.WeakKeyDictionary[Callable[..., Any], str] = weakref.WeakKeyDictionary()


def about(*primitives: Primitive, **facts: Any) -> None:
    """Declare facts of one operation, or of several that share them: the attributes of :class:`About`.

    Raises:
        ArgumentError: a formula is for an argument that an operation does not have.
    """
    described = {name for fact in ("formulas", "for_shapes", "written") for name in facts.get(fact, ())}
    for primitive in primitives:
        if unknown := described.difference(primitive.arguments or ("*",)):
            raise ArgumentError(f"{primitive.name} has no array argument {unknown}; it has {primitive.arguments}")
        before = known(primitive)
        rules = {**before.rules, **{name: rule_of(primitive, name) for name in described}}
        _known[primitive] = before._replace(rules=rules, **facts)


def known(primitive: Any) -> About:
    """Return what is known of a primitive: nothing for one without :func:`about`, and for a Function class."""
    return _known.get(primitive, _NOTHING) if isinstance(primitive, Primitive) else _NOTHING


def rule_of(primitive: Primitive, argument: str) -> Any:
    """Return the function that computes a derivative: a rule, or a composition; None if there is none."""
    return primitive.rules.get(argument) or primitive.rule_for_each or primitive.composition


def derivative(primitive: Any, argument: str) -> Derivative:
    """Return what is known of one derivative: only the rule, if it has replaced the one that was described.

    ``argument`` is its name, or its position if the number of arguments varies.
    """
    facts, name = known(primitive), argument if getattr(primitive, "arguments", ()) else "*"
    rule = rule_of(primitive, name)
    if name not in facts.rules or facts.rules[name] is not rule:
        return Derivative(rule)
    return Derivative(rule, facts.formulas.get(name), facts.for_shapes.get(name), facts.written.get(name))


def depends_elementwise(primitive: Any) -> bool:
    """Return whether each element of the result depends on one element of each operand."""
    return is_elementwise(primitive) or known(primitive).elementwise


def reads(text: str) -> Callable[[F], F]:
    """Say how a formula shows a call of a helper of rules: as an expression of the helper's parameters.

    ``@reads("x / length")`` turns ``g * ratio(x, ans)`` into ``g * (x / y)``.
    """

    def declared(helper: F) -> F:
        _readings[helper] = text
        return helper

    return declared


def reading_of(helper: Any) -> str | None:
    """Return how a formula shows a call of a helper; None if with the helper's name."""
    try:
        return _readings.get(helper)
    except TypeError:  # what has no weak references is none of our helpers
        return None
