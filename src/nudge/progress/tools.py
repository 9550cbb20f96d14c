"""What a tool call does, told from the tool's name and arguments: look, plan, change something, run, wait or finish.

Nobody tells us more than that, so not knowing is the normal case: a tool or a command that is not recognised here has
no kind, changes nothing and waits for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase

from nudge.errors import UsageError


class ToolKind(StrEnum):
    """READ takes in one file, SEARCH looks around, PLAN writes a plan down, EDIT changes something, RUN executes,
    FINISH ends the work: it reports, or asks the person."""

    READ = "read"
    SEARCH = "search"
    PLAN = "plan"
    EDIT = "edit"
    RUN = "run"
    FINISH = "finish"


_NAMES = {
    ToolKind.READ: "read read_file read_many_files view view_file view_image open_file notebookread",
    ToolKind.SEARCH: """glob grep grep_search list list_files list_directory list_dir ls search_file_content webfetch
        web_fetch websearch web_search google_web_search bashoutput todoread lsp""",
    ToolKind.PLAN: "plan update_plan todo_write todowrite write_todos exitplanmode",
    ToolKind.EDIT: """write write_file create_file edit edit_file multiedit notebookedit replace patch apply_patch
        str_replace_editor str_replace_based_edit_tool""",
    ToolKind.RUN: "bash shell local_shell run_shell_command run_command exec exec_command write_stdin",
    ToolKind.FINISH: """report finish submit done final_answer attempt_completion complete_task task_complete
        ask_person ask_user askuserquestion""",
}
DEFAULT_TOOL_KINDS: Mapping[str, ToolKind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""The tools of the common coding agents."""

LOOKING_KINDS = frozenset({ToolKind.READ, ToolKind.SEARCH})

LOOKING = frozenset({"view", "read", "open", "list", "show", "search", "find", "get"})
"""What a tool that can also edit may be told instead of a command line: it shows something."""

CHANGING_TOOLS = (
    "write",
    "*write_file*",
    "*file_write*",
    "*edit*",
    "*replace*",
    "*patch*",
    "apply_diff",
    "create_file",
    "insert*",
    "append*",
    "delete_file",
    "move_file",
    "rename_file",
)

READING_TOOLS = ("get_*", "list_*", "read_*", "view_*", "find_*", "search_*", "show_*", "*credit*", "*dispatch*")
"""Not changing, whatever else is in their names, unless the very name is among the changing tools."""

PASSING_TOOLS = (
    "*wait*",
    "*sleep*",
    "delay",
    "key",
    "keypress",
    "hotkey",
    "press",
    "press_*",
    "*_press",
    "*_press_*",
    "send_keys",
    "*_send_keys",
    "click",
    "click_*",
    "*_click",
    "tap",
    "*_tap",
    "scroll",
    "scroll_*",
    "*_scroll",
)

NO_WAIT = -1.0
_NUMBERS = (int, float)
_LONGEST_COMMAND = 2_000

_QUOTED = re.compile(r"'[^']*'")
_REDIRECTED = re.compile(r"(?<![<>=\-0-9&])(?:>{1,2}|\d>>?)\s*(?!/dev/|&)[\w./~$\"{]")
_CHANGING = re.compile(
    r"(?:^|[;&|(\n])[ \t]*(?:sudo\s+)?(?:"
    r"sed\s+(?:-\S+\s+)*-\w*i|perl\s+(?:-\S+\s+)*-\w*i|tee\b|patch\b|mv\b|cp\b|rm\b|mkdir\b|touch\b|ln\b|chmod\b"
    r"|git\s+(?:-C\s+\S+\s+)?(?:apply|am|checkout|switch|restore|stash|reset|revert|merge|rebase|cherry-pick|mv|rm"
    r"|commit|pull)\b"
    r"|(?:npm|pnpm|yarn|pip3?|uv|poetry|cargo|go|apt|apt-get|brew|gem|bundle|composer|conda)\s+"
    r"(?:pip\s+)?(?:install|i|ci|add|remove|uninstall|update|upgrade|get|sync)\b"
    r")"
)
_SLEEP = re.compile(r"\s*sleep\s+(\d+(?:\.\d+)?)([smh]?)\s*;?\s*")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600}
_MILLISECONDS = re.compile(r"(?:ms|millis|milliseconds)$")
_PLACE = frozenset({"x", "y", "index", "amount", "count", "times"})
_TARGETS = ("path", "file_path", "absolute_path", "file", "filename", "notebook_path")


