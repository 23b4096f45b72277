"""Two networks in turn: one draws numbers, the other says which are real."""

import numpy as np
import nn

rng = np.random.default_rng(107)
MEAN, SPREAD = 3.0, 0.5

draw = nn.Sequential(nn.Affine(2, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
judge = nn.Sequential(nn.Affine(1, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
draw_optimizer = nn.Adam(draw.parameters(), lr=0.001, betas=(0.5, 0.9))
judge_optimizer = nn.Adam(judge.parameters(), lr=0.004, betas=(0.5, 0.9))
ones, zeros = np.ones((64, 1), np.float32), np.zeros((64, 1), np.float32)


def noise():
    return rng.normal(size=(64, 2)).astype(np.float32)


for step in range(2000):
    real = rng.normal(MEAN, SPREAD, (64, 1)).astype(np.float32)
    fake = draw(noise()).detach()
    judge_optimizer.zero_grad()
    judge_loss = nn.binary_cross_entropy_with_logits(judge(real), ones)
    judge_loss = judge_loss + nn.binary_cross_entropy_with_logits(judge(fake), zeros)
    judge_loss.backward()
    judge_optimizer.step()

    draw_optimizer.zero_grad()
    draw_loss = nn.binary_cross_entropy_with_logits(judge(draw(noise())), ones)
    draw_loss.backward()
    draw_optimizer.step()
    if step % 400 == 399:
        sample = draw(rng.normal(size=(500, 2)).astype(np.float32)).numpy()
        print(f"{step + 1}: mean {sample.mean():.2f} spread {sample.std():.2f}")
