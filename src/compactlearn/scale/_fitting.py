"""Sums of rows that come in blocks, as a classifier needs them.

*Moments*: one pass sums all products of columns, and everything follows from them exactly.
*Passes*: where features and labels are too many for such a matrix, one pass for the means, a few
for the codes, one for the learner. Rows that decoder and threshold are learnt from are held out in
the first pass.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._threads import own_cores
from compactlearn.core._warn import quiet
from compactlearn.crossfit._held_out_rows import SetApart, max_held_out
from compactlearn.crossfit._held_out_sample import HeldOut
from compactlearn.embeddings._base import Embedding, refuse_sums
from compactlearn.embeddings._cmll import CMLL
from compactlearn.linalg import _few_passes as few_passes
from compactlearn.linalg._arrays import scale_columns, working_form
from compactlearn.linalg._build import refuse_overflow
from compactlearn.linalg._dense import EIGEN_LIMIT
from compactlearn.linalg._graded import deviations_of, inverse_deviations
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._passes import AskedCodes, PassesPair, column_sums, find_codes, find_grams
from compactlearn.linalg._routes import ENOUGH_OF_PARTS
from compactlearn.linalg._row_source import Block, Rows, RowSource
from compactlearn.linalg._unseen_features import keep_features

Array = NDArray[np.float64]

# Up to this order the matrix of moments is summed by default: 200 MB, of which a fit stores
# several. Beyond it a few passes are faster if there are few codes.
MOMENTS_UP_TO = 5_000

# Matrices of the moments' order that are in memory at once: the sum, one of each thread and of the
# block before, that of the model and that of the model of the rows that are not held out.
MOMENTS_IN_MEMORY = 8

# Codes of all rows, and of those that are not held out, are searched in the same passes if both
# searches need at most so many bytes; otherwise in turn, with more passes and less memory.
TOGETHER_BYTES = 1 << 30


@dataclass(frozen=True)
class Summed:
    """Sums over rows that came in blocks, as the embedding needs them."""

    pair: Pair
    n_passes: int
    scale: Array | None = None  # what columns are divided by
    held_out: HeldOut | None = None  # some rows, and a pair of all others
    moments: Moments | None = None  # in the user's units


def prepare(classifier: Any, embedding: Embedding, source: RowSource) -> Summed:
    """Sum up the rows as a classifier of these parameters needs them.

    "auto" label components of the embedding, which is not fitted, may become fewer.
    """
    for name in ("regressor", "feature_map"):
        if getattr(classifier, name) is not None:
            raise ValueError(
                f"Fitting blocks of rows needs the built-in ridge on the features as they are, and "
                f"{name}={getattr(classifier, name)!r} was given; set {name}=None, or fit rows "
                "that fit in the memory."
            )
    refuse_sums(embedding)
    most = max_held_out(source.n_features, sparse=source.is_sparse) if _learns(classifier) else 0
    if by_passes(embedding, source):
        return _from_passes(classifier, embedding, source, most)
    return _from_moments(classifier, source, most)


def fits_in_blocks(classifier: Any) -> bool:
    """Return whether sums are all that a classifier of these parameters needs."""
    foreign = classifier.regressor is not None or classifier.feature_map is not None
    return not foreign and not classifier.make_embedding().traits.needs_rows


def _learns(classifier: Any) -> bool:
    """Return whether decoder or threshold are learnt from rows."""
    return isinstance(classifier.threshold, str) or classifier.decoder != "linear"


def by_passes(embedding: Embedding, source: RowSource) -> bool:
    """Return whether codes are found by several passes; if not, from moments.

    Raises ValueError, before any block is read, for parameters that neither route supports.
    """
    asked, order = embedding.traits.solver, source.n_features + source.n_labels
    if asked in ("dual", "krylov"):
        raise ValueError(
            f"solver={asked!r} needs all rows at hand, and these come in blocks; use "
            "solver='auto', 'moments' (one pass) or 'randomized' (several)."
        )
    why_not = _why_not_by_passes(embedding, source)
    if asked == "randomized":
        if why_not is not None:
            raise ValueError(f"solver='randomized' was asked for, and {why_not}.")
        return True
    if asked == "moments" or order <= MOMENTS_UP_TO:
        _require_room(order, why_not)
        return False
    if why_not is None:
        return True
    _require_room(order, why_not)
    if order > EIGEN_LIMIT:
        raise ValueError(
            f"Fitting {source.n_features} features and {source.n_labels} labels from blocks needs "
            f"several passes with products, since a matrix of all products of columns is used up "
            f"to an order of {EIGEN_LIMIT}, and {why_not}."
        )
    return False


def _require_room(order: int, why_not: str | None) -> None:
    memory.require_memory(
        8 * MOMENTS_IN_MEMORY * order**2,
        what=f"Fitting {order} columns of features and labels from moments",
        remedy=(
            "Use solver='randomized', which goes through the blocks several times and forms no "
            "matrix of that order."
            if why_not is None
            else "Use fewer columns, or CMLLClassifier with solver='randomized', which goes "
            "through the blocks several times and forms no matrix of that order."
        ),
    )


def _why_not_by_passes(embedding: Embedding, source: RowSource) -> str | None:
    """Return why codes cannot be found by a few passes; None if they can."""
    if not isinstance(embedding, CMLL):
        return f"only CMLL does that, and the embedding is {type(embedding).__name__}; use CMLL"
    D, M = source.n_features, source.n_labels
    d, m = embedding.sizes(D, M, D)
    if m is None:
        return "for that the labels must have codes; set n_label_components"
    if d is None:
        return "for that the features must be projected; set n_feature_components='auto'"
    if d < m:
        return f"for that n_feature_components ({d}) must be at least the {m} label components"
    extra = embedding.plan(D, M, D).extra_directions
    if extra and embedding.completion != "krylov":
        return (
            f"for that no principal directions beyond the {m} codes may be asked for; set fewer "
            "n_feature_components, fewer n_label_components, or completion='krylov'"
        )
    if not source.again:
        return (
            "these blocks are an iterator, which can be gone through once; pass something that "
            "begins again: a list of blocks, what compactlearn.datasets.open_blocks returns, or a "
            "function that returns a new iterator"
        )
    return None


def _first_pass(
    source: RowSource, part: Callable[[Block], Any], most: int, what: str
) -> tuple[Any, Any, Rows | None]:
    """Return the sums of all rows and of those that are not held out, and the held-out rows."""
    apart = SetApart(part, operator.add, most)
    rest, rows = apart.ended(source.total(apart.of_block, apart.both, what=what))
    whole = rest if rows is None else rest + part(Block(rows.X, rows.Y, rows.weights, 0, 0))
    refuse_no_weight(whole.count)
    return whole, rest, rows


# ---- one pass ---------------------------------------------------------------------------------


def block_moments(block: Block) -> Moments:
    """Return the moments of a block."""
    return Moments.from_arrays(working_form(block.X), block.Y, block.weights)


def _from_moments(classifier: Any, source: RowSource, most: int) -> Summed:
    moments, rest, rows = _first_pass(source, block_moments, most, "one pass")
    refuse_overflow(float(np.trace(moments.left_left)))
    scale = deviations_of(moments) if classifier.scale else None
    pair = MomentsPair(moments if scale is None else moments.rescaled(1.0 / scale))
    held_out = None
    if rows is not None and _counts(rest.count, rows):
        own = rest if scale is None else rest.rescaled(1.0 / scale)
        seen = (rest.mean_left != 0) | (np.diag(rest.left_left) > 0)
        held_out = HeldOut(MomentsPair(own), _scaled(_as_new(rows, seen), scale))
    _refuse_too_few(classifier, held_out)
    return Summed(pair, 1, scale, held_out, moments)


# ---- several passes ---------------------------------------------------------------------------


def _from_passes(classifier: Any, embedding: Embedding, source: RowSource, most: int) -> Summed:
    assert isinstance(embedding, CMLL)
    size = embedding.sizes(source.n_features, source.n_labels, source.n_features)[1] or 0
    order, models = source.n_features + source.n_labels, 2 if most else 1
    _require_room_for_codes(source, size, models)
    searches = 1 if _together(order, size, models) else 2
    passes = searches * few_passes.most_products(order, size) + 2
    if classifier.verbose:
        owner, at_most = type(classifier).__name__, f"at most {passes} passes over the blocks"
        print(f"{owner}: {at_most}: means, products, learner.", file=sys.stderr, flush=True)
    before = getattr(source, "n_passes", 0)
    sums, rest, rows = _first_pass(source, column_sums, most, "means")
    refuse_overflow(float(sums.deviations.sum()))
    scale, factors = None, None
    if classifier.scale:
        variances = sums.deviations / sums.count
        factors = inverse_deviations(sums.mean_left, variances, sums.count)
        scale, sums, rest = 1.0 / factors, sums.rescaled(factors), rest.rescaled(factors)
    pair, others, held_out = PassesPair(source, sums, factors=factors), None, None
    if rows is not None and _counts(rest.count, rows):
        own = _scaled(rows, scale)
        others = PassesPair(source, rest, own, factors=factors, enough=ENOUGH_OF_PARTS)
        seen = (rest.mean_left != 0) | (rest.deviations > 0)
        held_out = HeldOut(others, _scaled(_as_new(rows, seen), scale))
    _refuse_too_few(classifier, held_out)
    _find_all(classifier, embedding, pair, others)
    made = getattr(source, "n_passes", before + passes) - before
    return Summed(pair, made, scale, held_out)


def _find_all(
    classifier: Any, embedding: CMLL, pair: PassesPair, others: PassesPair | None
) -> None:
    """Find codes and products for both models, in the same passes if memory allows."""
    pairs = [pair] if others is None else [pair, others]
    asked = [(one, AskedCodes(*embedding.asked_codes(one))) for one in pairs]
    if _together(pair.n_left + pair.n_right, max(want.size for _, want in asked), len(pairs)):
        find_codes(asked)
    else:
        for one in asked:
            find_codes([one])
    if embedding.completion == "krylov":  # the projections take passes of their own
        return
    with quiet():
        results = [embedding.solve(one) for one in pairs]
    wanted = [(one, result.projection) for one, result in zip(pairs, results, strict=True)]
    if others is not None and classifier.decoder != "linear":
        P = results[0].projection
        assert P is not None
        like = others.codes_like(results[0].codes, pair.mean_left)
        wanted.append((others, embedding.project(others, like, P.shape[1])))
    find_grams([(one, P) for one, P in wanted if P is not None])


def _search_bytes(order: int, size: int) -> int:
    """Return the bytes of a search for codes, with the sums of blocks of all threads."""
    shares = 8 * order * few_passes.block_width(size) * (own_cores() + 3)
    return few_passes.needed_bytes(order, size) + shares


def _together(order: int, size: int, models: int) -> bool:
    """Return whether the codes of all models are searched in the same passes."""
    return models * few_passes.needed_bytes(order, size) <= TOGETHER_BYTES


def _require_room_for_codes(source: RowSource, size: int, models: int) -> None:
    """Raise MemoryError where codes of so many components would not fit in memory."""
    D, M = source.n_features, source.n_labels
    searches = models if _together(D + M, size, models) else 1
    codes = 8 * (D + M) * 4 * size  # that are found already, with their weights
    memory.require_memory(
        searches * _search_bytes(D + M, size) + (models - searches) * codes,
        what=f"Finding codes of {D} features and {M} labels by passes over the blocks",
        remedy="Set fewer n_label_components, or threshold=0.5 and decoder='linear', which need "
        "no second model.",
    )


# ---- both -------------------------------------------------------------------------------------


def _as_new(rows: Rows, seen: NDArray[np.bool_]) -> Rows:
    """Return held-out rows without features that no other row has."""
    return replace(rows, X=keep_features(rows.X, seen))


def _scaled(rows: Rows, scale: Array | None) -> Rows:
    return rows if scale is None else replace(rows, X=scale_columns(rows.X, 1.0 / scale))


def _counts(count: float, rows: Rows) -> bool:
    """Return whether there is any weight on either side."""
    return count > 0 and (rows.weights is None or bool(rows.weights.any()))


def _refuse_too_few(classifier: Any, held_out: HeldOut | None) -> None:
    tunes = isinstance(classifier.threshold, str) and classifier.threshold != "auto"
    if held_out is None and (tunes or classifier.decoder != "linear"):
        raise ValueError(
            f"decoder={classifier.decoder!r} and threshold={classifier.threshold!r} are learnt "
            "from rows that are held out, runs of sixteen and a fifth of all at most, and there "
            "are too few rows for that; use fit with these rows in memory, or decoder='linear' and "
            "threshold=0.5."
        )


def refuse_no_weight(count: float) -> None:
    """Raise ValueError if the total weight of all rows is 0."""
    if count <= 0:
        raise ValueError(
            "All sample_weight are zero, so no row would count; give at least one row a positive "
            "weight."
        )
