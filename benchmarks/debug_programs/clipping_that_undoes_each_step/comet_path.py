import numpy as np
import nn

rng = np.random.default_rng(75)
when = rng.uniform(-1, 1, (150, 1)).astype(np.float32)
where = np.concatenate([np.cos(3 * when), np.sin(3 * when)], axis=1)


def model_and_optimizer(rng):
    model = nn.Sequential(
        nn.Affine(1, 32, rng=rng),
        np.tanh,
        nn.Affine(32, 32, rng=rng),
        np.tanh,
        nn.Affine(32, 2, rng=rng),
    )
    return model, nn.Adam(model.parameters(), lr=0.01)


model, optimizer = model_and_optimizer(rng)
LIMIT = 0.05
for step in range(600):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(when), where)
    loss.backward()
    optimizer.step()
    for p in model.parameters():
        p.data = np.clip(p.data, -LIMIT, LIMIT)
    if step % 120 == 119:
        print(f"step {step + 1} loss {loss.item():.5f}")

worst = np.abs(model(when).numpy() - where).max()
print("largest error", round(float(worst), 3))
