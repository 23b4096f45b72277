"""Ordinary programs of physics, finance, signals, linear algebra and geometry."""

from itertools import pairwise
from typing import Any

import numpy as np

import minigrad as mg

from .ordinary import ordinary, uniform

# --- physics ----------------------------------------------------------------------------------------------------------


# Python floats
@ordinary(lambda r: r.normal(), lambda r: r.normal(), lambda r: r.uniform(0.5, 1.5), lambda r: r.normal())
def pendulum(theta0, omega0, length, target):
    """Semi-implicit Euler; how far is the angle from the target after one second?"""
    g, dt = 9.81, 0.05
    theta, omega = theta0, omega0
    for _ in range(20):
        omega = omega - dt * g / length * np.sin(theta)
        theta = theta + dt * omega
    return (theta - target) ** 2


@ordinary((4, 3), (4, 3), uniform(1, 2, 4), name="n-body")
def n_body(positions, velocities, masses):
    dt = 0.02
    n = len(masses)
    for _step in range(5):
        diff = positions[None, :, :] - positions[:, None, :]
        dist2 = (diff**2).sum(-1) + 0.1
        acceleration = np.einsum("ijk,ij,j->ik", diff, dist2**-1.5, masses)
        velocities = velocities + dt * acceleration
        positions = positions + dt * velocities
    kinetic = 0.5 * (masses * (velocities**2).sum(1)).sum()
    potential = 0.0
    for i in range(n):
        for j in range(i):
            r = np.sqrt(np.sum((positions[i] - positions[j]) ** 2) + 0.1)
            potential = potential - masses[i] * masses[j] / r
    return kinetic + potential


@ordinary((5, 2), np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 2]]), uniform(1, 2, 6), uniform(0.5, 1, 6))
def spring_net(x, edges, stiffness, rest):
    """The energy of springs between points, and their weight."""
    d = x[edges[:, 1]] - x[edges[:, 0]]
    stretch = np.hypot(d[:, 0], d[:, 1]) - rest
    return 0.5 * stiffness @ stretch**2 + 0.1 * x[:, 1].sum()


@ordinary((12,), (12,), (12,))
def heat_equation(u, kappa, measured):
    dx, dt = 1.0, 0.2
    for _ in range(10):
        laplacian = (np.roll(u, 1) - 2 * u + np.roll(u, -1)) / dx**2
        u = u + dt * kappa * laplacian
    return np.sum((u - measured) ** 2)


@ordinary((14,), (14,))
def wave_equation(initial, speed):
    """Leapfrog on a string with fixed ends; returns the energy in its right half."""
    previous = current = initial
    for _ in range(8):
        inner = current[2:] - 2 * current[1:-1] + current[:-2]
        step = 2 * current[1:-1] - previous[1:-1] + 0.25 * speed[1:-1] ** 2 * inner
        previous, current = current, np.concatenate([current[:1], step, current[-1:]])
    half = len(initial) // 2
    return np.square(current[half:]).sum()


@ordinary((3,), (3,), (7,))
def lens(curvatures, gaps, heights):
    # paraxial rays through thin surfaces; the spot on the screen should be small
    angle = np.zeros_like(heights)
    y = heights
    for c, d in zip(curvatures, gaps, strict=True):
        angle = angle - 0.5 * c * y
        y = y + d * np.tan(angle * 0.1)
    return y.var() + 0.1 * np.mean(y) ** 2


@ordinary(
    lambda r: np.array([0, 0, 3.0]) + 0.3 * r.normal(size=(6, 3)),
    lambda r: np.array([0, 0, -3.0]) + r.normal(size=(6, 3)),
    lambda r: r.uniform(1.3, 1.6),
)
def refraction(normal, direction, index):
    """Snell's law in vector form, for a bundle of rays; the transmitted rays should point down."""
    n = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    d = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    c = -np.vecdot(n, d)[:, None]
    n = np.where(c < 0, -n, n)
    c = np.abs(c)
    r = 1 / index
    t = r * d + (r * c - np.sqrt(1 - r**2 * (1 - c**2))) * n
    return np.sum((t - np.array([0.0, 0.0, -1.0])) ** 2)


@ordinary(lambda r: np.log([0.6, 0.2]) + 0.1 * r.normal(size=2), np.array([0.9, 0.1, 0.0]), uniform(0, 0.4, 8))
def epidemic(log_rates, start, cases):
    beta, gamma = np.exp(log_rates)
    s, i, r = start
    loss = 0.0
    for observed in cases:
        infections = beta * s * i
        recoveries = gamma * i
        s, i, r = s - infections, i + infections - recoveries, r + recoveries
        loss = loss + (i - observed) ** 2
    return loss + 0 * r


