"""The commands of a chat: /status, /remind and all the others.

To add one, write a handler and give it a row in `COMMANDS`; help and the channel's menu follow.

Most are answered at once, in the transaction that accepts them. Those that wait for a file, a process or the messages
before them are answered in turn with the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from nudge.attention.preamble import ping_status
from nudge.coach.actions import RefusedAction, SetQuiet, UpdateGoals, confirm, read_action
from nudge.coach.changes import Change
from nudge.coach.conversation import LEFT_OUT, turn_key
from nudge.coach.documents import GOALS, without_comments
from nudge.coach.explain import Explanation, explain
from nudge.coach.housekeeping import SIGNAL_ASKED, activity_timer
from nudge.coach.intents.reading import Wish, read
from nudge.coach.intents.table import help_on
from nudge.coach.person_reminders import is_nudge
from nudge.coach.prompts import ago
from nudge.coach.redact import DEFAULT
from nudge.coach.store import Saying
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.coach.wishes import HANDLERS, UNDONE, Asking, carry_out, remember
from nudge.errors import LostLeaseError, NudgeError, StoreError, UnclearPhraseError, UsageError
from nudge.instants import Instant, local_date, to_datetime, whole_seconds
from nudge.phrases import split_reminder
from nudge.phrases.places import zone_of_place
from nudge.queue.firing import Firing
from nudge.queue.outcomes import MEANING, Outcome
from nudge.queue.timers import Timer, talk_lane
from nudge.redaction import redact as without_secrets
from nudge.reminders.tables import ListedReminder
from nudge.text import short

if TYPE_CHECKING:
    from nudge.coach.coach import Coach

KIND = "command"
WELCOME = (
    "Hi, I'm your coach. I write in the morning, before bed and when something is due. Otherwise I stay out of your "
    "way. What's today about? You can also say “remind me to … at …”.\n\n"
)
RESEND = "I don't act on edited commands. Please send it again."
NO_HISTORY = "Your documents aren't in a git repository. Run “git init” in their folder, and /sync works."
QUIET_FOR = "2h"
DECISIONS = 5
MOST_WHY = 20
MOST_REMINDERS = 10
_ID = re.compile(r"r-[0-9a-z]{6}")

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:@\w+)?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as the person sent it: `text` is what stands behind its name, `at` is when they sent it. `typed` marks
    what came from a terminal beside their own channel, `hidden` that a secret was taken out."""

    agent: str
    text: str
    at: Instant
    now: Instant
    typed: bool = False
    hidden: bool = False

    def asking(self) -> Asking:
        return Asking(self.agent, self.now, typed=self.typed)


Handler = Callable[["Coach", Asked], Awaitable[str | None]]
"""What to say; None is silence."""


@dataclass(frozen=True, slots=True)
class Command:
    """`takes` shows what may stand behind the name. An `in_turn` command is answered in turn with the conversation; a
    `slow` one among them outside of any transaction."""

    name: str
    help: str
    handler: Handler
    takes: str = ""
    in_turn: bool = False
    slow: bool = False


def read_command(text: str) -> tuple[str, str] | None:
    """The name of a command and what stands behind it, or None if the text is none. Some channels know no hyphen in a
    name.

    >>> read_command("/ping_budget 5 60"), read_command("/etc/passwd is a file")
    (('ping-budget', '5 60'), None)
    """
    match = _COMMAND.fullmatch(text.strip())
    return (match[1].lower().replace("_", "-"), (match[2] or "").strip()) if match else None


