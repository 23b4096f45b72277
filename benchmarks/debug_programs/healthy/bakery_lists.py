# %% How many rolls will be sold tomorrow? The weekday, the weather and the sales of the last seven days
import minigrad as mg
import numpy as np

rng = np.random.default_rng(28)
DAYS = 1200
weekday = np.arange(DAYS) % 7
sun = np.clip(0.5 + 0.3 * np.cumsum(rng.normal(0, 0.3, DAYS)) % 1, 0, 1)
trend = np.zeros(DAYS)
for day in range(1, DAYS):
    trend[day] = 0.97 * trend[day - 1] + rng.normal(0, 3)
usual = np.array([90, 95, 100, 105, 130, 180, 150])
sold = usual[weekday] + trend + 40 * sun + rng.normal(0, 4, DAYS)

# %% The table: a row for each day from the eighth, the last year is for the test
days = np.arange(7, DAYS)
train, test = days[days < 835], days[days >= 835]
centre, spread = sold[train].mean(), sold[train].std()


def table(days):
    last_week = (sold[days[:, None] - np.arange(1, 8)] - centre) / spread
    return np.column_stack([np.eye(7)[weekday[days]], sun[days], last_week]), (sold[days] - centre) / spread


x, y = table(train)
x_test, y_test = table(test)
print(x.shape, x_test.shape)


# %% A network of one hidden layer beside a straight line
def predict(p, x):
    return np.tanh(x @ p["w"] + p["b"]) @ p["v"] + x @ p["line"] + p["c"]


def loss(p, x, y):
    return np.mean((predict(p, x) - y) ** 2) + 1e-4 * np.sum(p["v"] ** 2)


n = x.shape[1]
p = {"w": rng.normal(0, n**-0.5, (n, 12)), "b": np.zeros(12), "v": np.zeros(12), "line": np.zeros(n), "c": 0.0}
gradient = mg.value_and_grad(loss)
for step in range(1501):
    value, g = gradient(p, x, y)
    p = mg.tree_map(lambda a, d: a - 0.1 * d, p, g)
    if step % 300 == 0:
        print(f"{step:5d}  {float(value):.4f}")

# %% The last year
miss = spread * (predict(p, x_test) - y_test)
week_ago = sold[test] - sold[test - 7]
print(f"off by {np.sqrt(np.mean(miss**2)):.1f} rolls; last week's number is off by {np.sqrt(np.mean(week_ago**2)):.1f}")
