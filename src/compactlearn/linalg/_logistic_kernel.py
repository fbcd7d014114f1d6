"""Many logistic regressions, one after the other, in compiled code.

The problems, and Newton's method, are those of :mod:`compactlearn.linalg._many_logistic`. A problem
is small: its entries are copied to a place of their own, where they stay in the cache of a core for
all steps. In conjugate gradients only rows count whose curvature is not far below the mean: the
others, negative rows that the offset already explains, change the direction little, and the
gradient, by all rows, decides when to stop.
"""

import math

import numpy as np

from compactlearn.core._compiled import jit

NEWTON_STEPS = 12
INTERCEPT_STEPS = 6
CG_STEPS = 10
HALVINGS = 6
SMALLEST = 1e-6  # of p(1 - p): rows that are certain still bound the curvature from below
COUNTED = 0.3  # rows of less curvature, as a share of the mean, are left out of the Hessian
CG_TOLERANCE = 0.01  # of the squared residual


@jit
def solve(
    indptr,
    indices,
    data,
    n_features,
    starts,
    rows,
    positive,
    offsets,
    costs,
    begin_starts,
    begin_features,
    begin_weights,
    begin_intercepts,
    positive_only,
    tol,
):
    """Solve all problems; return how many weights each has, their features, values, intercepts.

    ``begin_starts`` is empty where nothing is known to begin with.
    """
    n = starts.size - 1
    entries, most, pairs = 0, 0, 0
    for j in range(n):
        own = 0
        for p in range(starts[j], starts[j + 1]):
            own += indptr[rows[p] + 1] - indptr[rows[p]]
        entries += own
        most = max(most, own)
        pairs = max(pairs, starts[j + 1] - starts[j])
    bound = 0
    place = np.full(n_features, -1, np.int32)
    used = np.empty(min(most, n_features), np.int32)
    counts = np.zeros(n, np.int64)
    features = np.empty(entries, np.int32)
    weights = np.empty(entries, data.dtype)
    intercepts = np.zeros(n, data.dtype)
    row_starts = np.empty(pairs + 1, np.int64)
    columns = np.empty(most, np.uint32)  # unsigned: no index counts from the end
    values = np.empty(most, data.dtype)
    for j in range(n):
        first, last = starts[j], starts[j + 1]
        k = 0
        for p in range(first, last):
            if positive[p] or not positive_only:
                for e in range(indptr[rows[p]], indptr[rows[p] + 1]):
                    f = indices[e]
                    if place[f] < 0:
                        place[f] = 0
                        used[k] = f
                        k += 1
        used[:k].sort()
        for i in range(k):
            place[used[i]] = i
        end = 0
        for p in range(first, last):
            row_starts[p - first] = end
            for e in range(indptr[rows[p]], indptr[rows[p] + 1]):
                i = place[indices[e]]
                if i >= 0:
                    columns[end] = i
                    values[end] = data[e]
                    end += 1
        row_starts[last - first] = end
        w = np.zeros(k, data.dtype)
        begins = begin_starts.size > 0
        if begins:
            for e in range(begin_starts[j], begin_starts[j + 1]):
                i = place[begin_features[e]]
                if i >= 0:
                    w[i] = begin_weights[e]
        intercepts[j] = newton(
            row_starts[: last - first + 1],
            columns,
            values,
            positive[first:last],
            offsets[first:last],
            costs[first:last],
            w,
            begins,
            begin_intercepts[j] if begins else data.dtype.type(0),
            tol,
        )
        counts[j] = k
        for i in range(k):
            features[bound + i] = used[i]
            weights[bound + i] = w[i]
            place[used[i]] = -1
        bound += k
    return counts, features[:bound].copy(), weights[:bound].copy(), intercepts


@jit
def newton(starts, columns, values, positive, offsets, costs, w, begins, begin, tol):
    """Minimise one problem from ``w``, in place; return the intercept."""
    m, k = starts.size - 1, w.size
    kind = values.dtype.type
    one, half = kind(1), kind(0.5)
    if m == 0:  # nothing but the penalty is left
        w[:] = 0
        return kind(0)
    margins, p = np.empty(m, values.dtype), np.empty(m, values.dtype)
    new_margins, moved = np.empty(m, values.dtype), np.empty(m, values.dtype)
    g, d = np.empty(k, values.dtype), np.empty(k, values.dtype)
    new_w = np.empty(k, values.dtype)
    counted = np.empty(m, np.uint32)
    curvature = np.empty(m, values.dtype)

    b = best_intercept(positive, offsets, costs)
    for i in range(m):
        margins[i] = offsets[i] + b
    value = probabilities(margins, positive, costs, p) + half * b * b
    g_b = gradient(starts, columns, values, positive, costs, p, np.zeros_like(w), b, g)
    at_zero = squares(g) + g_b * g_b
    if begins:
        b = begin
        product(starts, columns, values, w, b, margins)
        for i in range(m):
            margins[i] += offsets[i]
        value = probabilities(margins, positive, costs, p) + half * (squares(w) + b * b)
        g_b = gradient(starts, columns, values, positive, costs, p, w, b, g)
    for _ in range(NEWTON_STEPS):
        if squares(g) + g_b * g_b <= tol * tol * at_zero:
            break
        mean = kind(0)
        for i in range(m):
            curvature[i] = costs[i] * max(p[i] * (one - p[i]), kind(SMALLEST))
            mean += curvature[i]
        least, n_counted = kind(COUNTED) * mean / m, 0
        for i in range(m):
            if curvature[i] >= least:
                counted[n_counted] = i
                n_counted += 1
        d_b = direction(starts, columns, values, curvature, counted[:n_counted], g, g_b, d)
        product(starts, columns, values, d, d_b, moved)
        step, better = one, False
        for _ in range(HALVINGS):
            for i in range(m):
                new_margins[i] = margins[i] + step * moved[i]
            for i in range(k):
                new_w[i] = w[i] + step * d[i]
            new_b = b + step * d_b
            new_value = probabilities(new_margins, positive, costs, p)
            new_value += half * (squares(new_w) + new_b * new_b)
            if new_value <= value:
                better = True
                break
            step *= half
        if not better:  # rounding is all that is left
            break
        w[:], margins[:], b, value = new_w, new_margins, new_b, new_value
        g_b = gradient(starts, columns, values, positive, costs, p, w, b, g)
    return b


