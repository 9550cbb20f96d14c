"""The worker's tools, one file each. A new one needs its module and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from nudge.worker.tool import Tool
from nudge.worker.tools.bash import Bash
from nudge.worker.tools.edit_file import EditFile
from nudge.worker.tools.glob import Glob
from nudge.worker.tools.grep import Grep
from nudge.worker.tools.list_files import ListFiles
from nudge.worker.tools.plan import Plan
from nudge.worker.tools.read_file import ReadFile
from nudge.worker.tools.write_file import WriteFile

ALL: tuple[Tool, ...] = (ReadFile(), ListFiles(), Glob(), Grep(), WriteFile(), EditFile(), Bash(), Plan())
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in ALL}
