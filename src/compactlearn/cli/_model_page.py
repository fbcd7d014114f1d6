"""What `compactlearn report MODEL DATA` does: one page on a fitted model and rows of a file."""

from collections.abc import Sequence
from pathlib import Path

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._rows import Wanted, known_labels, name_of, open_model, rows_for, tell_unknown
from compactlearn.inspection import model_report
from compactlearn.io._errors import ModelFileError
from compactlearn.io._model_file import about

__all__ = ["check_no_rows", "check_records", "model_and_data", "page_on"]

_XZ = b"\xfd7zXZ\x00"  # what a packed file of records begins with


def model_and_data(given: Sequence[str]) -> tuple[Path, str] | None:
    """MODEL and DATA among the arguments of report; None where there is no model."""
    models = [place for place, name in enumerate(given) if _why_no_model(Path(name)) is None]
    if not models:
        return None
    if len(models) > 1:
        raise Mistake(
            f"A report is on one model, and {len(models)} of the arguments are models "
            f"({', '.join(given[place] for place in models)}); call report for each by itself."
        )
    if models != [0]:
        raise Mistake(
            f"A model comes first, and the rows after it, and {given[models[0]]} is a model that "
            f"comes after {given[0]}; write MODEL DATA, and report records by themselves."
        )
    if len(given) != 2:
        told = ", ".join(given[1:]) or "none"
        raise Mistake(
            f"A report on a model needs one DATA, rows with labels that the model has not met, and "
            f"was given {told}; write report {given[0]} DATA."
        )
    return Path(given[0]), given[1]


def check_records(given: Sequence[str]) -> None:
    """Refuse what cannot be records, by a sentence that knows of models as well."""
    for path in map(Path, given):
        if not path.exists():
            raise Mistake(
                f"There are no records at {path}, and no model; name a folder or a packed file "
                "that 'compactlearn bench' wrote, or a model file and DATA."
            )
        why = _why_no_model(path)
        if why:
            raise Mistake(
                f"A report is made of records (a folder or a packed file that 'compactlearn bench' "
                f"wrote), or of a model and DATA, and {path} is neither: {why}"
            )


def check_no_rows(wanted: Wanted) -> None:
    """Refuse options on how DATA is read where there is none."""
    told = {
        "--text": wanted.text,
        "--tags": wanted.tags,
        "--sep": wanted.sep,
        "--labels": wanted.labels,
        "--ignore": wanted.ignore,
        "--input-format": wanted.form,
        "--delimiter": wanted.delimiter,
        "--data-home": wanted.data_home,
        "--no-header": wanted.header,
        "--encoding": wanted.encoding,
    }
    stray = [option for option, value in told.items() if value is not None]
    if stray:
        raise Mistake(
            f"{' and '.join(stray)} can only say how the DATA of a model is read, and the report "
            f"is on records; leave {'it' if len(stray) == 1 else 'them'} out, or name a model "
            "first."
        )


def page_on(model_file: Path, wanted: Wanted) -> str:
    """The page on the model in a file, looked at by the rows of DATA."""
    model = open_model(model_file)
    rows = rows_for(model, wanted, with_labels=True)
    Y, unknown = known_labels(model, rows)
    with refusals_are_mistakes():
        page = model_report(
            model,
            rows.X,
            Y,
            feature_names=rows.features,
            heading=f"{name_of(model)} on {rows.name}",
        )
    tell_unknown(unknown)
    return page


def _why_no_model(path: Path) -> str | None:
    """None for a model file; for another file why it is none; nothing to say of records."""
    if not path.is_file():
        return ""
    with refusals_are_mistakes():
        with path.open("rb") as stream:
            if stream.read(len(_XZ)) == _XZ:
                return ""
        try:
            about(path)
        except ModelFileError as error:
            return str(error)
    return None
