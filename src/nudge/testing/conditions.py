"""Conditions that answer from a script, and remember what they were asked."""

from __future__ import annotations

from collections.abc import Callable

from nudge.reminders.conditions import Question, Verdict

Answer = bool | Verdict | Callable[[Question], Verdict | bool]


class ScriptedConditions:
    """One answer after the other; the last one stays.

    >>> import asyncio
    >>> conditions = ScriptedConditions(False, True)
    >>> question = Question("make test", "coach", "r-a1b2c3", 0, 10_000_000)
    >>> [asyncio.run(conditions.ask(question)).met for _ in range(3)]
    [False, True, True]
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers: list[Answer] = list(answers) or [True]
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Verdict:
        self.asked.append(question)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(question)
        if isinstance(answer, Verdict):
            return answer
        return Verdict(answer, "" if answer else "exit 1", "", 0 if answer else 1)
