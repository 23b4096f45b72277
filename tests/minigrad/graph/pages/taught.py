"""Programs with the data of their pages, in which every value has the name that the program gives it."""

from typing import Any

from minigrad import Tensor
from minigrad.graph.pages.explain import page_data
from minigrad.graph.record.capture import capture


def page_of(source: str) -> dict[str, Any]:
    """What the page knows of a program that defines `loss`."""
    variables: dict[str, Any] = {}
    exec(compile(source, "<taught>", "exec"), variables)
    names = {name: value for name, value in variables.items() if isinstance(value, Tensor)}
    variables["loss"].backward()
    return page_data(capture(variables["loss"], names))