@jit
def direction(starts, columns, values, curvature, counted, g, g_b, x):
    """Solve H x = -g by conjugate gradients; return the intercept's part."""
    k = g.size
    kind = values.dtype.type
    one = kind(1)
    scale, scale_b = np.ones(k, values.dtype), one
    for i in counted:
        scale_b += curvature[i]
        own, row = columns[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]]
        for e in range(own.size):
            scale[own[e]] += curvature[i] * row[e] * row[e]
    r, d, Hd = np.empty(k, values.dtype), np.empty(k, values.dtype), np.empty(k, values.dtype)
    scale_b = one / scale_b
    x_b, r_b, d_b = kind(0), -g_b, -g_b * scale_b
    rz = r_b * d_b
    for i in range(k):
        scale[i] = one / scale[i]
        x[i] = kind(0)
        r[i] = -g[i]
        d[i] = scale[i] * r[i]
        rz += r[i] * d[i]
    enough = kind(CG_TOLERANCE) * rz
    for _ in range(CG_STEPS):
        if not rz > enough:
            break
        Hd[:] = d
        Hd_b = d_b
        for i in counted:
            own, row = columns[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]]
            total = d_b
            for e in range(own.size):
                total += row[e] * d[own[e]]
            total *= curvature[i]
            Hd_b += total
            for e in range(own.size):
                Hd[own[e]] += total * row[e]
        dHd = d_b * Hd_b
        for i in range(k):
            dHd += d[i] * Hd[i]
        if not dHd > 0:
            break
        a = rz / dHd
        x_b += a * d_b
        r_b -= a * Hd_b
        new = r_b * r_b * scale_b
        for i in range(k):
            x[i] += a * d[i]
            r[i] -= a * Hd[i]
            new += r[i] * r[i] * scale[i]
        ratio = new / rz
        d_b = scale_b * r_b + ratio * d_b
        for i in range(k):
            d[i] = scale[i] * r[i] + ratio * d[i]
        rz = new
    return x_b


@jit
def best_intercept(positive, offsets, costs):
    """Return the best intercept without any weights."""
    kind = offsets.dtype.type
    one, b = kind(1), kind(0)
    for _ in range(INTERCEPT_STEPS):
        slope, curvature = b, one
        for i in range(offsets.size):
            p = one / (one + math.exp(-(offsets[i] + b)))
            slope += costs[i] * (p - positive[i])
            curvature += costs[i] * p * (one - p)
        b -= min(max(slope / curvature, -one), one)
    return b


@jit
def probabilities(margins, positive, costs, p):
    """Return the loss, and write the probabilities of the margins to ``p``."""
    kind = margins.dtype.type
    one, loss = kind(1), kind(0)
    for i in range(margins.size):
        size = abs(margins[i])
        e = math.exp(-size)
        right = (margins[i] > 0) == positive[i]
        loss += costs[i] * (math.log1p(e) + (kind(0) if right else size))
        p[i] = (one if margins[i] > 0 else e) / (one + e)
    return loss


@jit
def gradient(starts, columns, values, positive, costs, p, w, b, g):
    """Write the gradient of the weights to ``g``; return that of the intercept."""
    g[:] = w
    g_b = b
    for i in range(starts.size - 1):
        slope = costs[i] * (p[i] - positive[i])
        g_b += slope
        own, row = columns[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]]
        for e in range(own.size):
            g[own[e]] += slope * row[e]
    return g_b


@jit
def product(starts, columns, values, w, b, found):
    """Write ``x'w + b`` of every row to ``found``."""
    for i in range(starts.size - 1):
        own, row = columns[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]]
        total = b
        for e in range(own.size):
            total += row[e] * w[own[e]]
        found[i] = total


@jit
def squares(vector):
    """Return the sum of squares."""
    total = vector.dtype.type(0)
    for i in range(vector.size):
        total += vector[i] * vector[i]
    return total
