"""Task 14.1: the size of the first weights.

A network has several layers, each of which multiplies what it gets with its weights W, of the shape (inputs, outputs):

    z = h @ W            each number of z is a sum, with a product for each input
    h = bend(z)          what the next layer gets

The input of the first layer has numbers whose mean square is 1. A bend lets only a part of the mean square through, called
`keeps`: for relu, which sets about half of the numbers to 0, it is 0.5. So the first layer gets numbers with the mean
square 1, and every later layer numbers with the mean square `keeps`, if all goes well.

It goes well if the mean square of *every* z is 1. Choose the size of each layer's weights so.

Write start(normals, keeps): `normals` is a list of arrays (inputs, outputs), one for each layer, of random numbers whose mean
square is 1. It returns a list of new arrays, the weights: each array of `normals`, multiplied by a number of its own.

Example: normals = [[[1], [-1], [1], [-1]], [[1]]], keeps = 0.25: the first layer has 4 inputs, and its weights are 0.5 and
    -0.5. The second has one, of the mean square 0.25, and the weight 2.
"""

import numpy as np


def start(normals: list[np.ndarray], keeps: float) -> list[np.ndarray]:
    """The weights of all layers."""
    weights = []
    for normal in normals:
        inputs = normal.shape[0]
        weights.append(normal / np.sqrt(inputs * keeps))
    return weights