class Commands:
    """Answers commands for a coach."""

    def __init__(self, coach: Coach) -> None:
        self._coach = coach

    async def answer(self, name: str, asked: Asked, *, edited: bool = False) -> None:
        """Answer a command, or let it wait for its turn. Part of the caller's transaction."""
        command = _BY_NAME.get(name)
        said: str | None = f"I don't know /{name}. {help_text()}"
        if edited:
            said = None if name == "ping" else RESEND
        elif command is not None and command.in_turn:
            await self._wait(command, asked)
            return
        elif command is not None:
            said = await command.handler(self._coach, asked)
        if said is not None and asked.hidden:
            said = f"{said}\n\n{LEFT_OUT}"
        if said is not None:
            await self._coach.replies.post(asked.agent, said, asked.now, typed=asked.typed)

    async def turn(self, firing: Firing) -> None:
        """Handle a command that waited for its turn."""
        coach, agent, now, payload = self._coach, firing.timer.agent, firing.now, firing.timer.payload
        await coach.changes.finish(agent, now)
        command = _BY_NAME[payload["command"]]
        asked = Asked(agent, str(payload["words"]), now, now, bool(payload["typed"]))
        try:
            said = await command.handler(coach, asked) if command.slow else None
            async with firing.settle():
                if not command.slow:
                    said = await command.handler(coach, asked)
                if said is not None:
                    await coach.replies.post(agent, said, now, typed=asked.typed)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            if firing.settled:
                raise
            async with firing.settle():
                await coach.replies.post(agent, without_secrets(str(error)), now, typed=asked.typed)
        await coach.changes.finish(agent, now)

    async def _wait(self, command: Command, asked: Asked) -> None:
        """Behind the messages that wait, and before those that come."""
        agent, now, store = asked.agent, asked.now, self._coach.store
        waiting = await store.conversations.recent(agent, 1)
        key = f"{turn_key(waiting[0].id if waiting else 0)}/{int(now)}/{command.name}"
        payload = {"command": command.name, "words": asked.text, "typed": asked.typed}
        await store.timers.set(Timer.at(agent, key, KIND, now, payload=payload, lane=talk_lane(agent)))


async def status(coach: Coach, asked: Asked) -> str:
    agent, now = asked.agent, asked.now
    zone = coach.documents.targets(agent).zone
    decisions = await coach.store.outcomes.recent(agent=agent, kind="heartbeat", limit=DECISIONS)
    lines = [f"• {_clock(row.at, now, zone)} {row.result.value}: {_why(row)}" for row in decisions]
    active = await coach.reminders.active(agent, MOST_REMINDERS + 1)
    return "\n\n".join(
        (
            "Last decisions:\n" + ("\n".join(lines) or "• none yet"),
            "Right now:\n" + "\n".join(f"• {line}" for line in await _state(coach, agent, now)),
            "Reminders:\n" + ("\n".join(_reminders(active, now, zone)) or "• none"),
        )
    )


async def why(coach: Coach, asked: Asked) -> str:
    """The last decisions in words: all, so many, or those of what is named."""
    wanted, agent, store = asked.text.strip(), asked.agent, coach.store
    zone = coach.documents.targets(agent).zone
    if not wanted or (wanted.isdigit() and len(wanted) < 4):
        limit = max(1, min(int(wanted or DECISIONS), MOST_WHY))
        found = Explanation(await store.outcomes.recent(agent=agent, limit=limit))
    else:
        found = await explain(store, wanted, agent, limit=DECISIONS, zone=zone)
    if found.choices:
        return "\n".join(["Which one? Send /why with its id:", *(f"• {one.title}" for one in found.choices)])
    if found.thing is not None and not found.rows:
        return f"{found.thing.title}: nothing has been due. {found.thing.text}"
    if not found.rows and wanted:
        near = f" Did you mean {' or '.join(found.near)}?" if found.near else ""
        return f"I don't know anything called {wanted!r}.{near}"
    return "\n".join(_decision(row, asked.now, zone) for row in found.rows) or "Nothing has been due yet."


def _decision(row: Outcome, now: Instant, zone: tzinfo) -> str:
    saw = f" It saw: {row.detail['saw']}." if row.detail.get("saw") else ""
    return f"• {_clock(row.at, now, zone)} {row.detail.get('name') or row.key}, {row.result.value}: {_why(row)}{saw}"


