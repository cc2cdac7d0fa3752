"""The objectives of ADBench (arXiv:1807.10129) in which small steps follow one another: LSTM and hand tracking."""

import numpy as np

from ..workload import Workload
from . import adbench_data


def logistic(x):
    return 1 / (1 + np.exp(-x))


def cell_of(weight, bias, hidden, cell, x):
    """One layer, each number by itself: weight and bias (4 bits,), the others (bits,)."""
    n = len(hidden)
    gates = np.concatenate([x, hidden, x, hidden]) * weight + bias
    forget, ingate, outgate = logistic(gates[:n]), logistic(gates[n : 2 * n]), logistic(gates[2 * n : 3 * n])
    cell = cell * forget + ingate * np.tanh(gates[3 * n :])
    return outgate * np.tanh(cell), cell


def lstm(main, extra, state, sequence):
    """The loss of a language model for each bit.

    main (2 layers, 4 bits): weight and bias of each layer; extra (3, bits): weights before and behind, and a bias;
    state (2 layers, bits): hidden and cell of each layer; sequence (characters, bits).
    """
    state = state.copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for k in range(0, len(state), 2):
            state[k], state[k + 1] = cell_of(main[k], main[k + 1], state[k], state[k + 1], x)
            x = state[k]
        y = x * extra[1] + extra[2]
        total += np.sum(sequence[t + 1] * (y - np.log(np.sum(np.exp(y)) + 2)))
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def lstm_by_hand(main, extra, state, sequence):
    """Only what depends on the step before is in the loops: what is predicted, and what weights are due, is not."""
    steps, n = len(sequence) - 1, sequence.shape[1]
    layers = len(state) // 2
    weight, bias = main[0::2], main[1::2]
    hidden, cell = list(state[0::2]), list(state[1::2])
    joined = np.empty((steps, layers, 4 * n))
    gates = np.empty((steps, layers, 4 * n))
    cells = np.empty((steps + 1, layers, n))  # before each step
    tanhs = np.empty((steps, layers, n))
    tops = np.empty((steps, n))
    cells[0] = cell
    given = sequence[:-1] * extra[0]
    for t in range(steps):
        x = given[t]
        for k in range(layers):
            u = joined[t, k]
            np.concatenate([x, hidden[k], x, hidden[k]], out=u)
            z = u * weight[k] + bias[k]
            gate = gates[t, k]
            gate[: 3 * n] = 1 / (1 + np.exp(-z[: 3 * n]))
            np.tanh(z[3 * n :], out=gate[3 * n :])
            cell = cells[t + 1, k]
            np.multiply(cells[t, k], gate[:n], out=cell)
            cell += gate[n : 2 * n] * gate[3 * n :]
            x = hidden[k] = gate[2 * n : 3 * n] * np.tanh(cell, out=tanhs[t, k])
        tops[t] = x
    y = tops * extra[1] + extra[2]
    powers = np.exp(y)
    norm = np.sum(powers, axis=1, keepdims=True) + 2
    wanted = sequence[1:]
    value = -np.sum(wanted * (y - np.log(norm))) / (steps * n)

    y_bar = (powers * (np.sum(wanted, axis=1, keepdims=True) / norm) - wanted) / (steps * n)
    extra_bar = np.empty_like(extra)
    extra_bar[1], extra_bar[2] = np.sum(y_bar * tops, axis=0), np.sum(y_bar, axis=0)
    z_bars = _gates_adjoint(weight, gates, cells, tanhs, y_bar * extra[1])
    main_bar = np.empty_like(main)
    main_bar[0::2], main_bar[1::2] = np.sum(z_bars * joined, axis=0), np.sum(z_bars, axis=0)
    given_bar = z_bars[:, 0] * weight[0]
    extra_bar[0] = np.sum((given_bar[:, :n] + given_bar[:, 2 * n : 3 * n]) * sequence[:-1], axis=0)
    return value, (main_bar, extra_bar)


