"""Carrying out what a reply asks for: documents, reminders, quiet and state, each checked once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nudge.attention.requests import PersonRequests, make_quieter
from nudge.attention.restraint import Requests
from nudge.coach.actions import (
    Action,
    AddReminder,
    RefusedAction,
    SetQuiet,
    SetState,
    UpdateGoals,
    UpdateMemory,
    apply_to_goals,
    apply_to_memory,
)
from nudge.coach.briefings import Briefing, night_of, period_key
from nudge.coach.document_files import GOALS, MEMORY
from nudge.coach.document_writes import DocumentWrites, Edit
from nudge.coach.documents import Document
from nudge.coach.fact_reader import LAST_BEDTIME
from nudge.coach.goals import parse_goals
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.store import CoachStore
from nudge.errors import LostLeaseError, NotConfiguredError, NudgeError, StoreError, UsageError
from nudge.instants import Instant, local_date

NAMES = {
    UpdateMemory: "update_memory",
    UpdateGoals: "update_goals",
    AddReminder: "add_reminder",
    SetQuiet: "set_quiet",
    SetState: "set_state",
}


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of the actions. `unchanged` are those that found their document as they wanted it."""

    done: tuple[Action, ...] = ()
    unchanged: tuple[Action, ...] = ()
    refused: tuple[RefusedAction, ...] = ()
    edits: tuple[Edit, ...] = ()
    reminders: tuple[str, ...] = ()
    requests: Requests | None = None

    @property
    def noted(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (one.section, one.add)
            for one in self.done
            if isinstance(one, UpdateMemory) and one.add and one not in self.unchanged
        )


class ActionFailedError(NudgeError):
    """An action could not be carried out. The transaction around it is over; without the action it may work."""

    def __init__(self, action: Action, reason: str) -> None:
        super().__init__(reason)
        self.action = action


class Actions:
    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        writes: DocumentWrites,
        requests: PersonRequests,
        reminders: PersonReminders,
    ) -> None:
        self._store = store
        self._documents = documents
        self._writes = writes
        self._requests = requests
        self._reminders = reminders

    async def carry_out(self, agent: str, actions: Sequence[Action], now: Instant) -> Carried:
        """Do them in order, inside the caller's transaction. The edits are planned by the caller, who may have more."""
        before: dict[str, str] = {}
        texts: dict[str, str] = {}
        done: list[Action] = []
        unchanged: list[Action] = []
        refused: list[RefusedAction] = []
        reminders: list[str] = []
        requests: Requests | None = None
        for action in actions:
            if action in done:
                continue
            match action:
                case UpdateMemory() | UpdateGoals():
                    name = MEMORY if isinstance(action, UpdateMemory) else GOALS
                    try:
                        if name not in texts:
                            before[name] = texts[name] = await self._writes.read(agent, name)
                        changed = self._edited(agent, name, texts[name], action, now)
                    except (UsageError, NotConfiguredError) as error:
                        refused.append(RefusedAction(NAMES[type(action)], error.message.rstrip(".")))
                        continue
                    if changed == texts[name]:
                        unchanged.append(action)
                    texts[name] = changed
                case AddReminder():
                    reminders.append(await self._remind(agent, action, now))
                case SetQuiet(until):
                    earlier = await self._requests.quiet(agent, until, now)
                    requests = requests or earlier
                case SetState():
                    earlier = await self._requests.now(agent, now)
                    await self._set_state(agent, action, now)
                    requests = requests or earlier
            done.append(action)
        edits = tuple(Edit(name, before[name], texts[name]) for name in texts if texts[name] != before[name])
        return Carried(tuple(done), tuple(unchanged), tuple(refused), edits, tuple(reminders), requests)

    def _edited(self, agent: str, name: str, text: str, action: UpdateMemory | UpdateGoals, now: Instant) -> str:
        """The document after the action, if it is still one."""
        if isinstance(action, UpdateMemory):
            changed = apply_to_memory(text, action, local_date(now, self._documents.targets(agent).zone))
        else:
            changed = apply_to_goals(text, action)
        if not still_whole(name, text, changed):
            raise UsageError(f"it would break {name}")
        return changed

    async def _remind(self, agent: str, action: AddReminder, now: Instant) -> str:
        try:
            return await self._reminders.remind(agent, action.text, action.understood, now)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            raise ActionFailedError(action, error.message.rstrip(".")) from error

    async def _set_state(self, agent: str, action: SetState, now: Instant) -> None:
        targets = self._documents.targets(agent)
        until = action.updates.get("quiet_mode_until")
        if until is not None:
            await make_quieter(self._store, agent, until)
        if action.updates.get("morning_brief_sent"):
            await self._store.periods.claim(agent, Briefing.MORNING, period_key(Briefing.MORNING, now, targets), now)
        if action.updates.get("bedtime_nudge_sent"):
            await self._store.attention.bedtime_sent(agent, night_of(now, targets))
            await self._store.records.set(agent, LAST_BEDTIME, now)


def still_whole(name: str, before: str, after: str) -> bool:
    """Whether an edit left every heading where it was and broke no target that could be read before."""
    old, new = Document.parse(before).outline, Document.parse(after).outline
    if [heading for heading in new if heading in old] != old:
        return False
    if name != GOALS:
        return True
    known = {str(problem) for problem in parse_goals(before).parsed.problems}
    return len(parse_goals(after).parsed.problems) <= len(known)
