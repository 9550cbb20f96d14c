"""Find files by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from typing import Any

from nudge.progress.tools import ToolKind
from nudge.worker.tool import ToolContext, ToolOutput, inputs, text
from nudge.worker.workspace import parts_of

_MOST = 500
SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".pytest_cache"})
"""Folders that nobody means when they look for a file, unless they say so."""


class Glob:
    name = "glob"
    kind = ToolKind.SEARCH
    reads_only = True
    description = (
        "Find files in the workspace by a pattern: '*' for part of a name, '**' for any folders, as in 'src/**/*.py'. "
        "A pattern without '/' looks in all folders."
    )
    schema = inputs({"pattern": text("The pattern.")}, {"path": text("The folder to look in. Left out: the top.")})

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        pattern = args["pattern"]
        names = parts_of(pattern)
        if len(names) == 1 and names != ("**",):
            names = ("**", *names)
        path = args.get("path", ".")
        depth = len(parts_of(path))
        matches = _matcher(names)
        found = [
            entry.path
            for entry in context.workspace.walk(path, SKIPPED - set(names) - set(parts_of(path)))
            if not entry.is_folder and matches("/".join(entry.path.split("/")[depth:]))
        ]
        if not found:
            return ToolOutput(f"No file matches {pattern}.")
        if len(found) > _MOST:
            found[_MOST:] = [f"[{len(found) - _MOST:,} more left out. Use a narrower pattern.]"]
        return ToolOutput("\n".join(found))


def _matcher(names: tuple[str, ...]) -> Any:
    """Name by name, so that '*' stays inside one and no pattern takes forever.

    >>> matches = _matcher(("src", "**", "*.py"))
    >>> matches("src/a.py"), matches("src/x/y/b.py"), matches("a.py"), matches("src/a.txt")
    (True, True, False, False)
    """
    tests = [None if name == "**" else re.compile(translate(re.sub(r"\*+", "*", name))) for name in names]

    def matches(path: str) -> bool:
        reached = {0}  # which parts of the pattern may come next
        for name in path.split("/"):
            reached = _open_folders(reached, tests)
            following = set()
            for position in reached:
                if position < len(tests):
                    test = tests[position]
                    if test is None:
                        following.add(position)
                    elif test.match(name):
                        following.add(position + 1)
            reached = following
        return len(tests) in _open_folders(reached, tests)

    return matches


def _open_folders(reached: set[int], tests: list[re.Pattern[str] | None]) -> set[int]:
    """'**' may also stand for no folder."""
    found = set(reached)
    for position in sorted(reached):
        while position < len(tests) and tests[position] is None:
            position += 1
            found.add(position)
    return found
