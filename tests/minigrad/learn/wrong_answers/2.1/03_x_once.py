import numpy as np


def two_ways(x: float):
    """xが二つの道を通ってyに届く。"""
    a = x * x
    b = np.sin(x)
    da_dx = x  # aの傾き
    db_dx = np.cos(x)  # bの傾き
    return a * b, b * da_dx, a * db_dx
