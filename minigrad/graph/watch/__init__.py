"""Checks of a computation: wrong derivatives, the first NaN, vanishing gradients, time and memory."""
