"""Text classification: vectorizers that check their texts, and a pipeline with a classifier."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.auto._fields import check_fields, field_columns
from compactlearn.compact._empty_rows import rows_of_zeros
from compactlearn.core._forms import refuse_unread
from compactlearn.core._params import Methods
from compactlearn.core._warn import quiet, warn_user

# Selected by bench/text/vectorizer.py: words of a single text are useful (min_df stays 1), and
# single precision gives as good a model.
SETTINGS: dict[str, Any] = {"sublinear_tf": True, "dtype": np.float32}

# From bench/text/word_forms.py: the share of unknown words in new texts is about the share of words
# that occur in a single training text. With a thousand texts or more, English is below this share
# and characters gain little; a language with a dozen forms of a word is above.
_MANY_SINGLE, _ENOUGH_TEXTS = 0.3, 1_000


def text_classifier(
    classifier: Any = None,
    *,
    fields: Any = None,
    min_label_count: int = 1,
    exclude: Any = None,
    **settings: Any,
) -> Pipeline:
    """Return a scikit-learn Pipeline that learns labels of texts.

    Texts become sparse rows of unit length (tf-idf of their words, its step "words"), and a
    classifier of this package (its step "tags") learns the labels from them.

    Parameters
    ----------
    classifier : classifier or None, default=None
        None is :class:`AutoCompactClassifier`, which tries several kinds of models and selects the
        best; for thousands of texts with hundreds of labels or more it begins with
        :class:`ShortlistClassifier`. For the shortest fit pass ``CMLLClassifier()``.
    fields : list of str, dict of str to float, or None, default=None
        Columns of the texts, where they have several parts, such as ``["title", "body"]``, or a
        mapping from columns to weights, such as ``{"title": 2, "body": 1}``. The step "words" is
        then a :class:`FieldVectorizer`, and X has these columns: a data frame, a mapping from names
        to columns, or a list of dicts.
    min_label_count : int, default=1
        Labels of fewer texts are left out, and never suggested.
    exclude : str, list of str or None, default=None
        Labels to leave out likewise, by name.
    **settings
        Of scikit-learn's ``TfidfVectorizer``, such as ``min_df=2`` or ``ngram_range=(1, 2)``; by
        default ``sublinear_tf=True``, all words that occur, and numbers of single precision. For
        languages in which words have many forms pass ``analyzer="char_wb", ngram_range=(3, 5)``;
        ``fit`` warns where the texts look like that.

    Returns
    -------
    Pipeline
        ``fit(texts, labels)`` takes texts as a list or a column of strings, labels as lists of
        names, as a matrix of 0 and 1, or as a column of joined names with
        ``fit(texts, column, tags__sep=";")``. ``predict_labels``, ``predict_topk`` and ``evaluate``
        of this package take the fitted pipeline.

    Examples
    --------
    >>> from compactlearn import predict_labels, text_classifier
    >>> texts = ["boil the pasta", "bake the bread", "bread with oil", "pasta with oil"]
    >>> texts += ["rain and wind", "wind, no rain", "rain on friday", "a cold wind"]
    >>> tags = [["food", "pasta"], ["food", "bread"], ["food", "bread"], ["food", "pasta"]]
    >>> tags += [["weather"]] * 4
    >>> model = text_classifier().fit(texts, tags)
    >>> [name for name, probability in predict_labels(model, ["wind and rain"], k=1)[0]]
    ['weather']
    """
    if classifier is None:
        classifier = AutoCompactClassifier(min_label_count=min_label_count, exclude=exclude)
    elif not Methods("fit", "predict").accepts(classifier):
        raise TypeError(
            f"classifier must have the methods fit and predict; got {classifier!r:.60}. Leave it "
            "out, or pass one such as CMLLClassifier()."
        )
    elif min_label_count != 1 or exclude is not None:
        wanted = {"min_label_count": min_label_count, "exclude": exclude}
        if not set(wanted) <= set(classifier.get_params(deep=False)):
            raise TypeError(
                "text_classifier was given min_label_count or exclude, and "
                f"{type(classifier).__name__} has no such parameters; use AutoCompactClassifier or "
                "ShortlistClassifier, or leave the labels out of the training rows."
            )
        classifier = clone(classifier).set_params(**wanted)
    words: Any = TextVectorizer(**SETTINGS | settings)
    if fields is not None:
        words = FieldVectorizer(check_fields(fields), words)
    return Pipeline([("words", words), ("tags", classifier)])


class TextVectorizer(TfidfVectorizer):
    """scikit-learn's ``TfidfVectorizer`` with a check that its input is a column of texts.

    Without the check, a frame would be read as the names of its columns. Attributes are those of
    scikit-learn.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer, \
