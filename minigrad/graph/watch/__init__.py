"""Checks a computation for wrong derivatives, the first NaN and vanishing gradients, and measures time and memory."""
