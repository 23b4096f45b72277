"""What watches and checks: arrays changed in place, the first NaN, derivatives beside differences, NumPy's warnings."""
