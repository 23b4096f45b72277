"""Who looks where: the attention weights of a model, every head with its tokens, as a picture and as a page."""

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
from ..draw.fonts import place_labels
from .embed import Page
from .html import check_language, save_page

VISIBLE = {"": "∅", " ": "␣", "\u3000": "␣", "\u00a0": "␣", "\n": "⏎", "\t": "⇥"}
MOST_ACROSS = 8  # heads in a row of the picture


@dataclass(frozen=True)
class Map:
    """Attention weights (query, key), and what stands at each place: the queries look at the keys."""

    title: str
    queries: Sequence[str]
    keys: Sequence[str]
    weights: Any


@dataclass(frozen=True)
class Layer:
    """The attention of one layer.

    Attributes:
        part: "encoder", "decoder", "cross", or whatever the model calls it; "" if the model has one stack of layers.
        number: of the layer in that part, from 1 on.
        queries, keys: the tokens that look, and those looked at.
        weights: (heads, query, key).
    """

    part: str
    number: int
    queries: list[str]
    keys: list[str]
    weights: np.ndarray[Any, Any]


@dataclass(frozen=True)
class AttentionMaps:
    """What :func:`attention_maps` found; ``layers`` are in the order in which the model has them."""

    layers: list[Layer]

    def __repr__(self) -> str:
        heads = sum(len(layer.weights) for layer in self.layers)
        return f"AttentionMaps({len(self.layers)} layers, {heads} heads)"

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return self.to_html(Path(folder) / "maps.html").iframe()

    def maps(self, across: int = MOST_ACROSS) -> list[list[Map]]:
        """Each head as a :class:`Map`, in rows: one for a layer, or several where it has more than ``across`` heads."""
        rows = []
        for layer in self.layers:
            name = f"{layer.part}, layer {layer.number}" if layer.part else f"layer {layer.number}"
            maps = [
                Map(f"{name}, head {head}", layer.queries, layer.keys, weights)
                for head, weights in enumerate(layer.weights, start=1)
            ]
            rows += [maps[i : i + across] for i in range(0, len(maps), across)]
        return rows

    def plot(self, path: str | os.PathLike[str], *, caption: str = "") -> Path:
        """Draw every head into a file: .svg, .png or .pdf.

        Raises:
            ArgumentError: another suffix.
            MissingExtraError: matplotlib is not installed.
        """
        return draw_maps(self.maps(), path, caption=caption)

    def to_html(self, path: str | os.PathLike[str], *, language: str = "en") -> Page:
        """Write a page in which layer and head can be chosen and each token asked where it looks. It needs no network.

        Args:
            language: of the page as it is first shown, "en" or "ja"; the reader can switch.

        Raises:
            ArgumentError: another language.
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
        return save_page(path, "maps", {"layers": layers}, language)


def attention_maps(
    model: Any,
    inputs: Any,
    tokens: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    example: int = 0,
) -> AttentionMaps:
    """Who looks where in ``model``: every head of every layer, with its tokens.

    Args:
        model: anything with ``attention_weights(*inputs)`` that gives for each layer an array or Tensor (batch, heads, query,
            key), or (batch, query, key) for a single head; or a dict of such lists by name, as encoder-decoders have. It
            is asked in evaluation mode, without recording.
        inputs: what the model takes: a tuple of several arguments, or the only one.
        tokens: what stands at each place, padding included; a text stands for its characters. By default the places have
            numbers.
        path: where to draw: .svg, .png or .pdf for a picture, .html for a page.
        key_tokens: what is looked at, where that is another sequence than the one that looks: the source of an
            encoder-decoder, whose target ``tokens`` are then. Of a dict "encoder" has these on both sides, "decoder" has
            ``tokens`` on both sides.
        example: which of the batch.

    Raises:
        ArgumentError: the model has no ``attention_weights``, or gives something else; ``example`` is not in the batch;
            there are more or fewer tokens than places; the suffix of ``path`` names no format.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> class Model:  # those of models/ have the method
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
            array = _one_example(weights, example, f"layer {number}" + (f" of {part!r}" if part else ""))
            looking = keys if part == "encoder" else queries
            looked_at = queries if part == "decoder" else keys
            if looked_at is None and not (part == "cross" or part == "encoder"):
                looked_at = queries
            sides = zip(("queries", "keys"), (looking, looked_at), array.shape[1:])
            labels = [_fitting(given, count, side, part, number) for side, given, count in sides]
            found.append(Layer(part, number, labels[0], labels[1], array))
    maps = AttentionMaps(found)
    if path is not None:
        maps.to_html(path) if Path(path).suffix.lower() == ".html" else maps.plot(path)
    return maps


def _weights(model: Any, inputs: Any) -> Mapping[str, Sequence[Any]]:
    """The layers by the name of their part, "" if there is only one."""
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
    """The model in evaluation mode, if it has modes; afterwards each module is in the mode it was in."""
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
    """(batch, heads, query, key) or (batch, query, key) -> (heads, query, key), on the host."""
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
        raise ArgumentError(f"{name} must be texts, one for each place of one sequence, got {type(wrong).__name__}")
    return texts


def _fitting(given: list[str] | None, count: int, side: str, part: str, number: int) -> list[str]:
    """The texts for the places of one side; numbers if there are none."""
    if given is None:
        return [str(i) for i in range(count)]
    if len(given) != count:
        where = f"layer {number} of {part!r}" if part else f"layer {number}"
        raise ShapeError(
            f"{len(given)} tokens were given for the {side} of {where}, which has {count}: give one for each place, padding "
            "and special tokens included; where one sequence looks at another, tokens are of the one that looks and "
            "key_tokens of the other"
        )
    return given