async def goals(coach: Coach, asked: Asked) -> str:
    return (
        without_comments(coach.documents.text(asked.agent, GOALS)) or "GOALS.md is empty. “add … to today” starts it."
    )


async def remind(coach: Coach, asked: Asked) -> str:
    if not asked.text:
        return "Remind you of what, and when? For example: /remind call Mum by Friday 5pm"
    zone, now = coach.documents.targets(asked.agent).zone, whole_seconds(asked.now)
    sentence = f"/remind {asked.text}"
    try:
        text, when = split_reminder(sentence, now, zone)
    except UnclearPhraseError as unclear:
        # What was asked and what was asked back belong to the conversation: the next message is the answer.
        await coach.store.conversations.add(Saying(asked.agent, now, "user", sentence, "conversation"))
        await coach.store.conversations.add(Saying(asked.agent, now, "assistant", unclear.question, "conversation"))
        return unclear.question
    number = await coach.reminders.remind(asked.agent, text, when, asked.now)
    await coach.changes.remember(asked.agent, Change(f"the reminder “{text}”", reminders=(number,), at=asked.now))
    asking, talk = asked.asking(), await coach.facts.talk(asked.agent, now, ())
    await remember(coach, asking, talk, subject=number, last=Wish("set", {"said": asked.text}))
    return f"I'll remind you: {text}. {when.echo(now, zone)} [{number}]"


async def done(coach: Coach, asked: Asked) -> str | None:
    return await _by_words(coach, asked, "done")


async def snooze(coach: Coach, asked: Asked) -> str | None:
    return await _by_words(coach, asked, "snooze")


async def skip(coach: Coach, asked: Asked) -> str | None:
    return await _by_words(coach, asked, "skip")


async def cancel(coach: Coach, asked: Asked) -> str | None:
    return await _by_words(coach, asked, "cancel")


async def move(coach: Coach, asked: Asked) -> str | None:
    return await _by_words(coach, asked, "move")


async def _by_words(coach: Coach, asked: Asked, verb: str) -> str | None:
    """A command about a reminder does what its words do: "/move call Mum to friday" is "move call Mum to friday". Ids
    work as well as words; without either it is the reminder that came last."""
    agent, now = asked.agent, asked.now
    due = await coach.facts.due(agent, now)
    talk = await coach.facts.talk(agent, now, due)
    last = await coach.buttons.last_with_buttons(agent)
    if verb != "cancel" and verb != "move" and last is not None and is_nudge(last) and not talk.came:
        return await coach.buttons.say(verb, agent, asked.text, now)
    if verb in ("done", "skip", "snooze") and not _ID.search(asked.text):
        came = talk.came or await coach.buttons.last(agent)
        if came is None:
            return "Which one? There was no reminder lately. “reminders” lists them."
        talk = replace(talk, came=came, subject=came)
        if not asked.text and verb != "snooze":
            return await carry_out(coach, asked.asking(), Wish(verb, id=came))
    words = _ID.sub(lambda found: found[0], asked.text)
    wish = read(f"{verb} {words or ('it' if verb != 'cancel' else 'a reminder')}", talk, now, talk_zone(coach, agent))
    if wish is None or (wish.name not in HANDLERS):
        return f"I couldn't find a reminder like “{short(asked.text)}”. “reminders” lists them."
    if wish.name == "again":
        wish = replace(wish, id=talk.came)
    return await carry_out(coach, asked.asking(), wish)


def talk_zone(coach: Coach, agent: str) -> ZoneInfo:
    return coach.documents.targets(agent).zone


async def quiet(coach: Coach, asked: Asked) -> str:
    targets = coach.documents.targets(asked.agent)
    action = read_action({"action": "set_quiet", "duration": asked.text or QUIET_FOR}, asked.now, targets)
    if isinstance(action, RefusedAction):
        return f"I couldn't set that: {action.reason}"
    assert isinstance(action, SetQuiet)
    before = await coach.requests.quiet(asked.agent, action.until, asked.now)
    said = confirm(action, asked.now, targets)
    await coach.changes.remember(asked.agent, Change(said, before=before))
    return said


