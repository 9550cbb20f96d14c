"""Check everything, and mend with --fix what can be mended. Exits with 1 if something is wrong."""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.render import out, out_json, painted

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="mend what can be mended without asking")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.daemon.checks import examine

    context = Context(args, require_home=False)
    findings = examine(context.home, context.now, fix=args.fix)
    worst = any(finding.level == "error" for finding in findings)
    if args.json:
        out_json({"ok": not worst, "checks": [finding.json() for finding in findings]})
        return int(worst)
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        out(f"{painted(mark, colour, context.colour)} {finding.name:<12}{finding.text}")
        if finding.next_step:
            out(f"  {'':<12}next: {finding.next_step}")
    out()
    out("Something is wrong: see above." if worst else "All is well.")
    return int(worst)
