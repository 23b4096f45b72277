"""Task 14.3: the weight decay of AdamW."""

import numpy as np


def adamw(w, gradients, direction, rates, decay):
    for i in range(len(gradients)):
        d = direction(gradients[i])
        w = w - rates[i] * d - decay * w
    return w