async def review(coach: Coach, asked: Asked) -> str | None:
    return await carry_out(coach, asked.asking(), Wish("review", {"what": asked.text}))


async def undo(coach: Coach, asked: Asked) -> str | None:
    return await carry_out(coach, asked.asking(), Wish("undo"))


async def redact(coach: Coach, asked: Asked) -> str:
    count = asked.text or str(DEFAULT)
    if not count.isdigit() or not int(count[:9]) > 0:
        return "How many messages? For example: /redact 4"
    return await coach.redaction.last(asked.agent, int(count[:9]), asked.now)


async def sync(coach: Coach, asked: Asked) -> str:
    history = coach.outside.history
    if history is None:
        return NO_HISTORY
    match asked.text.lower().split():
        case []:
            return await history.pull(asked.agent)
        case ["push"]:
            return await history.push(asked.agent)
        case _:
            return "Use /sync to pull your documents, or /sync push to push them."


async def budget(coach: Coach, asked: Asked) -> str:
    return await coach.budget(asked.agent, asked.now)


async def ping_budget(coach: Coach, asked: Asked) -> str:
    """Status, or another capacity and rate."""
    numbers = asked.text.split()
    changed = ""
    if numbers:
        if len(numbers) > 2 or not all(one.isdigit() and 0 < int(one[:9]) <= 100_000 for one in numbers):
            raise UsageError("Use /ping-budget, /ping-budget 5 or /ping-budget 5 60.")
        capacity, *minutes = (int(one) for one in numbers)
        await coach.gate.resize(asked.agent, capacity, minutes[0] if minutes else None, asked.now)
        changed = "Changed. "
    state = await coach.gate.state(asked.agent, asked.now)
    return changed + ping_status(state.budget, state.claims, asked.now)


async def ping(coach: Coach, asked: Asked) -> None:
    """The phone's activity signal: it is written down and nothing is said."""
    store = coach.store
    await store.activity.add(asked.agent, asked.at)
    await store.attention.activity(asked.agent, asked.at)
    await store.records.delete(asked.agent, SIGNAL_ASKED)
    await store.timers.set(activity_timer(asked.agent, asked.now))


async def zone(coach: Coach, asked: Asked) -> str:
    """Where the person is. Reminders by the wall clock follow, and the answer to that comes by itself."""
    targets = coach.documents.targets(asked.agent)
    if not asked.text:
        return f"I go by {targets.timezone}; it's {to_datetime(asked.now, targets.zone):%H:%M} there."
    found = zone_of_place(asked.text)
    if found is None:
        return "I don't know that place. Name a big city on the same clock, such as /zone Lisbon."
    if found == targets.timezone:
        return f"I go by {found} already."
    change = UpdateGoals(TARGETS_SECTION, (f"timezone: {found}",))
    await coach.changes.carry_out(asked.agent, [change], asked.now)
    return f"Your time zone is {found} now.{UNDONE}"


async def show_help(coach: Coach, asked: Asked) -> str:
    return help_on(asked.text) or help_text()


async def start(coach: Coach, asked: Asked) -> str | None:
    """The first questions, or those that were put aside; whoever has answered them gets the help."""
    if await coach.onboarding.start_over(asked.agent, asked.now, typed=asked.typed):
        return None
    return WELCOME + help_text()


