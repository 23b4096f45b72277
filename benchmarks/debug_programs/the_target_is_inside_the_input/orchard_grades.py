"""Grades apples from what the sorting line measures: weight, colour, sugar, firmness."""

from dataclasses import dataclass

import numpy as np

import minigrad as mg
import nn

COLUMNS = ["crate", "weight", "colour", "sugar", "firmness", "grade"]


@dataclass
class Season:
    table: np.ndarray
    true_grade: np.ndarray

    @classmethod
    def picked(cls, count, rng, graded):
        quality = rng.normal(size=count)
        measured = [a * quality + rng.normal(size=count) * 0.7 for a in (1.0, -0.8, 0.9, 0.5)]
        grade = np.digitize(quality, [-0.6, 0.6])
        known = grade if graded else np.zeros(count)
        return cls(np.column_stack([np.arange(count), *measured, known]), grade)


class Grader(nn.Module):
    def __init__(self, features, rng):
        self.hidden = nn.Affine(features, 24, rng=rng)
        self.output = nn.Affine(24, 3, rng=rng)

    def forward(self, x):
        return self.output(np.tanh(self.hidden(x)))


rng = np.random.default_rng(21)
last_year = Season.picked(900, rng, graded=True)
x = last_year.table[:, 1:].astype(np.float32)
y = last_year.table[:, COLUMNS.index("grade")].astype(np.int64)
model = Grader(x.shape[1], rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(40):
    order = rng.permutation(len(x))
    losses = []
    for rows in np.split(order, 18):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

# This year's apples come off the line. They have no grades yet.
this_year = Season.picked(600, rng, graded=False)
with mg.no_grad():
    grades = model(this_year.table[:, 1 : 1 + x.shape[1]].astype(np.float32)).numpy().argmax(axis=1)
print(f"this year's apples graded rightly: {np.mean(grades == this_year.true_grade):.2f}")
