"""What margin will a bank ask for a loan? The most probable weights of a small network, with a normal prior around zero."""
import numpy as np
import minigrad as mg

NOISE, PRIOR = 0.5, 0.6                                 # standard deviations of the margins and of a weight
rng = np.random.default_rng(29)
n = 1200
rating = rng.integers(1, 8, n)
years = rng.uniform(1, 20, n)
secured = rng.random(n) < 0.55
size = rng.lognormal(0, 0.7, n)
debt = rng.beta(2, 3, n)
margin = 0.3 + 0.07 * rating**1.5 + 0.02 * years - 0.5 * secured + 0.9 * debt**2 - 0.1 * np.log(size) + rng.normal(0, 0.15, n)
x = np.column_stack([rating, years, secured, np.log(size), debt])
x = (x - x[:900].mean(axis=0)) / x[:900].std(axis=0)
middle, spread = margin[:900].mean(), margin[:900].std()
y = (margin - middle) / spread
x_train, y_train, x_test, y_test = x[:900], y[:900], x[900:], y[900:]


class Network:
    def __init__(self, sizes):
        self.layers = [(rng.normal(size=(a, b)) / a**0.5, np.zeros(b)) for a, b in zip(sizes, sizes[1:])]

    @staticmethod
    def predict(layers, x):
        for W, b in layers[:-1]:
            x = np.tanh(x @ W + b)
        W, b = layers[-1]
        return (x @ W + b)[:, 0]

    def objective(self, layers, x, y):
        """The negative logarithm of the posterior, for each loan."""
        likelihood = np.mean((self.predict(layers, x) - y) ** 2) / (2 * NOISE**2)
        prior = sum(np.sum(W**2) for W, _ in layers) / (2 * PRIOR**2)
        return likelihood + prior

    def fit(self, x, y, steps, lr):
        gradient = mg.value_and_grad(self.objective)
        for step in range(steps):
            rows = rng.integers(len(x), size=100)
            value, slopes = gradient(self.layers, x[rows], y[rows])
            rate = lr * (1 - step / steps)
            self.layers = [(W - rate * dW, b - rate * db) for (W, b), (dW, db) in zip(self.layers, slopes)]
            if step % 100 == 99:
                sizes = [round(float(np.sqrt(np.mean(W**2))), 3) for W, _ in self.layers]
                print(step + 1, f"{value:.3f}", sizes)


network = Network([5, 20, 10, 1])
network.fit(x_train, y_train, steps=700, lr=0.04)
off = np.abs(network.predict(network.layers, x_test) - y_test).mean() * spread
print(f"percentage points off: {off:.3f}; always the mean: {np.abs(margin[900:] - middle).mean():.3f}")
