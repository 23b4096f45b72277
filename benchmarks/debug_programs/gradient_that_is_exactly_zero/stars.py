"""Predict how many stars (1 to 5) a guest gives to a hotel."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(13)
GUESTS, HOTELS, TASTES = 30, 25, 3
guest_taste = rng.normal(size=(GUESTS, TASTES))
hotel_style = rng.normal(size=(HOTELS, TASTES))
guest = rng.integers(0, GUESTS, 1500)
hotel = rng.integers(0, HOTELS, 1500)
liking = (guest_taste[guest] * hotel_style[hotel]).sum(axis=1)
stars = np.clip(np.rint(3 + 0.8 * liking), 1, 5).astype(np.float32)


class Recommender(nn.Module):
    def __init__(self, rng):
        self.guests = nn.Embedding(GUESTS, TASTES, std=0.5, rng=rng)
        self.hotels = nn.Embedding(HOTELS, TASTES, std=0.5, rng=rng)
        self.offset = nn.Parameter(np.zeros(HOTELS, np.float32))

    def forward(self, guest, hotel):
        match = (self.guests(guest) * self.hotels(hotel)).sum(axis=-1) + self.offset[hotel]
        return 1 + 4 * mg.sigmoid(match)


def loss(model, batch):
    guest, hotel, stars = batch
    predicted = np.round(model(guest, hotel))
    return nn.mean_squared_error(predicted, stars)


def validate(model):
    predicted = model(guest[1200:], hotel[1200:]).numpy()
    return {"error": float(np.mean((predicted - stars[1200:]) ** 2))}


model = Recommender(np.random.default_rng(0))
batches = nn.Batches([guest[:1200], hotel[:1200], stars[:1200]], 60, seed=2)
optimizer = nn.Adam(model.parameters(), lr=0.03)
history = nn.fit(model, batches, loss, optimizer, epochs=15, validate=validate, progress=False)
print("training", np.reshape(history.losses, (15, -1)).mean(axis=1).round(3))
print("held out", np.round(history.metric("error"), 3), "variance", stars[1200:].var().round(3))
