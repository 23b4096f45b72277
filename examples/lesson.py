"""A lesson of ten nodes: one weight and one bias, used twice, and the backward pass through them step by step.

    python examples/lesson.py

A network with memory takes two steps, with the same w and b in both:

    h = tanh(w * x + b)
    y = tanh(w * h + b)
    loss = y * y

So w, b and y each receive two contributions, which add up. The program prints the graph as text, checks the derivative of
every operation against a finite difference, and writes

    out/graph.svg       the graph, with the value and the gradient of each node (by Graphviz; without it, its text in graph.dot)
    out/explain.html    the same to step through: open it in a browser, no network needed

The command line shows the same function: `minigrad explain examples/lesson.py:lesson --open`.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare()

import minigrad as mg
from common import argument_parser, make_folder, run


def lesson() -> tuple[mg.Tensor, dict[str, mg.Tensor]]:
    """The loss, and the two parameters by name."""
    x = mg.Tensor(0.8, requires_grad=True, name="x")
    w = mg.Tensor(1.5, requires_grad=True, name="w")
    b = mg.Tensor(-0.5, requires_grad=True, name="b")
    h = (w * x + b).tanh()
    h.name = "h"
    y = (w * h + b).tanh()
    y.name = "y"
    loss = y * y
    loss.name = "loss"
    return loss, {"w": w, "b": b, "h": h, "y": y}


def main() -> None:
    parser = argument_parser(__doc__, quick="no picture and no page", device=False)
    options = parser.parse_args()

    with mg.trace():
        loss, params = lesson()
        loss.backward()

    graph = mg.draw_dot(loss, params, tensors=True)
    print(graph.to_text())
    for name in ("w", "b"):
        print(f"d loss / d {name} = {params[name].grad:.6f}")

    checked = mg.check_edges(loss, params, seed=options.seed)
    errors = [edge.error for edge in checked.edges]
    print(f"{len(errors)} local derivatives against finite differences: {len(mg.wrong_edges(checked))} wrong")

    if not options.quick:
        folder = make_folder(options.out)
        print(graph.render(folder / "graph.svg"))
        print(mg.explain(loss, folder / "explain.html", params))


if __name__ == "__main__":
    run(main)
