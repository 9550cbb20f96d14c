"""Read a text file, or a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.errors import UsageError
from nudge.progress.tools import ToolKind
from nudge.tokens import most_tokens
from nudge.worker.tool import ToolContext, ToolOutput, inputs, text, whole

LARGEST = 20_000_000
_LONGEST_LINE = 2_000
_NOTE_TOKENS = 60


class ReadFile:
    name = "read_file"
    kind = ToolKind.READ
    reads_only = True
    description = (
        "Read a text file in the workspace. Lines come with their numbers. A long file comes in parts: the last line "
        "says how to go on."
    )
    schema = inputs(
        {"path": text("The file, from the top of the workspace.")},
        {
            "offset": whole("The first line to read.", 1, 10_000_000),
            "limit": whole("How many lines to read at most.", 1, 100_000),
        },
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        path, first = args["path"], args.get("offset", 1)
        content = context.workspace.read(path, LARGEST)
        if b"\0" in content[:8_192]:
            raise UsageError(f"{path} is not text: {len(content):,} bytes.", next_step="Look at it with bash.")
        lines = content.decode("utf-8", "replace").splitlines()
        if not lines:
            return ToolOutput(f"{path} is empty.")
        if first > len(lines):
            raise UsageError(f"{path} has {len(lines):,} lines.", next_step="Use a smaller offset.")
        shown = _page(lines[first - 1 :][: args.get("limit", len(lines))], first, context.most_tokens - _NOTE_TOKENS)
        last = first + len(shown) - 1
        if first == 1 and last == len(lines):
            return ToolOutput("\n".join(shown))
        more = f" Go on with offset={last + 1}." if last < len(lines) else ""
        return ToolOutput("\n".join([*shown, f"[Lines {first}–{last} of {len(lines)}.{more}]"]))


def _page(lines: list[str], first: int, tokens: int) -> list[str]:
    """As many of the lines as fit, numbered, at least one."""
    shown: list[str] = []
    for number, line in enumerate(lines, first):
        if len(line) > _LONGEST_LINE:
            line = f"{line[:_LONGEST_LINE]} [… {len(line) - _LONGEST_LINE:,} characters left out]"
        entry = f"{number:>6}\t{line}"
        tokens -= most_tokens(entry) + 1
        if tokens < 0 and shown:
            break
        shown.append(entry)
    return shown