def _gates_adjoint(weight, gates, cells, tanhs, tops_bar):
    """What is due to the gates before their functions, of shape (steps, layers, 4 bits)."""
    steps, layers, n = tanhs.shape
    z_bars = np.empty_like(gates)
    slopes = gates * (1 - gates)
    slopes[:, :, 3 * n :] = 1 - gates[:, :, 3 * n :] ** 2
    through = gates[:, :, 2 * n : 3 * n] * (1 - tanhs**2)  # from the hidden state to the cell
    hidden_bar, cell_bar = np.zeros((layers, n)), np.zeros((layers, n))
    for t in range(steps - 1, -1, -1):
        x_bar = tops_bar[t]
        for k in range(layers - 1, -1, -1):
            h_bar = hidden_bar[k] + x_bar
            c_bar = cell_bar[k] + h_bar * through[t, k]
            gate, z_bar = gates[t, k], z_bars[t, k]
            np.multiply(c_bar, cells[t, k], out=z_bar[:n])
            np.multiply(c_bar, gate[3 * n :], out=z_bar[n : 2 * n])
            np.multiply(h_bar, tanhs[t, k], out=z_bar[2 * n : 3 * n])
            np.multiply(c_bar, gate[n : 2 * n], out=z_bar[3 * n :])
            z_bar *= slopes[t, k]
            np.multiply(c_bar, gate[:n], out=cell_bar[k])
            u_bar = z_bar * weight[k]
            np.add(u_bar[n : 2 * n], u_bar[3 * n :], out=hidden_bar[k])
            x_bar = u_bar[:n] + u_bar[2 * n : 3 * n]
    return z_bars


def turned(flexion, abduction):
    """Matrices of shape (5, 4, 4) that bend a joint of each finger by angles of shape (5,)."""
    cx, sx, cz, sz = np.cos(flexion), np.sin(flexion), np.cos(abduction), np.sin(abduction)
    zero, one = np.zeros(5), np.ones(5)
    rows = [cz, -sz * cx, sz * sx, zero, sz, cz * cx, -cz * sx, zero, zero, sx, cx, zero, zero, zero, zero, one]
    return np.stack(rows, axis=1).reshape(5, 4, 4)


def rotation(v):
    """The matrix that turns about v, of shape (3,), by its length."""
    angle = np.sqrt(np.sum(v * v))
    axis = v / angle
    x, y, z = axis
    turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.cos(angle) * np.eye(3) + (1 - np.cos(angle)) * axis[:, None] * axis + np.sin(angle) * turn


def hand(theta, base, inverse, rest, weights, points, matched):
    """Squared distances of points to the vertices of a posed hand, of which the matched ones alone are posed.

    theta (26,): rotation 3, translation 3, then 4 angles a finger; base and inverse (22, 4, 4): a bone in its parent,
    and the root in a bone; bones are the wrist, five fingers of four, and the forearm; rest (vertices, 4) and weights
    (vertices, 22); points (c, 3) and the vertices that they are matched with (c,).
    """
    bends = theta[6:].reshape(5, 4)
    straight = np.zeros(5)
    first = base[0] @ base[1:21:4]
    second = first @ base[2:21:4] @ turned(bends[:, 0], bends[:, 1])
    third = second @ base[3:21:4] @ turned(bends[:, 2], straight)
    fourth = third @ base[4:21:4] @ turned(bends[:, 3], straight)
    fingers = np.stack([first, second, third, fourth], axis=1).reshape(20, 4, 4)
    absolutes = np.concatenate([base[:1], fingers, (base[0] @ base[21])[None]])
    transforms = absolutes @ inverse
    posed = rest[matched] @ np.swapaxes(transforms, 1, 2)  # (22, c, 4)
    local = np.sum(posed * weights[matched].T[:, :, None], axis=0)[:, :3]
    error = points - local @ rotation(theta[:3]).T - theta[3:6]
    return np.sum(error**2)


