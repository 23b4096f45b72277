"""How long the written programs are, beside programs whose gradients were derived by hand.

``python -m tests.minigrad.codegen.test_length`` prints the table.
"""

import ast
import inspect
import textwrap

import pytest

import minigrad as mg

from .by_hand import BY_HAND

# The most statements of each program, as a multiple of those by hand, and why it is above 1.2. No bound is ever raised.
AT_MOST = {
    "neuron": 1.0,
    "mlp": 1.1,
    "convolution": 1.12,
    "vae": 1.16,
    "lstm cell": 1.24,  # `1 + exp` has a line in each gate, because the backward pass reads it
    "layer norm": 1.25,  # by hand, one formula for the whole normalisation takes the place of the rules of its parts
    "attention": 1.37,  # by hand, softmax is one formula, and its maximum is known to have no gradient
    "rnn": 1.42,  # the first and the last turn of the backward loop have nothing to add to, or an initial state of zeros
    "pinn": 1.59,  # by hand, -2 h (1 - h^2) is differentiated as one polynomial
    "softmax regression": 1.88,  # by hand, softmax and cross entropy together have the gradient p - t
}


def statements(function: str) -> int:
    """Count the statements of a function, without its ``def`` and its check of the arguments."""
    (whole,) = ast.parse(textwrap.dedent(function)).body
    inside = [node for node in ast.walk(whole) if isinstance(node, ast.stmt) and node is not whole]
    return sum(not ast.unparse(node).startswith(("check_arguments(", "'")) for node in inside)


def lengths(name: str) -> tuple[int, int]:
    """Return the statements of the written program, and those by hand."""
    program = BY_HAND[name]
    arguments = program.examples(0)
    learned = len(program.step(*arguments)) - 1
    written = mg.write_numpy(program.forward, *arguments, argnum=tuple(range(learned)))
    return statements(str(written)), statements(inspect.getsource(program.step))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BY_HAND)
def test_a_written_program_is_about_as_long_as_one_by_hand(name: str) -> None:
    written, by_hand = lengths(name)
    assert written / by_hand <= AT_MOST[name]


def table() -> str:
    rows = [(name, *lengths(name)) for name in AT_MOST]
    return "\n".join(f"{name:20}{a:4}{b:4}{a / b:6.2f}" for name, a, b in rows)


if __name__ == "__main__":
    print(table())
