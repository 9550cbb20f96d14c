"""Commands by which the person sets something: /remind, /quiet, and /done, /snooze, /skip after a reminder."""

from __future__ import annotations

from nudge.attention.requests import PersonRequests
from nudge.coach.actions import RefusedAction, SetQuiet, confirm, read_action
from nudge.coach.buttons import Buttons
from nudge.coach.commands import Asked, whole_seconds
from nudge.coach.nudges import short
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.undo import Deed, Undo
from nudge.phrases import split_reminder

QUIET_FOR = "2h"
MOST_SHOWN = 10
LOOKED_THROUGH = 500


class WishCommands:
    def __init__(
        self,
        documents: PersonDocuments,
        requests: PersonRequests,
        reminders: PersonReminders,
        undo: Undo,
        buttons: Buttons,
    ) -> None:
        self._documents = documents
        self._requests = requests
        self._reminders = reminders
        self._undo = undo
        self._buttons = buttons

    async def remind(self, asked: Asked) -> str:
        if not asked.words:
            return "What, and when? For example: /remind call Mum by Friday 5pm"
        targets, now = self._documents.targets(asked.agent), whole_seconds(asked.now)
        text, when = split_reminder(f"/remind {asked.words}", now, targets.zone)
        number = await self._reminders.remind(asked.agent, text, when, asked.now)
        words = f"I'll remind you: {text}. {when.echo(now, targets.zone)}"
        await self._undo.remember(asked.agent, Deed(f"the reminder “{text}”", reminders=(number,)))
        return f"{words} [{number}]"

    async def quiet(self, asked: Asked) -> str:
        targets = self._documents.targets(asked.agent)
        raw = {"action": "set_quiet", "duration": asked.words or QUIET_FOR}
        action = read_action(raw, asked.now, targets)
        if isinstance(action, RefusedAction):
            return f"I couldn't set that: {action.reason}"
        assert isinstance(action, SetQuiet)
        before = await self._requests.quiet(asked.agent, action.until, asked.now)
        words = confirm(action, asked.now, targets)
        await self._undo.remember(asked.agent, Deed(words, requests=before))
        return words

    async def cancel(self, asked: Asked) -> str:
        """By its id or by words of it. What a role or a routine brings stays away until its file changes."""
        active = await self._reminders.active(asked.agent, LOOKED_THROUGH)
        if not active:
            return "There is no reminder to cancel."
        wanted = asked.words.casefold()
        found = [one for one in active if wanted == one.id or wanted in f"{one.name} {one.message}".casefold()]
        if not wanted or len(found) != 1:
            shown = [f"• {short(one.name or one.message)} [{one.id}]" for one in (found or active)[:MOST_SHOWN]]
            return "\n".join(["Which one? Say /cancel and its id, or words that no other has:", *shown])
        await self._reminders.forget(asked.agent, found[0].id, asked.now)
        return f"Cancelled: {short(found[0].name or found[0].message)}"

    async def done(self, asked: Asked) -> str:
        return await self._buttons.say("done", asked)

    async def snooze(self, asked: Asked) -> str:
        return await self._buttons.say("snooze", asked)

    async def skip(self, asked: Asked) -> str:
        return await self._buttons.say("skip", asked)
