"""What looks for trouble: wrong derivatives, the first NaN, gradients that vanish, time and memory."""