@ordinary(lambda r: 1.3 * np.array(list(np.ndindex(2, 2, 2))) + 0.1 * r.normal(size=(8, 3)), name="lennard-jones")
def lennard_jones(x):
    i, j = np.triu_indices(x.shape[0], k=1)
    inverse = 1.0 / np.sum((x[i] - x[j]) ** 2, axis=1) ** 3
    return 4 * np.sum(inverse**2 - inverse)


@ordinary((4,), (4,), (9,))
def interference(phases, amplitudes, positions):
    k = 2 * np.pi
    field = np.sum(amplitudes * np.exp(1j * (k * positions[:, None] + phases)), axis=1)
    intensity = np.abs(field) ** 2
    return intensity.mean()


@ordinary((5,))
def qubit(angles):
    state = np.array([1.0 + 0j, 0.0])
    hadamard = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    for a in angles:
        state = hadamard @ state
        state = state * np.exp(1j * a * np.array([0.5, -0.5]))
    state = hadamard @ state
    return np.real(state[0] * np.conj(state[0]))


# --- finance ------------------------------------------------------------------------------------------------------------


def normal_cdf(x):
    """Abramowitz and Stegun 7.1.26 by numpy alone."""
    z = np.abs(x) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    e = 1.0 - poly * np.exp(-z * z)
    return 0.5 * (1.0 + np.sign(x) * e)


@ordinary(
    uniform(80, 120, 6),
    uniform(80, 120, 6),
    uniform(0.1, 0.4, 6),
    np.array(0.03),
    uniform(0.2, 2, 6),
    name="black-scholes",
)
def black_scholes(spot, strike, volatility, rate, expiry):
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * expiry) / (volatility * np.sqrt(expiry))
    d2 = d1 - volatility * np.sqrt(expiry)
    call = spot * normal_cdf(d1) - strike * np.exp(-rate * expiry) * normal_cdf(d2)
    return call.sum()


@ordinary(
    lambda r: r.uniform(90, 110),
    lambda r: r.uniform(95, 115),
    lambda r: r.uniform(0.2, 0.4),
    lambda r: r.uniform(0.01, 0.05),
)
def binomial_tree(s0: Any, k: Any, sigma: Any, r: Any) -> Any:
    """An American put."""
    n, dt = 6, 1 / 6
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(r * dt) - 1 / up) / (up - 1 / up)
    prices = s0 * up ** np.arange(-n, n + 1, 2)
    value = np.maximum(k - prices, 0)
    for level in range(n - 1, -1, -1):
        prices = s0 * up ** np.arange(-level, level + 1, 2)
        value = np.exp(-r * dt) * (p * value[1:] + (1 - p) * value[:-1])
        value = np.maximum(value, k - prices)
    return value[0]


@ordinary((4,), (15, 4))
def portfolio(scores, returns, risk_aversion=2.0):
    w = mg.softmax(scores)
    daily = returns @ w
    wealth = np.prod(1 + 0.01 * daily)
    sharpe = np.mean(daily) / np.std(daily)
    return risk_aversion * (w @ covariance(returns) @ w) - sharpe - np.log(wealth)


def covariance(x):
    c = x - x.mean(0)
    return c.T @ c / (len(x) - 1)


@ordinary((12,), (12,))
def drawdown(positions, moves):
    wealth = 10 + np.cumsum(positions * moves)
    fall = wealth[:-1] - wealth[1:]
    return np.sqrt(np.mean(np.clip(fall, 0, None) ** 2) + 1e-6) - 0.1 * np.log(np.abs(wealth[-1]) + 1)


# --- signals ------------------------------------------------------------------------------------------------------------


@ordinary((2, 16), (2, 16))
def spectral_loss(x, y):
    window = np.hanning(x.shape[-1])
    X, Y = np.fft.rfft(x * window), np.fft.rfft(y * window)
    return np.mean((np.abs(X) - np.abs(Y)) ** 2) + np.mean(np.abs(X - Y))


@ordinary((24,), (24,), name="short-time fourier")
def short_time_fourier(signal, reference):
    frames = np.lib.stride_tricks.sliding_window_view(signal, 8)[::4]
    spectrum = np.abs(np.fft.rfft(frames, axis=-1)) ** 2
    other = np.abs(np.fft.rfft(np.lib.stride_tricks.sliding_window_view(reference, 8)[::4], axis=-1)) ** 2
    return np.abs(np.log(spectrum + 1e-3) - np.log(other + 1e-3)).mean()


