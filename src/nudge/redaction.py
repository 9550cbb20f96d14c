"""Take secrets out of a text: when it comes in, before it is stored or sent on, and when it goes out.

`screen` is for what people and models say, and leaves ordinary sentences alone. `redact` is for logs, errors and
reports, and rather takes too much.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

HIDDEN = "[hidden]"
_SHORTEST = 6
_LONG, _PART = 20, 12
"""Of a secret with so many characters, so many at its beginning or end are too much to show."""

_NAME = (
    r"(?:api[_-]?key|(?:secret[_-]?)?access[_-]?key|(?:auth|access|bot)[_-]?token|token|secret|password|passwd|pwd"
    r"|authorization)"
)
_QUOTE = r"\\{0,9}[\"']"  # a text inside JSON inside JSON has its quotes escaped, and escaped again

_SHAPES = (
    (re.compile(r"(?<![A-Za-z])sk-[A-Za-z0-9_-]{8,}|sk-[A-Za-z0-9_-]{32,}"), HIDDEN),
    (re.compile(r"sk-(?:ant|proj)-[A-Za-z0-9_-]{8,}", re.I), HIDDEN),
    (re.compile(r"(?<!\d)\d{6,}(?::|%3A)[A-Za-z0-9_-]{20,}", re.I), HIDDEN),  # a bot token
    (re.compile(r"(?<=/bot)\d+(?::|%3A)[^/\s\"']+", re.I), HIDDEN),
    (  # "password@host" is what our own sentences show for an example
        re.compile(
            r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{0,99}:)(?!password@host[/:]\w+\b(?!@))[^\s\"']{1,200}(?=@)", re.I
        ),
        r"\1" + HIDDEN,
    ),
    (re.compile(r"(://)[^\s/:@\"']{16,200}(?=@)"), r"\1" + HIDDEN),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.I), r"\1 " + HIDDEN),
    (
        re.compile(rf"({_NAME}(?:{_QUOTE})?\s*[:=,]\s*b?{_QUOTE})(?!\[hidden)[^\"'\\]{{4,}}", re.I),
        r"\1" + HIDDEN,
    ),
    (
        re.compile(
            rf"({_NAME}(?:{_QUOTE})?\s*[:=]\s*(?!(?:\w+ )?\[hidden)(?:(?:bearer|basic|token)\s+)?)"
            r"[^\s\"',;&}\])\\]{4,}",
            re.I,
        ),
        r"\1" + HIDDEN,
    ),
)


_TOKENS = (
    re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(
        r"(?<![A-Za-z])sk-(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_*.…-]{8,}|sk-(?:ant|proj)-[A-Za-z0-9_*.…-]{8,}", re.I
    ),
    re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,})"),
    re.compile(r"(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    re.compile(r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}"),
    re.compile(r"(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
    re.compile(r"(?<![A-Za-z0-9])(?:[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,})"),
    re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    re.compile(r"(?<!\d)\d{6,}(?::|%3A)[A-Za-z0-9_-]{20,}", re.I),
)
"""Secrets that nothing else looks like."""

_IN_A_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{0,99}:)(?!password@host\b)[^\s\"'/]{3,200}(?=@)", re.I)
_AWS_SECRET = re.compile(r"(?<![\w/+=.:-])[A-Za-z0-9/+]{40}(?![\w/+=])")
_LINK = r"\s*(?:[:=]|->|=>|→)\s*|\s+(?:is|was|are|ist|war|lautet|est|es)(?:\s*[:=])?\s+"
_SAID = re.compile(
    r"(?<![A-Za-z0-9])(?P<name>pass(?:word|wort|wd|phrase|code)|kennwort|pwd|mot de passe|contraseña"
    r"|api[ _-]?key|access[ _-]?key|secret[ _-]?(?:access[ _-]?)?key|token|bearer)\b"
    r"(?:\s+(?:for|of|to|on|from|für|vom|von|zum|zur|de|del|du)(?:\s+[\w.'’-]{1,30}){1,3}?"
    rf"(?P<far>{_LINK})|(?P<link>{_LINK}|\s+))"
    r"(?P<quote>[\"'“‘„«`]?)(?P<value>[^\s\"'“”‘’„«»`]{4,})",
    re.I,
)
_PLAIN = re.compile(
    r"changed?|unchanged|forgotten|vergessen|expired|reset|lost|unknown|same|none|required|wrong|stolen|please|later|todo"
    r"|missing|invalid|needed|geändert|abgelaufen|managers?|protected|hidden|secret|safe|strong|weak|done|check|update"
    r"|again|falsch|sicher|gleich|fehlt|optional|empty|default|verloren|olvidada|oublié",
    re.I,
)
"""What people say of a password, behind a colon too."""


def keep_secret(secrets: Iterable[str]) -> None:
    """From now on this process hides these wherever it hides anything: an error deep inside may quote one."""
    _own.update(secrets)


_own: set[str] = set()


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """What goes out to a log, an error or a report: without the known secrets and without anything that has the shape
    of one, or stands behind a name that one has. Cut a text after this and never before: a part of a secret has no
    shape any more.
    """
    text = screen(text, secrets)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text


def screen(text: str, secrets: Iterable[str] = ()) -> str:
    """What comes in, from a person or a model, before it is stored or sent on: without the known secrets, without what
    can only be a key, and without a password that stands behind its name. Ordinary sentences stay as they are.

    >>> screen("my password is hunter22, and I forgot the password for the gym")
    'my password is [hidden], and I forgot the password for the gym'
    """
    text = hide(text, secrets)
    for shape in _TOKENS:
        text = shape.sub(HIDDEN, text)
    text = _IN_A_URL.sub(r"\1" + HIDDEN, text) if "://" in text else text
    text = _AWS_SECRET.sub(lambda match: HIDDEN if _is_mixed(match[0]) else match[0], text)
    return _SAID.sub(_said, text)


def screen_all(value: Any, secrets: Iterable[str] = ()) -> Any:
    """The same for every text inside a value."""
    if isinstance(value, str):
        return screen(value, secrets)
    if isinstance(value, Mapping):
        return {key: screen_all(one, secrets) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [screen_all(one, secrets) for one in value]
    return value


def _is_mixed(word: str) -> bool:
    """A key of 40 random characters has many of each kind; a path or a long word has not."""
    kinds = (str.isupper, str.islower, str.isdigit)
    upper, lower, digits = (sum(kind(sign) for sign in word) for kind in kinds)
    return upper >= 5 and lower >= 5 and digits >= 1 and word.count("/") < 4


def _said(match: re.Match[str]) -> str:
    value, link = match["value"], (match["far"] or match["link"]).strip()
    ending = value[len(value.rstrip(".,;:?)")) :]
    word = value.removesuffix(ending)
    alone = match.string[match.end() : match.end() + 1] in ("", "\n") and bool(link) and not link[0].isalpha()
    if word.startswith(HIDDEN[:-1]) or len(word) < 4:
        return match[0]
    if _is_password(match["name"], word, quoted=bool(match["quote"]) and bool(link), alone=alone):
        return f"{match[0][: match.start('value') - match.start()]}{HIDDEN}{ending}"
    return match[0]


def _is_password(name: str, word: str, *, quoted: bool, alone: bool) -> bool:
    """Whether the word behind the name is one: by its signs, or because it stands alone there."""
    digits = sum(sign.isdigit() for sign in word)
    letters = sum(sign.isalpha() for sign in word)
    if not name.lower().startswith(("pass", "kenn", "pwd", "mot", "contra")):
        return len(word) >= 12 and digits >= 2 and letters >= 4 and "://" not in word
    if _PLAIN.fullmatch(word) or (re.fullmatch(r"[\d.:/-]{1,10}", word) and digits < 6):
        return False
    odd = any(sign in "!#$%^&*_+~@€§=?" for sign in word)
    inner = any(sign.isupper() for sign in word[1:]) and any(sign.islower() for sign in word)
    shaped = (digits and letters) or digits >= 6 or (odd and letters) or inner
    return bool(shaped) or quoted or alone


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the known secrets, also inside a longer word, and however JSON or a URL writes them. The
    beginning or the end of a long one goes as well, as somebody else may have cut it.

    Shorter ones than six characters would take out ordinary words and are left alone.

    >>> hide("The key is s3cret/key, s3cret%2Fkey in a URL.", ["s3cret/key", "key"])
    'The key is [hidden], [hidden] in a URL.'
    """
    secrets = tuple(secrets)
    known = {form for secret in (*secrets, *_own) for form in _forms(secret) if len(form) >= _SHORTEST}
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    as_given = set(secrets) | _own
    long = [secret for secret in known if len(secret) >= _LONG and "://" not in secret]
    long.sort(key=lambda secret: secret not in as_given)  # how it is usually written says most about what was cut
    for secret in long:
        text = _without_beginning(text, secret)
    for secret in long:
        text = _without_end(text, secret)
    return text


def _without_beginning(text: str, secret: str) -> str:
    at = 0
    while (at := text.find(secret[:_PART], at)) >= 0:
        end = at + _PART
        while end < len(text) and end - at < len(secret) and text[end] == secret[end - at]:
            end += 1
        text = text[:at] + HIDDEN + text[end:]
        at += len(HIDDEN)
    return text


def _without_end(text: str, secret: str) -> str:
    end = len(text)
    while (at := text.rfind(secret[-_PART:], 0, end)) >= 0:
        start = at
        while start > 0 and at - start < len(secret) - _PART and text[start - 1] == secret[start - 1 - at - _PART]:
            start -= 1
        text = text[:start] + HIDDEN + text[at + _PART :]
        end = start
    return text


@lru_cache(maxsize=64)
def _forms(secret: str) -> tuple[str, ...]:
    if secret.isalnum():
        return (secret,)
    escaped, plain = json.dumps(secret), json.dumps(secret, ensure_ascii=False)
    return (
        secret,
        escaped[1:-1],
        plain[1:-1],
        repr(secret)[1:-1],
        quote(secret),
        quote(secret, safe=""),
        unquote(secret),
    )
