"""The refusal of a data file."""

import os

__all__ = ["DataFileError", "short"]


class DataFileError(ValueError):
    """A data file that cannot be read: which file, which line where there are lines, and why.

    Parameters
    ----------
    path : str or path
        The file.
    reason : str
        What must hold, what was found, what to do.
    line : int, optional
        Counted from 1.

    Examples
    --------
    >>> print(DataFileError("toy.csv", "a row must hold 3 values, got 2.", line=7))
    toy.csv, line 7: a row must hold 3 values, got 2.
    """

    def __init__(
        self, path: str | os.PathLike[str], reason: str, *, line: int | None = None
    ) -> None:
        self.path, self.reason, self.line = os.fspath(path), reason, line
        where = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are pickled by their message alone, which is not what the constructor takes.
        return _rebuild, (self.path, self.reason, self.line)


def _rebuild(path: str, reason: str, line: int | None) -> DataFileError:
    return DataFileError(path, reason, line=line)


def short(text: str) -> str:
    """The text, cut to what a message can carry."""
    return text if len(text) <= 60 else text[:57] + "..."
