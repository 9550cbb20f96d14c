"""An approver that answers as it was told to."""

from __future__ import annotations

from nudge.progress.extensions import Approval, ExtensionRequest


class ScriptedApprover:
    """Answers one decision a request, then denies, as somebody who has gone away does."""

    def __init__(self, *decisions: Approval) -> None:
        self.decisions = list(decisions)
        self.asked: list[ExtensionRequest] = []

    async def ask(self, request: ExtensionRequest) -> Approval:
        self.asked.append(request)
        return self.decisions.pop(0) if self.decisions else Approval.DENIED
