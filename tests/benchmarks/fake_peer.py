"""A peer that is made up: it takes as long as it is told to."""


class Fake:
    """One time a burst, in turn; ``error`` is why it cannot run at all."""

    def __init__(self, ms, losses=(2.0, 1.0), error="", gradients=None, peak=130.0):
        self.ms, self.peak, self.gradients = list(ms), peak, gradients
        self.about = {"error": error} if error else {"losses": list(losses), "bare": 30.0, "imported": 50.0}
        self.bursts, self.closed = [], False

    def burst(self, seconds):
        self.bursts.append({"ms": self.ms[len(self.bursts) % len(self.ms)], "peak": self.peak})

    def close(self):
        self.closed = True
