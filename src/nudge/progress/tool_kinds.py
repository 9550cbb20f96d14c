"""What a tool does, by its name: the only thing the phase tracker has to know about somebody else's tools."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase

from nudge.errors import UsageError


class ToolKind(StrEnum):
    """READ takes in one file, SEARCH looks around, EDIT changes something, RUN executes, PLAN writes a plan down."""

    READ = "read"
    SEARCH = "search"
    EDIT = "edit"
    RUN = "run"
    PLAN = "plan"


DEFAULT_TOOL_KINDS: Mapping[str, ToolKind] = {
    "read_file": ToolKind.READ,
    "read": ToolKind.READ,
    "glob": ToolKind.SEARCH,
    "grep": ToolKind.SEARCH,
    "list_files": ToolKind.SEARCH,
    "ls": ToolKind.SEARCH,
    "write_file": ToolKind.EDIT,
    "edit_file": ToolKind.EDIT,
    "write": ToolKind.EDIT,
    "edit": ToolKind.EDIT,
    "multiedit": ToolKind.EDIT,
    "apply_patch": ToolKind.EDIT,
    "bash": ToolKind.RUN,
    "shell": ToolKind.RUN,
    "plan": ToolKind.PLAN,
    "update_plan": ToolKind.PLAN,
    "todo_write": ToolKind.PLAN,
    "todowrite": ToolKind.PLAN,
}


class ToolKinds:
    """A table from tool names to kinds. Case does not matter.

    A name itself beats a pattern (`*`, `?`, `[…]` as in file names), patterns are tried in their order, and what is
    given beats the defaults. An unknown tool has no kind and leaves the phase as it is.

    >>> kinds = ToolKinds({"mcp__*__read_*": "read", "Deploy": ToolKind.RUN})
    >>> kinds["mcp__files__read_text"], kinds["deploy"], kinds["Edit_File"], kinds["weather"]
    (<ToolKind.READ: 'read'>, <ToolKind.RUN: 'run'>, <ToolKind.EDIT: 'edit'>, None)
    """

    __slots__ = ("_names", "_patterns")

    def __init__(self, tools: Mapping[str, ToolKind | str] | None = None) -> None:
        given = {name.lower(): _kind(name, kind) for name, kind in (tools or {}).items()}
        self._patterns = [(name, kind) for name, kind in given.items() if _is_pattern(name)]
        self._names = {name: kind for name, kind in given.items() if not _is_pattern(name)}

    def __getitem__(self, tool: str) -> ToolKind | None:
        name = tool.lower()
        exact = self._names.get(name)
        if exact is not None:
            return exact
        for pattern, kind in self._patterns:
            if fnmatchcase(name, pattern):
                return kind
        return DEFAULT_TOOL_KINDS.get(name)


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _kind(tool: str, kind: ToolKind | str) -> ToolKind:
    try:
        return ToolKind(kind)
    except ValueError as error:
        raise UsageError(
            f"{kind!r} is no kind of tool (for {tool!r}).", next_step=f"Use one of {', '.join(ToolKind)}."
        ) from error
