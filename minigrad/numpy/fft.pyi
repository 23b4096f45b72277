"""minigrad.numpy.fft on Tensors, for editors and type checkers. Written by `python -m docs.make_stubs`, never by hand."""

from typing import Any, TypeAlias

from numpy.typing import ArrayLike, DTypeLike

from minigrad import Tensor

Operand: TypeAlias = Tensor | ArrayLike
Axis: TypeAlias = int | tuple[int, ...] | None

def fft(a: Operand, /, n: Any = None, axis: Axis = -1, norm: Any = None) -> Tensor:
    """NumPy's fft: with a derivative in a."""

def fft2(a: Operand, s: Any = None, axes: Any = ..., norm: Any = None) -> Tensor:
    """NumPy's fft2: a composition of differentiable functions."""

def fftn(a: Operand, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """NumPy's fftn: a composition of differentiable functions."""

def fftshift(x: Operand, /, axes: Any = None) -> Tensor:
    """NumPy's fftshift: with a derivative in x."""

def hfft(a: Operand, n: Any = None, axis: Axis = -1, norm: Any = None) -> Tensor:
    """NumPy's hfft: a composition of differentiable functions."""

def ifft(a: Operand, /, n: Any = None, axis: Axis = -1, norm: Any = None) -> Tensor:
    """NumPy's ifft: with a derivative in a."""

def ifft2(a: Operand, s: Any = None, axes: Any = ..., norm: Any = None) -> Tensor:
    """NumPy's ifft2: a composition of differentiable functions."""

def ifftn(a: Operand, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """NumPy's ifftn: a composition of differentiable functions."""

def ifftshift(x: Operand, /, axes: Any = None) -> Tensor:
    """NumPy's ifftshift: with a derivative in x."""

def ihfft(a: Operand, n: Any = None, axis: Axis = -1, norm: Any = None) -> Tensor:
    """NumPy's ihfft: a composition of differentiable functions."""

def irfft(a: Operand, /, n: Any = None, axis: Axis = -1, norm: Any = None) -> Tensor:
    """NumPy's irfft: with a derivative in a."""

def irfft2(a: Operand, s: Any = None, axes: Any = ..., norm: Any = None) -> Tensor:
    """NumPy's irfft2: a composition of differentiable functions."""

def irfftn(a: Operand, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """NumPy's irfftn: a composition of differentiable functions."""

def rfft(a: Operand, /, n: Any = None, axis: Axis = -1, norm: Any = None) -> Tensor:
    """NumPy's rfft: with a derivative in a."""

def rfft2(a: Operand, s: Any = None, axes: Any = ..., norm: Any = None) -> Tensor:
    """NumPy's rfft2: a composition of differentiable functions."""

def rfftn(a: Operand, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """NumPy's rfftn: a composition of differentiable functions."""