COMMANDS = (
    Command("status", "my last decisions, how things are, and your reminders", status),
    Command("why", "why I wrote, or didn't", why, "[number, name or words]"),
    Command("goals", "show GOALS.md", goals),
    Command("remind", "set a reminder", remind, "[text] by [date]"),
    Command("done", "mark the last reminder as done", done, "[id]"),
    Command("snooze", "remind me again later", snooze, "[id] [30m]"),
    Command("skip", "skip it this time", skip, "[id]"),
    Command("cancel", "cancel a reminder", cancel, "[id or words]"),
    Command("move", "move a reminder", move, "[id or words] to [date]"),
    Command("quiet", "no messages for a while; “off” ends it", quiet, "[duration]"),
    Command("zone", "show or change your time zone", zone, "[city]", in_turn=True),
    Command("review", "start or continue the weekly review", review, "[pause or skip]", in_turn=True),
    Command("undo", "undo the last thing I changed", undo, in_turn=True),
    Command("redact", "remove the last messages, and what came of them, from my records", redact, "[n]", in_turn=True),
    Command("sync", "pull your documents from git; “push” sends them", sync, "[push]", in_turn=True, slow=True),
    Command("budget", "how much of today's budget is left", budget),
    Command("ping-budget", "how many messages I may send unasked", ping_budget, "[capacity] [minutes]"),
    Command("ping", "silent activity signal, for your phone's automation", ping),
    Command("help", "show this list, or what to say about a subject", show_help, "[subject]"),
    Command("start", "say hello", start),
)
_BY_NAME = {command.name: command for command in COMMANDS}


def menu() -> list[tuple[str, str]]:
    """What a channel may offer: names and what they do."""
    return [(command.name, command.help) for command in COMMANDS]


def help_text() -> str:
    lines = [" ".join(part for part in (f"/{one.name}", one.takes, "—", one.help) if part) for one in COMMANDS]
    also = "“busy”, “leave me alone” and “30 more min” work too."
    return "\n".join(["Just write to me, or use a command:", *lines, also])


async def _state(coach: Coach, agent: str, now: Instant) -> list[str]:
    targets = coach.documents.targets(agent)
    state = await coach.facts.state(agent, now)
    requests = await coach.requests.now(agent, now)
    seen = ago(state.last_activity, now) if state.last_activity is not None else "never"
    lines = [
        f"{to_datetime(now, targets.zone):%A %H:%M} ({targets.timezone})",
        f"last phone activity: {seen}",
        f"unasked messages today: {state.proactive_today}",
        f"morning brief sent: {'yes' if state.morning_brief_sent else 'no'}",
        f"bedtime nudges tonight: {state.bedtime_nudges}",
    ]
    if state.review_in_progress:
        lines.append("weekly review in progress (/review)")
    for what, until in (
        ("quiet until", requests.quiet_until),
        ("busy until", requests.busy_until),
        ("I check back at", requests.delayed_until),
        ("I keep my own ideas to myself until", state.self_quiet_until),
    ):
        if until is not None and until > now:
            lines.append(f"{what} {_clock(until, now, targets.zone)}")
    if requests.left_alone:
        lines.append("leaving you alone until you write")
    if targets.is_quiet(now):
        lines.append("quiet hours")
    return lines


def _reminders(active: Sequence[ListedReminder], now: Instant, zone: tzinfo) -> list[str]:
    shown = [_reminder(one, now, zone) for one in active[:MOST_REMINDERS]]
    return [*shown, "• … and more"] if len(active) > MOST_REMINDERS else shown


def _reminder(one: ListedReminder, now: Instant, zone: tzinfo) -> str:
    when = one.status if one.next_at is None else _clock(one.next_at, now, zone)
    rhythm = "" if one.schedule_words in ("", "once") else f", {one.schedule_words}"
    return f"• {short(one.name or one.message)} ({when}{rhythm}) [{one.id}]"


def _why(row: Outcome) -> str:
    return row.reason or MEANING[row.result]


def _clock(at: Instant, now: Instant, zone: tzinfo) -> str:
    local = to_datetime(at, zone)
    days = abs((local.date() - local_date(now, zone)).days)
    return f"{local:%H:%M}" if days == 0 else f"{local:%a %H:%M}" if days < 7 else f"{local:%Y-%m-%d %H:%M}"
