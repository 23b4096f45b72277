"""The examples of what is declared in the engine's core and in the rules, which are kept short enough to be read at a sitting.

An import of minigrad puts each at the end of its docstring.
"""

from inspect import cleandoc
from typing import Any

from .engine.primitive import Primitive, primitive
from .engine.tape import Entry, tape
from .engine.tensor import Tensor
from .rules.attention import scaled_dot_product_attention
from .rules.neural import affine, cross_entropy, gelu, layer_norm, log_softmax, relu, sigmoid, silu, softmax
from .rules.reductions import logsumexp
from .rules.special import erf

EXAMPLES: dict[Any, str] = {
    Tensor: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0, 3.0], requires_grad=True)
        >>> y = np.sum(x * x)
        >>> y.backward()
        >>> x.grad
        Tensor([2., 4., 6.])
    """,
    tape: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> [entry.primitive.name for entry in mg.tape(np.sin(x * 3) + x)]
        ['multiply', 'sin', 'add']
    """,
    Entry: """
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True)
        >>> y = (x * x).sum()
        >>> product, total = mg.tape(y)
        >>> product.primitive.name, product.shape, total.parents == [product]
        ('multiply', (2,), True)
        >>> y.backward()
        >>> print(product.kept)  # freed
        None
    """,
    primitive: """
        >>> import minigrad as mg
        >>> cube = mg.primitive(lambda x: x * x * x, name="cube").vjp(x=lambda g, x: g * 3 * x * x)
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> cube(x).backward()
        >>> x.grad.item()
        12.0
    """,
    Primitive: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.relu, mg.relu.arguments
        (<primitive relu>, ('x',))
        >>> rule = mg.relu.rules["x"]  # from the cotangent g of the output to that of x
        >>> rule(g=np.array([10.0, 10.0]), ans=np.array([0.0, 2.0]))
        array([ 0., 10.])
    """,
    affine: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> weight = mg.Tensor(np.ones((3, 2)), requires_grad=True)
        >>> bias = mg.Tensor(np.zeros(2), requires_grad=True)
        >>> y = mg.affine(np.ones((4, 3)), weight, bias)
        >>> y.sum().backward()
        >>> y.shape, weight.grad.shape, bias.grad  # each of the 4 rows used the bias
        ((4, 2), (3, 2), Tensor([4., 4.]))
    """,
    relu: """
        >>> import minigrad as mg
        >>> x = mg.Tensor([-1.0, 0.0, 2.0], requires_grad=True)
        >>> mg.relu(x).sum().backward()
        >>> x.grad
        Tensor([0., 0., 1.])
    """,
    gelu: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([-1.0, 0.0, 1.0])
        >>> mg.gelu(x).round(4)
        array([-0.1587,  0.    ,  0.8413])
        >>> mg.gelu(x, approximate="tanh").round(4)
        array([-0.1588,  0.    ,  0.8412])
    """,
    sigmoid: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.sigmoid(np.array([-1000.0, 0.0, 1000.0]))
        array([0. , 0.5, 1. ])
    """,
    silu: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.silu(np.array([-1.0, 0.0, 1.0])).round(3)
        array([-0.269,  0.   ,  0.731])
    """,
    softmax: """
        >>> import minigrad as mg
        >>> mg.softmax(mg.Tensor([[0.0, 0.0], [1000.0, 0.0]]))
        Tensor([[0.5, 0.5],
                [1. , 0. ]])
    """,
    log_softmax: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.log_softmax(np.array([1000.0, 0.0]))  # np.log of the softmax would give -inf
        array([    0., -1000.])
    """,
    logsumexp: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> round(float(mg.logsumexp(np.array([1000.0, 1000.0]))), 4)  # np.exp(1000) is infinite
        1000.6931
    """,
    cross_entropy: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> logits = mg.Tensor([[0.0, 0.0], [0.0, 0.0]], requires_grad=True)
        >>> loss = mg.cross_entropy(logits, np.array([0, 1]))
        >>> loss.backward()
        >>> round(loss.item(), 4), logits.grad  # log(2), and (softmax - one-hot labels) / 2
        (0.6931, Tensor([[-0.25,  0.25],
                [ 0.25, -0.25]]))
    """,
    layer_norm: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([[1.0, 3.0], [10.0, 30.0]])
        >>> mg.layer_norm(x, np.ones(2), np.zeros(2)).round(3)
        array([[-1.,  1.],
               [-1.,  1.]])
    """,
    scaled_dot_product_attention: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> query = key = np.zeros((2, 3))  # all scores are equal
        >>> value = np.array([[1.0], [5.0]])
        >>> mask = np.array([[True, False], [True, True]])  # the first query sees the first key alone
        >>> mg.scaled_dot_product_attention(query, key, value, mask)
        array([[1.],
               [3.]])
    """,
    erf: """
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.erf(np.array([0.0, 0.5, 1.0])).round(4)
        array([0.    , 0.5205, 0.8427])
        >>> round(float(mg.grad(mg.erf)(0.0)), 4)  # 2 / sqrt(pi)
        1.1284
    """,
}

for value, example in EXAMPLES.items():
    if value.__doc__:  # python -OO takes them away
        lines = cleandoc(example).splitlines()
        value.__doc__ = "\n    ".join([f"{cleandoc(value.__doc__)}\n\nExample:", *lines])
