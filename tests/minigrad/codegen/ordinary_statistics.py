"""Ordinary programs of statistics: regressions, likelihoods, losses, sequences and rankings."""

from typing import Any

import numpy as np

import minigrad as mg

from .ordinary import integers, ordinary, uniform

# --- regression -----------------------------------------------------------------------------------------------------


@ordinary((3,), (), (10, 3), (10,))
def linear_regression(w, b, x, y):
    prediction = x @ w + b
    return np.mean((prediction - y) ** 2)


@ordinary((9, 4), (9,), (4,), 0.5)
def ridge(X, y, beta, lam):
    """Ridge regression: squared residuals plus a penalty on the coefficients."""
    r = y - X @ beta
    return r @ r + lam * beta @ beta


@ordinary((5,), (), (12, 5), (12,))
def elastic_net(coef, intercept, X, y, *, alpha=0.1, l1_ratio=0.3):
    residual = X @ coef + intercept - y
    data = 0.5 * np.mean(residual**2)
    penalty = l1_ratio * np.abs(coef).sum() + 0.5 * (1 - l1_ratio) * (coef**2).sum()
    return data + alpha * penalty


@ordinary((4,), lambda r: r.normal(), (20, 4), lambda r: r.choice([-1.0, 1.0], size=20))
def logistic_regression(w: Any, b: Any, x: Any, labels: Any) -> Any:
    """Labels are -1 or 1."""
    margin = labels * (x.dot(w) + b)
    return np.logaddexp(0.0, -margin).mean()


@ordinary((3,), (15, 3), integers(0, 2, 15))
def bernoulli_regression(theta, X, y):
    # the way it is written in most courses: probabilities first, then logs
    p = 1 / (1 + np.exp(-(X @ theta)))
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)) / len(y)


@ordinary((5, 3), (3,), (8, 5), integers(0, 3, 8))
def softmax_regression(W, b, X, y):
    logits = X @ W + b
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y].mean()


@ordinary(
    lambda r: 0.3 * r.normal(size=3), (10, 3), lambda r: r.poisson(2.0, size=10), lambda r: 0.1 * r.normal(size=10)
)
def poisson_regression(beta, X, counts, log_exposure):
    eta = X @ beta + log_exposure
    return np.sum(np.exp(eta) - counts * eta)


@ordinary(
    (3,),
    lambda r: np.array([-1.0]) + 0.1 * r.normal(size=1),
    lambda r: 0.3 * r.normal(size=2),
    (10, 3),
    integers(0, 4, 10),
)
def ordinal_regression(w, first_cut, log_gaps, X, grade):
    """Proportional odds: the cuts are kept in order by adding positive gaps to the first one."""
    cuts = np.concatenate([first_cut, first_cut + np.cumsum(np.exp(log_gaps))])
    score = X @ w
    below = 1.0 / (1.0 + np.exp(score[:, None] - cuts[None, :]))
    n = score.shape[0]
    cumulative = np.concatenate([np.zeros((n, 1)), below, np.ones((n, 1))], axis=1)
    p = np.diff(cumulative, axis=1)
    return -np.mean(np.log(p[np.arange(n), grade] + 1e-9))


@ordinary((4,), (), (), (11, 4), (11,))
def robust_student(w, log_scale, log_df, X, y):
    """Student t noise, up to terms that need the gamma function."""
    scale, df = np.exp(log_scale), np.exp(log_df)
    z = (y - X @ w) / scale
    return np.sum(0.5 * (df + 1) * np.log1p(z**2 / df) + log_scale)


@ordinary((4,), (11, 4), (11,))
def huber_regression(w, X, y, delta=1.0):
    error = y - X @ w
    small = np.abs(error) <= delta
    quadratic = 0.5 * error**2
    linear = delta * (np.abs(error) - 0.5 * delta)
    return np.where(small, quadratic, linear).mean()


@ordinary((3, 3), (3,), (10, 3), (10,), np.array([0.1, 0.5, 0.9]))
def quantile_loss(weights, bias, x, y, levels):
    """Pinball loss for several levels at once; every level has its own column of weights."""
    predictions = x @ weights + bias
    difference = y[:, np.newaxis] - predictions
    return np.maximum(levels * difference, (levels - 1) * difference).mean(0).sum()


@ordinary((10,), ())
def median_absolute_deviation(x, centre):
    d = np.abs(x - centre)
    return np.median(d) + 0.1 * np.mean(d)


# --- mixtures, clusters, projections ----------------------------------------------------------------------------------


def _logsumexp(a, axis):
    m = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(m, axis=axis) + np.log(np.sum(np.exp(a - m), axis=axis))


