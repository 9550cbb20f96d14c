"""Search the contents of files. grep itself does it, in the sandbox: a pattern of a model's may take forever, and
there it can be stopped."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nudge.errors import UsageError
from nudge.progress.tools import ToolKind
from nudge.worker.sandbox import Ending, Job
from nudge.worker.tool import ToolContext, ToolOutput, flag, inputs, text
from nudge.worker.tools.glob import SKIPPED
from nudge.worker.workspace import parts_of

_MOST = 200
_SECONDS = 30.0
_LONGEST_LINE = 400


class Grep:
    name = "grep"
    kind = ToolKind.SEARCH
    reads_only = True
    description = "Search the text files in the workspace for an extended regular expression. Gives path:line:text."
    schema = inputs(
        {"pattern": text("The regular expression, as grep -E reads it.")},
        {
            "path": text("The folder or file to search. Left out: everything."),
            "include": text("Only files whose names match, as in '*.py'."),
            "ignore_case": flag("Ignore the difference between upper and lower case."),
        },
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        names = parts_of(args.get("path", "."))
        if names:
            with context.workspace.parent("/".join(names)):
                pass  # says what is wrong with the path; the sandbox keeps grep inside
        limits = replace(context.limits, seconds=_SECONDS, output_bytes=2 * _MOST * (_LONGEST_LINE + 200))
        job = Job(_command(args, "/".join(names) or "."), context.workspace.path, limits)
        ran = await context.sandbox.run(job)
        if ran.ending is not Ending.EXITED:
            raise UsageError("The search took too long.", next_step="Use a simpler pattern or a smaller folder.")
        if ran.code == 1:
            return ToolOutput(f"No match for {args['pattern']}.")
        if ran.code:
            raise UsageError(f"grep failed: {ran.output.strip()[:500]}", next_step="Check the pattern and the path.")
        count, _, matches = ran.output.partition("\n")
        left = int(count) - _MOST
        note = f"\n[{left:,} more matches left out. Use a narrower pattern.]" if left > 0 else ""
        return ToolOutput(matches.rstrip("\n") + note)


def _command(args: Mapping[str, Any], path: str) -> str:
    """Sorted, so that the same search gives the same answer."""
    options = ["-rnIE", *(f"--exclude-dir={name}" for name in sorted(SKIPPED - set(path.split("/"))))]
    if args.get("ignore_case"):
        options.append("-i")
    if "include" in args:
        options.append(f"--include={args['include']}")
    search = shlex.join(["grep", *options, "-e", args["pattern"], "--", path])
    return f"""found=$(mktemp) || exit 3
{search} >"$found" 2>&1 </dev/null
code=$?
[ $code -gt 1 ] && {{ head -c 1000 "$found"; exit $code; }}
wc -l <"$found" | tr -d ' '
sed 's|^\\./||' "$found" | LC_ALL=C sort -t: -k1,1 -k2,2n | cut -c1-{_LONGEST_LINE} | head -n {_MOST}
exit $code"""
