"""Fitted models in smaller numbers: parts that predicting needs, each array in another type.

A model of float32 holds and multiplies float32. One of float16 holds float32 as well, but each
number is one that float16 has, and they are saved as such: every column times a power of two, which
costs no digit, so that no unit is too large or too small.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._any_classifier import evaluate
from compactlearn.compact._sums import RunningSums
from compactlearn.core._devices import host, on_host
from compactlearn.core._lazy import load
from compactlearn.core._weight import bytes_in

Change = Callable[[Any], Any]

TYPES = ("float64", "float32", "float16")

# Bytes from which on a model is stored in a smaller type by default.
LARGE, HUGE = 10_000_000, 100_000_000
# By how much a smaller type may change probabilities; scores of a kernel model: as a share of the
# largest of them or of 1.
AGREEMENT = {"float32": 1e-3, "float16": 0.05}

_COMPARED = 256  # landmarks whose scores are compared

_DIGITS = 11  # binary ones, of a float16
_LARGEST = 15  # columns are scaled so that their largest entry is at most 2 to that


@dataclass(frozen=True, eq=False)
class Half:
    """An array in float16, each column with a power of two of its own; a vector has one.

    >>> column = np.array([[3e9], [2e7]], dtype=np.float32)
    >>> half = Half.of(column)
    >>> half.values.dtype, half.array().dtype, bool(np.allclose(half.array(), column, rtol=1e-3))
    (dtype('float16'), dtype('float32'), True)
    """

    values: NDArray[np.float16]
    exponents: NDArray[np.int16]

    @classmethod
    def of(cls, array: NDArray[Any]) -> Half:
        """Round an array of finite numbers; rounding again changes nothing."""
        largest = np.abs(array).max(axis=0, initial=0.0) if array.size else np.zeros(1)
        mantissa, exponent = np.frexp(np.asarray(largest, dtype=np.float64))
        # A largest entry that will be rounded up to a power of two counts as that already.
        exponent += np.rint(mantissa * 2**_DIGITS) == 2**_DIGITS
        exponents = np.asarray(exponent - _LARGEST, dtype=np.int16)
        return cls(np.ldexp(array, -exponents.astype(np.int32)).astype(np.float16), exponents)

    def array(self) -> NDArray[np.float32]:
        """Return the numbers, as they are multiplied."""
        return np.ldexp(self.values.astype(np.float32), self.exponents.astype(np.int32))


@dataclass(frozen=True, eq=False)
class HalfSparse:
    """A sparse matrix whose entries are stored in float16."""

    kind: type
    shape: tuple[int, ...]
    data: Half
    indices: NDArray[Any]
    indptr: NDArray[Any]

    def matrix(self) -> Any:
        return self.kind((self.data.array(), self.indices, self.indptr), shape=self.shape)


class Compressible:
    """Gives a classifier the method :meth:`compress`."""

    compression_: dict[str, Any]
    _stored_as: str

    def compress(
        self,
        dtype: Any = "float32",
        X: Any = None,
        Y: Any = None,
        *,
        scoring: Any = "average_precision",
    ) -> Self:
        """Return a smaller model that predicts the same, to the accuracy of a smaller type.

        Neighbouring matrices of a linear model are multiplied out where that leaves fewer numbers,
        and what predicting does not need is dropped. The model itself is not changed.

        Parameters
        ----------
        dtype : {"float64", "float32", "float16"}, default="float32"
            What numbers are stored in. float64 rounds nothing; float32 has seven digits, float16
            three, in any units. Parts of other packages are kept as they are. A kernel model whose
            scores would change too much is stored in the next wider type.
        X, Y : as in ``fit``, optional
            Rows, best not those of ``fit``, on which both models are judged.
        scoring : str or scorer, default="average_precision"
            By which metric: a name in ``compactlearn.metrics.METRICS``, or a scorer.

        Returns
        -------
        classifier
            Of the same kind, fitted. Its ``compression_`` is a dictionary: "dtype",
            "bytes_before", "bytes_after" and, where X and Y were given, "scoring", "before" and
            "after".
        """
        check_is_fitted(self)
        name = _type_named(dtype)
        if (X is None) != (Y is None):
            raise ValueError(
                "compress judges what it costs on rows and their labels, and was given one without "
                "the other; pass both X and Y, or neither."
            )
        whole, X, Y = on_host(self), host(X), host(Y)
        small = compressed(whole, name)
        name = small._stored_as
        report: dict[str, Any] = {"dtype": name, "bytes_before": bytes_in(whole), "bytes_after": 0}
        small.compression_ = report
        if X is not None:
            found = load("compactlearn.metrics._scoring")
            judge = scoring if isinstance(scoring, found.Scorer) else found.scorer(scoring)
            report["scoring"] = judge.name
            report["before"], report["after"] = (_judged(m, X, Y, judge) for m in (whole, small))
        report["bytes_after"] = bytes_in(small)
        return small

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return packed(state) if _is_half(state) else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(unpacked(state) if _is_half(state) else state)


def _is_half(state: dict[str, Any]) -> bool:
    return state.get("_stored_as") == "float16"


def _judged(model: Any, X: Any, Y: Any, judge: Any) -> float:
    """Return the metric itself, whatever the labels and the scores look like."""
    found = {} if judge.options else evaluate(model, X, Y)
    if judge.name in found:
        return found[judge.name]
    value = judge(model, X, Y)
    metric = load("compactlearn.metrics._table").get_metric(judge.name)
    return value if metric.greater_is_better else -value


def forget_compression(classifier: Any) -> None:
    """Remove what compressing left, of a classifier that is fitted again."""
    for name in ("_stored_as", "compression_"):
        vars(classifier).pop(name, None)


def compressed(model: Compressible, dtype: str) -> Any:
    """Return the model in this type, or in the next wider one that keeps its scores."""
    slim, rows = _without_spare(model), _rows_to_compare(model)
    for name in TYPES[TYPES.index(dtype) :: -1]:
        other = object.__new__(type(slim))
        vars(other).update(_changed_state(slim, _smaller(name), {}), _stored_as=name)
        if rows is None or name == TYPES[0] or _agree(slim, other, rows, AGREEMENT[name]):
            return other
    raise AssertionError("float64 keeps every score")


def _without_spare(model: Any) -> Any:
    """Return a copy with what predicting needs, and no more; arrays are shared."""
    if not hasattr(model, "parts_"):
        return model
    parts, embedding = model.parts_.cheapest(), copy(model.embedding_)
    for name in ("codes_", "decoder_", "offset_", "eigenvalues_", "objective_path_"):
        vars(embedding).pop(name, None)
    embedding.projection_ = parts.projection
    other = object.__new__(type(model))
    vars(other).update(vars(model), embedding_=embedding, regressor_=parts.regressor)
    vars(other).update(parts_=parts, _sums=RunningSums(None))
    vars(other).pop("decoding_", None)
    return other


def _rows_to_compare(model: Any) -> Any:
    """Return some landmarks and points half-way between them; None without a kernel.

    Weights of landmarks cancel: what rounding leaves of a score may have no digit.
    """
    parts = getattr(model, "parts_", None)
    if parts is None:
        return None
    landmarks = getattr(parts.row_map.feature_map, "landmarks_", None)
    if landmarks is None:
        return None
    rows = landmarks[:: -(-landmarks.shape[0] // _COMPARED)]
    between = (rows + rows[np.roll(np.arange(rows.shape[0]), 1)]) * 0.5
    if scipy.sparse.issparse(rows):
        return scipy.sparse.csr_array(scipy.sparse.vstack([rows, between], format="csr"))
    return np.concatenate([rows, between])


def _agree(model: Any, other: Any, rows: Any, share: float) -> bool:
    """Return whether no score of some rows differs by more than half of a share of the largest."""
    before, after = model.parts_.scores(rows), other.parts_.scores(rows)
    # Half of it, since scores of other rows may differ by somewhat more.
    return bool(np.abs(after - before).max() <= share / 2 * max(1.0, np.abs(before).max()))


def compressed_parts(thing: Any, dtype: str) -> Any:
    """Return whatever holds models and arrays with these in numbers of this type."""
    return _changed(thing, _smaller(dtype), {})


def lightened(thing: Any, scores: Callable[[Any], NDArray[Any]]) -> Any:
    """Return a large model, or what holds models, in a smaller type where its scores allow it.

    Above ``LARGE`` bytes that is float32, above ``HUGE`` bytes float16, each where none of the
    ``scores`` of some rows changes by more than ``AGREEMENT``.
    """
    best, before = thing, None
    for dtype, most in (("float32", LARGE), ("float16", HUGE)):
        if bytes_in(best) <= most:
            break
        before = scores(thing) if before is None else before
        try:
            smaller = compressed_parts(thing, dtype)
        except ValueError:  # some number is too large for the type
            break
        if not np.abs(scores(smaller) - before).max(initial=0.0) <= AGREEMENT[dtype]:
            break
        best = smaller
    return best


def _smaller(dtype: str) -> Change:
    def smaller(thing: Any) -> Any:
        if isinstance(thing, Compressible):
            return compressed(thing, dtype)
        return _rounded(thing, dtype) if isinstance(thing, np.ndarray) else thing

    return smaller


def packed(state: Any) -> Any:
    """Return a state with its arrays in float16; other models inside pack themselves."""
    return _changed(state, lambda thing: Half.of(thing) if _fits_half(thing) else thing, {})


def unpacked(state: Any) -> Any:
    """Undo :func:`packed`."""
    return _changed(state, lambda thing: thing.array() if isinstance(thing, Half) else thing, {})


def _type_named(dtype: Any) -> str:
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in TYPES or dtype is None:
        raise ValueError(
            f"compress stores numbers as {', '.join(map(repr, TYPES[:-1]))} or {TYPES[-1]!r}, and "
            f"was given dtype={dtype!r}; pass one of these."
        )
    return name


def _rounded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return an array rounded to a type, in the type that it is multiplied in."""
    if array.dtype.itemsize <= np.dtype(dtype).itemsize:
        return array
    if dtype == "float16" and np.isfinite(array).all():
        with np.errstate(over="ignore"):
            smaller = Half.of(array).array()
    else:
        with np.errstate(over="ignore"):
            smaller = array.astype(np.float32)
    if not np.isfinite(smaller[np.isfinite(array)]).all():
        raise ValueError(
            f"compress cannot store {np.abs(array).max():.2g}, a number of this model, in {dtype}: "
            "it is too large; use dtype='float64', or fit to features in other units."
        )
    return smaller