@ordinary((12, 2), (3,), (3, 2), (3, 2))
def gaussian_mixture(x, logits, means, log_stds):
    """Negative log likelihood of a mixture of K Gaussians with diagonal covariances.

    x: (N, D), logits: (K,), means: (K, D), log_stds: (K, D)
    """
    log_weights = logits - _logsumexp(logits, axis=0)
    z = (x[:, None, :] - means) / np.exp(log_stds)
    log_prob = -0.5 * np.sum(z**2 + 2 * log_stds + np.log(2 * np.pi), axis=-1)
    return -np.mean(_logsumexp(log_weights + log_prob, axis=1))


@ordinary((14, 2), (3, 2), 1.5, name="soft k-means")
def soft_kmeans(points, centres, temperature):
    d2 = ((points[:, None] - centres[None]) ** 2).sum(-1)
    r = np.exp(-d2 / temperature)
    r = r / r.sum(1, keepdims=True)
    return (r * d2).sum() / len(points)


@ordinary((10, 5), (5, 2))
def pca_loss(X, V):
    Xc = X - X.mean(axis=0)
    Z = Xc @ V
    reconstruction = Z @ V.T
    orthogonality = V.T @ V - np.eye(V.shape[1])
    return np.sum((Xc - reconstruction) ** 2) + np.sum(orthogonality**2)


@ordinary((3,), (8, 3), (6, 3))
def fisher_criterion(w, first, second):
    a, b = first @ w, second @ w
    between = (np.mean(a) - np.mean(b)) ** 2
    within = np.var(a) + np.var(b)
    return -between / within


def _joint(rng: np.random.Generator, n: int) -> Any:
    p = rng.uniform(0.1, 1, size=(n, n))
    p = (p + p.T) * (1 - np.eye(n))
    return p / p.sum()


@ordinary((7, 2), lambda r: _joint(r, 7), name="t-sne")
def tsne(positions, P):
    n = positions.shape[0]
    sq = np.sum(positions**2, axis=1)
    distance = sq[:, None] - 2 * positions @ positions.T + sq
    affinity = (1 - np.eye(n)) / (1 + distance)
    Q = affinity / affinity.sum()
    others = ~np.eye(n, dtype=bool)
    p, q = P[others], Q[others]
    return np.sum(p * np.log(p / q))


@ordinary((5, 2), np.array(np.triu_indices(5, 1)).T, uniform(0.5, 2.0, 10))
def stress(layout: Any, pairs: Any, wanted: Any) -> Any:
    """Multidimensional scaling: the drawn distances should be the wanted ones."""
    i, j = pairs[:, 0], pairs[:, 1]
    drawn_distance = np.linalg.norm(layout[i] - layout[j], axis=1)
    return np.sum((drawn_distance - wanted) ** 2 / wanted)


@ordinary((6, 2), (7, 2), (6,), (7,), integers(0, 6, 15), integers(0, 7, 15), uniform(1, 5, 15))
def matrix_factorisation(U, V, user_bias, item_bias, users, items, ratings):
    mu = 3.5
    predicted = mu + user_bias[users] + item_bias[items] + (U[users] * V[items]).sum(axis=1)
    loss = ((ratings - predicted) ** 2).mean()
    reg = 0.01 * ((U**2).sum() + (V**2).sum())
    return loss + reg


@ordinary((6, 3), (6, 3), integers(0, 6, (9, 3)), name="bayesian personalised ranking")
def bpr(user_vectors, item_vectors, triples):
    """Bayesian personalised ranking over (user, liked item, other item)."""
    u = user_vectors[triples[:, 0]]
    liked = item_vectors[triples[:, 1]]
    other = item_vectors[triples[:, 2]]
    x = np.einsum("nd,nd->n", u, liked - other)
    return -mg.sigmoid(x).mean() + 0.01 * np.sum(user_vectors**2)


# --- survival -----------------------------------------------------------------------------------------------------------


@ordinary((3,), (10, 3), lambda r: r.permutation(10), np.array([1, 0, 1, 1, 1, 0, 1, 0, 1, 1]))
def cox(beta, X, order, event):
    """Partial likelihood; ``order`` sorts the patients from the longest time to the shortest."""
    risk = (X @ beta)[order]
    happened = event[order]
    at_risk = np.log(np.cumsum(np.exp(risk)))
    return -np.sum((risk - at_risk) * happened) / np.sum(happened)


@ordinary(np.array(0.2), lambda r: 0.3 * r.normal(size=3), uniform(0.5, 3, 10), (10, 3), lambda r: r.random(10) < 0.7)
def weibull(log_k, w, times, X, observed):
    k = np.exp(log_k)
    log_lam = X @ w
    log_hazard = log_k - log_lam + (k - 1) * (np.log(times) - log_lam)
    cumulative = (times / np.exp(log_lam)) ** k
    return -(np.where(observed, log_hazard, 0.0) - cumulative).mean()


# --- losses of classification and vision --------------------------------------------------------------------------------


