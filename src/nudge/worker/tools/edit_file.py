"""Replace a piece of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.errors import UsageError
from nudge.progress.tools import ToolKind
from nudge.worker.hooks import refuse_git_files
from nudge.worker.tool import ToolContext, ToolOutput, flag, inputs, text
from nudge.worker.tools.read_file import LARGEST

_MOST_LINES = 10


class EditFile:
    name = "edit_file"
    kind = ToolKind.EDIT
    reads_only = False
    description = "Replace text in a file. 'old' must be in it exactly once, spaces and line ends included."
    schema = inputs(
        {
            "path": text("The file, from the top of the workspace."),
            "old": text("The text to replace, exactly as it is in the file."),
            "new": text("The text to put there."),
        },
        {"all": flag("Replace every match, not just one.")},
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        path, old, new = args["path"], args["old"], args["new"]
        refuse_git_files(path)
        if not old:
            raise UsageError("'old' is empty.", next_step="Use write_file for a new file.")
        if old == new:
            raise UsageError("'old' and 'new' are the same: nothing would change.")
        content = context.workspace.read(path, LARGEST)
        piece = old.encode("utf-8", "surrogatepass")
        count = content.count(piece)
        if not count:
            raise UsageError(f"'old' is not in {path}.", next_step=_advice(content, old))
        if count > 1 and not args.get("all"):
            raise UsageError(
                f"'old' is in {path} {count} times (lines {_lines(content, piece)}).",
                next_step="Give more text around it, or set all.",
            )
        context.workspace.write(path, content.replace(piece, new.encode("utf-8", "surrogatepass")))
        return ToolOutput(f"Changed {path} in {'1 place' if count == 1 else f'{count} places'}.")


def _lines(content: bytes, piece: bytes) -> str:
    found: list[str] = []
    start = content.find(piece)
    while start >= 0 and len(found) < _MOST_LINES:
        found.append(str(content.count(b"\n", 0, start) + 1))
        start = content.find(piece, start + len(piece))
    return ", ".join(found) + (", …" if start >= 0 else "")


def _advice(content: bytes, old: str) -> str:
    words = old.split()
    if words and " ".join(words) in " ".join(content.decode("utf-8", "replace").split()):
        return "It is there with other spaces or line ends: copy it from read_file, without the line numbers."
    return "Read the file again: it may have changed."
