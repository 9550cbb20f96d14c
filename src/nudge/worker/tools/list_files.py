"""List one folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from nudge.progress.tools import ToolKind
from nudge.worker.tool import ToolContext, ToolOutput, inputs, text
from nudge.worker.workspace import Entry

_MOST = 500


class ListFiles:
    name = "list_files"
    kind = ToolKind.SEARCH
    reads_only = True
    description = "List one folder of the workspace: folders end with '/', files come with their size in bytes."
    schema = inputs({}, {"path": text("The folder, from the top of the workspace. Left out: the top.")})

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        path = args.get("path", ".")
        with context.workspace.folder(path) as folder:
            lines = [_line(entry, folder) for entry in context.workspace.entries(path)]
        if not lines:
            return ToolOutput(f"{path} is empty.")
        if len(lines) > _MOST:
            lines[_MOST:] = [f"[{len(lines) - _MOST:,} more left out. Use glob to find what you need.]"]
        return ToolOutput("\n".join(lines))


def _line(entry: Entry, folder: int) -> str:
    name = entry.path.rpartition("/")[2]
    if entry.is_folder:
        return f"{name}/"
    if entry.is_link:
        try:
            return f"{name} -> {os.readlink(name, dir_fd=folder)}"
        except OSError:
            return f"{name} -> ?"
    return f"{name}  {entry.status.st_size:,}" if entry.is_file else f"{name}  (not a regular file)"