@ordinary((5,), (20,), (20,))
def fir_filter(taps, noisy, clean):
    filtered = np.convolve(noisy, taps, mode="same")
    return ((filtered - clean) ** 2).mean()


@ordinary((), (2,), (10,), scale=0.5)
def recursive_filter(b, a, x):
    """y[t] = b x[t] - a0 y[t-1] - a1 y[t-2]"""
    y = [np.zeros(()), np.zeros(())]
    for t in range(x.shape[0]):
        y.append(b * x[t] - a[0] * y[-1] - a[1] * y[-2])
    return np.sum(np.stack(y[2:]) ** 2)


@ordinary((7,), (8,))
def frequency_response(filter_, gain):
    response = np.fft.fft(filter_, n=16)
    return np.sum((np.abs(response[:8]) - gain) ** 2) + 0.01 * np.sum(np.angle(response[1:4]) ** 2)


@ordinary((5, 6), (5, 6), 0.3)
def total_variation(image, noisy, weight):
    tv = np.abs(np.diff(image, axis=0)).sum() + np.abs(np.diff(image, axis=1)).sum()
    return 0.5 * ((image - noisy) ** 2).sum() + weight * tv


# --- linear algebra -------------------------------------------------------------------------------------------------------


@ordinary((7, 3), (3,), (3, 3))
def gaussian_log_likelihood(x, mean, factor):
    """The negative log likelihood by a Cholesky factor of the covariance factor @ factor.T + I."""
    d = mean.shape[0]
    L = np.linalg.cholesky(factor @ factor.T + np.eye(d))
    z = np.linalg.solve(L, (x - mean).T)
    return 0.5 * np.sum(z**2) / len(x) + np.sum(np.log(np.diagonal(L))) + 0.5 * d * np.log(2 * np.pi)


@ordinary((3, 3), (8, 3))
def precision_likelihood(A, samples):
    precision = A @ A.T + 0.5 * np.eye(len(A))
    sign, logdet = np.linalg.slogdet(precision)
    return 0.5 * np.einsum("ni,ij,nj->", samples, precision, samples) - 0.5 * sign * logdet * samples.shape[0]


@ordinary((4, 4), (4,), (4,))
def stationary_inverse(W, b, y):
    n = W.shape[0]
    fixed_point = np.linalg.inv(np.eye(n) - 0.1 * W) @ b
    return np.linalg.norm(fixed_point - y) ** 2


@ordinary((5, 5))
def spectral_gap(weights):
    A = (weights + weights.T) / 2
    eigenvalues = np.linalg.eigvalsh(A)
    return eigenvalues[-1] - eigenvalues[-2] + 0.01 * np.sum(eigenvalues**2)


@ordinary((6, 4), lambda r: r.random((6, 4)) < 0.6, (6, 4))
def low_rank(M, mask, seen):
    """Matrix completion: what was seen, and the nuclear norm."""
    singular = np.linalg.svd(M, compute_uv=False)
    return np.sum(mask * (M - seen) ** 2) + 0.1 * singular.sum()


@ordinary((7, 2), (7,), lambda r: np.log([1.0, 1.2, 0.4]) + 0.1 * r.normal(size=3))
def gaussian_process(X, y, log_hyper):
    """Minus the log marginal likelihood of a GP with an RBF kernel.

    log_hyper: log of (lengthscale, signal, noise)
    """
    ell, sf, sn = np.exp(log_hyper)
    sq = np.sum(X**2, 1).reshape(-1, 1) + np.sum(X**2, 1) - 2 * np.dot(X, X.T)
    K = sf**2 * np.exp(-0.5 / ell**2 * sq) + (sn**2 + 1e-6) * np.eye(len(X))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ alpha + np.log(np.diag(L)).sum() + 0.5 * len(X) * np.log(2 * np.pi)


@ordinary((6, 2), (7, 2))
def maximum_mean_discrepancy(x, y):
    kernel = lambda a, b: np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))
    return kernel(x, x).mean() + kernel(y, y).mean() - 2 * kernel(x, y).mean()


@ordinary((6,), (6,), (4,), (4,), ())
def kernel_ridge(x, y, x_test, y_test, log_width):
    k = lambda a, b: 1 / (1 + np.abs(a[:, None] - b) / np.exp(log_width))
    alpha = np.linalg.solve(k(x, x) + 0.1 * np.eye(x.size), y)
    return np.mean((k(x_test, x) @ alpha - y_test) ** 2)


