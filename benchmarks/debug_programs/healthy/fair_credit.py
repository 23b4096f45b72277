"""Credit scores that do not give away the district: one network scores, another guesses the district from the score, in turn."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(85)
n = 1600
district = rng.integers(2, size=n)
income = rng.normal(size=n) + 0.9 * district
debts = rng.normal(size=n)
years = rng.normal(size=n)
paid = (0.9 * (income - 0.9 * district) - 1.2 * debts + 0.8 * years + 0.5 * rng.normal(size=n) > 0).astype(np.float32)
x = np.column_stack([income, debts, years, rng.normal(size=n) * 0.5 + district]).astype(np.float32)
x = (x - x[:1200].mean(axis=0)) / x[:1200].std(axis=0)
train, test = slice(0, 1200), slice(1200, n)

init = np.random.default_rng(2)
scorer = nn.Sequential(nn.Affine(4, 16, rng=init), np.tanh, nn.Affine(16, 1, rng=init))
guesser = nn.Sequential(nn.Affine(1, 8, rng=init), np.tanh, nn.Affine(8, 1, rng=init))
for_scorer = nn.Adam(scorer.parameters(), lr=0.005)
for_guesser = nn.Adam(guesser.parameters(), lr=0.01)
bce = nn.binary_cross_entropy_with_logits
batches = nn.Batches([x[train], paid[train], district[train].astype(np.float32)], 60, seed=7)

for epoch in range(12):
    for rows, repaid, where in batches.epoch(epoch):
        with mg.no_grad():
            score = scorer(rows).numpy()
        for_guesser.zero_grad()
        guess = bce(guesser(score)[:, 0], where)
        guess.backward()
        for_guesser.step()

        for_scorer.zero_grad()
        score = scorer(rows)
        loss = bce(score[:, 0], repaid) - 0.5 * bce(guesser(score)[:, 0], where)
        loss.backward()
        for_scorer.step()
    if epoch % 3 == 2:
        with mg.no_grad():
            score = scorer(x[test])
            right = np.mean((score.numpy()[:, 0] > 0) == paid[test])
            told = np.mean((guesser(score).numpy()[:, 0] > 0) == district[test])
        print(f"epoch {epoch + 1}  repaid or not: {right:.3f} right  district: {told:.3f} right, loss {guess.item():.3f}")
