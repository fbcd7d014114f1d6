"""Pages below another page in the table of contents.

An overview is plain Markdown, with links for people. What its folder holds is added to the contents
here, so that a new page needs no line anywhere else.
"""

FOLDERS = {"gallery": "gallery/*", "methods/index": "*"}
OUTSIDE = "lab/"  # pages that links lead to, and no table of contents
TOCTREE = """
```{{toctree}}
:hidden:
:glob:

{pattern}
```
"""


def add_folder(app, docname, content):
    if docname in FOLDERS:
        content[0] += TOCTREE.format(pattern=FOLDERS[docname])
    if docname.startswith(OUTSIDE):
        content[0] = f"---\norphan: true\n---\n{content[0]}"


def setup(app):
    app.connect("source-read", add_folder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