# --- geometry -----------------------------------------------------------------------------------------------------------


@ordinary((5, 6), uniform(-0.5, 5, (8, 2)), (8,))
def bilinear(image, xy, wanted):
    """Sample an image at points between the pixels."""
    h, w = image.shape
    x = np.clip(xy[:, 0], 0, w - 1.001)
    y = np.clip(xy[:, 1], 0, h - 1.001)
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = x - x0, y - y0
    i, j = y0.astype(int), x0.astype(int)
    top = (1 - fx) * image[i, j] + fx * image[i, j + 1]
    bottom = (1 - fx) * image[i + 1, j] + fx * image[i + 1, j + 1]
    return np.mean(((1 - fy) * top + fy * bottom - wanted) ** 2)


@ordinary((2, 3), (3, 2))
def affine_grid(theta, bumps):
    """Move a grid by a 2x3 matrix and measure a smooth image on it."""
    lin = np.linspace(-1, 1, 5)
    gx, gy = np.meshgrid(lin, lin)
    grid = np.stack([gx.ravel(), gy.ravel(), np.ones(25)])
    moved = theta @ grid
    d2 = (moved[0][:, None] - bumps[:, 0]) ** 2 + (moved[1][:, None] - bumps[:, 1]) ** 2
    return np.exp(-d2).sum(axis=1).max() + np.exp(-d2).mean()


@ordinary((4,), (6, 3), (6, 3))
def quaternion_rotation(q, points, targets):
    w, x, y, z = q / np.sqrt(q @ q)
    R = np.stack(
        [
            np.stack([1 - 2 * (y**2 + z**2), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x**2 + z**2), 2 * (y * z - w * x)]),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)]),
        ]
    )
    return ((points @ R.T - targets) ** 2).sum(1).mean()


@ordinary((3,), uniform(0.5, 1.5, 3), lambda r: np.array([1.0, 1.5]) + r.uniform(size=2))
def robot_arm(angles, lengths, goal):
    total = np.cumsum(angles)
    x, y = np.sum(lengths * np.cos(total)), np.sum(lengths * np.sin(total))
    heading = np.arctan2(y, x) - np.arctan2(goal[1], goal[0])
    return np.hypot(x - goal[0], y - goal[1]) + 0.1 * (1 - np.cos(heading))


@ordinary((6, 3), lambda r: 0.3 * r.normal(size=6), np.array(2.0), (6, 2))
def camera(points, pose, focal, seen):
    """Reprojection error; pose is an axis-angle vector and a shift."""
    rotation, shift = pose[:3], pose[3:]
    angle = np.sqrt(rotation @ rotation + 1e-9)
    axis = rotation / angle
    p = (
        points * np.cos(angle)
        + np.cross(axis, points) * np.sin(angle)
        + axis * (points @ axis)[:, None] * (1 - np.cos(angle))
    )
    p = p + shift + np.array([0, 0, 8.0])
    uv = focal * p[:, :2] / p[:, 2:]
    return np.sum((uv - seen) ** 2)


@ordinary((4, 2), lambda r: r.uniform(size=9), (9, 2))
def bezier(control, t, samples):
    # de Casteljau
    points = [control[i][None, :] for i in range(control.shape[0])]
    s = t[:, None]
    while len(points) > 1:
        points = [(1 - s) * a + s * b for a, b in pairwise(points)]
    return ((points[0] - samples) ** 2).sum()


@ordinary((8,), uniform(1, 6, 10), (10,), name="catmull-rom")
def catmull_rom(knots, u, y):
    """A cubic spline through equidistant knots, at positions u in [1, n - 2)."""
    k = np.floor(u).astype(int)
    t = u - k
    a, b, c, d = knots[k - 1], knots[k], knots[k + 1], knots[k + 2]
    value = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
    return np.mean((value - y) ** 2)


@ordinary((5,), (9,), (9,))
def polynomial_fit(coefficients, x, y):
    value = 0.0
    for c in coefficients[::-1]:  # Horner
        value = value * x + c
    penalty = np.sum(np.arange(5) * coefficients**2)
    return ((value - y) ** 2).mean() + 1e-3 * penalty


@ordinary((6, 2))
def polygon_area(vertices):
    x, y = vertices.T
    area = 0.5 * np.abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    edges = vertices - np.roll(vertices, 1, axis=0)
    return np.linalg.norm(edges, axis=1).sum() ** 2 / (area + 1.0)
