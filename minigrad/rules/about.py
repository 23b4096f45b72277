"""What is known of an operation beside its derivatives. It stands below the rule, and every view reads it from there.

    log = primitive(np.log).vjp(x=lambda g, x: g / x)
    about(log, undefined=[Cause(lambda x: x == 0, "the logarithm of 0 is -inf")])

The engine does not read this, and every part may be left out: the views then say what the text of the rule says.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..engine.primitive import Primitive


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

    Attributes:
        undefined: the causes of a result that is NaN or infinite, although the operands are finite.
        steep: the causes of a derivative that is NaN or infinite, although the incoming gradient is finite.
        only_overflows: whether a result of finite operands is NaN or infinite only because it is too large.
        multiplies: the arguments whose rows and columns a matrix product multiplies.
    """

    undefined: Sequence[Cause] = ()
    steep: Sequence[Cause] = ()
    only_overflows: bool = False
    multiplies: tuple[str, str] | None = None


_NOTHING = About()
_known: weakref.WeakKeyDictionary[Primitive, About] = weakref.WeakKeyDictionary()


def about(*primitives: Primitive, **facts: Any) -> None:
    """Declare facts of one operation, or of several that share them: the attributes of :class:`About`."""
    for primitive in primitives:
        _known[primitive] = known(primitive)._replace(**facts)


def known(primitive: Any) -> About:
    """Return what is known of a primitive: nothing for one without :func:`about`, and for a Function class."""
    return _known.get(primitive, _NOTHING) if isinstance(primitive, Primitive) else _NOTHING
