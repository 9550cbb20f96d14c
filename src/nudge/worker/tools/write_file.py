"""Write a file as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.progress.tools import ToolKind
from nudge.worker.hooks import refuse_git_files
from nudge.worker.tool import ToolContext, ToolOutput, inputs, text


class WriteFile:
    name = "write_file"
    kind = ToolKind.EDIT
    reads_only = False
    description = "Write a whole file in the workspace, new or over an old one. Missing folders are created."
    schema = inputs({"path": text("The file, from the top of the workspace."), "content": text("All of its text.")})

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        path, content = args["path"], args["content"]
        refuse_git_files(path)
        encoded = content.encode("utf-8", "surrogatepass")
        context.workspace.write(path, encoded)
        lines = len(content.splitlines())
        return ToolOutput(f"Wrote {path}: {'1 line' if lines == 1 else f'{lines:,} lines'}, {len(encoded):,} bytes.")
