"""NumPy's functions that HIPS autograd wraps and does not differentiate: found by calling each, as ``docs/samples.py`` does.

    python -m docs.autograd_gaps        # with autograd installed: measures, and prints what should stand here

Its issue #788 counts about fifty that ought to have a gradient; what is here is what we measured ourselves.
"""

from __future__ import annotations

import contextlib
import io
import textwrap
import warnings
from collections.abc import Iterator
from typing import Any

import numpy

from docs import samples

VERSION = "1.9.1"


def words(text: str) -> list[str]:
    return text.split()


RAISE = words("""
apply_along_axis apply_over_axes average block broadcast_arrays cbrt compress concat convolve copy copysign corrcoef correlate
cov cumprod cumulative_prod cumulative_sum delete diagflat divmod ediff1d extract flip float_power fmod geomspace heaviside
histogramdd i0 insert interp kaiser ldexp logspace matrix_transpose matvec median meshgrid modf nancumprod nancumsum nanmax
nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar percentile piecewise poly polyadd polyder
polydiv polyfit polyint polymul polysub polyval positive ptp quantile resize roots sort_complex take take_along_axis trapezoid
trim_zeros unique unique_all unique_counts unique_inverse unique_values unstack unwrap vander vdot vecdot vecmat linalg.cond
linalg.cross linalg.diagonal linalg.eigvals linalg.eigvalsh linalg.lstsq linalg.matmul linalg.matrix_norm linalg.matrix_power
linalg.matrix_transpose linalg.outer linalg.qr linalg.svdvals linalg.tensordot linalg.tensorinv linalg.tensorsolve
linalg.trace linalg.vecdot linalg.vector_norm fft.hfft fft.ihfft
""")  # it says "VJP of ... not defined"
LOSE = words("""
choose dstack full_like histogram linalg.multi_dot
""")  # the result is a constant: the gradient is lost without a word
# Constants by nature, what makes arrays of other things, and functions of integers or of the bits of a number.
LEFT_OUT = words("""
asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix around bmat ceil empty_like fix floor
floor_divide frexp from_dlpack frombuffer full histogram_bin_edges ix_ nextafter ones_like require rint round sign spacing trunc
zeros_like
""")


def functions() -> Iterator[str]:
    """The names of NumPy's functions that make numbers of a matrix of numbers."""
    for prefix, module in (("", numpy), ("linalg.", numpy.linalg), ("fft.", numpy.fft)):
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if not callable(value) or isinstance(value, type) or prefix + name in LEFT_OUT:
                continue
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    result = samples.call(prefix + name, samples.MATRIX.copy())
            except Exception:
                continue  # of other things, or in need of a call of its own
            if any(isinstance(a, numpy.ndarray | numpy.generic) and a.dtype.kind in "fc" for a in flat(result)):
                yield prefix + name


def flat(result: Any) -> list[Any]:
    return [a for part in result for a in flat(part)] if isinstance(result, tuple | list) else [result]


def measure() -> tuple[list[str], list[str]]:
    """What raises, and what loses the gradient."""
    import autograd.numpy as anp  # type: ignore[import-not-found, unused-ignore]
    from autograd.core import VJPNode  # type: ignore[import-not-found, unused-ignore]
    from autograd.tracer import trace  # type: ignore[import-not-found, unused-ignore]

    raising, losing = [], []
    for name in functions():
        try:
            _, node = trace(VJPNode.new_root(), lambda x, name=name: samples.call(name, x, anp), samples.MATRIX.copy())
        except NotImplementedError as error:
            if "not defined" in str(error):
                raising.append(name)
        except Exception:
            continue  # a mistake of another kind
        else:
            if node is None:
                losing.append(name)
    return raising, losing


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for names in measure():
            print(textwrap.fill(" ".join(names), 126), end="\n\n")
