"""The entry point for packages that compactlearn can use but does not need."""

import importlib
from types import ModuleType


class NotInstalled(ImportError):
    """A package is absent; the message says how to install it."""


def require(module: str, *, extra: str, purpose: str, package: str = "compactlearn") -> ModuleType:
    """Import an optional module, or raise NotInstalled with what to install and for what.

    Parameters
    ----------
    module : str
        The module's import name, dots allowed.
    extra : str
        The extra that brings it.
    purpose : str
        What the module is for, as the subject of the sentence: "the command line".
    package : str
        The distribution that has the extra.

    Returns
    -------
    module

    Raises
    ------
    NotInstalled
        An ImportError, if the module's package is absent. A package that is present but fails to
        import keeps its own error, which is then the true cause.

    Examples
    --------
    >>> require("json", extra="none", purpose="this example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = module.partition(".")[0]
        if (error.name or missing).partition(".")[0] != missing:
            raise
        raise NotInstalled(
            f"{purpose[:1].upper()}{purpose[1:]} needs the package {missing!r}, which is not "
            f"installed; install it with: pip install '{package}[{extra}]'",
            name=missing,
        ) from error