def visible(token: str) -> str:
    """A token that can be seen: a space as "␣"."""
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
    dpi: int = 120,
) -> Path:
    """Draw attention weights into a file, .svg, .png or .pdf: one panel for each map, all on one scale of colours.

    Args:
        looks_from, looks_at: what the queries and the keys do.
        caption: above the picture; ``captions`` above each row.
        cell: the side of one weight in inches; by default as large as the labels need, and smaller for long sequences.

    Raises:
        ArgumentError: another suffix, or there is no map.
        MissingExtraError: matplotlib is not installed.
    """
    check_suffix(path)
    caption = plain_label(caption, 200)
    if not any(rows):
        raise ArgumentError("draw_maps got no map to draw")
    every = [each for row in rows for each in row]
    longest = max(max(np.shape(each.weights)) for each in every)
    side = cell or min(0.18, 3.6 / longest)
    above = [*captions, *[""] * len(rows)]
    plan = [_PanelRow(row, side, text) for row, text in zip(rows, above) if row]
    left, top = 0.35, 0.35 if caption else 0.1
    width = left + max(row.width for row in plan) + 0.9
    width = max(width, text_width(caption, 11) + 0.4)
    height = top + sum(row.height for row in plan) + 0.1
    largest = max([float(np.nanmax(each.weights)) for each in every if np.isfinite(each.weights).any()], default=1.0)
    with figure(width, height) as fig:
        y = height - top
        for row in plan:
            image = row.draw(fig, left, y, largest or 1.0, looks_from, looks_at)
            y -= row.height
        tall = min(height - top - 0.7, 2.5)
        bar = fig.add_axes((1 - 0.75 / width, (height - top - 0.35 - tall) / height, 0.12 / width, tall / height))
        fig.colorbar(image, cax=bar).set_label("attention weight", fontsize=8)
        bar.tick_params(labelsize=7)
        if caption:
            fig.text(0.15 / width, 1 - 0.1 / height, caption, fontsize=11, va="top")
        return save(fig, path, dpi)


def _labels(tokens: Sequence[str]) -> list[str]:
    return list(map(plain_label, place_labels(list(map(visible, tokens)))))


class _PanelRow:
    """Panels beside each other. All sizes in inches; a panel has labels on the left if its neighbour there has others."""

    FONT = 8.0  # points

    def __init__(self, maps: Sequence[Map], cell: float, caption: str) -> None:
        self.maps, self.cell, self.caption = maps, cell, plain_label(caption, 200)
        self.titles = [plain_label(m.title, 60) for m in maps]
        self.top = 0.6 if caption else 0.3  # the room above the panels
        self.font = min(self.FONT, max(5.0, cell / POINT / 1.15))
        self.labels = [(_labels(m.queries), _labels(m.keys)) for m in maps]
        self.upright = max(text_width(key, self.font) for _, keys in self.labels for key in keys) <= cell
        below = self.font * 1.2 * POINT if self.upright else max(self._widest(keys) for _, keys in self.labels)
        self.rooms = [
            0.15 if i and self.labels[i - 1][0] == queries else self._widest(queries) + 0.2
            for i, (queries, _) in enumerate(self.labels)
        ]
        widths = [max(cell * len(m.keys), text_width(title, 8)) for m, title in zip(maps, self.titles)]
        self.starts = [sum(widths[:i]) + sum(self.rooms[: i + 1]) for i in range(len(maps))]
        self.width = max(self.starts[-1] + widths[-1], text_width(self.caption, 10))
        self.height = self.top + cell * max(len(m.queries) for m in maps) + below + 0.4

    def _widest(self, texts: list[str]) -> float:
        return max(text_width(text, self.font) for text in texts) + 0.05

    def draw(self, fig: Any, left: float, top: float, largest: float, looks_from: str, looks_at: str) -> Any:
        width, height = fig.get_size_inches()
        fig.text(left / width, (top - 0.1) / height, self.caption, fontsize=10, va="top")
        step = max(1, round(self.font * 1.1 * POINT / self.cell + 0.3))  # of so many labels one, where they are tight
        for i, (each, title, (queries, keys)) in enumerate(zip(self.maps, self.titles, self.labels)):
            wide, tall = self.cell * len(keys), self.cell * len(queries)
            x, y = left + self.starts[i], top - self.top - tall
            ax = fig.add_axes((x / width, y / height, wide / width, tall / height))
            ax.set_facecolor("#d8d8d8")  # what is NaN
            image = ax.imshow(each.weights, cmap="Blues", vmin=0, vmax=largest, aspect="auto", interpolation="nearest")
            ax.set_title(title, fontsize=8, pad=3, loc="left")
            turn = {} if self.upright else {"rotation": 90}
            ax.set_xticks(range(0, len(keys), step), keys[::step], fontsize=self.font, **turn)
            shown = queries[::step] if self.rooms[i] > 0.15 else []
            ax.set_yticks(range(0, len(queries), step)[: len(shown)], shown, fontsize=self.font)
            ax.tick_params(length=0, pad=2)
            ax.set_xlabel(looks_at, fontsize=7, labelpad=1, color="#555555")
            if i == 0:
                ax.set_ylabel(looks_from, fontsize=7, labelpad=2, color="#555555")
        return image