stop_words, token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, dtype, \
norm, use_idf, smooth_idf, sublinear_tf
        As in scikit-learn. Texts that are read from files (``input`` other than "content") are not
        checked.

    Examples
    --------
    >>> from compactlearn.auto import TextVectorizer
    >>> TextVectorizer().fit_transform(["rain and wind", "no rain"]).shape
    (2, 4)
    """

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn words and their frequencies.

        Parameters
        ----------
        raw_documents : list or column of str
            Texts, one for each row.
        y : ignored
        """
        self.fit_transform(raw_documents, y)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn words and their frequencies, and return the rows.

        Warns of texts without words, and if parts of words are likely to give a better model.

        Parameters
        ----------
        raw_documents : list or column of str
            Texts, one for each row.
        y : ignored
        """
        texts = self._texts(raw_documents)
        try:
            X = super().fit_transform(texts, y)
        except ValueError as error:
            if not str(error).startswith("empty vocabulary"):
                raise
            raise ValueError(
                f"Texts must have terms to learn from, and of {_count(texts)} none has any for "
                f"analyzer={self.analyzer!r:.40}. Check that this is the column of the texts, or "
                "pass analyzer='char'."
            ) from error
        _warn_at_fit(X, self.analyzer)
        return X

    def transform(self, raw_documents: Any) -> Any:
        """Return the rows of texts, with the words that ``fit`` has seen.

        Warns of texts without such words.

        Parameters
        ----------
        raw_documents : list or column of str
            Texts, one for each row.
        """
        X = super().transform(self._texts(raw_documents))
        _warn_at_transform(X, self.analyzer)
        return X

    def _texts(self, given: Any) -> Any:
        return check_texts(given) if self.input == "content" else given


class FieldVectorizer(TransformerMixin, BaseEstimator):
    """Rows of texts with several fields: a block of tf-idf columns for each field, side by side.

    Each block has rows of unit length, or of zeros where the field is empty, times the weight of
    its field. Weights are divided by the square root of their sum of squares: only their
    proportions matter, and a row without empty fields has unit length, as the settings of
    classifiers expect. A missing text (None, NaN) is empty.

    Parameters
    ----------
    fields : list of str, or dict of str to float
        Columns of X, or a mapping from columns to positive weights.
    vectorizer : TextVectorizer or None, default=None
        Fitted, as a clone, to each field by itself. None is that of :func:`text_classifier`.

    Attributes
    ----------
    fields_ : dict of str to float
        The weight of each field, as given.
    vectorizers_ : list of TextVectorizer
        One for each field, in this order.

    Examples
    --------
    >>> from compactlearn.auto import FieldVectorizer
    >>> notes = [{"title": "Bread", "body": "bake it"}, {"title": "Rain", "body": None}]
    >>> words = FieldVectorizer({"title": 2, "body": 1}).fit(notes)
    >>> words.get_feature_names_out().tolist()
    ['title: bread', 'title: rain', 'body: bake', 'body: it']
    >>> words.transform(notes).toarray().round(2).tolist()
    [[0.89, 0.0, 0.32, 0.32], [0.0, 0.89, 0.0, 0.0]]
    """

    def __init__(self, fields: Any, vectorizer: Any = None) -> None:
        self.fields = fields
        self.vectorizer = vectorizer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn words and their frequencies in each field.

        Parameters
        ----------
        X : data frame, mapping from names to columns, list of dicts, or structured array
            Texts, one for each row and field.
        y : ignored
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn words and their frequencies in each field, and return the rows.

        Warns of rows without words in any field.

        Parameters
        ----------
        X : data frame, mapping from names to columns, list of dicts, or structured array
            Texts, one for each row and field.
        y : ignored
        """
        fields = check_fields(self.fields)
        base = TextVectorizer(**SETTINGS) if self.vectorizer is None else self.vectorizer
        vectorizers = [clone(base) for _ in fields]
        rows = _rows_of_fields(X, fields, [one.fit_transform for one in vectorizers])
        self.fields_, self.vectorizers_ = fields, vectorizers
        _warn_at_fit(rows, base.analyzer)
        return rows

    def transform(self, X: Any) -> Any:
        """Return the rows of texts, with the words that ``fit`` has seen in each field.

        Warns of rows without such words in any field.

        Parameters
        ----------
        X : data frame, mapping from names to columns, list of dicts, or structured array
            Texts, one for each row and field.
        """
        check_is_fitted(self)
        rows = _rows_of_fields(X, self.fields_, [one.transform for one in self.vectorizers_])
        _warn_at_transform(rows, self.vectorizers_[0].analyzer)
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: a field and a word, such as "title: bread".

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self)
        names = [
            f"{field}: {word}"
            for field, one in zip(self.fields_, self.vectorizers_, strict=True)
            for word in one.get_feature_names_out()
        ]
        return np.array(names, dtype=object)


