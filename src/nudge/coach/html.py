"""How CommonMark's seven kinds of HTML block start and end."""

from __future__ import annotations

import re

_TAG_NAME = r"[A-Za-z][A-Za-z0-9-]*"
_ATTRIBUTE = r"""\s+[A-Za-z_:][A-Za-z0-9:._-]*(?:\s*=\s*(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*"))?"""
_HTML_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
).replace(" ", "|")
HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=\s|>|$)", re.I),
        re.compile(r"</(?:script|pre|style|textarea)>", re.I),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_HTML_NAMES})(?=\s|/?>|$)", re.I), None),
    (re.compile(rf"(?:<{_TAG_NAME}(?:{_ATTRIBUTE})*\s*/?>|</{_TAG_NAME}\s*>)\s*$"), None),
)
"""Each kind: how it starts, and what ends it on the same or a later line; None where a blank line does."""
ANY_TAG = len(HTML) - 1
"""The only kind that cannot interrupt a paragraph."""