@ordinary((4, 3), (9, 4), integers(0, 3, 9))
def multiclass_hinge(W, X, y):
    scores = X @ W
    n = X.shape[0]
    correct = scores[np.arange(n), y].reshape(-1, 1)
    margins = np.maximum(0, scores - correct + 1)
    # the correct class adds exactly 1 to each row
    return margins.sum() / n - 1 + 5e-3 * np.sum(W * W)


@ordinary((5, 4), integers(0, 2, (5, 4)))
def focal(logits, targets, gamma=2.0, alpha=0.25):
    p = mg.sigmoid(logits)
    pt = np.where(targets == 1, p, 1 - p)
    weight = np.where(targets == 1, alpha, 1 - alpha)
    return np.mean(-weight * (1 - pt) ** gamma * np.log(np.clip(pt, 1e-7, 1.0)))


@ordinary((2, 6, 6), integers(0, 2, (2, 6, 6)))
def dice(logits, mask):
    prob = 1.0 / (1.0 + np.exp(-logits))
    axes = (1, 2)
    intersection = np.sum(prob * mask, axis=axes)
    total = np.sum(prob, axis=axes) + np.sum(mask, axis=axes)
    return 1 - np.mean((2 * intersection + 1.0) / (total + 1.0))


def _boxes(rng: np.random.Generator) -> Any:
    corner = rng.uniform(0, 1, size=(6, 2))
    return np.concatenate([corner, corner + rng.uniform(1, 2, size=(6, 2))], axis=1)


@ordinary(_boxes, _boxes)
def box_iou(predicted, target):
    """1 - IoU of boxes (x0, y0, x1, y1)."""
    left_top = np.maximum(predicted[:, :2], target[:, :2])
    right_bottom = np.minimum(predicted[:, 2:], target[:, 2:])
    size = np.clip(right_bottom - left_top, 0, None)
    overlap = size[:, 0] * size[:, 1]

    def area(boxes):
        return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])

    union = area(predicted) + area(target) - overlap
    return (1 - overlap / union).mean()


@ordinary(lambda r: r.normal(size=(6, 4)).astype(np.float32), integers(0, 4, 6))
def label_smoothing(logits, labels):
    eps, k = 0.1, logits.shape[-1]
    smooth = np.full((len(labels), k), eps / k)
    smooth[np.arange(len(labels)), labels] += 1 - eps
    return -(smooth * mg.log_softmax(logits)).sum(-1).mean()


@ordinary((6, 5), (6, 5), integers(0, 5, 6))
def distillation(student, teacher, labels):
    T = 3.0
    soft = mg.softmax(teacher / T)
    kl = np.sum(soft * (np.log(soft) - mg.log_softmax(student / T)), axis=-1)
    hard = mg.cross_entropy(student, labels)
    return 0.7 * T * T * np.mean(kl) + 0.3 * hard


@ordinary((6, 4), (6, 4), ())
def info_nce(a, b, log_temperature):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    sim = a @ b.T * np.exp(log_temperature)
    rows = np.diag(sim) - mg.logsumexp(sim, axis=1)
    cols = np.diag(sim) - mg.logsumexp(sim, axis=0)
    return -(rows.mean() + cols.mean()) / 2


@ordinary((7, 3), (7, 3), (7, 3))
def triplet(anchor, positive, negative, margin=0.5):
    dp = np.sqrt(((anchor - positive) ** 2).sum(axis=-1) + 1e-8)
    dn = np.sqrt(((anchor - negative) ** 2).sum(axis=-1) + 1e-8)
    return np.maximum(dp - dn + margin, 0.0).mean()


@ordinary((5, 3), (5, 3), (8, 3))
def hardest_triplet(anchor, positive, pool):
    """The negative of each anchor is the nearest vector of the pool."""
    to_pool = np.sum((anchor[:, None, :] - pool[None, :, :]) ** 2, axis=2)
    nearest = np.argmin(to_pool, axis=1)
    dn = to_pool[np.arange(anchor.shape[0]), nearest]
    dp = np.sum((anchor - positive) ** 2, axis=1)
    return mg.relu(dp - dn + 1.0).sum()


@ordinary((20, 4), (20, 4), integers(0, 20, 6), integers(0, 20, 6), integers(0, 20, (6, 3)))
def word2vec(center_vectors, context_vectors, centers, contexts, negatives):
    """Skip-gram with negative sampling. negatives: (batch, k) indices."""
    v = center_vectors[centers]  # (batch, d)
    u = context_vectors[contexts]  # (batch, d)
    u_neg = context_vectors[negatives]  # (batch, k, d)
    positive = np.log(mg.sigmoid(np.sum(u * v, axis=1)))
    negative = np.log(mg.sigmoid(-np.einsum("bkd,bd->bk", u_neg, v)))
    return -(positive + negative.sum(axis=1)).mean()


# --- sequences ------------------------------------------------------------------------------------------------------------


