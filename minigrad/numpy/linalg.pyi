"""minigrad.numpy.linalg on Tensors, for editors and type checkers. Written by `python -m docs.make_stubs`, never by hand."""

from typing import Any, TypeAlias

from numpy.linalg import (
    matrix_rank as matrix_rank,
)
from numpy.typing import ArrayLike, DTypeLike

from minigrad import Tensor

Operand: TypeAlias = Tensor | ArrayLike
Axis: TypeAlias = int | tuple[int, ...] | None

def cholesky(a: Operand, /, upper: Any = False) -> Tensor:
    """NumPy's cholesky: with a derivative in a."""

def cond(x: Operand, p: Any = None) -> Tensor:
    """NumPy's cond: a composition of differentiable functions."""

def cross(x1: Operand, x2: Operand, /, *, axis: Axis = -1) -> Tensor:
    """NumPy's cross: a composition of differentiable functions."""

def det(a: Operand, /) -> Tensor:
    """NumPy's det: with a derivative in a."""

def diagonal(x: Operand, offset: Any = 0) -> Tensor:
    """NumPy's diagonal: a composition of differentiable functions."""

def eig(a: Operand, /) -> tuple[Tensor, ...]:
    """NumPy's eig: with a derivative in a."""

def eigh(a: Operand, /, UPLO: Any = "L") -> tuple[Tensor, ...]:
    """NumPy's eigh: with a derivative in a."""

def eigvals(a: Operand) -> Tensor:
    """NumPy's eigvals: a composition of differentiable functions."""

def eigvalsh(a: Operand, /, UPLO: Any = "L") -> Tensor:
    """NumPy's eigvalsh: with a derivative in a."""

def inv(a: Operand, /) -> Tensor:
    """NumPy's inv: with a derivative in a."""

def lstsq(a: Operand, b: Operand, /, rcond: Any = None) -> tuple[Tensor, ...]:
    """NumPy's lstsq: with a derivative in a, b."""

def matmul(*args: Any, **keywords: Any) -> Tensor:
    """NumPy's matmul: with a derivative in x, y."""

def matrix_norm(x: Operand, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """NumPy's matrix_norm: a composition of differentiable functions."""

def matrix_power(a: Operand, /, n: Any) -> Tensor:
    """NumPy's matrix_power: with a derivative in a."""

def matrix_transpose(x: Operand) -> Tensor:
    """NumPy's matrix_transpose: a composition of differentiable functions."""

def multi_dot(arrays: Any) -> Tensor:
    """NumPy's multi_dot: a composition of differentiable functions."""

def norm(x: Operand, /, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """NumPy's norm: with a derivative in x."""

def outer(x1: Operand, x2: Operand, /) -> Tensor:
    """NumPy's outer: a composition of differentiable functions."""

def pinv(a: Operand, /, rcond: Any = None, rtol: Any = ...) -> Tensor:
    """NumPy's pinv: with a derivative in a."""

def qr(a: Operand, /, mode: Any = "reduced") -> Any:
    """NumPy's qr: with a derivative in a."""

def slogdet(a: Operand, /) -> tuple[Tensor, ...]:
    """NumPy's slogdet: with a derivative in a."""

def solve(a: Operand, b: Operand, /) -> Tensor:
    """NumPy's solve: with a derivative in a, b."""

def svd(a: Operand, /, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """NumPy's svd: with a derivative in a."""

def svdvals(x: Operand, /) -> Tensor:
    """NumPy's svdvals: a composition of differentiable functions."""

def tensordot(x1: Operand, x2: Operand, /, *, axes: Any = 2) -> Tensor:
    """NumPy's tensordot: a composition of differentiable functions."""

def tensorinv(a: Operand, ind: Any = 2) -> Tensor:
    """NumPy's tensorinv: a composition of differentiable functions."""

def tensorsolve(a: Operand, b: Operand, axes: Any = None) -> Tensor:
    """NumPy's tensorsolve: a composition of differentiable functions."""

def trace(x: Operand, offset: Any = 0, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's trace: a composition of differentiable functions."""

def vecdot(x1: Operand, x2: Operand, /, *, axis: Axis = -1) -> Tensor:
    """NumPy's vecdot: a composition of differentiable functions."""

def vector_norm(x: Operand, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """NumPy's vector_norm: a composition of differentiable functions."""
