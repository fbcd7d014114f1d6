r"""Formulas as MathML, made at build time by Docutils: nothing is loaded, and browsers draw it.

``$\beta$`` in a page is all that an author writes; repository hosts read the same.
"""

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def mathml(node, **options):
    """A formula; the sign of a transpose is a plain T, which every font has at the right height."""
    return tex2mathml(node.astext(), **options).replace(
        "<mi>\u22a4</mi>", '<mi mathvariant="normal">T</mi>'
    )


def inline(translator, node):
    translator.body.append(mathml(node))
    raise SkipNode


def display(translator, node):
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>')
    raise SkipNode


def nothing(translator, node):
    """A formula is written as a whole when it is met."""


def setup(app):
    app.add_html_math_renderer("mathml", (inline, nothing), (display, nothing))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
