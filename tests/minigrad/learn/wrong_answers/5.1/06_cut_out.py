import math

import numpy as np


def unbroadcast(g, shape):
    count = math.prod(shape)
    return g.ravel()[:count].reshape(shape)
