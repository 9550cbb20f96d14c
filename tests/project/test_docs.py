"""What the documentation says is run: every example, every command line, and every link to a file."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from nudge.cli import main as cli
from nudge.cli.table import COMMANDS, Command, Group
from nudge.errors import UsageError

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_work(page: Path) -> None:
    assert doctest.testfile(str(page), module_relative=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    targets = [link for link in _LINK.findall(page.read_text()) if "://" not in link and not link.startswith("mailto:")]
    missing = [link for link in targets if not (page.parent / link).exists()]
    assert missing == []


_INLINE = re.compile(r"`nudge ([a-z][^`]*)`")
_LINE = re.compile(r"(?:^|\$\(|[|;&] )(?:[A-Z_]+=\S+ )*nudge (?=[a-z])")
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SIGNS = set("|&;<>()")
TOLD = [page for page in PAGES if page.name != "CHANGELOG.md"]
"""The pages that say how things are now."""


def command_lines(text: str) -> list[list[str]]:
    """The words after `nudge` of each command on a page: in its blocks, and in its sentences."""
    blocks = [body for language, body in _FENCE.findall(text) if language in ("", "sh", "bash", "console")]
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.replace("\\\n", "").splitlines()]
    found = [line[match.end() :] for line in lines if line[:1] != "#" and (match := _LINE.search(line))]
    found = [re.split(r" {2,}(?=[^-])| #", line)[0] for line in found]  # what it does stands beside it
    found += [" ".join(one.split()) for one in _INLINE.findall(_FENCE.sub("", text))]
    return [_words(line) for line in found]


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    for word in lexer:
        if word == "--" or set(word) <= _SIGNS:
            break
        words += [word] if word[0] not in "[…" else []
    return words


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.name)
def test_the_commands_of_a_page_exist_with_their_options(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(name: str, command: Command, words: list[str], home: str | None) -> int:
        numbered = ["1" if word in ("N", "M") else word for word in words]
        try:
            cli.parser_of(name, command).parse_args(numbered)
        except UsageError as error:
            if not str(error).startswith(
                "The following arguments are required"
            ):  # a sentence names no more than it needs
                raise
        return 0

    monkeypatch.setattr(cli, "_run", parse)
    wrong = {}
    for words in command_lines(page.read_text(encoding="utf-8")):
        try:
            cli._dispatch(words)
        except UsageError as error:
            wrong[shlex.join(words)] = error.message
    assert wrong == {}


def test_every_command_is_on_a_page() -> None:
    lines = {tuple(words[:2]) for page in TOLD for words in command_lines(page.read_text(encoding="utf-8"))}
    named = {" ".join(words) for words in lines} | {words[0] for words in lines if words}
    every = [
        f"{name} {one}".strip()
        for name, entry in COMMANDS.items()
        for one in (entry.commands if isinstance(entry, Group) else [""])
    ]
    assert [one for one in every if one not in named] == []
