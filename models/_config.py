"""What the configs of the models have in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from minigrad import ArgumentError


@dataclass(frozen=True)
class Config:
    """The sizes of a model, as a dictionary (for JSON) and back."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """
        Raises:
            ArgumentError: a name is unknown or missing, or a value is out of its range.
        """
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in values if name not in known]:
            raise ArgumentError(f"{cls.__name__} has no {', '.join(map(repr, unknown))}; it has {', '.join(known)}")
        try:
            return cls(**values)
        except TypeError as error:  # a name without a default is missing
            raise ArgumentError(f"{cls.__name__}.from_dict: {error}") from error
