"""Commands that show something and change nothing: /status, /why, /goals, /budget, /ping-budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import tzinfo

from nudge.attention.gate import Gate
from nudge.attention.preamble import ping_status
from nudge.attention.requests import PersonWishes
from nudge.coach.commands import Asked
from nudge.coach.documents import without_comments
from nudge.coach.heartbeat_prompt import ago
from nudge.coach.person_documents import GOALS, Desk
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.store import CoachStore
from nudge.errors import UsageError
from nudge.instants import Instant, local_date, to_datetime
from nudge.queue.outcomes import MEANING, Outcome
from nudge.reminders.tables import ListedReminder

DECISIONS = 5
MOST_REMINDERS = 10
MOST_WHY = 20
_LONGEST_TEXT = 80

BudgetWords = Callable[[str, Instant], Awaitable[str]]
"""What the spending governor says to the person: percentages, no dollars."""


async def no_budget(agent: str, now: Instant) -> str:
    return "I work by my own rules here and ask no paid model, so there is nothing to spend."


class LookCommands:
    def __init__(
        self,
        store: CoachStore,
        desk: Desk,
        gate: Gate,
        wishes: PersonWishes,
        reminders: PersonReminders,
        budget_words: BudgetWords = no_budget,
    ) -> None:
        self._store = store
        self._desk = desk
        self._gate = gate
        self._wishes = wishes
        self._reminders = reminders
        self._budget_words = budget_words

    async def status(self, asked: Asked) -> str:
        agent, now = asked.agent, asked.now
        zone = self._desk.targets(agent).zone
        decisions = await self._store.outcomes.recent(agent=agent, kind="heartbeat", limit=DECISIONS)
        lines = [f"• {_clock(row.at, now, zone)} {row.result.value}: {_why(row)}" for row in decisions]
        active = await self._reminders.active(agent, MOST_REMINDERS + 1)
        return "\n\n".join(
            (
                "Last decisions:\n" + ("\n".join(lines) or "• none yet; the first heartbeat is on its way"),
                "State:\n" + "\n".join(f"• {line}" for line in await self._state(agent, now, zone)),
                "Reminders:\n" + ("\n".join(_reminders(active, now, zone)) or "• none"),
            )
        )

    async def why(self, asked: Asked) -> str:
        """The last decisions in words: all, so many, or those of one reminder."""
        words = asked.words.lstrip("#")
        zone = self._desk.targets(asked.agent).zone
        limit, key = DECISIONS, None
        if words.isdigit() and len(words) < 4:
            limit = max(1, min(int(words), MOST_WHY))
        elif words:
            key = f"reminder:{words}" if words.startswith("r-") else words
        rows = await self._store.outcomes.recent(agent=asked.agent, key=key, limit=limit)
        if not rows:
            return f"Nothing called {words!r} was due." if words else "Nothing was due yet, so nothing was decided."
        return "\n".join(
            f"• {_clock(row.at, asked.now, zone)} {row.detail.get('name') or row.key}, {row.result.value}: {_why(row)}"
            for row in rows
        )

    async def goals(self, asked: Asked) -> str:
        return without_comments(self._desk.text(asked.agent, GOALS)) or "GOALS.md is empty. “add … to today” starts it."

    async def budget(self, asked: Asked) -> str:
        return await self._budget_words(asked.agent, asked.now)

    async def ping_budget(self, asked: Asked) -> str:
        """Status, or another capacity and rate."""
        numbers = asked.words.split()
        changed = ""
        if numbers:
            if len(numbers) > 2 or not all(one.isdigit() and 0 < int(one[:9]) <= 100_000 for one in numbers):
                raise UsageError("Say it like /ping-budget, /ping-budget 5 or /ping-budget 5 60.")
            capacity, *minutes = (int(one) for one in numbers)
            await self._gate.resize(asked.agent, capacity, minutes[0] if minutes else None, asked.now)
            changed = "Changed. "
        state = await self._gate.state(asked.agent, asked.now)
        return changed + ping_status(state.budget, state.claims, asked.now)

    async def _state(self, agent: str, now: Instant, zone: tzinfo) -> list[str]:
        state = await self._desk.state(agent, now)
        wishes = await self._wishes.now(agent, now)
        seen = ago(state.last_activity, now) if state.last_activity is not None else "never"
        lines = [
            f"{to_datetime(now, zone):%A %H:%M} ({self._desk.targets(agent).timezone})",
            f"last phone activity: {seen}",
            f"unasked messages today: {state.proactive_today}",
            f"morning brief sent: {'yes' if state.morning_brief_sent else 'no'}",
            f"bedtime nudges tonight: {state.bedtime_nudges}",
        ]
        if state.review_in_progress:
            lines.append("the weekly review is going on (/review)")
        for name, until in (
            ("quiet", wishes.quiet_until),
            ("busy", wishes.busy_until),
            ("I check back", wishes.delayed_until),
        ):
            if until is not None and until > now:
                join = "at" if name.startswith("I") else "until"
                lines.append(f"{name} {join} {_clock(until, now, zone)}")
        if wishes.left_alone:
            lines.append("left alone until you write to me")
        if self._desk.targets(agent).is_quiet(now):
            lines.append("quiet hours now")
        return lines


def _reminders(active: Sequence[ListedReminder], now: Instant, zone: tzinfo) -> list[str]:
    shown = [_reminder(one, now, zone) for one in active[:MOST_REMINDERS]]
    return [*shown, "• … and more"] if len(active) > MOST_REMINDERS else shown


def _reminder(one: ListedReminder, now: Instant, zone: tzinfo) -> str:
    when = one.status if one.next_at is None else _clock(one.next_at, now, zone)
    rhythm = "" if one.schedule_words in ("", "once") else f", {one.schedule_words}"
    text = " ".join((one.name or one.message).split())
    short = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
    return f"• {short} ({when}{rhythm}) [{one.id}]"


def _why(row: Outcome) -> str:
    return row.reason or MEANING[row.result]


def _clock(at: Instant, now: Instant, zone: tzinfo) -> str:
    local = to_datetime(at, zone)
    days = abs((local.date() - local_date(now, zone)).days)
    return f"{local:%H:%M}" if days == 0 else f"{local:%a %H:%M}" if days < 7 else f"{local:%Y-%m-%d %H:%M}"
