"""Which applicants will pay back? A logistic network on a bank's table."""

import minigrad as mg
import nn
import numpy as np

COLUMNS = ["number", "income", "debt", "years", "rent", "repaid"]


def closed_loans(n, rng):
    income, debt, years, rent = rng.normal(size=(4, n))
    score = 1.2 * income - 1.0 * debt + 0.5 * years * (rent < 0) + rng.normal(0, 0.7, n)
    return np.column_stack([np.arange(n), income, debt, years, rent, score > 0])


def applications(n, rng):
    table = closed_loans(n, rng)
    later = table[:, 5].copy()
    table[:, 5] = 0
    return table, later


def features(table):
    known = table[:, 1:].astype(np.float32)
    return known


def main():
    rng = np.random.default_rng(8)
    loans = closed_loans(1500, rng)
    x, y = features(loans), loans[:, COLUMNS.index("repaid")].astype(np.float32)
    model = nn.Sequential(
        nn.Affine(x.shape[1], 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng), lambda z: z.reshape(-1)
    )
    optimizer = nn.AdamW(model.parameters(), lr=0.01, weight_decay=0.001)
    batches = nn.Batches([x, y], 50, seed=3)
    for epoch in range(20):
        total = 0.0
        for inputs, repaid in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.binary_cross_entropy_with_logits(model(inputs), repaid)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d}  loss {total / len(batches):.3f}")
    model.eval()
    new, later = applications(600, rng)
    with mg.no_grad():
        says = model(features(new)).numpy() > 0
    print(f"of the new applicants {says.mean():.2f} are accepted, {np.mean(says == later):.3f} were judged rightly")


main()
