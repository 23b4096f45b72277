"""A singer puts a word into two tones, and a listener guesses the word from them. They practise in turn."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(33)
WORDS, NOISE = 8, 0.15
singer = nn.Sequential(nn.Embedding(WORDS, 16, rng=rng), np.tanh, nn.Affine(16, 2, rng=rng), np.tanh)
listener = nn.Sequential(nn.Affine(2, 32, rng=rng), np.tanh, nn.Affine(32, WORDS, rng=rng))
practice = {
    "singer": nn.Adam(singer.parameters(), lr=0.01),
    "listener": nn.Adam(listener.parameters(), lr=0.01),
}


def air(shape):
    return rng.normal(0, NOISE, shape).astype(np.float32)


def sing_to_a_fixed_listener(words):
    practice["singer"].zero_grad()
    tones = singer(words)
    loss = nn.cross_entropy(listener(tones + air(tones.shape)), words)
    loss.backward()
    practice["singer"].step()
    return loss.item()


def listen_to_a_fixed_singer(words):
    practice["listener"].zero_grad()
    with mg.no_grad():
        tones = singer(words).numpy()
    loss = nn.cross_entropy(listener(tones + air(tones.shape)), words)
    loss.backward()
    practice["listener"].step()
    return loss.item()


for turn in range(700):
    words = rng.integers(WORDS, size=64)
    heard = listen_to_a_fixed_singer(words)
    sung = sing_to_a_fixed_listener(words)
    if turn % 140 == 0:
        print(f"turn {turn}: listener {heard:.4f}, singer {sung:.4f}")

with mg.no_grad():
    words = rng.integers(WORDS, size=1000)
    tones = singer(words).numpy()
    guess = listener(tones + air(tones.shape)).numpy().argmax(axis=1)
print(f"understood: {np.mean(guess == words):.3f}")
