"""Names of fitted attributes in docstrings, as people write them.

reStructuredText takes a bare ``codes_`` for a link to something called "codes". In the text of a
docstring, but not in its literals and examples, the underscore is protected.
"""

import re

# Two backquotes open and close a literal, one a role: the text between is not changed.
PIECE = re.compile(r"(``.*?``|`[^`]*`_*)")
ATTRIBUTE = re.compile(r"(?<![\w\\])(\w+)_(?!\w)")


def protect(lines):
    """The lines of a docstring with the underscores that end a bare name escaped."""
    found, literal, example = [], None, False
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if line.strip() and literal is not None and depth <= literal:
            literal = None
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        code = literal is not None or example or line.lstrip().startswith("..")
        pieces = PIECE.split(line)
        if not code:
            pieces[::2] = [ATTRIBUTE.sub(r"\1\\_", piece) for piece in pieces[::2]]
        found.append("".join(pieces))
        if not code and line.rstrip().endswith("::"):
            literal = depth
    return found


def process(app, what, name, obj, options, lines):
    lines[:] = protect(lines)


def setup(app):
    # After numpydoc, which answers the same event and needs names as they are.
    app.connect("autodoc-process-docstring", process, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
