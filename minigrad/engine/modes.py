"""Whether operations are recorded: ``no_grad()`` and ``enable_grad()``, in threads, generators and coroutines."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from .observers import active

P = ParamSpec("P")
R = TypeVar("R")


def recording() -> bool:
    """Whether operations on tensors that require gradients are being put on the tape in this thread."""
    for context in reversed(active.contexts):
        if isinstance(context, set_grad) and (context._frame is None or context._frame.f_back is not None):
            return context.enabled  # not that of a generator that is waiting at a `yield` now
    return True


class set_grad:
    """``set_grad(enabled)`` switches the recording of operations on or off: a context manager and a decorator.

    The switch belongs to the thread, is undone when an exception leaves the block, and does not leak out of a generator:
    while a generator or coroutine that entered the block is suspended, the block does not count. (So a generator under
    ``contextlib.contextmanager`` cannot switch it for its caller: enter ``no_grad()`` there directly.)
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._frame: FrameType | None = None
        self._entered_in: list[Any] = []
        self._blocks: list[set_grad] = []

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        suspendable = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        block = set_grad(self.enabled)  # one object may be entered more than once
        block._frame = frame if frame.f_code.co_flags & suspendable else None
        active.enter(block)
        block._entered_in = active.contexts
        self._blocks.append(block)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        of_this_thread = [block for block in self._blocks if block._entered_in is active.contexts]
        block = (of_this_thread or self._blocks)[-1]  # a generator may have been handed to another thread
        self._blocks.remove(block)
        active.leave(block, block._entered_in)

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
