"""HTML from Python, escaped by construction: a text is text, whoever wrote it, and only `el` makes tags."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from nudge.text import plain

_VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))
"""Elements without an end. Those of a drawing all have one, or the next mark would be drawn inside them: not at all."""


class Html(str):
    """Markup that `el` made."""

    __slots__ = ()


def text(value: object) -> Html:
    """
    >>> text("<b>\\x1b[31m")
    '&lt;b&gt;�[31m'
    """
    return value if isinstance(value, Html) else Html(escape(plain(str(value)), quote=True))


def el(tag: str, *children: Any, **attributes: Any) -> Html:
    """An element. None and False are left out, True is an attribute without a value, lists are flattened.

    >>> el("a", "1 < 2", href="/time?x=1&y=2", class_="big", hidden=False)
    '<a href="/time?x=1&amp;y=2" class="big">1 &lt; 2</a>'
    >>> el("input", name="words", required=True)
    '<input name="words" required>'
    """
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = name.rstrip("_").replace("_", "-")
        parts.append(f" {shown}" if value is True else f' {shown}="{text(value)}"')
    parts.append(">")
    if tag in _VOID:
        return Html("".join(parts))
    return Html("".join([*parts, *_flat(children), f"</{tag}>"]))


def together(*children: Any) -> Html:
    return Html("".join(_flat(children)))


def _flat(children: Iterable[Any]) -> Iterable[str]:
    for child in children:
        if child is None or child is False:
            continue
        if isinstance(child, str | int | float):
            yield text(child)
        else:
            yield from _flat(child)
