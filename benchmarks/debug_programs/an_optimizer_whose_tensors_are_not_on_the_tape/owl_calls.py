"""Tell six owls by their calls. In spring the microphone is exchanged, and the network gets used to the new one."""

import copy

import numpy as np

import minigrad as mg
import nn

OWLS, BANDS = 6, 20


def hear(count, voices, microphone, rng):
    owl = rng.integers(OWLS, size=count)
    call = voices[owl] + rng.normal(scale=0.8, size=(count, BANDS))
    return (call @ microphone).astype(np.float32), owl


class Ear(nn.Module):
    def __init__(self, rng):
        self.body = nn.Sequential(nn.Affine(BANDS, 32, rng=rng), mg.relu)
        self.head = nn.Affine(32, OWLS, rng=rng)

    def forward(self, x):
        return self.head(self.body(x))


def practise(ear, optimizer, batches, epochs):
    for epoch in range(epochs):
        losses = []
        for calls, owls in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(ear(calls), owls)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return np.mean(losses)


def accuracy(ear, calls, owls):
    with mg.no_grad():
        return float(np.mean(ear(calls).numpy().argmax(axis=1) == owls))


def main():
    rng = np.random.default_rng(101)
    voices = rng.normal(scale=0.9, size=(OWLS, BANDS))
    old_microphone = np.eye(BANDS)
    new_microphone = np.linalg.qr(rng.normal(size=(BANDS, BANDS)))[0]
    ear = Ear(rng)
    optimizer = nn.AdamW(ear.parameters(), lr=0.003)
    autumn = nn.Batches(list(hear(600, voices, old_microphone, rng)), 30, seed=7)
    print(f"autumn: loss {practise(ear, optimizer, autumn, 10):.3f}")

    last_year, ear = ear, copy.deepcopy(ear)
    spring = nn.Batches(list(hear(600, voices, new_microphone, rng)), 30, seed=8)
    print(f"spring: loss {practise(ear, optimizer, spring, 20):.3f}")

    calls, owls = hear(1000, voices, new_microphone, rng)
    print(
        f"owls told rightly: {accuracy(last_year, calls, owls):.2f} before spring, {accuracy(ear, calls, owls):.2f} now"
    )


if __name__ == "__main__":
    main()
