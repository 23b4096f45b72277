"""Finish times of runners. Four small batches make one step: the gradients add up, each with a quarter of the weight."""
import numpy as np
import nn

rng = np.random.default_rng(42)
n = 320
runner = rng.standard_normal((n, 5)).astype(np.float32)
minutes = (240 - 22 * runner[:, 0] + 9 * runner[:, 1] * (runner[:, 1] > 0) + 4 * rng.standard_normal(n)).astype(np.float32)
target = ((minutes - minutes.mean()) / minutes.std())[:, None]

PARTS = 4
model = nn.Sequential(nn.Affine(5, 20, rng=rng), np.tanh, nn.Dropout(0.05, rng=rng), nn.Affine(20, 1, rng=rng))
optimizer = nn.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
small = nn.Batches([runner[:256], target[:256]], 16, seed=9)

for epoch in range(30):
    model.train()
    losses = []
    for number, (x, y) in enumerate(small.epoch(epoch)):
        if number % PARTS == 0:
            optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x), y) / PARTS
        loss.backward()
        losses.append(PARTS * loss.item())
        if number % PARTS == PARTS - 1:
            optimizer.step()
    if epoch % 6 == 5:
        model.eval()
        test = nn.mean_squared_error(model(runner[256:]), target[256:]).item()
        print(f"epoch {epoch + 1}: {np.mean(losses):.4f}, others {test:.4f}")
