r"""Formulas as MathML, made at build time by Docutils: nothing is loaded, and browsers draw it.

``$\beta$`` in a page is all that an author writes; repository hosts read the same.
"""

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

# A transpose is a plain T, which every font has at the right height; bars stay as high as the line,
# also those with an exponent.
PLAIN = {
    "<mi>\u22a4</mi>": '<mi mathvariant="normal">T</mi>',
    "<mo>\u2016</mo>": '<mo stretchy="false">\u2016</mo>',
    '<mo class="mathopen">\u2016</mo>': '<mo form="prefix" stretchy="false">\u2016</mo>',
}


def mathml(node, **options):
    """A formula as MathML."""
    text = tex2mathml(node.astext(), **options)
    for made, better in PLAIN.items():
        text = text.replace(made, better)
    return text


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
