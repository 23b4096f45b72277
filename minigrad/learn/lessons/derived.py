"""Cases whose expected values are those of their own forward program, as minigrad computes and differentiates it."""

from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.engine.tensor import Tensor
from minigrad.learn.tasks import Case


def derived(program: str, inputs: dict[str, Any], names: tuple[str, ...], forward: str, **more: Any) -> Case:
    """Return the case that asks for these values and gradients of a forward program; without ``names``, for one gradient.

    The end of the program gets the gradient "g", if there is one among what it is given, else ones.
    """
    case = Case(program, inputs, None, names, forward=forward, **more)
    values = {name: value for name, value in case.given().items() if name not in ("g", *case.fixed)}
    floats = {name: value for name, value in values.items() if np.asarray(value).dtype.kind == "f"}
    tensors = {name: Tensor(value, requires_grad=True) for name, value in floats.items()}
    variables = {"np": np, **case.given(), **tensors}
    exec(forward, variables)
    end = variables[case.end]
    end.backward(case.given().get("g", np.ones(end.shape)), retain_graph=True)

    def part(name: str) -> Any:
        place = case.place(name)
        if place is None:
            return variables[name].data
        leaf = place.removeprefix("gradient of ")
        return np.ones(end.shape) if leaf == case.end else variables[leaf].grad.data

    return replace(case, expected=tuple(map(part, names)) if names else part(""))
