"""The line of every key in a TOML text. `tomllib` forgets where things stood, and an error has to name the line."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from nudge.home.config_values import KeyPath

_GAP: Final = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_KEY: Final = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|[A-Za-z0-9_-]+')
_STRING: Final = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"""(?!")' r"|'''[\s\S]*?'''(?!')" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'"
)
_PLAIN: Final = re.compile(r"[^,\]}#\n]*")  # a date may have a space in it


def key_lines(text: str) -> dict[KeyPath, int]:
    """The lines, counted from 1, of the keys of a text that `tomllib` has accepted.

    >>> key_lines('a = 1\\n[b]\\nc.d = {e = 2}\\n')
    {('a',): 1, ('b',): 2, ('b', 'c'): 3, ('b', 'c', 'd'): 3, ('b', 'c', 'd', 'e'): 3}
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


def with_value(text: str, table: str, key: str, value: str) -> str:
    """The text with `key = value` in a table, in the place of the old value if there is one. Whoever writes it checks
    that it says what was meant: a table that is written inline and lacks the key is not understood here.

    >>> with_value('[a]\\nx = 1  # one\\n[b]\\n', "b", "y", "[2]")
    '[a]\\nx = 1  # one\\n[b]\\ny = [2]\\n'
    """
    text = text.replace("\r\n", "\n")
    scanner = _Scanner(text)
    found = scanner.scan()
    if (table, key) in scanner.values:
        start, end = scanner.values[(table, key)]
        return text[:start] + value + text[end:]
    lines = text.split("\n")  # and nothing else: a text may have other signs in it that end a line elsewhere
    if (table,) in found:
        lines.insert(found[(table,)], f"{key} = {value}")
    else:
        lines += [f"[{table}]", f"{key} = {value}", ""]
    return "\n".join(lines)


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """The line of a key, or of the nearest table around it; None for the file as a whole."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


class _Scanner:
    """Reads what it must understand to tell keys from values; that the text is valid it takes for granted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._table: KeyPath = ()
        self._last: dict[KeyPath, int] = {}  # of every [[list of tables]], the place of its last one
        self._lines: dict[KeyPath, int] = {}
        self.values: dict[KeyPath, tuple[int, int]] = {}
        """Where the value of a key begins and ends."""

    def scan(self) -> dict[KeyPath, int]:
        while self._next():
            if self._text[self._at] == "[":
                self._header()
            else:
                self._pair(self._table)
        return self._lines

    def _next(self) -> str:
        """The next character that is no space, line break or comment; empty at the end."""
        self._skip(_GAP)
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None or not match[0]:
            return ""
        self._at = match.end()
        return match[0]

    def _take(self, character: str) -> bool:
        if not self._text.startswith(character, self._at):
            return False
        self._at += len(character)
        return True

    def _note(self, path: KeyPath) -> None:
        self._lines.setdefault(path, bisect_left(self._ends, self._at) + 1)

    def _header(self) -> None:
        is_list = self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        path = self._keys((), inside_lists=True)
        if is_list:
            path = path[:-1] if isinstance(path[-1], int) else path
            self._last[path] = self._last.get(path, -1) + 1
            path = (*path, self._last[path])
            self._note(path)
        self._table = path
        self._take("]]" if is_list else "]")

    def _pair(self, table: KeyPath) -> None:
        path = self._keys(table)
        self._take("=")
        self._skip(_SPACE)
        start = self._at
        self._value(path)
        self.values.setdefault(path, (start, start + len(self._text[start : self._at].rstrip())))

    def _keys(self, path: KeyPath, *, inside_lists: bool = False) -> KeyPath:
        """A key with its dots. In a header, a list of tables stands for its last table."""
        while True:
            self._skip(_SPACE)
            start = self._at
            word = self._skip(_KEY)
            if not word:
                return path
            self._at, end = start, self._at
            path = (*path, _unquoted(word))
            self._note(path)
            self._at = end
            if inside_lists and path in self._last:
                path = (*path, self._last[path])
            self._skip(_SPACE)
            if not self._take("."):
                return path

    def _value(self, path: KeyPath) -> None:
        if self._take("["):
            place = 0
            while self._next() not in ("]", ""):
                self._note((*path, place))
                self._value((*path, place))
                place += 1
                self._next()
                self._take(",")
            self._take("]")
        elif self._take("{"):
            while self._next() not in ("}", ""):
                self._pair(path)
                self._next()
                self._take(",")
            self._take("}")
        elif not self._skip(_STRING):
            self._skip(_PLAIN)


def _unquoted(word: str) -> str:
    if word[0] == "'":
        return word[1:-1]
    if word[0] != '"' or "\\" not in word:
        return word.strip('"')
    import tomllib

    return next(iter(tomllib.loads(f"{word} = 0")))
