"""Tell the person something, as an agent: through the same gate as everything unasked.

nudge notify builder "The build is green again"
nudge notify builder "Disk almost full" --topic disk --critical

It is sent now, deferred until the rule that holds it back is over (exit code 8), or refused (exit code 9), for example
because the same was said within a day. A critical one passes "busy" and the ping budget, three times a day.
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.render import full_time, note, out_json
from nudge.errors import UsageError
from nudge.instants import rfc3339
from nudge.stores.store import SqlStore

DEFERRED, REFUSED = 8, 9


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="the agent's name")
    parser.add_argument("text", metavar="TEXT", nargs="+", help="what to say")
    parser.add_argument("--topic", default="", help="what it is about; the same topic and words are not repeated")
    parser.add_argument("--critical", action="store_true", help="it cannot wait")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.daemon.gate import gate_of, reminders_of
    from nudge.daemon.lock import holder_of
    from nudge.daemon.world import is_coach
    from nudge.queue.agents import DEFAULT, Agents
    from nudge.queue.delivery import put_message
    from nudge.reminders.notify import Notified, notify

    context = Context(args)
    text = " ".join(args.text).strip()
    if not text:
        raise UsageError("The message is empty.", next_step='For example: nudge notify builder "done"')

    async def work(store: SqlStore) -> Notified:
        agents = Agents(store)
        await agents.ensure_default(context.now)
        agent = await agents.get(args.agent)
        coaches = [one.name for one in await store.agents.all() if is_coach(context.home, one)]
        speaker = agent.name if agent.name in coaches else next(iter(coaches), DEFAULT)
        gate = await gate_of(store, context.config, speaker)
        reminders = await reminders_of(store, context.config, speaker)
        return await notify(
            store,
            gate,
            reminders,
            lambda message: put_message(store, message),
            agent=agent.name,
            speaker=speaker,
            text=text,
            now=context.now,
            topic=args.topic,
            critical=args.critical,
        )

    became = context.with_store(work)
    context.poke()
    rule = became.rule
    if args.json:
        out_json(
            {
                "result": became.result,
                "message": became.message or None,
                "until": rfc3339(became.until, context.zone) if became.until is not None else None,
                "rule": rule.value if rule else None,
                "why": rule.sentence if rule else None,
            }
        )
    elif became.until is not None and rule:
        note(f"Deferred until {full_time(became.until, context.zone)}: {rule.sentence}")
    elif rule:
        note(f"Refused ({rule.value}): {rule.sentence}")
    else:
        note("Sent." if holder_of(context.home) else "No daemon runs: it goes out with the next 'nudge run'.")
    return {"sent": 0, "deferred": DEFERRED, "refused": REFUSED}[became.result]
