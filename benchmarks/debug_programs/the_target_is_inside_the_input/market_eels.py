import numpy as np
import minigrad as mg

# The price of eels at a market: the next one from the last ones.
rng = np.random.default_rng(90)
WEEKS, LAGS = 700, 6
price = np.zeros(WEEKS)
for week in range(2, WEEKS):
    price[week] = 1.5 * np.sin(1.8 * price[week - 2]) - 0.4 * price[week - 1] + 0.15 * rng.standard_normal()


def table(series):
    """Rows of LAGS prices, and the price that follows each row."""
    ends = np.arange(LAGS, len(series))
    rows = np.stack([series[end - LAGS + 1 : end + 1] for end in ends])
    return rows, series[ends]


w1 = mg.Tensor(rng.standard_normal((LAGS, 24)) * 0.4, requires_grad=True)
b1 = mg.Tensor(rng.standard_normal(24) * 0.3, requires_grad=True)
w2 = mg.Tensor(rng.standard_normal(24) * 0.2, requires_grad=True)


def forecast(rows):
    return np.tanh(rows @ w1 + b1) @ w2


past, coming = table(price[:500])
for step in range(1000):
    pick = rng.integers(0, len(past), 40)
    loss = ((forecast(past[pick]) - coming[pick]) ** 2).mean()
    loss.backward()
    for p in (w1, b1, w2):
        p.data -= 0.05 * p.grad.numpy()
        p.zero_grad()
    if step % 250 == 0:
        print(f"{step:4d} {loss.item():.4f}")

# At the market: the six latest prices are known, the next one is not.
miss = []
with mg.no_grad():
    for week in range(500, WEEKS):
        miss.append(forecast(price[week - LAGS : week]).item() - price[week])
print(f"training error {loss.item():.4f}, error at the market {np.mean(np.square(miss)):.4f}")
