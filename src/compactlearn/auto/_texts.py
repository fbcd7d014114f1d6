"""Text classification: a vectorizer that checks its texts, and a pipeline with a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.compact._empty_rows import rows_of_zeros
from compactlearn.core._forms import refuse_unread
from compactlearn.core._params import Methods
from compactlearn.core._warn import warn_user

# Selected by bench/text/vectorizer.py: words of a single text are useful (min_df stays 1), and
# single precision gives as good a model.
SETTINGS: dict[str, Any] = {"sublinear_tf": True, "dtype": np.float32}

# From bench/text/word_forms.py: the share of unknown words in new texts is about the share of words
# that occur in a single training text. With a thousand texts or more, English is below this share
# and characters gain little; a language with a dozen forms of a word is above.
_MANY_SINGLE, _ENOUGH_TEXTS = 0.3, 1_000


def text_classifier(
    classifier: Any = None, *, min_label_count: int = 1, exclude: Any = None, **settings: Any
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
    return Pipeline([("words", TextVectorizer(**SETTINGS | settings)), ("tags", classifier)])


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
        _warn_of_empty(
            X,
            "No terms",
            "only label frequencies are learnt from them. Drop these rows, or fill their texts.",
        )
        if self.analyzer == "word" and _single_share(X) >= _MANY_SINGLE:
            warn_user(
                f"{_single_share(X):.0%} of the words of a text are in no other text, and about "
                "as many words of new texts will be unknown. If words have many forms, use parts "
                "of words: try text_classifier(analyzer='char_wb', ngram_range=(3, 5)), on the "
                "command line --analyzer char_wb --ngrams 3,5."
            )
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
        _warn_of_empty(
            X,
            "No term that fit had",
            "their predictions do not depend on the text.",
        )
        return X

    def _texts(self, given: Any) -> Any:
        return check_texts(given) if self.input == "content" else given


def _count(texts: Any) -> str:
    return f"{len(texts)} texts" if isinstance(texts, list) else "all texts"


def _warn_of_empty(X: Any, lacking: str, so: str) -> None:
    rows = np.flatnonzero(rows_of_zeros(X))
    if rows.size:
        first = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
        which = "row" if rows.size == 1 else "rows"
        warn_user(f"{lacking} in {rows.size} of {X.shape[0]} texts ({which} {first}): {so}")


def _single_share(X: Any) -> float:
    """Return the share of words of a text that are in no other text, or 0 if texts are few.

    About as many words of a new text are unknown.
    """
    if X.shape[0] < _ENOUGH_TEXTS or not X.nnz:
        return 0.0
    return float((np.bincount(X.indices, minlength=X.shape[1]) == 1).sum() / X.nnz)


def check_texts(given: Any) -> list[str]:
    """Return texts as a list of strings."""
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
    texts = list(given)
    for row, text in enumerate(texts):
        if not isinstance(text, str | bytes):
            raise ValueError(
                f"{asked}row {row} is {text!r:.40}; fill what is missing, for example with "
                "texts.fillna(''), and make strings of all else, or drop such rows."
            )
    if not texts:
        raise ValueError(f"{asked}there are none; pass at least one text.")
    return texts


def _text_column(frame: Any) -> Any:
    """Return the name of the first column that begins with a string, or else of the first."""
    names = list(frame.columns)
    firsts = [(name, next(iter(frame[name]), None)) for name in names]
    return next((name for name, first in firsts if isinstance(first, str)), names[0])
