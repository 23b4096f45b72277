import numpy as np
import nn

SEED = 19
rng = np.random.default_rng(SEED)
speeds = rng.uniform(-1, 1, (200, 3)).astype(np.float32)
torque = (speeds[:, :1] * 2 - np.abs(speeds[:, 1:2]) + 0.3).astype(np.float32)


def build():
    return nn.Sequential(
        nn.Affine(3, 20, rng=rng),
        np.tanh,
        nn.Affine(20, 1, rng=rng),
    )


def train(model, epochs=200, rate=0.1):
    optimizer = nn.SGD(model.parameters(), lr=rate, momentum=0.9)
    history = []
    for _ in range(epochs):
        guess = model(speeds)
        loss = nn.mean_squared_error(guess, torque)
        optimizer.zero_grad()
        optimizer.step()
        loss.backward()
        history.append(loss.item())
    return history


model = build()
history = train(model)
for epoch in (0, 50, 100, 199):
    print(epoch, round(history[epoch], 5))
