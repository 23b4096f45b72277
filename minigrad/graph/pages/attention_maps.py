"""``attention_maps`` shows the attention weights of a model as a picture or a page, with the tokens of each head."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...device import to_host
from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ..draw.figures import POINT, check_suffix, figure, plain_label, save, text_width
from .html import Page, check_language, save_page

VISIBLE = {"": "∅", " ": "␣", "\u3000": "␣", "\u00a0": "␣", "\n": "⏎", "\t": "⇥"}
MOST_ACROSS = 8  # heads in a row of the picture
SCRIPTS = ["arrays", "nd", "heat", "node", "ribbons"]  # of the page, which shows arrays as the stepper does


@dataclass(frozen=True)
class Map:
    """Attention weights (query, key) with the tokens of both axes. The queries look at the keys."""

    title: str
    queries: Sequence[str]
    keys: Sequence[str]
    weights: Any


@dataclass(frozen=True)
class Layer:
    """The attention of one layer.

    Attributes:
        part: "encoder", "decoder", "cross", or the model's other name for it; "" if the model has one stack of layers.
        number: the number of the layer in that part, counted from 1.
        queries, keys: the tokens of the queries and of the keys.
        weights: the attention weights, of shape (heads, query, key).
    """

    part: str
    number: int
    queries: list[str]
    keys: list[str]
    weights: np.ndarray[Any, Any]


@dataclass(frozen=True)
class AttentionMaps:
    """The result of :func:`attention_maps`. ``layers`` are in the order of the model."""

    layers: list[Layer]

    def __repr__(self) -> str:
        heads = sum(len(layer.weights) for layer in self.layers)
        return f"AttentionMaps({len(self.layers)} layers, {heads} heads)"

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return self.to_html(Path(folder) / "maps.html").iframe()

    def maps(self) -> list[list[Map]]:
        """Return each head as a :class:`Map`, in rows of at most ``MOST_ACROSS`` heads. Each layer begins a new row."""
        rows = []
        for layer in self.layers:
            name = f"{layer.part}, layer {layer.number}" if layer.part else f"layer {layer.number}"
            heads = enumerate(layer.weights, start=1)
            maps = [Map(f"{name}, head {head}", layer.queries, layer.keys, weights) for head, weights in heads]
            rows += [maps[i : i + MOST_ACROSS] for i in range(0, len(maps), MOST_ACROSS)]
        return rows

    def plot(self, path: str | os.PathLike[str], *, caption: str = "") -> Path:
        """Draw every head into a .svg, .png or .pdf file.

        Raises:
            ArgumentError: the suffix is not one of these.
            MissingExtraError: matplotlib is not installed.
        """
        return draw_maps(self.maps(), path, caption=caption)

    def to_html(self, path: str | os.PathLike[str], *, language: str = "en") -> Page:
        """Write a page where the reader chooses a layer, a head and a token. It needs no network.

        Args:
            language: the first language of the page, "en" or "ja". The reader can switch.

        Raises:
            ArgumentError: ``language`` is another one.
        """
        check_language(language)
        layers = [
            {
                "part": layer.part,
                "number": layer.number,
                "queries": list(map(visible, layer.queries)),
                "keys": list(map(visible, layer.keys)),
                "heads": len(layer.weights),
                "weights": base64.b64encode(layer.weights.astype("<f4").tobytes()).decode(),
            }
            for layer in self.layers
        ]
        return save_page(path, "maps", {"layers": layers}, language, scripts=SCRIPTS, more=["play"])


def attention_maps(
    model: Any,
    inputs: Any,
    tokens: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    example: int = 0,
) -> AttentionMaps:
    """Return the attention weights of every head of every layer of ``model``, with the tokens.

    Args:
        model: an object with a method ``attention_weights(*inputs)``. For each layer it returns an array or Tensor (batch,
            heads, query, key), or (batch, query, key) for a single head. An encoder-decoder returns a dict of such lists by
            name. The method is called in evaluation mode, without recording.
        inputs: the argument of the model, or a tuple of several arguments.
        tokens: the text at each position, padding included (a string is split into characters), or None for numbers.
        path: the file to draw: .svg, .png or .pdf for a picture, .html for a page.
        key_tokens: the tokens of the keys, if keys and queries come from different sequences. In an encoder-decoder they are
            the source, and ``tokens`` are the target. If the model returns a dict, "encoder" has ``key_tokens`` on both sides
            and "decoder" has ``tokens`` on both sides.
        example: the index in the batch.

    Raises:
        ArgumentError: the model has no ``attention_weights`` or it returns another type, ``example`` is not in the batch,
            the number of tokens is not the number of positions, or the suffix of ``path`` names no format.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> class Model:  # the classes of `models` already have this method
        ...     def attention_weights(self, ids):
        ...         return [np.full((1, 2, 3, 3), 1 / 3)]  # one layer: (batch, heads, query, key)
        >>> maps = mg.attention_maps(Model(), np.array([[4, 7, 1]]), tokens="cat")  # path="maps.html" draws them
        >>> maps, maps.layers[0].keys
        (AttentionMaps(1 layers, 2 heads), ['c', 'a', 't'])
    """
    if path is not None and Path(path).suffix.lower() != ".html":
        check_suffix(path)
    names = {"tokens": tokens, "key_tokens": key_tokens}
    queries, keys = (None if given is None else _texts(name, given) for name, given in names.items())
    found = []
    for part, layers in _weights(model, inputs).items():
        for number, weights in enumerate(layers, start=1):
            where = f"layer {number} of {part!r}" if part else f"layer {number}"
            array = _one_example(weights, example, where)
            looking = keys if part == "encoder" else queries
            looked_at = queries if part == "decoder" else keys
            if looked_at is None and part not in ("cross", "encoder"):
                looked_at = queries
            count, count_at = array.shape[1:]
            labels = _fitting(looking, count, f"queries of {where}"), _fitting(looked_at, count_at, f"keys of {where}")
            found.append(Layer(part, number, *labels, array))
    maps = AttentionMaps(found)
    if path is not None:
        maps.to_html(path) if Path(path).suffix.lower() == ".html" else maps.plot(path)
    return maps


def _weights(model: Any, inputs: Any) -> Mapping[str, Sequence[Any]]:
    """Return the layers by the name of their part, "" if there is only one part."""
    if not callable(getattr(model, "attention_weights", None)):
        raise ArgumentError(
            f"attention_maps needs a model with a method attention_weights(*inputs), which {type(model).__name__} lacks"
        )
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    with _evaluating(model), no_grad():
        found = model.attention_weights(*arguments)
    parts = found if isinstance(found, Mapping) else {"": found}
    parts = {str(name): [layers] if hasattr(layers, "shape") else layers for name, layers in parts.items()}
    if not all(isinstance(layers, (list, tuple)) for layers in parts.values()) or not any(parts.values()):
        raise ArgumentError(
            f"{type(model).__name__}.attention_weights must give a list with an array for each layer, or a dict of such "
            f"lists, got {type(found).__name__}" + ("" if any(parts.values()) else " without any layer")
        )
    return parts


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Set the model to evaluation mode if it has modes. Afterwards restore the mode of each module."""
    has_modes = hasattr(model, "modules") and hasattr(model, "eval")
    before = [(module, module.training) for module in model.modules()] if has_modes else []
    if has_modes:
        model.eval()
    try:
        yield
    finally:
        for module, mode in before:
            module.training = mode


