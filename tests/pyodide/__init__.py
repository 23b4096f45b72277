"""The suite in Pyodide, under Node: ``python -m tests.pyodide``. Pyodide is CPython compiled to WebAssembly, for web pages.

There are no processes, threads or foreign functions (`ctypes`), and an `int` of C and of NumPy's indices has 32 bits. Python is
the newest that minigrad is run with, too.
"""
