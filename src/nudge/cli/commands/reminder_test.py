"""Ask a reminder's condition now and say what would happen. Nothing is delivered and nothing is changed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nudge.cli.context import Context
from nudge.cli.reminders_text import reminders_of
from nudge.cli.render import out, out_json

if TYPE_CHECKING:
    from nudge.reminders.conditions import Verdict
    from nudge.reminders.reminder import Reminder


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.reminders.conditions import Act, judge
    from nudge.reminders.text import delivered_text

    context = Context(args)
    reminder = context.with_store(lambda store: reminders_of(context, store).get(args.reminder))
    verdict = _ask(reminder, context)
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
        out(f"condition  {answer}; mode {reminder.condition.mode.value}")
        _quote(output)
    out(f"now        {_sentence(reminder, would, bool(judgment.ends))}")
    if reminder.status.value != "active":
        out(f"but        it is {reminder.status.value}, so nothing will happen.")
    if text is not None:
        out(f"to         {'you' if reminder.to_person else reminder.agent + ' (' + reminder.priority.word + ')'}")
        out("text")
        _quote(text)
    return 0


def _quote(text: str) -> None:
    for line in text.splitlines():
        out(f"  | {''.join(char if char.isprintable() else ' ' for char in line)}")


def _ask(reminder: Reminder, context: Context) -> Verdict | None:
    if reminder.condition is None or reminder.condition.command is None:
        return None
    import asyncio

    from nudge.home.command_conditions import CommandConditions
    from nudge.reminders.conditions import Question

    conditions = CommandConditions(context.home.workspace, secrets=context.config.secrets)
    condition = reminder.condition
    assert condition.command is not None
    question = Question(condition.command, reminder.agent, reminder.id, reminder.fire_count, condition.timeout_us)
    return asyncio.run(conditions.ask(question))


def _sentence(reminder: Reminder, would: str, ends: bool) -> str:
    if would == "complete":
        return "It would not fire; the reminder would be completed."
    if would == "skip":
        after = "completed: it was due once" if ends else "asked again later"
        return f"It would be skipped and {after}."
    if reminder.asks_agent:
        return f"It would fire, and {reminder.agent} would judge the condition."
    return "It would fire, and the reminder would be completed." if ends else "It would fire."
