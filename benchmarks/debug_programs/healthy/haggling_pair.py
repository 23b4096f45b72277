import numpy as np
import nn

# Two networks learn in turn: a forecaster of prices, and a judge that says how far off the forecast will be.
rng = np.random.default_rng(206)


def market(n):
    x = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    spread = 0.05 + 0.4 * (x[:, :1] > 0)
    price = np.sin(3 * x[:, :1]) * x[:, 1:] + spread * rng.normal(size=(n, 1))
    return x, price.astype(np.float32)


def mlp(seed):
    r = np.random.default_rng(seed)
    return nn.Sequential(nn.Affine(2, 32, rng=r), np.tanh, nn.Affine(32, 1, rng=r))


forecaster, judge = mlp(1), mlp(2)
forecast_optimizer = nn.Adam(forecaster.parameters(), lr=0.005)
judge_optimizer = nn.Adam(judge.parameters(), lr=0.005)

for step in range(1200):
    x, price = market(64)
    if step % 2 == 0:
        loss = nn.mean_squared_error(forecaster(x), price)
        forecast_optimizer.zero_grad()
        loss.backward()
        forecast_optimizer.step()
    else:
        miss = np.abs(forecaster(x).numpy() - price)
        judge_loss = nn.mean_squared_error(judge(x), miss)
        judge_optimizer.zero_grad()
        judge_loss.backward()
        judge_optimizer.step()
    if step % 200 == 199:
        print(step + 1, "forecast", round(loss.item(), 4), "judge", round(judge_loss.item(), 4))

x, _ = market(2000)
exact = np.sin(3 * x[:, :1]) * x[:, 1:]
print("error of the forecast:", np.mean((forecaster(x).numpy() - exact) ** 2).round(4))
calm = x[:, 0] < -0.1
print("expected miss: calm", judge(x).numpy()[calm].mean().round(3), "wild", judge(x).numpy()[~calm].mean().round(3))
