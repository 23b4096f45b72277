"""Switch recording on and off with ``enable_grad()`` and ``no_grad()``, also in threads, generators and coroutines."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from .observers import active, open_contexts

P = ParamSpec("P")
R = TypeVar("R")


_of_frames: dict[FrameType, list[set_grad]] = {}  # the open blocks of generators and coroutines, the innermost last


def recording() -> bool:
    """Whether this thread records operations on tensors that require gradients."""
    block = _innermost()
    return block is None or block.enabled


def _innermost() -> set_grad | None:
    """Return the block in effect: that of a running generator, unless the thread entered another one inside that block."""
    of_thread = next((block for block in reversed(active.contexts) if isinstance(block, set_grad)), None)
    of_frame = _of_a_frame() if _of_frames else None
    return of_thread if of_frame is None or (of_thread and of_thread._inside is of_frame) else of_frame


def _of_a_frame() -> set_grad | None:
    """Return the block of the innermost generator or coroutine on this thread's stack. Any thread may have entered it."""
    if all(frame.f_back is None for frame in list(_of_frames)):
        return None  # all of them are suspended at a `yield` or an `await`
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        blocks = _of_frames.get(frame)
        if blocks:
            return blocks[-1]
        frame = frame.f_back
    return None


class set_grad:
    """A context manager and a decorator that switches the recording of operations on or off.

    The switch applies to the current thread and ends with the block, also after an exception. Inside a generator or
    coroutine it applies while that generator or coroutine runs, in any thread, but not while it is suspended. So a generator
    under ``contextlib.contextmanager`` cannot switch recording for its caller. Enter ``no_grad()`` in the caller instead.
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._frame: FrameType | None = None  # the frame of the generator or coroutine that entered this block
        self._inside: set_grad | None = None  # a generator's block, inside which the thread entered this one
        self._entered_in: list[Any] = []
        self._blocks: list[set_grad] = []

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        suspendable = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        block = set_grad(self.enabled)  # a new object, because self may be entered more than once
        if frame.f_code.co_flags & suspendable:
            block._frame = frame
            _of_frames.setdefault(frame, []).append(block)
            open_contexts.append(block)
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
        open_contexts.remove(block)

    def _block_left(self, frame: FrameType) -> set_grad:
        """Return the block that ``frame`` leaves, if this object was entered more than once."""
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
    """Compute without recording, as in evaluation: ``with no_grad():`` or ``@no_grad()``.

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
    """Record operations inside a ``no_grad`` block: ``with enable_grad():`` or ``@enable_grad()``.

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


def ensure_recording() -> AbstractContextManager[None]:
    """Return a block that records operations. It does nothing if they are recorded already.

    While any block of ``enable_grad()`` or ``no_grad()`` is open, operators take their slow form.
    """
    return nullcontext() if recording() else enable_grad()
