"""Names and values in the text of an ARFF file: quotes, escapes, remarks, cells."""

import re

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# Every character is matched by one of the branches, so that this never has to go back.
_CELL = re.compile(rf"((?:{QUOTED}|\\.?|[^,\\])*)(,|$)")
_UNTIL_REMARK = re.compile(rf"(?:{QUOTED}|\\.?|[^%\\])*")


def split_cells(text: str, *, raw: bool = False) -> list[str]:
    """Return the parts between commas, unquoted unless `raw`; a comma in quotes parts nothing.

    >>> split_cells(r"1, 'a, b' ,it\\'s,")
    ['1', 'a, b', "it's", '']
    """
    if not any(mark in text for mark in "'\"\\"):
        return [cell.strip() for cell in text.split(",")]
    cells = []
    for cell in _CELL.finditer(text):
        cells.append(cell[1].strip() if raw else unquote(cell[1]))
        if not cell[2]:
            break
    return cells


def strip_remark(line: str) -> str:
    """Return the line up to the first percent sign outside quotes.

    >>> strip_remark("1,'5 %' % half of it")
    "1,'5 %'"
    """
    found = _UNTIL_REMARK.match(line) if "%" in line else None
    return (found[0] if found else line).strip()


def unquote(text: str) -> str:
    """Return a name or value without its quotes and escapes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return unescape(text)


def unescape(text: str) -> str:
    """Return the text without backslashes; before n, r and t they mean what they do in C."""
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)


def quote(text: str) -> str:
    """Return a name or value as `unquote` reads it back.

    >>> print(quote("it's 5 %"))
    'it\\'s 5 %'
    """
    escaped = re.sub(r"(['\\])", r"\\\1", text)
    for letter, character in _ESCAPES.items():
        escaped = escaped.replace(character, "\\" + letter)
    return f"'{escaped}'"
