import argparse

import numpy as np
from minigrad import Tensor, sigmoid


def field_notes(rng, n):
    female = rng.random(n) < 0.5
    body = np.where(female, 3.9, 4.5) + rng.normal(0, 0.25, n)
    bill = np.where(female, 42.1, 45.8) + rng.normal(0, 1.8, n)
    flipper = 120 + 18 * body + rng.normal(0, 4, n)
    notes = ["female" if f else "male" for f in female]
    return np.column_stack([body, bill, flipper]), np.array(notes), female


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)

    x, sex, _ = field_notes(rng, 250)
    target = (sex == "Female").astype(float)
    mean, std = x.mean(0), x.std(0)
    x = (x - mean) / std

    w = Tensor(np.zeros(3), requires_grad=True)
    b = Tensor(0.0, requires_grad=True)
    for step in range(args.steps):
        p = sigmoid(x @ w + b)
        loss = -(target * np.log(p + 1e-9) + (1 - target) * np.log(1 - p + 1e-9)).mean()
        loss.backward()
        for q in (w, b):
            q.data -= args.lr * q.grad
            q.zero_grad()
        if step % 60 == 0:
            print(f"{step:4d}  loss {loss.item():.4f}")

    other, _, truth = field_notes(rng, 200)
    said = sigmoid(((other - mean) / std) @ w + b).numpy() > 0.5
    print(f"loss {loss.item():.4f}; females found on the next island {said[truth].mean():.2f}, accuracy {np.mean(said == truth):.2f}")


if __name__ == "__main__":
    main()
