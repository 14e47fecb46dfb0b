"""Elements of HTML, SVG and XML as text; whatever is put into them is escaped."""

from __future__ import annotations

import re
from html import escape

_NEVER_CLOSED = frozenset({"meta", "br"})
# What XML 1.0 and HTML allow in no form.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = Markup | str | int | float | None


def element(tag: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """``<tag attribute="...">children</tag>``.

    An underscore in an attribute's name stands for a hyphen, one at the end for nothing: ``class_``.
    An attribute that is None or False is left out, one that is True has no value.
    """
    words = [tag]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        words.append(attribute if value is True else f'{attribute}="{text(value)}"')
    opening = f"<{' '.join(words)}>"
    if tag in _NEVER_CLOSED:
        return Markup(opening)
    return Markup(f"{opening}{joined(*children)}</{tag}>")


def joined(*children: Child, between: str = "") -> Markup:
    """The children one after the other; None is left out."""
    return Markup(between.join(text(child) for child in children if child is not None))


def text(value: Child) -> str:
    """A value inside an element or an attribute; what no document can hold is replaced."""
    if isinstance(value, Markup):
        return value
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", escape(str(value)))