def _one_example(weights: Any, example: int, where: str) -> np.ndarray[Any, Any]:
    """Return the weights (heads, query, key) of one example, on the host."""
    array = to_host(weights.data if isinstance(weights, Tensor) else weights)
    shape = np.shape(array)
    if len(shape) not in (3, 4) or not all(shape[1:]):
        raise ShapeError(
            f"attention_weights must give (batch, heads, query, key) for each layer, got {shape} for {where}"
        )
    if not 0 <= example < shape[0]:
        raise ArgumentError(f"example must be one of the batch, 0 to {shape[0] - 1}, got {example}")
    one = np.asarray(array[example])
    return one if one.ndim == 3 else one[None]


def _texts(name: str, given: Any) -> list[str]:
    texts = list(given)
    if not all(isinstance(text, str) for text in texts):
        wrong = next(text for text in texts if not isinstance(text, str))
        raise ArgumentError(f"{name} must be texts, one for each position of one sequence, got {type(wrong).__name__}")
    return texts


def _fitting(given: list[str] | None, count: int, where: str) -> list[str]:
    """Return the tokens of one axis; numbers if none were given."""
    if given is None:
        return [str(i) for i in range(count)]
    if len(given) != count:
        raise ShapeError(
            f"{len(given)} tokens were given for the {where}, which has {count}: give one for each position, "
            "padding and special tokens included; if one sequence looks at another, tokens belong to the one that looks "
            "and key_tokens to the other"
        )
    return given