def hand_by_hand(theta, base, inverse, rest, weights, points, matched):
    """Skinning is one product of shape (c, 88) by (88, 3); the last row of a matrix is constant, and not followed."""
    bends = theta[6:].reshape(5, 4)
    straight = np.zeros(5)
    angles = [(bends[:, 0], bends[:, 1]), (bends[:, 2], straight), (bends[:, 3], straight)]
    chain = [base[0] @ base[1:21:4]]
    steps = []
    for k, (flexion, abduction) in enumerate(angles):
        steps.append(base[k + 2 : 21 : 4] @ turned(flexion, abduction))
        chain.append(chain[-1] @ steps[-1])
    fingers = np.stack(chain, axis=1).reshape(20, 4, 4)
    absolutes = np.concatenate([base[:1], fingers, (base[0] @ base[21])[None]])
    transforms = absolutes[:, :3] @ inverse
    skin = (weights[matched][:, :, None] * rest[matched][:, None, :]).reshape(-1, 88)
    local = skin @ transforms.transpose(0, 2, 1).reshape(88, 3)
    R = rotation(theta[:3])
    error = points - local @ R.T - theta[3:6]

    theta_bar = np.empty_like(theta)
    posed_bar = -2 * error
    theta_bar[3:6] = np.sum(posed_bar, axis=0)
    theta_bar[:3] = _rotation_adjoint(theta[:3], posed_bar.T @ local)
    transforms_bar = (skin.T @ (posed_bar @ R)).reshape(22, 4, 3).transpose(0, 2, 1)
    absolutes_bar = transforms_bar @ inverse.transpose(0, 2, 1)
    fingers_bar = absolutes_bar[1:21].reshape(5, 4, 3, 4)
    bends_bar = theta_bar[6:].reshape(5, 4)
    out_bar = fingers_bar[:, 3]
    for k in (2, 1, 0):
        step_bar = chain[k][:, :3].transpose(0, 2, 1) @ out_bar
        turned_bar = base[k + 2 : 21 : 4].transpose(0, 2, 1) @ step_bar
        flexion_bar, abduction_bar = _turned_adjoint(*angles[k], turned_bar)
        bends_bar[:, k + 1 if k else 0] = flexion_bar
        if k == 0:
            bends_bar[:, 1] = abduction_bar
        else:
            out_bar = out_bar @ steps[k].transpose(0, 2, 1) + fingers_bar[:, k]
    return np.sum(error**2), theta_bar


def _turned_adjoint(flexion, abduction, M_bar):
    """What is due to the two angles of the matrices; M_bar has the shape (5, 4, 4)."""
    cx, sx, cz, sz = np.cos(flexion), np.sin(flexion), np.cos(abduction), np.sin(abduction)
    m = M_bar.transpose(1, 2, 0)
    side, down = sz * m[0, 1] - cz * m[1, 1], sz * m[0, 2] - cz * m[1, 2]
    flexion_bar = sx * side + cx * down + cx * m[2, 1] - sx * m[2, 2]
    forward = cz * m[1, 0] - sz * m[0, 0]
    abduction_bar = forward - cx * (cz * m[0, 1] + sz * m[1, 1]) + sx * (cz * m[0, 2] + sz * m[1, 2])
    return flexion_bar, abduction_bar


def _rotation_adjoint(v, R_bar):
    """What is due to the vector v of a rotation; R_bar has the shape (3, 3)."""
    angle = np.sqrt(v @ v)
    axis = v / angle
    cosine, sine = np.cos(angle), np.sin(angle)
    skew = np.array([R_bar[2, 1] - R_bar[1, 2], R_bar[0, 2] - R_bar[2, 0], R_bar[1, 0] - R_bar[0, 1]])
    along = R_bar @ axis
    angle_bar = sine * (axis @ along - np.trace(R_bar)) + cosine * (skew @ axis)
    axis_bar = (1 - cosine) * (along + R_bar.T @ axis) + sine * skew
    return axis * (angle_bar - axis @ axis_bar / angle) + axis_bar / angle


WORKLOADS = [
    Workload("adbench_lstm", lstm, lstm_by_hand, ("main", "extra"), adbench_data.lstm, lambda: adbench_data.lstm(5)),
    Workload("adbench_hand", hand, hand_by_hand, ("theta",), adbench_data.hand, lambda: adbench_data.hand(4)),
]
