"""Commands about what the coach has learned: when its messages are welcome, and how to forget that."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.attention.welcome import GOOD, TOO_LOW, TRY_AGAIN, Cell, Learned, Place
from nudge.cli.context import Context
from nudge.cli.render import note, out, out_json
from nudge.columns import cut, padded
from nudge.errors import NotFoundError
from nudge.instants import Instant, rfc3339, to_datetime
from nudge.queue.agents import Agents
from nudge.stores.store import SqlStore
from nudge.text import plain

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 20


def show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", default="coach", help="the agent (default: coach)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def show(args: argparse.Namespace) -> int:
    """Show what the coach has learned about when its messages are welcome.

    nudge attention               topics by hour, on weekdays and at weekends
    nudge attention reset         forget all of it
    nudge attention reset morning     forget one topic
    """
    context = Context(args)

    async def read(store: SqlStore) -> Learned:
        await Agents(store).ensure_default(context.now)
        await Agents(store).get(args.agent)
        return await store.welcomes.learned(args.agent)

    learned = context.with_store(read)
    if args.json:
        out_json(_json(learned, args.agent, context))
        return 0
    if not context.config.attention.learning:
        note('Learning is off: nudge.toml has learning = "off".')
    for line in picture(learned, context):
        out(line)
    return 0


def reset_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", default="", metavar="TOPIC", help="only this topic")
    parser.add_argument("--agent", metavar="NAME", default="coach", help="the agent (default: coach)")


def reset(args: argparse.Namespace) -> int:
    """Forget what was learned about a topic, or everything. The coach starts over."""
    from nudge.coach.rhythm import PROPOSED

    context = Context(args)

    async def work(store: SqlStore) -> list[str]:
        await Agents(store).ensure_default(context.now)
        await Agents(store).get(args.agent)
        async with store.transaction():
            topics = topics_of(await store.welcomes.learned(args.agent))
            if args.topic and args.topic not in topics:
                known = f"Known topics: {', '.join(topics)}." if topics else "Nothing learned yet."
                raise NotFoundError(f"Nothing was learned about {args.topic!r}.", next_step=known)
            await store.welcomes.reset(args.agent, args.topic)
            if not args.topic:
                await store.records.delete(args.agent, PROPOSED)
        return topics

    topics = context.with_store(work)
    forgotten = [args.topic] if args.topic else topics
    note(
        f"Forgotten: {', '.join(plain(topic) for topic in forgotten)}." if forgotten else "There was nothing to forget."
    )
    return 0


def topics_of(learned: Learned) -> list[str]:
    return sorted({cell.topic for cell in learned.cells} | {ping.topic for ping in learned.waiting})


def picture(learned: Learned, context: Context) -> list[str]:
    topics = topics_of(learned)
    if not topics:
        return ["Nothing learned yet. Answered, snoozed and ignored messages show up here."]
    lines = ["How welcome messages are, by hour of the day (· nothing known)", ""]
    for weekend in (False, True):
        hours = "".join(f"{hour:<6}" for hour in range(0, 24, 3)).rstrip()
        lines.append(f"{'at weekends' if weekend else 'on weekdays':<{_WIDTH}} {hours}")
        for topic in topics:
            bars = " ".join(_bar(learned, topic, Place(hour, weekend), context.now) for hour in range(24))
            lines.append(f"{padded(cut(plain(topic), _WIDTH), _WIDTH)} {bars}".rstrip())
        lines.append("")
    lines += [_summary(learned, topic, context) for topic in topics]
    lines += ["", f"Below {GOOD:.0%} a briefing waits for a better hour; below {TOO_LOW:.0%} nothing is said."]
    return lines


def _bar(learned: Learned, topic: str, place: Place, now: Instant) -> str:
    if not any(cell.topic == topic and cell.place.is_next_to(place) for cell in learned.cells):
        return "·"
    share = learned.estimate(topic, place, now).share
    return _BARS[min(len(_BARS) - 1, int(share * len(_BARS)))]


def _summary(learned: Learned, topic: str, context: Context) -> str:
    cells = [cell.faded(context.now) for cell in learned.cells if cell.topic == topic]
    welcome, pings = (
        sum(cell.welcome for cell in cells) / 1e6,
        sum(cell.welcome + cell.unwelcome for cell in cells) / 1e6,
    )
    told = f"{padded(cut(plain(topic), _WIDTH), _WIDTH)} {welcome:.1f} of {pings:.1f} pings welcome"
    tried = learned.last_tried(topic)
    quiet = [cell for cell in cells if learned.estimate(topic, cell.place, context.now).share < TOO_LOW]
    if quiet and tried is not None and len(quiet) == len(cells):
        told += f"; silent until {to_datetime(Instant(tried + TRY_AGAIN), context.zone):%a %d %b}"
    return told


def _json(learned: Learned, agent: str, context: Context) -> dict[str, Any]:
    return {
        "agent": agent,
        "learning": "on" if context.config.attention.learning else "off",
        "topics": [_topic_json(learned, topic, context) for topic in topics_of(learned)],
    }


def _topic_json(learned: Learned, topic: str, context: Context) -> dict[str, Any]:
    tried = learned.last_tried(topic)
    assert tried is not None
    return {
        "topic": topic,
        "last_tried": rfc3339(tried, context.zone),
        "tried_again": rfc3339(Instant(tried + TRY_AGAIN), context.zone),
        "hours": [_cell_json(learned, cell, context) for cell in learned.cells if cell.topic == topic],
    }


def _cell_json(learned: Learned, cell: Cell, context: Context) -> dict[str, Any]:
    now = cell.faded(context.now)
    return {
        "hour": cell.place.hour,
        "weekend": cell.place.weekend,
        "welcome": round(now.welcome / 1e6, 3),
        "unwelcome": round(now.unwelcome / 1e6, 3),
        "share": round(learned.estimate(cell.topic, cell.place, context.now).share, 3),
    }
