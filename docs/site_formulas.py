"""Formulas as MathML, which browsers draw themselves: the site fetches no script from anywhere."""

from __future__ import annotations

from typing import Any


def setup(app: Any) -> None:
    from sphinx.application import Sphinx

    assert isinstance(app, Sphinx)
    app.add_html_math_renderer("minigrad_mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "minigrad_mathml"


def mathml(formula: str, *, block: bool) -> str:
    """The formula in the tongue of browsers; what cannot be translated raises, which stops the build."""
    from docutils.utils.math.latex2mathml import tex2mathml

    text: str = tex2mathml(formula, as_block=block)
    return text


def _inline(visitor: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    visitor.body.append(mathml(node.astext(), block=False))
    raise SkipNode


def _block(visitor: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    visitor.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise SkipNode