def _rows_of_fields(X: Any, fields: Mapping[str, float], makers: Sequence[Any]) -> Any:
    """Return the weighted blocks of the fields side by side."""
    columns: dict[str, list[str]] = {}
    for name, column in field_columns(X, list(fields)).items():
        with _naming(name):
            columns[name] = check_texts(column, missing=True)
    counts = {name: len(texts) for name, texts in columns.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"The fields of X must have as many texts each; got {counts!r:.200}. Pass columns of "
            "the same rows."
        )
    blocks, length = [], math.hypot(*fields.values())
    for (name, weight), make in zip(fields.items(), makers, strict=True):
        with _naming(name), quiet():  # an empty field is no mistake if another one has words
            blocks.append(make(columns[name]))
        blocks[-1].data *= weight / length
    return scipy.sparse.hstack(blocks, format="csr")


@contextmanager
def _naming(field: str) -> Iterator[None]:
    """Begin the messages of errors with the name of a field."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Field {field!r}: {error}") from error


def _count(texts: Any) -> str:
    return f"{len(texts)} texts" if isinstance(texts, list) else "all texts"


def _warn_at_fit(X: Any, analyzer: Any) -> None:
    """Warn of texts without terms, and if parts of words are likely to give a better model."""
    _warn_of_empty(
        X,
        f"no {_term(analyzer)}",
        "only label frequencies are learnt from it. Drop this row, or fill its text.",
        "only label frequencies are learnt from them. Drop these rows, or fill their texts.",
    )
    if analyzer == "word" and _single_share(X) >= _MANY_SINGLE:
        warn_user(
            f"{_single_share(X):.0%} of the words of a text are in no other text, and about "
            "as many words of new texts will be unknown. If words have many forms, use parts "
            "of words: try text_classifier(analyzer='char_wb', ngram_range=(3, 5)), on the "
            "command line --analyzer char_wb --ngrams 3,5."
        )


def _warn_at_transform(X: Any, analyzer: Any) -> None:
    """Warn of texts without known terms."""
    _warn_of_empty(
        X,
        f"no {_term(analyzer)} of the training texts",
        "its prediction does not depend on the text.",
        "their predictions do not depend on the text.",
    )


def _term(analyzer: Any) -> str:
    return "run of characters" if str(analyzer).startswith("char") else "word"


def _warn_of_empty(X: Any, lacks: str, so_one: str, so_several: str) -> None:
    rows = np.flatnonzero(rows_of_zeros(X))
    if rows.size:
        first = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
        has, which, so = ("has", "row", so_one) if rows.size == 1 else ("have", "rows", so_several)
        warn_user(f"{rows.size} of {X.shape[0]} texts {has} {lacks} ({which} {first}): {so}")


def _single_share(X: Any) -> float:
    """Return the share of words of a text that are in no other text, or 0 if texts are few.

    About as many words of a new text are unknown.
    """
    if X.shape[0] < _ENOUGH_TEXTS or not X.nnz:
        return 0.0
    return float((np.bincount(X.indices, minlength=X.shape[1]) == 1).sum() / X.nnz)


def check_texts(given: Any, *, missing: bool = False) -> list[str]:
    """Return texts as a list of strings; where some may be missing, these are empty."""
    asked = "Texts must be a list or a column of strings, one for each row, and "
    refuse_unread(given, "texts")
    shape = tuple(getattr(given, "shape", ()))
    if scipy.sparse.issparse(given) or len(shape) > 1:
        remedy = "pass a single column; for rows of numbers use a classifier by itself."
        if hasattr(given, "columns"):
            remedy = f"pass the column that has the texts, such as frame[{_text_column(given)!r}]."
        raise ValueError(f"{asked}a {type(given).__name__} of shape {shape} was given; {remedy}")
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise ValueError(
            f"{asked}a single {kind} was given, {given!r:.40}; pass a list of strings."
        )
    texts = ["" if missing and _is_missing(text) else text for text in given]
    for row, text in enumerate(texts):
        if not isinstance(text, str | bytes):
            raise ValueError(
                f"{asked}row {row} is {text!r:.40}; fill what is missing, for example with "
                "texts.fillna(''), and make strings of all else, or drop such rows."
            )
    if not texts:
        raise ValueError(f"{asked}there are none; pass at least one text.")
    return texts


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or pandas' sign for a missing value."""
    nan = isinstance(value, float | np.floating) and value != value
    return value is None or bool(nan) or type(value).__name__ in ("NAType", "NaTType")


def _text_column(frame: Any) -> Any:
    """Return the name of the first column that begins with a string, or else of the first."""
    names = list(frame.columns)
    firsts = [(name, next(iter(frame[name]), None)) for name in names]
    return next((name for name, first in firsts if isinstance(first, str)), names[0])
