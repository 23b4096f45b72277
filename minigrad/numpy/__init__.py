"""The functions of NumPy that work on Tensors, under NumPy's names, for editors and type checkers to know what they give.

    import minigrad.numpy as mnp

    loss = mnp.tanh(x @ w).sum()    # a Tensor, also to mypy and pyright; to them np.tanh(...) is an array

They are NumPy's own, one and the same object: ``mnp.tanh is np.tanh``. What this package adds stands in its ``.pyi`` files,
which ``python -m docs.make_stubs`` writes from the registry, and no program reads them while it runs. For arrays alone, and for
what makes arrays (``np.zeros``, ``np.pi``), there is ``np``.
"""

if (
    __name__ == "numpy"
):  # `python minigrad/tiny.py` puts this folder where Python looks first, and this is not what it looks for
    import importlib
    import os
    import sys

    _here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != _here]
    del sys.modules["numpy"]
    importlib.import_module("numpy")
else:
    import numpy as _numpy

    from . import fft as fft, linalg as linalg
    from ._names import names as _names

    globals().update(_names(_numpy))