@ordinary((3,), (3, 3), (3, 4), integers(0, 4, 6))
def hmm_forward(log_start, transition_scores, emission_scores, observations):
    log_pi = log_start - mg.logsumexp(log_start, axis=0)
    log_A = transition_scores - mg.logsumexp(transition_scores, axis=1, keepdims=True)
    log_B = emission_scores - mg.logsumexp(emission_scores, axis=1, keepdims=True)
    alpha = log_pi + log_B[:, observations[0]]
    for o in observations[1:]:
        alpha = mg.logsumexp(alpha[:, None] + log_A, axis=0) + log_B[:, o]
    return -mg.logsumexp(alpha, axis=0)


@ordinary((6, 4), (4, 4), integers(0, 4, 6))
def crf(unary, pairwise, tags):
    """Negative log likelihood of a linear chain."""
    T = unary.shape[0]
    score = unary[np.arange(T), tags].sum() + pairwise[tags[:-1], tags[1:]].sum()
    forward = unary[0]
    for t in range(1, T):
        forward = _logsumexp(forward[:, None] + pairwise, 0) + unary[t]
    return _logsumexp(forward, 0) - score


@ordinary((5, 2), lambda r: np.eye(3) + 0.1 * r.normal(size=(3, 3)), (2, 3), np.array(-1.0), np.array(-0.5))
def kalman(y, A, C, log_q, log_r):
    n, m = A.shape[0], C.shape[0]
    Q, R = np.exp(log_q) * np.eye(n), np.exp(log_r) * np.eye(m)
    mean, P = np.zeros(n), np.eye(n)
    nll = 0.0
    for t in range(len(y)):
        # predict
        mean = A @ mean
        P = A @ P @ A.T + Q
        # update
        S = C @ P @ C.T + R
        innovation = y[t] - C @ mean
        K = P @ C.T @ np.linalg.inv(S)
        mean = mean + K @ innovation
        P = P - K @ C @ P
        nll = nll + 0.5 * (np.linalg.slogdet(S)[1] + innovation @ np.linalg.solve(S, innovation))
    return nll


@ordinary(lambda r: 0.3 * r.normal(size=3), np.array(0.1), (20,))
def autoregression(phi, log_sigma, series):
    p = phi.shape[0]
    windows = np.lib.stride_tricks.sliding_window_view(series, p)[:-1]
    e = (series[p:] - windows @ phi) / np.exp(log_sigma)
    return 0.5 * (e**2).sum() + len(e) * log_sigma


@ordinary((3,), (8,))
def garch(params, returns):
    omega, alpha, beta = np.exp(params[0]), mg.sigmoid(params[1]) * 0.3, mg.sigmoid(params[2]) * 0.6
    variance = np.var(returns)
    total = 0.0
    for r in returns:
        variance = omega + alpha * r**2 + beta * variance
        total = total + np.log(variance) + r**2 / variance
    return total / 2


# --- decisions ----------------------------------------------------------------------------------------------------------


@ordinary((4, 6), (6, 2), (7, 4), integers(0, 2, 7), lambda r: r.uniform(size=7))
def policy_gradient(W1, W2, states, actions, rewards):
    """REINFORCE with the mean return as the baseline; the actions are given."""
    h = np.tanh(states @ W1)
    logp = mg.log_softmax(h @ W2, axis=-1)
    returns = np.cumsum(rewards[::-1])[::-1]
    advantage = returns - returns.mean()
    return -(logp[range(len(actions)), actions] * advantage).mean()


@ordinary((8, 3), lambda r: -1.1 + 0.2 * r.normal(size=8), integers(0, 3, 8), (8,))
def ppo(logits, old_log_prob, actions, advantages, clip=0.2):
    log_p = mg.log_softmax(logits)
    taken = np.take_along_axis(log_p, actions[:, None], axis=1).squeeze(1)
    ratio = np.exp(taken - old_log_prob)
    objective = np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages)
    entropy = -np.sum(np.exp(log_p) * log_p, axis=1)
    return -np.mean(objective) - 0.01 * np.mean(entropy)


@ordinary((5, 2), (6, 2))
def sinkhorn(x, y, eps=0.5):
    """Entropic optimal transport between two clouds of points, in the log domain."""
    cost = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)
    n, m = cost.shape
    f, g = np.zeros(n), np.zeros(m)
    for _ in range(15):
        f = -eps * mg.logsumexp((g - cost) / eps - np.log(m), axis=1)
        g = -eps * mg.logsumexp((f[:, None] - cost) / eps - np.log(n), axis=0)
    plan = np.exp((f[:, None] + g - cost) / eps) / (n * m)
    return np.sum(plan * cost)


@ordinary((9,), (9,))
def wasserstein_1d(a, b):
    return np.abs(np.sort(a) - np.sort(b)).mean()
