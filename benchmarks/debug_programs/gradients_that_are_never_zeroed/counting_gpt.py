import models
import numpy as np
import nn

rng = np.random.default_rng(14)
MODULUS, LENGTH = 9, 8


def sequences(count):
    """Numbers that go up by a fixed step, modulo nine."""
    start = rng.integers(0, MODULUS, (count, 1))
    stride = rng.integers(1, MODULUS, (count, 1))
    return (start + stride * np.arange(LENGTH + 1)) % MODULUS


def main():
    config = models.GPTConfig(vocab_size=MODULUS, window=LENGTH, d_model=24, num_heads=2, num_layers=1)
    gpt = models.GPT(config, rng=rng)
    optimizer = nn.Adam(gpt.parameters(), lr=0.01)
    losses = []
    for step in range(700):
        ids = sequences(32)
        loss = nn.cross_entropy(gpt(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 140 == 139:
            print(f"step {step + 1}: {np.mean(losses[-20:]):.4f}")


main()
