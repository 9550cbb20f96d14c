"""The findings of `nudge doctor` and `nudge config check` as a report that ends with how many errors there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nudge.cli.render import out, out_json
from nudge.palette import painted, tone_of

if TYPE_CHECKING:
    from nudge.daemon.findings import Finding

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


def report(findings: Sequence[Finding], *, json: bool, colour: bool) -> bool:
    """Print them; whether there is no error among them."""
    from nudge.daemon.findings import counted

    levels = [finding.level for finding in findings]
    ok = "error" not in levels
    if json:
        out_json(
            {
                "ok": ok,
                "errors": levels.count("error"),
                "warnings": levels.count("warning"),
                "checks": [finding.json() for finding in findings],
            }
        )
        return ok
    for finding in findings:
        out(
            f"{painted(_MARKS[finding.level], tone_of(finding.level), colour)} {finding.check:<13}{finding.text}",
            hang=15,
        )
        if finding.next_step:
            out(f"  {'':<13}next: {finding.next_step}", hang=15)
    out()
    out(counted(findings))
    return ok
