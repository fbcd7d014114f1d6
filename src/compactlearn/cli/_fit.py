"""`compactlearn fit`: fit a model to the data in a file, and write it to another file."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from scipy.special import expit

from compactlearn._methods import METHODS, method
from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.auto._texts import text_classifier
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes, refuse_options
from compactlearn.cli._options import AsJson, Data, Force, LabelledOptions, grouped
from compactlearn.cli._rows import text_columns, training_blocks, training_data
from compactlearn.cli._targets import check_target, files_read
from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._compression import TYPES, lightened
from compactlearn.core._memory import human_bytes
from compactlearn.core._params import nearest
from compactlearn.core._plain import plain
from compactlearn.core._shown import shown
from compactlearn.datasets import BlockFiles, Texts
from compactlearn.datasets._formats.mixed import MixedTable
from compactlearn.io._columns import fit_blocks_to, fit_to, last_step, with_columns
from compactlearn.io._model_file import save_model
from compactlearn.model_selection._cmll_cv import CMLLClassifierCV
from compactlearn.shortlist._classifier import ShortlistClassifier

__all__ = ["fit", "make"]


CHECKED_ROWS = 200  # rows whose scores in a smaller dtype are compared

#: Classifiers by the names of --method; the other names are those of `METHODS`.
MAKERS: Mapping[str, Callable[..., Any]] = {
    "auto": AutoCompactClassifier,
    "shortlist": ShortlistClassifier,
    "cmll": CMLLClassifier,
    "cmll-cv": CMLLClassifierCV,
}


#: Units that texts are divided into, with the default lengths of n-grams.
ANALYZERS: Mapping[str, tuple[int, int]] = {"word": (1, 1), "char": (3, 5), "char_wb": (3, 5)}


@grouped
def fit(
    source: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write the model to.")],
    options: LabelledOptions,
    categories: Annotated[
        str | None,
        typer.Option(
            help="Categorical columns, separated by commas, or auto: all columns with values that "
            "are not numbers. Each value becomes a feature, a missing value too; missing numbers "
            "are replaced by the median."
        ),
    ] = None,
    analyzer: Annotated[
        str | None,
        typer.Option(
            help="What texts are split into: word, char (runs of characters) or char_wb (runs "
            "within words, for languages in which words have many forms); by default word.",
            show_default=False,
        ),
    ] = None,
    ngrams: Annotated[
        str | None,
        typer.Option(
            metavar="MIN,MAX",
            help="Shortest and longest run of words or characters that is a feature; by default "
            "1,1 for words and 3,5 for characters.",
            show_default=False,
        ),
    ] = None,
    min_df: Annotated[
        str | None,
        typer.Option(
            "--min-df",
            help="Ignore words and runs in fewer texts than this number (2) or share (0.001); by "
            "default 1.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto: the best of several models; shortlist: for thousands of labels; cmll: a "
            "compact linear model; cmll-cv: the same, tuned by cross-validation; or another "
            "method by its name, such as CPLST."
        ),
    ] = "auto",
    time_budget: Annotated[
        float | None, typer.Option(help="For auto: seconds for the search, after DATA is read.")
    ] = None,
    size_budget: Annotated[
        str | None,
        typer.Option(
            help="For auto: largest model size, in parameters (20000), as a share of features "
            "times labels (0.1), or in bytes ('2 MB')."
        ),
    ] = None,
    min_label_count: Annotated[
        int,
        typer.Option(min=1, help="For auto and shortlist: leave out labels with fewer rows."),
    ] = 1,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="For auto and shortlist: a label to leave out; may be repeated."),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            help="Type of the stored parameters: float64, float32, float16, or auto: float32 for a "
            "model above 10 MB and float16 for one above 100 MB, if its scores stay the same."
        ),
    ] = "auto",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=-1, help="Number of threads, for methods that use several.")
    ] = None,
    blocks: Annotated[
        bool,
        typer.Option(
            "--blocks",
            help="For cmll and other linear methods: read DATA, a file or a folder of files, block "
            "by block, if its rows do not fit in memory.",
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="With --blocks: a folder for intermediate results, from which a stopped fit is "
            "resumed."
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit a model to DATA and write it to a file.

    DATA is a table of features and labels (ARFF, CSV, TSV, Parquet, LIBSVM or the format of the
    extreme classification repository), or with --text and --tags a table of texts and their tags.
    """
    check_target(output, "--output", force=force, inputs=files_read(source, options.labels))
    model = make(method, seed, jobs, time_budget, size_budget, dtype)
    if min_label_count > 1 or exclude:
        if not isinstance(model, AutoCompactClassifier | ShortlistClassifier):
            raise Mistake(
                f"--min-label-count and --exclude are for --method auto and shortlist; got "
                f"--method {method}. Pass one of these methods, or remove the labels from DATA."
            )
        model.set_params(min_label_count=min_label_count, exclude=exclude or None)
    terms = _terms(analyzer, ngrams, min_df)
    if options.text is None:
        given = {"--analyzer": analyzer, "--ngrams": ngrams, "--min-df": min_df}
        refuse_options(
            [option for option, value in given.items() if value is not None],
            "is for texts, and --text, which names the text column, was not given",
        )
    header = {"header": False} if options.header is False else {}
    if blocks:
        if categories is not None or not isinstance(model, CompactClassifier):
            raise Mistake(
                "--blocks is for linear models of numeric tables without --categories; got "
                f"--method {method}. Pass --method cmll or another linear method, and no "
                "--categories."
            )
        data: Any = training_blocks(source, options)
        start = time.perf_counter()
        with refusals_are_mistakes():
            fit_blocks_to(model, data, checkpoint, **header)
    else:
        if checkpoint is not None:
            refuse_options(["--checkpoint"], "is for --blocks, and --blocks was not given")
        data, columns = training_data(source, options, categories)
        if isinstance(data, Texts):
            named = text_columns(options.text or "")
            model = text_classifier(
                model, fields=None if isinstance(named, str) else named, **terms
            )
        elif isinstance(data, MixedTable):
            model = with_columns(model, data)
        start = time.perf_counter()
        with refusals_are_mistakes():
            fit_to(model, data, columns, **header)
    last = last_step(model)
    if getattr(last, "interrupted_", False):  # the search kept its best model so far
        raise KeyboardInterrupt
    if "verbose" in last.get_params(deep=False):
        last.set_params(verbose=0)  # the progress bar was for this command only
    with refusals_are_mistakes():
        model = _in_type(model, dtype, data)
        seconds = time.perf_counter() - start
        save_model(model, output)
    record = _record(model, data, output, seconds)
    typer.echo(json.dumps(record, indent=2) if as_json else shown(_sentence(record), keep="\n"))


