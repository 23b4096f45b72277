"""Checks: in-place changes, the first NaN or infinity, derivatives against finite differences, and NumPy's warnings."""
