"""Names from files and models as a terminal may show them."""

import re

# Control characters of both blocks, line and paragraph separators, characters that turn the
# direction of what follows, and halves of surrogate pairs, which no encoding can write.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: object, keep: str = "") -> str:
    r"""Return a text whose control characters are written as escapes.

    A name can come from a file of somebody else, and a terminal obeys some characters.

    Parameters
    ----------
    text : object
        A name, or what ``str`` makes one of.
    keep : str
        Control characters that stay as they are, for example line ends of a whole page.

    Examples
    --------
    >>> print(shown("plain"), shown("\x1b[2J\x07"), shown("two\nlines"))
    plain \x1b[2J\x07 two\nlines
    """
    return _UNSAFE.sub(
        lambda found: found[0] if found[0] in keep else found[0].encode("unicode_escape").decode(),
        str(text),
    )
