"""Commands that look at reminders and change nothing: list, show and test.

`nudge reminder list` must be fast, so nothing of the rules is imported at the top.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.reminders_text import print_list, print_one, reminders_of
from nudge.cli.render import clock_time, how_many, note, out, out_json, watch_argument, watched
from nudge.errors import NotFoundError
from nudge.palette import painted, tone_of
from nudge.text import printable

if TYPE_CHECKING:
    from nudge.reminders.conditions import Verdict
    from nudge.reminders.reminder import Reminder
    from nudge.reminders.service import Timed
    from nudge.reminders.tables import ListedReminder
from nudge.stores.store import SqlStore

_LAST = 5


def list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="only this agent's")
    parser.add_argument("--all", action="store_true", help="include completed and removed ones")
    parser.add_argument("--limit", type=how_many, default=50, metavar="N", help="how many (default: 50; 0 is all)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    watch_argument(parser)


def list_(args: argparse.Namespace) -> int:
    """List reminders, the next one first."""
    return watched(lambda: _list(args), args.watch)


def _list(args: argparse.Namespace) -> int:
    context = Context(args)
    limit = args.limit if args.limit > 0 else 2**31 - 2

    async def read(store: SqlStore) -> Sequence[ListedReminder]:
        if args.agent is not None and not await store.agents.known(args.agent):
            raise NotFoundError(f"There is no agent called {args.agent!r}.", next_step="See 'nudge agent list'.")
        return await store.reminders.listed(args.agent, ended=args.all, limit=limit + 1)

    rows = context.with_store(read)
    shown = rows[:limit]
    if args.json:
        out_json([row.public(context.zone) for row in shown])
    elif shown:
        agents = {row.agent for row in shown}
        print_list(shown, context, with_agent=len(agents) > 1)
    else:
        note('No reminders. Add one: nudge reminder "call mum friday 5pm"')
    if len(rows) > limit:
        note(f"There are more. Show them with --limit {limit * 4}.")
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def show(args: argparse.Namespace) -> int:
    """Show one reminder, and how its last occurrences ended."""
    from nudge.queue.outcomes import outcome_json
    from nudge.reminders.service import Timed

    context = Context(args)

    async def read(store: SqlStore) -> tuple[Timed, Any]:
        reminders = reminders_of(context, store)
        reminder = await reminders.get(args.reminder)
        timer = await reminders.timer(reminder)
        last = await store.outcomes.recent(agent=reminder.agent, key=reminder.key, limit=_LAST)
        return Timed(reminder, None if timer is None else timer.due_at), last

    timed, last = context.with_store(read)
    if args.json:
        out_json({**timed.public(context.zone), "outcomes": [outcome_json(row) for row in last]})
        return 0
    print_one(timed.reminder, timed.next_at, context)
    if last:
        out("  outcomes")
    for row in last:
        word = painted(f"{row.result.value:<11}", tone_of(row.result.value), context.colour)
        out(f"    {clock_time(row.slot_at, context.zone, context.now):<17}{word} {row.reason}".rstrip(), hang=33)
    return 0


test_arguments = show_arguments


def test(args: argparse.Namespace) -> int:
    """Check a reminder's condition now and say what would happen. Nothing is delivered, and nothing changes."""
    from nudge.reminders.conditions import Act, judge
    from nudge.reminders.text import delivered_text

    context = Context(args)
    reminder = context.with_store(lambda store: reminders_of(context, store).get(args.reminder))
    verdict = _verdict(reminder, context)
    judgment = judge(reminder, None if verdict is None else verdict.met)
    output = "" if verdict is None else verdict.output
    text = delivered_text(reminder, context.now, context.now, output=output) if judgment.act is Act.FIRE else None
    would = {Act.FIRE: "fire", Act.SKIP: "skip", Act.END: "complete"}[judgment.act]
    if args.json:
        out_json(
            {
                "id": reminder.id,
                "status": reminder.status.value,
                "condition": None if verdict is None else {"met": verdict.met, "exit_code": verdict.exit_code},
                "reason": "" if verdict is None else verdict.reason,
                "output": output,
                "would": would,
                "ends": bool(judgment.ends),
                "text": text,
            }
        )
        return 0
    if verdict is not None and reminder.condition is not None:
        answer = "met (exit 0)" if verdict.met else f"not met: {verdict.reason}"
        out(f"condition  {answer}; mode {reminder.condition.mode.value}", hang=11)
        _quote(output)
    out(f"now        {_sentence(reminder, would, bool(judgment.ends))}", hang=11)
    if reminder.status.value != "active":
        out(f"but        It is {reminder.status.value}, so nothing will happen.")
    if text is not None:
        out(f"to         {'you' if reminder.to_person else reminder.agent + ' (' + reminder.priority.word + ')'}")
        out("text")
        _quote(text)
    return 0


def _quote(text: str) -> None:
    for line in text.splitlines():
        out(f"  | {printable(line)}")


def _verdict(reminder: Reminder, context: Context) -> Verdict | None:
    if reminder.condition is None or reminder.condition.command is None:
        return None
    import asyncio

    from nudge.home.command_conditions import CommandConditions
    from nudge.reminders.conditions import Question

    conditions = CommandConditions(context.home.workspace, secrets=context.config.secrets)
    condition = reminder.condition
    assert condition.command is not None
    question = Question(condition.command, reminder.agent, reminder.id, reminder.fire_count, condition.timeout)
    return asyncio.run(conditions.ask(question))


def _sentence(reminder: Reminder, would: str, ends: bool) -> str:
    if would == "complete":
        return "It would not fire; the reminder would be completed."
    if would == "skip":
        after = "completed, because it is a one-time reminder" if ends else "checked again later"
        return f"It would be skipped and {after}."
    if reminder.asks_agent:
        return f"It would fire, and {reminder.agent} would judge the condition."
    return "It would fire, and the reminder would be completed." if ends else "It would fire."