def visible(token: str) -> str:
    """Return a visible form of a token: "␣" for a space."""
    return VISIBLE.get(token, token.replace("\n", "⏎").replace("\t", "⇥"))


# The picture


def draw_maps(
    rows: Sequence[Sequence[Map]],
    path: str | os.PathLike[str],
    *,
    looks_from: str = "looks",
    looks_at: str = "is looked at",
    caption: str = "",
    captions: Sequence[str] = (),
    cell: float | None = None,
) -> Path:
    """Draw attention weights into a .svg, .png or .pdf file: one panel for each map, all on the same colour scale.

    Args:
        looks_from, looks_at: the labels of the queries' and the keys' axes.
        caption: a text above the picture. ``captions`` are texts above each row.
        cell: the side of one weight in inches. By default it fits the labels, and is smaller for long sequences.

    Raises:
        ArgumentError: the suffix is not one of these, or there is no map.
        MissingExtraError: matplotlib is not installed.
    """
    check_suffix(path)
    if not any(rows):
        raise ArgumentError("draw_maps got no map to draw")
    every = [each for row in rows for each in row]
    largest = max([float(np.nanmax(each.weights)) for each in every if np.isfinite(each.weights).any()], default=0.0)
    side = cell or min(0.18, 3.6 / max(max(np.shape(each.weights)) for each in every))
    # One inch, so that its coordinates are inches. The picture is cut out around all that is drawn.
    with figure(1, 1) as fig:
        y = right = 0.0
        for row, text in zip(rows, [*captions, *[""] * len(rows)]):
            if row:
                fig.text(0, y - 0.1, plain_label(text, 125), fontsize=10, va="top")
                end, y, image = _draw_row(
                    fig, row, y - (0.6 if text else 0.3), side, largest or 1.0, (looks_from, looks_at)
                )
                right = max(right, end)
        tall = min(-y - 0.4, 2.5)
        bar = fig.add_axes((right + 0.15, -0.3 - tall, 0.12, tall))
        fig.colorbar(image, cax=bar).set_label("attention weight", fontsize=8)
        bar.tick_params(labelsize=7)
        fig.text(-0.2, 0.3, plain_label(caption, 125), fontsize=11, va="top")
        return save(fig, path, tight=True)


def _draw_row(
    fig: Any, row: Sequence[Map], top: float, side: float, largest: float, looks: tuple[str, str]
) -> tuple[float, float, Any]:
    """Draw panels side by side, below ``top``. A panel has labels on its left if they differ from those of its neighbour.

    Args:
        side: of a weight, in inches as all sizes.
        looks: what the queries' and the keys' axes say.

    Returns:
        the right end and the lower end of the row, and the image of the last panel.
    """
    font = min(8.0, max(5.0, side / POINT / 1.15))
    step = max(1, round(font * 1.1 * POINT / side + 0.3))  # every step-th label is drawn
    labels = [[[plain_label(visible(token)) for token in texts] for texts in (m.queries, m.keys)] for m in row]
    widest = [[max(text_width(text, font) for text in texts) + 0.05 for texts in both] for both in labels]
    upright = max(wide for _, wide in widest) - 0.05 <= side
    x, before = 0.0, None
    for each, (queries, keys), (room, _) in zip(row, labels, widest):
        x += 0.15 if queries == before else room + 0.2
        wide, tall = side * len(keys), side * len(queries)
        ax = fig.add_axes((x, top - tall, wide, tall))
        ax.set_facecolor("#d8d8d8")  # the colour of NaN
        image = ax.imshow(each.weights, cmap="Blues", vmin=0, vmax=largest, aspect="auto", interpolation="nearest")
        title = plain_label(each.title, 38)
        ax.set_title(title, fontsize=8, pad=3, loc="left")
        ax.set_xticks(range(0, len(keys), step), keys[::step], fontsize=font, rotation=0 if upright else 90)
        shown = [] if queries == before else queries[::step]
        ax.set_yticks(range(0, len(queries), step)[: len(shown)], shown, fontsize=font)
        ax.tick_params(length=0, pad=2)
        ax.set_xlabel(looks[1], fontsize=7, labelpad=1, color="#555555")
        if before is None:
            ax.set_ylabel(looks[0], fontsize=7, labelpad=2, color="#555555")
        x, before = x + max(wide, text_width(title, 8)), queries
    below = font * 1.2 * POINT if upright else max(wide for _, wide in widest)
    return x, top - side * max(len(m.queries) for m in row) - below - 0.4, image