def _fits_half(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and bool(np.isfinite(thing).all())


Memo = dict[int, tuple[Any, Any]]  # with the thing itself, so that its address stays its own


def _changed(thing: Any, change: Change, memo: Memo) -> Any:
    """Return a copy with every array of floats changed; the same array stays the same array.

    Goes through containers and what this package defines. Parts of other packages are kept as they
    are, and so is what a ``change`` returns of another thing.
    """
    if id(thing) in memo:
        return memo[id(thing)][1]
    if isinstance(thing, np.ndarray):
        other = change(thing) if thing.dtype.kind == "f" else thing
    elif isinstance(thing, Half):
        other = change(thing)
    elif scipy.sparse.issparse(thing) and thing.format in ("csr", "csc"):
        other = _changed_sparse(thing, change)
    elif isinstance(thing, HalfSparse):
        other = thing.matrix() if change(thing.data) is not thing.data else thing
    elif type(thing) is dict:
        other = {name: _changed(part, change, memo) for name, part in thing.items()}
    elif type(thing) in (list, tuple):
        other = type(thing)(_changed(part, change, memo) for part in thing)
    elif isinstance(thing, Compressible):
        other = change(thing)
    elif isinstance(thing, Pipeline):  # with a model of ours at its end
        other = Pipeline([(name, _changed(step, change, memo)) for name, step in thing.steps])
    elif _is_ours(thing):
        other = object.__new__(type(thing))
        vars(other).update(_changed_state(thing, change, memo))
    else:
        other = thing
    memo[id(thing)] = (thing, other)
    return other


def _changed_sparse(matrix: Any, change: Change) -> Any:
    data = change(matrix.data) if matrix.data.dtype.kind == "f" else matrix.data
    if data is matrix.data:
        return matrix
    if isinstance(data, Half):
        return HalfSparse(type(matrix), matrix.shape, data, matrix.indices, matrix.indptr)
    return type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _changed_state(thing: Any, change: Change, memo: Memo) -> dict[str, Any]:
    """Return the changed state of a thing of ours, but for parameters and names of classes."""
    state = vars(thing) if isinstance(thing, Compressible) else thing.__getstate__()
    kept = {"classes", "classes_"}
    if isinstance(thing, BaseEstimator):
        kept |= set(thing.get_params(deep=False))
    return {
        name: part if name in kept else _changed(part, change, memo) for name, part in state.items()
    }


def _is_ours(thing: Any) -> bool:
    module = type(thing).__module__
    ours = module == "compactlearn" or module.startswith("compactlearn.")
    return (
        ours and not isinstance(thing, type) and isinstance(getattr(thing, "__dict__", None), dict)
    )
