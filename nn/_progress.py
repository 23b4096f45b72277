"""The progress bar of :func:`nn.fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_SMOOTHING = 50  # steps

Show = Callable[[Sequence[float], Mapping[str, float] | None], None]


def load_tqdm() -> Any:
    """What shows a bar; None where it is not installed, as nobody's training is to fail for want of one."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm


@contextmanager
def progress_bar(tqdm: Any, label: str, done: int, total: int) -> Iterator[Show]:
    """A bar for one epoch, or nothing if ``tqdm`` is None. What is yielded shows the losses after a step, with metrics of
    None, and at the end of the epoch its metrics, of which there may be none."""
    if tqdm is None:
        yield lambda losses, metrics: None
        return
    with tqdm(desc=label, initial=done, total=total) as bar:

        def show(losses: Sequence[float], metrics: Mapping[str, float] | None) -> None:
            recent = losses[-_SMOOTHING:]
            mean = {"loss": f"{sum(recent) / len(recent):.4f}"} if recent else {}
            numbers = {name: f"{value:.4f}" for name, value in (metrics or {}).items()}
            bar.set_postfix(mean | numbers, refresh=metrics is not None)
            if metrics is None:
                bar.update()

        yield show
