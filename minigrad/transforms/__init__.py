"""Transforms that differentiate functions in forward and reverse mode, and user-defined derivatives."""
