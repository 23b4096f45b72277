import numpy as np


def softmax(x):
    x = x - x.max(-1, keepdims=True)
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def softmax_backward(p, g):
    # p と g の積
    pg = p * g
    return pg - pg.sum(-1, keepdims=True)
