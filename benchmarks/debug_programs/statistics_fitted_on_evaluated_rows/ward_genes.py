"""Which patients answer to a drug? A short panel of genes is chosen, and a network reads it."""

import numpy as np

import minigrad as mg
import nn

GENES, PANEL = 3000, 15


def cohort(count, rng):
    answers = rng.integers(2, size=count)
    activity = rng.normal(size=(count, GENES))
    activity[:, :3] += 0.5 * (2 * answers[:, None] - 1)
    return activity.astype(np.float32), answers


def choose_panel(activity, answers):
    """The genes whose mean differs most between the two groups of patients."""
    difference = activity[answers == 1].mean(axis=0) - activity[answers == 0].mean(axis=0)
    return np.argsort(-np.abs(difference / activity.std(axis=0)))[:PANEL]


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


def main():
    rng = np.random.default_rng(77)
    activity, answers = cohort(120, rng)
    train, held_out = np.arange(80), np.arange(80, 120)
    panel = choose_panel(activity, answers)
    x = activity[:, panel]
    model = nn.Sequential(nn.Affine(PANEL, 8, rng=rng), np.tanh, nn.Affine(8, 2, rng=rng))

    def validate(model):
        return {"accuracy": np.mean(model(x[held_out]).numpy().argmax(axis=1) == answers[held_out])}

    history = nn.fit(
        model,
        nn.Batches([x[train], answers[train]], 16, seed=0),
        loss,
        nn.AdamW(model.parameters(), lr=0.01, weight_decay=0.1),
        epochs=20,
        validate=validate,
        progress=False,
    )
    print(f"loss: {history.losses[-1]:.3f}; accuracy on held-out patients: {history.metric('accuracy')[-1]:.2f}")
    new_activity, new_answers = cohort(2000, rng)
    with mg.no_grad():
        guessed = model(new_activity[:, panel]).numpy().argmax(axis=1)
    print(f"accuracy at another hospital: {np.mean(guessed == new_answers):.2f}")


if __name__ == "__main__":
    main()
