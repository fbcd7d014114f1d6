"""The C2AE objective as a double loop over labels, in plain Python; shares no code with ours."""

import math

import numpy as np


def forward(layers, row):
    """A network's answer for one row, neuron by neuron."""
    for place, (W, b) in enumerate(layers):
        total = [
            b[j] + math.fsum(row[i] * W[i, j] for i in range(W.shape[0])) for j in range(W.shape[1])
        ]
        if place == len(layers) - 1:
            row = [1.0 / (1.0 + math.exp(-t)) for t in total]
        else:
            row = [t if t > 0 else 0.1 * t for t in total]
    return row


def label_loss(P, Y, known, rate):
    """Sum over rows of the mean over (present, absent) pairs of exp(-rate (p_r - p_i))."""
    total = 0.0
    for p, y, k in zip(P, Y, known, strict=True):
        present = [r for r in range(len(y)) if k[r] and y[r] == 1]
        absent = [i for i in range(len(y)) if k[i] and y[i] == 0]
        if not present or not absent:
            continue
        pairs = math.fsum(math.exp(-rate * (p[r] - p[i])) for r in present for i in absent)
        total += pairs / (len(present) * len(absent))
    return total


def alignment(A, E, lam):
    """|A - E|^2 + lam (|A'A - I|^2 + |E'E - I|^2), entry by entry."""
    total = math.fsum((a - e) ** 2 for a, e in zip(np.ravel(A), np.ravel(E), strict=True))
    for C in (A, E):
        for j in range(C.shape[1]):
            for k in range(C.shape[1]):
                dot = math.fsum(C[i, j] * C[i, k] for i in range(C.shape[0]))
                total += lam * (dot - (j == k)) ** 2
    return total


def objective(networks, X, Y, known, given, *, mode, alpha, lam):
    """The whole, by mode: the program's (rate 5, divided by 5 alpha) or the printed one."""
    fx, fe, fd = networks
    A = np.array([forward(fx, row) for row in X]) - 0.5
    E = np.array([forward(fe, row) for row in given]) - 0.5
    P = [forward(fd, row) for row in E]
    if mode == "code":
        return alignment(A, E, lam) + label_loss(P, Y, known, 5.0) / (5.0 * alpha)
    return alignment(A, E, lam) + alpha * label_loss(P, Y, known, 1.0)