def _terms(analyzer: str | None, ngrams: str | None, min_df: str | None) -> dict[str, Any]:
    """Return the parameters of `text_classifier` that the options set."""
    settings: dict[str, Any] = {}
    if analyzer is not None:
        if analyzer not in ANALYZERS:
            raise Mistake(
                f"--analyzer must be one of {', '.join(ANALYZERS)}; got {analyzer!r:.40}."
                f"{nearest(analyzer, ANALYZERS)}"
            )
        settings = {"analyzer": analyzer, "ngram_range": ANALYZERS[analyzer]}
    if ngrams is not None:
        found = re.fullmatch(r"([0-9]{1,3})(?:,([0-9]{1,3}))?", ngrams.replace(" ", ""))
        ends = (0, 0) if found is None else (int(found[1]), int(found[2] or found[1]))
        if not 1 <= ends[0] <= ends[1]:
            raise Mistake(
                f"--ngrams must be two integers of at least 1, the smaller one first; got "
                f"{ngrams!r:.40}. Pass for example 3,5."
            )
        settings["ngram_range"] = ends
    if min_df is not None:
        count = _size(min_df)
        many = isinstance(count, int) and count >= 1
        if not many and not (isinstance(count, float) and 0 < count < 1):
            raise Mistake(
                f"--min-df must be an integer of at least 1, or a share between 0 and 1; got "
                f"{min_df!r:.40}. Pass for example 2 or 0.001."
            )
        settings["min_df"] = count
    return settings


def make(
    name: str,
    seed: int,
    jobs: int | None,
    time_budget: float | None = None,
    size_budget: str | None = None,
    dtype: str = "auto",
) -> Any:
    """Return the unfitted classifier of a name of `MAKERS` or `METHODS`."""
    if dtype not in ("auto", *TYPES):
        raise Mistake(
            f"--dtype must be one of auto, {', '.join(TYPES)}; got {dtype!r}."
            f"{nearest(dtype, ['auto', *TYPES])}"
        )
    budgets = {"time_budget": time_budget, "size_budget": _size(size_budget)}
    asked = {key: value for key, value in budgets.items() if value is not None}
    if asked and name != "auto":
        option = next(iter(asked)).replace("_", "-")
        raise Mistake(
            f"--{option} is for --method auto; got --method {name}. Leave one of the two out."
        )
    if name in MAKERS:
        model = MAKERS[name](**asked)
    elif name in METHODS:
        model = method(name, protocol="recommended")
    else:
        known = [*MAKERS, *METHODS]
        raise Mistake(
            f"--method must be one of {', '.join(known)}; got {name!r}.{nearest(name, known)}"
        )
    wanted = {"random_state": seed, "n_jobs": jobs, "verbose": 1, "dtype": dtype}
    settings = model.get_params()
    return model.set_params(**{key: value for key, value in wanted.items() if key in settings})


