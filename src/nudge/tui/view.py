"""What the dashboard shows, as lines of text with styles, from what the daemon said. Nothing here draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from nudge.durations import short_time, span
from nudge.instants import parse_rfc3339
from nudge.palette import DARK, Tone, state_words, tone_of
from nudge.text import plain

Json = Mapping[str, Any]

METER = 10


def style_of(state: str) -> str:
    return DARK[tone_of(state)]


def clock(stamp: str | None, now: str) -> str:
    """A time as every surface shows it.

    >>> clock("2026-03-02T17:00:00-05:00", "2026-03-02T09:00:00-05:00"), clock(None, "2026-03-02T09:00:00-05:00")
    ('17:00', '-')
    """
    if not stamp:
        return "-"
    here = datetime.fromisoformat(now)
    return short_time(datetime.fromisoformat(stamp).astimezone(here.tzinfo), here)


def left(stamp: str | None, now: str) -> str:
    """How long until a time; "due" when it has come."""
    if not stamp:
        return ""
    ahead = parse_rfc3339(stamp) - parse_rfc3339(now)
    return span(ahead) if ahead > 0 else "due"


def meter(spending: Json, width: int = METER) -> Text:
    """The bar and its words: "████░░░░░░ Budget: 47% used"."""
    percent = int(spending.get("percent") or 0)
    full = min(width, round(percent * width / 100))
    style = style_of(str(spending.get("colour")))
    return Text.assemble(("█" * full, style), ("░" * (width - full), DARK[Tone.SOFT]), f" {spending.get('text', '')}")


def state(spending: Json, now: str) -> str:
    """The spending state in words, with the time it ends."""
    return state_words(str(spending.get("state")), clock(spending.get("refresh_at"), now))


def agent_row(agent: Json, now: str) -> tuple[Text, ...]:
    spending = agent["spending"]
    unread = f"{agent['unread']} unread" if agent.get("unread") else ""
    return Text(str(agent["name"]), style="bold"), meter(spending), Text(state(spending, now)), Text(unread)


def bucket(agents: Sequence[Json]) -> str:
    """The ping bucket of the one who talks to the person."""
    for agent in agents:
        found = agent.get("bucket")
        if not found:
            continue
        if found.get("ping_budget") == "off":
            return "Pings: no limit"
        minutes = found.get("next_refill_minutes")
        again = f", next in {round(minutes)} min" if minutes is not None else ""
        quiet = ", quiet" if agent.get("quiet_until") or agent.get("left_alone") else ""
        return f"Pings: {found.get('available', 0):.1f} of {found.get('capacity', 0)}{again}{quiet}"
    return ""


def upcoming_row(reminder: Json, now: str) -> tuple[Text, ...]:
    name = str(reminder.get("name") or reminder.get("message") or reminder["id"])
    paused = " (paused)" if reminder.get("status") == "paused" else ""
    when = clock(reminder.get("next_at"), now)
    return (
        Text(when),
        Text(left(reminder.get("next_at"), now)),
        Text(one_line(name) + paused),
        Text(str(reminder["agent"])),
    )


def feed_line(event: Json, now: str) -> Text:
    """One line of the feed: when, who, what."""
    when = clock(str(event.get("at")), now)
    if event.get("type") == "outcome":
        result = str(event.get("result"))
        words = one_line(str(event.get("reason") or event.get("key")))
        return Text.assemble(f"{when:<9} {event.get('agent', ''):<8} ", (result, style_of(result)), f" {words}")
    return Text.assemble(f"{when:<9} {event.get('agent', ''):<8} ", (one_line(str(event.get("text", ""))), "bold"))


def feed_story(line: Json, now: str) -> list[str]:
    """A line of the feed in full."""
    return [f"{clock(str(line.get('at')), now)}  {line.get('agent', '')}", "", plain(str(line.get("text", "")))]


def matches(event: Json, words: str) -> bool:
    """Whether a line has all the words of a filter."""
    hay = " ".join(str(event.get(name, "")) for name in ("agent", "text", "reason", "result", "key", "name", "message"))
    return all(word in hay.casefold() for word in words.casefold().split())


def session_lines(session: Json | None) -> list[Text]:
    """The running session: phase, tokens, what it does."""
    if session is None:
        return [Text("No session is running.", style=DARK[Tone.SOFT])]
    tokens = f"{session.get('tokens', 0):,}"
    if session.get("max_tokens"):
        tokens += f" of {session['max_tokens']:,}"
    return [
        Text(f"{session['agent']}: {one_line(str(session['task']))}", style="bold"),
        Text(f"{session['status']} · {session.get('phase') or 'exploration'} · {tokens} tokens"),
        Text(one_line(str(session.get("doing", ""))), style=DARK[Tone.INFO]),
    ]


def banner(agents: Sequence[Json]) -> str:
    """The red banner; empty if no agent was stopped."""
    stopped = [f"{agent['name']}: {agent['spending']['banner']}" for agent in agents if agent["spending"].get("banner")]
    return "  ".join(stopped)


def story(answer: Json, now: str) -> list[str]:
    """What `why` found, in lines."""
    lines: list[str] = []
    for thing in answer.get("things", ()):
        lines += [str(thing["title"]), f"  {thing['text']}", ""]
    for row in answer.get("outcomes", ()):
        lines.append(f"{clock(row['at'], now)}  {row['result']}: {row.get('title') or row['key']}")
        lines.append(f"  due {clock(row['due_at'], now)}. {row['reason']}")
        if message := row.get("message"):
            lines.append(f"  message ({message['state']}): {one_line(message['text'])}")
    if not lines:
        near = answer.get("near") or ()
        lines.append(f"Nothing found. Did you mean {', '.join(near)}?" if near else "Nothing found.")
    return lines


def one_line(text: str) -> str:
    """Nothing in it moves a cursor or changes a colour, whoever wrote it."""
    return " ".join(plain(text).split())
