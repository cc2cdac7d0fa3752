"""Two networks against each other.

A generator makes points of noise, and a critic says which points are real (Goodfellow et al., 2014). The real ones lie
in eight clouds on a ring. Each network has its gradient and its optimiser, and they take turns: the critic learns to
tell apart, three times as fast as the generator learns to be taken for real (Heusel et al., 2017). A generator likes to
make points of a few clouds alone; this one is to reach all eight, each with at least 3 % of its points, and 80 % of its
points are to lie in a cloud, at most three times its width from the centre.
"""

import sys

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F
from tangentc.learn.optimisers import Cosine

CLOUDS, WIDTH, NOISE, HIDDEN = 8, 0.2, 2, 64
STEPS, BATCH, LEAST, INSIDE = 2000, 128, 0.03, 0.80


def network(inputs, bend, outputs, rng):
    return learn.Sequential([
        learn.Linear.of(inputs, HIDDEN, rng), bend, learn.Linear.of(HIDDEN, HIDDEN, rng), bend,
        learn.Linear.of(HIDDEN, outputs, rng),
    ])  # fmt: skip


def both(rng):
    """A generator and a critic, before they have learned anything."""
    return network(NOISE, F.relu, 2, rng), network(2, F.leaky_relu, 1, rng)


def centres():
    turn = 2 * np.pi * np.arange(CLOUDS) / CLOUDS
    return 2 * np.column_stack([np.cos(turn), np.sin(turn)])


def real_points(count, rng):
    return centres()[rng.integers(CLOUDS, size=count)] + WIDTH * rng.normal(size=(count, 2))


def critics_loss(critic, generator, real, noise):
    """Real points are to get a positive score, made ones a negative one."""
    return np.mean(F.softplus(-critic(real))) + np.mean(F.softplus(critic(generator(noise))))


def generators_loss(generator, critic, noise):
    """Made points are to get a positive score."""
    return np.mean(F.softplus(-critic(generator(noise))))


critics = learn.value_and_grad(critics_loss)
generators = learn.value_and_grad(generators_loss)


def shares(points):
    """How much of the points lies in each cloud."""
    apart = np.linalg.norm(points[:, np.newaxis] - centres(), axis=2)
    nearest, inside = np.argmin(apart, axis=1), np.min(apart, axis=1) < 3 * WIDTH
    return np.bincount(nearest[inside], minlength=CLOUDS) / len(points)


def solve(steps=STEPS, seed=0):
    rng = np.random.default_rng(seed)
    generator, critic = both(rng)
    by_generator, by_critic = (learn.Adam(Cosine(rate, steps), beta1=0.5) for rate in (1e-3, 3e-3))
    of_generator, of_critic = by_generator.init(generator), by_critic.init(critic)
    losses = []
    for _ in range(steps):
        real, noise = real_points(BATCH, rng), rng.normal(size=(BATCH, NOISE))
        told_apart, gradient = critics(critic, generator, real, noise)
        by_critic.update(critic, gradient, of_critic)
        taken_for_real, gradient = generators(generator, critic, rng.normal(size=(BATCH, NOISE)))
        by_generator.update(generator, gradient, of_generator)
        losses.append((told_apart, taken_for_real))
    points = generator(rng.normal(size=(4000, NOISE)))
    return {"losses": np.array(losses), "points": points, "shares": shares(points)}


def emitted():
    """The text of both gradients."""
    rng = np.random.default_rng(0)
    (generator, critic), noise = both(rng), np.zeros((BATCH, NOISE))
    of_critic = critics.source_for(critic, generator, real_points(BATCH, rng), noise)
    return of_critic + "\n\n" + generators.source_for(generator, critic, noise)


def main():
    found = solve()
    told_apart, taken_for_real = found["losses"][-100:].mean(axis=0)
    print(f"the loss of the critic is {told_apart:.1f}, that of the generator {taken_for_real:.1f}")
    print("of the points, each cloud has a share of", ", ".join(f"{share:.0%}" for share in found["shares"]))
    print(f"{found['shares'].sum():.0%} of the points lie in a cloud")
    if min(found["shares"]) < LEAST or sum(found["shares"]) < INSIDE:
        sys.exit(f"those are to be at least {LEAST:.0%}, and {INSIDE:.0%}")


if __name__ == "__main__":
    main()