def _in_type(model: Any, dtype: str, data: Any) -> Any:
    """Return the fitted model with its parameters in the dtype of the file."""
    last = last_step(model)
    if "dtype" in last.get_params(deep=False):  # the search has chosen the dtype
        return model
    if not hasattr(last, "compress"):
        if dtype == "auto":
            return model
        raise Mistake(
            f"--dtype must be auto for a {type(last).__name__}, whose parameters cannot be "
            f"converted; got {dtype}. Leave --dtype out."
        )
    small = last
    if dtype != "auto":
        small = last.compress(dtype)
    elif not isinstance(data, BlockFiles):
        rows = list(data.texts[:CHECKED_ROWS]) if isinstance(data, Texts) else data.X[:CHECKED_ROWS]
        X = rows if model is last else model[:-1].transform(rows)
        small = lightened(last, lambda part: _probabilities(part, X))
    if model is last:
        return small
    model.steps[-1] = (model.steps[-1][0], small)
    return model


def _probabilities(model: Any, X: Any) -> Any:
    """Return probabilities of all labels, or the scores of a model that has none."""
    scores = scores_to_rank(model, X)
    return expit(scores) if hasattr(model, "predict_proba") else scores


def _size(text: str | None) -> int | float | str | None:
    """Return an integer or a float if the text is one, otherwise the text (bytes with a unit)."""
    for kind in (int, float):
        with contextlib.suppress(ValueError, TypeError):
            return kind(text)  # type: ignore[arg-type]
    return text


def _record(model: Any, data: Any, output: Path, seconds: float) -> dict[str, Any]:
    last = last_step(model)
    return {
        "model": str(output),
        "classifier": " ".join(repr(last).split()),
        "data": data.name,
        "rows": _n_rows(data),
        "features": int(last.n_features_in_),
        "labels": int(last.n_labels_),
        "excluded_labels": plain(getattr(last, "excluded_labels_", [])),
        "n_parameters": int(last.n_parameters_),
        "bytes": output.stat().st_size,
        "seconds": seconds,
        "why": getattr(last, "why_", None),
        "score": plain(getattr(last, "best_score_", None)),
        **(_column_record(model, data) if isinstance(data, MixedTable) else {}),
    }


def _column_record(model: Any, data: MixedTable) -> dict[str, Any]:
    """Return the number of values of each categorical column, and the fill values."""
    encoders = model[0].named_transformers_
    names, chosen = data.columns.features, data.columns.categories
    sizes = [len(known) for known in getattr(encoders.get("categories"), "categories_", [])]
    numbers = [name for name in names if name not in chosen]
    medians = dict(zip(numbers, getattr(encoders.get("numbers"), "statistics_", []), strict=True))
    filled = {
        name: {"count": count, "as": "category" if name in chosen else float(medians[name])}
        for name, count in data.missing().items()
    }
    ordered = [name for name in names if name in chosen]
    return {"categories": dict(zip(ordered, sizes, strict=True)), "missing": filled}


def _n_rows(data: Any) -> int:
    if isinstance(data, BlockFiles):
        return int(data.n_rows or 0)  # known after reading
    return len(data.texts) if isinstance(data, Texts) else data.n_samples


def _sentence(record: Mapping[str, Any]) -> str:
    left = len(record["excluded_labels"])
    without = f", without {left} that were left out" if left else ""
    line = (
        f"{record['classifier']} fitted to {record['data']} ({record['rows']} rows, "
        f"{record['features']} features, {record['labels']} labels{without}) in "
        f"{record['seconds']:.1f} s: {record['model']}, {human_bytes(record['bytes'])}, "
        f"{record['n_parameters']:,} parameters."
    )
    if record.get("categories"):
        listed = ", ".join(f"{name} ({n} values)" for name, n in record["categories"].items())
        line += f"\nCategories: {listed}."
    if record.get("missing"):
        filled = ", ".join(
            f"{name} ({one['count']}, "
            + ("a category of their own)" if one["as"] == "category" else f"median {one['as']:g})")
            for name, one in record["missing"].items()
        )
        line += f"\nMissing values: {filled}."
    return line if record["why"] is None else f"{line}\n{record['why']}"
