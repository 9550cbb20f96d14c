"""Elements of a page as text: escaped, well-formed, numbers short."""

from __future__ import annotations

from html import escape


def safe(text: str) -> str:
    """Text for markup: escaped, and without the characters that no document may hold."""
    return escape("".join(char for char in text if _allowed(char)), quote=True)


def tag(name: str, content: str = "", **attributes: str | float) -> str:
    """One element. `style` names its class; `content` is markup already.

    >>> tag("rect", style="bar", x=1.0, y=2.25)
    '<rect class="bar" x="1" y="2.2"/>'
    """
    stated = "".join(
        f' {"class" if key == "style" else key.replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{stated}>{content}</{name}>" if content else f"<{name}{stated}/>"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return safe(value)
    return f"{value:.1f}".removesuffix(".0")


def _allowed(char: str) -> bool:
    return char in "\n\t" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"
