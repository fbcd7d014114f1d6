"""The reference: a page for each public package, and one for each estimator, from ``__all__``.

The pages are written to docs/api/generated before Sphinx looks for documents. A name that a package
makes public is in the reference by that alone, and one that is taken away leaves it.
"""

import importlib
import inspect
import shutil
from pathlib import Path

from sklearn.base import BaseEstimator

PACKAGES = (
    "compactlearn",
    "compactlearn.metrics",
    "compactlearn.model_selection",
    "compactlearn.related",
    "compactlearn.datasets",
    "compactlearn_bench.records",
    "compactlearn_bench.report",
    "compactlearn.inspection",
    "compactlearn.plots",
    "compactlearn_bench",
    "compactlearn.decoding",
    "compactlearn.auto",
    "compactlearn.embeddings",
    "compactlearn.compact",
    "compactlearn.utils",
)
KINDS = ("Estimators", "Functions", "Types", "Constants")


def kind_of(thing):
    if inspect.isclass(thing):
        return "Estimators" if issubclass(thing, BaseEstimator) else "Types"
    return "Functions" if inspect.isroutine(thing) else "Constants"


def summary_of(thing):
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())


def places():
    """Where each public thing is documented: in the first package that has it."""
    found, seen = {package: {kind: [] for kind in KINDS} for package in PACKAGES}, set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            kind = kind_of(thing)
            if kind == "Constants" or id(thing) not in seen:
                found[package][kind].append((name, thing))
            if kind != "Constants":
                seen.add(id(thing))
    return found


def heading(text, sign):
    return [text, sign * len(text), ""]


def table(package, things):
    lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
    for name, thing in things:
        lines += [f"   * - :py:obj:`~{package}.{name}`", f"     - {summary_of(thing)}"]
    return [*lines, ""]


def package_page(package, kinds):
    """The names of a package by kind; all but estimators are described on the page itself."""
    lines = [f".. py:module:: {package}", "", *heading(package, "=")]
    lines += [summary_of(importlib.import_module(package)), ""]
    for kind, things in kinds.items():
        if not things:
            continue
        lines += heading(kind, "-")
        if kind != "Constants":
            lines += table(package, things)
        if kind == "Estimators":
            lines += [".. toctree::", "   :hidden:", ""]
            lines += [f"   {package}/{name}" for name, _ in things]
            lines.append("")
        for name, thing in things if kind != "Estimators" else ():
            lines += description(package, name, thing)
    return "\n".join(lines)


def description(package, name, thing):
    match kind_of(thing):
        case "Functions":
            return [f".. autofunction:: {package}.{name}", ""]
        case "Constants":
            return [f".. py:data:: {name}", "", f"   {constant(thing)}", ""]
        case _:
            return [
                f".. autoclass:: {package}.{name}",
                "   :members:",
                "   :inherited-members: object, Exception, ValueError, dict",
                "",
            ]


def constant(thing):
    """Describe a constant, with its value if it fits on a line."""
    shown = repr(thing)
    return f"``{shown}``" if len(shown) < 400 else f"A ``{type(thing).__name__}``."


def estimator_page(package, name, thing):
    return "\n".join([*heading(name, "="), *description(package, name, thing)])


def write(app):
    folder = Path(app.srcdir) / "api" / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    for package, kinds in places().items():
        (folder / package).mkdir(parents=True)
        for name, thing in kinds["Estimators"]:
            page = folder / package / f"{name}.rst"
            page.write_text(estimator_page(package, name, thing), encoding="utf-8")
        page = folder / f"{package}.rst"
        page.write_text(package_page(package, kinds), encoding="utf-8")


def skip(app, what, name, obj, skip, options):
    """Skip members that scikit-learn and Python define and describe."""
    target = obj.fget if isinstance(obj, property) else obj
    module = getattr(target, "__module__", None) or ""
    return None if module.startswith("compactlearn") else True


def setup(app):
    app.connect("builder-inited", write)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
