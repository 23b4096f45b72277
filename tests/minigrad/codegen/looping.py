"""Programs with a loop over a size: each with its arguments for two sizes, and the fewest turns that its text holds for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import minigrad as mg


class Looping(NamedTuple):
    """A program with a loop.

    Attributes:
        function: returns one real number.
        arrays: maps the number of turns and the size of the batch to the arguments.
        least: the written program accepts this number of turns, and all larger ones.
        second: the number of turns and the size of the batch in the second example; the first has 10 and 3.
    """

    function: Callable[..., Any]
    arrays: Callable[[int, int], tuple[Any, ...]]
    least: int
    second: tuple[int, int] = 15, 7


def drawn(*shapes: Any) -> Any:
    """Return uniform numbers in the shapes, which may be nested in lists and tuples."""
    random = np.random.default_rng(3)

    def draw(shape: Any) -> Any:
        if isinstance(shape, list) or (shape and isinstance(shape[0], tuple)):
            return type(shape)([draw(each) for each in shape])
        return np.asarray(random.uniform(-1.2, 1.2, shape))

    return tuple(map(draw, shapes))


def rnn(xs, h0, U, W, b, v):
    h = h0
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ U + h @ W + b)
    return np.sum(h @ v)


def rnn_of_the_second_axis(x, U, W, b, v):
    h = np.zeros((len(x), 4))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ U + h @ W + b)
    return np.mean(h @ v)


def rnn_of_floats(xs, U, W, b):
    h = np.zeros((xs.shape[1], 4), np.float32)
    for x in xs:
        h = np.tanh(x @ U + h @ W + b)
    return np.sum(h * h)


def rnn_with_a_loss_in_each_turn(xs, U, W):
    h, loss = np.zeros((1, 4)), 0.0
    for x in xs:
        h = np.tanh(x @ U + h @ W)
        loss = loss + np.sum(h**2)
    return loss / len(xs)


def rnn_with_targets(xs, ys, U, W, V):
    h, errors = np.zeros((xs.shape[1], 4)), []
    for x, y in zip(xs, ys):
        h = np.tanh(x @ U + h @ W)
        errors.append(np.mean((h @ V - y) ** 2))
    return sum(errors) / len(errors)


def rnn_backwards_in_time(xs, U, W):
    h = np.zeros((1, 4))
    for t in range(len(xs) - 1, -1, -1):
        h = np.tanh(xs[t] @ U + h @ W)
    return np.sum(h)


def both_directions(xs, U, W):
    f = b = np.zeros((1, 4))
    fs, bs = [], []
    for t in range(len(xs)):
        f = np.tanh(xs[t] @ U + f @ W)
        fs.append(f)
    for t in reversed(range(len(xs))):
        b = np.tanh(xs[t] @ U - b @ W)
        bs.append(b)
    return sum(np.sum(f * b) for f, b in zip(fs, reversed(bs)))


def lstm(xs, W, U, b):
    h, c = np.zeros((xs.shape[1], 3)), np.zeros((xs.shape[1], 3))
    for t in range(len(xs)):
        z = xs[t] @ W + h @ U + b
        i, f, g, o = z[:, :3], z[:, 3:6], z[:, 6:9], z[:, 9:]
        c = 1 / (1 + np.exp(-f)) * c + 1 / (1 + np.exp(-i)) * np.tanh(g)
        h = 1 / (1 + np.exp(-o)) * np.tanh(c)
    return np.sum(h * h)


def gru(xs, Wz, Uz, Wh, Uh):
    h = np.zeros((xs.shape[1], 3))
    for x in xs:
        z = 1 / (1 + np.exp(-(x @ Wz + h @ Uz)))
        h = (1 - z) * h + z * np.tanh(x @ Wh + h @ Uh)
    return np.mean(h)


def partial_sums(x, w):
    total, sums = 0.0, []
    for t in range(len(x)):
        total = total + np.sin(w * x[t])
        sums.append(total)
    return np.sum(np.stack(sums) ** 2)


def running_mean(x):
    mean, means = x[0], [x[0]]
    for t in range(1, len(x)):
        mean = 0.5 * mean + x[t]
        means.append(mean)
    return np.sum(np.stack(means[1:]) ** 3) + np.sum(np.stack(means[:-1]))


def sums_in_reverse(x, w):
    h, hs = x[0] * w, []
    for row in x:
        h = np.sin(h) + row
        hs.append(h)
    return np.sum(np.stack(hs[::-1]) * w)


def euler(y, u):
    for t in range(len(u)):
        y = y + 0.1 * (np.sin(y) + u[t])
    return np.sum(y * y)


def pendulum(angle, speed, gravity, pushes):
    for push in pushes:
        speed = speed - 0.1 * gravity * np.sin(angle) + push
        angle = angle + 0.1 * speed
    return angle * angle + speed


def runge_kutta(y, u):
    path = [y]
    for t in range(len(u)):
        k1 = np.sin(y) + u[t]
        k2 = np.sin(y + 0.05 * k1) + u[t]
        y = y + 0.1 * k2
        path.append(y)
    return np.mean(np.stack(path) ** 2)


def heads(q, k, v):
    found = []
    for i in range(len(q)):
        scores = q[i] @ k[i].T
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        found.append(e / np.sum(e, axis=-1, keepdims=True) @ v[i])
    return np.sum(np.stack(found) ** 2)


def heads_beside_each_other(q, k, v):
    found = []
    for i in range(len(q)):
        e = np.exp(q[i] @ k[i].T)
        found.append(e / np.sum(e, axis=-1, keepdims=True) @ v[i])
    return np.sum(np.concatenate(found, axis=-1) ** 2)


def sum_of_rows(x, w):
    return sum([np.sum(np.tanh(row * w)) for row in x])


def stack_of_rows(x, w):
    return np.mean(np.stack([np.exp(-row) * w for row in x]) ** 2)


def time_of_layers(xs, params, h0):
    hs = [h0] * len(params)
    for x in xs:
        for i, (W, U) in enumerate(params):
            hs[i] = x = np.tanh(x @ W + hs[i] @ U)
    return np.sum(hs[-1] ** 2)


def layers_of_time(xs, params, h0):
    row = list(xs)
    for W, U in params:
        h, found = h0, []
        for x in row:
            h = np.tanh(x @ W + h @ U)
            found.append(h)
        row = found
    return np.sum(row[-1] ** 2)


def two_turns_back(x, w):
    hs = [x[0], x[1]]
    for t in range(2, len(x)):
        hs.append(np.tanh(w * hs[t - 1] + hs[t - 2] * x[t]))
    return np.sum(hs[-1])


def two_turns_back_of_numbers(x, w):
    hs = [x[0], x[1]]
    for t in range(2, len(x)):
        hs.append(np.tanh(w * hs[t - 1] + hs[t - 2] * x[t]))
    return hs[-1] * hs[-1]


def differences(x):
    total = 0.0
    for t in range(1, len(x)):
        total = total + np.sum((x[t] - x[t - 1]) ** 2)
    return total


def windows(x, w):
    total = 0.0
    for t in range(len(x) - 2):
        total = total + np.tanh(np.sum(x[t : t + 3] * w))
    return total


def weighed_by_the_turn(x):
    total = 0.0
    for t in range(len(x)):
        total = total + np.sum(np.sin(x[t])) * t
    return total


def momentum(w, xs, ys):
    speed = np.zeros_like(w)
    for x, y in zip(xs, ys):
        speed = 0.9 * speed - 0.1 * (x @ w - y) @ x
        w = w + speed
    return np.sum(w**2)


def first_turn_differs(x, w):
    for t in range(len(x)):
        w = np.cos(w) * x[0] if t == 0 else np.sin(w * x[t]) + w
    return np.sum(w)


def last_turn_differs(x, w):
    for t in range(len(x)):
        w = np.sin(w * x[t]) + w if t < len(x) - 1 else np.exp(w) * x[t]
    return np.sum(w)


def fixed_and_free(x, w):
    for _ in range(5):
        w = np.sin(w) + w
    for row in x:
        w = np.tanh(w - row) * w
    return np.sum(w)


def steps_of_a_grid(times, u, w):
    for t in range(len(u)):
        w = w + (times[t + 1] - times[t]) * np.sin(w) * u[t]
    return np.sum(w * w)


def step_of_the_number_of_turns(x, w):
    for row in x:
        w = w + 1 / len(x) * np.sin(w) * row
    return np.sum(w * w)


def each_row_against_all(x):
    total = 0.0
    for row in x:
        total = total + np.sum((x - row) ** 2)
    return total


def three_rows_differ(x, w):
    for t in range(len(x)):
        w = np.sin(w) + (x[t] if t < 3 else x[3])
    return np.sum(w)


def the_last_rows_repeat(x, w):
    for t in range(len(x)):
        w = np.sin(w) + x[min(t + 2, len(x) - 1)]
    return np.sum(w)


def the_row_before(x, w):
    for t in range(len(x)):
        w = np.sin(w) + x[t] * x[t - 1]
    return np.sum(w)


def part_of_a_list(x):
    rows = [np.sin(row) for row in x]
    return np.sum(np.stack(rows[2:-1]) ** 3) + np.sum(np.stack(rows[::-1])[0])


def four_turns_from_each_end(x, w):
    hs: list[Any] = []
    total = 0.0
    for row in x:
        w = np.tanh(w + row)
        hs.append(w)
    for i in range(4):
        total = total + np.sum(hs[i] * hs[-1 - i])
    return total


def newest_first(x, w):
    hs: list[Any] = []
    for row in x:
        w = np.tanh(w + row)
        hs.insert(0, w)
    return np.sum(np.stack(hs) * x)


def columns_in_reverse(x, w):
    columns = []
    for t in range(x.shape[1] - 1, -1, -1):
        w = np.sin(w * x[:, t])
        columns.append(w)
    return np.mean(np.stack(columns[::-1], axis=1) * x)


def gradient_in_each_turn(x, w):
    for row in x:
        w = w - 0.1 * mg.grad(lambda v, row=row: np.sum((v * row - 1) ** 2))(w)
    return np.sum(w * w)


def two_loops_of_equal_calls(x, y, w):
    for row in x:
        w = np.sin(w) + row
    for row in y:
        w = np.sin(w) + row
    return np.sum(w)


def checked_in_each_turn(x, w):
    for row in x:
        if np.sum(w) > -1000:
            w = np.tanh(w + row)
    return np.sum(w)


PROGRAMS = [
    Looping(rnn, lambda t, n: drawn((t, n, 3), (n, 4), (3, 4), (4, 4), (4,), (4,)), 4),
    Looping(rnn_of_the_second_axis, lambda t, n: drawn((n, t, 3), (3, 4), (4, 4), (4,), (4,)), 4),
    Looping(
        rnn_of_floats,
        lambda t, n: tuple(a.astype(np.float32) for a in drawn((t, n, 3), (3, 4), (4, 4), (4,))),
        4,
    ),
    Looping(rnn_with_a_loss_in_each_turn, lambda t, n: drawn((t, 1, 3), (3, 4), (4, 4)), 3),
    Looping(rnn_with_targets, lambda t, n: drawn((t, n, 3), (t, n, 2), (3, 4), (4, 4), (4, 2)), 3),
    Looping(rnn_backwards_in_time, lambda t, n: drawn((t, 1, 3), (3, 4), (4, 4)), 3),
    Looping(both_directions, lambda t, n: drawn((t, 1, 3), (3, 4), (4, 4)), 4),
    Looping(lstm, lambda t, n: drawn((t, n, 2), (2, 12), (3, 12), (12,)), 4),
    Looping(gru, lambda t, n: drawn((t, n, 2), (2, 3), (3, 3), (2, 3), (3, 3)), 3),
    Looping(partial_sums, lambda t, n: drawn((t,), (n,)), 3),
    Looping(running_mean, lambda t, n: drawn((t, n)), 3),
    Looping(sums_in_reverse, lambda t, n: drawn((t, n), (n,)), 4),
    Looping(euler, lambda t, n: drawn((n,), (t, n)), 3),
    Looping(pendulum, lambda t, n: drawn((), (), (), (t,)), 3),
    Looping(runge_kutta, lambda t, n: drawn((n,), (t, n)), 2),
    Looping(heads, lambda t, n: drawn((t, n, 3), (t, n, 3), (t, n, 2)), 2),
    Looping(heads_beside_each_other, lambda t, n: drawn((t, n, 3), (t, n, 3), (t, n, 2)), 2),
    Looping(sum_of_rows, lambda t, n: drawn((t, n), (n,)), 2),
    Looping(stack_of_rows, lambda t, n: drawn((t, n), (n,)), 2),
    Looping(time_of_layers, lambda t, n: drawn((t, n, 4), [((4, 4), (4, 4))] * 2, (n, 4)), 4),
    Looping(layers_of_time, lambda t, n: drawn((t, n, 4), [((4, 4), (4, 4))] * 3, (n, 4)), 5),
    Looping(two_turns_back, lambda t, n: drawn((t, n), ()), 6),
    Looping(two_turns_back_of_numbers, lambda t, n: drawn((t,), ()), 6),
    Looping(differences, lambda t, n: drawn((t, n)), 3),
    Looping(windows, lambda t, n: drawn((t, n), (3, n)), 4),
    Looping(weighed_by_the_turn, lambda t, n: drawn((t, n)), 4, (15, 9)),
    Looping(momentum, lambda t, n: drawn((n,), (t, 3, n), (t, 3)), 3),
    Looping(first_turn_differs, lambda t, n: drawn((t, n), (n,)), 4),
    Looping(last_turn_differs, lambda t, n: drawn((t, n), (n,)), 3),
    Looping(fixed_and_free, lambda t, n: drawn((t, n), (n,)), 3),
    Looping(steps_of_a_grid, lambda t, n: drawn((t + 1,), (t, n), (n,)), 3),
    Looping(step_of_the_number_of_turns, lambda t, n: drawn((t, n), (n,)), 3),
    Looping(each_row_against_all, lambda t, n: drawn((t, n)), 2),
    Looping(three_rows_differ, lambda t, n: drawn((t, n), (n,)), 7),
    Looping(the_last_rows_repeat, lambda t, n: drawn((t, n), (n,)), 3),
    Looping(the_row_before, lambda t, n: drawn((t, n), (n,)), 4),
    Looping(part_of_a_list, lambda t, n: drawn((t, n)), 4),
    Looping(four_turns_from_each_end, lambda t, n: drawn((t, n), (n,)), 8),
    Looping(newest_first, lambda t, n: drawn((t, n), (n,)), 2),
    Looping(columns_in_reverse, lambda t, n: drawn((n, t), (n,)), 2),
    Looping(gradient_in_each_turn, lambda t, n: drawn((t, n), (n,)), 4),
    Looping(two_loops_of_equal_calls, lambda t, n: drawn((t, 2), (n + 8, 2), (2,)), 3),
    Looping(checked_in_each_turn, lambda t, n: drawn((t, n), (n,)), 2),
]