class ToolKinds:
    """A table from tool names to kinds. Case does not matter.

    An exact name beats a pattern (`*`, `?`, `[…]` as in file names), patterns are tried in order, and the given table
    beats the defaults. A tool of an MCP server (`mcp__files__read_file`) has the kind of its own name. An unknown tool
    has no kind.

    >>> kinds = ToolKinds({"mcp__*__fetch_*": "read", "Deploy": ToolKind.RUN})
    >>> kinds["mcp__files__fetch_text"], kinds["deploy"], kinds["mcp__fs__Edit_File"], kinds["weather"]
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
        return DEFAULT_TOOL_KINDS.get(name) or DEFAULT_TOOL_KINDS.get(name.rpartition("__")[2])

    def of(self, tool: str, args: object) -> ToolKind | None:
        """The kind of one call: an editing tool that was told to show something reads."""
        kind = self[tool]
        return ToolKind.READ if kind is ToolKind.EDIT and command_of(args) in LOOKING else kind


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def name_of(tool: object) -> str:
    """The name of a tool: itself, an attribute, or a field as Anthropic's and OpenAI's APIs write it."""
    if isinstance(tool, str):
        return tool
    if isinstance(tool, Mapping):
        inner = tool.get("function")
        name = tool.get("name") or (inner.get("name") if isinstance(inner, Mapping) else None)
    else:
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
    if not isinstance(name, str):
        raise UsageError(f"A tool without a name: {tool!r}.", next_step="Give names, or definitions with a name.")
    return name


def target_of(args: object) -> str | None:
    """The file that a call is about, where its arguments name one."""
    if isinstance(args, Mapping):
        for key in _TARGETS:
            value = args.get(key)
            if isinstance(value, str) and value:
                return value
    return None


def command_of(args: object) -> str:
    """The command line that a call runs. Empty if it runs none, or one that is too long to look at."""
    if type(args) is not dict:
        return ""
    command = args.get("command") or args.get("cmd")
    if command is None:
        return ""
    if type(command) is list and command:
        command = command[-1]  # ["bash", "-lc", "make"]
    return command if isinstance(command, str) and len(command) <= _LONGEST_COMMAND else ""


def command_changes(command: str) -> bool:
    """Whether a command line is known to write something: files, the working copy of a repository, packages."""
    if _CHANGING.search(command):
        return True
    return ">" in command and _REDIRECTED.search(_QUOTED.sub("''", command)) is not None


def wait_of_command(command: str) -> float:
    """For how many seconds a command only sleeps; below 0 if it does something."""
    slept = _SLEEP.fullmatch(command) if "sleep" in command else None
    return float(slept[1]) * _SECONDS[slept[2]] if slept else NO_WAIT


def wait_of_tool(args: object) -> float:
    """For how many seconds a tool that only waits does so; 0 if its arguments do not say. The place of a click is no
    time."""
    if type(args) is dict:
        for key, value in args.items():
            if type(value) in _NUMBERS and value >= 0 and key not in _PLACE:
                return value / 1_000 if _MILLISECONDS.search(str(key).lower()) else float(value)
    return 0.0


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _kind(tool: str, kind: ToolKind | str) -> ToolKind:
    try:
        return ToolKind(kind)
    except ValueError as error:
        raise UsageError(
            f"{kind!r} is not a kind of tool (for {tool!r}).", next_step=f"Use one of {', '.join(ToolKind)}."
        ) from error
