"""The inputs of ADBench, read from benchmarks/data/adbench; the formats stand in the README there."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "data" / "adbench"


def numbers(line, separator=None):
    return [float(word) for word in line.split(separator) if word.strip()]


def gmm(points=None):
    """alphas (K,), means (K, d), factors (K, d (d + 1) / 2), x (n, d), gamma, m; the first `points` of x."""
    lines = (FOLDER / "gmm_d10_K25.txt").read_text().splitlines()
    _, K, n = map(int, lines[0].split())
    rows = [numbers(line) for line in lines[1:]]
    alphas = np.array(rows[:K])[:, 0]
    means, factors = np.array(rows[K : 2 * K]), np.array(rows[2 * K : 3 * K])
    gamma, m = rows[3 * K + n]
    return alphas, means, factors, np.array(rows[3 * K : 3 * K + n])[:points], gamma, int(m)


def bundle_adjustment(observations=None):
    """cameras (n, 11), points (m, 3), weights (p,), features (p, 2), camera_of (p,), point_of (p,).

    The file has one of each, which stands for all of its kind.  With `observations` that many of them are kept, and
    seven points and three cameras.
    """
    lines = (FOLDER / "ba1_n49_m7776_p31843.txt").read_text().splitlines()
    n, m, p = map(int, lines[0].split())
    if observations is not None:
        n, m, p = 3, 7, observations
    camera, point, weight, feature = (np.array(numbers(line)) for line in lines[1:5])
    of = np.arange(p)
    return (
        np.tile(camera, (n, 1)),
        np.tile(point, (m, 1)),
        np.repeat(weight, p),
        np.tile(feature, (p, 1)),
        of % n,
        of % m,
    )


def lstm(characters=None):
    """main (2 layers, 4 bits), extra (3, bits), state (2 layers, bits), sequence (characters, bits)."""
    blocks = (FOLDER / "lstm_l2_c1024.txt").read_text().strip().split("\n\n")
    main, extra, state, sequence = (
        np.array([numbers(row) for row in b.splitlines() if row.strip()]) for b in blocks[1:]
    )
    return main, extra, state, sequence[:characters]


def hand(correspondences=None):
    """theta (26,), base and inverse (22, 4, 4), rest (544, 4), weights (544, 22), points (c, 3), matched (c,)."""
    lines = (FOLDER / "hand1_t26_c100.txt").read_text().splitlines()
    count = int(lines[0].split()[0])
    rows = np.array([numbers(line) for line in lines[1 : 1 + count]])
    theta = np.array([float(line) for line in lines[1 + count :] if line.strip()])
    bones = [line.split(":") for line in (FOLDER / "bones.txt").read_text().splitlines() if line]
    matrices = np.array([[float(x) for x in bone[2:]] for bone in bones])
    base, inverse = matrices[:, :16].reshape(-1, 4, 4), matrices[:, 16:].reshape(-1, 4, 4)
    vertices = [line.split(":") for line in (FOLDER / "vertices.txt").read_text().splitlines() if line]
    rest = np.array([[*map(float, vertex[:3]), 1.0] for vertex in vertices])
    weights = np.zeros((len(vertices), len(bones)))
    for row, vertex in zip(weights, vertices):
        for bone, weight in zip(vertex[9::2], vertex[10::2]):
            row[int(bone)] = float(weight)
    points, matched = rows[:correspondences, 1:], rows[:correspondences, 0].astype(int)
    return theta, base.copy(), inverse.copy(), rest, weights, points.copy(), matched
