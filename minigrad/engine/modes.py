"""Whether operations are recorded: ``no_grad()`` and ``enable_grad()``, in threads, generators and coroutines."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from .observers import active, in_any_thread

P = ParamSpec("P")
R = TypeVar("R")


_of_frames: dict[FrameType, list[set_grad]] = {}  # the blocks that generators and coroutines are in, innermost last


def recording() -> bool:
    """Whether operations on tensors that require gradients are being put on the tape in this thread."""
    block = _innermost()
    return block is None or block.enabled


def _innermost() -> set_grad | None:
    """The block that counts here: of the innermost running generator that is in one, or of the thread, if entered inside it."""
    of_thread = next((block for block in reversed(active.contexts) if isinstance(block, set_grad)), None)
    of_frame = _of_a_frame() if _of_frames else None
    return of_thread if of_frame is None or (of_thread and of_thread._inside is of_frame) else of_frame


def _of_a_frame() -> set_grad | None:
    """The block of the innermost generator or coroutine that runs here, in whichever thread it entered the block."""
    if all(frame.f_back is None for frame in list(_of_frames)):
        return None  # they all wait, at a `yield` or an `await`
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        blocks = _of_frames.get(frame)
        if blocks:
            return blocks[-1]
        frame = frame.f_back
    return None


class set_grad:
    """``set_grad(enabled)`` switches the recording of operations on or off: a context manager and a decorator.

    The switch belongs to the thread, and is undone when an exception leaves the block. That of a generator or coroutine
    belongs to it alone: it holds while that runs, in whichever thread, and not while it is suspended. (So a generator under
    ``contextlib.contextmanager`` cannot switch it for its caller: enter ``no_grad()`` there directly.)
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._frame: FrameType | None = None  # of the generator or coroutine that entered
        self._inside: set_grad | None = None  # the block of a generator that the thread entered this one in
        self._entered_in: list[Any] = []
        self._blocks: list[set_grad] = []

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        suspendable = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        block = set_grad(self.enabled)  # one object may be entered more than once
        if frame.f_code.co_flags & suspendable:
            block._frame = frame
            _of_frames.setdefault(frame, []).append(block)
            in_any_thread.append(block)
        else:
            block._inside = _of_a_frame() if _of_frames else None
            block._entered_in = active.contexts
            active.enter(block)
        self._blocks.append(block)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        block = self._blocks[0] if len(self._blocks) == 1 else self._block_left(sys._getframe(1))
        self._blocks.remove(block)
        if block._frame is None:
            active.leave(block, block._entered_in)
            return
        blocks = _of_frames[block._frame]
        blocks.remove(block)
        if not blocks:
            del _of_frames[block._frame]
        block._frame = None
        in_any_thread.remove(block)

    def _block_left(self, frame: FrameType) -> set_grad:
        """Of several blocks that were entered with this object the one that ``frame`` leaves."""
        of_frame = [block for block in self._blocks if block._frame is frame]
        of_thread = [block for block in self._blocks if block._entered_in is active.contexts]
        return (of_frame or of_thread or self._blocks)[-1]

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: P.args, **kwargs: P.kwargs) -> Any:
                with set_grad(self.enabled):
                    return (yield from function(*args, **kwargs))

            return generator
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def async_generator(*args: P.args, **kwargs: P.kwargs) -> Any:
                with set_grad(self.enabled):
                    inner = function(*args, **kwargs)
                    step = inner.asend(None)
                    try:
                        while True:
                            value = await step
                            try:
                                step = inner.asend((yield value))
                            except GeneratorExit:
                                raise
                            except BaseException as error:
                                step = inner.athrow(error)
                    except StopAsyncIteration:
                        pass
                    finally:
                        await inner.aclose()

            return async_generator
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine(*args: P.args, **kwargs: P.kwargs) -> Any:
                with set_grad(self.enabled):
                    return await function(*args, **kwargs)

            return coroutine  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with set_grad(self.enabled):
                return function(*args, **kwargs)

        return wrapper


class no_grad(set_grad):
    """``with no_grad():`` or ``@no_grad()``: compute without recording, as in evaluation.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> with mg.no_grad():
        ...     y = x * x
        >>> x.requires_grad, y.requires_grad
        (True, False)
    """

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(set_grad):
    """``with enable_grad():`` or ``@enable_grad()``: record again inside a ``no_grad`` block.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> with mg.no_grad():
        ...     with mg.enable_grad():
        ...         y = x * x
        >>> y.requires_grad
        True
    """

    def __init__(self) -> None:
        super().__init__(True)
