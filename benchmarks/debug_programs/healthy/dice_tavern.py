"""Learning the value of a dice game by playing it: the goal of each step comes from a slower copy of the network."""
import numpy as np
import minigrad as mg

POSITIONS = 9  # coins in front of the player; at 0 all is lost, at 10 the house pays one
rng = np.random.default_rng(25)


def look(coins):
    """A number of coins as bumps."""
    return np.exp(-0.5 * (np.asarray(coins)[:, None] - np.arange(1, 10)) ** 2)


def value(net, coins):
    hidden = np.tanh(look(coins) @ net["in"] + net["bias"])
    return mg.sigmoid(hidden @ net["out"])


def surprise(net, coins, goal):
    return np.mean((value(net, coins) - goal) ** 2)


def play(slow, count):
    coins = rng.integers(1, POSITIONS + 1, count)
    after = coins + np.where(rng.random(count) < 0.5, 1, -1)
    hope = value(slow, after)  # only numbers: no slope goes through the slower copy
    return coins, np.where(after == 10, 1.0, np.where(after == 0, 0.0, hope))


def main():
    net = {"in": rng.normal(0, 0.5, (9, 16)), "bias": np.zeros(16), "out": rng.normal(0, 0.3, 16)}
    slow = mg.tree_map(np.copy, net)
    slope = mg.value_and_grad(surprise)
    fair = np.arange(1, 10) / 10
    print(f"at first off by {np.abs(value(net, np.arange(1, 10)) - fair).mean():.3f}")
    for game in range(3000):
        coins, goal = play(slow, 64)
        _, g = slope(net, coins, goal)
        for name in net:
            net[name] = net[name] - 1.0 * g[name]
            slow[name] = 0.95 * slow[name] + 0.05 * net[name]
        if game % 600 == 599:
            print(f"{game + 1} games: off by {np.abs(value(net, np.arange(1, 10)) - fair).mean():.3f}")


if __name__ == "__main__":
    main()
