"""The base class of the models' configs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from types import UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from minigrad import ArgumentError
from minigrad.internal import setting
from nn._checks import check_integer, check_interval, check_kind, check_positive, check_probability
from nn.feed_forward import activation_of


@dataclass(frozen=True)
class Config:
    """The sizes of a model, which can be converted to a dictionary (for JSON) and back.

    Attributes:
        notes: JSON values that a program needs beside the network, such as its vocabulary. The network does not use them, and
            every file that holds the config holds them.

    Example:
        >>> from dataclasses import dataclass
        >>> import models
        >>> @dataclass(frozen=True)
        ... class NetworkConfig(models.Config):
        ...     width: int = 8
        >>> NetworkConfig.from_dict({"width": 4, "notes": {"classes": ["cat", "dog"]}}).notes["classes"][0]
        'cat'
    """

    notes: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)

    def __new__(cls, *values: Any, **settings: Any) -> Self:
        cls._check_names(settings)  # before __init__, which would only name the first unknown one
        return super().__new__(cls)

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        """Raise an ArgumentError unless every name is that of a setting."""
        known = [field.name for field in fields(cls) if field.init]
        if unknown := [name for name in names if name not in known]:
            meant = "".join(f"; write {ours} in place of {name}" for name in unknown if (ours := setting(name, known)))
            raise ArgumentError(
                f"{cls.__name__} has no {', '.join(map(repr, unknown))}{meant}; it has {', '.join(known)}"
            )

    def __post_init__(self) -> None:
        check_kind("a dictionary", dict, notes=self.notes)

    def to_dict(self) -> dict[str, Any]:
        values = asdict(self)
        return values if self.notes else {name: value for name, value in values.items() if name != "notes"}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make a config from the dictionary that :meth:`to_dict` returns, also after it was written as JSON.

        JSON has no tuples and no configs: a list becomes a tuple, and a dict a config, where the field's annotation says so.

        Raises:
            ArgumentError: a name is unknown or missing, or a value is out of its range.
        """
        check_kind("a dictionary", values=values)
        cls._check_names(values)
        try:
            hints = get_type_hints(cls)
        except NameError:  # an annotation names a class inside of a function
            hints = {}
        values = {name: _as_annotated(value, hints.get(name)) for name, value in values.items()}
        try:
            return cls(**values)
        except TypeError as error:  # a name without a default is missing
            raise ArgumentError(f"{cls.__name__}.from_dict: {error}") from error


def _as_annotated(value: Any, hint: Any) -> Any:
    """Return a value of JSON as an annotation says: a list as a tuple, a dict as a config, also inside of others."""
    inner = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        candidates = [_as_annotated(value, one) for one in inner]
        return next((one for one in candidates if type(one) is not type(value)), value)
    if isinstance(value, dict) and isinstance(hint, type) and issubclass(hint, Config):
        return hint.from_dict(value)
    if isinstance(value, dict) and get_origin(hint) is dict:
        return {name: _as_annotated(item, inner[1]) for name, item in value.items()}
    if isinstance(value, list) and (hint is tuple or get_origin(hint) in (list, tuple)):
        each = inner if len(inner) == len(value) and Ellipsis not in inner else inner[:1] * len(value) or value
        items = [_as_annotated(item, kind) for item, kind in zip(value, each)]
        return items if get_origin(hint) is list else tuple(items)
    return value


def check_fields(config: Config) -> None:
    """Check the kind of each field that is a number, True or False, or a text: a model would find it only later."""
    for each in fields(config):
        named = {each.name: getattr(config, each.name)}
        if each.type in (int, "int"):
            check_integer(**named)
        elif each.type in (float, "float"):
            check_interval(-math.inf, math.inf, **named)
        elif each.type in (bool, "bool", str, "str"):
            check_kind("True or False" if each.type in (bool, "bool") else "a text", **named)
    Config.__post_init__(config)


def check_layers(config: Any) -> None:
    """Raise an ArgumentError unless the widths, the heads and the activation of a Transformer's config fit together."""
    d_model, heads = config.d_model, config.num_heads
    check_positive(d_model=d_model, num_heads=heads, num_layers=config.num_layers)
    activation_of(config.activation)
    check_probability(dropout=config.dropout, attention_dropout=getattr(config, "attention_dropout", 0.0))
    if d_model % heads and getattr(config, "strict", True):
        near = [size for size in (d_model // heads * heads, (d_model // heads + 1) * heads) if size]
        way_out = " or ".join(f"d_model={size}" for size in near) + (
            ", or strict=False" if hasattr(config, "strict") else ""
        )
        raise ArgumentError(f"num_heads={heads} does not divide d_model={d_model}: take {way_out}")


def check_target_ids(count: int, **ids: int) -> None:
    """Raise an ArgumentError unless every id is in a target vocabulary of ``count`` ids."""
    for name, value in ids.items():
        if not 0 <= value < count:
            raise ArgumentError(f"{name} must be an id of the target vocabulary, 0 to {count - 1}, got {value}")
